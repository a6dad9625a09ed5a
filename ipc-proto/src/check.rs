//! What `harbor-bridge check --json` answers: the look into the bridge's own files, for programs that cannot read them.
//!
//! ```text
//!  harbor doctor ─► harbor-bridge check --json config database ─► one JSON object on stdout ─► Checked
//! ```
//!
//! Owns the words of the parts and the shape of the answer. Must never carry a secret or what stands in a file.

use serde::{Deserialize, Serialize};

/// The name of the mode.
pub const MODE: &str = "check";

/// What can be asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// `config.toml`, or the file that is named.
    Config,
    /// `harbor.db`.
    Database,
    /// The file of the secrets.
    Secrets,
    /// Databases and journals that were set aside.
    Lost,
    /// The programs that servers need, wherever the bridge would find them.
    Programs,
}

impl Part {
    /// All of them.
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
    /// What was set aside.
    pub lost: Option<Vec<Lost>>,
    /// The programs that were found.
    pub programs: Option<Vec<FoundProgram>>,
}

/// A configuration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConfigCheck {
    /// Whether there is such a file; without one a bridge starts with the defaults.
    pub is_there: bool,
    /// Why no bridge starts with it.
    pub wrong: Option<String>,
    /// What a new AI client gets by it (`mcp.firstUse`); by the defaults where it is wrong.
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
    /// It is lost, and why: the next bridge sets aside what is left of it.
    Lost(String),
    /// It cannot be used now, and why; nothing is set aside for that.
    Unusable(String),
}

/// The secrets.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SecretsCheck {
    /// Why they cannot be used, as far as that is seen without their key.
    pub wrong: Option<String>,
}

/// Something that was set aside.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lost {
    /// What it is.
    pub what: String,
    /// What to do about it.
    pub next: String,
}

/// A program that servers need.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FoundProgram {
    /// The runtime: `node`, `uv`, …
    pub name: String,
    /// Where it is.
    pub path: String,
    /// How its place is known: `PATH`, or what else knew it.
    pub how: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_known_by_their_words() {
        for part in Part::ALL {
            assert_eq!(Part::parse(part.as_str()), Some(part));
        }
        assert_eq!(Part::parse("all"), None);
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
