//! What targets do with their bytes: choices from the first ones, pieces of the rest.
//!
//! Must never read beyond the input: what is not there counts as zero, so that every input means something.

/// An input that is used up from its start.
#[derive(Debug)]
pub(super) struct Input<'a>(&'a [u8]);

impl<'a> Input<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// The next byte.
    pub(super) fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        *first
    }

    /// One of `choices`, by the next byte.
    pub(super) fn choose<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[usize::from(self.byte()) % choices.len()]
    }

    /// Everything that is left.
    pub(super) fn rest(self) -> &'a [u8] {
        self.0
    }
}

/// How a stream is cut: sizes of its pieces, over and over. Around the lengths at which buffers change.
const PIECES: &[&[usize]] = &[
    &[1],
    &[1, 2, 3, 5, 7],
    &[3, 1],
    &[4],
    &[64, 1],
    &[4095, 2],
    &[8192],
    &[16383, 1, 1],
    &[50_000, 7],
    &[usize::MAX],
];

/// More pieces than this say nothing new, and a long stream in single bytes takes long.
const MAX_PIECES: usize = 2048;

/// Cuts `stream` in one of several ways.
pub(super) fn pieces(stream: &[u8], way: u8) -> impl Iterator<Item = &[u8]> {
    let sizes = PIECES[usize::from(way) % PIECES.len()];
    let least = stream.len() / MAX_PIECES;
    let mut rest = stream;
    sizes.iter().cycle().map_while(move |size| {
        let (piece, after) = rest.split_at_checked((*size).max(least)).unwrap_or((rest, &[]));
        rest = after;
        (!piece.is_empty()).then_some(piece)
    })
}

/// How often a stream is repeated: seldom long enough to outgrow the buffers, since that is slow.
pub(super) const TIMES: &[usize] = &[1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 3, 1, 1, 1, 1, 40, 1, 1, 1, 1, 200];

/// No stream gets longer by repeating it than this.
const MAX_STREAM: usize = 512 * 1024;

/// `bytes` so many times.
pub(super) fn repeated(bytes: &[u8], times: usize) -> Vec<u8> {
    bytes.repeat(times.min(MAX_STREAM / bytes.len().max(1)).max(1))
}
