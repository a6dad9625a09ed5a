//! Requests that are not answered yet.
//!
//! Owns what each is for. Must never send one.

use harbor_ipc_proto::client::Request;

use super::act::Act;

/// The purpose of an open request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Aim {
    /// A greeting; the answer is not used.
    Greeting,
    Status,
    Act(Act),
    Log,
    Tools,
    /// A server's definition, from all definitions.
    Definition,
    Sandbox,
}

/// A request that is not answered yet.
#[derive(Debug)]
pub struct Open {
    pub aim: Aim,
    pub server: String,
    /// The bridge's latest word about it.
    pub news: String,
    /// The time until which it is waited for, in milliseconds since 1970.
    pub until: Option<u64>,
    pub ask: Request,
}

impl Open {
    /// The action and its server, if the request is an action.
    pub fn act(&self) -> Option<(Act, &str)> {
        match self.aim {
            Aim::Act(act) => Some((act, &self.server)),
            _ => None,
        }
    }

    /// True if it was waited for long enough.
    pub fn is_over(&self, now: u64) -> bool {
        self.until.is_some_and(|until| now > until)
    }
}
