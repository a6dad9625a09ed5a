//! The servers' output, on disk: `DIR/<server id>.log` and the one before it, `DIR/<server id>.log.1`.
//!
//! ```text
//!  append ─► queue (bounded, never waits) ─► thread ─► one write per server ─► <id>.log ──1 MiB──► <id>.log.1
//!  last ───► the same queue ───────────────► thread, behind all that was appended before ─► answer
//! ```
//!
//! Owns the thread that touches these files. Must never make a caller wait for the disk, nor trust a file: the
//! person may edit, move or remove it at any time, and a power cut may have torn its end.

mod files;
mod queue;
mod record;
mod writer;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use harbor_ipc_proto::server_id::ServerId;
use tokio::sync::oneshot;

pub use self::record::{ServerLogRecord, Source, parse};

use self::files::ServerLogFiles;
use self::queue::{LogTailRequest, ServerLogQueue};
use self::writer::ServerLogWriter;
use super::worker::WriterThread;
use super::{StoreError, private_directory};

/// How long the end waits for unwritten lines.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// How long a reader waits for the disk.
const READ_LIMIT: Duration = Duration::from_secs(2);

/// The log files of all servers.
#[derive(Debug)]
pub struct ServerLogs {
    queue: Arc<ServerLogQueue>,
    worker: WriterThread,
}

impl ServerLogs {
    /// Makes the directory, for this user only, and starts the thread.
    ///
    /// # Errors
    /// When the system refuses the directory or the thread.
    pub fn open(dir: &Path) -> Result<Self, StoreError> {
        private_directory(dir)?;
        let writer = ServerLogWriter::new(ServerLogFiles::new(dir));
        Self::start(move |queue| writer.run(queue))
    }

    fn start(work: impl FnOnce(&ServerLogQueue) + Send + 'static) -> Result<Self, StoreError> {
        let queue = Arc::<ServerLogQueue>::default();
        let theirs = queue.clone();
        let worker = WriterThread::start("harbor.logs", move || work(&theirs))?;
        Ok(Self { queue, worker })
    }

    /// Takes a line to be written. Never waits: a line that finds no room is counted, and the file will say so.
    pub fn append(&self, id: &ServerId, line: &ServerLogRecord) {
        self.queue.change(|batch| batch.add(id, line));
    }

    /// The newest lines, oldest first, at most `limit`, with all that was appended before. None when the disk
    /// does not answer.
    pub async fn last(&self, id: &ServerId, limit: usize) -> Vec<ServerLogRecord> {
        let (answer, answered) = oneshot::channel();
        self.queue.change(|batch| batch.ask(LogTailRequest { id: id.clone(), limit, answer }));
        if let Ok(Ok(lines)) = tokio::time::timeout(READ_LIMIT, answered).await {
            return lines;
        }
        tracing::warn!(server = %id, "its log file is not read: the disk does not answer");
        Vec::new()
    }

    /// Removes the files of a server that is no more. A line that comes later begins a new one.
    pub fn forget(&self, id: &ServerId) {
        self.queue.change(|batch| batch.forget(id));
    }
}

impl Drop for ServerLogs {
    /// Waits until what is queued is written, but not for ever: a disk that hangs must not hold up the bridge.
    fn drop(&mut self) {
        self.queue.close();
        if !self.worker.ends_within(LAST_WORDS) {
            tracing::warn!("the last lines of servers are not written: the disk does not answer");
        }
    }
}

#[cfg(test)]
mod tests;
