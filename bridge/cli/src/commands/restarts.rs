//! Restarts in words, the same for the list and for the events.
//!
//! Owns the phrase. Must never decide about a restart: the bridge does.

use harbor_ipc_proto::client::{Attempts, Supervision};

/// The number of restarts that the bridge makes when a definition does not say.
const DEFAULT_LIMIT: u32 = 3;

/// The number of restarts in a row that a server's definition allows; `None` when there is no
/// limit.
pub fn limit(supervision: &Supervision) -> Option<u32> {
    match supervision.restart_attempts {
        Some(Attempts::Most(most)) => Some(most),
        Some(Attempts::Unlimited) => None,
        None => Some(DEFAULT_LIMIT),
    }
}

/// `restart 2 of 3 in 4 s`.
pub fn phrase(attempt: u32, limit: Option<u32>, when: Option<String>) -> String {
    let limit = limit.map(|limit| format!(" of {limit}")).unwrap_or_default();
    let when = when.map(|when| format!(" {when}")).unwrap_or_default();
    format!("restart {attempt}{limit}{when}")
}
