//! Tools that the person lets a model call without asking, in every session.
//!
//! ```text
//!  tool_approvals(tool PK: source/tool, hash of what it said of itself, at ms)
//! ```
//!
//! Owns this table. A tool that has changed since is not the one that was approved: who reads this compares the hash.

use std::collections::BTreeMap;
use std::rc::Rc;

use rusqlite::params;

use super::StoreError;
use super::database::Database;

pub(super) const TABLES: &str = "
    CREATE TABLE IF NOT EXISTS tool_approvals (
        tool TEXT PRIMARY KEY,
        hash BLOB NOT NULL,
        at   INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
";

/// What was approved of a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Approval {
    /// The hash of what it said of itself.
    pub hash: [u8; 32],
    /// When, in milliseconds since 1970.
    pub at: u64,
}

/// The table.
#[derive(Debug)]
pub struct ToolApprovals(Rc<Database>);

impl ToolApprovals {
    /// The table of this database, which is made when there is none.
    ///
    /// # Errors
    /// When the database refuses.
    pub async fn open(database: Rc<Database>) -> Result<Self, StoreError> {
        database.create(TABLES).await?;
        Ok(Self(database))
    }

    /// All of them, by tool. A row that cannot be read approves nothing.
    ///
    /// # Errors
    /// When the database refuses.
    pub async fn all(&self) -> Result<BTreeMap<String, Approval>, StoreError> {
        let all = self.0.run(|connection| {
            let mut rows = connection.prepare("SELECT tool, hash, at FROM tool_approvals")?;
            let rows = rows.query_map([], |row| {
                let (tool, hash, at): (String, Vec<u8>, i64) = (row.get(0)?, row.get(1)?, row.get(2)?);
                Ok((tool, hash, at))
            })?;
            let mut all = BTreeMap::new();
            for row in rows {
                let (tool, hash, at) = row?;
                if let Ok(hash) = hash.try_into() {
                    all.insert(tool, Approval { hash, at: u64::try_from(at).unwrap_or_default() });
                }
            }
            Ok(all)
        });
        all.await
    }

    /// Approves a tool.
    ///
    /// # Errors
    /// When the database refuses.
    pub async fn put(&self, tool: &str, approval: Approval) -> Result<(), StoreError> {
        let tool = tool.to_owned();
        let put = self.0.run(move |connection| {
            let at = i64::try_from(approval.at).unwrap_or(i64::MAX);
            connection.execute(
                "INSERT OR REPLACE INTO tool_approvals VALUES (?1, ?2, ?3)",
                params![tool, approval.hash.as_slice(), at],
            )?;
            Ok(())
        });
        put.await
    }

    /// Approves a tool no longer; whether it was.
    ///
    /// # Errors
    /// When the database refuses.
    pub async fn remove(&self, tool: &str) -> Result<bool, StoreError> {
        let tool = tool.to_owned();
        let removed = self.0.run(move |connection| {
            Ok(connection.execute("DELETE FROM tool_approvals WHERE tool = ?1", params![tool])? == 1)
        });
        removed.await
    }
}
