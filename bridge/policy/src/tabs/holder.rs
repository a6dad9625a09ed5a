//! The holder of a session.
//!
//! Must never know how long a session lasts.

use std::sync::Arc;

/// The holder of a session.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Holder {
    /// The person at the command line: one session, whatever they run.
    Owner,
    /// A conversation of the person's with the agent.
    Conversation(Arc<str>),
    /// A connection of an AI client.
    Client {
        /// Its origin.
        origin: Arc<str>,
        /// The connection's number.
        connection: u64,
    },
}

impl Holder {
    /// The holder's principal, without the number of its connection.
    #[must_use]
    pub fn principal(&self) -> &str {
        match self {
            Self::Owner => "owner",
            Self::Conversation(_) => "agent",
            Self::Client { origin, .. } => origin,
        }
    }

    /// The holder with any of its connections.
    pub(super) fn of_any_connection(&self) -> Self {
        match self {
            Self::Client { origin, .. } => Self::Client { origin: origin.clone(), connection: 0 },
            other => other.clone(),
        }
    }

    pub(super) fn connection(&self) -> Option<u64> {
        match self {
            Self::Client { connection, .. } => Some(*connection),
            Self::Owner | Self::Conversation(_) => None,
        }
    }
}
