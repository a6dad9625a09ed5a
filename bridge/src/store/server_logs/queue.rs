//! The lines that wait for the disk.
//!
//! Owns the bounds and the count of lines that found no room. Must never hold its lock while anything is read or written.

use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use harbor_ipc_proto::server_id::ServerId;
use tokio::sync::oneshot;

use super::record::ServerLogRecord;

/// Bytes that may wait, of one server and of all. One line more fits: its length is known when it is written. The first is far
/// below a file's size, so that waiting lines never fill more than one file; it keeps room for the others.
const MAX_OF_ONE: usize = 256 * 1024;
const MAX_OF_ALL: usize = 4 * 1024 * 1024;

/// Between those who append and the thread that writes.
#[derive(Debug, Default)]
pub(super) struct ServerLogQueue {
    state: Mutex<LogQueueState>,
    filled: Condvar,
}

#[derive(Debug, Default)]
struct LogQueueState {
    batch: ServerLogBatch,
    closed: bool,
}

/// The changes that came since the thread last took some.
#[derive(Debug, Default)]
pub(super) struct ServerLogBatch {
    pub(super) pending: BTreeMap<ServerId, Pending>,
    bytes: usize,
    /// The questions to be answered when everything else of the batch is done.
    pub(super) asks: Vec<LogTailRequest>,
}

/// The changes to one server's files, in this order.
#[derive(Debug, Default)]
pub(super) struct Pending {
    /// True if they are removed.
    pub(super) forget: bool,
    /// Lines that are appended.
    pub(super) lines: Vec<u8>,
    /// The lines that found no room behind them.
    pub(super) lost: u64,
    /// The time of the newest line, lost or not.
    pub(super) newest: u64,
}

/// A caller that waits for a server's newest lines.
#[derive(Debug)]
pub(super) struct LogTailRequest {
    pub(super) id: ServerId,
    pub(super) limit: usize,
    pub(super) answer: oneshot::Sender<Vec<ServerLogRecord>>,
}

impl ServerLogQueue {
    fn lock(&self) -> MutexGuard<'_, LogQueueState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds something to the batch.
    pub(super) fn change(&self, change: impl FnOnce(&mut ServerLogBatch)) {
        let mut state = self.lock();
        // The thread sleeps only when there is nothing; else a call to the system would wake nobody.
        let sleeps = state.batch.is_empty();
        change(&mut state.batch);
        drop(state);
        if sleeps {
            self.filled.notify_one();
        }
    }

    /// Nothing more will come.
    pub(super) fn close(&self) {
        self.lock().closed = true;
        self.filled.notify_one();
    }

    /// Waits for something to do. None when the queue is closed and everything is done.
    pub(super) fn take(&self) -> Option<ServerLogBatch> {
        let mut state = self.lock();
        while state.batch.is_empty() {
            if state.closed {
                return None;
            }
            state = self.filled.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        Some(std::mem::take(&mut state.batch))
    }
}

impl ServerLogBatch {
    fn is_empty(&self) -> bool {
        self.pending.is_empty() && self.asks.is_empty()
    }

    pub(super) fn add(&mut self, id: &ServerId, record: &ServerLogRecord) {
        let full = self.bytes >= MAX_OF_ALL;
        let pending = self.pending.entry(id.clone()).or_default();
        pending.newest = record.timestamp;
        // Behind a lost line all are lost until the batch is taken, so that the count stands where they are
        // missing.
        if full || pending.lost > 0 || pending.lines.len() >= MAX_OF_ONE {
            pending.lost += 1;
            return;
        }
        let before = pending.lines.len();
        record.put(&mut pending.lines);
        self.bytes += pending.lines.len() - before;
    }

    pub(super) fn forget(&mut self, id: &ServerId) {
        let pending = self.pending.entry(id.clone()).or_default();
        self.bytes -= pending.lines.len();
        *pending = Pending { forget: true, ..Pending::default() };
    }

    pub(super) fn ask(&mut self, ask: LogTailRequest) {
        // Those who no longer wait would pile up behind a disk that hangs.
        self.asks.retain(|ask| !ask.answer.is_closed());
        self.asks.push(ask);
    }
}

#[cfg(test)]
mod tests {
    use super::super::record::Source;
    use super::*;

    #[test]
    fn one_flood_leaves_room_for_others_and_all_floods_have_a_bound() {
        let id = |n: usize| ServerId::parse(&format!("s{n}")).unwrap();
        let record =
            ServerLogRecord { timestamp: 7, source: Source::Stderr, level: None, text: "x".repeat(8000) };
        let mut batch = ServerLogBatch::default();
        (0..100).for_each(|_| batch.add(&id(0), &record));
        batch.add(&id(1), &record);
        assert!(batch.pending[&id(0)].lost > 0 && batch.pending[&id(1)].lost == 0);
        (2..100).for_each(|n| (0..100).for_each(|_| batch.add(&id(n), &record)));
        assert!(batch.bytes < MAX_OF_ALL + 10_000);
        batch.forget(&id(0));
        batch.add(&id(99), &record);
        assert_eq!((batch.pending[&id(99)].lines.len(), batch.pending[&id(99)].lost), (0, 101));
        (0..100).for_each(|n| batch.forget(&id(n)));
        assert_eq!(batch.bytes, 0);
    }

    #[test]
    fn who_no_longer_waits_for_an_answer_leaves_the_queue() {
        let mut batch = ServerLogBatch::default();
        for _ in 0..3 {
            let (answer, _) = oneshot::channel();
            batch.ask(LogTailRequest { id: ServerId::parse("a").unwrap(), limit: 1, answer });
        }
        assert_eq!(batch.asks.len(), 1);
    }
}
