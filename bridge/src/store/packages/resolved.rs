//! What was found out about the versions of an installation.
//!
//! Owns that form, and how much of a lock is read for it. Must never read a file.

/// Bytes of a lock that are read: the largest known trees have a tenth of it.
pub(super) const MAX_LOCK: u64 = 16 << 20;

/// The versions that an installer has resolved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resolved {
    /// The package's own version; for git the commit.
    pub version: String,
    /// Its hash.
    pub integrity: String,
    /// The versions and hashes of everything.
    pub tree: String,
    /// The number of these packages.
    pub packages: u32,
    /// The name of its program, where that is known by now.
    pub program: Option<String>,
}
