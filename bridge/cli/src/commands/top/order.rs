//! The order in which servers are listed.
//!
//! Owns the comparisons. Equal servers are ordered by name, so that nothing jumps.

use std::cmp::Reverse;

use super::facts::Server;

/// The property by which servers are ordered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    Name,
    /// The busiest first.
    Calls,
    /// The largest first.
    Memory,
    /// Servers that need attention first.
    State,
}

impl Order {
    /// The next one, for a key that goes through them.
    pub fn next(self) -> Self {
        match self {
            Self::Name => Self::Calls,
            Self::Calls => Self::Memory,
            Self::Memory => Self::State,
            Self::State => Self::Name,
        }
    }

    pub fn word(self) -> &'static str {
        match self {
            Self::Name => "name",
            Self::Calls => "calls/s",
            Self::Memory => "memory",
            Self::State => "state",
        }
    }

    /// Sorts servers that come by name.
    pub fn sort(self, servers: &mut [&Server]) {
        match self {
            Self::Name => servers.sort_by_key(|server| server.id.as_str()),
            Self::Calls => servers.sort_by(|a, b| {
                let rate = |server: &Server| server.history.rate().unwrap_or_default();
                rate(b).total_cmp(&rate(a))
            }),
            Self::Memory => servers.sort_by_key(|server| Reverse(server.memory)),
            Self::State => servers.sort_by_key(|server| urgency(&server.shown)),
        }
    }
}

fn urgency(state: &str) -> usize {
    let worst = [
        "failed",
        "restarting",
        "crashed",
        "needs your yes",
        "needs a sign-in",
        "needs a key",
        "installing",
        "starting",
        "stopping",
        "running",
        "ready",
        "stopped",
    ];
    worst.iter().position(|other| *other == state).unwrap_or_default()
}
