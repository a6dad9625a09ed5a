//! The places that are private to a server, or hidden from it.
//!
//! Must never mount anything.

use std::path::PathBuf;

/// The places that are private to the server, or hidden from it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mounts {
    /// Directories that look empty. A directory that may be written is a small private file system.
    pub hidden: Vec<PathBuf>,
    /// The directory that the server sees as /tmp and /var/tmp.
    pub tmp: PathBuf,
    /// Symbolic links in hidden directories, and where they lead: the person's own, on the way to what may be reached.
    pub links: Vec<(PathBuf, PathBuf)>,
}
