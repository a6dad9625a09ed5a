//! What can be done to a server.
//!
//! Owns the words for it, and how long each may take. Must never do it.

use std::time::Duration;

use crate::commands::servers;

/// What can be done to a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Act {
    Start,
    Stop,
    Restart,
}

impl Act {
    /// How long an answer may take: as long as for the command of that name.
    pub fn limit(self) -> Duration {
        match self {
            Self::Stop => servers::STOP,
            Self::Start | Self::Restart => servers::START,
        }
    }

    /// What is being done: `starting`.
    pub fn word(self) -> &'static str {
        match self {
            Self::Start => "starting",
            Self::Stop => "stopping",
            Self::Restart => "restarting",
        }
    }

    /// As a question: `stop`.
    pub fn verb(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Stop => "stop",
            Self::Restart => "restart",
        }
    }

    /// What has become of the server: `is running`.
    pub fn done(self) -> &'static str {
        match self {
            Self::Start => "is running",
            Self::Stop => "is stopped",
            Self::Restart => "was restarted",
        }
    }
}
