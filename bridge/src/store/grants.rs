//! The grants that survive a restart: what is allowed always, and what is denied.
//!
//! ```text
//!  grants(origin, profile, scope, grant_type, allowed_tools JSON or NULL, created_at ms, sum)
//!         └──────────────── PK ───────────┘
//! ```
//!
//! Owns this table; a change is on disk before it is confirmed. Must never lose a row: one that cannot be read may be a denial.
//! What takes something away is in the database itself at once: a write-ahead log that is damaged later loses what was given, and
//! no denial, no revocation and no narrowing. Knows texts only; their meaning is for those who ask.

use std::rc::Rc;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row as SqlRow, params};

use super::StoreError;
use super::database::{Database, checkpoint};

pub(super) const TABLES: &str = "
    CREATE TABLE IF NOT EXISTS grants (
        origin        TEXT NOT NULL,
        profile       TEXT NOT NULL,
        scope         TEXT NOT NULL,
        grant_type    TEXT NOT NULL,
        allowed_tools TEXT,
        created_at    INTEGER NOT NULL,
        sum           BLOB,
        PRIMARY KEY (origin, profile, scope, grant_type)
    ) STRICT, WITHOUT ROWID;
";

/// A grant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredGrant {
    /// The origin that may, or may not.
    pub origin: String,
    /// The profile of the browser.
    pub profile: String,
    /// The scope.
    pub scope: String,
    /// The type of the grant.
    pub grant_type: String,
    /// The tools. Empty for none of them, absent for all.
    pub allowed_tools: Option<Vec<String>>,
    /// The time of the grant, in milliseconds since 1970.
    pub created_at: u64,
}

/// The content of a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Row {
    /// A grant.
    Whole(StoredGrant),
    /// Something that cannot be read; it must never count as an allowance. A value that is no text is empty; bytes that are no
    /// UTF-8 are replaced.
    Broken {
        /// The origin.
        origin: String,
        /// The profile.
        profile: String,
        /// The scope.
        scope: String,
    },
}

/// Reads the texts of a row.
#[must_use]
pub fn read_row(
    origin: &str,
    profile: &str,
    scope: &str,
    grant_type: &str,
    allowed_tools: Option<&str>,
    created_at: i64,
) -> Row {
    let (origin, profile, scope) = (origin.to_owned(), profile.to_owned(), scope.to_owned());
    let allowed_tools = allowed_tools.map(serde_json::from_str).transpose();
    match (allowed_tools, u64::try_from(created_at)) {
        (Ok(allowed_tools), Ok(created_at)) => {
            let grant_type = grant_type.to_owned();
            Row::Whole(StoredGrant { origin, profile, scope, grant_type, allowed_tools, created_at })
        }
        _ => Row::Broken { origin, profile, scope },
    }
}

/// The table.
#[derive(Debug)]
pub struct GrantFile {
    database: Rc<Database>,
}

impl GrantFile {
    /// The table of this database, which is made if it does not exist.
    ///
    /// # Errors
    /// When the database refuses.
    pub async fn new(database: Rc<Database>) -> Result<Self, StoreError> {
        database.create(TABLES).await?;
        Ok(Self { database })
    }

    /// All rows, by their key.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub async fn all(&self) -> Result<Vec<Row>, StoreError> {
        self.database
            .run(|connection| {
                let mut rows = connection.prepare(
                    "SELECT origin, profile, scope, grant_type, allowed_tools, created_at FROM grants
                     ORDER BY origin, profile, scope, grant_type",
                )?;
                let rows = rows.query_map([], |row| Ok(read(row).unwrap_or_else(|_| broken(row))))?;
                Ok(rows.collect::<Result<_, _>>()?)
            })
            .await
    }

    /// Stores a grant, and replaces the grant with the same key.
    ///
    /// # Errors
    /// When the database refuses.
    pub async fn put(&self, grant: StoredGrant) -> Result<(), StoreError> {
        let StoredGrant { origin, profile, scope, grant_type, allowed_tools, created_at } = grant;
        let allowed_tools = allowed_tools.map(|tools| serde_json::Value::from(tools).to_string());
        let created_at = i64::try_from(created_at).unwrap_or(i64::MAX);
        self.database
            .run(move |connection| {
                let sql = "SELECT EXISTS (SELECT 1 FROM grants
                           WHERE origin = ?1 AND profile = ?2 AND scope = ?3 AND grant_type = ?4)";
                let key = params![origin, profile, scope, grant_type];
                let replaces: bool = connection.query_row(sql, key, |row| row.get(0))?;
                connection.execute(
                    "INSERT OR REPLACE INTO grants VALUES (?1, ?2, ?3, ?4, ?5, ?6, row_sum(?1, ?2, ?3, ?4, ?5, ?6))",
                    params![origin, profile, scope, grant_type, allowed_tools, created_at],
                )?;
                // The one before may have allowed more.
                if replaces || grant_type == "DENY" {
                    checkpoint(connection);
                }
                Ok(())
            })
            .await
    }

    /// Replaces the rows of these keys with `rows`: all or none. A change that takes something away may use the room that is kept
    /// for it.
    ///
    /// # Errors
    /// When the database refuses.
    pub async fn settle(&self, keys: Vec<RowKey>, rows: Vec<StoredGrant>) -> Result<(), StoreError> {
        self.database.run_with_room(move |connection| settle(connection, &keys, &rows)).await
    }
}

/// The key of a grant: all rows with it are changed together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowKey {
    /// The origin.
    pub origin: String,
    /// The profile.
    pub profile: String,
    /// The scope.
    pub scope: String,
}

fn settle(connection: &mut Connection, keys: &[RowKey], rows: &[StoredGrant]) -> Result<(), StoreError> {
    let transaction = connection.transaction()?;
    for RowKey { origin, profile, scope } in keys {
        transaction.execute(
            "DELETE FROM grants WHERE origin = ?1 AND profile = ?2 AND scope = ?3",
            params![origin, profile, scope],
        )?;
    }
    for StoredGrant { origin, profile, scope, grant_type, allowed_tools, created_at } in rows {
        let allowed_tools = allowed_tools.clone().map(|tools| serde_json::Value::from(tools).to_string());
        let created_at = i64::try_from(*created_at).unwrap_or(i64::MAX);
        transaction.execute(
            "INSERT INTO grants VALUES (?1, ?2, ?3, ?4, ?5, ?6, row_sum(?1, ?2, ?3, ?4, ?5, ?6))",
            params![origin, profile, scope, grant_type, allowed_tools, created_at],
        )?;
    }
    transaction.commit()?;
    checkpoint(connection);
    Ok(())
}

fn read(row: &SqlRow<'_>) -> rusqlite::Result<Row> {
    Ok(read_row(
        row.get_ref(0)?.as_str()?,
        row.get_ref(1)?.as_str()?,
        row.get_ref(2)?.as_str()?,
        row.get_ref(3)?.as_str()?,
        row.get_ref(4)?.as_str_or_null()?,
        row.get_ref(5)?.as_i64()?,
    ))
}

/// A row whose values have wrong types or are no UTF-8.
fn broken(row: &SqlRow<'_>) -> Row {
    let text = |column| match row.get_ref(column) {
        Ok(ValueRef::Text(bytes)) => String::from_utf8_lossy(bytes).into_owned(),
        _ => String::new(),
    };
    Row::Broken { origin: text(0), profile: text(1), scope: text(2) }
}

#[cfg(test)]
mod tests;
