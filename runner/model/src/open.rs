//! The requests that are open, and their end.
//!
//! Owns the one task of each. A task that is aborted drops its connection: that is how a provider learns of it.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use tokio::task::AbortHandle;

use crate::credit::Credit;

/// More at once are refused.
pub const MOST: usize = 256;

#[derive(Debug)]
struct OpenRequest {
    task: Option<AbortHandle>,
    credit: Option<Rc<Credit>>,
}

/// All of them, by the bridge's ids.
#[derive(Debug, Default)]
pub struct Open {
    requests: RefCell<HashMap<u32, OpenRequest>>,
}

impl Open {
    /// True if too many requests are open already, or if the id is taken.
    pub fn refuses(&self, id: u32) -> bool {
        let requests = self.requests.borrow();
        requests.len() >= MOST || requests.contains_key(&id)
    }

    /// Starts the task of a request.
    pub fn start(
        self: &Rc<Self>,
        id: u32,
        credit: Option<Rc<Credit>>,
        task: impl Future<Output = ()> + 'static,
    ) {
        self.requests.borrow_mut().insert(id, OpenRequest { task: None, credit });
        let open = self.clone();
        let task = tokio::task::spawn_local(async move {
            task.await;
            open.requests.borrow_mut().remove(&id);
        });
        if let Some(request) = self.requests.borrow_mut().get_mut(&id) {
            request.task = Some(task.abort_handle());
        }
    }

    /// Nobody waits for it any more.
    pub fn cancel(&self, id: u32) {
        let request = self.requests.borrow_mut().remove(&id);
        if let Some(task) = request.and_then(|request| request.task) {
            task.abort();
        }
    }

    /// More may come of it.
    pub fn more(&self, id: u32, deltas: u32) {
        let requests = self.requests.borrow();
        if let Some(credit) = requests.get(&id).and_then(|request| request.credit.as_ref()) {
            credit.add(deltas);
        }
    }
}
