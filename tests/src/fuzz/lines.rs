//! Lines of a server's stdout: however the stream is cut, each is whole, or reported as overlong with both its ends.
//!
//! Input: bound, way of cutting, repetitions; then the stream.

use harbor_runner::mcp::line::{LineSplitter, Popped};

use super::Target;
use super::input::{Input, TIMES, pieces, repeated};

pub(super) const LINES: Target = Target {
    name: "lines",
    run: lines,
    corpus: &[
        b"\x03\x00\x00{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{}}\n",
        b"\x02\x01\x00short\r\nand one that is longer than the bound of twenty\r\n\nlast",
        b"\x02\x09\x00exactly twenty bytes\nexactly twenty and 1!\nexactly twenty bytes\r\n",
        b"\x00\x00\x00a\n\n\r\n\r",
        b"\x04\x05\x0fa line that is repeated without an end, ",
        b"\x05\x07\x14a line that is repeated without an end, \"id\":7}",
        b"\x03\x06\x14{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{}}\n",
        b"\x03\x02\x00\xff\xfe\0\n\xc3\x28\n",
    ],
};

/// Around what the splitter reads at once, shows of an overlong line, and keeps.
const BOUNDS: &[usize] = &[0, 1, 20, 1000, 4096, 5000, 70_000, 300_000];

/// At least so much of each end of an overlong line is shown, or the id in it could not be found.
const SHOWN: usize = 64;

/// A buffer may keep what it once needed, not more.
const SLACK: usize = 1024 * 1024;

#[derive(Debug)]
enum Got {
    Line(Vec<u8>),
    Overlong(Vec<u8>),
    End(Vec<u8>),
}

fn lines(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let (bound, way, times) = (input.choose(BOUNDS), input.byte(), input.choose(TIMES));
    let stream = repeated(input.rest(), times);
    compare(&stream, bound, split(pieces(&stream, way), bound));
    compare(&stream, bound, split(std::iter::once(stream.as_slice()), bound));
}

fn split<'a>(pieces: impl Iterator<Item = &'a [u8]>, bound: usize) -> Vec<Got> {
    let mut splitter = LineSplitter::new(bound);
    let mut got = Vec::new();
    for mut piece in pieces {
        while !piece.is_empty() {
            let space = splitter.space();
            assert!(space.len() <= bound + SLACK, "room for {} bytes", space.len());
            let n = space.len().min(piece.len());
            assert!(n > 0, "no room to read into");
            space[..n].copy_from_slice(&piece[..n]);
            splitter.filled(n);
            piece = &piece[n..];
            while let Some(popped) = splitter.pop() {
                got.push(own(&popped));
            }
        }
    }
    while let Some(popped) = splitter.finish() {
        got.push(own(&popped));
    }
    got
}

fn own(popped: &Popped<'_>) -> Got {
    match popped {
        Popped::Line(line) => Got::Line(line.to_vec()),
        Popped::Overlong(head) => Got::Overlong(head.to_vec()),
        Popped::OverlongEnd(tail) => Got::End(tail.to_vec()),
    }
}

/// What `split` of the standard library makes of the stream, side by side with what came out.
fn compare(stream: &[u8], bound: usize, got: Vec<Got>) {
    let whole = stream.strip_suffix(b"\n").unwrap_or(stream);
    let mut got = got.into_iter();
    for line in whole.split(|byte| *byte == b'\n').filter(|_| !stream.is_empty()) {
        if line.len() <= bound {
            let plain = line.strip_suffix(b"\r").unwrap_or(line);
            match got.next() {
                Some(Got::Line(line)) => {
                    assert_eq!(line.escape_ascii().to_string(), plain.escape_ascii().to_string())
                }
                other => panic!("a line became {other:?}"),
            }
            continue;
        }
        match (got.next(), got.next()) {
            (Some(Got::Overlong(head)), Some(Got::End(tail))) => {
                let least = line.len().min(SHOWN).min(bound + 1);
                assert!(line.starts_with(&head) && head.len() >= least, "its head: {}", head.escape_ascii());
                assert!(line.ends_with(&tail) && tail.len() >= least, "its end: {}", tail.escape_ascii());
            }
            other => panic!("an overlong line became {other:?}"),
        }
    }
    assert!(got.next().is_none(), "more came out than went in");
}
