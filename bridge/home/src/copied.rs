//! A home on a read-only file system: what it says is read from a copy.
//!
//! ```text
//!  HARBOR_HOME, read-only ─► a directory of ours in XDG_RUNTIME_DIR or the temporary directory ◄─ run/, logs/, a copy of the tables
//! ```
//!
//! Owns the contents of that copy: the definitions, grants and pins, no secret and no conversation. Nobody
//! may change anything in it: a change would be lost with the copy. Must never be used for a home that can be
//! written to.

use std::fs;
use std::io;
use std::path::Path;

use crate::Paths;
use crate::files::{FileError, own_directory, private_directory};

/// The files that are copied.
const FILES: [&str; 3] = ["harbor.db", "harbor.db-wal", "definitions.journal"];

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

/// Copies one file over the last copy of it. A file that the home lacks, the copy lacks too.
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
