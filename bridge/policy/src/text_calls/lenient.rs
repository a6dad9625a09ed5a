//! JSON as models write it: strict JSON, and the slips that small models make.
//!
//! ```text
//!  line breaks in strings, 'single quotes', """three of them""", True, None, commas before a bracket ─► the value that was meant
//! ```
//!
//! Owns which slips are forgiven. Must never guess a missing end: a value that breaks off is none. One pass, bounded depth.

use serde_json::{Map, Number, Value};

/// How deep values may be nested.
const DEEPEST: usize = 64;

/// The reason why nothing was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unread {
    /// The text ends within it.
    Ended,
    /// It is something else.
    Other,
}

/// The value that begins at `at`, and where it ends.
///
/// # Errors
/// When the text ends within it, or something else stands there.
pub(super) fn value(text: &str, at: usize) -> Result<(Value, usize), Unread> {
    let mut reader = LenientReader { text, at };
    let value = reader.value(0)?;
    Ok((value, reader.at))
}

/// The value that is the whole text, blanks aside.
pub(super) fn whole(text: &str) -> Option<Value> {
    let (value, end) = value(text, blanks(text, 0)).ok()?;
    text[end..].trim().is_empty().then_some(value)
}

/// The string that begins at `at` with a quotation mark, and where it ends.
///
/// # Errors
/// As for a value.
pub(super) fn string(text: &str, at: usize) -> Result<(String, usize), Unread> {
    let mut reader = LenientReader { text, at };
    let string = reader.string()?;
    Ok((string, reader.at))
}

/// The place of the next character that is not blank.
pub(super) fn blanks(text: &str, at: usize) -> usize {
    at + text[at..].bytes().take_while(u8::is_ascii_whitespace).count()
}

struct LenientReader<'a> {
    text: &'a str,
    at: usize,
}

impl LenientReader<'_> {
    fn peek(&mut self) -> Result<u8, Unread> {
        self.at = blanks(self.text, self.at);
        self.text.as_bytes().get(self.at).copied().ok_or(Unread::Ended)
    }

    fn value(&mut self, depth: usize) -> Result<Value, Unread> {
        if depth > DEEPEST {
            return Err(Unread::Other);
        }
        match self.peek()? {
            b'{' => self.object(depth),
            b'[' => self.array(depth),
            b'"' | b'\'' => self.string().map(Value::String),
            byte if byte.is_ascii_alphabetic() => self.word(),
            byte if byte.is_ascii_digit() || b"+-.".contains(&byte) => self.number(),
            _ => Err(Unread::Other),
        }
    }

    fn object(&mut self, depth: usize) -> Result<Value, Unread> {
        let mut members = Map::new();
        self.at += 1;
        loop {
            match self.peek()? {
                b'}' => break,
                b'"' | b'\'' => {}
                _ => return Err(Unread::Other),
            }
            let name = self.string()?;
            if self.peek()? != b':' {
                return Err(Unread::Other);
            }
            self.at += 1;
            members.insert(name, self.value(depth + 1)?);
            if !self.goes_on(b'}')? {
                break;
            }
        }
        self.at += 1;
        Ok(Value::Object(members))
    }

    fn array(&mut self, depth: usize) -> Result<Value, Unread> {
        let mut list = Vec::new();
        self.at += 1;
        while self.peek()? != b']' {
            list.push(self.value(depth + 1)?);
            if !self.goes_on(b']')? {
                break;
            }
        }
        self.at += 1;
        Ok(Value::Array(list))
    }

    /// True behind a comma, false at the closing bracket.
    fn goes_on(&mut self, closing: u8) -> Result<bool, Unread> {
        match self.peek()? {
            b',' => {
                self.at += 1;
                Ok(true)
            }
            byte if byte == closing => Ok(false),
            _ => Err(Unread::Other),
        }
    }

    fn word(&mut self) -> Result<Value, Unread> {
        let rest = &self.text[self.at..];
        let length = rest.bytes().take_while(u8::is_ascii_alphanumeric).count();
        let value = match &rest[..length] {
            "true" | "True" => Value::Bool(true),
            "false" | "False" => Value::Bool(false),
            "null" | "None" => Value::Null,
            word if length == rest.len() => {
                let known = ["true", "True", "false", "False", "null", "None"];
                let is_cut = known.iter().any(|known| known.starts_with(word));
                return Err(if is_cut { Unread::Ended } else { Unread::Other });
            }
            _ => return Err(Unread::Other),
        };
        self.at += length;
        Ok(value)
    }

    fn number(&mut self) -> Result<Value, Unread> {
        let rest = &self.text[self.at..];
        let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || b"+-.".contains(byte);
        let length = rest.bytes().take_while(is_part).count();
        self.at += length;
        let is_last = length == rest.len();
        number(&rest[..length]).ok_or(if is_last { Unread::Ended } else { Unread::Other })
    }

    fn string(&mut self) -> Result<String, Unread> {
        let rest = &self.text[self.at..];
        if !rest.starts_with(['"', '\'']) {
            return Err(if rest.is_empty() { Unread::Ended } else { Unread::Other });
        }
        let mark = &rest[..1];
        let three = mark.repeat(3);
        let mark = if rest.starts_with(&three) { three.as_str() } else { mark };
        let mut out = String::new();
        self.at += mark.len();
        loop {
            let rest = &self.text[self.at..];
            let next = rest.find(|c| c == '\\' || mark.starts_with(c)).ok_or(Unread::Ended)?;
            out.push_str(&rest[..next]);
            self.at += next;
            let rest = &rest[next..];
            if rest.starts_with(mark) {
                self.at += mark.len();
                return Ok(out);
            }
            if rest.starts_with('\\') {
                self.escaped(&mut out)?;
            } else {
                out.push_str(&rest[..1]);
                self.at += 1;
            }
        }
    }

    /// Adds what stands behind a backslash. An escape that JSON does not know stays as it is.
    fn escaped(&mut self, out: &mut String) -> Result<(), Unread> {
        let rest = &self.text[self.at + 1..];
        let c = rest.chars().next().ok_or(Unread::Ended)?;
        self.at += 1 + c.len_utf8();
        match c {
            'n' => out.push('\n'),
            't' => out.push('\t'),
            'r' => out.push('\r'),
            'b' => out.push('\u{8}'),
            'f' => out.push('\u{c}'),
            '"' | '\'' | '\\' | '/' => out.push(c),
            'u' => {
                let Some(unit) = self.unit()? else {
                    out.push_str("\\u");
                    return Ok(());
                };
                out.push(self.character(unit)?);
            }
            c => out.extend(['\\', c]),
        }
        Ok(())
    }

    /// Four hexadecimal digits.
    fn unit(&mut self) -> Result<Option<u32>, Unread> {
        let rest = &self.text[self.at..];
        if rest.len() < 4 && rest.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(Unread::Ended);
        }
        let digits = rest.get(..4).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()));
        let Some(digits) = digits else { return Ok(None) };
        self.at += 4;
        Ok(u32::from_str_radix(digits, 16).ok())
    }

    /// The character of a unit, or of two that belong together.
    fn character(&mut self, unit: u32) -> Result<char, Unread> {
        let replaced = char::REPLACEMENT_CHARACTER;
        if !(0xD800..0xDC00).contains(&unit) {
            return Ok(char::from_u32(unit).unwrap_or(replaced));
        }
        let before = self.at;
        let rest = &self.text[self.at..];
        if rest.is_empty() || rest == "\\" {
            return Err(Unread::Ended);
        }
        if rest.starts_with("\\u") {
            self.at += 2;
            if let Some(low) = self.unit()?.filter(|low| (0xDC00..0xE000).contains(low)) {
                let both = 0x1_0000 + ((unit - 0xD800) << 10) + (low - 0xDC00);
                return Ok(char::from_u32(both).unwrap_or(replaced));
            }
        }
        self.at = before;
        Ok(replaced)
    }
}

/// A number; as text where JSON has none of this form, such as `007`.
fn number(text: &str) -> Option<Value> {
    let digits = text.trim_start_matches(['+', '-']);
    if digits.len() > 1 && digits.starts_with('0') && digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Some(Value::String(text.to_owned()));
    }
    if let Ok(number) = text.parse::<i64>() {
        return Some(number.into());
    }
    if let Ok(number) = text.parse::<u64>() {
        return Some(number.into());
    }
    if !digits.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
        return None;
    }
    text.parse().ok().and_then(Number::from_f64).map(Value::Number)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn slips_are_forgiven() {
        for (text, meant) in [
            ("{'a': True, \"b\": None, }", json!({"a": true, "b": null})),
            ("[1, -2.5, 1e3, 007,]", json!([1, -2.5, 1000.0, "007"])),
            ("\"two\nlines \\o/ \\ud83d\\ude32 \\ud83d\"", json!("two\nlines \\o/ 😲 \u{FFFD}")),
            ("'''it's \"so\"'''", json!("it's \"so\"")),
            ("\"\"", json!("")),
        ] {
            assert_eq!(whole(text), Some(meant), "{text}");
        }
    }

    #[test]
    fn a_value_that_breaks_off_is_none_and_so_is_something_else() {
        for text in
            ["{\"a\": ", "[1,", "\"a\\", "\"\\u00", "\"\\ud83d", "{\"a\": tru", "{\"a\"", "{", "'''a''"]
        {
            assert_eq!(value(text, 0), Err(Unread::Ended), "{text}");
        }
        for text in ["{a: 1}", "[1 2]", "hello there", "}", "{\"a\" 1}", "{\"a\": 1 \"b\"}"] {
            assert_eq!(value(text, 0), Err(Unread::Other), "{text}");
        }
        assert_eq!(value(&"[".repeat(1000), 0), Err(Unread::Other), "too deep");
    }

    proptest! {
        #[test]
        fn strict_json_is_read_as_it_is(text in "\\PC{0,20}", number in any::<i64>(), list in prop::collection::vec(any::<bool>(), 0..4)) {
            let strict = json!({"text": text, "n": number, "list": list, "deep": {"": [null, text]}});
            prop_assert_eq!(whole(&strict.to_string()), Some(strict.clone()));
            prop_assert_eq!(whole(&format!("{strict:#}")), Some(strict));
        }

        #[test]
        fn a_beginning_is_never_taken_for_the_whole(text in "\\PC{0,20}", at in any::<prop::sample::Index>()) {
            let strict = json!({"text": text, "n": [1, true]}).to_string();
            let cut = strict.floor_char_boundary(at.index(strict.len()));
            prop_assert_eq!(value(&strict[..cut], 0), Err(Unread::Ended));
        }
    }
}
