//! catalog.db as the bridge reads it: one read-only connection, and the thread that it lives on.
//!
//! ```text
//!  Reader ─ job ─► queue ─► thread: the same file as before? ─► SQLite, until it is due ─► the answer
//! ```
//!
//! Owns the connection: it is opened anew after an error, and when another file has replaced its own. Must never write,
//! follow a link, or believe the file's own schema. Must never know what the tables hold (`query` does), nor let anybody
//! wait longer than [`PATIENCE`].

use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::time::{Duration, Instant};

use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::{Connection, ErrorCode, OpenFlags};
use tokio::sync::oneshot;

use super::errors::CatalogError;

/// The version of the schema that is read.
const VERSION: i64 = 1;

/// The longest time for a query; most take milliseconds.
const PATIENCE: Duration = Duration::from_secs(5);

/// How long a query waits for a locked file, for instance while its log is recovered.
const LOCKED: Duration = Duration::from_secs(1);

/// The number of SQLite's own steps after which a query checks its deadline.
const STEPS: i32 = 10_000;

/// The longest row, in bytes; an entry has a few thousand.
const MAX_ROW: i32 = 8 << 20;

/// The reason for a query that was ended.
const TOO_LONG: &str = "the query took too long";

type CatalogJob = Box<dyn FnOnce(&mut Shelf) + Send>;

/// The time at which the current query is ended.
type QueryDeadline = Arc<Mutex<Instant>>;

/// Reads the catalog.
pub(super) struct CatalogReader {
    jobs: mpsc::Sender<CatalogJob>,
    patience: Duration,
}

impl std::fmt::Debug for CatalogReader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Reader").finish_non_exhaustive()
    }
}

impl CatalogReader {
    /// Starts the thread. The file need not exist.
    pub(super) fn start(path: PathBuf) -> std::io::Result<Self> {
        Self::with_patience(path, PATIENCE)
    }

    fn with_patience(path: PathBuf, patience: Duration) -> std::io::Result<Self> {
        let (jobs, todo) = mpsc::channel::<CatalogJob>();
        let mut shelf = Shelf { path, open: None, due: Arc::new(Mutex::new(Instant::now())), patience };
        std::thread::Builder::new()
            .name("catalog.db".into())
            .spawn(move || todo.into_iter().for_each(|job| job(&mut shelf)))?;
        Ok(Self { jobs, patience })
    }

    /// Runs a query, after those that were there before.
    ///
    /// # Errors
    /// Why the catalog cannot be read.
    pub(super) async fn run<T: Send + 'static>(
        &self,
        query: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, CatalogError> {
        let (done, result) = oneshot::channel();
        let job: CatalogJob = Box::new(move |shelf| {
            // The one who asked may have left.
            if !done.is_closed() {
                let _ = done.send(shelf.read(query));
            }
        });
        let gone = || CatalogError::Unreadable("its thread has ended".into());
        self.jobs.send(job).map_err(|_| gone())?;
        let waited = tokio::time::timeout(self.patience, result).await;
        waited.map_err(|_| CatalogError::Unreadable(TOO_LONG.into()))?.map_err(|_| gone())?
    }
}

/// The connection, if there is one.
struct Shelf {
    path: PathBuf,
    /// The connection, with the device and inode of its file.
    open: Option<((u64, u64), Connection)>,
    due: QueryDeadline,
    patience: Duration,
}

impl Shelf {
    fn read<T>(&mut self, query: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T, CatalogError> {
        *self.due.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now() + self.patience;
        let connection = self.connection()?;
        query(connection).map_err(|error| {
            self.open = None;
            trouble(&error)
        })
    }

    fn connection(&mut self) -> Result<&Connection, CatalogError> {
        let found = identity(&self.path).inspect_err(|_| self.open = None)?;
        let open = match self.open.take().filter(|(before, _)| *before == found) {
            Some(open) => open,
            None => (found, connect(&self.path, &self.due)?),
        };
        Ok(&self.open.insert(open).1)
    }
}

/// The device and inode of the file, by which a replaced file is noticed.
fn identity(path: &Path) -> Result<(u64, u64), CatalogError> {
    match fs::symlink_metadata(path) {
        Ok(about) if about.is_file() => Ok((about.dev(), about.ino())),
        Ok(_) => Err(CatalogError::Unreadable("it is a symbolic link, or not a file".into())),
        Err(error) if error.kind() == ErrorKind::NotFound => Err(CatalogError::Missing),
        Err(error) => Err(CatalogError::Unreadable(error.to_string())),
    }
}

fn connect(path: &Path, due: &QueryDeadline) -> Result<Connection, CatalogError> {
    let path = without_links_above(path).map_err(|error| CatalogError::Unreadable(error.to_string()))?;
    let open = || {
        let connection = guarded(&path, due.clone())?;
        let version = connection.query_row("PRAGMA user_version", [], |row| row.get::<_, i64>(0))?;
        Ok((connection, version))
    };
    match open().map_err(|error| trouble(&error))? {
        (connection, VERSION) => Ok(connection),
        (_, newer) if newer > VERSION => Err(CatalogError::Newer(newer)),
        // The worker has just made the file, and has not filled it yet.
        _ => Err(CatalogError::Missing),
    }
}

/// SQLite takes a link anywhere in a path for one; the home may well be behind one.
fn without_links_above(path: &Path) -> std::io::Result<PathBuf> {
    match (path.parent(), path.file_name()) {
        (Some(parent), Some(name)) => Ok(parent.canonicalize()?.join(name)),
        _ => Ok(path.to_owned()),
    }
}

/// A connection to a file that somebody else may have made: calls in its schema are not run, and no query is endless.
fn guarded(path: &Path, due: QueryDeadline) -> rusqlite::Result<Connection> {
    let flags =
        OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    let mut connection = Connection::open_with_flags(path, flags)?;
    for (setting, on) in [
        (DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false),
        (DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false),
    ] {
        connection.set_db_config(setting, on)?;
    }
    connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, MAX_ROW)?;
    connection.set_limit(Limit::SQLITE_LIMIT_ATTACHED, 0)?;
    connection.busy_timeout(LOCKED)?;
    let is_due = move || Instant::now() >= *due.lock().unwrap_or_else(PoisonError::into_inner);
    connection.progress_handler(STEPS, Some(is_due))?;
    Ok(connection)
}

fn trouble(error: &rusqlite::Error) -> CatalogError {
    let said = error.to_string().replace('\n', " ");
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => CatalogError::Corrupt(said),
        Some(ErrorCode::OperationInterrupted) => CatalogError::Unreadable(TOO_LONG.into()),
        Some(
            ErrorCode::CannotOpen
            | ErrorCode::SystemIoFailure
            | ErrorCode::PermissionDenied
            | ErrorCode::DatabaseBusy
            | ErrorCode::DatabaseLocked
            | ErrorCode::ReadOnly
            | ErrorCode::OutOfMemory,
        ) => CatalogError::Unreadable(said),
        // A table or column is missing, or has the wrong contents.
        _ => CatalogError::Corrupt(said),
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_catalog;
    use super::*;

    async fn count(reader: &CatalogReader) -> Result<i64, CatalogError> {
        reader.run(|c| c.query_row("SELECT count(*) FROM entries", [], |row| row.get(0))).await
    }

    #[tokio::test(flavor = "local")]
    async fn whatever_is_in_the_files_place_is_told_and_a_good_one_is_read_again() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("catalog.db");
        let reader = CatalogReader::start(path.clone()).unwrap();
        assert_eq!(count(&reader).await, Err(CatalogError::Missing));
        assert!(!path.exists(), "it makes none");
        fs::write(&path, [b"SQLite format 3\0".as_slice(), &[7; 5000]].concat()).unwrap();
        assert!(matches!(count(&reader).await, Err(CatalogError::Corrupt(_))));
        fs::remove_file(&path).unwrap();
        let writer = test_catalog::catalog(&path, 3);
        assert_eq!(count(&reader).await, Ok(3));
        writer.execute("DELETE FROM entries", []).unwrap();
        assert_eq!(count(&reader).await, Ok(0), "what is committed is seen");
        writer.pragma_update(None, "user_version", 2).unwrap();
        drop(writer);
        fs::rename(&path, dir.path().join("x")).unwrap();
        assert_eq!(count(&reader).await, Err(CatalogError::Missing));
        fs::rename(dir.path().join("x"), &path).unwrap();
        assert_eq!(count(&reader).await, Err(CatalogError::Newer(2)));
    }

    #[tokio::test(flavor = "local")]
    async fn half_a_refresh_is_never_seen_and_nothing_can_be_written() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("catalog.db");
        let reader = CatalogReader::start(path.clone()).unwrap();
        let writer = test_catalog::catalog(&path, 5);
        writer.execute_batch("BEGIN; DELETE FROM entries;").unwrap();
        assert_eq!(count(&reader).await, Ok(5));
        writer.execute_batch("COMMIT").unwrap();
        assert_eq!(count(&reader).await, Ok(0));
        let written = reader.run(|c| c.execute("INSERT INTO meta VALUES ('a', 'b')", [])).await;
        assert!(matches!(written, Err(CatalogError::Unreadable(_))), "{written:?}");
        let gone = reader.run(|c| c.query_row("SELECT nothing FROM entries", [], |_| Ok(()))).await;
        assert!(matches!(gone, Err(CatalogError::Corrupt(_))));
    }

    #[tokio::test(flavor = "local")]
    async fn no_link_is_followed_but_the_home_may_be_behind_one() {
        let dir = tempfile::tempdir().unwrap();
        let [home, linked] = ["home", "linked"].map(|name| dir.path().join(name));
        fs::create_dir(&home).unwrap();
        std::os::unix::fs::symlink(&home, &linked).unwrap();
        drop(test_catalog::catalog(&home.join("elsewhere.db"), 2));
        std::os::unix::fs::symlink("elsewhere.db", home.join("catalog.db")).unwrap();
        let reader = CatalogReader::start(linked.join("catalog.db")).unwrap();
        let said = count(&reader).await.unwrap_err().to_string();
        assert!(said.contains("it is a symbolic link"), "{said}");
        fs::rename(home.join("elsewhere.db"), home.join("catalog.db")).unwrap();
        assert_eq!(count(&reader).await, Ok(2));
    }

    /// The names that are asked for mean what somebody else wants.
    async fn hostile(schema: &str) -> CatalogError {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("catalog.db");
        let writer = test_catalog::catalog(&path, 2);
        writer.execute_batch(&format!("DROP TABLE meta; {schema}")).unwrap();
        let reader = CatalogReader::with_patience(path, Duration::from_secs(1)).unwrap();
        let asked = reader.run(|c| c.query_row("SELECT key FROM meta", [], |_| Ok(()))).await;
        assert_eq!(count(&reader).await, Ok(2), "the next one is answered");
        asked.unwrap_err()
    }

    #[tokio::test(flavor = "local")]
    async fn what_a_hostile_schema_calls_is_not_run_and_what_never_ends_is_ended() {
        let calls = "CREATE VIEW meta AS SELECT fts5(NULL) AS key";
        let said = hostile(calls).await.to_string();
        assert!(said.contains("unsafe use of fts5"), "{said}");
        let endless = "CREATE VIEW meta AS WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r)
                           SELECT n AS key FROM r WHERE n < 0";
        assert_eq!(hostile(endless).await, CatalogError::Unreadable(TOO_LONG.into()));
        let long = "CREATE VIEW meta AS SELECT hex(zeroblob(900000000)) AS key";
        assert!(matches!(hostile(long).await, CatalogError::Corrupt(_)));
    }
}
