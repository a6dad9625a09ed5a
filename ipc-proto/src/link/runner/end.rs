//! The reasons why a server has ended, in the words of the link.

use std::borrow::Cow;

use bincode::{BorrowDecode, Encode};

use super::RemoteEnd;

/// Why a server has ended.
#[derive(Debug, Clone, PartialEq, Eq, Encode, BorrowDecode)]
pub enum EndCause<'a> {
    /// It was told to stop.
    Stopped,
    /// It exited by itself.
    Exited {
        /// Its exit code.
        code: i32,
    },
    /// A signal ended it.
    Signalled {
        /// The signal's number.
        signal: i32,
    },
    /// It could not be started.
    SpawnFailed {
        /// Which step failed: operation and subject.
        what: Cow<'a, str>,
        /// The operating system's error number.
        errno: i32,
    },
    /// It exited, or closed stdout, before contact was made.
    ExitedBeforeContact {
        /// Its exit code; `None` if a signal ended it or it only closed stdout.
        code: Option<i32>,
        /// The signal that ended it.
        signal: Option<i32>,
    },
    /// Contact took too long.
    ContactTimeout {
        /// The limit in milliseconds.
        limit_ms: u64,
    },
    /// It answered contact with an error.
    ContactRefused {
        /// JSON-RPC's number.
        code: i64,
        /// The error's sentence.
        message: Cow<'a, str>,
    },
    /// It answered contact with something that is not MCP.
    ContactMalformed(Cow<'a, str>),
    /// It speaks only revisions that Harbor does not speak.
    UnknownProtocolVersion(Cow<'a, str>),
    /// It closed its stdout while its process went on; it was ended.
    ClosedStdout,
    /// It ran out of memory.
    OutOfMemory {
        /// Its exit code; `None` if a signal ended it.
        code: Option<i32>,
        /// The signal that ended it.
        signal: Option<i32>,
    },
    /// It gave no sign of life and was killed.
    Hung,
    /// A run took too long and was ended.
    Overdue {
        /// The limit in milliseconds.
        limit_ms: u64,
    },
    /// It used more than its limit, and was killed.
    OverLimit {
        /// The resource that it used up.
        resource: Resource,
        /// The limit: bytes, or a number of processes.
        limit: u64,
        /// How much it was seen to use.
        used: u64,
    },
    /// It is remote, and cannot be reached.
    Remote {
        /// The kind of failure.
        kind: RemoteEnd,
        /// One sentence for people, without secrets.
        why: Cow<'a, str>,
    },
}

/// A resource that a runner watches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, BorrowDecode)]
pub enum Resource {
    /// Memory of all its processes.
    Memory,
    /// Its processes and threads.
    Processes,
    /// The bytes that it has written.
    Disk,
    /// The free space on a disk. `limit` is the space that must stay free; `used` is how much the server has just taken.
    FreeSpace,
}
