//! Requests that are not answered yet.
//!
//! Owns what each is for. Must never send one.

use harbor_ipc_proto::client::Request;

use super::act::Act;

/// What an open request is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Aim {
    /// Nothing is done with the answer.
    Greeting,
    Status,
    Act(Act),
    Log,
    Tools,
    /// All definitions; that of one server is wanted.
    Definition,
    Sandbox,
}

/// A request that is not answered yet.
#[derive(Debug)]
pub struct Open {
    pub aim: Aim,
    pub server: String,
    /// What the bridge says about it meanwhile.
    pub news: String,
    /// Until when it is waited for, in milliseconds since 1970.
    pub until: Option<u64>,
    pub ask: Request,
}

impl Open {
    /// What is done to which server, if it is that.
    pub fn act(&self) -> Option<(Act, &str)> {
        match self.aim {
            Aim::Act(act) => Some((act, &self.server)),
            _ => None,
        }
    }

    /// Whether it was waited for long enough.
    pub fn is_over(&self, now: u64) -> bool {
        self.until.is_some_and(|until| now > until)
    }
}
