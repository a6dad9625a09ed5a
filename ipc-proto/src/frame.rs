//! Length-prefixed frames: u32 little-endian length, then that many bytes.
//!
//! ```text
//!  space() ─► the caller reads into it ─► filled(n) ─► pop() ─► Frame(bytes) | Oversize(length) | None
//! ```
//!
//! Owns the bytes of half a frame. Must never do I/O: the caller reads, and the decoder only says which frames are whole.
//! An oversize frame is skipped by its length, so the connection survives it.

use std::ops::Range;

/// Size of the length prefix in bytes.
pub const HEADER: usize = 4;

/// The largest frame that the bridge takes from a client, in bytes (64 MiB, the browsers' own limit).
pub const MAX_CLIENT_FRAME: usize = 64 * 1024 * 1024;

/// The largest frame that browsers accept from a native host, in bytes (1 MiB).
pub const NATIVE_MESSAGING_LIMIT: usize = 1024 * 1024;

/// The smallest piece that is worth a read.
const READ_STEP: usize = 4 * 1024;

/// A buffer with more room than this is given back once it is empty.
const KEEP: usize = 256 * 1024;

/// The offset in an empty buffer at which a read begins. malloc's large blocks begin 16 bytes into a page, and pipes hold
/// whole pages. On AMD's processors with "fast short rep movsb", copying from the start of a page to 1–63 bytes after the
/// start of another takes five times as long.
pub const LEAD: usize = 48;

/// The result of [`FrameDecoder::pop`].
#[derive(Debug, PartialEq, Eq)]
pub enum Popped<'a> {
    /// One whole frame, without its length prefix.
    Frame(&'a [u8]),
    /// A frame of this many bytes was announced; its bytes are being skipped.
    Oversize(u32),
}

/// A frame that was taken out of its stream together with the memory that it came in.
#[derive(Debug)]
pub struct OwnedFrame {
    buf: Vec<u8>,
    body: Range<usize>,
}

impl OwnedFrame {
    /// The frame, without its length prefix.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        self.buf.get(self.body.clone()).unwrap_or_default()
    }

    /// The text at `place` within the frame, in the frame's own memory, without a second copy. `None` if the place is
    /// outside the frame.
    #[must_use]
    pub fn into_text(self, place: &Range<usize>) -> Option<String> {
        let Self { mut buf, body } = self;
        let (start, end) = (body.start.checked_add(place.start)?, body.start.checked_add(place.end)?);
        if start > end || end > body.end || end > buf.len() {
            return None;
        }
        buf.truncate(end);
        buf.drain(..start);
        String::from_utf8(buf).ok()
    }

    /// The place within the frame of `text`, which was read from the frame without a copy.
    #[must_use]
    pub fn place_of(&self, text: &str) -> Option<Range<usize>> {
        let start = text.as_ptr().addr().checked_sub(self.bytes().as_ptr().addr())?;
        let place = start..start.checked_add(text.len())?;
        (place.end <= self.body.len()).then_some(place)
    }
}

/// Cuts a byte stream into frames.
#[derive(Debug)]
pub struct FrameDecoder {
    buf: Vec<u8>,
    start: usize,
    end: usize,
    skip: usize,
    max: usize,
}

impl FrameDecoder {
    /// A decoder that refuses frames longer than `max` bytes.
    #[must_use]
    pub fn new(max: usize) -> Self {
        Self { buf: Vec::new(), start: 0, end: 0, skip: 0, max }
    }

    /// The same decoder and its bytes, for frames of at most `max` bytes.
    #[must_use]
    pub fn with_max(self, max: usize) -> Self {
        Self { max, ..self }
    }

    /// Room to read into: at least a few KiB, or what the frame in progress still lacks.
    pub fn space(&mut self) -> &mut [u8] {
        self.compact();
        let wanted = self.wanted();
        if self.buf.len() < self.end + wanted {
            self.buf.resize(self.end + wanted, 0);
        }
        &mut self.buf[self.end..]
    }

    /// Says that `n` bytes were read into [`space`](Self::space).
    pub fn filled(&mut self, n: usize) {
        self.end = (self.end + n).min(self.buf.len());
        self.skip_some();
    }

    /// Copies `bytes` in; for callers that already hold them.
    pub fn push(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let space = self.space();
            let n = space.len().min(bytes.len());
            space[..n].copy_from_slice(&bytes[..n]);
            self.filled(n);
            bytes = &bytes[n..];
        }
    }

    /// The next whole frame, if one is there.
    pub fn pop(&mut self) -> Option<Popped<'_>> {
        if self.skip > 0 {
            return None;
        }
        let length = self.announced()?;
        if length > self.max {
            self.start += HEADER;
            self.skip = length;
            self.skip_some();
            return Some(Popped::Oversize(u32::try_from(length).unwrap_or(u32::MAX)));
        }
        if self.end - self.start < HEADER + length {
            return None;
        }
        let body = self.start + HEADER;
        self.start = body + length;
        Some(Popped::Frame(&self.buf[body..body + length]))
    }

    /// The next frame, if it is whole and longer than `bound` bytes, with its memory: another reader gets it without a copy.
    pub fn take_longer_than(&mut self, bound: usize) -> Option<OwnedFrame> {
        let length = self.announced().filter(|length| *length > bound && *length <= self.max)?;
        let body = self.start + HEADER..self.start + HEADER + length;
        if self.skip > 0 || self.end < body.end {
            return None;
        }
        let rest = self.buf[body.end..self.end].to_vec();
        (self.start, self.end) = (0, rest.len());
        Some(OwnedFrame { buf: std::mem::replace(&mut self.buf, rest), body })
    }

    /// How many bytes the frame in progress still lacks; 0 if that is not known yet, or the frame is oversize.
    #[must_use]
    pub fn lacking(&self) -> usize {
        match self.announced() {
            Some(length) if length <= self.max => (HEADER + length).saturating_sub(self.end - self.start),
            _ => 0,
        }
    }

    /// How many bytes of unfinished frames the decoder holds.
    #[must_use]
    pub fn held(&self) -> usize {
        self.end - self.start
    }

    /// True if the stream stopped inside a frame.
    #[must_use]
    pub fn is_torn(&self) -> bool {
        self.skip > 0 || self.start != self.end
    }

    fn announced(&self) -> Option<usize> {
        let header: [u8; HEADER] = self.buf.get(self.start..self.end)?.get(..HEADER)?.try_into().ok()?;
        usize::try_from(u32::from_le_bytes(header)).ok()
    }

    /// The room for the next read, in bytes. A length may lie, so memory follows the bytes that have come, not the
    /// announced length. Room is filled with zeros, which would take milliseconds for a whole long frame at once.
    fn wanted(&self) -> usize {
        self.lacking().clamp(READ_STEP, KEEP)
    }

    fn skip_some(&mut self) {
        let n = self.skip.min(self.end - self.start);
        self.skip -= n;
        self.start += n;
    }

    fn compact(&mut self) {
        if self.start == self.end {
            if self.buf.len() > LEAD + KEEP {
                self.buf = Vec::new();
            }
            (self.start, self.end) = (LEAD, LEAD);
        } else if self.start > LEAD && self.buf.len() < self.end + self.wanted() {
            self.buf.copy_within(self.start..self.end, LEAD);
            (self.start, self.end) = (LEAD, LEAD + self.end - self.start);
        }
    }
}

/// Appends one frame to `out`, its body written by `body`; returns the body's length in bytes.
pub fn put_frame(out: &mut Vec<u8>, body: impl FnOnce(&mut Vec<u8>)) -> usize {
    let start = out.len();
    out.extend_from_slice(&[0; HEADER]);
    body(out);
    let length = out.len() - start - HEADER;
    let prefix = u32::try_from(length).unwrap_or(u32::MAX);
    out[start..start + HEADER].copy_from_slice(&prefix.to_le_bytes());
    length
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn framed(bodies: &[Vec<u8>]) -> Vec<u8> {
        let mut out = Vec::new();
        for body in bodies {
            put_frame(&mut out, |out| out.extend_from_slice(body));
        }
        out
    }

    /// Takes all that is whole; frames of more than 20 bytes as a whole.
    fn drain(decoder: &mut FrameDecoder, into: &mut Vec<Result<Vec<u8>, u32>>) {
        loop {
            if let Some(frame) = decoder.take_longer_than(20) {
                into.push(Ok(frame.bytes().to_vec()));
                continue;
            }
            into.push(match decoder.pop() {
                Some(Popped::Frame(bytes)) => {
                    assert!(bytes.len() <= 20);
                    Ok(bytes.to_vec())
                }
                Some(Popped::Oversize(length)) => Err(length),
                None => return,
            });
        }
    }

    proptest! {
        #[test]
        fn frames_come_out_as_they_went_in_however_the_stream_is_cut(
            bodies in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..64), 0..20),
            cuts in prop::collection::vec(1usize..40, 1..50),
        ) {
            let stream = framed(&bodies);
            let mut decoder = FrameDecoder::new(40);
            let mut got = Vec::new();
            let mut at = 0;
            for cut in cuts.iter().cycle() {
                if at >= stream.len() { break; }
                let next = (at + cut).min(stream.len());
                decoder.push(&stream[at..next]);
                drain(&mut decoder, &mut got);
                at = next;
            }
            let wanted: Vec<_> = bodies.into_iter()
                .map(|b| if b.len() > 40 { Err(u32::try_from(b.len()).unwrap()) } else { Ok(b) }).collect();
            prop_assert_eq!(got, wanted);
            prop_assert!(!decoder.is_torn());
        }
    }

    #[test]
    fn golden_bytes() {
        assert_eq!(framed(&[b"{}".to_vec()]), [2, 0, 0, 0, b'{', b'}']);
    }

    #[test]
    fn a_large_buffer_is_given_back_after_use() {
        let mut decoder = FrameDecoder::new(2 * KEEP);
        decoder.push(&framed(&[vec![7; 2 * KEEP]]));
        assert!(matches!(decoder.pop(), Some(Popped::Frame(bytes)) if bytes.len() == 2 * KEEP));
        assert!(decoder.space().len() <= READ_STEP);
    }

    #[test]
    fn what_is_read_begins_behind_the_lead_however_the_last_read_ended() {
        let mut decoder = FrameDecoder::new(KEEP);
        for length in [0, 1, READ_STEP, 10 * READ_STEP] {
            let stream = framed(&[vec![7; length], vec![8; length]]);
            for part in stream.chunks(READ_STEP / 2) {
                decoder.push(part);
                while decoder.pop().is_some() {}
                assert!(decoder.start >= LEAD);
            }
            assert!(!decoder.is_torn());
            decoder.space();
            assert_eq!((decoder.start, decoder.end), (LEAD, LEAD));
        }
    }

    #[test]
    fn an_announced_length_alone_takes_no_memory() {
        let mut decoder = FrameDecoder::new(MAX_CLIENT_FRAME);
        decoder.push(&u32::try_from(MAX_CLIENT_FRAME).unwrap().to_le_bytes());
        assert!(decoder.space().len() <= KEEP);
    }

    #[test]
    fn a_stream_that_ends_inside_a_frame_is_torn() {
        let mut decoder = FrameDecoder::new(100);
        decoder.push(&[9, 0, 0, 0, 1]);
        assert_eq!(decoder.pop(), None);
        assert!(decoder.is_torn());
    }
}
