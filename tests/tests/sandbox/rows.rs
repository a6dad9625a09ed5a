//! What a kernel can offer, as rows of the table, and what each offer holds.
//!
//! ```text
//!  Row: level, Landlock's ABI, namespaces, one runner for all ─┐
//!  User: root, an ordinary one                                 ├─► Guard::holds ─► refused, possible, not started
//!  Guard: what could stand in an attack's way                  ─┘
//! ```
//!
//! Owns the knowledge which protection needs what. Must never ask the kernel: that is what is tested.

use nix::unistd::geteuid;

/// Who runs the bridge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum User {
    /// Whoever may do everything.
    Root,
    /// Anybody else: where root runs the tests, nobody.
    Ordinary,
}

/// What a bridge is started with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Row {
    /// The servers' sandbox has the level `off`.
    pub off: bool,
    /// The version of Landlock's ABI; 0: none.
    pub landlock: u32,
    /// Whether there are namespaces.
    pub namespaces: bool,
    /// Whether one runner has all servers (`HARBOR_MCP_ISOLATION=0`).
    pub shared: bool,
}

/// Something that stands in an attack's way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Guard {
    /// Landlock, from this version of its ABI on.
    Landlock(u32),
    /// The filter of system calls.
    Filter,
    /// The server's own view of the file system.
    Mounts,
    /// The PID namespace of its runner.
    Pids,
    /// The network namespace of a profile that names less than all.
    Network,
    /// The rlimits that it is started with, and the runner that watches it.
    Limits,
    /// What it is started with at every level: a few variables of the environment, and no open files.
    Launcher,
    /// Rights that root's servers give up.
    Rights,
    /// Only root may do it.
    OnlyRoot,
    /// The runner is not to be looked into by anybody but root, whatever the sandbox.
    Undumpable,
}

/// What becomes of an attack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// Nothing was gained.
    Refused,
    /// It succeeds.
    Possible,
    /// A server with this profile is not started at all.
    NotStarted,
}

/// The versions of Landlock's ABI at which something changes; the last one stands for all later ones.
pub const ABIS: &[u32] = &[0, 1, 3, 4, 6];

impl User {
    /// Everybody as whom the tests can run a bridge.
    pub fn all() -> &'static [Self] {
        if geteuid().is_root() { &[Self::Root, Self::Ordinary] } else { &[Self::Ordinary] }
    }
}

impl Row {
    /// Where nothing holds: each attack has to succeed, for its refusal elsewhere to mean anything.
    pub const OFF: Self = Self { off: true, landlock: 0, namespaces: false, shared: true };

    /// The default on this offer. Without namespaces there is no PID namespace either: one runner for all servers,
    /// the harder case, has none.
    pub const fn on(landlock: u32, namespaces: bool) -> Self {
        Self { off: false, landlock, namespaces, shared: !namespaces }
    }

    /// The best offer, with one runner for all servers.
    pub const SHARED: Self = Self { off: false, landlock: 6, namespaces: true, shared: true };

    /// All rows of the table, from left to right.
    pub fn table() -> Vec<Self> {
        let on = |namespaces| ABIS.iter().map(move |abi| Self::on(*abi, namespaces));
        on(false).chain(on(true)).collect()
    }

    /// The environment of the bridge. An offer can only be lowered, so what is not said is the kernel's own.
    pub fn environment(self) -> Vec<(&'static str, String)> {
        let namespaces = if self.namespaces { "" } else { ",namespaces=no" };
        let mut set = vec![("HARBOR_SANDBOX_OFFER", format!("landlock={}{namespaces}", self.landlock))];
        if self.shared {
            set.push(("HARBOR_MCP_ISOLATION", "0".into()));
        }
        set
    }
}

impl Guard {
    /// Whether it is there.
    pub fn holds(self, row: Row, user: User) -> bool {
        match self {
            Self::Landlock(abi) => !row.off && row.landlock >= abi,
            Self::Filter | Self::Limits => !row.off,
            Self::Mounts | Self::Network => !row.off && row.namespaces,
            Self::Pids => row.namespaces && !row.shared,
            Self::Launcher => true,
            Self::Rights => !row.off && user == User::Root,
            Self::OnlyRoot | Self::Undumpable => user == User::Ordinary,
        }
    }

    /// For the table.
    pub fn name(self) -> String {
        match self {
            Self::Landlock(abi) => return format!("Landlock {abi}"),
            Self::Filter => "seccomp",
            Self::Mounts => "mounts",
            Self::Pids => "PID namespace",
            Self::Network => "network namespace",
            Self::Limits => "limits",
            Self::Launcher => "launcher",
            Self::Rights => "capabilities",
            Self::OnlyRoot => "needs root",
            Self::Undumpable => "runner not dumpable",
        }
        .to_owned()
    }
}
