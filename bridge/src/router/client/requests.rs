//! The open requests of one client.
//!
//! Owns which ids are taken, and the promise that a request is answered once: only the one who takes it out of here has
//! its envelope. Whatever ends with a request may look here again, so nothing is borrowed while something is given up.

use std::cell::RefCell;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::rc::Rc;

use harbor_ipc_proto::client::envelope::Envelope;
use tokio::task::AbortHandle;

use super::account::Account;

/// The open requests, by id.
#[derive(Debug, Default)]
pub(super) struct Requests(RefCell<HashMap<Rc<str>, OpenRequest>>);

/// An open request: where its answer goes, and the task that works on it.
#[derive(Debug)]
pub(super) struct OpenRequest {
    pub(super) envelope: Envelope,
    /// The task that works on it. None until that has begun.
    task: Option<AbortHandle>,
    /// The credit of its stream, if it pushes.
    account: Option<Rc<Account>>,
}

impl OpenRequest {
    /// Ends the task of the request, since nobody waits for its result. Returns the envelope for the answer
    /// that says so.
    pub(super) fn give_up(self) -> Envelope {
        if let Some(task) = self.task {
            task.abort();
        }
        self.envelope
    }
}

impl Requests {
    pub(super) fn has(&self, id: &str) -> bool {
        self.0.borrow().contains_key(id)
    }

    pub(super) fn len(&self) -> usize {
        self.0.borrow().len()
    }

    /// Adds a request without a task; true if its id was free.
    pub(super) fn add(&self, id: &Rc<str>, envelope: Envelope) -> bool {
        match self.0.borrow_mut().entry(id.clone()) {
            Entry::Occupied(_) => false,
            Entry::Vacant(place) => {
                place.insert(OpenRequest { envelope, task: None, account: None });
                true
            }
        }
    }

    /// Notes the task of a request, if the request is still open.
    pub(super) fn set_task(&self, id: &str, task: AbortHandle) {
        if let Some(open) = self.0.borrow_mut().get_mut(id) {
            open.task = Some(task);
        }
    }

    /// Notes the credit of a request's stream; true if the request is still open.
    pub(super) fn set_account(&self, id: &str, account: Rc<Account>) -> bool {
        let mut all = self.0.borrow_mut();
        let open = all.get_mut(id);
        open.map(|open| open.account = Some(account)).is_some()
    }

    /// The credit of an open request's stream.
    pub(super) fn account(&self, id: &str) -> Option<Rc<Account>> {
        self.0.borrow().get(id).and_then(|open| open.account.clone())
    }

    pub(super) fn take(&self, id: &str) -> Option<OpenRequest> {
        self.0.borrow_mut().remove(id)
    }

    pub(super) fn take_all(&self) -> impl Iterator<Item = OpenRequest> + use<> {
        self.0.take().into_values()
    }
}
