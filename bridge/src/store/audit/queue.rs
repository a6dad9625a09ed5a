//! The records that wait for the disk, and how the disk does.
//!
//! ```text
//!  first record ─► the thread wakes ─► gathers for 50 ms, or until somebody waits ─► takes all
//!                                                     what it cannot write it keeps ◄─┘  and takes more to it
//! ```
//!
//! Owns the bound, the wake-ups and the count of records that are on no disk. Must never hold its lock while anything is read or
//! written, nor wake the thread for each record.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::batch::{AuditBatch, RecordWaiter, WriteResultSender};
use super::record::AuditRecord;

/// Records that may wait, with those that the thread has in hand.
pub(super) const MAX_RECORDS: usize = 16 * 1024;

/// When this many records wait, the disk counts as refusing. The remaining places are for calls under way.
const CROWDED: usize = MAX_RECORDS / 4 * 3;

/// How long records are gathered before they are written.
const GATHER: Duration = Duration::from_millis(50);

/// Records for which room is kept when a batch is done.
const KEPT: usize = 1024;

/// A record that the log does not take: too many wait for the disk, or the log is closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AuditQueueFull;

impl std::fmt::Display for AuditQueueFull {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the queue of the audit log is full")
    }
}

impl std::error::Error for AuditQueueFull {}

/// Between those who append and the thread that writes.
#[derive(Debug, Default)]
pub(super) struct AuditQueue {
    state: Mutex<AuditQueueState>,
    filled: Condvar,
    failing: AtomicBool,
    lost: AtomicU64,
}

#[derive(Debug, Default)]
struct AuditQueueState {
    /// The records that came since the thread last took some.
    batch: AuditBatch,
    /// How many records the thread has in hand.
    held: usize,
    closed: bool,
}

impl AuditQueue {
    fn lock(&self) -> MutexGuard<'_, AuditQueueState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a record without a waiter.
    pub(super) fn append(&self, record: AuditRecord) -> Result<(), AuditQueueFull> {
        let mut state = self.lock();
        let waiting = state.waiting();
        if waiting >= CROWDED {
            self.set_failing(true);
        }
        if state.closed || waiting >= MAX_RECORDS {
            drop(state);
            self.lose(1);
            return Err(AuditQueueFull);
        }
        // The thread sleeps until there is something, and then until its time is up.
        let sleeps = state.batch.is_empty();
        state.batch.records.push(record);
        drop(state);
        if sleeps {
            self.filled.notify_one();
        }
        Ok(())
    }

    /// Adds a record, and somebody who waits until it is on disk; where that fails, it is kept for `or_later`, or dropped.
    pub(super) fn append_durably(
        &self,
        record: AuditRecord,
        or_later: bool,
        done: WriteResultSender,
    ) -> Result<(), AuditQueueFull> {
        let mut state = self.lock();
        if state.closed || state.waiting() >= MAX_RECORDS {
            drop(state);
            self.lose(usize::from(or_later));
            return Err(AuditQueueFull);
        }
        let record_at = Some(state.batch.records.len());
        state.batch.records.push(record);
        state.batch.waiters.push(RecordWaiter { record_at, or_later, done });
        drop(state);
        self.filled.notify_one();
        Ok(())
    }

    /// Adds a waiter for the end of writing all earlier records, as far as the disk takes them.
    pub(super) fn flush(&self, done: WriteResultSender) -> Result<(), AuditQueueFull> {
        let mut state = self.lock();
        if state.closed {
            return Err(AuditQueueFull);
        }
        // Those who no longer wait would pile up behind a disk that hangs.
        state.batch.waiters.retain(|waiter| waiter.record_at.is_some() || !waiter.done.is_closed());
        state.batch.waiters.push(RecordWaiter { record_at: None, or_later: false, done });
        drop(state);
        self.filled.notify_one();
        Ok(())
    }

    /// Nothing more will come.
    pub(super) fn close(&self) {
        self.lock().closed = true;
        self.filled.notify_one();
    }

    /// Waits for something to do, no longer than `idle`, and puts it into `batch`, behind the records that are kept
    /// there. False when the queue is closed and nothing more has come.
    pub(super) fn take(&self, batch: &mut AuditBatch, idle: Duration) -> bool {
        batch.records.shrink_to(KEPT);
        let mut state = self.lock();
        state.held = batch.records.len();
        let nothing = |state: &mut AuditQueueState| state.batch.is_empty() && !state.closed;
        let nobody = |state: &mut AuditQueueState| state.batch.is_nobodys() && !state.closed;
        let state = self.filled.wait_timeout_while(state, idle, nothing);
        let (state, _) = state.unwrap_or_else(PoisonError::into_inner);
        let state = self.filled.wait_timeout_while(state, GATHER, nobody);
        let (mut state, _) = state.unwrap_or_else(PoisonError::into_inner);
        let came = !state.batch.is_empty();
        batch.take_from(&mut state.batch);
        state.held = batch.records.len();
        came || !state.closed
    }

    /// True if the disk refuses at present.
    pub(super) fn is_failing(&self) -> bool {
        self.failing.load(Ordering::Relaxed)
    }

    pub(super) fn set_failing(&self, failing: bool) {
        self.failing.store(failing, Ordering::Relaxed);
    }

    /// How many records will be in no file, or may not be.
    pub(super) fn lost(&self) -> u64 {
        self.lost.load(Ordering::Relaxed)
    }

    pub(super) fn lose(&self, records: usize) {
        self.lost.fetch_add(records as u64, Ordering::Relaxed);
    }
}

impl AuditQueueState {
    fn waiting(&self) -> usize {
        self.held + self.batch.records.len()
    }
}
