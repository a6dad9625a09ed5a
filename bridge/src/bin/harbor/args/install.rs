//! What is to be installed or upgraded, as it is typed.

use super::values::checked_id;
use super::{Definition, Words, variable};

/// A package to install.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Package {
    /// `npm:…`, `pypi:…` or `git:…`.
    pub source: String,
    /// Whether nobody is asked.
    pub yes: bool,
    /// How its server is run; its name is empty where none was said, and so is its command.
    pub definition: Definition,
}

/// A server whose package is to be another version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Upgrade {
    pub server: String,
    /// Which version; the newest when none is said.
    pub to: Option<String>,
    /// Back to the one before.
    pub undo: bool,
    /// Whether nobody is asked.
    pub yes: bool,
}

impl Words {
    pub(super) fn package(&self) -> Result<Package, String> {
        self.at_most(1)?;
        let source = self.plain.first().ok_or("which package? Name it as npm:NAME, pypi:NAME or git:URL")?;
        let name = self.option("--name").map(checked_id).transpose()?.unwrap_or_default();
        let definition = Definition {
            name,
            label: self.option("--label").map(str::to_owned),
            env: self.all("--env").map(variable).collect::<Result<_, _>>()?,
            supervision: self.supervision()?,
            sandbox: self.sandbox_settings("--sandbox")?,
            secrets: self.named("--secret", "a secret, such as API_KEY")?,
            args: self.behind.clone().unwrap_or_default(),
            ..Definition::default()
        };
        Ok(Package { source: source.clone(), yes: self.has("--yes"), definition })
    }

    pub(super) fn upgrade(&self) -> Result<Upgrade, String> {
        let (to, undo) = (self.option("--to").map(str::to_owned), self.has("--undo"));
        if undo && to.is_some() {
            return Err("--undo goes back to the version before: leave --to out".into());
        }
        Ok(Upgrade { server: self.server()?, to, undo, yes: self.has("--yes") })
    }
}

#[cfg(test)]
mod tests {
    use super::super::Command;
    use super::super::tests::{command, complaint};
    use super::*;

    #[test]
    fn packages_and_their_servers() {
        let Command::Install(package) = command(&[
            "install", "npm:x@1", "--name", "n", "--yes", "--lazy", "--env", "A=b", "--secret", "KEY", "--",
            "-x", "y",
        ]) else {
            panic!("install")
        };
        assert_eq!((package.source.as_str(), package.yes), ("npm:x@1", true));
        let definition = &package.definition;
        assert_eq!(
            (definition.name.as_str(), &definition.args[..]),
            ("n", &["-x".to_owned(), "y".into()][..])
        );
        assert_eq!((definition.env["A"].as_str(), definition.supervision.lazy), ("b", Some(true)));
        assert_eq!(definition.secrets, ["KEY"]);
        assert!(complaint(&["install"]).starts_with("which package?"));
        assert!(complaint(&["install", "npm:x", "--name", "a/b"]).contains("a/b"));
    }

    #[test]
    fn upgrades_go_somewhere_or_back() {
        let upgrade = |to: Option<&str>, undo, yes| {
            Command::Upgrade(Upgrade { server: "x".into(), to: to.map(Into::into), undo, yes })
        };
        assert_eq!(command(&["upgrade", "x"]), upgrade(None, false, false));
        assert_eq!(command(&["upgrade", "x", "--to", "2", "--yes"]), upgrade(Some("2"), false, true));
        assert_eq!(command(&["upgrade", "x", "--undo"]), upgrade(None, true, false));
        assert!(complaint(&["upgrade", "x", "--undo", "--to", "2"]).contains("leave --to out"));
    }
}
