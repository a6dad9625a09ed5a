//! The table of server definitions, and of what was learnt about each server.
//!
//! ```text
//!  definitions(server_id PK, definition JSON, era, added_at)
//! ```
//!
//! Owns this table; every change is one transaction, on disk and in the journal before it is confirmed. Must never leave a
//! secret behind that was replaced or removed.

use std::rc::Rc;

use harbor_ipc_proto::server_id::ServerId;
use rusqlite::params;

use super::columns::column;
use super::database::Database;
use super::definitions::{Definition, Spoken, Stored, read_row};
use super::journal::Journal;
use super::{StoreError, programs};

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
    /// The table of this database, which is made if it does not exist.
    ///
    /// # Errors
    /// When the database refuses.
    pub async fn new(database: Rc<Database>, journal: Journal) -> Result<Self, StoreError> {
        database.create(TABLES).await?;
        database.create(programs::TABLES).await?;
        database.create(programs::FORMER_TABLES).await?;
        Ok(Self { database, journal })
    }

    /// All definitions, by id. An unreadable definition is left out and reported.
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

    /// Stores a definition. Facts learnt about an earlier definition of this id are forgotten.
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

    /// Takes back a definition that led to nothing, as if the name never had a program.
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

    /// Remembers the form of MCP that a server speaks.
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::path::Path;

    use harbor_home::Paths;
    use harbor_ipc_proto::client::{SandboxSettings, Supervision};

    use super::super::definitions::tests::spoken;
    use super::super::definitions::{Carried, Image, Remote};
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
            script: Some("MCP".into()),
            module: Some("0a".into()),
            install_env: BTreeMap::new(),
            with: Vec::new(),
        }
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
