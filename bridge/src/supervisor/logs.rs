//! The last log lines of a server, in memory. Those from before this bridge are on disk, in `store::server_logs`.
//!
//! Owns the bound in lines and bytes. The oldest lines go first.

use std::collections::VecDeque;

use harbor_ipc_proto::link::runner::LogSource;

pub use crate::store::server_logs::{ServerLogRecord as Line, Source};

/// Lines and bytes that are kept per server.
pub const MAX_LINES: usize = 1000;
const MAX_BYTES: usize = 256 * 1024;

/// The origin of a line, from its runner's word for it.
pub(super) fn source(source: LogSource) -> Source {
    match source {
        LogSource::Stderr => Source::Stderr,
        LogSource::Stdout => Source::Stdout,
        LogSource::Mcp => Source::Mcp,
        LogSource::Runner => Source::Harbor,
    }
}

/// The newest lines.
#[derive(Debug, Default)]
pub(super) struct Ring {
    lines: VecDeque<Line>,
    bytes: usize,
    added: u64,
}

impl Ring {
    pub(super) fn add(&mut self, line: Line) {
        self.bytes += line.text.len();
        self.lines.push_back(line);
        self.added += 1;
        while self.lines.len() > MAX_LINES || self.bytes > MAX_BYTES {
            let Some(oldest) = self.lines.pop_front() else { return };
            self.bytes -= oldest.text.len();
        }
    }

    /// How many lines there have been.
    pub(super) fn added(&self) -> u64 {
        self.added
    }

    /// True if every line since the log's beginning is still here.
    pub(super) fn is_whole(&self) -> bool {
        self.added == self.lines.len() as u64
    }

    /// The newest lines, at most `limit`, oldest first.
    pub(super) fn last(&self, limit: usize) -> Vec<Line> {
        let skip = self.lines.len().saturating_sub(limit);
        self.lines.iter().skip(skip).cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ring_keeps_the_newest_within_its_bounds() {
        let mut ring = Ring::default();
        let line = |timestamp, text: String| Line { timestamp, source: Source::Stderr, level: None, text };
        (0..1500).for_each(|n| ring.add(line(n, "x".into())));
        assert_eq!((ring.lines.len(), ring.last(1)[0].timestamp), (MAX_LINES, 1499));
        (0..100).for_each(|n| ring.add(line(n, "x".repeat(8192))));
        assert!(ring.bytes <= MAX_BYTES);
        assert_eq!(ring.last(2).iter().map(|line| line.timestamp).collect::<Vec<_>>(), [98, 99]);
    }
}
