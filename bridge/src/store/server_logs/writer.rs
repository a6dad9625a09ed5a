//! The thread of the log files.
//!
//! Owns what happens when the disk refuses: the lines are dropped, counted, and the file says so as soon as it
//! can be written again. Must never end before the queue is closed.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use harbor_ipc_proto::server_id::ServerId;

use super::StoreError;
use super::files::ServerLogFiles;
use super::queue::{LogTailRequest, Pending, ServerLogQueue};
use super::record::{ServerLogRecord, Source};

/// The pause between two warnings, of whatever server.
const WARN_AGAIN: Duration = Duration::from_secs(60);

/// Writes what is queued.
#[derive(Debug)]
pub(super) struct ServerLogWriter {
    files: ServerLogFiles,
    lost: BTreeMap<ServerId, Lost>,
    warned: Option<Instant>,
}

/// Lines that are on no disk.
#[derive(Debug)]
struct Lost {
    lines: u64,
    /// When the last of them came.
    timestamp: u64,
    why: String,
}

impl Lost {
    fn remark(&self) -> ServerLogRecord {
        let lines = match self.lines {
            1 => "1 line was".to_owned(),
            lines => format!("{lines} lines were"),
        };
        let text = format!("{lines} not written: {}", self.why);
        ServerLogRecord { timestamp: self.timestamp, source: Source::Harbor, level: None, text }
    }
}

impl ServerLogWriter {
    pub(super) fn new(files: ServerLogFiles) -> Self {
        Self { files, lost: BTreeMap::new(), warned: None }
    }

    /// Runs until the queue is closed and empty.
    pub(super) fn run(mut self, queue: &ServerLogQueue) {
        while let Some(batch) = queue.take() {
            for (id, pending) in batch.pending {
                self.write(&id, pending);
            }
            for ask in batch.asks {
                self.answer(ask);
            }
        }
    }

    fn write(&mut self, id: &ServerId, pending: Pending) {
        if pending.forget {
            self.forget(id);
        }
        let earlier = self.lost.remove(id);
        let lines = with_remarks(&pending, earlier.as_ref());
        if let Err(error) = self.files.append(id, &lines) {
            self.warn(id, &error);
            let new = pending.lines.iter().filter(|byte| **byte == b'\n').count();
            let (earlier, since) = earlier.map_or((0, 0), |lost| (lost.lines, lost.timestamp));
            let lines = earlier.saturating_add(new as u64).saturating_add(pending.lost);
            let timestamp = since.max(pending.newest);
            self.lost.insert(id.clone(), Lost { lines, timestamp, why: error.to_string() });
        }
    }

    fn forget(&mut self, id: &ServerId) {
        self.lost.remove(id);
        if let Err(error) = self.files.remove(id) {
            self.warn(id, &error);
        }
    }

    fn answer(&mut self, ask: LogTailRequest) {
        if ask.answer.is_closed() {
            return;
        }
        // The reader shall know about missing lines, if there is room to say so by now.
        self.write(&ask.id, Pending::default());
        // Whoever asked may have left meanwhile.
        let _ = ask.answer.send(self.files.last(&ask.id, ask.limit));
    }

    fn warn(&mut self, id: &ServerId, error: &StoreError) {
        if self.warned.is_none_or(|at| at.elapsed() >= WARN_AGAIN) {
            self.warned = Some(Instant::now());
            tracing::warn!(server = %id, %error, "its log file cannot be written");
        }
    }
}

/// The lines, behind a remark on those that were lost before them and before one on those behind them.
fn with_remarks(pending: &Pending, earlier: Option<&Lost>) -> Vec<u8> {
    let mut lines = Vec::new();
    if let Some(earlier) = earlier {
        earlier.remark().put(&mut lines);
    }
    lines.extend_from_slice(&pending.lines);
    if pending.lost > 0 {
        let why = "the disk is too slow".into();
        Lost { lines: pending.lost, timestamp: pending.newest, why }.remark().put(&mut lines);
    }
    lines
}
