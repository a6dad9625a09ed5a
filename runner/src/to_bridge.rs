//! The way up: messages from this runner to the bridge.
//!
//! Owns the bound on what waits there. While the bridge is slow, servers are read more slowly (`room`);
//! messages that may be lost without harm (log lines, progress) are dropped by their senders.

use std::cell::{Cell, RefCell};
use std::time::Instant;

use harbor_child::outbox::Outbox;
use harbor_ipc_proto::link::codec::put_message;
use harbor_ipc_proto::link::runner::{FromRunner, LogSource};

use crate::logs::{Budget, Pass};

/// More than the largest message: reaching it means that the bridge is gone in all but name.
const LIMIT: usize = 256 * 1024 * 1024;

/// The queue to the bridge.
#[derive(Debug)]
pub struct Up {
    outbox: Outbox,
    budget: RefCell<Budget>,
    strays: Cell<u64>,
}

impl Up {
    /// An empty queue.
    pub fn new() -> Self {
        Self {
            outbox: Outbox::new(LIMIT),
            budget: RefCell::new(Budget::new(Instant::now())),
            strays: Cell::new(0),
        }
    }

    /// Queues a message. If the bridge is gone, the message is dropped: the link's end stops everything anyway.
    pub fn send(&self, message: &FromRunner<'_>) {
        let _ = self.outbox.push(|out| put_message(out, message));
    }

    /// Queues a log line, within the budget; whether there was room in it.
    pub fn log(&self, server: u32, source: LogSource, level: Option<&str>, text: &str) -> bool {
        let dropped = match self.budget.borrow_mut().take(Instant::now()) {
            Pass::No => return false,
            Pass::Yes => 0,
            Pass::YesAfter(dropped) => dropped,
        };
        if dropped > 0 {
            self.remark(server, &format!("{dropped} lines were dropped: the server wrote too many at once"));
        }
        let level = level.map(Into::into);
        self.send(&FromRunner::Log { server, source, level, text: text.into() });
        true
    }

    /// Queues a remark of our own about a server.
    pub fn remark(&self, server: u32, text: &str) {
        self.send(&FromRunner::Log { server, source: LogSource::Runner, level: None, text: text.into() });
    }

    /// Counts what a server said that belongs to nothing.
    pub fn count_stray(&self) {
        self.strays.set(self.strays.get() + 1);
    }

    /// Bytes that wait.
    pub fn pending(&self) -> usize {
        self.outbox.pending()
    }

    /// Waits until little waits.
    pub async fn room(&self) {
        self.outbox.room().await;
    }

    /// The queue itself, for the task that writes it.
    pub fn outbox(&self) -> &Outbox {
        &self.outbox
    }
}
