//! Limits that a file system sets to a home on it.
//!
//! Owns the look at its mount. Must never change one.

use std::path::Path;

use nix::sys::statvfs::{FsFlags, statvfs};

/// A thing that a mount does not allow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lacks {
    /// It is read-only.
    Writing,
    /// It is mounted `noexec`.
    Running,
}

/// The first thing that the file system of a home does not allow, if any.
#[must_use]
pub fn lacks(home: &Path) -> Option<Lacks> {
    let flags = statvfs(home).ok()?.flags();
    match () {
        () if flags.contains(FsFlags::ST_RDONLY) => Some(Lacks::Writing),
        () if flags.contains(FsFlags::ST_NOEXEC) => Some(Lacks::Running),
        () => None,
    }
}

/// True if the directory `home` exists and lies on a read-only file system.
#[must_use]
pub fn is_read_only(home: &Path) -> bool {
    lacks(home) == Some(Lacks::Writing)
}
