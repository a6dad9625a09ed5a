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

use std::path::Path;
use std::sync::mpsc;

use rusqlite::Connection;
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
}
