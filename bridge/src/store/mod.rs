//! What is on disk: one file per thing.
//!
//! Owns paths, modes and atomic writes: directories 0700, files 0600 from the moment they exist. Must never be
//! asked while the loop waits: SQLite has a thread of its own.

pub mod audit;
pub mod database;
pub mod date;
pub mod definitions;
pub mod grants;
pub mod images;
pub mod instance;
pub mod journal;
mod lines;
pub mod locks;
pub mod met_clients;
pub mod models;
pub mod packages;
pub mod pins;
pub mod programs;
pub mod recovery;
pub mod removal;
mod room;
pub mod secrets;
pub mod server_logs;
pub mod worker;
pub mod written;

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use nix::fcntl::OFlag;
use nix::unistd::geteuid;
use rusqlite::ErrorCode;

use self::date::rfc3339;

/// What failed on disk.
#[derive(Debug)]
pub enum StoreError {
    /// An operation on a file.
    File {
        /// What was done to which file.
        what: String,
        /// What the system says.
        source: io::Error,
    },
    /// An operation on the database.
    Database {
        /// What SQLite says.
        source: rusqlite::Error,
    },
    /// The database is not whole, and SQLite says how.
    Corrupt(String),
    /// The database is of a newer Harbor; the number is its version.
    Newer(i64),
    /// The database is lost, and the journal that it would be made anew from cannot be read.
    Unreadable {
        /// Why it counts as lost.
        why: String,
        /// What the system says of the journal.
        source: Box<StoreError>,
    },
    /// The thread that owns the database is gone.
    Gone,
    /// The secrets are encrypted, and their key is not at hand; the text says why, and what to do.
    Locked(String),
}

impl StoreError {
    /// Whether it means that the database's own bytes are wrong. A disk that is full or fails, a lock, a missing right
    /// are none of it.
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

    /// Whether it means that the disk fails the database, or the database itself is wrong: what other changes would
    /// meet, too.
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
                "harbor.db is of a newer Harbor (its version is {version}); use that one, or another HARBOR_HOME"
            ),
            Self::Unreadable { why, source } => write!(
                f,
                "harbor.db is lost ({why}), and the journal of its definitions cannot be read: {source}. Nothing was \
                 changed: see to that file and its disk, or put an empty file in its place to go on without its servers"
            ),
            Self::Gone => f.write_str("harbor.db: its thread has ended"),
            Self::Locked(why) => write!(f, "use the secrets: {why}"),
        }
    }
}

impl std::error::Error for StoreError {}

const MAKE_ROOM: &str = ": make room on that disk";

/// What a person can do about an error of a disk, to stand behind it; nothing where the error says all.
#[must_use]
pub fn advice(error: io::ErrorKind) -> &'static str {
    if matches!(error, io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded) { MAKE_ROOM } else { "" }
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

/// Creates a directory, and those above it, for this user only. One that exists is made private.
///
/// # Errors
/// When the file system refuses.
pub fn private_directory(path: &Path) -> Result<(), StoreError> {
    DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(failed("create", path))?;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o700)).map_err(failed("protect", path))
}

/// As `private_directory`, and it is this user's own, and no link: what lies in it lets programs in.
fn own_directory(path: &Path) -> Result<(), StoreError> {
    let made = DirBuilder::new().recursive(true).mode(0o700).create(path);
    // To be looked at last: what stood there before need not be what is there now.
    match path.symlink_metadata() {
        Ok(found) if !found.is_dir() || found.uid() != geteuid().as_raw() => {
            let why = "it has to be a directory of your own, and no symbolic link; remove it";
            Err(failed("use", path)(io::Error::new(io::ErrorKind::PermissionDenied, why)))
        }
        _ => {
            made.map_err(failed("create", path))?;
            private_directory(path)
        }
    }
}

/// Creates the home for this user only. One that exists stays as it is, but must be this user's own, and nobody
/// else's to write: `HARBOR_HOME=/tmp` is a mistake that must not be made true.
///
/// # Errors
/// When it is not, or the file system refuses.
pub fn home_directory(path: &Path) -> Result<(), StoreError> {
    let Ok(found) = path.metadata() else { return private_directory(path) };
    if found.uid() == geteuid().as_raw() && found.mode() & 0o022 == 0 {
        return Ok(());
    }
    let why = "it is another user's, or others may write to it; set HARBOR_HOME to a directory of your own";
    Err(failed("use", path)(io::Error::new(io::ErrorKind::PermissionDenied, why)))
}

/// Opens a file for this user only, creating it when there is none.
///
/// # Errors
/// When the file system refuses.
pub fn private_file(path: &Path) -> Result<File, StoreError> {
    OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .custom_flags(OFlag::O_NOFOLLOW.bits())
        .mode(0o600)
        .open(path)
        .map_err(failed("open", path))
}

/// Replaces a file's content so that a reader sees the old one or the new one, even across a power cut.
///
/// # Errors
/// When the file system refuses.
pub fn write_atomically(path: &Path, content: &[u8]) -> Result<(), StoreError> {
    let temporary = temporary(path);
    let write = || -> io::Result<()> {
        // A leftover of a crash may have any mode; a new file has ours from its first moment.
        match std::fs::remove_file(&temporary) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&temporary)?;
        file.write_all(content)?;
        file.sync_all()?;
        std::fs::rename(&temporary, path)
    };
    write().map_err(|error| {
        // What is to be written may be a secret.
        let _ = std::fs::remove_file(&temporary);
        failed("write", path)(error)
    })
}

/// Where a file's new content is written first.
fn temporary(path: &Path) -> PathBuf {
    path.with_extension("new")
}

/// As `write_atomically`; what was there before does not come back after a power cut either.
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

/// What lies beside a path and has such a name, by name.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_home_that_others_may_write_to_is_refused_and_left_as_it_is() {
        let home = tempfile::tempdir().unwrap();
        std::fs::set_permissions(home.path(), std::fs::Permissions::from_mode(0o1777)).unwrap();
        assert!(home_directory(home.path()).is_err());
        assert_eq!(home.path().metadata().unwrap().permissions().mode() & 0o7777, 0o1777);
        assert!(home_directory(&home.path().join("new")).is_ok());
    }

    #[test]
    fn a_directory_that_lets_programs_in_is_made_and_is_neither_a_link_nor_a_file() {
        let home = tempfile::tempdir().unwrap();
        let [own, link, dangling, file] =
            ["a/own", "link", "dangling", "file"].map(|name| home.path().join(name));
        own_directory(&own).unwrap();
        std::fs::set_permissions(&own, std::fs::Permissions::from_mode(0o755)).unwrap();
        std::os::unix::fs::symlink(&own, &link).unwrap();
        std::os::unix::fs::symlink("nowhere", &dangling).unwrap();
        std::fs::write(&file, "").unwrap();
        for wrong in [&link, &dangling, &file] {
            let error = own_directory(wrong).unwrap_err().to_string();
            assert!(error.contains("a directory of your own"), "{error}");
        }
        let mode = || own.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(), 0o755, "not through the link");
        own_directory(&own).unwrap();
        assert_eq!(mode(), 0o700);
    }

    #[test]
    fn what_could_not_be_written_leaves_nothing_behind() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("a");
        std::fs::create_dir_all(path.join("in the way")).unwrap();
        assert!(write_atomically(&path, b"secret").is_err());
        assert!(!temporary(&path).exists());
    }

    #[test]
    fn what_is_written_is_private_and_whole() {
        let home = tempfile::tempdir().unwrap();
        let directory = home.path().join("a/b");
        private_directory(&directory).unwrap();
        let file = directory.join("token");
        std::fs::write(file.with_extension("new"), "left over").unwrap();
        write_atomically(&file, b"one").unwrap();
        write_atomically(&file, b"two").unwrap();
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&directory), mode(&file)), (0o700, 0o600));
        assert_eq!(std::fs::read(&file).unwrap(), b"two");
    }
}
