//! The open requests of one client.
//!
//! Owns which ids are taken, and that a request is answered once: only who takes it out of here has its envelope. Whatever
//! ends with a request may look here again, so nothing is borrowed while something is given up.

use std::cell::RefCell;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::rc::Rc;

use harbor_ipc_proto::client::envelope::Envelope;
use tokio::task::AbortHandle;

use super::stream::Account;

/// By id.
#[derive(Debug, Default)]
pub(super) struct Requests(RefCell<HashMap<Rc<str>, Open>>);

/// An open request: where its answer goes, and the task that works on it.
#[derive(Debug)]
pub(super) struct Open {
    pub(super) envelope: Envelope,
    /// What works on it; none until that was begun.
    task: Option<AbortHandle>,
    /// Where it pushes: the credit of its stream.
    account: Option<Rc<Account>>,
}

impl Open {
    /// Nobody waits for its result any more; gives where to say so.
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

    /// Adds a request that nothing works on yet; whether its id was free.
    pub(super) fn add(&self, id: &Rc<str>, envelope: Envelope) -> bool {
        match self.0.borrow_mut().entry(id.clone()) {
            Entry::Occupied(_) => false,
            Entry::Vacant(place) => {
                place.insert(Open { envelope, task: None, account: None });
                true
            }
        }
    }

    /// Notes which task works on a request, if that is still open.
    pub(super) fn set_task(&self, id: &str, task: AbortHandle) {
        if let Some(open) = self.0.borrow_mut().get_mut(id) {
            open.task = Some(task);
        }
    }

    /// Notes the credit of a request's stream; whether the request is still open.
    pub(super) fn set_account(&self, id: &str, account: Rc<Account>) -> bool {
        let mut all = self.0.borrow_mut();
        let open = all.get_mut(id);
        open.map(|open| open.account = Some(account)).is_some()
    }

    /// The credit of an open request's stream.
    pub(super) fn account(&self, id: &str) -> Option<Rc<Account>> {
        self.0.borrow().get(id).and_then(|open| open.account.clone())
    }

    pub(super) fn take(&self, id: &str) -> Option<Open> {
        self.0.borrow_mut().remove(id)
    }

    pub(super) fn take_all(&self) -> impl Iterator<Item = Open> + use<> {
        self.0.take().into_values()
    }
}
