//! Authorizations that wait for the person.
//!
//! Owns that each belongs to the client that began it, and goes with it. Must never see a token.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::{Rc, Weak};

use harbor_ipc_proto::link::oauth::Grant;
use harbor_ipc_proto::server_id::ServerId;
use tokio::task::JoinHandle;

use super::client::Client;
use crate::link::EndReport;

/// Authorizations that wait, or that have ended without a request for their outcome yet.
#[derive(Debug, Default)]
pub(super) struct Flows(pub(super) RefCell<BTreeMap<ServerId, (Weak<Client>, AuthorizationGuard)>>);

/// An authorization that waits: it ends when this is dropped.
#[derive(Debug)]
pub(super) struct AuthorizationGuard(pub(super) JoinHandle<Result<Grant, Rc<EndReport>>>);

impl Drop for AuthorizationGuard {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Flows {
    /// A client has gone, and the authorizations that it began go with it.
    pub(super) fn forget(&self, client: &Client) {
        self.0.borrow_mut().retain(|_, (owner, _)| !std::ptr::eq(owner.as_ptr(), client));
    }

    /// Takes out the authorization that this client has begun for a server.
    pub(super) fn take(&self, id: &ServerId, client: &Client) -> Option<AuthorizationGuard> {
        let mut all = self.0.borrow_mut();
        let is_its_own = all.get(id).is_some_and(|(owner, _)| std::ptr::eq(owner.as_ptr(), client));
        if is_its_own { all.remove(id).map(|(_, waiting)| waiting) } else { None }
    }
}
