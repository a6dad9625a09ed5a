//! Records that go to the disk together, and who waits for them.
//!
//! Owns what becomes of the records that the disk did not take: they are kept for the next attempt. Must never keep one that is
//! of use now or not at all: whoever waited is told, and what it tells of does not happen.

use tokio::sync::oneshot;

use super::record::AuditRecord;
use crate::store::StoreError;

/// The records that wait for the disk.
#[derive(Debug, Default)]
pub(super) struct AuditBatch {
    pub(super) records: Vec<AuditRecord>,
    /// The callers that wait until the records are written, in the order of their records.
    pub(super) waiters: Vec<RecordWaiter>,
}

/// A caller that waits.
#[derive(Debug)]
pub(super) struct RecordWaiter {
    /// The record that has to be on disk for it, whatever happens to the machine; `None` for a caller that wants all of them
    /// tried.
    pub(super) record_at: Option<usize>,
    /// True if the disk may also have that record later.
    pub(super) or_later: bool,
    pub(super) done: WriteResultSender,
}

pub(super) type WriteResultSender = oneshot::Sender<Result<(), StoreError>>;

/// The part of a batch that the disk has taken.
#[derive(Debug, Default)]
pub(super) struct WriteProgress {
    /// How many of its first records are in the files.
    pub(super) records: usize,
    /// They survive a power cut.
    pub(super) durably: bool,
}

impl AuditBatch {
    pub(super) fn is_empty(&self) -> bool {
        self.records.is_empty() && self.waiters.is_empty()
    }

    /// True if there are records but no waiters.
    pub(super) fn is_nobodys(&self) -> bool {
        !self.records.is_empty() && self.waiters.is_empty()
    }

    /// True if a waiter waits for one of the first `records` records.
    pub(super) fn is_awaited(&self, records: usize) -> bool {
        self.waiters.iter().any(|waiter| waiter.record_at.is_some_and(|at| at < records))
    }

    /// Takes the content of the other batch, behind its own.
    pub(super) fn take_from(&mut self, other: &mut Self) {
        let before = self.records.len();
        if before == 0 {
            // No record is moved on this way, which is the usual one.
            return std::mem::swap(self, other);
        }
        self.records.append(&mut other.records);
        let behind = |waiter: RecordWaiter| RecordWaiter {
            record_at: waiter.record_at.map(|at| at + before),
            ..waiter
        };
        self.waiters.extend(other.waiters.drain(..).map(behind));
    }

    /// Answers all waiters, and keeps the records that must be written later.
    pub(super) fn settle(&mut self, written: &WriteProgress, result: &Result<(), StoreError>) {
        let mut dropped = Vec::new();
        for waiter in self.waiters.drain(..) {
            let is_there = waiter.record_at.is_some_and(|at| at < written.records && written.durably);
            let answer = if is_there { Ok(()) } else { result.as_ref().copied().map_err(again) };
            dropped.extend(waiter.record_at.filter(|_| answer.is_err() && !waiter.or_later));
            // Whoever waited may have left.
            let _ = waiter.done.send(answer);
        }
        let mut next = 0..;
        self.records.retain(|_| {
            next.next().is_some_and(|at| at >= written.records && dropped.binary_search(&at).is_err())
        });
    }
}

/// A copy of the error for another waiter.
fn again(error: &StoreError) -> StoreError {
    let source = std::io::Error::other(error.to_string());
    StoreError::File { what: "write the audit log".into(), source }
}
