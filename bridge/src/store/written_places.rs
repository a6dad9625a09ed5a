//! The places where servers could ever write, beside their own directories.
//!
//! ```text
//!  written(path PK)
//! ```
//!
//! Owns this table, and that a path is in it before a server starts that may write there. Must never forget one: a link
//! that a server has laid outlives its grant, its definition, the bridge and this database: the journal has them, too.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;

use rusqlite::params;

use super::StoreError;
use super::columns::column;
use super::database::Database;
use super::journal::Journal;

pub(super) const TABLES: &str = "
    CREATE TABLE IF NOT EXISTS written (
        path TEXT PRIMARY KEY
    ) STRICT, WITHOUT ROWID;
";

/// The table.
#[derive(Debug)]
pub struct WrittenPlaces {
    database: Rc<Database>,
    journal: Journal,
    known: RefCell<BTreeSet<String>>,
}

impl WrittenPlaces {
    /// The table of this database, which is made if it does not exist.
    ///
    /// # Errors
    /// When the database refuses.
    pub async fn open(database: Rc<Database>, journal: Journal) -> Result<Self, StoreError> {
        database.create(TABLES).await?;
        let known = database.run(|connection| {
            let mut rows = connection.prepare("SELECT path FROM written")?;
            let rows = rows.query_map([], |row| column(row, 0))?;
            Ok(rows.collect::<Result<_, _>>()?)
        });
        let known = RefCell::new(known.await?);
        Ok(Self { database, journal, known })
    }

    /// All places, by name. They had no symbolic links when they were noted.
    #[must_use]
    pub fn all(&self) -> Vec<String> {
        self.known.borrow().iter().cloned().collect()
    }

    /// Notes where a server is about to be able to write.
    ///
    /// # Errors
    /// When the database refuses: then that server must not start.
    pub async fn note(&self, paths: &[String]) -> Result<(), StoreError> {
        let is_new = |path: &&String| !self.known.borrow().contains(*path);
        let new: Vec<_> = paths.iter().filter(is_new).cloned().collect();
        if new.is_empty() {
            return Ok(());
        }
        let rows = new.clone();
        let put = self.journal.change_in(&self.database, move |transaction| {
            for path in rows {
                transaction.execute("INSERT OR IGNORE INTO written VALUES (?1)", params![path])?;
            }
            Ok(())
        });
        put.await?;
        self.known.borrow_mut().extend(new);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use harbor_home::Paths;

    use super::super::recovery;
    use super::*;

    #[tokio::test(flavor = "local")]
    async fn what_was_written_once_is_known_for_good() {
        let home = tempfile::tempdir().unwrap();
        let open = async || {
            let opened = recovery::open(&Paths::at(home.path())).unwrap();
            WrittenPlaces::open(opened.database, opened.journal).await.unwrap()
        };
        {
            let written = open().await;
            assert_eq!(written.all(), [""; 0]);
            written.note(&["/b".into(), "/a".into()]).await.unwrap();
            written.note(&["/a".into(), "/c".into()]).await.unwrap();
            assert_eq!(written.all(), ["/a", "/b", "/c"]);
        }
        assert_eq!(open().await.all(), ["/a", "/b", "/c"]);
    }
}
