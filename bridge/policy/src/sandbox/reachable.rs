//! A place that a server may reach, and the reason.
//!
//! Must never decide that it may.

use harbor_ipc_proto::link::sandbox::PathAccess;

/// The reason why a server may reach a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Why {
    /// It belongs to the system.
    System,
    /// The server's program or what runs it.
    Program,
    /// Its installation.
    Package,
    /// Its data.
    Data,
    /// Its temporary files.
    Temporary,
    /// An argument names it.
    Argument,
    /// It runs there.
    Cwd,
    /// The person has granted it.
    Granted,
}

/// A place that a server may reach.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SandboxPlace {
    /// The file or directory.
    pub path: String,
    /// The access that it has there.
    pub access: PathAccess,
    /// The reason.
    pub why: Why,
}
