//! The things on disk: one file per thing.
//!
//! Owns the content of these files; `harbor_home::files` owns how they are made private and whole. Must never be asked while the
//! loop waits: SQLite has a thread of its own.

pub mod audit;
mod columns;
pub mod consent;
pub mod copying;
pub mod database;
pub mod definition_table;
pub mod definitions;
mod disk_reserve;
pub mod engines;
pub mod first_browser;
pub mod grants;
pub mod images;
pub mod instance;
pub mod journal;
mod lines;
mod lock_names;
pub mod locks;
pub mod met_clients;
pub mod models;
pub mod modules;
pub mod offers;
pub mod packages;
pub mod pins;
pub mod program_rows;
pub mod programs;
pub mod recovery;
pub mod removal;
pub mod scripts;
pub mod secrets;
pub mod server_logs;
pub mod sessions;
mod sums;
pub mod worker;
pub mod workplaces;
pub mod written_places;

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use harbor_home::date::rfc3339;
use harbor_home::files::{
    FileError, MAKE_ROOM, advice, own_directory, private_directory, private_file, temporary, write_atomically,
};
use rusqlite::ErrorCode;

/// A failure on disk.
#[derive(Debug)]
pub enum StoreError {
    /// An operation on a file.
    File {
        /// The action, and the file.
        what: String,
        /// The system's error.
        source: io::Error,
    },
    /// An operation on the database.
    Database {
        /// SQLite's error.
        source: rusqlite::Error,
    },
    /// The database is not whole, and SQLite says how.
    Corrupt(String),
    /// The database is of a newer Harbor; the number is its version.
    Newer(i64),
    /// The database is lost, and the journal that it would be made anew from cannot be read.
    Unreadable {
        /// The reason why it counts as lost.
        why: String,
        /// The reason why the journal cannot be read.
        source: Box<StoreError>,
    },
    /// The thread that owns the database is gone.
    Gone,
    /// The secrets are encrypted, and their key is not at hand; the text says why, and what to do.
    Locked(String),
}

impl StoreError {
    /// True if it means that the database's own bytes are wrong. A full or failing disk, a lock and a missing right do not mean
    /// that.
    #[must_use]
    pub fn is_corruption(&self) -> bool {
        let Self::Database { source } = self else { return matches!(self, Self::Corrupt(_)) };
        match source {
            rusqlite::Error::SqliteFailure(error, said) => match error.code {
                ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase => true,
                // The number of its format is wrong, for which SQLite has no code.
                _ => said.as_deref() == Some("unsupported file format"),
            },
            _ => false,
        }
    }

    /// True if the error means that the disk fails the database, or that the database itself is wrong. Other
    /// changes would then fail, too.
    fn is_trouble(&self) -> bool {
        use ErrorCode::{CannotOpen, DiskFull, ReadOnly, SystemIoFailure};
        let of_the_disk = [CannotOpen, DiskFull, ReadOnly, SystemIoFailure];
        let Self::Database { source } = self else { return matches!(self, Self::File { .. } | Self::Gone) };
        self.is_corruption() || source.sqlite_error_code().is_some_and(|code| of_the_disk.contains(&code))
    }
}

impl std::fmt::Display for StoreError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::File { what, source } => write!(f, "{what}: {source}{}", advice(source.kind())),
            Self::Database { source } => {
                let is_full = source.sqlite_error_code() == Some(ErrorCode::DiskFull);
                write!(f, "harbor.db: {source}{}", if is_full { MAKE_ROOM } else { "" })
            }
            Self::Corrupt(said) => write!(f, "harbor.db is corrupt: {said}"),
            Self::Newer(version) => write!(
                f,
                "harbor.db comes from a newer Harbor (its version is {version}); use that Harbor, or another HARBOR_HOME"
            ),
            Self::Unreadable { why, source } => write!(
                f,
                "harbor.db is lost ({why}), and the journal of its definitions cannot be read: {source}. Nothing was \
                 changed: check that file and its disk, or replace it by an empty file to continue without its servers"
            ),
            Self::Gone => f.write_str("harbor.db: its thread has ended"),
            Self::Locked(why) => write!(f, "use the secrets: {why}"),
        }
    }
}

impl std::error::Error for StoreError {}

impl From<FileError> for StoreError {
    fn from(FileError { what, source }: FileError) -> Self {
        Self::File { what, source }
    }
}

impl From<rusqlite::Error> for StoreError {
    fn from(source: rusqlite::Error) -> Self {
        Self::Database { source }
    }
}

fn failed(what: &str, path: &Path) -> impl Fn(io::Error) -> StoreError {
    let what = format!("{what} {}", path.display());
    move |source| StoreError::File { what: what.clone(), source }
}

/// Works as `write_atomically`. In addition, the former content does not come back after a power cut.
fn write_durably(path: &Path, content: &[u8]) -> Result<(), StoreError> {
    write_atomically(path, content)?;
    path.parent().map_or(Ok(()), sync_directory)
}

/// A path's name, and more.
fn beside(path: &Path, more: &str) -> PathBuf {
    let mut beside = path.as_os_str().to_owned();
    beside.push(more);
    beside.into()
}

/// A name beside a path that nothing has, with the time at which that was set aside.
pub(crate) fn free_name(path: &Path, more: &str, at: u64) -> PathBuf {
    let time: String = rfc3339(at).chars().filter(|c| c.is_ascii_alphanumeric()).collect();
    let first = beside(path, &format!("{more}{time}"));
    let is_free = |path: &PathBuf| path.symlink_metadata().is_err();
    let others = (2_u32..).map(|number| beside(&first, &format!("-{number}")));
    std::iter::once(first.clone()).chain(others).find(is_free).unwrap_or(first)
}

/// The paths beside a path whose names begin with its name and `more`, by name.
pub(crate) fn beginning_with(path: &Path, more: &str) -> Vec<PathBuf> {
    let start = beside(Path::new(path.file_name().unwrap_or_default()), more);
    let is_one = |found: &PathBuf| {
        let name = found.file_name().unwrap_or_default().as_encoded_bytes();
        name.starts_with(start.as_os_str().as_encoded_bytes())
    };
    let entries = path.parent().and_then(|parent| parent.read_dir().ok()).into_iter().flatten().flatten();
    let mut all: Vec<_> = entries.map(|entry| entry.path()).filter(is_one).collect();
    all.sort();
    all
}

/// Names that were made, moved or removed in a directory stay that way.
fn sync_directory(path: &Path) -> Result<(), StoreError> {
    File::open(path).and_then(|directory| directory.sync_all()).map_err(failed("write", path))
}
