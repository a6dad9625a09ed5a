//! Halves of UTF-16 characters in JSON texts: who cuts an answer by UTF-16 units writes one character over two pieces. Pure.
//!
//! ```text
//!  "ok \ud83d" ─► marked: "ok ⟨D83D⟩" ─► JSON is read ─► Halves: "ok ", D83D is held
//!  "\ude00"    ─► marked: "⟨DE00⟩"    ─► JSON is read ─► Halves: "😀"          a lone half is U+FFFD
//! ```
//!
//! Owns the marks: 2048 characters for private use, which stand for the halves only in an answer that has had a lone one.
//! Must never touch a pair that is whole.

use std::borrow::Cow;

/// The first mark; the mark of `\uD800`.
const FIRST: u32 = 0x10_F800;

/// The units that are halves.
const HALVES: std::ops::RangeInclusive<u16> = 0xD800..=0xDFFF;

/// JSON without lone halves: each is a mark. Borrowed where there was none.
pub fn marked(json: &[u8]) -> Cow<'_, [u8]> {
    let mut out: Vec<u8> = Vec::new();
    let (mut from, mut at) = (0, 0);
    while let Some(found) = memchr::memchr(b'\\', &json[at..]) {
        let start = at + found;
        let Some(unit) = unit_at(json, start) else {
            // A backslash and what it escapes.
            at = (start + 2).min(json.len());
            continue;
        };
        at = start + 6;
        if !HALVES.contains(&unit) {
            continue;
        }
        if is_high(unit) && unit_at(json, at).is_some_and(is_low) {
            at += 6;
            continue;
        }
        out.extend_from_slice(&json[from..start]);
        out.extend_from_slice(mark(unit).encode_utf8(&mut [0; 4]).as_bytes());
        from = at;
    }
    match from {
        0 => json.into(),
        from => {
            out.extend_from_slice(&json[from..]);
            out.into()
        }
    }
}

/// The unit that is escaped here.
fn unit_at(json: &[u8], at: usize) -> Option<u16> {
    let digits = json.get(at..at + 6)?.strip_prefix(b"\\u")?;
    let is_hex = digits.iter().all(u8::is_ascii_hexdigit);
    u16::from_str_radix(str::from_utf8(digits).ok().filter(|_| is_hex)?, 16).ok()
}

fn is_high(unit: u16) -> bool {
    (0xD800..0xDC00).contains(&unit)
}

fn is_low(unit: u16) -> bool {
    (0xDC00..0xE000).contains(&unit)
}

fn mark(unit: u16) -> char {
    char::from_u32(FIRST + u32::from(unit - HALVES.start())).unwrap_or(char::REPLACEMENT_CHARACTER)
}

fn unit_of(mark: char) -> Option<u16> {
    let unit = u32::from(mark).checked_sub(FIRST)?;
    Some(HALVES.start() + u16::try_from(unit).ok()?)
}

/// The texts of one kind, joined: a half at the end of one waits for the next.
#[derive(Debug, Default)]
pub struct Halves {
    held: Option<u16>,
}

impl Halves {
    /// The next text, marks and all, without the half that still waits.
    pub fn take(&mut self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        for c in text.chars() {
            let Some(unit) = unit_of(c) else {
                out.extend(self.end());
                out.push(c);
                continue;
            };
            match self.held.take() {
                Some(high) if is_low(unit) => {
                    out.extend(
                        char::decode_utf16([high, unit]).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)),
                    );
                }
                before => {
                    out.extend(before.map(|_| char::REPLACEMENT_CHARACTER));
                    match is_high(unit) {
                        true => self.held = Some(unit),
                        false => out.push(char::REPLACEMENT_CHARACTER),
                    }
                }
            }
        }
        out
    }

    /// No more comes: a half that still waits is lone.
    pub fn end(&mut self) -> Option<char> {
        self.held.take().map(|_| char::REPLACEMENT_CHARACTER)
    }
}

/// A text that is whole, without marks.
pub fn unmarked(text: &str) -> String {
    let mut halves = Halves::default();
    let mut out = halves.take(text);
    out.extend(halves.end());
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The text that a reader makes of JSON strings that come one after the other.
    fn read(pieces: &[&str]) -> String {
        let mut halves = Halves::default();
        let mut out = String::new();
        for piece in pieces {
            let text: String = serde_json::from_slice(&marked(piece.as_bytes())).unwrap();
            out += &halves.take(&text);
        }
        out.extend(halves.end());
        out
    }

    #[test]
    fn halves_are_joined_over_pieces_and_a_lone_one_is_replaced() {
        assert_eq!(read(&[r#""ok \ud83d""#, r#""\ude00!""#]), "ok 😀!");
        assert_eq!(read(&[r#""\uD83D""#, r#""""#, r#""\uDE00""#]), "😀");
        assert_eq!(read(&[r#""a\ud83d""#]), "a\u{fffd}");
        assert_eq!(read(&[r#""\ude00b""#]), "\u{fffd}b");
        assert_eq!(read(&[r#""\ud83d\ud83d\ude00""#]), "\u{fffd}😀");
        assert_eq!(read(&[r#""\ud83d x""#]), "\u{fffd} x");
    }

    #[test]
    fn what_has_no_lone_half_stays_as_it_is() {
        for json in [r#""\ud83d\ude00""#, r#""\\ud83d""#, r#""\n\u00e9""#, r#""\u12"#, "\"\\", "\\u", ""] {
            assert!(
                matches!(marked(json.as_bytes()), Cow::Borrowed(same) if same == json.as_bytes()),
                "{json}"
            );
        }
    }

    proptest! {
        /// Cut anywhere by UTF-16 units, a text is the same again.
        #[test]
        fn cuts_by_units_do_not_matter(text in "[a😀é\"\\\\]{0,8}", at in 0..20usize) {
            let units: Vec<u16> = text.encode_utf16().collect();
            let (one, two) = units.split_at(at.min(units.len()));
            let json = |units: &[u16]| {
                let escaped: String = units.iter().map(|unit| format!("\\u{unit:04x}")).collect();
                format!("\"{escaped}\"")
            };
            prop_assert_eq!(read(&[&json(one), &json(two)]), text);
        }
    }
}
