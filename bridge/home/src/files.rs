//! How Harbor's programs make files in its home: for this user alone, and whole or not at all.
//!
//! Owns modes (directories 0700, files 0600 from the moment they exist) and atomic writes. Must never know what is in a file.

use std::fmt;
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use nix::fcntl::OFlag;
use nix::unistd::geteuid;

/// An operation on a file that failed.
#[derive(Debug)]
pub struct FileError {
    /// The operation that failed, and its file.
    pub what: String,
    /// The system's error.
    pub source: io::Error,
}

impl FileError {
    /// A function for `map_err` that adds the operation and its file.
    pub fn of(what: &str, path: &Path) -> impl Fn(io::Error) -> Self {
        let what = format!("{what} {}", path.display());
        move |source| Self { what: what.clone(), source }
    }
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}{}", self.what, self.source, advice(self.source.kind()))
    }
}

impl std::error::Error for FileError {}

/// Advice about a disk that is full, to stand behind the error.
pub const MAKE_ROOM: &str = ": make room on that disk";

/// Advice about an error of a disk, to stand behind it; empty where the error says all.
#[must_use]
pub fn advice(error: io::ErrorKind) -> &'static str {
    if matches!(error, io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded) { MAKE_ROOM } else { "" }
}

/// Creates a directory, and those above it, for this user only. An existing one is made private.
///
/// # Errors
/// When the file system refuses.
pub fn private_directory(path: &Path) -> Result<(), FileError> {
    DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(FileError::of("create", path))?;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o700))
        .map_err(FileError::of("protect", path))
}

/// Like `private_directory`, but the directory must also be this user's own, and no link: the files in it let
/// programs in.
///
/// # Errors
/// When it is not, or the file system refuses.
pub fn own_directory(path: &Path) -> Result<(), FileError> {
    let made = DirBuilder::new().recursive(true).mode(0o700).create(path);
    // To be looked at last: what stood there before need not be what is there now.
    match path.symlink_metadata() {
        Ok(found) if !found.is_dir() || found.uid() != geteuid().as_raw() => {
            let why = "it must be a directory that you own, not a symbolic link; remove it";
            Err(FileError::of("use", path)(io::Error::new(io::ErrorKind::PermissionDenied, why)))
        }
        _ => {
            made.map_err(FileError::of("create", path))?;
            private_directory(path)
        }
    }
}

/// Opens a file for this user only, creating it when there is none.
///
/// # Errors
/// When the file system refuses.
pub fn private_file(path: &Path) -> Result<File, FileError> {
    OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .custom_flags(OFlag::O_NOFOLLOW.bits())
        .mode(0o600)
        .open(path)
        .map_err(FileError::of("open", path))
}

/// Replaces a file's content so that a reader sees the old one or the new one, even across a power cut.
///
/// # Errors
/// When the file system refuses.
pub fn write_atomically(path: &Path, content: &[u8]) -> Result<(), FileError> {
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
        FileError::of("write", path)(error)
    })
}

/// Opens a regular file that somebody else may have put there, and nothing else: a pipe would be waited for, and a link may lead to
/// what whoever made it may not read.
///
/// # Errors
/// When it is none, or cannot be opened.
pub fn regular_file(path: &Path) -> io::Result<File> {
    let flags = OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK | OFlag::O_NOCTTY;
    let file = OpenOptions::new().read(true).custom_flags(flags.bits()).open(path)?;
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no regular file")),
    }
}

/// The place where a file's new content is written first.
#[must_use]
pub fn temporary(path: &Path) -> PathBuf {
    path.with_extension("new")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_regular_file_is_opened_and_neither_a_link_to_one_nor_a_pipe() {
        let home = tempfile::tempdir().unwrap();
        let [file, link, pipe] = ["file", "link", "pipe"].map(|name| home.path().join(name));
        std::fs::write(&file, "x").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::S_IRWXU).unwrap();
        assert!(regular_file(&file).is_ok());
        for other in [link.as_path(), &pipe, home.path()] {
            assert!(regular_file(other).is_err(), "{}", other.display());
        }
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
            assert!(error.contains("a directory that you own"), "{error}");
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
