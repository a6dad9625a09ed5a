//! The part of consent that outlives the bridge: tools that are called without asking from now on, and the private names in
//! closed stores. Also the sources that a client never gets, and the clients that are asked before something private leaves.
//!
//! ```text
//!  tool_answers(principal, tool: source/tool, hash of what it said of itself, at ms)
//!  carried_names(source, name)
//!  closed_sources(principal, source)
//!  guarded_clients(principal)
//! ```
//!
//! Owns these tables. A tool that has changed since is not the one that was answered for: whoever reads this compares the hash.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use harbor_policy::consent::Names;
use rusqlite::params;

use super::StoreError;
use super::database::Database;

pub(super) const TABLES: &str = "
    CREATE TABLE IF NOT EXISTS tool_answers (
        principal TEXT NOT NULL,
        tool      TEXT NOT NULL,
        hash      BLOB NOT NULL,
        at        INTEGER NOT NULL,
        PRIMARY KEY (principal, tool)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS carried_names (
        source TEXT NOT NULL,
        name   TEXT NOT NULL,
        PRIMARY KEY (source, name)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS closed_sources (
        principal TEXT NOT NULL,
        source    TEXT NOT NULL,
        PRIMARY KEY (principal, source)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS guarded_clients (
        principal TEXT NOT NULL PRIMARY KEY
    ) STRICT, WITHOUT ROWID;
";

/// A yes for always.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StandingApproval {
    /// Whose it is.
    pub principal: String,
    /// The tool, `source/tool`.
    pub tool: String,
    /// The hash of what it said of itself.
    pub hash: [u8; 32],
    /// The time, in milliseconds since 1970.
    pub at: u64,
}

/// The tables.
#[derive(Debug, Clone)]
pub struct ConsentTables(Rc<Database>);

impl ConsentTables {
    /// The tables of this database, which are made when there are none.
    ///
    /// # Errors
    /// When the database refuses.
    pub async fn open(database: Rc<Database>) -> Result<Self, StoreError> {
        database.create(TABLES).await?;
        Ok(Self(database))
    }

    /// All answers. A row that cannot be read answers nothing.
    ///
    /// # Errors
    /// When the database refuses.
    pub async fn always(&self) -> Result<Vec<StandingApproval>, StoreError> {
        let all = self.0.run(|connection| {
            let mut rows = connection.prepare("SELECT principal, tool, hash, at FROM tool_answers")?;
            let rows = rows.query_map([], |row| {
                let hash: Vec<u8> = row.get(2)?;
                let at: i64 = row.get(3)?;
                Ok((row.get(0)?, row.get(1)?, hash, at))
            })?;
            let mut all = Vec::new();
            for row in rows {
                let (principal, tool, hash, at) = row?;
                if let Ok(hash) = hash.try_into() {
                    all.push(StandingApproval {
                        principal,
                        tool,
                        hash,
                        at: u64::try_from(at).unwrap_or_default(),
                    });
                }
            }
            Ok(all)
        });
        all.await
    }

    /// Writes an answer down.
    ///
    /// # Errors
    /// When the database refuses.
    pub async fn put(&self, always: StandingApproval) -> Result<(), StoreError> {
        let put = self.0.run(move |connection| {
            let StandingApproval { principal, tool, hash, at } = always;
            let at = i64::try_from(at).unwrap_or(i64::MAX);
            connection.execute(
                "INSERT OR REPLACE INTO tool_answers VALUES (?1, ?2, ?3, ?4)",
                params![principal, tool, hash.as_slice(), at],
            )?;
            Ok(())
        });
        put.await
    }

    /// Takes an answer out.
    ///
    /// # Errors
    /// When the database refuses.
    pub async fn remove(&self, principal: &str, tool: &str) -> Result<(), StoreError> {
        let (principal, tool) = (principal.to_owned(), tool.to_owned());
        let removed = self.0.run(move |connection| {
            let delete = "DELETE FROM tool_answers WHERE principal = ?1 AND tool = ?2";
            connection.execute(delete, params![principal, tool])?;
            Ok(())
        });
        removed.await
    }

    /// The private names that lie in each closed store.
    ///
    /// # Errors
    /// When the database refuses.
    pub async fn carried(&self) -> Result<BTreeMap<String, Names>, StoreError> {
        let all = self.0.run(|connection| {
            let mut rows = connection.prepare("SELECT source, name FROM carried_names")?;
            let rows = rows.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
            let mut all = BTreeMap::<String, Names>::new();
            for row in rows {
                let (source, name): (String, String) = row?;
                all.entry(source).or_default().insert(name);
            }
            Ok(all)
        });
        all.await
    }

    /// Names lie in a closed store from now on.
    ///
    /// # Errors
    /// When the database refuses.
    pub async fn carry(&self, source: &str, names: Names) -> Result<(), StoreError> {
        let source = source.to_owned();
        let put = self.0.run(move |connection| {
            for name in names {
                let insert = "INSERT OR IGNORE INTO carried_names VALUES (?1, ?2)";
                connection.execute(insert, params![source, name])?;
            }
            Ok(())
        });
        put.await
    }

    /// The sources that a client is never asked about again.
    ///
    /// # Errors
    /// When the database refuses.
    pub async fn never(&self) -> Result<BTreeSet<(String, String)>, StoreError> {
        let all = self.0.run(|connection| {
            let mut rows = connection.prepare("SELECT principal, source FROM closed_sources")?;
            let rows = rows.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
            rows.collect::<rusqlite::Result<BTreeSet<_>>>().map_err(StoreError::from)
        });
        all.await
    }

    /// A client is never asked about a source again; or it may be.
    ///
    /// # Errors
    /// When the database refuses.
    pub async fn set_never(&self, principal: &str, source: &str, is_never: bool) -> Result<(), StoreError> {
        let (principal, source) = (principal.to_owned(), source.to_owned());
        let set = self.0.run(move |connection| {
            let statement = match is_never {
                true => "INSERT OR IGNORE INTO closed_sources VALUES (?1, ?2)",
                false => "DELETE FROM closed_sources WHERE principal = ?1 AND source = ?2",
            };
            connection.execute(statement, params![principal, source])?;
            Ok(())
        });
        set.await
    }

    /// The clients that are asked before something private leaves.
    ///
    /// # Errors
    /// When the database refuses.
    pub async fn guarded(&self) -> Result<BTreeSet<String>, StoreError> {
        let all = self.0.run(|connection| {
            let mut rows = connection.prepare("SELECT principal FROM guarded_clients")?;
            let rows = rows.query_map([], |row| row.get(0))?;
            rows.collect::<rusqlite::Result<BTreeSet<_>>>().map_err(StoreError::from)
        });
        all.await
    }

    /// A client is asked before something private leaves; or it is not.
    ///
    /// # Errors
    /// When the database refuses.
    pub async fn set_guarded(&self, principal: &str, is_on: bool) -> Result<(), StoreError> {
        let principal = principal.to_owned();
        let set = self.0.run(move |connection| {
            let statement = match is_on {
                true => "INSERT OR IGNORE INTO guarded_clients VALUES (?1)",
                false => "DELETE FROM guarded_clients WHERE principal = ?1",
            };
            connection.execute(statement, params![principal])?;
            Ok(())
        });
        set.await
    }

    /// A source is gone, with its store.
    ///
    /// # Errors
    /// When the database refuses.
    pub async fn forget(&self, source: &str) -> Result<(), StoreError> {
        let source = source.to_owned();
        let gone = self.0.run(move |connection| {
            connection.execute("DELETE FROM carried_names WHERE source = ?1", params![source])?;
            let of = format!("{source}/");
            let delete = "DELETE FROM tool_answers WHERE substr(tool, 1, length(?1)) = ?1";
            connection.execute(delete, params![of])?;
            Ok(())
        });
        gone.await
    }
}
