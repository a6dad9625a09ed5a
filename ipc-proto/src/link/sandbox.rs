//! The profile of a server, from the bridge's decision to the launcher, which makes the kernel enforce it.
//!
//! ```text
//!  policy::sandbox ── Sandbox ──► runner ──► launcher: applies all of it, or does not become the server
//!         ▲
//!         └── Offer: what this kernel can do, as a throw-away process of the runner's program found out
//! ```
//!
//! Nothing here is a wish: rules that the kernel does not offer were left out before, or the start was refused.
//! Append only, as all messages of a link.

use std::borrow::Cow;

use bincode::{BorrowDecode, Encode};

/// The profile of one start of a server. The default restricts nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq, Encode, BorrowDecode)]
pub struct Sandbox<'a> {
    /// The version of Landlock's ABI whose rights are used; 0: no rules for files.
    pub landlock: u32,
    /// The parts of the file system that it may reach, if Landlock or a mount namespace enforces that.
    pub paths: Vec<PathRule<'a>>,
    /// Its own view of the file system.
    pub mounts: Option<Mounts<'a>>,
    /// Where its connections may go.
    pub network: Network<'a>,
    /// The system calls that it is refused.
    pub filter: Option<Filter>,
    /// The limits of what it may use.
    pub limits: SandboxLimits<'a>,
    /// True if a server of root gives up the capabilities that ordinary programs do not need.
    pub fewer_capabilities: bool,
    /// The runner's answers to a server that wants a port of this machine and waits for the answer. `None`: the filter decides.
    pub listening: Option<Listening>,
}

/// The places where a server may listen on the machine's own network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, BorrowDecode)]
pub struct Listening {
    /// A TCP port of the machine's loopback addresses.
    pub port: Option<u16>,
    /// True if it may listen on Unix sockets.
    pub unix_sockets: bool,
}

/// A rule for one place in the file system.
#[derive(Debug, Clone, PartialEq, Eq, Encode, BorrowDecode)]
pub struct PathRule<'a> {
    /// An absolute path without symbolic links. A path that does not exist is ignored.
    pub path: Cow<'a, str>,
    /// What the server may do there.
    pub access: PathAccess,
}

/// What a server may do with a file, or with everything below a directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Encode, BorrowDecode)]
pub enum PathAccess {
    /// Read, list and execute.
    Read,
    /// A device like /dev/null: read, write and control, never make.
    Device,
    /// Everything but devices.
    Write,
}

/// A mount namespace. Everything is read-only except the places that may be written. Some directories look empty, except
/// for the places below them that may be reached.
#[derive(Debug, Clone, PartialEq, Eq, Encode, BorrowDecode)]
pub struct Mounts<'a> {
    /// Directories that look empty: the home directory, /run.
    pub hidden: Vec<Cow<'a, str>>,
    /// The directory that appears as /tmp and /var/tmp.
    pub tmp: Cow<'a, str>,
    /// Symbolic links on the way to reachable places. They lie below hidden directories and so are hidden themselves. For
    /// each: its place and its target, both without further links.
    pub links: Vec<(Cow<'a, str>, Cow<'a, str>)>,
}

/// Where a server's connections may go.
#[derive(Debug, Clone, Default, PartialEq, Eq, Encode, BorrowDecode)]
pub enum Network<'a> {
    /// Anywhere the machine's own connections may go.
    #[default]
    Machine,
    /// As [`Self::Machine`], but no TCP port may be bound (Landlock ABI 4).
    Outgoing,
    /// A network namespace with nothing in it.
    None,
    /// A network namespace with a loopback interface of its own.
    Loopback,
    /// As [`Self::Loopback`], with a proxy in it that connects to some hosts.
    Hosts {
        /// The proxy's executable.
        proxy: Cow<'a, str>,
        /// The port of 127.0.0.1 on which it listens inside.
        port: u16,
        /// The hosts that the proxy connects to: `example.com`, `*.example.com`, each with or without `:PORT`.
        allowed: Vec<Cow<'a, str>>,
    },
}

/// The system calls that are refused, beyond those that no server needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, BorrowDecode)]
pub struct Filter {
    /// True if it may make Unix sockets that can be connected by path.
    pub unix_sockets: bool,
    /// True if it may make UDP sockets.
    pub udp: bool,
    /// True if it may listen, when its runner is not asked.
    pub listen: bool,
    /// True if it may change modes, owners, times and attributes by path. Landlock has no rules for these, so only a
    /// read-only mount limits them to its own files.
    pub attributes_by_path: bool,
    /// True if it may hide its memory and open files from inspection. Its runner watches them.
    pub hiding: bool,
    /// True if it may set when and where other processes run, by their process id. Without a PID namespace these may be
    /// processes of others.
    pub scheduling: bool,
}

/// The limits of what a server may use. `None`: the limit of the bridge itself.
#[derive(Debug, Clone, Default, PartialEq, Eq, Encode, BorrowDecode)]
pub struct SandboxLimits<'a> {
    /// Bytes of memory: of each process's data (RLIMIT_DATA), and of all processes together (watched).
    pub memory: Option<u64>,
    /// Processes and threads.
    pub processes: Option<u64>,
    /// Open files of each process.
    pub open_files: Option<u64>,
    /// Bytes of each file that it writes.
    pub file_size: Option<u64>,
    /// The niceness towards other programs, 0 to 19 (nice(2)).
    pub nice: u8,
    /// The size in bytes of everything below `writable` together (watched).
    pub disk: Option<u64>,
    /// The directories that count for `disk`: its data and its temporary files.
    pub writable: Vec<Cow<'a, str>>,
}

/// What this kernel offers to this user.
#[derive(Debug, Clone, Default, PartialEq, Eq, Encode, BorrowDecode)]
pub struct Offer<'a> {
    /// The version of Landlock's ABI; 0 if it is missing or switched off.
    pub landlock: u32,
    /// True if system calls can be filtered.
    pub seccomp: bool,
    /// True if mount and network namespaces work, tested as a launcher uses them.
    pub namespaces: bool,
    /// Why namespaces do not work; empty if they do.
    pub why_no_namespaces: Cow<'a, str>,
    /// True if a runner can answer for its servers' system calls (seccomp_unotify(2)).
    pub answers: bool,
}
