//! The result of removing all secrets of a server, and the file that has the names of those that are still to go.
//!
//! Must never read or change that file.

/// The name of the file.
pub(super) const DROPPED: &str = "dropped";

/// The result of removing all secrets of a server.
#[derive(Debug, PartialEq, Eq)]
pub struct Forgotten {
    /// The number of secrets.
    pub count: usize,
    /// The reason why they are still on disk until they can be read. Nobody gets them there.
    pub left: Option<String>,
}
