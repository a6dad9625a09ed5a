//! The part of the traces that the sending task shares: what waits, and what was counted.
//!
//! Must never send.

use std::cell::{Cell, RefCell};

use tokio::sync::Notify;

use super::encode::TraceResource;
use super::queue::TraceQueue;
use crate::config::TracesEnvironment;

/// How many spans collectors took, and how many were dropped.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SpanCounts {
    /// A collector has them.
    pub sent: u64,
    /// Spans without room in the queue or without a collector that took them.
    pub dropped: u64,
}

/// The part that the task shares.
#[derive(Debug)]
pub(super) struct TracesState {
    pub(super) environment: TracesEnvironment,
    pub(super) resource: TraceResource,
    pub(super) origins: Cell<bool>,
    pub(super) queue: RefCell<TraceQueue>,
    /// Wakes the sender: there are spans to send, or the bridge ends.
    pub(super) woken: Notify,
    pub(super) is_ending: Cell<bool>,
    pub(super) counts: Cell<SpanCounts>,
}

impl TracesState {
    pub(super) fn count_dropped(&self, spans: usize) {
        let counts = self.counts.get();
        self.counts.set(SpanCounts { dropped: counts.dropped.saturating_add(spans as u64), ..counts });
    }

    pub(super) fn count_sent(&self, spans: usize) {
        let counts = self.counts.get();
        self.counts.set(SpanCounts { sent: counts.sent.saturating_add(spans as u64), ..counts });
    }

    /// Drops and counts all spans, since no collector wants them any more.
    pub(super) fn forget(&self) {
        let queue = self.queue.take();
        self.count_dropped(queue.spans());
    }
}
