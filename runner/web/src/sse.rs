//! Reads a stream of server-sent events, as it comes in.
//!
//! ```text
//!  bytes ─► lines (LF, CR, CRLF) ─► event, data, id, retry ─► at an empty line: an event
//! ```
//!
//! Owns what is kept between two reads: never more than the limit. Must never look into the data.

use std::time::Duration;

/// Names and ids of events are cut off at this many bytes.
const MAX_WORD: usize = 1024;

/// A line's allocation serves the next one, unless it is larger.
const KEEP: usize = 64 * 1024;

/// The longest pause that a server may ask for.
const MAX_RETRY: Duration = Duration::from_secs(60);

/// An event.
#[derive(Debug, PartialEq, Eq)]
pub struct Event<'a> {
    /// Its type; empty means `message`.
    pub name: &'a str,
    /// Its data, lines joined by a line feed.
    pub data: &'a [u8],
}

/// A line or an event is longer than the limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooLong;

/// The parser of one stream.
#[derive(Debug)]
pub struct Parser {
    limit: usize,
    line: Vec<u8>,
    /// The line before ended with CR: a LF right now belongs to it.
    after_cr: bool,
    /// Nothing was read yet: a byte order mark may come.
    at_start: bool,
    name: String,
    data: Vec<u8>,
    has_data: bool,
    id: Option<String>,
    last_id: Option<String>,
    retry: Option<Duration>,
}

impl Parser {
    /// A parser for a stream whose events have at most `limit` bytes of data.
    #[must_use]
    pub fn new(limit: usize) -> Self {
        Self {
            limit,
            line: Vec::new(),
            after_cr: false,
            at_start: true,
            name: String::new(),
            data: Vec::new(),
            has_data: false,
            id: None,
            last_id: None,
            retry: None,
        }
    }

    /// Prepares for the next stream of the same conversation. The last id and the pause stay; half an event is dropped.
    pub fn begin_again(&mut self) {
        let (last_id, retry) = (self.last_id.take(), self.retry);
        *self = Self { id: last_id.clone(), last_id, retry, ..Self::new(self.limit) };
    }

    /// Bytes of what is not whole yet.
    #[must_use]
    pub fn held(&self) -> usize {
        self.line.len() + self.data.len()
    }

    /// The id of the last whole event, by which a stream is taken up again.
    #[must_use]
    pub fn last_id(&self) -> Option<&str> {
        self.last_id.as_deref().filter(|id| !id.is_empty())
    }

    /// The pause that the server asks for before that.
    #[must_use]
    pub fn retry(&self) -> Option<Duration> {
        self.retry
    }

    /// Takes bytes; hands each event that is whole to `take`.
    ///
    /// # Errors
    /// When a line or an event is too long; the stream is of no use any more.
    pub fn feed(&mut self, mut bytes: &[u8], mut take: impl FnMut(Event<'_>)) -> Result<(), TooLong> {
        while !bytes.is_empty() {
            if std::mem::take(&mut self.after_cr) && bytes[0] == b'\n' {
                bytes = &bytes[1..];
                continue;
            }
            let end = memchr::memchr2(b'\n', b'\r', bytes);
            let (piece, rest) = bytes.split_at(end.unwrap_or(bytes.len()));
            // The field's name stands before the data.
            if self.line.len() + piece.len() > self.limit.saturating_add(MAX_WORD) {
                return Err(TooLong);
            }
            self.line.extend_from_slice(piece);
            let Some(end) = rest.first() else { break };
            self.after_cr = *end == b'\r';
            bytes = &rest[1..];
            let mut line = std::mem::take(&mut self.line);
            self.take_line(&mut line, &mut take)?;
            if line.capacity() <= KEEP {
                self.line = line;
                self.line.clear();
            }
        }
        Ok(())
    }

    fn take_line(&mut self, whole: &mut Vec<u8>, take: &mut impl FnMut(Event<'_>)) -> Result<(), TooLong> {
        let first = std::mem::take(&mut self.at_start);
        let line = if first { whole.strip_prefix(b"\xef\xbb\xbf").unwrap_or(whole) } else { &whole[..] };
        if line.is_empty() {
            self.dispatch(take);
            return Ok(());
        }
        let (field, value) = match memchr::memchr(b':', line) {
            Some(at) => (&line[..at], line[at + 1..].strip_prefix(b" ").unwrap_or(&line[at + 1..])),
            None => (line, &b""[..]),
        };
        match field {
            b"data" => {
                let from = whole.len() - value.len();
                return self.add_data(whole, from);
            }
            b"event" => self.name = word(value),
            b"id" if value.len() <= MAX_WORD && !value.contains(&0) => self.id = Some(word(value)),
            b"retry" => {
                let ms =
                    std::str::from_utf8(value).ok().filter(|text| text.bytes().all(|b| b.is_ascii_digit()));
                let pause = ms.and_then(|ms| ms.parse().ok()).map(Duration::from_millis);
                self.retry = pause.map(|pause| pause.min(MAX_RETRY)).or(self.retry);
            }
            // Comments, and what later versions may add.
            _ => {}
        }
        Ok(())
    }

    /// The data is what the line has from there on. Large data that is of one line is not copied.
    fn add_data(&mut self, line: &mut Vec<u8>, from: usize) -> Result<(), TooLong> {
        let feed = usize::from(self.has_data);
        if self.data.len() + feed + line.len() - from > self.limit {
            return Err(TooLong);
        }
        if std::mem::replace(&mut self.has_data, true) {
            self.data.push(b'\n');
        } else if line.len() > KEEP {
            line.drain(..from);
            self.data = std::mem::take(line);
            return Ok(());
        }
        self.data.extend_from_slice(&line[from..]);
        Ok(())
    }

    /// Takes an event. Without data it is no event, but its id counts: by the id a server says where to continue.
    fn dispatch(&mut self, take: &mut impl FnMut(Event<'_>)) {
        self.last_id.clone_from(&self.id);
        let (name, data) = (std::mem::take(&mut self.name), std::mem::take(&mut self.data));
        if std::mem::take(&mut self.has_data) && !data.is_empty() {
            take(Event { name: &name, data: &data });
        }
    }
}

fn word(value: &[u8]) -> String {
    String::from_utf8_lossy(&value[..value.len().min(MAX_WORD)]).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    type Events = Vec<(String, String)>;

    fn fed(parser: &mut Parser, bytes: &[u8]) -> Result<Events, TooLong> {
        let mut events = Vec::new();
        parser.feed(bytes, |event| {
            events.push((event.name.to_owned(), String::from_utf8_lossy(event.data).into_owned()));
        })?;
        Ok(events)
    }

    fn read(text: &str) -> Events {
        fed(&mut Parser::new(100), text.as_bytes()).unwrap()
    }

    fn event(name: &str, data: &str) -> (String, String) {
        (name.to_owned(), data.to_owned())
    }

    #[test]
    fn events_are_what_the_standard_says() {
        assert_eq!(
            read("data: a\n\ndata:b\r\n\r\ndata:  c\r\r"),
            [event("", "a"), event("", "b"), event("", " c")]
        );
        assert_eq!(read("\u{feff}event: x\ndata: 1\ndata: 2\n\n"), [event("x", "1\n2")]);
        assert_eq!(read(": comment\nevent: x\n\ndata\n\ndata: 1\nother: y\n\n"), [event("", "1")]);
        assert_eq!(read("data: never ended\n"), []);
    }

    #[test]
    fn ids_and_pauses_are_kept() {
        let mut parser = Parser::new(100);
        assert_eq!(fed(&mut parser, b"id: 7\nretry: 250\ndata:\n\nid: 8\ndata: half"), Ok(vec![]));
        assert_eq!((parser.last_id(), parser.retry()), (Some("7"), Some(Duration::from_millis(250))));
        parser.begin_again();
        assert_eq!(
            fed(&mut parser, b"data: whole\n\nretry: 99999999\nretry: x\nid: a\0b\n\n"),
            Ok(vec![event("", "whole")])
        );
        assert_eq!((parser.last_id(), parser.retry()), (Some("7"), Some(MAX_RETRY)));
        assert_eq!(fed(&mut parser, b"id\n\n"), Ok(vec![]));
        assert_eq!(parser.last_id(), None);
    }

    #[test]
    fn what_is_too_long_is_an_error_and_not_kept() {
        let mut parser = Parser::new(10);
        assert_eq!(fed(&mut parser, b"data: 0123456789\n\n"), Ok(vec![event("", "0123456789")]));
        assert_eq!(fed(&mut parser, b"data: 0123456789\ndata: x\n"), Err(TooLong));
        assert_eq!(
            fed(&mut Parser::new(10), b"data: a\ndata: 12345678\n\n"),
            Ok(vec![event("", "a\n12345678")])
        );
        assert_eq!(fed(&mut Parser::new(10), b"data: a\ndata: 123456789\n"), Err(TooLong));
        let mut endless = Parser::new(10);
        let result = (0..1000).try_for_each(|_| endless.feed(&[b'x'; 100], |_| ()));
        assert_eq!(result, Err(TooLong));
        assert!(endless.line.len() <= 10 + MAX_WORD);
    }

    #[test]
    fn large_events_are_as_they_came() {
        let large = "x".repeat(2 * KEEP);
        let mut parser = Parser::new(5 * KEEP);
        let text = format!("data: {large}\ndata: {large}\n\ndata: 1\ndata:{large}\n\n");
        let events = fed(&mut parser, text.as_bytes()).unwrap();
        assert_eq!(events, [event("", &format!("{large}\n{large}")), event("", &format!("1\n{large}"))]);
        assert_eq!(fed(&mut parser, format!("data:{large}{large}{large}\n").as_bytes()), Err(TooLong));
    }

    proptest! {
        /// However the bytes are cut into reads, the events are the same.
        #[test]
        fn cuts_do_not_matter(
            pieces in prop::collection::vec("(data|id|event|retry|x)?:? ?[a-z0-9]{0,4}(\r|\n|\r\n|\n\n)", 0..20),
            cuts in prop::collection::vec(1..7usize, 1..8),
        ) {
            let text = pieces.concat();
            let mut whole = Parser::new(100);
            let mut cut = Parser::new(100);
            let expected = fed(&mut whole, text.as_bytes());
            let (mut rest, mut found, mut sizes) = (text.as_bytes(), Vec::new(), cuts.iter().cycle());
            while !rest.is_empty() {
                let at = (*sizes.next().unwrap()).min(rest.len());
                found.extend(fed(&mut cut, &rest[..at]).unwrap());
                rest = &rest[at..];
            }
            prop_assert_eq!(expected, Ok(found));
            prop_assert_eq!((whole.last_id(), whole.retry()), (cut.last_id(), cut.retry()));
        }
    }
}
