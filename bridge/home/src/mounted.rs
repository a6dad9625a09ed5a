//! What the file system of a home does not allow.
//!
//! Owns the look at its mount. Must never change one.

use std::path::Path;

use nix::sys::statvfs::{FsFlags, statvfs};

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

/// Whether a directory that is there lies on a file system that nobody can write to.
#[must_use]
pub fn is_read_only(home: &Path) -> bool {
    lacks(home) == Some(Lacks::Writing)
}
