//! A timer that calls something kept.
//!
//! Owns the task that waits. Setting it anew, or dropping it, ends the one before: a server that restarts a hundred
//! times a second leaves no sleeping tasks behind.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use tokio::task::AbortHandle;

/// A timer that is not set.
#[derive(Debug, Default)]
pub struct Alarm(RefCell<Option<AbortHandle>>);

impl Alarm {
    /// Calls `ring` after `wait`; never if `wait` is none.
    pub fn set<T: 'static>(&self, kept: &Rc<T>, wait: Option<Duration>, ring: fn(&Rc<T>)) {
        self.clear();
        let Some(wait) = wait else { return };
        let kept = Rc::downgrade(kept);
        let task = tokio::task::spawn_local(async move {
            tokio::time::sleep(wait).await;
            if let Some(kept) = kept.upgrade() {
                ring(&kept);
            }
        });
        *self.0.borrow_mut() = Some(task.abort_handle());
    }

    /// Ends the timer.
    pub fn clear(&self) {
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
