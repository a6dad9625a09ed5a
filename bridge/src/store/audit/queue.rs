//! What waits for the disk, and how the disk does.
//!
//! ```text
//!  first record ─► the thread wakes ─► gathers for 50 ms, or until somebody waits ─► takes all
//! ```
//!
//! Owns the bound, the wake-ups and the count of what is on no disk. Must never hold its lock while anything is
//! read or written, nor wake the thread for each record.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::oneshot;

use super::record::Record;
use crate::store::StoreError;

/// So many records may wait.
pub(super) const MAX_RECORDS: usize = 16 * 1024;

/// So long records are gathered before they are written.
const GATHER: Duration = Duration::from_millis(50);

/// Room for so many records is kept when a batch is done.
const KEPT: usize = 1024;

/// A record that the log does not take at present: the disk refuses or is too slow. It is counted as lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Full;

impl std::fmt::Display for Full {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the audit log takes no more at present")
    }
}

impl std::error::Error for Full {}

/// Between those who append and the thread that writes.
#[derive(Debug, Default)]
pub(super) struct Queue {
    state: Mutex<State>,
    filled: Condvar,
    failing: AtomicBool,
    lost: AtomicU64,
}

#[derive(Debug, Default)]
struct State {
    batch: Batch,
    closed: bool,
}

/// What came since the thread last took something.
#[derive(Debug, Default)]
pub(super) struct Batch {
    pub(super) records: Vec<Record>,
    /// Who waits until the records are written.
    pub(super) waiters: Vec<Waiter>,
}

/// Somebody waits.
#[derive(Debug)]
pub(super) struct Waiter {
    /// Until it is on disk, whatever happens to the machine.
    pub(super) durably: bool,
    pub(super) done: Done,
}

type Done = oneshot::Sender<Result<(), StoreError>>;

impl Queue {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a record that nobody waits for.
    pub(super) fn append(&self, record: Record) -> Result<(), Full> {
        let mut state = self.lock();
        if self.is_failing() || !state.has_room() {
            drop(state);
            self.lose(1);
            return Err(Full);
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

    /// Adds a record, and somebody who waits until it is on disk. A disk that refuses is tried again.
    pub(super) fn append_durably(&self, record: Record, done: Done) -> Result<(), Full> {
        let mut state = self.lock();
        if !state.has_room() {
            drop(state);
            self.lose(1);
            return Err(Full);
        }
        state.batch.records.push(record);
        state.batch.waiters.push(Waiter { durably: true, done });
        drop(state);
        self.filled.notify_one();
        Ok(())
    }

    /// Adds somebody who waits until what was added before has been written, as far as the disk takes it.
    pub(super) fn flush(&self, done: Done) -> Result<(), Full> {
        let mut state = self.lock();
        if state.closed {
            return Err(Full);
        }
        // Those who no longer wait would pile up behind a disk that hangs.
        state.batch.waiters.retain(|waiter| waiter.durably || !waiter.done.is_closed());
        state.batch.waiters.push(Waiter { durably: false, done });
        drop(state);
        self.filled.notify_one();
        Ok(())
    }

    /// Nothing more will come.
    pub(super) fn close(&self) {
        self.lock().closed = true;
        self.filled.notify_one();
    }

    /// Waits for something to do, no longer than `idle`, and puts it into `batch`, which is empty. False when the
    /// queue is closed and all is done.
    pub(super) fn take(&self, batch: &mut Batch, idle: Duration) -> bool {
        batch.records.clear();
        batch.records.shrink_to(KEPT);
        let nothing = |state: &mut State| state.batch.is_empty() && !state.closed;
        let nobody = |state: &mut State| state.batch.is_nobodys() && !state.closed;
        let state = self.filled.wait_timeout_while(self.lock(), idle, nothing);
        let (state, _) = state.unwrap_or_else(PoisonError::into_inner);
        let state = self.filled.wait_timeout_while(state, GATHER, nobody);
        let (mut state, _) = state.unwrap_or_else(PoisonError::into_inner);
        std::mem::swap(&mut state.batch, batch);
        !(state.closed && batch.is_empty())
    }

    /// Whether the disk refuses at present.
    pub(super) fn is_failing(&self) -> bool {
        self.failing.load(Ordering::Relaxed)
    }

    pub(super) fn set_failing(&self, failing: bool) {
        self.failing.store(failing, Ordering::Relaxed);
    }

    /// How many records are in no file, or not for certain.
    pub(super) fn lost(&self) -> u64 {
        self.lost.load(Ordering::Relaxed)
    }

    pub(super) fn lose(&self, records: u64) {
        self.lost.fetch_add(records, Ordering::Relaxed);
    }
}

impl State {
    fn has_room(&self) -> bool {
        !self.closed && self.batch.records.len() < MAX_RECORDS
    }
}

impl Batch {
    fn is_empty(&self) -> bool {
        self.records.is_empty() && self.waiters.is_empty()
    }

    /// Whether there are records that nobody waits for.
    fn is_nobodys(&self) -> bool {
        !self.records.is_empty() && self.waiters.is_empty()
    }
}
