//! The thread of the audit log.
//!
//! Owns what happens when the disk refuses: the records are dropped and counted, the disk is tried again, and the
//! file says how many are missing as soon as it can be written. Must never end before the queue is closed.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::files::Files;
use super::queue::{Batch, Queue};
use super::record::Record;
use crate::clock::wall_clock;
use crate::store::StoreError;

/// So many bytes are written at a time.
const PIECE: usize = 64 * 1024;

/// When a disk that refused is tried again, though nobody has anything to write.
const RETRY: Duration = Duration::from_millis(100);

/// The pause between two warnings.
const WARN_AGAIN: Duration = Duration::from_secs(60);

/// Writes what is queued.
#[derive(Debug)]
pub(super) struct Writer {
    files: Arc<Files>,
    lines: Vec<u8>,
    /// How many of the lost records the file tells of.
    told: u64,
    warned: Option<Instant>,
}

impl Writer {
    pub(super) fn new(files: Arc<Files>) -> Self {
        Self { files, lines: Vec::new(), told: 0, warned: None }
    }

    /// Until the queue is closed and empty.
    pub(super) fn run(mut self, queue: &Queue) {
        let mut batch = Batch::default();
        while queue.take(&mut batch, self.idle(queue)) {
            self.perform(&mut batch, queue);
        }
        self.perform(&mut batch, queue);
        let untold = self.untold(queue);
        if untold > 0 {
            tracing::error!(untold, "the audit log lacks records, and does not say so");
        }
    }

    fn untold(&self, queue: &Queue) -> u64 {
        queue.lost().saturating_sub(self.told)
    }

    fn idle(&self, queue: &Queue) -> Duration {
        if self.untold(queue) > 0 { RETRY } else { Duration::MAX }
    }

    fn perform(&mut self, batch: &mut Batch, queue: &Queue) {
        let durably = batch.waiters.iter().any(|waiter| waiter.durably);
        let result = self.write(&batch.records, durably, queue);
        queue.set_failing(result.is_err());
        if let Err(error) = &result {
            self.warn(error);
        }
        for waiter in batch.waiters.drain(..) {
            // Whoever waited may have left.
            let _ = waiter.done.send(result.as_ref().copied().map_err(again));
        }
    }

    /// Writes the records, behind one on those that were lost before.
    fn write(&mut self, records: &[Record], durably: bool, queue: &Queue) -> Result<(), StoreError> {
        let untold = self.untold(queue);
        let remark = (untold > 0).then(|| unaudited(untold));
        let all = remark.iter().chain(records);
        let mut written = 0;
        let result = self.put(all, durably, &mut written);
        let mut recorded = written;
        if remark.is_some() && written > 0 {
            self.told += untold;
            recorded -= 1;
        }
        queue.lose((records.len() as u64).saturating_sub(recorded));
        result
    }

    /// Puts records into the files, and counts those that are in them.
    fn put<'a>(
        &mut self,
        records: impl Iterator<Item = &'a Record>,
        durably: bool,
        written: &mut u64,
    ) -> Result<(), StoreError> {
        let mut records = records.peekable();
        if records.peek().is_none() {
            return Ok(());
        }
        let mut newest = self.files.newest()?;
        while records.peek().is_some() {
            self.lines.clear();
            self.lines.shrink_to(PIECE);
            while self.lines.len() < PIECE
                && let Some(record) = records.next()
            {
                record.put(&mut self.lines);
            }
            newest.append(&self.lines, written)?;
        }
        // After an error of this kind nobody knows what is on disk.
        if durably { newest.sync().inspect_err(|_| *written = 0) } else { Ok(()) }
    }

    fn warn(&mut self, error: &StoreError) {
        if self.warned.is_none_or(|at| at.elapsed() >= WARN_AGAIN) {
            self.warned = Some(Instant::now());
            tracing::warn!(%error, "the audit log cannot be written");
        }
    }
}

fn unaudited(count: u64) -> Record {
    let by = "harbor".into();
    Record { timestamp: wall_clock(), event: "unaudited", by, count: Some(count), ..Record::default() }
}

/// The same error for one more of those who wait.
fn again(error: &StoreError) -> StoreError {
    let source = std::io::Error::other(error.to_string());
    StoreError::File { what: "write the audit log".into(), source }
}
