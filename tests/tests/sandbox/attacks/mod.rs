//! The attacks: what each is, how it is called, and what stands in its way.
//!
//! To add one: a function in `tests/attacker` that returns the evidence of its success, and an entry in one of the lists
//! here. What each row of the table says of it follows from its guards; every row is run, for every user, and once
//! with the sandbox off, where it has to succeed.

mod changes;
mod files;
mod kernel;
mod network;
mod processes;
mod resources;
mod sockets;

use std::path::PathBuf;

use harbor_tests::Process;
use serde_json::Value;

use crate::rows::{Guard, Outcome, Row, User};
use crate::scene::Scene;

/// A function of the attacker, and its arguments.
pub type Call = (&'static str, Value);

/// Something that a malicious server tries.
pub struct Attack {
    /// What it is, for people: what the server would do.
    pub says: &'static str,
    /// Which server does it.
    pub by: Server,
    /// How it is called.
    pub call: fn(&Scene) -> Call,
    /// What shows that it succeeded, besides the attacker's word.
    pub effect: Effect,
    /// Each of these suffices to refuse it.
    pub held_by: &'static [Guard],
}

/// A server of the scene, by the settings of its sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Server {
    /// The default.
    Usual,
    /// No network.
    Offline,
    /// Its own loopback only.
    Loopback,
    /// Some hosts only.
    Hosts,
    /// Little of everything.
    Small,
    /// One Unix socket.
    Socket,
    /// One port to listen on.
    Listening,
}

/// What an attack does that can be seen from outside.
pub enum Effect {
    /// The attacker's evidence says it all.
    Says,
    /// This file is another than before.
    Changes(fn(&Scene) -> PathBuf),
    /// This process ends.
    Ends(fn(&Scene) -> Process),
    /// A process outlives the server. It has written its number into this file.
    Outlives(fn(&Scene) -> PathBuf),
}

impl Attack {
    /// By the usual server, which has evidence.
    const fn new(says: &'static str, call: fn(&Scene) -> Call, held_by: &'static [Guard]) -> Self {
        Self { says, by: Server::Usual, call, effect: Effect::Says, held_by }
    }

    /// By another server.
    const fn by(mut self, server: Server) -> Self {
        self.by = server;
        self
    }

    /// With this to be seen of it.
    const fn with(mut self, effect: Effect) -> Self {
        self.effect = effect;
        self
    }

    /// What is to become of it.
    pub fn expected(&self, row: Row, user: User) -> Outcome {
        if !row.off && !row.namespaces && self.by.needs_namespaces() {
            Outcome::NotStarted
        } else if self.held_by.iter().any(|guard| guard.holds(row, user)) {
            Outcome::Refused
        } else {
            Outcome::Possible
        }
    }
}

impl Server {
    /// Its id.
    pub fn id(self) -> &'static str {
        match self {
            Self::Usual => "usual",
            Self::Offline => "offline",
            Self::Loopback => "loopback",
            Self::Hosts => "hosts",
            Self::Small => "small",
            Self::Socket => "socket",
            Self::Listening => "listening",
        }
    }

    fn needs_namespaces(self) -> bool {
        matches!(self, Self::Offline | Self::Loopback | Self::Hosts)
    }
}

/// The attacks by what they are aimed at: a heading for each list.
pub const ALL: &[(&str, &[Attack])] = &[
    ("Reading files", files::ATTACKS),
    ("Changing files", changes::ATTACKS),
    ("Other processes", processes::ATTACKS),
    ("Unix sockets, terminals, environment", sockets::ATTACKS),
    ("Network", network::ATTACKS),
    ("The kernel", kernel::ATTACKS),
    ("Using things up", resources::ATTACKS),
];

/// Variables of the environment that no server is to have.
pub use sockets::VARIABLES;

/// A call without arguments.
fn plain(name: &'static str) -> Call {
    (name, Value::Object(serde_json::Map::new()))
}
