//! The open questions of a server, and the calls that wait for the answers.
//!
//! Must never answer one.

use std::collections::HashMap;
use std::time::Instant;

use super::open::Call;
use crate::mcp::rounds::Round;

/// Open questions by number.
#[derive(Debug, Default)]
pub(super) struct Asks {
    pub(super) next: u64,
    pub(super) open: HashMap<u64, OpenQuestion>,
    /// Calls that wait for answers to their server's questions, or for a pause, by the bridge's id.
    pub(super) rounds: HashMap<u64, Call>,
    /// Calls whose tasks are under way, by the bridge's id.
    pub(super) tasks: HashMap<u64, Call>,
}

impl Asks {
    pub(super) fn open(&mut self, asked: OpenQuestion) -> u64 {
        self.next += 1;
        self.open.insert(self.next, asked);
        self.next
    }
}

impl Asks {
    /// The calls that wait for a pause only: the time of its end, and the bridge's id.
    pub(super) fn put_off(&self) -> impl Iterator<Item = (Instant, u64)> {
        self.rounds.values().filter_map(|call| Some((call.again.as_ref()?.due?, call.id)))
    }

    /// The call whose progress is told by this token, while it waits.
    pub(super) fn call_told_by(&self, token: u64) -> Option<&Call> {
        self.rounds.values().find(|call| call.is_told_by(token))
    }

    pub(super) fn round(&mut self, call: u64) -> Option<&mut Round> {
        self.rounds.get_mut(&call)?.again.as_mut()?.round.as_mut()
    }
}

#[derive(Debug)]
pub(super) enum OpenQuestion {
    /// A request with this id, JSON text.
    Legacy(String),
    /// The question `name` about a call.
    Modern { call: u64, name: String },
}
