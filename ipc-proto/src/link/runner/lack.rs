//! What a server lacked, other than a path that it was refused.
//!
//! Owns the words for it on the wire. The kernel reports ports; everything else is in the server's own words, which may
//! lie. So nothing follows from them but a hint.

use std::borrow::Cow;

use bincode::{BorrowDecode, Encode};

/// Something that a server lacked.
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
        /// Its absolute path; empty if the server does not name it.
        path: Cow<'a, str>,
        /// True if it wanted to listen there.
        listen: bool,
    },
    /// The address of the host with this name.
    Host(Cow<'a, str>),
    /// More threads. Either processes or memory is lacking; the server's words do not say which.
    Threads,
    /// The right to change the mode, owner, times or attributes of the file with this absolute path.
    Attributes(Cow<'a, str>),
    /// The right to listen on the port with this number; 0 if the kernel was to choose one.
    Listen(u16),
}
