//! JSON strings: a text as one, and the text that one is.
//!
//! Owns how far a text goes on without a byte that JSON writes in another way. Must never judge an escape: that is `members`'s.
//!
//! What comes with each small token is inlined by force, as there.

use std::borrow::Cow;

use wide::i8x16;

/// The text of a JSON string. `None` if `json` is no string, or the string is no text (half a surrogate pair).
#[must_use]
pub fn text_of(json: &str) -> Option<Cow<'_, str>> {
    // A string without an escape is the text itself: it came out of a parser.
    let inside = json.strip_prefix('"')?.strip_suffix('"')?;
    let has_escape = memchr::memchr(b'\\', inside.as_bytes()).is_some();
    if has_escape { serde_json::from_str(json).ok().map(Cow::Owned) } else { Some(inside.into()) }
}

/// Appends `text` as a JSON string.
pub fn put_str(out: &mut Vec<u8>, text: &str) {
    if plain_end(text.as_bytes(), 0) == text.len() {
        out.reserve(text.len() + 2);
        out.push(b'"');
        out.extend_from_slice(text.as_bytes());
        return out.push(b'"');
    }
    let start = out.len();
    if serde_json::to_writer(&mut *out, text).is_err() {
        out.truncate(start);
        out.extend_from_slice(b"\"\"");
    }
}

/// How many bytes are compared in one word, in one vector, and in one step over a long text.
const WORD: usize = 8;
const LANE: usize = 16;
const BLOCK: usize = 64;

/// The first place from `at` on with a quote, a backslash or a control character; the end if there is none.
#[inline(always)]
pub(crate) fn plain_end(bytes: &[u8], mut at: usize) -> usize {
    // Most strings are short: two words are done before the vectors are set up.
    if ends_in_words(bytes, &mut at, 2) { at } else { plain_end_of_long(bytes, at) }
}

/// As [`plain_end`], for a long text: whole blocks as long as they are plain, then words.
fn plain_end_of_long(bytes: &[u8], mut at: usize) -> usize {
    let blocks = bytes.get(at..).unwrap_or_default().as_chunks::<BLOCK>().0;
    at += blocks.iter().take_while(|block| is_plain(block)).count() * BLOCK;
    ends_in_words(bytes, &mut at, usize::MAX);
    at
}

/// Moves `at` over at most `most` words, or to the end of the plain text. Returns true if it is at that end.
#[inline(always)]
fn ends_in_words(bytes: &[u8], at: &mut usize, most: usize) -> bool {
    for _ in 0..most {
        let Some(word) = bytes.get(*at..).and_then(|rest| rest.first_chunk::<WORD>()) else {
            *at = plain_end_bytewise(bytes, *at);
            return true;
        };
        let found = ends_in_word(u64::from_le_bytes(*word));
        if found != 0 {
            *at += found.trailing_zeros() as usize / 8;
            return true;
        }
        *at += WORD;
    }
    false
}

fn plain_end_bytewise(bytes: &[u8], at: usize) -> usize {
    let rest = bytes.get(at..).unwrap_or_default();
    at + rest.iter().position(|byte| matches!(byte, ..b' ' | b'"' | b'\\')).unwrap_or(rest.len())
}

/// The high bit of each byte of a word that ends a plain text. Above the lowest of these bits, other bits may be set wrongly.
fn ends_in_word(word: u64) -> u64 {
    const EACH: u64 = u64::MAX / 255;
    let below = |word: u64, least: u8| word.wrapping_sub(EACH * u64::from(least)) & !word;
    let equal = |wanted: u8| below(word ^ (EACH * u64::from(wanted)), 1);
    (below(word, b' ') | equal(b'"') | equal(b'\\')) & (EACH << 7)
}

fn is_plain(block: &[u8; BLOCK]) -> bool {
    let splat = |byte: u8| i8x16::splat(byte.cast_signed());
    // Compared as signed numbers: control characters are the lowest ones once the highest bit is turned.
    let ends = block.as_chunks::<LANE>().0.iter().map(|lane| {
        let lane = i8x16::new(lane.map(u8::cast_signed));
        let is_control = (lane ^ splat(0x80)).simd_lt(splat(0x80 + b' '));
        lane.simd_eq(splat(b'"')) | lane.simd_eq(splat(b'\\')) | is_control
    });
    ends.fold(splat(0), |all, ends| all | ends).to_bitmask() == 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_end_of_a_plain_text_is_found_wherever_it_is(
            plain in "[a-z !é\u{7f}\u{80}]{0,150}", end in "[\"\\\\\u{0}\u{1f}]", behind in "[a\"\u{1}]{0,20}",
        ) {
            let text = format!("{plain}{end}{behind}");
            prop_assert_eq!(plain_end(text.as_bytes(), 0), plain.len());
            prop_assert_eq!(plain_end(plain.as_bytes(), 0), plain.len());
        }
    }
}
