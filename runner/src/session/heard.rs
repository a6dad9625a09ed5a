//! When a server was heard and pinged last, and its late answers.
//!
//! Must never judge what silence means.

use std::cell::Cell;
use std::time::Instant;

/// The times when the server was last heard and pinged, and its late answers.
#[derive(Debug)]
pub(super) struct Alive {
    pub(super) heard: Cell<Instant>,
    /// The time of the ping that nothing has followed yet.
    pub(super) pinged: Cell<Option<Instant>>,
    pub(super) late: Cell<u64>,
    pub(super) late_due: Cell<Option<Instant>>,
}

impl Alive {
    pub(super) fn new(now: Instant) -> Self {
        Self {
            heard: Cell::new(now),
            pinged: Cell::default(),
            late: Cell::default(),
            late_due: Cell::default(),
        }
    }

    /// Output came, of whatever kind.
    pub(super) fn heard(&self, now: Instant) {
        self.heard.set(now);
        self.pinged.set(None);
    }

    /// The time at which the bridge must hear of late answers.
    pub(super) fn late_due(&self) -> Option<Instant> {
        self.late_due.get()
    }
}
