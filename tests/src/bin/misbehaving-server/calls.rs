//! Calls that take time, and which of them were cancelled.

use std::collections::BTreeSet;
use std::sync::{Condvar, Mutex};
use std::time::Duration;

/// The cancelled calls, by the JSON text of their ids.
#[derive(Debug, Default)]
pub struct Calls {
    cancelled: Mutex<BTreeSet<String>>,
    changed: Condvar,
}

impl Calls {
    /// Nobody waits for this call any more.
    pub fn cancel(&self, id: &str) {
        self.cancelled.lock().unwrap().insert(id.to_owned());
        self.changed.notify_all();
    }

    /// Lets time pass for a call; false when it was cancelled meanwhile.
    pub fn rest(&self, id: &str, time: Duration) -> bool {
        let cancelled = self.cancelled.lock().unwrap();
        let waited = self.changed.wait_timeout_while(cancelled, time, |cancelled| !cancelled.contains(id));
        waited.unwrap().1.timed_out()
    }

    /// All ids that were cancelled, as a JSON array.
    pub fn cancelled(&self) -> String {
        let ids: Vec<_> = self.cancelled.lock().unwrap().iter().cloned().collect();
        format!("[{}]", ids.join(","))
    }
}
