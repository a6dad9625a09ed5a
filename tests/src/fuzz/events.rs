//! Streams of server-sent events: however the bytes are cut into reads, the events are the same, and none is too long.
//!
//! Input: bound, way of cutting, repetitions; then the stream.

use std::time::Duration;

use harbor_web::sse::{Parser, TooLong};

use super::Target;
use super::input::{Input, TIMES, pieces, repeated};

pub(super) const EVENTS: Target = Target {
    name: "events",
    run: events,
    corpus: &[
        b"\x02\x00\x00event: message\ndata: {\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{}}\n\n",
        b"\x01\x01\x00\xef\xbb\xbfid: 1\r\nretry: 10\r\ndata: a\r\ndata: b\r\n\r\ndata\r\rdata:x\r\r",
        b"\x00\x05\x05data: longer than the bound\n\n",
        b"\x03\x09\x14: comment without an end ",
        b"\x02\x02\x00id: a\0b\nid\nevent\ndata: \xff\xfe\n\nretry: 99999999999999999999\n\n",
        // The line feed between two lines counts, too.
        b"\x01\x01\x00data:a\ndata:inputRequests: { b\n\n",
        b"\x02\x03\x00event: endpoint\ndata: /messages?sessionId=1\n\n",
    ],
};

const BOUNDS: &[usize] = &[0, 20, 1000, 70_000];

/// More than this is kept of no name, and no pause is longer.
const MAX_WORD: usize = 4 * 1024;
const MAX_RETRY: Duration = Duration::from_secs(60);

type Read = (Vec<(String, Vec<u8>)>, Result<(), TooLong>);

fn events(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let (bound, way, times) = (input.choose(BOUNDS), input.byte(), input.choose(TIMES));
    let stream = repeated(input.rest(), times);
    let (cut, whole) = (read(pieces(&stream, way), bound), read(std::iter::once(stream.as_slice()), bound));
    for (name, data) in &cut.0 {
        assert!(name.len() <= MAX_WORD && data.len() <= bound && !data.is_empty());
    }
    // Where a stream is given up may differ: a long line is seen when it has come so far.
    if cut.1.is_ok() && whole.1.is_ok() {
        assert!(cut.0 == whole.0, "cut another way, other events came out");
    }
}

fn read<'a>(pieces: impl Iterator<Item = &'a [u8]>, bound: usize) -> Read {
    let (mut parser, mut found) = (Parser::new(bound), Vec::new());
    for piece in pieces {
        let fed = parser.feed(piece, |event| found.push((event.name.to_owned(), event.data.to_vec())));
        if fed.is_err() {
            return (found, fed);
        }
        assert!(parser.retry().is_none_or(|pause| pause <= MAX_RETRY));
        assert!(parser.last_id().is_none_or(|id| id.len() <= MAX_WORD));
    }
    (found, Ok(()))
}
