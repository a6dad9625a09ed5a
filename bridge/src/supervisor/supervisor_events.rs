//! The supervisor's news for whoever listens: changes of states, log lines, changed resources.
//!
//! Owns the types. Must never know who is interested in what: that is the listener's to decide.

use std::rc::Rc;

use harbor_ipc_proto::server_id::ServerId;
use harbor_policy::lifecycle::State;

use super::lists::ListKind;
use super::logs::Line;
use crate::link::{EndReport, ToolList};

/// Something that happened to a server.
#[derive(Debug)]
pub enum SupervisorEvent<'a> {
    /// Its state changed.
    Change(&'a StateChange),
    /// The server has another label, another rule for who may start it, or another supervision.
    Supervised(&'a ServerId),
    /// A process of the server that belongs to one web origin or AI client has another state.
    Instance(&'a ServerId),
    /// It has a new log line.
    Log(&'a ServerId, &'a Line),
    /// Its tools were listed, at its start or since they changed.
    Tools(&'a ServerId, &'a Rc<ToolList>),
    /// Another of its lists is not what it was.
    Offers(&'a ServerId, ListKind),
    /// The server has listed one of its other lists, possibly unchanged.
    Listed(&'a ServerId, ListKind),
    /// A resource of the server changed. If an instance has it, only these connections are told.
    Resource(&'a ServerId, &'a str, Option<Vec<u64>>),
}

/// A change of a server's state.
#[derive(Debug, Clone)]
pub struct StateChange {
    /// The server.
    pub server: ServerId,
    /// The state before. None for a new server.
    pub before: Option<State>,
    /// The state now. None for a removed server.
    pub now: Option<State>,
    /// Milliseconds since 1970.
    pub timestamp: u64,
    /// True if it does not answer probes.
    pub busy: bool,
    /// The reason, if it ended or failed.
    pub report: Option<Rc<EndReport>>,
    /// The number of the restart that is next or under way; 0 if there is none.
    pub attempt: u32,
    /// When it is tried again, in milliseconds since 1970.
    pub next_retry: Option<u64>,
    /// Its process.
    pub pid: Option<u32>,
}

impl StateChange {
    /// True if there may be another package now: a server has come, gone, or was installed.
    #[must_use]
    pub fn concerns_packages(&self) -> bool {
        self.before.is_none() || self.now.is_none() || self.before == Some(State::Installing)
    }
}

/// A function that is told of events.
pub type SupervisorEventListener = Rc<dyn Fn(&SupervisorEvent<'_>)>;
