//! What was found out about the versions of an installation.
//!
//! Owns that form, and how much of a lock is read for it. Must never read a file.

/// More of a lock is not read: the largest trees that are known have a tenth of it.
pub(super) const MAX_LOCK: u64 = 16 << 20;

/// What was found out about the versions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resolved {
    /// The package's own; of git the commit.
    pub version: String,
    /// Its hash.
    pub integrity: String,
    /// The versions and hashes of everything.
    pub tree: String,
    /// How many packages that are.
    pub packages: u32,
    /// The name of its program, where that is known by now.
    pub program: Option<String>,
}
