//! The values of a JSON text, one after the other: where each begins and ends, and the letters of a string.
//!
//! ```text
//!  {"a":[1,"x"]}   enter {   whole "a"   enter [   whole 1   whole "x"   leave ]   leave }
//! ```
//!
//! Owns the walk over a text that is known to be JSON: it skips commas and colons like white space. Must never build a tree, and
//! must never go deeper than its caller does.

use harbor_ipc_proto::members::Members;

/// A place in a JSON text, before a value or behind it.
#[derive(Debug, Clone, Copy)]
pub(in crate::consent) struct ValueCursor<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> ValueCursor<'a> {
    /// A cursor before the object in `text`. None if the text is no object.
    pub(in crate::consent) fn of(text: &'a str) -> Option<Self> {
        Members::of(text).all(|member| member.is_ok()).then_some(Self { text, at: 0 })
    }

    /// The first byte of the next value, or of the end of the entered one. None at the end of the text.
    pub(in crate::consent) fn peek(&mut self) -> Option<u8> {
        let rest = self.text.as_bytes().get(self.at..)?;
        let passed = rest.iter().position(|byte| !matches!(byte, b' ' | b'\n' | b'\t' | b'\r' | b',' | b':'));
        self.at += passed.unwrap_or(rest.len());
        rest.get(passed?).copied()
    }

    /// Moves into the object or array that comes next.
    pub(in crate::consent) fn enter(&mut self) {
        if self.peek().is_some() {
            self.at += 1;
        }
    }

    /// Leaves the innermost object or array if nothing more is in it. True if it was left.
    pub(in crate::consent) fn leave(&mut self) -> bool {
        let ends = matches!(self.peek(), Some(b'}' | b']') | None);
        if ends {
            self.enter();
        }
        ends
    }

    /// The next value, or key, in written form.
    pub(in crate::consent) fn whole(&mut self) -> &'a str {
        let _ = self.peek();
        let (from, mut open) = (self.at, 0_usize);
        while let Some(byte) = self.peek() {
            match byte {
                b'"' => self.pass_string(),
                b'{' | b'[' => (open, self.at) = (open + 1, self.at + 1),
                b'}' | b']' => (open, self.at) = (open.saturating_sub(1), self.at + 1),
                _ => self.pass_word(),
            }
            if open == 0 {
                break;
            }
        }
        self.text.get(from..self.at).unwrap_or_default()
    }

    /// The next value, if it is an array of at most `most` bytes with neither arrays, objects nor escapes in it.
    pub(in crate::consent) fn row(&mut self, most: usize) -> Option<&'a str> {
        let end = self.text.floor_char_boundary((self.at + most).min(self.text.len()));
        let mut ahead = Self { text: self.text.get(..end)?, at: self.at };
        ahead.enter();
        while !matches!(ahead.peek()?, b']') {
            let is_plain = !matches!(ahead.peek(), Some(b'[' | b'{')) && !ahead.whole().contains('\\');
            is_plain.then_some(())?;
        }
        Some(self.whole())
    }

    fn pass_string(&mut self) {
        let bytes = self.text.as_bytes();
        self.at += 1;
        while let Some(rest) = bytes.get(self.at..) {
            match rest.iter().position(|byte| matches!(byte, b'"' | b'\\')) {
                Some(found) if rest[found] == b'\\' => self.at += found + 2,
                Some(found) => return self.at += found + 1,
                None => break,
            }
        }
        self.at = bytes.len();
    }

    /// Moves past a number, or past `true`, `false` or `null`.
    fn pass_word(&mut self) {
        let rest = self.text.as_bytes().get(self.at..).unwrap_or_default();
        let is_of_word = |byte: &u8| byte.is_ascii_alphanumeric() || b"+-.".contains(byte);
        self.at += rest.iter().position(|byte| !is_of_word(byte)).unwrap_or(rest.len()).max(1);
    }
}

/// The letters of a text; half of a surrogate pair is none.
#[derive(Debug, Clone, Copy)]
pub(super) struct Letters<'a> {
    rest: &'a str,
    has_escapes: bool,
}

impl<'a> Letters<'a> {
    /// The letters of a value. A JSON string comes without quotes and with escapes resolved, any other value in written form.
    pub(super) fn of(value: &'a str) -> Self {
        match value.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
            Some(rest) => Self { rest, has_escapes: true },
            None => Self::plain(value),
        }
    }

    /// The letters of a text that is no JSON.
    pub(super) fn plain(text: &'a str) -> Self {
        Self { rest: text, has_escapes: false }
    }

    /// How many bytes they are.
    pub(super) fn bytes(mut self) -> usize {
        let mut bytes = 0;
        while self.has_escapes
            && let Some(at) = self.rest.bytes().position(|byte| byte == b'\\')
        {
            self.pass(at);
            bytes += at + self.next().map_or(0, size);
        }
        bytes + self.rest.len()
    }

    fn pass(&mut self, bytes: usize) {
        self.rest = self.rest.get(bytes..).unwrap_or_default();
    }

    /// Reads the letter that an escape stands for, from behind its backslash.
    fn escaped(&mut self) -> Result<char, u32> {
        let letter = self.rest.chars().next().unwrap_or('\\');
        self.pass(letter.len_utf8());
        match letter {
            'b' => Ok('\u{8}'),
            'f' => Ok('\u{c}'),
            'n' => Ok('\n'),
            'r' => Ok('\r'),
            't' => Ok('\t'),
            'u' => self.unit(),
            letter => Ok(letter),
        }
    }

    /// Reads the letter of a `\u` escape from its four digits. If they are half of a surrogate pair, reads the other half, too.
    fn unit(&mut self) -> Result<char, u32> {
        let first = digits(self.rest);
        self.pass(4);
        let second = self.rest.strip_prefix("\\u").map(digits);
        match (first, second) {
            (0xd800..0xdc00, Some(second @ 0xdc00..0xe000)) => {
                self.pass(6);
                char::from_u32(0x10000 + ((first & 0x3ff) << 10) + (second & 0x3ff)).ok_or(first)
            }
            _ => char::from_u32(first).ok_or(first),
        }
    }
}

impl Iterator for Letters<'_> {
    type Item = Result<char, u32>;

    fn next(&mut self) -> Option<Self::Item> {
        let letter = self.rest.chars().next()?;
        self.pass(letter.len_utf8());
        Some(if letter == '\\' && self.has_escapes { self.escaped() } else { Ok(letter) })
    }
}

/// The bytes of a letter, or of half of a pair.
fn size(letter: Result<char, u32>) -> usize {
    letter.map_or(3, char::len_utf8)
}

fn digits(text: &str) -> u32 {
    text.get(..4).and_then(|digits| u32::from_str_radix(digits, 16).ok()).unwrap_or(0xd800)
}
