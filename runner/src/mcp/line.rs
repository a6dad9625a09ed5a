//! Cuts a server's stdout into lines, with a bound.
//!
//! ```text
//!  space() ─► read ─► filled(n) ─► pop() ─► Line(bytes) | Overlong(head) … OverlongEnd(tail) | None
//! ```
//!
//! A line over the bound is reported the moment it crosses it (so that the call it answers can fail at once),
//! then dropped up to its end. Owns the bytes of half a line. Must never interpret them.

use harbor_ipc_proto::frame::LEAD;

/// The smallest piece that is worth a read.
const READ_STEP: usize = 4 * 1024;

/// A buffer with more room than this is given back once it is empty.
const KEEP: usize = 256 * 1024;

/// The bytes of each end of an overlong line that are shown.
const ENDS: usize = 4096;

/// A piece of output that [`LineSplitter::pop`] found.
#[derive(Debug, PartialEq, Eq)]
pub enum Popped<'a> {
    /// A whole line, without its line end.
    Line(&'a [u8]),
    /// A line has just crossed the bound; these are its first bytes. `OverlongEnd` will follow.
    Overlong(&'a [u8]),
    /// The overlong line has ended; these are its last bytes.
    OverlongEnd(&'a [u8]),
}

/// Cuts bytes into lines of at most a given length.
#[derive(Debug)]
pub struct LineSplitter {
    buf: Vec<u8>,
    start: usize,
    end: usize,
    /// No newline is in `start..scanned`.
    scanned: usize,
    max: usize,
    dropping: bool,
}

impl LineSplitter {
    /// Lines longer than `max` bytes are overlong.
    pub fn new(max: usize) -> Self {
        Self { buf: Vec::new(), start: 0, end: 0, scanned: 0, max, dropping: false }
    }

    /// Room to read into.
    pub fn space(&mut self) -> &mut [u8] {
        self.compact();
        if self.buf.len() < self.end + READ_STEP {
            // Doubling keeps the cost of a long line linear; a line never needs more than its bound.
            let (room, filled) = (self.buf.len().saturating_sub(LEAD), self.end - LEAD);
            let wanted = (room * 2).min(self.max.max(READ_STEP) + 2 * READ_STEP).max(filled + READ_STEP);
            self.buf.resize(LEAD + wanted, 0);
        }
        &mut self.buf[self.end..]
    }

    /// Notes that `n` bytes were read into [`space`](Self::space), and returns them.
    pub fn filled(&mut self, n: usize) -> &[u8] {
        let before = self.end;
        self.end = (self.end + n).min(self.buf.len());
        &self.buf[before..self.end]
    }

    /// True if the bytes that come now are dropped, as the rest of an overlong line.
    pub fn is_dropping(&self) -> bool {
        self.dropping
    }

    /// The next line, if one is there.
    pub fn pop(&mut self) -> Option<Popped<'_>> {
        match memchr::memchr(b'\n', &self.buf[self.scanned..self.end]) {
            Some(found) => {
                let (line, newline) = (self.start, self.scanned + found);
                (self.start, self.scanned) = (newline + 1, newline + 1);
                Some(self.finished(line, newline))
            }
            None => {
                self.scanned = self.end;
                self.unfinished()
            }
        }
    }

    /// The bytes behind the last newline, once nothing more will come.
    pub fn finish(&mut self) -> Option<Popped<'_>> {
        let (line, end) = (self.start, self.end);
        (self.start, self.scanned) = (end, end);
        (line < end || self.dropping).then(|| self.finished(line, end))
    }

    fn finished(&mut self, line: usize, end: usize) -> Popped<'_> {
        if std::mem::take(&mut self.dropping) {
            return Popped::OverlongEnd(&self.buf[line.max(end.saturating_sub(ENDS))..end]);
        }
        if end - line > self.max {
            // It crossed the bound and ended within one read: its end is left in place, to be reported next.
            self.dropping = true;
            self.start = line.max(end.saturating_sub(ENDS));
            self.scanned = end;
            return Popped::Overlong(&self.buf[line..line + ENDS.min(end - line)]);
        }
        let carriage_return = end > line && self.buf[end - 1] == b'\r';
        Popped::Line(&self.buf[line..end - usize::from(carriage_return)])
    }

    fn unfinished(&mut self) -> Option<Popped<'_>> {
        let length = self.end - self.start;
        if self.dropping {
            // Only the tail may still matter.
            self.start = self.end - length.min(ENDS);
            return None;
        }
        if length <= self.max {
            return None;
        }
        self.dropping = true;
        let line = self.start;
        self.start = self.end - ENDS.min(length);
        Some(Popped::Overlong(&self.buf[line..line + ENDS.min(length)]))
    }

    fn compact(&mut self) {
        if self.start == self.end {
            if self.buf.len() > LEAD + KEEP {
                self.buf = Vec::new();
            }
            (self.start, self.end, self.scanned) = (LEAD, LEAD, LEAD);
        } else if self.start > LEAD && self.buf.len() < self.end + READ_STEP {
            self.buf.copy_within(self.start..self.end, LEAD);
            let back = self.start - LEAD;
            (self.start, self.end, self.scanned) = (LEAD, self.end - back, self.scanned - back);
            if self.dropping && self.buf.len() > LEAD + KEEP {
                self.buf.truncate(LEAD + KEEP);
                self.buf.shrink_to_fit();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[derive(Debug, PartialEq, Clone)]
    enum Got {
        Line(Vec<u8>),
        Overlong,
        End,
    }

    fn feed(splitter: &mut LineSplitter, mut bytes: &[u8], into: &mut Vec<Got>) {
        while !bytes.is_empty() {
            let space = splitter.space();
            let n = space.len().min(bytes.len());
            space[..n].copy_from_slice(&bytes[..n]);
            splitter.filled(n);
            bytes = &bytes[n..];
            while let Some(popped) = splitter.pop() {
                into.push(own(&popped));
            }
        }
    }

    fn own(popped: &Popped<'_>) -> Got {
        match popped {
            Popped::Line(line) => Got::Line(line.to_vec()),
            Popped::Overlong(_) => Got::Overlong,
            Popped::OverlongEnd(_) => Got::End,
        }
    }

    proptest! {
        #[test]
        fn lines_come_out_as_they_went_in_however_the_stream_is_cut(
            lines in prop::collection::vec("[a-z]{0,30}", 0..20),
            cuts in prop::collection::vec(1usize..40, 1..20),
        ) {
            let stream: Vec<u8> = lines.iter().flat_map(|l| [l.as_bytes(), b"\n"].concat()).collect();
            let mut splitter = LineSplitter::new(20);
            let mut got = Vec::new();
            let mut at = 0;
            for cut in cuts.iter().cycle() {
                if at >= stream.len() { break; }
                let next = (at + cut).min(stream.len());
                feed(&mut splitter, &stream[at..next], &mut got);
                at = next;
            }
            let short: Vec<_> = lines.iter().filter(|l| l.len() <= 20).map(|l| Got::Line(l.clone().into_bytes())).collect();
            let long = lines.len() - short.len();
            prop_assert_eq!(got.iter().filter(|g| **g == Got::Overlong).count(), long);
            prop_assert_eq!(got.iter().filter(|g| **g == Got::End).count(), long);
            got.retain(|g| matches!(g, Got::Line(_)));
            prop_assert_eq!(got, short);
            prop_assert_eq!(splitter.finish(), None);
        }
    }

    #[test]
    fn a_last_line_without_newline_is_given_at_the_end() {
        let mut splitter = LineSplitter::new(100);
        let mut got = Vec::new();
        feed(&mut splitter, b"one\r\ntwo", &mut got);
        assert_eq!(got, [Got::Line(b"one".to_vec())]);
        assert_eq!(splitter.finish(), Some(Popped::Line(b"two")));
    }

    #[test]
    fn an_overlong_line_shows_both_ends_and_keeps_no_memory() {
        let mut splitter = LineSplitter::new(1024 * 1024);
        let mut got = Vec::new();
        feed(&mut splitter, &vec![b'x'; 8 * 1024 * 1024], &mut got);
        assert_eq!(got, [Got::Overlong]);
        let space = splitter.space();
        space[..7].copy_from_slice(b"\"id\":7}");
        splitter.filled(7);
        splitter.space()[0] = b'\n';
        splitter.filled(1);
        assert!(matches!(splitter.pop(), Some(Popped::OverlongEnd(tail)) if tail.ends_with(b"\"id\":7}")));
        assert!(splitter.buf.len() <= LEAD + KEEP + READ_STEP);
    }

    #[test]
    fn what_is_read_begins_behind_the_lead_however_long_the_last_line_was() {
        let mut splitter = LineSplitter::new(1024 * 1024);
        for length in [0, 1, READ_STEP, 10 * READ_STEP, 2 * KEEP] {
            let mut line = vec![b'x'; length];
            line.push(b'\n');
            feed(&mut splitter, &line.repeat(2), &mut Vec::new());
            splitter.space();
            assert_eq!((splitter.start, splitter.end, splitter.scanned), (LEAD, LEAD, LEAD));
            assert!(splitter.buf.len() <= LEAD + KEEP);
        }
    }
}
