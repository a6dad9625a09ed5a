//! The permissions of one server beyond those that every server has.
//!
//! Must never say how they are enforced.

/// Permissions beyond those that every server has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Filter {
    /// True if Unix sockets can be made that can be connected by path. (Pairs of streams can always be made.)
    pub unix_sockets: bool,
    /// True if UDP sockets can be made.
    pub udp: bool,
    /// The sockets that may listen.
    pub listen: Listen,
    /// True if modes, owners, times and attributes can be changed by path, which Landlock does not look at.
    pub attributes_by_path: bool,
    /// True if it may keep its memory and open files from being looked at (`PR_SET_DUMPABLE`): its runner watches them.
    pub hiding: bool,
    /// True if it may set when and where other processes run, by their number: without a PID namespace these may be
    /// anybody's.
    pub scheduling: bool,
    /// True if it may start processes, and send signals to others. Threads can always be started.
    pub processes: bool,
}

/// The sockets that may listen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Listen {
    /// No socket.
    Never,
    /// Its runner answers for each `bind` and `listen`.
    Ask,
    /// Every socket.
    Freely,
}
