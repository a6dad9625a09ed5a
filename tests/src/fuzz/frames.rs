//! Frames: however the stream is cut, what comes out is what a reader of the whole stream sees.
//!
//! Input: first limit, later limit, after how many frames it changes, way of cutting, repetitions; then the stream.

use harbor_ipc_proto::frame::{FrameDecoder, HEADER, Popped};

use super::Target;
use super::input::{Input, TIMES, pieces, repeated};

pub(super) const FRAMES: Target = Target {
    name: "frames",
    run: frames,
    corpus: &[
        b"\x02\x02\x00\x00\x00\x02\0\0\0{}",
        b"\x02\x02\x00\x01\x00\x02\0\0\0{}\0\0\0\0\x04\0\0\0true\x29\0\0\0",
        b"\x01\x04\x01\x00\x00\x01\0\0\0a\x05\0\0\0bcdef\x06\0\0\0ghijkl",
        b"\x00\x00\x00\x02\x01\x01\0\0\0a\0\0\0\0",
        b"\x02\x01\x05\x03\x02\x28\0\0\0aaaaaaaaaabbbbbbbbbbccccccccccdddddddddd\x29\0\0\0aaaaaaaaaabbbbbbbbbbccccccccccdddddddddde",
        b"\x03\x03\x00\x06\x14\x0c\0\0\0{\"type\":\"a\"}\x07\x20\0\0",
        b"\x04\x04\x00\x05\x14\x00\x40\0\0some of a long frame, repeated until it is whole",
        b"\x02\x02\x00\x00\x00\xff\xff\xff\xffskipped",
        b"\x02\x02\x00\x00\x00\x09\0\0",
    ],
};

/// Around what the decoder reads at once and what it keeps.
const LIMITS: &[usize] = &[0, 3, 40, 9000, 70_000, 300_000];

/// A buffer may keep what it once needed, not more.
const SLACK: usize = 1024 * 1024;

#[derive(Debug, PartialEq, Eq)]
enum Got {
    Frame(Vec<u8>),
    Oversize(usize),
}

#[derive(Debug, Clone, Copy)]
struct Limits {
    first: usize,
    later: usize,
    change_after: usize,
}

impl Limits {
    fn at(self, frame: usize) -> usize {
        if frame < self.change_after { self.first } else { self.later }
    }
}

fn frames(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let (first, later) = (input.choose(LIMITS), input.choose(LIMITS));
    let limits = Limits { first, later, change_after: usize::from(input.byte()) };
    let (way, times) = (input.byte(), input.choose(TIMES));
    let stream = repeated(input.rest(), times);
    let wanted = model(&stream, limits);
    assert_eq!(decoded(pieces(&stream, way), limits, false), wanted, "read into the space");
    assert_eq!(decoded(std::iter::once(stream.as_slice()), limits, true), wanted, "pushed at once");
}

/// All frames, and whether the stream ends inside one.
fn model(mut stream: &[u8], limits: Limits) -> (Vec<Got>, bool) {
    let mut got = Vec::new();
    while let Some((header, rest)) = stream.split_first_chunk::<HEADER>() {
        let length = usize::try_from(u32::from_le_bytes(*header)).unwrap();
        if length > limits.at(got.len()) {
            got.push(Got::Oversize(length));
            let Some(after) = rest.get(length..) else { return (got, length > 0) };
            stream = after;
        } else {
            let Some((body, after)) = rest.split_at_checked(length) else { break };
            got.push(Got::Frame(body.to_vec()));
            stream = after;
        }
    }
    (got, !stream.is_empty())
}

fn decoded<'a>(pieces: impl Iterator<Item = &'a [u8]>, limits: Limits, push: bool) -> (Vec<Got>, bool) {
    let mut decoder = FrameDecoder::new(limits.at(0));
    let mut got = Vec::new();
    for mut piece in pieces {
        while !piece.is_empty() {
            let n = if push { piece.len() } else { read(&mut decoder, piece, limits) };
            if push {
                decoder.push(piece);
            }
            piece = &piece[n..];
            decoder = drained(decoder, limits, &mut got);
        }
    }
    (got, decoder.is_torn())
}

fn read(decoder: &mut FrameDecoder, piece: &[u8], limits: Limits) -> usize {
    let space = decoder.space();
    assert!(space.len() <= limits.first.max(limits.later) + SLACK, "room for {} bytes", space.len());
    let n = space.len().min(piece.len());
    assert!(n > 0, "no room to read into");
    space[..n].copy_from_slice(&piece[..n]);
    decoder.filled(n);
    n
}

fn drained(mut decoder: FrameDecoder, limits: Limits, got: &mut Vec<Got>) -> FrameDecoder {
    while let Some(popped) = decoder.pop() {
        got.push(match popped {
            Popped::Frame(body) => Got::Frame(body.to_vec()),
            Popped::Oversize(length) => Got::Oversize(usize::try_from(length).unwrap()),
        });
        decoder = decoder.with_max(limits.at(got.len()));
    }
    decoder
}
