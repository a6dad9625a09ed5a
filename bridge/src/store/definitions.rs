//! The server definitions, and what was learnt about each server.
//!
//! ```text
//!  definitions(server_id PK, definition JSON, era, added_at)
//! ```
//!
//! Owns this table; every change is one transaction, on disk and in the journal before it is confirmed. Must never leave a
//! secret behind that was replaced or removed.

use std::collections::BTreeMap;
use std::rc::Rc;

use harbor_ipc_proto::client::{SandboxSettings, Supervision};
use harbor_ipc_proto::link::runner::Era;
use harbor_ipc_proto::server_id::ServerId;
use harbor_policy::container::Engine;
use harbor_policy::package::{self, Package};
use harbor_policy::program;
use rusqlite::params;
use serde::{Deserialize, Serialize};

use super::StoreError;
use super::database::Database;
use super::journal::{Journal, column};
use super::programs;

/// How to start a server, as the person said it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Definition {
    /// The program.
    pub command: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// Its own environment variables; may hold secrets, so never shown.
    pub env: BTreeMap<String, String>,
    /// Where it runs.
    pub cwd: Option<String>,
    /// A name for people.
    pub label: Option<String>,
    /// The roots that it may ask for, file URIs.
    pub roots: Vec<String>,
    /// How it is supervised.
    #[serde(with = "as_text", default)]
    pub supervision: Supervision,
    /// Whether the command runs as it is, although it may be recognised as a package.
    #[serde(default)]
    pub as_is: bool,
    /// What it may do on this machine.
    #[serde(with = "as_text", default)]
    pub sandbox: SandboxSettings,
    /// Names of secrets without which it is not started.
    #[serde(default)]
    pub secrets: Vec<String>,
    /// Where it is, if that is elsewhere; then there is no command.
    #[serde(default)]
    pub remote: Option<Remote>,
    /// The container image that is run; then there is no command.
    #[serde(default)]
    pub image: Option<Image>,
    /// Variables of the installer alone; may hold secrets, so never shown.
    #[serde(default)]
    pub install_env: BTreeMap<String, String>,
    /// Packages that are installed beside its own.
    #[serde(default)]
    pub with: Vec<String>,
}

/// A server that runs elsewhere, as the person said it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Remote {
    /// Where; its query may be secret.
    pub url: String,
    /// How it is spoken to.
    pub transport: Carried,
    /// What goes with each request; may hold secrets, so never shown.
    pub headers: BTreeMap<String, String>,
    /// Whether its name may mean a private address.
    pub allow_private: bool,
    /// Whether it may do without TLS.
    pub allow_http: bool,
}

/// How messages are carried to a server elsewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Carried {
    /// As the server knows it.
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

    /// What a word means.
    #[must_use]
    pub fn of(word: &str) -> Option<Self> {
        [Self::Auto, Self::Http, Self::Sse].into_iter().find(|carried| carried.as_str() == word)
    }
}

/// A container image, as the person said it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Image {
    /// What it is called.
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

    /// Which program it runs, whatever its version, arguments and variables.
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
    /// What the server was found to speak.
    pub era: Option<Spoken>,
}

pub(super) const TABLES: &str = "
    CREATE TABLE IF NOT EXISTS definitions (
        server_id  TEXT PRIMARY KEY,
        definition TEXT NOT NULL,
        era        TEXT,
        added_at   INTEGER NOT NULL DEFAULT (unixepoch())
    ) STRICT;
";

/// The table.
#[derive(Debug)]
pub struct Definitions {
    database: Rc<Database>,
    journal: Journal,
}

impl Definitions {
    /// The table of this database, which is made when there is none.
    ///
    /// # Errors
    /// When the database refuses.
    pub async fn new(database: Rc<Database>, journal: Journal) -> Result<Self, StoreError> {
        database.create(TABLES).await?;
        database.create(programs::TABLES).await?;
        database.create(programs::FORMER_TABLES).await?;
        Ok(Self { database, journal })
    }

    /// All definitions, by id. One that cannot be read is left out and reported.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub async fn all(&self) -> Result<Vec<Stored>, StoreError> {
        self.database
            .run(|connection| {
                let mut rows = connection
                    .prepare("SELECT server_id, definition, era FROM definitions ORDER BY server_id")?;
                let rows =
                    rows.query_map([], |row| Ok((column(row, 0)?, column(row, 1)?, column(row, 2)?)))?;
                let mut all = Vec::new();
                for row in rows {
                    let (id, definition, era) = row?;
                    match read_row(&id, &definition) {
                        Some((server_id, definition)) => {
                            all.push(Stored { server_id, definition, era: Spoken::read(&era) });
                        }
                        None => {
                            tracing::warn!(server_id = id, "harbor.db: a definition cannot be read; left out")
                        }
                    }
                }
                Ok(all)
            })
            .await
    }

    /// Stores a definition; what was learnt about an earlier one of this id is forgotten.
    ///
    /// # Errors
    /// When the database refuses.
    pub async fn put(&self, id: &ServerId, definition: &Definition) -> Result<(), StoreError> {
        let (id, new, definition) = (id.to_string(), definition.clone(), text_of(definition)?);
        self.journal
            .change_in(&self.database, move |transaction| {
                programs::note(transaction, &id, &new)?;
                let sql = "INSERT INTO definitions (server_id, definition) VALUES (?1, ?2)
                       ON CONFLICT (server_id) DO UPDATE SET definition = ?2, era = NULL";
                transaction.execute(sql, params![id, definition]).map(drop)
            })
            .await
    }

    /// Stores another supervision, label, arguments or variables of a server that is defined; what was learnt about it stays.
    ///
    /// # Errors
    /// When the database refuses.
    pub async fn change(&self, id: &ServerId, definition: &Definition) -> Result<(), StoreError> {
        let (id, definition) = (id.to_string(), text_of(definition)?);
        self.journal
            .change_in(&self.database, move |transaction| {
                let sql = "UPDATE definitions SET definition = ?2 WHERE server_id = ?1";
                transaction.execute(sql, params![id, definition]).map(drop)
            })
            .await
    }

    /// Removes a definition.
    ///
    /// # Errors
    /// When the database refuses.
    pub async fn remove(&self, id: &ServerId) -> Result<(), StoreError> {
        let id = id.to_string();
        self.journal
            .change_in(&self.database, move |transaction| {
                programs::forget(transaction, &id)?;
                transaction.execute("DELETE FROM definitions WHERE server_id = ?1", params![id]).map(drop)
            })
            .await
    }

    /// Takes a definition back that nothing came of: its program was nobody's.
    ///
    /// # Errors
    /// When the database refuses.
    pub async fn take_back(&self, id: &ServerId) -> Result<(), StoreError> {
        let id = id.to_string();
        self.journal
            .change_in(&self.database, move |transaction| {
                transaction.execute("DELETE FROM programs WHERE server_id = ?1", params![id])?;
                transaction.execute("DELETE FROM definitions WHERE server_id = ?1", params![id]).map(drop)
            })
            .await
    }

    /// Remembers what a server speaks.
    ///
    /// # Errors
    /// When the database refuses.
    pub async fn remember_era(&self, id: &ServerId, era: Spoken) -> Result<(), StoreError> {
        let id = id.to_string();
        self.database
            .run(move |connection| {
                let sql = "UPDATE definitions SET era = ?2 WHERE server_id = ?1";
                connection.execute(sql, params![id, era.written()])?;
                Ok(())
            })
            .await
    }
}

fn text_of(definition: &Definition) -> Result<String, StoreError> {
    serde_json::to_string(definition)
        .map_err(|error| StoreError::File { what: "write a definition".into(), source: error.into() })
}

/// What a row says, if anything.
pub(super) fn read_row(id: &str, definition: &str) -> Option<(ServerId, Definition)> {
    Some((ServerId::parse(id)?, serde_json::from_str(definition).ok()?))
}

/// What a server was found to speak.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spoken {
    /// The generation of MCP.
    pub era: Era,
    /// The revision, where it insists on an older one than the newest.
    pub revision: Option<String>,
}

impl Spoken {
    /// `legacy`, `modern`, or `legacy 2025-06-18`.
    fn written(&self) -> String {
        match &self.revision {
            None => era_name(self.era).to_owned(),
            Some(revision) => format!("{} {revision}", era_name(self.era)),
        }
    }

    fn read(text: &str) -> Option<Self> {
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
mod tests {
    use std::path::Path;

    use harbor_home::Paths;

    use super::super::recovery;
    use super::*;

    async fn open(path: &Path) -> Definitions {
        let opened = recovery::open(&Paths::at(path)).unwrap();
        Definitions::new(opened.database, opened.journal).await.unwrap()
    }

    fn definition() -> Definition {
        Definition {
            command: "node".into(),
            args: vec!["x".into()],
            env: BTreeMap::from([("K".into(), "v".into())]),
            cwd: None,
            label: None,
            roots: Vec::new(),
            supervision: Supervision { auto_start: Some(true), ..Supervision::default() },
            sandbox: SandboxSettings { nice: Some(3), ..SandboxSettings::default() },
            as_is: false,
            secrets: vec!["KEY".into()],
            remote: Some(Remote {
                url: "https://example.com/mcp".into(),
                transport: Carried::Auto,
                headers: BTreeMap::from([("X-Key".into(), "${K}".into())]),
                allow_private: false,
                allow_http: false,
            }),
            image: Some(Image { reference: "mcp/time".into(), engine: Some("podman".into()) }),
            install_env: BTreeMap::new(),
            with: Vec::new(),
        }
    }

    fn spoken() -> Spoken {
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

    #[tokio::test(flavor = "local")]
    async fn definitions_survive_and_a_changed_one_is_learnt_anew() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path();
        let id = ServerId::parse("a").unwrap();
        {
            let definitions = open(path).await;
            definitions.put(&id, &definition()).await.unwrap();
            definitions.remember_era(&id, spoken()).await.unwrap();
        }
        let definitions = open(path).await;
        let stored = |era| vec![Stored { server_id: id.clone(), definition: definition(), era }];
        assert_eq!(definitions.all().await.unwrap(), stored(Some(spoken())));
        definitions.put(&id, &definition()).await.unwrap();
        assert_eq!(definitions.all().await.unwrap(), stored(None));
        definitions.remove(&id).await.unwrap();
        assert_eq!(definitions.all().await.unwrap(), []);
    }

    #[tokio::test(flavor = "local")]
    async fn what_was_removed_is_not_on_disk_any_more() {
        let home = tempfile::tempdir().unwrap();
        let definitions = open(home.path()).await;
        let id = ServerId::parse("a").unwrap();
        let secret = "s3cr3t-that-nobody-may-find";
        let mut with_secret = definition();
        with_secret.env.insert("TOKEN".into(), secret.into());
        let found = || {
            let files = std::fs::read_dir(home.path()).unwrap();
            let texts = files.map(|file| std::fs::read(file.unwrap().path()).unwrap());
            texts.map(|text| String::from_utf8_lossy(&text).matches(secret).count()).sum::<usize>()
        };
        definitions.put(&id, &with_secret).await.unwrap();
        assert!(found() > 0);
        definitions.put(&id, &definition()).await.unwrap();
        assert_eq!(found(), 0, "replaced");
        definitions.put(&id, &with_secret).await.unwrap();
        definitions.remove(&id).await.unwrap();
        assert_eq!(found(), 0, "removed");
    }
}
