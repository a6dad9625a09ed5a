//! What the person said about a server, and what was learnt about it.
//!
//! Owns the form of both, in memory and as text. Their table is `definition_table`'s. Must never show a value of a variable, a header or an
//! installer's variable.

use std::collections::BTreeMap;

use harbor_ipc_proto::client::{SandboxSettings, Supervision};
use harbor_ipc_proto::link::runner::Era;
use harbor_ipc_proto::server_id::ServerId;
use harbor_policy::container::Engine;
use harbor_policy::package::{self, Package};
use harbor_policy::program;
use serde::{Deserialize, Serialize};

/// The person's description of how to start a server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Definition {
    /// The program.
    pub command: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// Its own environment variables; may hold secrets, so never shown.
    pub env: BTreeMap<String, String>,
    /// The directory in which it runs.
    pub cwd: Option<String>,
    /// A name for people.
    pub label: Option<String>,
    /// The roots that it may ask for, file URIs.
    pub roots: Vec<String>,
    /// The settings of its supervision.
    #[serde(with = "as_text", default)]
    pub supervision: Supervision,
    /// True if the command runs as given, although it may be recognised as a package.
    #[serde(default)]
    pub as_is: bool,
    /// Its rights on this machine.
    #[serde(with = "as_text", default)]
    pub sandbox: SandboxSettings,
    /// Names of secrets that it needs to be started.
    #[serde(default)]
    pub secrets: Vec<String>,
    /// Its address, if it is remote; then there is no command.
    #[serde(default)]
    pub remote: Option<Remote>,
    /// The container image that is run; then there is no command.
    #[serde(default)]
    pub image: Option<Image>,
    /// The text of the script that its first argument names, if Harbor keeps it.
    #[serde(default)]
    pub script: Option<String>,
    /// The SHA-256 of the module that its first argument names, in hexadecimal digits, if Harbor keeps it.
    #[serde(default)]
    pub module: Option<String>,
    /// Variables of the installer alone; may hold secrets, so never shown.
    #[serde(default)]
    pub install_env: BTreeMap<String, String>,
    /// Packages that are installed beside its own.
    #[serde(default)]
    pub with: Vec<String>,
}

/// A remote server, as the person said it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Remote {
    /// Its address; the query may be secret.
    pub url: String,
    /// The way to speak to it.
    pub transport: Carried,
    /// The headers of each request; may hold secrets, so never shown.
    pub headers: BTreeMap<String, String>,
    /// True if its name may mean a private address.
    pub allow_private: bool,
    /// True if it may do without TLS.
    pub allow_http: bool,
}

/// The way in which messages reach a remote server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Carried {
    /// The way that the server knows.
    Auto,
    /// Streamable HTTP.
    Http,
    /// HTTP+SSE.
    Sse,
}

impl Carried {
    /// The word on the wire.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Http => "http",
            Self::Sse => "sse",
        }
    }

    /// The value of a word; `None` for any other word.
    #[must_use]
    pub fn of(word: &str) -> Option<Self> {
        [Self::Auto, Self::Http, Self::Sse].into_iter().find(|carried| carried.as_str() == word)
    }
}

/// A container image, as the person said it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Image {
    /// Its name.
    pub reference: String,
    /// The name of the engine that runs it; else the first that is there.
    pub engine: Option<String>,
}

impl Image {
    /// The engine, where one was named.
    #[must_use]
    pub fn engine(&self) -> Option<Engine> {
        Engine::of(self.engine.as_deref()?)
    }
}

impl Definition {
    /// The package that the command runs, which is installed and then run without npx or uvx.
    #[must_use]
    pub fn package(&self) -> Option<Package> {
        let runs_here = !self.as_is && self.remote.is_none() && self.image.is_none();
        let package = if runs_here { package::recognise(&self.command, &self.args) } else { None };
        package.map(|package| Package { with: self.with.clone(), ..package })
    }

    /// The program that it runs, without version, arguments and variables.
    #[must_use]
    pub fn program(&self) -> String {
        if let Some(remote) = &self.remote {
            return program::of_url(&remote.url);
        }
        if let Some(image) = &self.image {
            return program::of_image(&image.reference);
        }
        // A package is the same one where npx or uvx runs it.
        package::recognise(&self.command, &self.args).map_or_else(
            || program::of_command(&self.command, &self.args, self.cwd.as_deref()),
            |it| program::of_package(&it),
        )
    }
}

/// Settings as the text of their object, which their own reader checks.
mod as_text {
    use harbor_ipc_proto::field::{FromField, PutField};
    use serde::{Deserialize as _, Deserializer, Serializer, de::Error as _};

    pub fn serialize<T: PutField, S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
        let mut text = Vec::new();
        value.put(&mut text);
        serializer.serialize_str(&String::from_utf8_lossy(&text))
    }

    pub fn deserialize<'de, T: FromField, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
        let text = String::deserialize(deserializer)?;
        T::from_text(&text).ok_or_else(|| D::Error::custom(T::EXPECTED))
    }
}

/// A definition and what is known about its server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stored {
    /// Its id.
    pub server_id: ServerId,
    /// The definition.
    pub definition: Definition,
    /// The form of MCP that the server was found to speak.
    pub era: Option<Spoken>,
}

/// The id and definition of a row, if it can be read.
pub(super) fn read_row(id: &str, definition: &str) -> Option<(ServerId, Definition)> {
    Some((ServerId::parse(id)?, serde_json::from_str(definition).ok()?))
}

/// The form of MCP that a server was found to speak.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spoken {
    /// The generation of MCP.
    pub era: Era,
    /// The MCP revision, if the server accepts only an older one than the newest.
    pub revision: Option<String>,
}

impl Spoken {
    /// `legacy`, `modern`, or `legacy 2025-06-18`.
    pub(super) fn written(&self) -> String {
        match &self.revision {
            None => era_name(self.era).to_owned(),
            Some(revision) => format!("{} {revision}", era_name(self.era)),
        }
    }

    pub(super) fn read(text: &str) -> Option<Self> {
        let (name, revision) =
            text.split_once(' ').map_or((text, None), |(name, revision)| (name, Some(revision)));
        let era = [Era::Legacy, Era::Modern].into_iter().find(|era| era_name(*era) == name)?;
        Some(Self { era, revision: revision.map(str::to_owned) })
    }
}

fn era_name(era: Era) -> &'static str {
    match era {
        Era::Legacy => "legacy",
        Era::Modern => "modern",
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(in crate::store) fn spoken() -> Spoken {
        Spoken { era: Era::Legacy, revision: Some("2025-06-18".into()) }
    }

    #[test]
    fn what_a_server_speaks_is_kept_in_words() {
        for (written, spoken) in
            [("legacy 2025-06-18", spoken()), ("modern", Spoken { era: Era::Modern, revision: None })]
        {
            assert_eq!((spoken.written().as_str(), Spoken::read(written)), (written, Some(spoken)));
        }
        assert_eq!(Spoken::read("old"), None);
    }
}
