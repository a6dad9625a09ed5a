//! What a server says that it lacks, where it is no path that it was refused.
//!
//! Owns the words for it on the wire. But for ports, of which the kernel tells, it is the server's own words, which may lie:
//! nothing follows from them but a hint.

use std::borrow::Cow;

use bincode::{BorrowDecode, Encode};

/// What a server says that it lacks.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Encode, BorrowDecode)]
pub enum Lack<'a> {
    /// Memory.
    Memory,
    /// Larger files.
    FileSize,
    /// More open files.
    OpenFiles,
    /// More processes.
    Processes,
    /// A part of its program: an absolute path, with or without its ending, or the name of a module.
    Module(Cow<'a, str>),
    /// A Unix socket.
    Socket {
        /// Its absolute path; empty where none is told.
        path: Cow<'a, str>,
        /// Whether it wanted to listen there.
        listen: bool,
    },
    /// The address of a host of this name.
    Host(Cow<'a, str>),
    /// More threads: they lack processes or memory, and the words do not say which.
    Threads,
    /// To change the mode, the owner, the times or the attributes of what has this absolute path.
    Attributes(Cow<'a, str>),
    /// To listen on a port: its number; 0 where the kernel was to choose one.
    Listen(u16),
}
