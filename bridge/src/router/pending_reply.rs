//! The answer that a request waits for.
//!
//! Owns that it is given once. Must never outlive the request: a cancellation drops it.

use std::rc::Rc;

use harbor_policy::slots::Slot;

use super::client::Client;
use super::reply::Handled;
use super::state::Router;

/// An answer that is due. Its request is open until the answer is given, or until this is dropped by a cancellation.
pub(super) struct PendingReply {
    pub(super) router: Rc<Router>,
    pub(super) client: Rc<Client>,
    pub(super) id: Rc<str>,
    pub(super) tag: &'static str,
    pub(super) _slot: Slot,
}

impl PendingReply {
    /// Refuses the request, since this client may not send it, and first writes that down.
    pub(super) fn deny(self) {
        let (client, id) = (self.client.clone(), self.id.clone());
        client.spawn(&id, async move {
            let error = self.router.deny(&self.client, self.tag).await;
            self.give(Err(error));
        });
    }

    /// Gives the answer.
    pub(super) fn give(self, result: Handled) {
        self.client.finish(&self.id, self.tag, result);
        self.router.clients.relieve(&self.client);
    }
}

impl Drop for PendingReply {
    /// By now the server has heard that the request has ended.
    fn drop(&mut self) {
        self.client.questions().end(&self.id);
    }
}
