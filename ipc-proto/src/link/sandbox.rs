//! What a server is held to, from the bridge's decision to the launcher that has the kernel hold it.
//!
//! ```text
//!  policy::sandbox ── Sandbox ──► runner ──► launcher: applies all of it, or does not become the server
//!         ▲
//!         └── Offer: what this kernel can do, as a throw-away process of the runner's program found out
//! ```
//!
//! Nothing here is a wish: what the kernel does not offer has been left out, or has refused the start, before.
//! Append only, as all messages of a link.

use std::borrow::Cow;

use bincode::{BorrowDecode, Encode};

/// What one start of a server is held to. The default holds it to nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq, Encode, BorrowDecode)]
pub struct Sandbox<'a> {
    /// The version of Landlock's ABI whose rights are used; 0: no rules for files.
    pub landlock: u32,
    /// What it may reach of the file system, where Landlock or a mount namespace holds it.
    pub paths: Vec<PathRule<'a>>,
    /// Its own view of the file system.
    pub mounts: Option<Mounts<'a>>,
    /// Where its connections go.
    pub network: Network<'a>,
    /// Which system calls it is refused.
    pub filter: Option<Filter>,
    /// What it may use up.
    pub limits: Limits<'a>,
    /// Whether root's servers give up the capabilities that ordinary programs do not need.
    pub fewer_capabilities: bool,
    /// What its runner answers a server that wants a port of this machine, which waits for that; else its filter decides.
    pub listening: Option<Listening>,
}

/// What a server may listen on, on the machine's own network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, BorrowDecode)]
pub struct Listening {
    /// A TCP port of the machine's loopback addresses.
    pub port: Option<u16>,
    /// Whether Unix sockets.
    pub unix_sockets: bool,
}

/// One place of the file system.
#[derive(Debug, Clone, PartialEq, Eq, Encode, BorrowDecode)]
pub struct PathRule<'a> {
    /// An absolute path without symbolic links; one that does not exist is passed over.
    pub path: Cow<'a, str>,
    /// What may be done there.
    pub access: PathAccess,
}

/// What may be done with a file, or with all below a directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Encode, BorrowDecode)]
pub enum PathAccess {
    /// Read, list and execute.
    Read,
    /// A device like /dev/null: read, write and control, never make.
    Device,
    /// Everything but devices.
    Write,
}

/// A mount namespace: everything is read-only but what may be written, and some directories look empty but for what may be
/// reached below them.
#[derive(Debug, Clone, PartialEq, Eq, Encode, BorrowDecode)]
pub struct Mounts<'a> {
    /// Directories that look empty: the home, /run.
    pub hidden: Vec<Cow<'a, str>>,
    /// The directory that /tmp and /var/tmp are.
    pub tmp: Cow<'a, str>,
    /// Symbolic links below such directories, which hide them, on the ways to what may be reached: where each lies, and
    /// where it leads, both without further links.
    pub links: Vec<(Cow<'a, str>, Cow<'a, str>)>,
}

/// Where connections go.
#[derive(Debug, Clone, Default, PartialEq, Eq, Encode, BorrowDecode)]
pub enum Network<'a> {
    /// Wherever the machine's do.
    #[default]
    Machine,
    /// The same, but no TCP port may be bound (Landlock ABI 4).
    Outgoing,
    /// A network namespace with nothing in it.
    None,
    /// A network namespace with a loopback interface of its own.
    Loopback,
    /// The same, and a proxy in it that lets through to some hosts.
    Hosts {
        /// The proxy's executable.
        proxy: Cow<'a, str>,
        /// The port of 127.0.0.1 on which it listens inside.
        port: u16,
        /// To which: `example.com`, `*.example.com`, each with or without `:PORT`.
        allowed: Vec<Cow<'a, str>>,
    },
}

/// Which system calls are refused, beyond those that no server needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, BorrowDecode)]
pub struct Filter {
    /// Whether it may make Unix sockets that can be connected by path.
    pub unix_sockets: bool,
    /// Whether it may make UDP sockets.
    pub udp: bool,
    /// Whether it may listen, where its runner is not asked.
    pub listen: bool,
    /// Whether it may change modes, owners, times and attributes by path: Landlock does not know these, so only a
    /// read-only mount holds them to its own files.
    pub attributes_by_path: bool,
    /// Whether it may keep its memory and open files from being looked at; its runner watches them.
    pub hiding: bool,
    /// Whether it may say when and where processes run that it names by their number: without a PID namespace these may be
    /// others.
    pub scheduling: bool,
}

/// What a server may use up. Absent: as much as the bridge itself.
#[derive(Debug, Clone, Default, PartialEq, Eq, Encode, BorrowDecode)]
pub struct Limits<'a> {
    /// Bytes of memory: of each process's data (RLIMIT_DATA), and of all processes together (watched).
    pub memory: Option<u64>,
    /// Processes and threads.
    pub processes: Option<u64>,
    /// Open files of each process.
    pub open_files: Option<u64>,
    /// Bytes of each file that it writes.
    pub file_size: Option<u64>,
    /// How nice it is to other programs, 0 to 19 (nice(2)).
    pub nice: u8,
    /// Bytes below `writable` together (watched).
    pub disk: Option<u64>,
    /// The directories whose size counts: its data and its temporary files.
    pub writable: Vec<Cow<'a, str>>,
}

/// What this kernel offers to this user.
#[derive(Debug, Clone, Default, PartialEq, Eq, Encode, BorrowDecode)]
pub struct Offer<'a> {
    /// The version of Landlock's ABI; 0 when it is missing or switched off.
    pub landlock: u32,
    /// Whether system calls can be filtered.
    pub seccomp: bool,
    /// Whether mount and network namespaces work, tried as a launcher uses them.
    pub namespaces: bool,
    /// Why not, when not.
    pub why_no_namespaces: Cow<'a, str>,
    /// Whether a runner can answer for its servers' calls (seccomp_unotify(2)).
    pub answers: bool,
}
