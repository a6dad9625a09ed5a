//! A client that is connected, or was a while ago.
//!
//! Must never know whether it has a guard.

use std::collections::BTreeSet;
use std::rc::Rc;

use super::chat::Chat;

/// A client that is connected, or was a while ago.
#[derive(Debug)]
pub(super) struct Connected {
    pub(super) chat: Rc<Chat>,
    /// The open connections of the client. Each request of a client without a session is a connection by itself.
    pub(super) open: BTreeSet<u64>,
    /// The time since which it has no connection.
    pub(super) left: u64,
}
