//! A server's log lines on their way up, and the first and the last of them for the record.
//!
//! Owns the bounds: length of a line, lines per second, size of the tail. A server that floods its stderr costs nobody else
//! anything: lines over the bound are counted, not sent.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// The most bytes of a line. A longer one is cut.
pub const MAX_LINE: usize = 8 * 1024;

/// Lines per second that are passed on.
const BUDGET: u32 = 500;

/// Lines and bytes of the beginning: what is wrong often stands first, and what follows is where in the program that was.
const HEAD_LINES: usize = 5;
const HEAD_BYTES: usize = 1024;

/// The mark in place of lines that are left out.
const LEFT_OUT: &str = "…";

/// Bytes that are kept of a longer line, from its beginning: the error may stand there.
const KEPT_LINE: usize = 1024;

/// Lines and bytes of the tail.
const TAIL_LINES: usize = 20;
const TAIL_BYTES: usize = 4 * 1024;

/// Tells if a line may go up.
#[derive(Debug, PartialEq, Eq)]
pub enum Pass {
    /// Yes.
    Yes,
    /// The line passes, and this many were dropped before it.
    YesAfter(u64),
    /// The line does not pass; it is counted.
    No,
}

/// Lines per second.
#[derive(Debug)]
pub struct Budget {
    window: Instant,
    used: u32,
    dropped: u64,
}

impl Budget {
    /// A full budget.
    pub fn new(now: Instant) -> Self {
        Self { window: now, used: 0, dropped: 0 }
    }

    /// Asks for one line.
    pub fn take(&mut self, now: Instant) -> Pass {
        if now.duration_since(self.window) >= Duration::from_secs(1) {
            (self.window, self.used) = (now, 0);
        }
        if self.used >= BUDGET {
            self.dropped += 1;
            return Pass::No;
        }
        self.used += 1;
        match std::mem::take(&mut self.dropped) {
            0 => Pass::Yes,
            dropped => Pass::YesAfter(dropped),
        }
    }
}

/// The first and the last lines of stderr.
#[derive(Debug, Default)]
pub struct Tail {
    head: Vec<String>,
    lines: VecDeque<String>,
    bytes: usize,
    /// True if there were lines between them.
    left_out: bool,
}

impl Tail {
    /// Adds a line.
    pub fn add(&mut self, line: &str) {
        let line = match line.len() > KEPT_LINE {
            true => format!("{}{LEFT_OUT}", &line[..line.floor_char_boundary(KEPT_LINE)]),
            false => line.to_owned(),
        };
        let in_head: usize = self.head.iter().map(String::len).sum();
        let is_first = self.lines.is_empty() && !self.left_out && self.head.len() < HEAD_LINES;
        if is_first && in_head + line.len() <= HEAD_BYTES {
            self.head.push(line);
            return;
        }
        self.bytes += line.len();
        self.lines.push_back(line);
        while self.lines.len() > TAIL_LINES || (self.bytes > TAIL_BYTES && self.lines.len() > 1) {
            self.bytes -= self.lines.pop_front().map_or(0, |line| line.len());
            self.left_out = true;
        }
    }

    /// The whole tail, a line each.
    pub fn text(&self) -> String {
        let between = self.left_out.then_some(LEFT_OUT);
        let head = self.head.iter().map(String::as_str).chain(between);
        head.chain(self.lines.iter().map(String::as_str)).collect::<Vec<_>>().join("\n")
    }
}

/// A line's bytes as text of bounded length.
pub fn readable(line: &[u8], cut: bool) -> String {
    let shown = &line[..line.len().min(MAX_LINE)];
    let mut text = String::from_utf8_lossy(shown).into_owned();
    if cut || shown.len() < line.len() {
        text.push_str(" … (cut)");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_budget_counts_what_it_drops_and_fills_again() {
        let start = Instant::now();
        let mut budget = Budget::new(start);
        assert!((0..BUDGET).all(|_| budget.take(start) == Pass::Yes));
        assert_eq!(budget.take(start), Pass::No);
        assert_eq!(budget.take(start), Pass::No);
        let later = start + Duration::from_secs(1);
        assert_eq!(budget.take(later), Pass::YesAfter(2));
        assert_eq!(budget.take(later), Pass::Yes);
    }

    #[test]
    fn the_tail_keeps_the_first_and_the_newest_within_its_bounds() {
        let mut tail = Tail::default();
        (0..6).for_each(|n| tail.add(&n.to_string()));
        assert_eq!(tail.text(), "0\n1\n2\n3\n4\n5");
        (6..100).for_each(|n| tail.add(&n.to_string()));
        assert!(tail.text().starts_with("0\n1\n2\n3\n4\n…\n80\n") && tail.text().ends_with("\n99"));
        (0..10).for_each(|_| tail.add(&format!("a{}", "ä".repeat(2000))));
        assert_eq!(tail.lines.len(), 3);
        assert!(tail.text().ends_with("ä…"));
    }
}
