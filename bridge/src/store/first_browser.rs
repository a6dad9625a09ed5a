//! The browser that came first: its pages have the profile `default`.
//!
//! ```text
//!  first_browser(only PK = 1, id)      the random id that its extension keeps
//! ```
//!
//! Owns this table. Must never give the place to another browser: it would have the grants of the first.

use std::rc::Rc;

use rusqlite::OptionalExtension as _;

use super::StoreError;
use super::database::Database;

pub(super) const TABLES: &str = "
    CREATE TABLE IF NOT EXISTS first_browser (
        only INTEGER PRIMARY KEY CHECK (only = 1),
        id   TEXT NOT NULL
    ) STRICT;
";

/// The table.
#[derive(Debug)]
pub struct FirstBrowser(Rc<Database>);

impl FirstBrowser {
    /// The table of this database, which is made if it does not exist.
    ///
    /// # Errors
    /// When the database refuses.
    pub async fn open(database: Rc<Database>) -> Result<Self, StoreError> {
        database.create(TABLES).await?;
        Ok(Self(database))
    }

    /// True if the browser with this id came first. Where none has come yet, this one has.
    ///
    /// # Errors
    /// When the database refuses.
    pub async fn is(&self, id: String) -> Result<bool, StoreError> {
        let asked = self.0.run(move |connection| {
            let sql = "SELECT id FROM first_browser";
            let first: Option<String> = connection.query_row(sql, [], |row| row.get(0)).optional()?;
            if first.is_none() {
                connection.execute("INSERT INTO first_browser VALUES (1, ?1)", [&id])?;
            }
            Ok(first.is_none_or(|first| first == id))
        });
        asked.await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(flavor = "local")]
    async fn the_first_browser_stays_the_first_also_for_the_next_bridge() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("harbor.db");
        let open = async || FirstBrowser::open(Rc::new(Database::open(&path).unwrap())).await.unwrap();
        {
            let first = open().await;
            assert!(first.is("0a0b0c0d".into()).await.unwrap());
            assert!(!first.is("11111111".into()).await.unwrap());
        }
        let first = open().await;
        assert!(!first.is("11111111".into()).await.unwrap());
        assert!(first.is("0a0b0c0d".into()).await.unwrap());
    }
}
