//! Placeholders `${…}`, which clients replace before they start a server.
//!
//! Owns the meaning of each one here. Must never pass one on as it stands: the server would take it for
//! a value.

use std::collections::BTreeSet;

/// The values that can replace a placeholder.
pub struct Surroundings<'a> {
    /// The person's environment.
    pub variable: &'a dyn Fn(&str) -> Option<String>,
    /// The person's home.
    pub home: &'a str,
    /// The directory of the project, if the file is one's.
    pub workspace: Option<&'a str>,
    /// The client's way to write variables of the environment in the file.
    pub fills: Fills,
    /// True if there is something at a path.
    pub is_there: &'a dyn Fn(&str) -> bool,
}

/// The placeholders for environment variables that a client replaces.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Fills {
    /// Nothing at all.
    Nothing,
    /// `${NAME}` and `${NAME:-default}`.
    Plain,
    /// `${env:NAME}`.
    Env,
    /// `$NAME` and `${NAME}`.
    Dollars,
    /// It is not known whose file it is: either of the first two.
    #[default]
    Any,
}

/// A variable of the person's, and where it goes.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Use {
    /// Its name.
    pub variable: String,
    /// `the header X-Key`, `its arguments`.
    pub place: String,
}

/// The reason why a text cannot be completed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unresolved {
    /// The client asks the person for it.
    Input(String),
    /// A variable that is not set here.
    Unset(String),
    /// It needs the project's directory, but there is none.
    Workspace(String),
    /// A variable that the client does not fill in, in such a file.
    NotTheirs(String),
    /// Something that only the client knows.
    Unknown(String),
}

impl Surroundings<'_> {
    /// The text with all of them replaced; the names of the variables that it took go to `taken`.
    ///
    /// # Errors
    /// Says which one could not be.
    pub fn complete(&self, text: &str, taken: &mut BTreeSet<String>) -> Result<String, Unresolved> {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(at) = rest.find('$') {
            out.push_str(&rest[..at]);
            rest = &rest[at + 1..];
            let name = rest.len() - rest.trim_start_matches(is_of_name).len();
            if let Some((inner, behind)) = rest.strip_prefix('{').and_then(|inner| inner.split_once('}')) {
                out.push_str(&self.replace(inner, taken)?);
                rest = behind;
            } else if self.fills == Fills::Dollars
                && name > 0
                && !rest.starts_with(|c: char| c.is_ascii_digit())
            {
                out.push_str(&self.variable(&rest[..name], None, taken)?);
                rest = &rest[name..];
            } else {
                out.push('$');
            }
        }
        out.push_str(rest);
        Ok(out)
    }

    /// Like [`Self::complete`]; also records the place of each variable that it took.
    ///
    /// # Errors
    /// Says which placeholder could not be replaced.
    pub(super) fn put(
        &self,
        text: &str,
        place: &str,
        uses: &mut BTreeSet<Use>,
    ) -> Result<String, Unresolved> {
        let mut taken = BTreeSet::new();
        let whole = self.complete(text, &mut taken)?;
        uses.extend(taken.into_iter().map(|variable| Use { variable, place: place.to_owned() }));
        Ok(whole)
    }

    /// A variable that the file hands on by its name.
    pub(super) fn hand_on(&self, variable: &str, place: &str, uses: &mut BTreeSet<Use>) -> Option<String> {
        let value = (self.variable)(variable)?;
        uses.insert(Use { variable: variable.to_owned(), place: place.to_owned() });
        Some(value)
    }

    fn replace(&self, inner: &str, taken: &mut BTreeSet<String>) -> Result<String, Unresolved> {
        let unknown = || Unresolved::Unknown(format!("${{{inner}}}"));
        let (kind, rest) = inner.split_once(':').unwrap_or((inner, ""));
        let by_env = kind == "env" && is_name(rest);
        let by_name =
            !by_env && is_name(kind) && (rest.is_empty() || rest.starts_with('-')) && !KNOWN.contains(&kind);
        let theirs = match self.fills {
            Fills::Any => true,
            Fills::Nothing => false,
            Fills::Env => by_env,
            Fills::Plain | Fills::Dollars => by_name,
        };
        if (by_env || by_name) && !theirs {
            return Err(Unresolved::NotTheirs(format!("${{{inner}}}")));
        }
        match (kind, rest) {
            ("input" | "promptString", id) if !id.is_empty() => Err(Unresolved::Input(id.to_owned())),
            ("env", name) if is_name(name) => self.variable(name, None, taken),
            ("workspaceFolder" | "workspaceRoot", _) => self
                .workspace
                .map(str::to_owned)
                .ok_or_else(|| Unresolved::Workspace(format!("${{{inner}}}"))),
            ("userHome", "") => Ok(self.home.to_owned()),
            ("pathSeparator" | "/", "") => Ok("/".into()),
            (name, "") if is_name(name) => self.variable(name, None, taken),
            (name, default) if is_name(name) && default.starts_with('-') => {
                self.variable(name, default.strip_prefix('-'), taken)
            }
            _ => Err(unknown()),
        }
    }

    fn variable(
        &self,
        name: &str,
        default: Option<&str>,
        taken: &mut BTreeSet<String>,
    ) -> Result<String, Unresolved> {
        match (self.variable)(name) {
            Some(value) => {
                taken.insert(name.to_owned());
                Ok(value)
            }
            None => default.map(str::to_owned).ok_or_else(|| Unresolved::Unset(name.to_owned())),
        }
    }
}

/// Names that clients know themselves.
const KNOWN: &[&str] = &["workspaceFolder", "workspaceRoot", "userHome", "pathSeparator"];

fn is_of_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(is_of_name) && !text.starts_with(|c: char| c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_are_replaced_or_refused() {
        let variable = |name: &str| (name == "TOKEN").then(|| "s3cret".to_owned());
        let complete = |text: &str, workspace, fills| {
            let around = Surroundings {
                variable: &variable,
                home: "/home/me",
                workspace,
                fills,
                is_there: &|_| false,
            };
            let mut taken = BTreeSet::new();
            around.complete(text, &mut taken).map(|text| (text, taken.len()))
        };
        let plain = |text: &str| complete(text, None, Fills::Any);
        let done = |text: &str, taken: usize| Ok((text.to_owned(), taken));
        assert_eq!(plain("a ${env:TOKEN} ${TOKEN}b"), done("a s3cret s3cretb", 1));
        assert_eq!(plain("${TOKEN:-x} ${NONE:-y}"), done("s3cret y", 1));
        assert_eq!(plain("${userHome}${/}x$ $5 ${"), done("/home/me/x$ $5 ${", 0));
        assert_eq!(plain("$TOKEN"), done("$TOKEN", 0));
        assert_eq!(complete("$TOKEN/x", None, Fills::Dollars), done("s3cret/x", 1));
        assert_eq!(complete("${workspaceFolder}/x", Some("/w"), Fills::Nothing), done("/w/x", 0));
        for (fills, plain, env) in [
            (Fills::Nothing, false, false),
            (Fills::Plain, true, false),
            (Fills::Env, false, true),
            (Fills::Dollars, true, false),
        ] {
            assert_eq!(complete("${TOKEN}", None, fills).is_ok(), plain, "{fills:?}");
            assert_eq!(complete("${env:TOKEN}", None, fills).is_ok(), env, "{fills:?}");
        }
        let theirs = complete("${env:TOKEN}", None, Fills::Plain);
        assert_eq!(theirs, Err(Unresolved::NotTheirs("${env:TOKEN}".into())));
        for (text, why) in [
            ("${input:key}", Unresolved::Input("key".into())),
            ("${env:NONE}", Unresolved::Unset("NONE".into())),
            ("${workspaceFolder}", Unresolved::Workspace("${workspaceFolder}".into())),
            ("${command:x}", Unresolved::Unknown("${command:x}".into())),
            ("${}", Unresolved::Unknown("${}".into())),
        ] {
            assert_eq!(plain(text), Err(why), "{text}");
        }
    }
}
