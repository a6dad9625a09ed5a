//! How a server is ended.
//!
//! ```text
//!  close stdin ─(eof grace)─► SIGTERM to its group ─(term grace)─► SIGKILL to its group ─► until it is reaped
//! ```
//!
//! Pure: time is an argument. An exit at any point ends the ladder; the reaper kills what is left of the group.

use std::time::{Duration, Instant};

/// The step that is due now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rung {
    /// SIGTERM to the group.
    Terminate,
    /// SIGKILL to the group.
    Kill,
}

/// The way down, begun when stdin was closed.
#[derive(Debug)]
pub struct Ladder {
    next: Option<(Instant, Rung)>,
    term_grace: Duration,
}

impl Ladder {
    /// Begins: the caller has just closed the server's stdin.
    pub fn begin(now: Instant, eof_grace: Duration, term_grace: Duration) -> Self {
        Self { next: Some((now + eof_grace, Rung::Terminate)), term_grace }
    }

    /// All rungs are behind: the caller has just killed the group.
    pub fn at_its_end() -> Self {
        Self { next: None, term_grace: Duration::ZERO }
    }

    /// The time at which [`due`](Self::due) has something to say.
    pub fn deadline(&self) -> Option<Instant> {
        self.next.map(|(at, _)| at)
    }

    /// The rung that is due at `now`, once.
    pub fn due(&mut self, now: Instant) -> Option<Rung> {
        let (at, rung) = self.next.filter(|(at, _)| *at <= now)?;
        self.next = match rung {
            Rung::Terminate => Some((at + self.term_grace, Rung::Kill)),
            Rung::Kill => None,
        };
        Some(rung)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rungs_come_in_order_and_once() {
        let start = Instant::now();
        let second = Duration::from_secs(1);
        let mut ladder = Ladder::begin(start, second, 2 * second);
        assert_eq!(ladder.due(start), None);
        assert_eq!(ladder.due(start + second), Some(Rung::Terminate));
        assert_eq!(ladder.due(start + second), None);
        assert_eq!(ladder.deadline(), Some(start + 3 * second));
        assert_eq!(ladder.due(start + 9 * second), Some(Rung::Kill));
        assert_eq!((ladder.due(start + 99 * second), ladder.deadline()), (None, None));
    }
}
