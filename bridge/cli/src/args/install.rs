//! What is to be installed or upgraded, as it is typed.

use std::collections::BTreeMap;

use harbor_policy::package::binary::Binary;
use harbor_policy::recipe::source::KINDS;

use super::values::checked_id;
use super::{Definition, Remote, Words, variable};

/// What is said of a program that is downloaded.
const OF_DOWNLOAD: &[&str] = &["--sha256", "--minisign-key", "--bin"];

/// What is to be installed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Package {
    /// `npm:…`, `oci:…`, a URL, or the id of an entry.
    pub source: String,
    /// Of an entry: which of its ways, counted from 0.
    pub way: Option<u64>,
    /// Of an entry: what is filled in.
    pub inputs: BTreeMap<String, Vec<String>>,
    /// How it is spoken to, if it runs elsewhere; the URL is the source.
    pub elsewhere: Remote,
    /// Whether nobody is asked.
    pub yes: bool,
    /// Whether it is only said what would be installed.
    pub dry_run: bool,
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
        let source = self.source()?;
        let way = self.whole("--package", 64)?.map(|counted| counted - 1);
        let name = self.option("--name").map(checked_id).transpose()?.unwrap_or_default();
        let definition = Definition {
            name,
            label: self.option("--label").map(str::to_owned),
            env: self.all("--env").map(variable).collect::<Result<_, _>>()?,
            supervision: self.supervision()?,
            sandbox: self.sandbox_settings()?,
            secrets: self.named("--secret", "a secret, such as API_KEY")?,
            keep_data: self.has("--keep-data"),
            args: self.behind.clone().unwrap_or_default(),
            ..Definition::default()
        };
        let (inputs, elsewhere) = (self.inputs()?, self.spoken(&source)?);
        let (yes, dry_run) = (self.has("--yes"), self.has("--dry-run"));
        Ok(Package { source, way, inputs, elsewhere, yes, dry_run, definition })
    }

    /// With all that is said of a download.
    fn source(&self) -> Result<String, String> {
        let source = self.plain.first().ok_or_else(|| format!("which server? Name it as {KINDS}"))?;
        let Some(text) = source.strip_prefix("binary:") else {
            self.none_of(OF_DOWNLOAD, "is for a program that is downloaded: binary:URL")?;
            return Ok(source.clone());
        };
        self.none_of(&["--transport", "--header"], "is for a server that runs elsewhere")?;
        let said = [("sha256", "--sha256"), ("minisign", "--minisign-key"), ("bin", "--bin")];
        let said = said.iter().filter_map(|(name, option)| Some(format!("{name}={}", self.option(option)?)));
        let allowed = [("allow=http", "--allow-http"), ("allow=private", "--allow-private")];
        let allowed =
            allowed.iter().filter(|(_, option)| self.has(option)).map(|(word, _)| (*word).to_owned());
        let between = if text.contains('#') { "&" } else { "#" };
        let whole = format!("{text}{between}{}", said.chain(allowed).collect::<Vec<_>>().join("&"));
        Binary::read(&whole).map(|binary| format!("binary:{}", binary.spec()))
    }

    fn inputs(&self) -> Result<BTreeMap<String, Vec<String>>, String> {
        let mut inputs = BTreeMap::<_, Vec<_>>::new();
        for text in self.all("--input") {
            let (name, value) = text.split_once('=').ok_or("--input: use NAME=VALUE")?;
            if value.is_empty() {
                return Err(format!("--input {name} is empty: name what it is"));
            }
            inputs.entry(name.to_owned()).or_default().push(value.to_owned());
        }
        Ok(inputs)
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
        assert!(complaint(&["install"]).starts_with("which server?"));
        let Command::Install(entry) =
            command(&["install", "files", "--input", "dir=/a", "--input=dir=/b=c", "--package", "2"])
        else {
            panic!("install")
        };
        assert_eq!((entry.way, &entry.inputs["dir"][..]), (Some(1), &["/a".to_owned(), "/b=c".into()][..]));
        let Command::Install(dry) = command(&["install", "alice/x", "--dry-run"]) else { panic!("install") };
        assert!(dry.dry_run && !dry.yes);
        assert!(complaint(&["install", "files", "--input", "dir"]).contains("NAME=VALUE"));
        assert!(complaint(&["install", "npm:x", "--header", "x: y"]).contains("runs elsewhere"));
        assert!(complaint(&["install", "https://example.com/mcp", "--read", "/a"]).contains("not held here"));
        assert!(complaint(&["install", "npm:x", "--name", "a/b"]).contains("a/b"));
    }

    #[test]
    fn what_is_said_of_a_download_stands_in_its_source() {
        let source = |words: &[&str]| match command(&[&["install"], words].concat()) {
            Command::Install(package) => package.source,
            _ => panic!("install"),
        };
        let hex = "0a".repeat(32);
        let plain = "binary:https://h/a.zip";
        assert_eq!(source(&[plain]), plain);
        let all = source(&[plain, "--sha256", &hex.to_uppercase(), "--bin", "x/a", "--allow-private"]);
        assert_eq!(all, format!("{plain}#sha256={hex}&bin=x/a&allow=private"));
        assert_eq!(source(&[&all, "--allow-http"]), all.replace("allow=", "allow=http&allow="));
        assert!(complaint(&["install", &all, "--bin", "b"]).contains("stands twice"));
        assert!(complaint(&["install", "binary:http://h/a"]).contains("--allow-http"));
        assert!(complaint(&["install", "npm:a", "--sha256", &hex]).contains("that is downloaded"));
        assert!(complaint(&["install", plain, "--header", "x: y"]).contains("runs elsewhere"));
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
