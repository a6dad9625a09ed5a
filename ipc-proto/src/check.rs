//! The answer of `harbor-bridge check --json`: the bridge's own files, checked for programs that cannot read them.
//!
//! ```text
//!  harbor doctor ─► harbor-bridge check --json config database ─► one JSON object on stdout ─► Checked
//! ```
//!
//! Owns the words of the parts and the shape of the answer. Must never carry a secret or the content of a file.

use serde::{Deserialize, Serialize};

/// The name of the mode.
pub const MODE: &str = "check";

/// The parts that can be checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CheckPart {
    /// `config.toml`, or the file that the command line names.
    Config,
    /// `harbor.db`.
    Database,
    /// The file with the secrets.
    Secrets,
    /// Databases and journals that were set aside.
    Lost,
    /// The programs that servers need, wherever the bridge would find them.
    Programs,
}

impl CheckPart {
    /// All parts.
    pub const ALL: [Self; 5] = [Self::Config, Self::Database, Self::Secrets, Self::Lost, Self::Programs];

    /// The word on the command line.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Config => "config",
            Self::Database => "database",
            Self::Secrets => "secrets",
            Self::Lost => "lost",
            Self::Programs => "programs",
        }
    }

    /// The part with this word.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|part| part.as_str() == word)
    }
}

/// The answer: a member for each part that was asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Checked {
    /// The configuration.
    pub config: Option<ConfigCheck>,
    /// The database.
    pub database: Option<DatabaseCheck>,
    /// The secrets.
    pub secrets: Option<SecretsCheck>,
    /// The files that were set aside.
    pub lost: Option<Vec<Lost>>,
    /// The programs that were found.
    pub programs: Option<Vec<FoundProgram>>,
}

/// A configuration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConfigCheck {
    /// True if the file exists. Without one a bridge starts with the defaults.
    pub is_there: bool,
    /// Why no bridge starts with it; absent when one does.
    pub wrong: Option<String>,
    /// The value of `mcp.firstUse`: what a new AI client may do. The default where the file is wrong.
    pub first_use: String,
}

/// A database.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DatabaseCheck {
    /// There is none yet.
    New,
    /// It can be used.
    Whole,
    /// It is lost; the text says why. The next bridge sets aside what is left of it.
    Lost(String),
    /// It cannot be used now; the text says why. Nothing is set aside for that.
    Unusable(String),
}

/// The secrets.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SecretsCheck {
    /// Why they cannot be used, as far as that shows without their key; absent when they can.
    pub wrong: Option<String>,
}

/// A file that was set aside.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lost {
    /// What was set aside, as a sentence.
    pub what: String,
    /// What the person can do about it.
    pub next: String,
}

/// A program that servers need.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FoundProgram {
    /// The runtime: `node`, `uv`, …
    pub name: String,
    /// Where it is.
    pub path: String,
    /// How the place was found: `PATH`, or another way.
    pub how: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_known_by_their_words() {
        for part in CheckPart::ALL {
            assert_eq!(CheckPart::parse(part.as_str()), Some(part));
        }
        assert_eq!(CheckPart::parse("all"), None);
    }

    #[test]
    fn what_was_not_asked_for_and_what_is_new_hinder_no_reader() {
        let text = r#"{"database":{"lost":"no"},"secrets":{"wrong":null},"later":1}"#;
        let read: Checked = serde_json::from_str(text).unwrap();
        let (database, secrets) = (DatabaseCheck::Lost("no".into()), SecretsCheck { wrong: None });
        let wanted = Checked { database: Some(database), secrets: Some(secrets), ..Checked::default() };
        assert_eq!(read, wanted);
        let written = serde_json::to_string(&wanted).unwrap();
        assert_eq!(serde_json::from_str::<Checked>(&written).unwrap(), wanted);
    }
}
