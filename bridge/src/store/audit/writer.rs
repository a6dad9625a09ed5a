//! The thread of the audit log.
//!
//! ```text
//!  write ──► all there, and room for more ──────► well
//!    ▲   └─► not, or no room is left behind it ─► failing: what is not written is kept
//!    └───────────── 100 ms, or as soon as more comes ──┘
//! ```
//!
//! Owns what happens when the disk refuses: it is tried again, and the file says what is missing for ever, once all
//! that was kept is in it. Must never end before the queue is closed, nor call a disk well that has no room.

use std::sync::Arc;
use std::time::{Duration, Instant};

use harbor_home::clock::wall_clock;

use super::batch::{AuditBatch, WriteProgress};
use super::files::{AuditFiles, Newest};
use super::queue::AuditQueue;
use super::record::AuditRecord;
use crate::store::StoreError;

/// Bytes that are written at a time.
const PIECE: usize = 64 * 1024;

/// How soon a disk that refused is tried again, even if no record waits.
const RETRY: Duration = Duration::from_millis(100);

/// How often Harbor looks at a disk without room, which others may fill.
const LOOK: Duration = Duration::from_secs(1);

/// The pause between two warnings.
const WARN_AGAIN: Duration = Duration::from_secs(60);

/// Writes what is queued.
#[derive(Debug)]
pub(super) struct AuditWriter {
    files: Arc<AuditFiles>,
    lines: Vec<u8>,
    /// How many lost records the file reports.
    told: u64,
    /// True if the room for what comes next is ours.
    holds_room: bool,
    warned: Option<Instant>,
}

impl AuditWriter {
    pub(super) fn new(files: Arc<AuditFiles>, holds_room: bool) -> Self {
        Self { files, lines: Vec::new(), told: 0, holds_room, warned: None }
    }

    /// Runs until the queue is closed and empty.
    pub(super) fn run(mut self, queue: &AuditQueue) {
        let mut batch = AuditBatch::default();
        while queue.take(&mut batch, self.idle(queue)) {
            self.perform(&mut batch, queue);
        }
        self.perform(&mut batch, queue);
        if !batch.records.is_empty() {
            queue.lose(batch.records.len());
            batch.records.clear();
            // A line that says how many there were is shorter than any of them.
            self.perform(&mut batch, queue);
        }
        let untold = self.untold(queue);
        if untold > 0 {
            tracing::error!(untold, "the audit log lacks records, and does not say so");
        }
    }

    fn untold(&self, queue: &AuditQueue) -> u64 {
        queue.lost().saturating_sub(self.told)
    }

    /// How long the thread may sleep.
    fn idle(&self, queue: &AuditQueue) -> Duration {
        match (queue.is_failing(), self.holds_room) {
            (true, _) => RETRY,
            (false, true) => Duration::MAX,
            (false, false) => LOOK,
        }
    }

    fn perform(&mut self, batch: &mut AuditBatch, queue: &AuditQueue) {
        let mut written = WriteProgress::default();
        let result = self.write(batch, &mut written, queue);
        queue.set_failing(result.is_err());
        if let Err(error) = &result {
            self.warn(error);
        }
        batch.settle(&written, &result);
    }

    /// Writes the records, and behind them one on those that are lost; sees to it that there is room for the next.
    fn write(
        &mut self,
        batch: &AuditBatch,
        written: &mut WriteProgress,
        queue: &AuditQueue,
    ) -> Result<(), StoreError> {
        let is_well = self.holds_room && !queue.is_failing();
        if batch.records.is_empty() && self.untold(queue) == 0 && is_well {
            return Ok(());
        }
        let files = self.files.clone();
        let mut newest = files.newest()?;
        let appended = self.append(&mut newest, &batch.records, &mut written.records);
        if batch.is_awaited(written.records) {
            // After an error of this kind nobody knows what is on disk.
            newest.sync().inspect_err(|_| queue.lose(written.records))?;
            written.durably = true;
        }
        appended?;
        self.tell_lost(&mut newest, queue)?;
        self.holds_room = newest.reserve()?;
        Ok(())
    }

    /// Puts records into the files, and counts those that are in them.
    fn append(
        &mut self,
        newest: &mut Newest<'_>,
        records: &[AuditRecord],
        written: &mut usize,
    ) -> Result<(), StoreError> {
        let mut records = records.iter().peekable();
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
        Ok(())
    }

    fn tell_lost(&mut self, newest: &mut Newest<'_>, queue: &AuditQueue) -> Result<(), StoreError> {
        let untold = self.untold(queue);
        if untold > 0 {
            self.append(newest, &[unaudited(untold)], &mut 0)?;
            self.told += untold;
        }
        Ok(())
    }

    fn warn(&mut self, error: &StoreError) {
        if self.warned.is_none_or(|at| at.elapsed() >= WARN_AGAIN) {
            self.warned = Some(Instant::now());
            tracing::warn!(%error, "the audit log cannot be written");
        }
    }
}

fn unaudited(count: u64) -> AuditRecord {
    let by = "harbor".into();
    AuditRecord {
        timestamp: wall_clock(),
        event: "unaudited",
        by,
        count: Some(count),
        ..AuditRecord::default()
    }
}
