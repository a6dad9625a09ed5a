//! harbor.db: the one connection, and the thread that it lives on.
//!
//! ```text
//!  Definitions ─┐
//!  GrantFile ───┼─ run(job) ─► queue ─► thread ─► SQLite ─► the job's result
//!  Pins ────────┘
//! ```
//!
//! Owns the connection and how it is set up: what a job has committed is on disk before its result is known. Must
//! never know a table: each belongs to the file that makes it.

use std::io;
use std::path::Path;
use std::sync::mpsc;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};
use tokio::sync::oneshot;

use super::{StoreError, private_file};

const SETUP: &str = "
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = FULL;
    PRAGMA foreign_keys = ON;
    PRAGMA secure_delete = ON;
";

type Job = Box<dyn FnOnce(&mut Connection) + Send>;

/// The database.
#[derive(Debug)]
pub struct Database {
    jobs: mpsc::Sender<Job>,
}

impl Database {
    /// Opens the database, creating it when there is none.
    ///
    /// # Errors
    /// When the file cannot be opened, or is no database.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        drop(private_file(path)?);
        let mut connection = Connection::open(path)?;
        connection.execute_batch(SETUP)?;
        let (jobs, todo) = mpsc::channel::<Job>();
        std::thread::Builder::new()
            .name("harbor.db".into())
            .spawn(move || todo.into_iter().for_each(|job| job(&mut connection)))
            .map_err(|source| StoreError::File { what: "start the database's thread".into(), source })?;
        Ok(Self { jobs })
    }

    /// Runs a job on the thread, behind those that were there before.
    pub(super) async fn run<T: Send + 'static>(
        &self,
        job: impl FnOnce(&mut Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (done, result) = oneshot::channel();
        let job: Job = Box::new(move |connection| {
            // Whoever asked may have left; the change is made all the same.
            let _ = done.send(job(connection));
        });
        self.jobs.send(job).map_err(|_| StoreError::Gone)?;
        result.await.map_err(|_| StoreError::Gone)?
    }

    /// Makes the tables of one file, where there are none.
    pub(super) async fn create(&self, tables: &'static str) -> Result<(), StoreError> {
        self.run(move |connection| Ok(connection.execute_batch(tables)?)).await
    }
}

/// Whether a database is whole, as far as SQLite finds out quickly; one that is not there is. Changes nothing, also while a
/// bridge works with it.
///
/// # Errors
/// What is wrong with it, as SQLite says it.
pub fn check(path: &Path) -> Result<(), StoreError> {
    if !path.exists() {
        return Ok(());
    }
    let connection = Connection::open_with_flags(
        path,
        OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX,
    )?;
    connection.busy_timeout(CHECK_WAIT)?;
    let said: String = connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
    if said == "ok" {
        return Ok(());
    }
    let source = io::Error::new(io::ErrorKind::InvalidData, said);
    Err(StoreError::File { what: format!("check {}", path.display()), source })
}

/// How long a check waits for a writer.
const CHECK_WAIT: Duration = Duration::from_secs(2);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_no_database_is_an_error() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("harbor.db");
        std::fs::write(&path, "this is no database, but it is long enough to be read as one").unwrap();
        assert!(matches!(Database::open(&path), Err(StoreError::Database { .. })));
    }

    #[test]
    fn a_database_is_checked_without_being_changed() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("harbor.db");
        assert!(check(&path).is_ok() && !path.exists());
        let database = Database::open(&path).unwrap();
        assert!(check(&path).is_ok());
        drop(database);
        std::fs::write(&path, [b"SQLite format 3\0".as_slice(), &[7; 5000]].concat()).unwrap();
        assert!(check(&path).is_err());
    }
}
