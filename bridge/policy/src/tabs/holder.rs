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
    /// An AI client, in whichever of its connections.
    Client {
        /// Its origin.
        origin: Arc<str>,
        /// An id of its token, if it came with one of its own. With another token it is another client.
        token_id: Option<Arc<str>>,
    },
}

impl Holder {
    /// The holder's principal, without its token.
    #[must_use]
    pub fn principal(&self) -> &str {
        match self {
            Self::Owner => "owner",
            Self::Conversation(_) => "agent",
            Self::Client { origin, .. } => origin,
        }
    }

    /// True if a session of `other` may be handed to this holder. One conversation goes on with the tabs of another one.
    #[must_use]
    pub fn may_have_that_of(&self, other: &Self) -> bool {
        let are_conversations = matches!((self, other), (Self::Conversation(_), Self::Conversation(_)));
        are_conversations || self == other
    }

    /// True if its next connection goes on with its session by itself. With a token each request may be a connection of its own.
    pub(super) fn comes_back(&self) -> bool {
        match self {
            Self::Client { token_id, .. } => token_id.is_some(),
            Self::Owner | Self::Conversation(_) => true,
        }
    }

    /// The holder with any token.
    pub(super) fn with_any_token(&self) -> Self {
        match self {
            Self::Client { origin, .. } => Self::Client { origin: origin.clone(), token_id: None },
            other => other.clone(),
        }
    }
}
