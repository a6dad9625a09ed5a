//! Signs of life of a server, as far as its runner sees them: what the bridge is told when it probes.
//!
//! Owns the last moment of output, the one ping that may be open, and the count of answers that came too late. Must never
//! judge what silence means: that is for the bridge to decide.

use std::time::{Duration, Instant};

use harbor_ipc_proto::link::runner::{Era, FromRunner, Operation};

use super::Session;
use super::calls::request_for;
use super::deadlines::millis;
use super::open::Open;

/// A server that was silent for this long is pinged when the bridge asks.
const SILENCE: Duration = Duration::from_secs(1);

/// Bytes of an unfinished line are a sign of life for this long. The largest line that is read takes far less.
const LONGEST_LINE: Duration = Duration::from_secs(30);

/// The pause after the first late answer, until all late ones are reported together.
const LATE_PAUSE: Duration = Duration::from_millis(100);

/// Decides which output is a sign of life: ends of lines, and bytes of a line that may still be a message. A
/// line without an end shows only that the process is there.
#[derive(Debug)]
pub(super) struct Signs {
    /// The bytes that end a line.
    ends: [u8; 2],
    /// The time of the first bytes of the unfinished line.
    since: Option<Instant>,
}

impl Signs {
    /// Finds signs of life in output whose lines end with one of these bytes.
    pub(super) fn of(ends: [u8; 2]) -> Self {
        Self { ends, since: None }
    }

    /// True if these bytes are a sign of life. Bytes of a line that is dropped are none.
    pub(super) fn has(&mut self, bytes: &[u8], is_dropped: bool, now: Instant) -> bool {
        if memchr::memchr2(self.ends[0], self.ends[1], bytes).is_some() {
            self.since = None;
            return true;
        }
        let since = *self.since.get_or_insert(now);
        !is_dropped && now.saturating_duration_since(since) < LONGEST_LINE
    }
}

impl Session {
    /// The time at which something is due: a report to the bridge, or a request that is sent again.
    pub(super) fn next_due(&self) -> Option<Instant> {
        [self.alive.late_due(), self.news.borrow().due(), self.next_again(), self.next_look()]
            .into_iter()
            .flatten()
            .min()
    }

    /// Does what is due by now.
    pub(super) fn do_due(&self, now: Instant) {
        self.send_put_off(now);
        self.look_at_tasks(now);
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

    /// Pings the server. At most one ping is open: an unanswered one makes room for the next.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_without_an_end_is_a_sign_of_life_for_a_while_only() {
        let (mut signs, begun) = (Signs::of(*b"\n\n"), Instant::now());
        let at = |seconds| begun + Duration::from_secs(seconds);
        assert!(signs.has(b"x", false, at(0)) && signs.has(b"x", false, at(29)));
        assert!(!signs.has(b"x", false, at(30)) && !signs.has(b"\r", false, at(31)));
        assert!(signs.has(b"x\ny", false, at(32)), "a line has ended");
        assert!(signs.has(b"x", false, at(61)), "the next one has begun");
        assert!(!signs.has(b"x", true, at(62)), "nobody reads it");
        assert!(Signs::of(*b"\n\r").has(b"50 %\r", true, at(0)), "how far it is, in one line");
    }
}
