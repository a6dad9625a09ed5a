//! catalog.db: this process is its only writer.
//!
//! Owns the file (0600, WAL) and every statement; `schema.sql` describes the tables for readers. A refresh of a source is
//! one transaction (`pass`), open while its pages come. SQLite writes what does not fit into memory to the log, where nobody
//! reads it before the commit. A kill at any point leaves nothing of it. The file is a cache: one that is damaged or of
//! another version is set aside (`catalog.db.set-aside`, one of them) and made anew. A full disk or a missing right is an
//! error that leaves it as it is.

use std::fs::{self, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, ErrorCode, OpenFlags};

mod enrich;
mod facts;
mod pass;
mod seed;
mod sources;
#[cfg(test)]
mod tests;

pub use enrich::{Candidate, Found};
pub use pass::PassTransaction;
pub use sources::{Ended, Origin, Source};

/// Tables, index and triggers.
pub const SCHEMA: &str = include_str!("schema.sql");
/// `PRAGMA user_version` of that schema.
pub const VERSION: i64 = 1;

/// The setup of a connection. The cache is small, since this process lives long and mostly waits.
const SETUP: &str = "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA cache_size = -2000;
    PRAGMA journal_size_limit = 4194304; PRAGMA temp_store = MEMORY; PRAGMA trusted_schema = OFF;";

/// An error of catalog.db: the operation that failed, and why.
#[derive(Debug)]
pub struct DbError {
    operation: &'static str,
    cause: Cause,
}

#[derive(Debug)]
enum Cause {
    Sqlite(rusqlite::Error),
    System(io::Error),
}

impl std::fmt::Display for DbError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.cause {
            Cause::Sqlite(error) => write!(f, "catalog.db could not be {}: {error}", self.operation),
            Cause::System(error) => write!(f, "catalog.db could not be {}: {error}", self.operation),
        }
    }
}

impl std::error::Error for DbError {}

impl DbError {
    /// True if the file is no sound database any more, so that another one is needed.
    #[must_use]
    pub fn is_lost(&self) -> bool {
        let Cause::Sqlite(error) = &self.cause else { return false };
        matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase))
    }

    fn system(operation: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |error| Self { operation, cause: Cause::System(error) }
    }
}

/// Says which operation an error is about.
fn sql(operation: &'static str) -> impl Fn(rusqlite::Error) -> DbError {
    move |error| DbError { operation, cause: Cause::Sqlite(error) }
}

/// The open database.
#[derive(Debug)]
pub struct Db {
    connection: Connection,
}

impl Db {
    /// Opens the catalog, or makes it, and adds Harbor's own entries. If the old file had to be set aside,
    /// returns the sentence about it, too.
    ///
    /// # Errors
    /// When the disk or its rights refuse.
    pub fn open(path: &Path, now: u64) -> Result<(Self, Option<String>), DbError> {
        let set_aside = match Self::existing(path)? {
            Existing::Sound(connection) => return Self::seeded(connection, now).map(|db| (db, None)),
            Existing::None => None,
            Existing::Unusable(why) => {
                set_aside(path)?;
                Some(format!(
                    "catalog.db was {why}; Harbor keeps it as catalog.db.set-aside and fetches everything again"
                ))
            }
        };
        let connection = Self::create(path)?;
        let db = Self::seeded(connection, now)?;
        db.note("set_aside", set_aside.as_deref())?;
        Ok((db, set_aside))
    }

    /// Sets the file aside and makes a new one, for a file that has turned out later to be damaged.
    ///
    /// # Errors
    /// When the disk or its rights refuse.
    pub fn rebuild(path: &Path, now: u64) -> Result<(Self, Option<String>), DbError> {
        set_aside(path)?;
        let db = Self::seeded(Self::create(path)?, now)?;
        let said = aside("damaged");
        db.note("set_aside", Some(&said))?;
        Ok((db, Some(said)))
    }

    fn existing(path: &Path) -> Result<Existing, DbError> {
        match fs::symlink_metadata(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Existing::None),
            Err(error) => return Err(DbError::system("looked at")(error)),
            Ok(metadata) if metadata.len() == 0 && metadata.is_file() => return Ok(Existing::None),
            Ok(_) => {}
        }
        // Nothing is set up yet, so that a file of others stays as it is.
        match Self::connect(path).and_then(version_of) {
            Ok((connection, Some(VERSION))) => set_up(connection).map(Existing::Sound),
            Ok((_, Some(version))) => {
                Ok(Existing::Unusable(format!("of version {version} instead of {VERSION}")))
            }
            Ok((_, None)) => Ok(Existing::Unusable("damaged".into())),
            Err(error) if error.is_lost() => Ok(Existing::Unusable("damaged".into())),
            Err(error) => Err(error),
        }
    }

    fn create(path: &Path) -> Result<Connection, DbError> {
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(false).mode(0o600);
        options.custom_flags(nix::fcntl::OFlag::O_NOFOLLOW.bits());
        drop(options.open(path).map_err(DbError::system("made"))?);
        let connection = set_up(Self::connect(path)?)?;
        connection.execute_batch(&format!("BEGIN IMMEDIATE; {SCHEMA} COMMIT;")).map_err(sql("made"))?;
        Ok(connection)
    }

    fn connect(path: &Path) -> Result<Connection, DbError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_NO_MUTEX
            | OpenFlags::SQLITE_OPEN_NOFOLLOW
            | OpenFlags::SQLITE_OPEN_EXRESCODE;
        Connection::open_with_flags(path, flags).map_err(sql("opened"))
    }

    fn seeded(connection: Connection, now: u64) -> Result<Self, DbError> {
        let mut db = Self { connection };
        db.seed(now)?;
        Ok(db)
    }

    /// Keeps a fact about the file, or forgets it.
    fn note(&self, key: &str, value: Option<&str>) -> Result<(), DbError> {
        let done = match value {
            Some(value) => self
                .connection
                .execute("INSERT OR REPLACE INTO meta (key, value) VALUES (?1, ?2)", (key, value)),
            None => self.connection.execute("DELETE FROM meta WHERE key = ?1", (key,)),
        };
        done.map(drop).map_err(sql("written"))
    }

    /// Returns the log's room on the disk, as far as no reader needs it.
    pub fn shrink(&self) {
        // A reader may be in the way; the next one tries again.
        let _ = self.connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
        let _ = self.connection.execute_batch("PRAGMA shrink_memory");
    }
}

fn aside(why: &str) -> String {
    format!("catalog.db was {why}; Harbor keeps it as catalog.db.set-aside and fetches everything again")
}

enum Existing {
    None,
    Sound(Connection),
    /// The reason why the file cannot be used.
    Unusable(String),
}

fn set_up(connection: Connection) -> Result<Connection, DbError> {
    connection.execute_batch(SETUP).map_err(sql("opened"))?;
    connection.set_prepared_statement_cache_capacity(32);
    Ok(connection)
}

/// The version of its schema. None if the file is not sound.
fn version_of(connection: Connection) -> Result<(Connection, Option<i64>), DbError> {
    let read = |statement| connection.query_row(statement, [], |row| row.get::<_, i64>(0));
    let version = read("PRAGMA user_version").map_err(sql("read"))?;
    let sound = connection
        .query_row("PRAGMA quick_check(1)", [], |row| row.get::<_, String>(0))
        .map_err(sql("read"))?;
    Ok((connection, (sound == "ok").then_some(version)))
}

fn set_aside(path: &Path) -> Result<(), DbError> {
    let beside = |suffix: &str| -> PathBuf {
        let mut name = path.as_os_str().to_owned();
        name.push(suffix);
        name.into()
    };
    fs::rename(path, beside(".set-aside")).map_err(DbError::system("set aside"))?;
    for rest in ["-wal", "-shm"] {
        match fs::remove_file(beside(rest)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(DbError::system("set aside")(error));
            }
            _ => {}
        }
    }
    Ok(())
}

/// A number as SQLite keeps it.
fn int(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// The other way; a negative one was never ours.
fn uint(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}
