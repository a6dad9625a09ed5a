//! The messages that go up to the bridge.
//!
//! Owns the queue. A bridge that does not read misses progress, but never an answer: answers are few and short.

use std::cell::RefCell;

use harbor_child::outbox::Outbox;
use harbor_ipc_proto::link::codec::put_message;
use harbor_ipc_proto::link::worker::{FromWorker, WorkerStatus, WorkerStep};

/// Bytes that may wait for a bridge that does not read.
const LIMIT: usize = 8 * 1024 * 1024;
/// Progress is left out from here on.
const ENOUGH: usize = 256 * 1024;

/// The way up.
#[derive(Debug)]
pub struct Up {
    outbox: Outbox,
    told: RefCell<Option<WorkerStatus<'static>>>,
}

impl Default for Up {
    fn default() -> Self {
        Self { outbox: Outbox::new(LIMIT), told: RefCell::default() }
    }
}

impl Up {
    /// Sends a message.
    pub fn send(&self, message: &FromWorker<'_>) {
        // Refused only when the bridge is gone, or has not read 8 MiB of answers: nobody waits for this one then.
        let _ = self.outbox.push(|out| put_message(out, message));
    }

    /// Tells a step, if somebody listens.
    pub fn step(&self, step: WorkerStep<'_>) {
        if self.outbox.pending() < ENOUGH {
            self.send(&FromWorker::Progress(step));
        }
    }

    /// Tells how things are, if that is new.
    pub fn status(&self, status: WorkerStatus<'static>) {
        if self.told.borrow().as_ref() != Some(&status) {
            self.send(&FromWorker::Status(status.clone()));
            *self.told.borrow_mut() = Some(status);
        }
    }

    /// The next status is new, whatever it is.
    pub fn forget_status(&self) {
        *self.told.borrow_mut() = None;
    }

    /// The outbox, for whoever drives it.
    #[must_use]
    pub fn outbox(&self) -> &Outbox {
        &self.outbox
    }
}
