//! Makes new inputs out of a corpus. The same corpus and seed give the same input, on every machine.
//!
//! Knows nothing of what an input means except by the dictionary. Must never take longer than its input is long.

use crate::random::Random;

/// Inputs stay below this: what parsers do with long ones, targets find out by repeating.
const MAX_INPUT: usize = 4096;

/// Most faults need one or two changes, some need many.
const MAX_CHANGES: u64 = 12;

/// What parsers take for special.
const DICTIONARY: &[&[u8]] = &[
    b"{\"",
    b"\":",
    b"\",\"",
    b"\"id\":",
    b"\"id\":7",
    b"\"id\":\"7\"",
    b"\"i\\u0064\":",
    b",\"id\":8}",
    b"\"jsonrpc\":\"2.0\"",
    b"\"method\":\"",
    b"\"method\":\"ping\"",
    b"\"params\":",
    b"\"params\":{}",
    b"\"result\":",
    b"\"result\":{}",
    b"\"error\":",
    b"\"error\":{\"code\":-32601,\"message\":\"\"}",
    b"\"type\":\"",
    b"\"type\":\"rpc\"",
    b"\"request_id\":\"",
    b"\"server_id\":\"time\"",
    b"\"arguments\":",
    b"\"_meta\":{}",
    b"\"tools\":[",
    b"\"prompts\":[]",
    b"\"nextCursor\":\"x\"",
    b"\"resultType\":\"input_required\"",
    b"\"inputRequests\":{",
    b"\"requestState\":",
    b"null",
    b"true",
    b"false",
    b"{}",
    b"[]",
    b"\"\"",
    b"{",
    b"}",
    b"[",
    b"]",
    b"\"",
    b"\\",
    b"\\\"",
    b"\\\\",
    b",",
    b":",
    b"-",
    b".",
    b"..",
    b"__",
    b"/",
    b"\\u0000",
    b"\\ud800",
    b"\\ud83d\\ude00",
    b"\\uD8",
    b"\\n",
    b"\0",
    b"\n",
    b"\r",
    b"\r\n",
    b"\n\n",
    b"\t",
    b" ",
    b"\x0b",
    b"\x0c",
    b"\x7f",
    b"\xef\xbb\xbf",
    b"\xc2\x85",
    b"\xe2\x80\xa8",
    b"\xf0\x9f\x98\x80",
    b"\xff",
    b"\xc0\x80",
    b"\xed\xa0\x80",
    b"\xf0\x9f\x98",
    b"0",
    b"1",
    b"-1",
    b"-0",
    b"7.0",
    b"1e2",
    b"1e999",
    b"255",
    b"65536",
    b"4294967296",
    b"9007199254740993",
    b"18446744073709551615",
    b"18446744073709551616",
    b"-9223372036854775808",
    b"\0\0\0\0",
    b"\x01\0\0\0",
    b"\x04\0\0\0",
    b"\x28\0\0\0",
    b"\0\x10\0\0",
    b"\0\0\0\x04",
    b"\x01\0\0\x04",
    b"\xff\xff\xff\x7f",
    b"\xff\xff\xff\xff",
    b"\xfb\xff\xff",
    b"\xfc\xff\xff\xff\xff",
    b"\xfc\0\0\x10\0",
    b"\xfd\xff\xff\xff\xff\xff\xff\xff\xff",
    b"\xfe",
    b"chrome-extension://",
    b"tasks/get",
];

/// The choices of one input.
#[derive(Debug)]
struct Rng(Random);

impl Rng {
    fn new(seed: u64) -> Self {
        Self(Random::new(seed))
    }

    /// A number below `bound`; 0 when that is 0.
    fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.0.below(u64::try_from(bound).unwrap_or(u64::MAX))).unwrap_or(0)
    }

    fn byte(&mut self) -> u8 {
        self.0.number().to_be_bytes()[0]
    }

    fn one_of<'a>(&mut self, all: &[&'a [u8]]) -> &'a [u8] {
        all.get(self.below(all.len())).copied().unwrap_or_default()
    }

    /// A piece of `bytes`: where it starts and ends. Short ones are likelier.
    fn piece(&mut self, bytes: &[u8]) -> (usize, usize) {
        let start = self.below(bytes.len() + 1);
        let reach = if self.below(4) == 0 { bytes.len() } else { 8 };
        (start, (start + self.below(reach + 1)).min(bytes.len()))
    }
}

/// The input for `seed`.
#[must_use]
pub fn mutate(corpus: &[&[u8]], seed: u64) -> Vec<u8> {
    let mut rng = Rng::new(seed);
    let mut input = if rng.below(16) == 0 { Vec::new() } else { rng.one_of(corpus).to_vec() };
    let most = if rng.below(4) == 0 { MAX_CHANGES } else { 3 };
    for _ in 0..=rng.0.number() % most {
        change(&mut input, corpus, &mut rng);
        input.truncate(MAX_INPUT);
    }
    input
}

/// One change.
fn change(input: &mut Vec<u8>, corpus: &[&[u8]], rng: &mut Rng) {
    let at = rng.below(input.len() + 1);
    match rng.below(12) {
        0 if at < input.len() => input[at] ^= 1 << rng.below(8),
        1 if at < input.len() => input[at] = rng.byte(),
        2 => {
            let new: Vec<u8> = (0..=rng.below(4)).map(|_| rng.byte()).collect();
            insert(input, at, &new);
        }
        3 | 4 => {
            let (start, end) = rng.piece(input);
            input.drain(start..end);
        }
        5 => {
            let (start, end) = rng.piece(input);
            let copy = input[start..end].repeat(1 + rng.below(3));
            insert(input, at, &copy);
        }
        6 => {
            let other = rng.one_of(corpus);
            let (start, end) = rng.piece(other);
            insert(input, at, &other[start..end]);
        }
        7 => {
            let other = rng.one_of(corpus);
            input.truncate(at);
            input.extend_from_slice(&other[rng.below(other.len() + 1)..]);
        }
        8 => input.truncate(at),
        9 => {
            let token = rng.one_of(DICTIONARY);
            let end = (at + token.len()).min(input.len());
            input.splice(at..end, token.iter().copied());
        }
        _ => insert(input, at, rng.one_of(DICTIONARY)),
    }
}

fn insert(input: &mut Vec<u8>, at: usize, new: &[u8]) {
    input.splice(at..at, new.iter().copied());
}
