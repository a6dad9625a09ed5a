//! The AI clients that have been here.
//!
//! ```text
//!  met_clients(name PK, at ms)      the name `*`: whoever comes may have been here, since notes were lost
//! ```
//!
//! Owns this table. Must never forget a name that was granted something: what a person has revoked does not come back with
//! the client's next connection.

use std::rc::Rc;

use rusqlite::{Connection, params};

use super::StoreError;
use super::database::Database;

pub(super) const TABLES: &str = "
    CREATE TABLE IF NOT EXISTS met_clients (
        name TEXT PRIMARY KEY,
        at   INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
";

/// Closes the table: from then on no client is new.
pub(super) const CLOSE: &str = "INSERT OR IGNORE INTO met_clients VALUES ('*', unixepoch() * 1000)";

/// The table.
#[derive(Debug)]
pub struct MetClients(Rc<Database>);

impl MetClients {
    /// The table of this database, which is made if it does not exist.
    ///
    /// # Errors
    /// When the database refuses.
    pub async fn open(database: Rc<Database>) -> Result<Self, StoreError> {
        database.create(TABLES).await?;
        Ok(Self(database))
    }

    /// Notes that a client was here at a time, in milliseconds since 1970. True if it is new.
    ///
    /// # Errors
    /// When the database refuses.
    pub async fn note(&self, name: &str, at: u64) -> Result<bool, StoreError> {
        let (name, at) = (name.to_owned(), i64::try_from(at).unwrap_or(i64::MAX));
        let noted = self.0.run(move |connection| {
            let rows =
                connection.execute("INSERT OR IGNORE INTO met_clients VALUES (?1, ?2)", params![name, at])?;
            Ok(rows == 1 && !closed(connection)?)
        });
        noted.await
    }

    /// True if a client of this name would be new.
    ///
    /// # Errors
    /// When the database refuses.
    pub async fn is_new(&self, name: &str) -> Result<bool, StoreError> {
        let name = name.to_owned();
        let asked = self.0.run(move |connection| {
            let sql = "SELECT NOT EXISTS (SELECT 1 FROM met_clients WHERE name IN (?1, '*'))";
            Ok(connection.query_row(sql, [name], |row| row.get(0))?)
        });
        asked.await
    }

    /// True if no client is new any more.
    ///
    /// # Errors
    /// When the database refuses.
    pub async fn is_closed(&self) -> Result<bool, StoreError> {
        self.0.run(closed).await
    }

    /// Takes back a note that led to nothing.
    ///
    /// # Errors
    /// When the database refuses.
    pub async fn forget(&self, name: &str) -> Result<(), StoreError> {
        let name = name.to_owned();
        let forgotten = self.0.run(move |connection| {
            connection.execute("DELETE FROM met_clients WHERE name = ?1", params![name])?;
            Ok(())
        });
        forgotten.await
    }
}

fn closed(connection: &mut Connection) -> Result<bool, StoreError> {
    let sql = "SELECT EXISTS (SELECT 1 FROM met_clients WHERE name = '*')";
    Ok(connection.query_row(sql, [], |row| row.get(0))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(flavor = "local")]
    async fn a_name_is_new_once_also_for_the_next_bridge() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("harbor.db");
        let open = async || MetClients::open(Rc::new(Database::open(&path).unwrap())).await.unwrap();
        {
            let met = open().await;
            assert!(met.note("client://a", 5).await.unwrap());
            assert!(!met.note("client://a", 6).await.unwrap());
            assert!(met.note("client://b", u64::MAX).await.unwrap());
            met.forget("client://b").await.unwrap();
        }
        let met = open().await;
        assert!(!met.note("client://a", 7).await.unwrap());
        assert!(met.note("client://b", 8).await.unwrap());
    }
    #[tokio::test(flavor = "local")]
    async fn nobody_is_new_once_notes_were_lost() {
        let home = tempfile::tempdir().unwrap();
        let database = Rc::new(Database::open(&home.path().join("harbor.db")).unwrap());
        let met = MetClients::open(database.clone()).await.unwrap();
        database.create(CLOSE).await.unwrap();
        assert!(!met.note("client://a", 5).await.unwrap() && met.is_closed().await.unwrap());
    }
}
