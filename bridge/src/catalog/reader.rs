//! catalog.db as the bridge reads it: one read-only connection, and the thread that it lives on.
//!
//! ```text
//!  Reader ─ job ─► queue ─► thread: the same file as before? ─► SQLite ─► the answer
//! ```
//!
//! Owns the connection: opened anew when another file is in the file's place, and after an error. Must never write, nor know
//! what the tables hold (`query` does), nor make anybody wait beyond [`PATIENCE`].

use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, InterruptHandle, OpenFlags};
use tokio::sync::oneshot;

use super::errors::CatalogError;

/// The version of the schema that is read.
const VERSION: i64 = 1;

/// A query takes milliseconds.
const PATIENCE: Duration = Duration::from_secs(5);

/// How long a query waits where the file is locked: while its log is recovered.
const LOCKED: Duration = Duration::from_secs(1);

type Job = Box<dyn FnOnce(&mut Shelf) + Send>;

/// What may be used to end a query.
type Interrupt = Arc<Mutex<Option<InterruptHandle>>>;

/// Reads the catalog.
pub(super) struct Reader {
    jobs: mpsc::Sender<Job>,
    interrupt: Interrupt,
}

impl std::fmt::Debug for Reader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Reader").finish_non_exhaustive()
    }
}

impl Reader {
    /// Starts the thread; the file need not exist.
    pub(super) fn start(path: PathBuf) -> std::io::Result<Self> {
        let (jobs, todo) = mpsc::channel::<Job>();
        let interrupt = Interrupt::default();
        let mut shelf = Shelf { path, open: None, interrupt: interrupt.clone() };
        std::thread::Builder::new()
            .name("catalog.db".into())
            .spawn(move || todo.into_iter().for_each(|job| job(&mut shelf)))?;
        Ok(Self { jobs, interrupt })
    }

    /// Has a query made, behind those that were there before.
    ///
    /// # Errors
    /// Why the catalog cannot be read.
    pub(super) async fn run<T: Send + 'static>(
        &self,
        query: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, CatalogError> {
        let (done, result) = oneshot::channel();
        let job: Job = Box::new(move |shelf| {
            // Whoever asked may have left.
            let _ = done.send(shelf.read(query));
        });
        let gone = || CatalogError::Unreadable("its thread has ended".into());
        self.jobs.send(job).map_err(|_| gone())?;
        match tokio::time::timeout(PATIENCE, result).await {
            Ok(result) => result.map_err(|_| gone())?,
            Err(_) => {
                let interrupt = self.interrupt.lock().unwrap_or_else(PoisonError::into_inner);
                interrupt.iter().for_each(InterruptHandle::interrupt);
                Err(CatalogError::Unreadable("it takes too long".into()))
            }
        }
    }
}

/// The connection, if there is one.
struct Shelf {
    path: PathBuf,
    /// With the device and inode of its file.
    open: Option<((u64, u64), Connection)>,
    interrupt: Interrupt,
}

impl Shelf {
    fn read<T>(&mut self, query: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T, CatalogError> {
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
            None => {
                let connection = connect(&self.path)?;
                *self.interrupt.lock().unwrap_or_else(PoisonError::into_inner) =
                    Some(connection.get_interrupt_handle());
                (found, connection)
            }
        };
        Ok(&self.open.insert(open).1)
    }
}

/// By what another file in its place is known.
fn identity(path: &Path) -> Result<(u64, u64), CatalogError> {
    match fs::metadata(path) {
        Ok(about) => Ok((about.dev(), about.ino())),
        Err(error) if error.kind() == ErrorKind::NotFound => Err(CatalogError::Missing),
        Err(error) => Err(CatalogError::Unreadable(error.to_string())),
    }
}

fn connect(path: &Path) -> Result<Connection, CatalogError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let open = || {
        let connection = Connection::open_with_flags(path, flags)?;
        connection.busy_timeout(LOCKED)?;
        let version = connection.query_row("PRAGMA user_version", [], |row| row.get::<_, i64>(0))?;
        Ok((connection, version))
    };
    match open().map_err(|error| trouble(&error))? {
        (connection, VERSION) => Ok(connection),
        (_, newer) if newer > VERSION => Err(CatalogError::Newer(newer)),
        // Its worker has just made the file, and not yet what belongs into it.
        _ => Err(CatalogError::Missing),
    }
}

fn trouble(error: &rusqlite::Error) -> CatalogError {
    let said = error.to_string().replace('\n', " ");
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => CatalogError::Corrupt(said),
        Some(
            ErrorCode::CannotOpen
            | ErrorCode::SystemIoFailure
            | ErrorCode::PermissionDenied
            | ErrorCode::DatabaseBusy
            | ErrorCode::DatabaseLocked
            | ErrorCode::ReadOnly
            | ErrorCode::OperationInterrupted
            | ErrorCode::OutOfMemory,
        ) => CatalogError::Unreadable(said),
        // A table or a column is missing, or holds what does not belong there.
        _ => CatalogError::Corrupt(said),
    }
}

#[cfg(test)]
mod tests {
    use super::super::rig;
    use super::*;

    async fn count(reader: &Reader) -> Result<i64, CatalogError> {
        reader.run(|c| c.query_row("SELECT count(*) FROM entries", [], |row| row.get(0))).await
    }

    #[tokio::test(flavor = "local")]
    async fn whatever_is_in_the_files_place_is_told_and_a_good_one_is_read_again() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("catalog.db");
        let reader = Reader::start(path.clone()).unwrap();
        assert_eq!(count(&reader).await, Err(CatalogError::Missing));
        assert!(!path.exists(), "it makes none");
        fs::write(&path, [b"SQLite format 3\0".as_slice(), &[7; 5000]].concat()).unwrap();
        assert!(matches!(count(&reader).await, Err(CatalogError::Corrupt(_))));
        fs::remove_file(&path).unwrap();
        let writer = rig::catalog(&path, 3);
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
        let reader = Reader::start(path.clone()).unwrap();
        let writer = rig::catalog(&path, 5);
        writer.execute_batch("BEGIN; DELETE FROM entries;").unwrap();
        assert_eq!(count(&reader).await, Ok(5));
        writer.execute_batch("COMMIT").unwrap();
        assert_eq!(count(&reader).await, Ok(0));
        let written = reader.run(|c| c.execute("INSERT INTO meta VALUES ('a', 'b')", [])).await;
        assert!(matches!(written, Err(CatalogError::Unreadable(_))), "{written:?}");
        let gone = reader.run(|c| c.query_row("SELECT nothing FROM entries", [], |_| Ok(()))).await;
        assert!(matches!(gone, Err(CatalogError::Corrupt(_))));
    }
}
