//! One timer of a server.
//!
//! Owns the task that waits. Setting it anew, or dropping it, ends the one before: a server that restarts a hundred
//! times a second leaves no sleeping tasks behind.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use tokio::task::AbortHandle;

use super::server::Server;

#[derive(Debug, Default)]
pub(super) struct Alarm(RefCell<Option<AbortHandle>>);

impl Alarm {
    /// Has `ring` called in `wait`; with none, not at all.
    pub(super) fn set(&self, server: &Rc<Server>, wait: Option<Duration>, ring: fn(&Rc<Server>)) {
        self.clear();
        let Some(wait) = wait else { return };
        let server = Rc::downgrade(server);
        let task = tokio::task::spawn_local(async move {
            tokio::time::sleep(wait).await;
            if let Some(server) = server.upgrade() {
                ring(&server);
            }
        });
        *self.0.borrow_mut() = Some(task.abort_handle());
    }

    /// Waits no more.
    pub(super) fn clear(&self) {
        if let Some(task) = self.0.take() {
            task.abort();
        }
    }
}

impl Drop for Alarm {
    fn drop(&mut self) {
        self.clear();
    }
}
