//! How many refusals are written: each host once a minute, twenty of them, and the number of the others.
//!
//! Owns the count. A minute begins with the first refusal. The caller that is told of its beginning must tell its end.

use std::fmt;

/// Lines a minute at most.
const MAX_LINES: usize = 20;

/// The steps after a refusal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Noted {
    /// Write it.
    pub(crate) write: bool,
    /// Call [`Minute::on_over`] in a minute.
    pub(crate) begins: bool,
}

/// The refusals of a minute.
#[derive(Debug, Default)]
pub(crate) struct Minute {
    written: Vec<String>,
    more: u64,
}

/// The refusals that were not written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct More(u64);

impl Minute {
    pub(crate) fn on_refused(&mut self, line: &str) -> Noted {
        let begins = self.written.is_empty();
        let write = self.written.len() < MAX_LINES && !self.written.iter().any(|written| written == line);
        if write {
            self.written.push(line.to_owned());
        } else {
            self.more = self.more.saturating_add(1);
        }
        Noted { write, begins }
    }

    /// The minute is over.
    pub(crate) fn on_over(&mut self) -> Option<More> {
        let Self { more, .. } = std::mem::take(self);
        (more > 0).then_some(More(more))
    }
}

impl fmt::Display for More {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "refused {} more connections in the last minute", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_minute_has_each_host_once_and_twenty_lines() {
        let mut minute = Minute::default();
        assert_eq!(minute.on_over(), None);
        assert_eq!(minute.on_refused("a"), Noted { write: true, begins: true });
        assert_eq!(minute.on_refused("a"), Noted { write: false, begins: false });
        for host in 1..MAX_LINES {
            assert_eq!(minute.on_refused(&host.to_string()), Noted { write: true, begins: false });
        }
        assert_eq!(minute.on_refused("b"), Noted { write: false, begins: false });
        assert_eq!(minute.on_over(), Some(More(2)));
        assert_eq!(minute.on_refused("b"), Noted { write: true, begins: true });
        assert_eq!(minute.on_over(), None);
        assert_eq!(More(2).to_string(), "refused 2 more connections in the last minute");
    }
}
