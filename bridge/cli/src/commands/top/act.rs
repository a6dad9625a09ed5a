//! What can be done to a server.
//!
//! Owns the words for it, and how long each may take. Must never do it.

use std::time::Duration;

use crate::commands::servers;

/// An action on a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Act {
    Start,
    Stop,
    Restart,
}

impl Act {
    /// The time limit of an answer: as long as for the command of that name.
    pub fn limit(self) -> Duration {
        match self {
            Self::Stop => servers::STOP,
            Self::Start | Self::Restart => servers::START,
        }
    }

    /// The word for the action under way: `starting`.
    pub fn word(self) -> &'static str {
        match self {
            Self::Start => "starting",
            Self::Stop => "stopping",
            Self::Restart => "restarting",
        }
    }

    /// The word for the question: `stop`.
    pub fn verb(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Stop => "stop",
            Self::Restart => "restart",
        }
    }

    /// The word for the finished action: `is running`.
    pub fn done(self) -> &'static str {
        match self {
            Self::Start => "is running",
            Self::Stop => "is stopped",
            Self::Restart => "was restarted",
        }
    }
}
