//! The record of who did what, on disk: `audit.jsonl`, one JSON object per line, and the files before it.
//!
//! ```text
//!  append ──────────► queue (bounded, never waits) ─► thread, at most 20 times a second ─► audit.jsonl ─► .1 ─► … .7
//!  written ─────────► the same queue ───────────────► thread, at once ─► write ─► all that wait
//!  append_durably ──► the same queue ───────────────► thread, at once ─► write, fdatasync ─► all that wait
//!  read ────────────► flushes the queue ─► another thread, from the end backwards ─► lines
//! ```
//!
//! Owns the thread that writes these files. Must never make a caller wait for the disk who has not asked for it,
//! nor change what is written. What the disk refuses is kept and tried again; what cannot be kept is counted, and the
//! file says so.

mod batch;
mod files;
mod queue;
mod read;
mod record;
mod writer;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::oneshot;

pub use self::files::Limits;
pub use self::queue::AuditQueueFull;
pub use self::read::Query;
pub use self::record::AuditRecord;

use self::files::AuditFiles;
use self::queue::AuditQueue;
use self::writer::AuditWriter;
use super::StoreError;
use super::worker::WriterThread;

/// How long the end waits for unwritten records.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// How long a reader waits for the disk.
const READ_LIMIT: Duration = Duration::from_secs(2);

/// The audit log.
#[derive(Debug)]
pub struct Audit {
    queue: Arc<AuditQueue>,
    files: Arc<AuditFiles>,
    worker: WriterThread,
}

impl Audit {
    /// Opens the log, which is made if it does not exist, and starts the thread. A torn last line is cut off.
    ///
    /// # Errors
    /// When the file cannot be opened to write.
    pub fn open(path: &Path, limits: Limits) -> Result<Self, StoreError> {
        let files = Arc::new(AuditFiles::new(path, limits));
        let queue = Arc::<AuditQueue>::default();
        // Whoever must write down what happens asks before anything has.
        let held = files.newest()?.reserve();
        queue.set_failing(held.is_err());
        let writer = AuditWriter::new(files.clone(), held.unwrap_or(false));
        Self::start(files, queue, move |queue| writer.run(queue))
    }

    fn start(
        files: Arc<AuditFiles>,
        queue: Arc<AuditQueue>,
        work: impl FnOnce(&AuditQueue) + Send + 'static,
    ) -> Result<Self, StoreError> {
        let theirs = queue.clone();
        let worker = WriterThread::start("harbor.audit", move || work(&theirs))?;
        Ok(Self { queue, files, worker })
    }

    /// Takes a record, which is in the file within 100 ms; where the disk refuses, as soon as it does not. Never waits.
    ///
    /// # Errors
    /// When too many wait for the disk already, or the log is closed. The record is then counted as lost.
    pub fn append(&self, record: AuditRecord) -> Result<(), AuditQueueFull> {
        self.queue.append(record)
    }

    /// Takes a record now, even if the future is dropped. The future is done when the record is on disk.
    ///
    /// # Errors
    /// When the disk refuses or is too slow. With `or_later` the record is then treated as by
    /// [`Self::append`]; without, it is dropped and not counted, since its event must not happen.
    pub fn append_durably(
        &self,
        record: AuditRecord,
        or_later: bool,
    ) -> impl Future<Output = Result<(), StoreError>> + use<> {
        let (done, written) = oneshot::channel();
        let taken = self.queue.append_durably(record, or_later, done);
        async move {
            taken.map_err(|full| failed("write", full))?;
            written.await.map_err(|_| failed("write", "its thread has ended"))?
        }
    }

    /// Waits until what was appended before is in the files, though perhaps not on the disk below them: a bridge that is
    /// killed loses nothing of it.
    ///
    /// # Errors
    /// When the disk refuses. Refused records are kept.
    pub fn written(&self) -> impl Future<Output = Result<(), StoreError>> + use<> {
        let (done, written) = oneshot::channel();
        let taken = self.queue.flush(done);
        async move {
            taken.map_err(|full| failed("write", full))?;
            written.await.map_err(|_| failed("write", "its thread has ended"))?
        }
    }

    /// The newest matching lines, oldest first, as the files have them. They include all records that were
    /// appended before, if the disk takes those.
    ///
    /// # Errors
    /// When the files cannot be read, or the disk does not answer.
    pub fn read(&self, query: Query) -> impl Future<Output = Result<Vec<String>, StoreError>> + use<> {
        let (done, written) = oneshot::channel();
        // A log that is closed has nothing left to write.
        let flushing = self.queue.flush(done).is_ok();
        let files = self.files.clone();
        async move {
            if flushing && tokio::time::timeout(READ_LIMIT, written).await.is_err() {
                return Err(failed("read", "the disk does not answer"));
            }
            let reading = tokio::task::spawn_blocking(move || read::read(&files, &query));
            reading.await.map_err(|error| failed("read", error))?
        }
    }

    /// True if the disk refuses at present, or would if much more came.
    #[must_use]
    pub fn is_failing(&self) -> bool {
        self.queue.is_failing()
    }

    /// How many records since the log was opened are in no file for good, or may be.
    #[must_use]
    pub fn lost(&self) -> u64 {
        self.queue.lost()
    }

    /// Takes no more records, and waits a limited time until the queue is written: a disk that hangs must not
    /// hold up the bridge.
    pub fn close(&self) {
        self.queue.close();
        if !self.worker.ends_within(LAST_WORDS) {
            tracing::warn!("the last records of the audit log are not written: the disk does not answer");
        }
    }
}

impl Drop for Audit {
    fn drop(&mut self) {
        self.close();
    }
}

fn failed(what: &str, why: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> StoreError {
    StoreError::File { what: format!("{what} the audit log"), source: std::io::Error::other(why) }
}

#[cfg(test)]
mod tests;
