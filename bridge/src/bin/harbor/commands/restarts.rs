//! Restarts in words, the same for the list and for the events.
//!
//! Owns the phrase. Must never decide about a restart: the bridge does.

use crate::reply::Members;

/// How many the bridge makes when a definition does not say.
const DEFAULT_LIMIT: u64 = 3;

/// How many restarts in a row a server's definition allows; `None` when there is no limit.
pub fn limit(server: &Members) -> Option<u64> {
    let supervision = server.object("supervision");
    match supervision.raw("restart_attempts") {
        Some(_) => supervision.value("restart_attempts").as_u64(),
        None => Some(DEFAULT_LIMIT),
    }
}

/// `restart 2 of 3 in 4 s`, of a server or an event with an `attempt`.
pub fn phrase(about: &Members, limit: Option<u64>, when: Option<String>) -> String {
    let attempt = about.value("attempt").as_u64().unwrap_or_default();
    let limit = limit.map(|limit| format!(" of {limit}")).unwrap_or_default();
    let when = when.map(|when| format!(" {when}")).unwrap_or_default();
    format!("restart {attempt}{limit}{when}")
}
