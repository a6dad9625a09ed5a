//! The resources, templates and prompts that servers offered when they listed them last.
//!
//! ```text
//!  offers(server_id, kind, items: MCP's array, as the server wrote it)
//! ```
//!
//! Owns this table. It decides nothing: if it is lost, it is listed again with the server's next start.

use std::rc::Rc;

use rusqlite::params;

use super::StoreError;
use super::database::Database;

const TABLES: &str = "
    CREATE TABLE IF NOT EXISTS offers (
        server_id TEXT NOT NULL,
        kind      TEXT NOT NULL,
        items     TEXT NOT NULL,
        PRIMARY KEY (server_id, kind)
    ) STRICT, WITHOUT ROWID;
";

/// A list of a server, and of which kind it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offer {
    /// The server.
    pub server_id: String,
    /// Which of its lists, in a word.
    pub kind: String,
    /// MCP's array.
    pub items: String,
}

/// The table.
#[derive(Debug)]
pub struct Offers(Rc<Database>);

impl Offers {
    /// The table of this database, which is made if it does not exist.
    ///
    /// # Errors
    /// When the database refuses.
    pub async fn open(database: Rc<Database>) -> Result<Self, StoreError> {
        database.create(TABLES).await?;
        Ok(Self(database))
    }

    /// All of them.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub async fn all(&self) -> Result<Vec<Offer>, StoreError> {
        let read = self.0.run(|connection| {
            let mut rows = connection.prepare("SELECT server_id, kind, items FROM offers")?;
            let offers = rows.query_map([], |row| {
                Ok(Offer { server_id: row.get(0)?, kind: row.get(1)?, items: row.get(2)? })
            })?;
            Ok(offers.collect::<Result<_, _>>()?)
        });
        read.await
    }

    /// Stores a list, and replaces the list of the same kind.
    ///
    /// # Errors
    /// When the database refuses.
    pub async fn put(&self, Offer { server_id, kind, items }: Offer) -> Result<(), StoreError> {
        let put = self.0.run(move |connection| {
            connection.execute(
                "INSERT OR REPLACE INTO offers VALUES (?1, ?2, ?3)",
                params![server_id, kind, items],
            )?;
            Ok(())
        });
        put.await
    }

    /// Forgets one list of a server, or all of them.
    ///
    /// # Errors
    /// When the database refuses.
    pub async fn forget(&self, server_id: String, kind: Option<&'static str>) -> Result<(), StoreError> {
        let forgotten = self.0.run(move |connection| {
            let sql = "DELETE FROM offers WHERE server_id = ?1 AND kind = ifnull(?2, kind)";
            connection.execute(sql, params![server_id, kind])?;
            Ok(())
        });
        forgotten.await
    }
}
