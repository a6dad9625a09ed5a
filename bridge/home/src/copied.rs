//! A home on a read-only file system: what it says is read from a copy.
//!
//! ```text
//!  HARBOR_HOME, read-only ─► a directory of ours in XDG_RUNTIME_DIR or the temporary directory ◄─ run/, logs/, a copy of the tables
//! ```
//!
//! Owns where that copy is and what is in it: the definitions, grants and pins, no secret and no conversation. Whoever works with it
//! may change nothing: a change would be lost with the copy. Must never be used for a home that can be written to.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use harbor_ipc_proto::hex::hex;
use nix::sys::statvfs::{FsFlags, statvfs};
use nix::unistd::geteuid;
use sha2::{Digest as _, Sha256};

use crate::Paths;
use crate::files::{FileError, own_directory, private_directory};
use crate::instance::holder;

/// What is copied.
const FILES: [&str; 3] = ["harbor.db", "harbor.db-wal", "definitions.journal"];

/// Whether a directory that is there lies on a file system that nobody can write to.
#[must_use]
pub fn is_read_only(home: &Path) -> bool {
    lacks(home) == Some(Lacks::Writing)
}

/// What a mount does not allow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lacks {
    /// It is read-only.
    Writing,
    /// It is mounted `noexec`.
    Running,
}

/// What the file system of a home does not allow, if anything.
#[must_use]
pub fn lacks(home: &Path) -> Option<Lacks> {
    let flags = statvfs(home).ok()?.flags();
    match () {
        () if flags.contains(FsFlags::ST_RDONLY) => Some(Lacks::Writing),
        () if flags.contains(FsFlags::ST_NOEXEC) => Some(Lacks::Running),
        () => None,
    }
}

/// Whether a home has to be copied to be looked at: it is read-only, and no bridge of it has been running since before.
pub(crate) fn is_needed(home: &Path) -> bool {
    is_read_only(home) && holder(&Paths::at(home).lock()).is_none()
}

/// Where the copy of a home is.
pub(crate) fn place(home: &Path, runtime_dir: Option<&Path>) -> PathBuf {
    let digest = Sha256::digest(home.as_os_str().as_encoded_bytes());
    let name = format!("harbor-{}-{}", geteuid(), hex(&digest[..8]));
    runtime_dir.map_or_else(std::env::temp_dir, Path::to_owned).join(name)
}

/// Makes the copy anew, where these paths are of one; only the one bridge of it may.
///
/// # Errors
/// When something cannot be read or copied.
pub fn fill(paths: &Paths) -> Result<(), FileError> {
    let Some(home) = paths.read_only() else { return Ok(()) };
    let place = paths.work();
    own_directory(place)?;
    for name in FILES {
        copy(&home.join(name), &place.join(name))?;
    }
    let locks = paths.locks();
    private_directory(&locks)?;
    for entry in home.join("locks").read_dir().into_iter().flatten().flatten() {
        copy(&entry.path(), &locks.join(entry.file_name()))?;
    }
    Ok(())
}

/// Removes the copy, where these paths are of one.
pub fn remove(paths: &Paths) {
    if paths.read_only().is_some() {
        // The next one is made anew all the same.
        let _ = fs::remove_dir_all(paths.work());
    }
}

/// What is not there is not there in the copy either.
fn copy(from: &Path, to: &Path) -> Result<(), FileError> {
    match fs::remove_file(to) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            return Err(FileError::of("replace", to)(error));
        }
        _ => {}
    }
    match fs::copy(from, to) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(FileError::of("copy", from)(error)),
        _ => Ok(()),
    }
}
