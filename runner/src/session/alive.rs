//! Signs of life of a server, as far as its runner sees them: what the bridge is told when it probes.
//!
//! Owns the last moment of output, the one ping that may be open, and the count of answers that came too late. Must
//! never judge: what silence means is the bridge's to decide.

use std::cell::Cell;
use std::time::{Duration, Instant};

use harbor_ipc_proto::link::runner::{Era, FromRunner, Operation};

use super::Session;
use super::calls::{Open, request_for};
use super::process::millis;

/// A server that was silent for so long is pinged when the bridge asks.
const SILENCE: Duration = Duration::from_secs(1);

/// Late answers are told together, so long after the first.
const LATE_PAUSE: Duration = Duration::from_millis(100);

/// What is known.
#[derive(Debug)]
pub(super) struct Alive {
    heard: Cell<Instant>,
    /// When the ping was sent that nothing has followed yet.
    pinged: Cell<Option<Instant>>,
    late: Cell<u64>,
    late_due: Cell<Option<Instant>>,
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

    /// When the bridge is to be told of late answers.
    pub(super) fn late_due(&self) -> Option<Instant> {
        self.late_due.get()
    }
}

impl Session {
    /// When the bridge is to be told of something that waits.
    pub(super) fn next_telling(&self) -> Option<Instant> {
        [self.alive.late_due(), self.news.borrow().due()].into_iter().flatten().min()
    }

    /// Tells the bridge what is due by now.
    pub(super) fn tell_due(&self, now: Instant) {
        if self.alive.late_due().is_some_and(|due| due <= now) {
            self.tell_late();
        }
        self.tell_news(now);
    }

    /// The bridge asks for a sign of life.
    pub fn probe(&self, ping: bool) {
        let Some(era) = self.era() else { return };
        let now = Instant::now();
        let since = |then: Instant| millis(now.saturating_duration_since(then));
        self.up.send(&FromRunner::Probed {
            server: self.number,
            quiet_ms: since(self.alive.heard.get()),
            unanswered_ms: self.alive.pinged.get().map(since),
        });
        let silent = now.saturating_duration_since(self.alive.heard.get()) >= SILENCE;
        if (ping || silent) && self.alive.pinged.get().is_none() {
            self.alive.pinged.set(Some(now));
            self.ping(era);
        }
    }

    /// At most one ping is open: one that was never answered makes room for the next.
    fn ping(&self, era: Era) {
        let mut open = self.open.borrow_mut();
        if let Some(before) = open.find(|open| matches!(open, Open::Ping)) {
            open.close(before);
        }
        drop(open);
        self.send(Open::Ping, &request_for(&Operation::Ping, era), false);
    }

    /// Counts an answer whose request has ended.
    pub(super) fn count_late(&self) {
        self.alive.late.set(self.alive.late.get() + 1);
        if self.alive.late_due.get().is_none() {
            self.alive.late_due.set(Some(Instant::now() + LATE_PAUSE));
        }
    }

    /// Tells the bridge of late answers, if there are new ones.
    pub(super) fn tell_late(&self) {
        if self.alive.late_due.take().is_some() {
            self.up.send(&FromRunner::Late { server: self.number, count: self.alive.late.get() });
        }
    }
}
