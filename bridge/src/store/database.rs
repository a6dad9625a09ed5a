//! harbor.db: the one connection, and the thread that it lives on.
//!
//! ```text
//!  Definitions ─┐
//!  GrantFile ───┼─ run(job) ─► queue ─► thread ─► SQLite ─► the job's result
//!  Pins ────────┘
//! ```
//!
//! Owns the connection and how it is set up, and the room on the disk that is kept for revocations. What a job has committed is
//! on disk before its result is known. Must never know a table: each belongs to the file that makes it. Must never write to a
//! file that is not whole.

use std::cell::RefCell;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};
use tokio::sync::{Notify, oneshot};

use super::disk_reserve::DiskReserve;
use super::worker::WriterThread;
use super::{StoreError, private_file, sums};

const SETUP: &str = "
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = FULL;
    PRAGMA foreign_keys = ON;
    PRAGMA secure_delete = ON;
";

type DatabaseJob = Box<dyn FnOnce(&mut Connection) + Send>;

/// The version of the tables. Newer tables are left alone, older ones are brought to this version.
pub(super) const VERSION: i64 = 7;

/// The database.
#[derive(Debug)]
pub struct Database {
    jobs: mpsc::Sender<DatabaseJob>,
    /// The file.
    place: Arc<DatabaseFile>,
    /// The room that is kept for revocations.
    room: Arc<DiskReserve>,
    trouble: RefCell<DatabaseTrouble>,
    /// Set off when there is trouble.
    troubled: Notify,
    /// The last: its jobs have to be closed before it is waited for.
    _thread: Thread,
}

/// How long the end waits for SQLite to close its files.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// The thread; its end is waited for where this is dropped.
#[derive(Debug)]
struct Thread(WriterThread);

impl Drop for Thread {
    fn drop(&mut self) {
        if !self.0.ends_within(LAST_WORDS) {
            tracing::warn!("harbor.db: the disk holds up its end");
        }
    }
}

/// A file by its path, and by what it was there when it was opened.
#[derive(Debug)]
struct DatabaseFile {
    path: PathBuf,
    opened: Option<(u64, u64)>,
    /// It is not there any more, when that was last looked at.
    gone: AtomicBool,
}

impl DatabaseFile {
    fn new(path: PathBuf) -> Arc<Self> {
        let opened = identity(&path);
        Arc::new(Self { path, opened, gone: AtomicBool::new(false) })
    }

    /// Checks the file, since SQLite silently goes on with a file that was moved.
    fn look(&self) {
        self.gone.store(identity(&self.path) != self.opened, Ordering::Relaxed);
    }
}

fn identity(path: &Path) -> Option<(u64, u64)> {
    path.symlink_metadata().ok().map(|about| (about.dev(), about.ino()))
}

/// The reasons why changes are not stored, by what they need.
#[derive(Debug, Default)]
struct DatabaseTrouble {
    /// Every change needs the tables,
    tables: Option<String>,
    /// and some the journal. It is the one file that fails a job beside SQLite's own.
    journal: Option<String>,
}

/// Opens the database, creating it if it does not exist, and reads all of it.
///
/// # Errors
/// When it cannot be opened, or is not whole. Then its files are unchanged.
pub(super) fn connect(path: &Path) -> Result<Connection, StoreError> {
    drop(private_file(path)?);
    let connection = Connection::open(path)?;
    // What turns out to be corrupt is not written to, also not at its end.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    connection.execute_batch(SETUP)?;
    sums::register(&connection)?;
    is_whole(&connection)?;
    match connection.query_row("PRAGMA user_version", [], |row| row.get::<_, i64>(0))? {
        ..=VERSION => {}
        newer => return Err(StoreError::Newer(newer)),
    }
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false)?;
    Ok(connection)
}

/// Reads every page: 0.2 ms for what people have, 70 ms for 50 MB.
fn is_whole(connection: &Connection) -> Result<(), StoreError> {
    let said: String = connection.query_row("PRAGMA integrity_check(1)", [], |row| row.get(0))?;
    // It may say that in lines.
    if said == "ok" { Ok(()) } else { Err(StoreError::Corrupt(said.replace('\n', " "))) }
}

impl Database {
    /// Opens the database, creating it if it does not exist.
    ///
    /// # Errors
    /// When the file cannot be opened, or is no database.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        Self::start(connect(path)?)
    }

    /// Gives a connection to a thread.
    pub(super) fn start(mut connection: Connection) -> Result<Self, StoreError> {
        let (jobs, todo) = mpsc::channel::<DatabaseJob>();
        let path = connection.path().map(PathBuf::from).unwrap_or_default();
        let (room, place) = (Arc::new(DiskReserve::of(&path)), DatabaseFile::new(path));
        let first = room.clone();
        let thread = WriterThread::start("harbor.db", move || {
            first.hold();
            todo.into_iter().for_each(|job| job(&mut connection));
        })?;
        let (trouble, troubled) = (RefCell::default(), Notify::new());
        Ok(Self { jobs, place, room, trouble, troubled, _thread: Thread(thread) })
    }

    /// Why new decisions are not stored, or will not be found again: the file is gone, or the disk refused the last change.
    #[must_use]
    pub fn trouble(&self) -> Option<String> {
        if self.place.gone.load(Ordering::Relaxed) {
            return Some(MOVED.into());
        }
        let trouble = self.trouble.borrow();
        let why = trouble.tables.as_ref().or(trouble.journal.as_ref())?;
        Some(format!("{why}; is the disk full or failing?"))
    }

    /// Empties the write-ahead log, in its turn: somebody may have kept an earlier try from it. Looks whether the file is
    /// still at its place.
    pub fn keep_house(&self) {
        let (place, room) = (self.place.clone(), self.room.clone());
        // Without its thread, every job says so.
        let _ = self.jobs.send(Box::new(move |connection| {
            place.look();
            checkpoint(connection);
            room.hold();
        }));
    }

    /// Works as `run`, for a job that takes something away: where the disk is full, the room that is kept for it is given up.
    pub(super) async fn run_with_room<T: Send + 'static>(
        &self,
        job: impl Fn(&mut Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let room = self.room.clone();
        self.run(move |connection| match job(connection) {
            Err(error) if error.is_trouble() && !error.is_corruption() && room.release() => job(connection),
            result => result,
        })
        .await
    }

    /// Runs a job on the thread, behind those that were there before.
    pub(super) async fn run<T: Send + 'static>(
        &self,
        job: impl FnOnce(&mut Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (done, result) = oneshot::channel();
        let place = self.place.clone();
        let job: DatabaseJob = Box::new(move |connection| {
            let before = connection.total_changes();
            let result = job(connection);
            place.look();
            // Whoever asked may have left; the change is made all the same.
            let _ = done.send((result, connection.total_changes() > before));
        });
        let (result, stored) = match self.jobs.send(job) {
            Ok(()) => result.await.unwrap_or((Err(StoreError::Gone), false)),
            Err(_) => (Err(StoreError::Gone), false),
        };
        self.note(result.as_ref().err(), stored);
        result
    }

    /// Runs a job without a waiter, behind the jobs that were there before.
    pub(super) fn run_later(
        &self,
        what: &'static str,
        job: impl FnOnce(&mut Connection) -> Result<(), StoreError> + Send + 'static,
    ) {
        // Without its thread, every other job says so.
        let _ = self.jobs.send(Box::new(move |connection| {
            if let Err(error) = job(connection) {
                tracing::error!(%error, what, "could not be stored");
            }
        }));
    }

    /// Waits until all changes so far are done.
    pub async fn finish(&self) {
        // Without its thread there is nothing to wait for.
        let _ = self.run(|_| Ok(())).await;
    }

    /// Notes how a job ended. A job that only reads, or changes nothing, tells nothing about the disk.
    fn note(&self, error: Option<&StoreError>, stored: bool) {
        let mut trouble = self.trouble.borrow_mut();
        match error {
            None if stored => trouble.tables = None,
            Some(error @ StoreError::File { .. }) => trouble.journal = Some(error.to_string()),
            Some(error) if error.is_trouble() => trouble.tables = Some(error.to_string()),
            _ => {}
        }
        if trouble.tables.is_some() || trouble.journal.is_some() {
            self.troubled.notify_one();
        }
    }

    /// Waits until a change could not be stored.
    pub(super) async fn troubled(&self) {
        self.troubled.notified().await;
    }

    /// True if the last change could not be stored.
    pub(super) fn is_troubled(&self) -> bool {
        let trouble = self.trouble.borrow();
        trouble.tables.is_some() || trouble.journal.is_some()
    }

    /// A change was stored, in the tables and in the journal.
    pub(super) fn is_well(&self) {
        *self.trouble.borrow_mut() = DatabaseTrouble::default();
    }

    /// A change got into the journal.
    pub(super) fn journal_is_written(&self) {
        self.trouble.borrow_mut().journal = None;
    }

    /// Makes the tables of one file, where there are none.
    pub(super) async fn create(&self, tables: &'static str) -> Result<(), StoreError> {
        self.run(move |connection| Ok(connection.execute_batch(tables)?)).await
    }
}

/// Empties the write-ahead log. It still holds replaced and removed data, and SQLite does not notice a lost
/// end. If this fails, commits stay committed, and housekeeping tries again.
pub(super) fn checkpoint(connection: &Connection) {
    let checkpoint = || {
        connection.busy_timeout(READER_WAIT)?;
        let busy = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get::<_, bool>(0));
        connection.busy_timeout(WRITER_WAIT)?;
        busy
    };
    match checkpoint() {
        Ok(false) => {}
        Ok(true) => tracing::warn!("harbor.db: somebody reads it, so its log still holds what was changed"),
        Err(error) => tracing::warn!(%error, "harbor.db: its log still holds what was changed"),
    }
}

/// The sentence about a file that was moved, removed or replaced.
const MOVED: &str = "harbor.db was moved or removed while the bridge runs; put it back, or run `harbor shutdown`: the \
                     next bridge makes a new one from the journal of definitions";

/// How long a change waits for somebody else who writes.
const WRITER_WAIT: Duration = Duration::from_secs(5);

/// How long the log's emptying waits for somebody who reads.
const READER_WAIT: Duration = Duration::from_millis(100);

/// Checks that a database is whole, as far as SQLite finds out. A missing database is whole. Changes nothing,
/// even while a bridge uses it.
///
/// # Errors
/// The fault, in SQLite's words.
pub fn check(path: &Path) -> Result<(), StoreError> {
    if !path.exists() {
        return Ok(());
    }
    let connection = Connection::open_with_flags(
        path,
        OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX,
    )?;
    connection.busy_timeout(CHECK_WAIT)?;
    is_whole(&connection)?;
    let version = connection.query_row("PRAGMA user_version", [], |row| row.get::<_, i64>(0))?;
    if version < VERSION {
        return Ok(());
    }
    sums::register(&connection)?;
    sums::altered(&connection)?.map_or(Ok(()), |why| Err(StoreError::Corrupt(why)))
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

    fn open(home: &tempfile::TempDir) -> Database {
        let database = Database::open(&home.path().join("harbor.db")).unwrap();
        database.jobs.send(Box::new(|c| c.execute_batch("CREATE TABLE t (x)").unwrap())).unwrap();
        database
    }

    async fn put(database: &Database, size: i64) -> Result<(), StoreError> {
        let put = database.run(move |connection| {
            connection.execute("INSERT INTO t VALUES (zeroblob(?1))", [size])?;
            checkpoint(connection);
            Ok(())
        });
        put.await
    }

    #[tokio::test(flavor = "local")]
    async fn a_reader_holds_a_change_up_for_a_moment_only_and_the_log_is_emptied_later() {
        let home = tempfile::tempdir().unwrap();
        let database = open(&home);
        put(&database, 1).await.unwrap();
        let log = || home.path().join("harbor.db-wal").metadata().unwrap().len();
        assert_eq!(log(), 0);
        let reader = Connection::open(home.path().join("harbor.db")).unwrap();
        reader.execute_batch("BEGIN; SELECT count(*) FROM t;").unwrap();
        let began = std::time::Instant::now();
        put(&database, 2).await.unwrap();
        assert!(began.elapsed() < WRITER_WAIT / 2, "{:?}", began.elapsed());
        assert!(log() > 0);
        drop(reader);
        database.keep_house();
        database.run(|_| Ok(())).await.unwrap();
        assert_eq!(log(), 0);
    }

    #[tokio::test(flavor = "local")]
    async fn trouble_lasts_until_something_is_stored_that_needs_what_failed() {
        let home = tempfile::tempdir().unwrap();
        let database = open(&home);
        let limit = |pages: &'static str| {
            database.run(move |c| Ok(c.pragma_update(None, "max_page_count", pages)?))
        };
        limit("4").await.unwrap();
        assert!(put(&database, 100_000).await.is_err());
        let nothing = database.run(|c| Ok(c.execute("DELETE FROM t WHERE x = 7", [])?));
        assert_eq!(nothing.await.unwrap(), 0);
        assert!(database.trouble().is_some_and(|told| told.contains("full")));
        limit("4000").await.unwrap();
        put(&database, 100_000).await.unwrap();
        assert_eq!(database.trouble(), None);

        let of_a_file =
            || StoreError::File { what: "write".into(), source: std::io::ErrorKind::StorageFull.into() };
        assert!(database.run(move |_| Err::<(), _>(of_a_file())).await.is_err());
        put(&database, 1).await.unwrap();
        assert!(database.trouble().is_some(), "that did not need the journal");
        database.journal_is_written();
        assert_eq!(database.trouble(), None);
    }

    #[test]
    fn a_database_is_checked_without_being_changed() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("harbor.db");
        assert!(check(&path).is_ok() && !path.exists());
        let connection = connect(&path).unwrap();
        assert!(check(&path).is_ok());
        drop(connection);
        std::fs::write(&path, [b"SQLite format 3\0".as_slice(), &[7; 5000]].concat()).unwrap();
        assert!(check(&path).is_err());
    }
}
