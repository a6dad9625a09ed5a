//! The test whether a text can be put into a JSON frame without changing what is around it.
//!
//! ```text
//!  64 bytes ─► four masks: quotes, backslashes, openings, closings ─► which quotes are escaped ─► what is inside
//!  strings ─► depth: it may reach zero at the last byte only
//! ```
//!
//! It is not a full syntax check (the runner makes that one). It keeps a hostile runner from closing the frame's object
//! early and answering in the name of another request. On every text that a parser accepts, this test and the parser agree
//! where strings and brackets are. With any other text the whole frame does not parse. It works on 64 bytes at a time,
//! since each result passes here: no branch per byte, no allocation. Long strings are skipped.

use wide::i8x16;

/// Bytes per step: one bit each in a mask.
const BLOCK: usize = 64;

/// Bytes that are compared at once.
const LANE: usize = 16;

/// True if `text` is one self-contained JSON value: between two commas it stays one value.
#[must_use]
pub fn is_contained(text: &str) -> bool {
    let bytes = text.trim_ascii().as_bytes();
    match bytes.first() {
        None => false,
        Some(b'{' | b'[') => closes_at_end(bytes),
        Some(b'"') => string_end(bytes) == Some(bytes.len()),
        Some(_) => bytes.iter().all(|b| b.is_ascii_alphanumeric() || b"+-.".contains(b)),
    }
}

/// The index just after the closing quote of the string that `bytes` begins with.
fn string_end(bytes: &[u8]) -> Option<usize> {
    let mut at = 1;
    loop {
        at += memchr::memchr2(b'"', b'\\', bytes.get(at..)?)?;
        if bytes[at] == b'"' {
            return Some(at + 1);
        }
        at += 2;
    }
}

fn closes_at_end(bytes: &[u8]) -> bool {
    let mut strings = Strings::default();
    let (mut at, mut depth) = (0, 0);
    while at < bytes.len() {
        let masks = Masks::of(&block_at(bytes, at));
        let outside = !strings.inside(masks.quotes, masks.backslashes);
        let (opens, closes) = (masks.opens & outside, masks.closes & outside);
        if opens | closes == 0 {
            // Nothing to count. Counting takes as long as a comparison, since the oldest processors have no instruction for it.
        } else if depth > closes.count_ones() {
            depth = depth + opens.count_ones() - closes.count_ones();
        } else if let Some(bit) = first_zero(&mut depth, opens, closes) {
            return at + bit + 1 == bytes.len();
        }
        at += BLOCK;
        if masks.quotes | masks.backslashes == 0 && strings.goes_on() {
            // A long text: only a quote or a backslash matters, and the next block begins with it.
            let Some(next) = memchr::memchr2(b'"', b'\\', bytes.get(at..).unwrap_or_default()) else {
                return false;
            };
            at += next;
        }
    }
    false
}

/// The bytes from `at` on, padded with blanks to a whole block.
fn block_at(bytes: &[u8], at: usize) -> [u8; BLOCK] {
    let rest = &bytes[at..];
    rest.first_chunk().copied().unwrap_or_else(|| {
        let mut last = [b' '; BLOCK];
        last[..rest.len()].copy_from_slice(rest);
        last
    })
}

/// Follows the brackets of one block one by one. Returns the place of the bracket that brings the depth to zero.
fn first_zero(depth: &mut u32, opens: u64, closes: u64) -> Option<usize> {
    let mut brackets = opens | closes;
    while brackets != 0 {
        let bit = brackets.trailing_zeros();
        brackets &= brackets - 1;
        if opens >> bit & 1 == 1 {
            *depth += 1;
        } else {
            *depth = depth.saturating_sub(1);
            if *depth == 0 {
                return Some(bit as usize);
            }
        }
    }
    None
}

/// The position of strings, carried from block to block.
#[derive(Default)]
struct Strings {
    /// All ones if a string continues into the next block.
    open: u64,
    /// One if the next block's first byte is escaped.
    escaped: u64,
}

impl Strings {
    /// True if the next byte is inside a string and not escaped.
    fn goes_on(&self) -> bool {
        self.open != 0 && self.escaped == 0
    }

    /// The bytes inside strings: each opening quote and everything up to its closing quote.
    fn inside(&mut self, quotes: u64, backslashes: u64) -> u64 {
        let escaped = if backslashes | self.escaped == 0 { 0 } else { self.escaped_by(backslashes) };
        let quotes = quotes & !escaped;
        // A running parity over the quotes: odd is inside.
        let mut inside = quotes;
        for shift in [1, 2, 4, 8, 16, 32] {
            inside ^= inside << shift;
        }
        inside ^= self.open;
        self.open = 0u64.wrapping_sub(inside >> 63);
        inside
    }

    /// The bytes after an odd number of backslashes. In a run of backslashes, every second one is escaped itself. Adding a
    /// run's start to the run carries to the byte after it, which tells even runs from odd ones.
    fn escaped_by(&mut self, backslashes: u64) -> u64 {
        const EVEN: u64 = 0x5555_5555_5555_5555;
        let backslashes = backslashes & !self.escaped;
        let follows = backslashes << 1 | self.escaped;
        let odd_starts = backslashes & !EVEN & !follows;
        let (sum, carry) = odd_starts.overflowing_add(backslashes);
        self.escaped = u64::from(carry);
        (EVEN ^ (sum << 1)) & follows
    }
}

/// One bit for each byte of a block.
struct Masks {
    quotes: u64,
    backslashes: u64,
    opens: u64,
    closes: u64,
}

impl Masks {
    fn of(block: &[u8; BLOCK]) -> Self {
        let (mut quotes, mut backslashes, mut opens, mut closes) = (0, 0, 0, 0);
        let (lanes, _) = block.as_chunks::<LANE>();
        for (at, lane) in lanes.iter().enumerate() {
            let lane = i8x16::new(lane.map(u8::cast_signed));
            // `[` and `{`, and `]` and `}`, differ in the one bit that tells small letters from capitals.
            let folded = lane | i8x16::splat(0x20);
            let shift = at * LANE;
            quotes |= equal(lane, b'"') << shift;
            backslashes |= equal(lane, b'\\') << shift;
            opens |= equal(folded, b'{') << shift;
            closes |= equal(folded, b'}') << shift;
        }
        Self { quotes, backslashes, opens, closes }
    }
}

/// A bit for each byte that is `wanted`.
fn equal(lane: i8x16, wanted: u8) -> u64 {
    u64::from(lane.simd_eq(i8x16::splat(wanted.cast_signed())).to_bitmask())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::tests::any_json;
    use proptest::prelude::*;

    /// The same, byte by byte.
    fn plainly(bytes: &[u8]) -> bool {
        let (mut depth, mut in_string, mut escaped) = (0u32, false, false);
        for (at, byte) in bytes.iter().enumerate() {
            let is_escaped = escaped;
            escaped = *byte == b'\\' && !is_escaped;
            match byte {
                b'"' => in_string ^= !is_escaped,
                _ if in_string => {}
                b'{' | b'[' => depth += 1,
                b'}' | b']' => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        return at + 1 == bytes.len();
                    }
                }
                _ => {}
            }
        }
        false
    }

    proptest! {
        #[test]
        fn blocks_and_bytes_agree(text in "[{\\[][\\[\\]{}\",:a\\\\ ]{0,200}") {
            prop_assert_eq!(closes_at_end(text.as_bytes()), plainly(text.as_bytes()), "{}", text);
        }

        #[test]
        fn long_texts_are_passed_over_and_nothing_else(
            pieces in prop::collection::vec(("[\\[\\]{}\",a\\\\]{0,6}", 0usize..300), 0..8),
            first in "[{\\[]\"?",
        ) {
            let text = pieces.iter().fold(first, |text, (piece, run)| text + piece + &"x".repeat(*run));
            prop_assert_eq!(closes_at_end(text.as_bytes()), plainly(text.as_bytes()), "{}", text);
        }

        #[test]
        fn every_json_value_is_contained(value in any_json()) {
            prop_assert!(is_contained(&value.to_string()));
        }

        #[test]
        fn what_is_contained_cannot_change_its_surroundings(text in "[\\[\\]{}\",:a\\\\ 0-9]{0,24}") {
            let around = format!("{{\"id\":\"mine\",\"result\":{text}}}");
            if let (true, Ok(value)) = (is_contained(&text), serde_json::from_str::<serde_json::Value>(&around)) {
                let object = value.as_object().unwrap();
                prop_assert_eq!(object.len(), 2);
                prop_assert_eq!(&object["id"], "mine");
            }
        }

        #[test]
        fn each_byte_has_its_bit(bytes in prop::array::uniform32("[\\[\\]{}\"\\\\a\u{7f}]".prop_map(|text| text.as_bytes()[0]))) {
            let mut block = [0; BLOCK];
            block[..32].copy_from_slice(&bytes);
            block[32..].copy_from_slice(&bytes);
            let Masks { quotes, backslashes, opens, closes } = Masks::of(&block);
            for (at, byte) in block.iter().enumerate() {
                let bits = [quotes, backslashes, opens, closes].map(|mask| mask >> at & 1 == 1);
                prop_assert_eq!(bits, [*byte == b'"', *byte == b'\\', b"[{".contains(byte), b"]}".contains(byte)]);
            }
        }
    }

    #[test]
    fn breaking_out_is_seen() {
        for bad in [r#"1},"id":"x""#, r#"{}},{"#, r#""a","b":"c""#, "{", "]", "", "1,2", r#""a\""#, r#"{"a}"#]
        {
            assert!(!is_contained(bad), "{bad}");
        }
        let long = format!(r#""{}\"","x":"y""#, "a".repeat(30));
        assert!(!is_contained(&long));
        for length in 0..200 {
            let escapes = format!(r#"{{"a":"{}\\","b":"\""}}"#, "x".repeat(length));
            assert!(is_contained(&escapes), "{escapes}");
            assert!(!is_contained(&format!("{escapes}}}")), "{escapes}}}");
        }
    }
}
