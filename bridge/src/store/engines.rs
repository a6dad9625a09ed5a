//! The engines that the person has started: which file runs in which program.
//!
//! ```text
//!  model_engines(provider PK, settings: an `EngineRow` as JSON)
//! ```
//!
//! Owns this table. Keys of engines are not here, nor anywhere on the disk but in the file that a running engine reads.

use std::rc::Rc;

use rusqlite::params;
use serde::{Deserialize, Serialize};

use super::StoreError;
use super::database::Database;

const TABLES: &str = "
    CREATE TABLE IF NOT EXISTS model_engines (
        provider TEXT PRIMARY KEY,
        settings TEXT NOT NULL
    ) STRICT;
";

/// An engine as the person has started it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EngineRow {
    /// The id of its provider, which is its own name.
    pub provider: String,
    /// The file of its model, an absolute path.
    pub file: String,
    /// The program; none where the file is one.
    pub program: Option<String>,
    /// The most tokens of a conversation.
    pub context: Option<u32>,
    /// Device nodes that it may use.
    pub devices: Vec<String>,
    /// The most memory that it may take, in MiB, where the person has said it.
    pub memory_mb: Option<u64>,
    /// True if it may have the network, where it cannot do without.
    #[serde(default)]
    pub network: bool,
    /// How long it may take to load, in milliseconds.
    pub start_timeout_ms: u64,
}

/// The table.
#[derive(Debug)]
pub struct EngineTable(Rc<Database>);

impl EngineTable {
    /// The table of this database, which is made if it does not exist.
    ///
    /// # Errors
    /// When the database refuses.
    pub async fn open(database: Rc<Database>) -> Result<Self, StoreError> {
        database.create(TABLES).await?;
        Ok(Self(database))
    }

    /// All of them. One that a newer Harbor has stored in another form is left out.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub async fn all(&self) -> Result<Vec<EngineRow>, StoreError> {
        let read = self.0.run(|connection| {
            let mut rows = connection.prepare("SELECT settings FROM model_engines ORDER BY provider")?;
            let texts = rows.query_map([], |row| row.get::<_, String>(0))?;
            Ok(texts.collect::<Result<Vec<_>, _>>()?)
        });
        let texts = read.await?;
        Ok(texts.iter().filter_map(|text| serde_json::from_str(text).ok()).collect())
    }

    /// Stores one, in the place of that of its provider.
    ///
    /// # Errors
    /// When the database refuses.
    pub async fn put(&self, engine: &EngineRow) -> Result<(), StoreError> {
        let provider = engine.provider.clone();
        let settings = serde_json::to_string(engine).unwrap_or_default();
        let put = self.0.run(move |connection| {
            let sql = "INSERT OR REPLACE INTO model_engines VALUES (?1, ?2)";
            connection.execute(sql, params![provider, settings])?;
            Ok(())
        });
        put.await
    }

    /// Forgets one.
    ///
    /// # Errors
    /// When the database refuses.
    pub async fn remove(&self, provider: &str) -> Result<(), StoreError> {
        let provider = provider.to_owned();
        let removed = self.0.run(move |connection| {
            connection.execute("DELETE FROM model_engines WHERE provider = ?1", params![provider])?;
            Ok(())
        });
        removed.await
    }
}
