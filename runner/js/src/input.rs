//! The lines on standard input.
//!
//! ```text
//!  bytes, as they come ─► Lines ─► line | too long | no UTF-8
//! ```
//!
//! Owns cutting them. Must never keep more than [`MAX_LINE`] of a line, nor read while nobody waits for a line.

use std::io::{self, Read};
use std::mem::take;

/// The longest line, in bytes, in both directions.
pub(crate) const MAX_LINE: usize = 16 * 1024 * 1024;

/// The bytes of one read.
const CHUNK: usize = 16 * 1024;

/// A line, or why it is none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Line {
    /// Its text.
    Text(String),
    /// It is longer than [`MAX_LINE`] and was skipped.
    TooLong,
    /// It is not UTF-8.
    NotText,
}

/// The lines of a stream of bytes.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    bytes: Vec<u8>,
    /// How many of `bytes` have been looked at for an end.
    looked: usize,
    skips: bool,
    ended: bool,
}

impl Lines {
    /// Takes what a source has now. It is asked once.
    ///
    /// # Errors
    /// Its own, but an interruption is none.
    pub(crate) fn fill(&mut self, source: &mut impl Read) -> io::Result<()> {
        let before = self.bytes.len();
        self.bytes.resize(before + CHUNK, 0);
        let read = source.read(&mut self.bytes[before..]);
        self.bytes.truncate(before + read.as_ref().copied().unwrap_or_default());
        match read {
            Ok(count) => self.ended = count == 0,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// The next whole line, if there is one. What stands behind the last line end is no line.
    pub(crate) fn next(&mut self) -> Option<Line> {
        loop {
            let end = self.bytes[self.looked..].iter().position(|byte| *byte == b'\n');
            let Some(end) = end.map(|at| self.looked + at) else {
                self.hold();
                return None;
            };
            let rest = self.bytes.split_off(end + 1);
            let mut line = std::mem::replace(&mut self.bytes, rest);
            self.looked = 0;
            if take(&mut self.skips) {
                continue;
            }
            line.truncate(end);
            if line.last() == Some(&b'\r') {
                line.pop();
            }
            return Some(match line.len() {
                too_long if too_long > MAX_LINE => Line::TooLong,
                _ => String::from_utf8(line).map_or(Line::NotText, Line::Text),
            });
        }
    }

    /// True if nothing comes any more.
    pub(crate) fn has_ended(&self) -> bool {
        self.ended
    }

    /// Looks at the beginning of a line. One that is too long already is told once, and its rest is skipped.
    fn hold(&mut self) {
        self.looked = self.bytes.len();
        if self.skips {
            self.bytes.clear();
            self.looked = 0;
        }
    }

    /// True if the line that is being read has become too long. Its rest is skipped from then on.
    pub(crate) fn skips_from_now(&mut self) -> bool {
        let begins = !self.skips && self.bytes.len() > MAX_LINE;
        if begins {
            self.bytes = Vec::new();
            (self.looked, self.skips) = (0, true);
        }
        begins
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn all(lines: &mut Lines) -> Vec<Line> {
        std::iter::from_fn(|| lines.next()).collect()
    }

    proptest! {
        /// However the bytes are cut, the lines are the same.
        #[test]
        fn a_cut_changes_nothing(texts in prop::collection::vec("[^\n\r]{0,9}", 0..9), size in 1usize..20) {
            let whole: String = texts.iter().map(|text| format!("{text}\n")).collect();
            let (mut lines, mut found) = (Lines::default(), Vec::new());
            for mut piece in whole.as_bytes().chunks(size) {
                lines.fill(&mut piece).unwrap();
                found.extend(all(&mut lines));
            }
            prop_assert_eq!(found, texts.into_iter().map(Line::Text).collect::<Vec<_>>());
        }
    }

    #[test]
    fn a_line_that_is_none_does_not_harm_the_next() {
        let mut lines = Lines::default();
        lines.fill(&mut &b"a\r\n\xff\xfe\nb\nrest"[..]).unwrap();
        assert_eq!(all(&mut lines), [Line::Text("a".into()), Line::NotText, Line::Text("b".into())]);
        lines.fill(&mut &b""[..]).unwrap();
        assert!(lines.has_ended() && lines.next().is_none(), "a part of a line is no message");
    }

    #[test]
    fn a_line_that_is_too_long_is_told_once_and_not_kept() {
        let mut lines = Lines::default();
        let piece = vec![b'x'; CHUNK];
        let mut told = 0;
        for _ in 0..2 * MAX_LINE / CHUNK {
            lines.fill(&mut &piece[..]).unwrap();
            assert_eq!(lines.next(), None);
            told += usize::from(lines.skips_from_now());
            assert!(lines.bytes.len() <= MAX_LINE + CHUNK);
        }
        lines.fill(&mut &b"x\nnext\n"[..]).unwrap();
        assert_eq!((told, all(&mut lines)), (1, vec![Line::Text("next".into())]));
    }
}
