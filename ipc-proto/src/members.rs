//! Takes a JSON object apart into its members. Each value stays the text that it was.
//!
//! ```text
//!  { ─► "key" ─► : ─► value, checked to its last byte ─► , ─► "key" … ─► } ─► nothing more
//!                       │ [ {  one more is open        │
//!                       └──────── until none is ◄──────┘
//! ```
//!
//! One pass, and nothing is built: Harbor looks at the text here once, and passes it on unchanged. Accepts exactly what
//! serde_json accepts, since the next reader of the text must not find it broken. A property test and the fuzz target
//! `fields` compare the two. Owns that judgement. Must never recurse, since texts nest as deep as their authors like; must
//! never decode a value.
//!
//! Functions for each small token are inlined by force: 64 KB of structured content then take 55 µs instead of 78.

use std::borrow::Cow;

use crate::strings::{plain_end, text_of};

/// The members of one object, in their order.
#[derive(Debug)]
pub struct Members<'a> {
    cursor: Cursor<'a>,
    place: CursorPlace,
}

/// The cursor's place in the object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CursorPlace {
    Before,
    Inside,
    Behind,
}

/// Why a text is no JSON object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Malformed {
    /// The fault; a sentence without an end.
    pub what: &'static str,
    /// The place of the fault, in bytes from the start.
    pub at: usize,
}

/// A key, and the text of its value.
pub type Member<'a> = (Cow<'a, str>, &'a str);

impl<'a> Members<'a> {
    /// The members of the object that `text` is.
    #[must_use]
    pub fn of(text: &'a str) -> Self {
        Self { cursor: Cursor { text, at: 0 }, place: CursorPlace::Before }
    }

    /// The next member; `None` at the end of the object, which must then be the end of the text.
    fn step(&mut self) -> Result<Option<Member<'a>>, CursorError> {
        let cursor = &mut self.cursor;
        match (cursor.peek()?, self.place) {
            (b'{', CursorPlace::Before) => cursor.at += 1,
            (b'[' | b'"' | b'-' | b'0'..=b'9' | b't' | b'f' | b'n', CursorPlace::Before) => {
                return Err(CursorError::Kind);
            }
            (b',', CursorPlace::Inside) => cursor.at += 1,
            (b'}', CursorPlace::Inside) => return self.end(),
            _ => return Err(CursorError::Syntax),
        }
        if self.place == CursorPlace::Before && cursor.peek()? == b'}' {
            return self.end();
        }
        self.place = CursorPlace::Inside;
        let key = cursor.key()?;
        let _ = cursor.peek()?;
        let from = cursor.at;
        cursor.value()?;
        Ok(Some((key_of(key), cursor.text.get(from..cursor.at).unwrap_or_default())))
    }

    fn end(&mut self) -> Result<Option<Member<'a>>, CursorError> {
        self.place = CursorPlace::Behind;
        self.cursor.at += 1;
        match self.cursor.peek() {
            Err(CursorError::End) => Ok(None),
            _ => Err(CursorError::Syntax),
        }
    }
}

impl<'a> Iterator for Members<'a> {
    type Item = Result<Member<'a>, Malformed>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.place == CursorPlace::Behind {
            return None;
        }
        self.step().transpose().map(|member| {
            member.map_err(|wrong| {
                self.place = CursorPlace::Behind;
                Malformed { what: wrong.in_words(), at: self.cursor.at }
            })
        })
    }
}

/// The text of a key. A key with half a surrogate pair is no text: it stays as it is. Nobody asks for it, but the object
/// has other members.
fn key_of(quoted: &str) -> Cow<'_, str> {
    text_of(quoted).unwrap_or(quoted.into())
}

/// Why a cursor cannot go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CursorError {
    End,
    Syntax,
    Kind,
}

impl CursorError {
    fn in_words(self) -> &'static str {
        match self {
            Self::End => "it ends too early",
            Self::Syntax => "syntax error",
            Self::Kind => "it is another kind of value",
        }
    }
}

/// Moves over JSON text. At a fault it stops.
#[derive(Debug)]
struct Cursor<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Cursor<'a> {
    /// The next byte that is no white space. The cursor stops before it.
    #[inline(always)]
    fn peek(&mut self) -> Result<u8, CursorError> {
        let bytes = self.text.as_bytes();
        loop {
            match bytes.get(self.at) {
                Some(b' ' | b'\n' | b'\t' | b'\r') => self.at += 1,
                Some(byte) => return Ok(*byte),
                None => return Err(CursorError::End),
            }
        }
    }

    /// Moves over a key and the colon after it. Returns the key with its quotes.
    #[inline(always)]
    fn key(&mut self) -> Result<&'a str, CursorError> {
        if self.peek()? != b'"' {
            return Err(CursorError::Syntax);
        }
        let from = self.at;
        self.string()?;
        let key = self.text.get(from..self.at).unwrap_or_default();
        if self.peek()? != b':' {
            return Err(CursorError::Syntax);
        }
        self.at += 1;
        Ok(key)
    }

    /// Moves over one value and everything in it.
    fn value(&mut self) -> Result<(), CursorError> {
        let mut open = Open::default();
        loop {
            match self.peek()? {
                b'"' => self.string()?,
                b'{' => {
                    self.at += 1;
                    if self.peek()? != b'}' {
                        open.push(Bracket::Object);
                        self.key()?;
                        continue;
                    }
                    self.at += 1;
                }
                b'[' => {
                    self.at += 1;
                    if self.peek()? != b']' {
                        open.push(Bracket::Array);
                        continue;
                    }
                    self.at += 1;
                }
                b'-' | b'0'..=b'9' => self.number()?,
                b't' => self.word(b"true")?,
                b'f' => self.word(b"false")?,
                b'n' => self.word(b"null")?,
                _ => return Err(CursorError::Syntax),
            }
            if self.behind_value(&mut open)? {
                return Ok(());
            }
        }
    }

    /// Moves from the end of a value to the next value, over all brackets that close there. Returns true if no bracket is
    /// open any more.
    #[inline(always)]
    fn behind_value(&mut self, open: &mut Open) -> Result<bool, CursorError> {
        while let Some(bracket) = open.last() {
            match (self.peek()?, bracket) {
                (b',', Bracket::Array) => {
                    self.at += 1;
                    return Ok(false);
                }
                (b',', Bracket::Object) => {
                    self.at += 1;
                    self.key()?;
                    return Ok(false);
                }
                (b']', Bracket::Array) | (b'}', Bracket::Object) => {
                    self.at += 1;
                    open.pop();
                }
                _ => return Err(CursorError::Syntax),
            }
        }
        Ok(true)
    }

    fn word(&mut self, word: &[u8]) -> Result<(), CursorError> {
        let rest = self.text.as_bytes().get(self.at..).unwrap_or_default();
        let same = rest.iter().zip(word).take_while(|(found, wanted)| found == wanted).count();
        self.at += same;
        if same == word.len() { Ok(()) } else { Err(self.wrong()) }
    }

    /// Moves over a number: `-`, digits without a leading zero, a fraction, an exponent.
    #[inline(always)]
    fn number(&mut self) -> Result<(), CursorError> {
        let bytes = self.text.as_bytes();
        if bytes.get(self.at) == Some(&b'-') {
            self.at += 1;
        }
        if bytes.get(self.at) == Some(&b'0') {
            self.at += 1;
        } else {
            self.digits()?;
        }
        if bytes.get(self.at) == Some(&b'.') {
            self.at += 1;
            self.digits()?;
        }
        if matches!(bytes.get(self.at), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(bytes.get(self.at), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.digits()?;
        }
        Ok(())
    }

    fn digits(&mut self) -> Result<(), CursorError> {
        let (bytes, from) = (self.text.as_bytes(), self.at);
        let mut at = from;
        while bytes.get(at).is_some_and(u8::is_ascii_digit) {
            at += 1;
        }
        self.at = at;
        if at > from { Ok(()) } else { Err(self.wrong()) }
    }

    /// Moves over a string with both quotes. The cursor is before the first.
    #[inline(always)]
    fn string(&mut self) -> Result<(), CursorError> {
        let bytes = self.text.as_bytes();
        let mut at = self.at + 1;
        loop {
            at = plain_end(bytes, at);
            match bytes.get(at) {
                Some(b'"') => {
                    self.at = at + 1;
                    return Ok(());
                }
                Some(b'\\') => match escape_end(bytes, at) {
                    Some(end) => at = end,
                    None => break,
                },
                _ => break,
            }
        }
        self.at = at;
        Err(self.wrong())
    }

    /// The fault at the cursor.
    fn wrong(&self) -> CursorError {
        if self.at < self.text.len() { CursorError::Syntax } else { CursorError::End }
    }
}

/// The place after the escape that begins at `at`; `None` if there is no valid escape. As in serde_json, half a surrogate
/// pair is valid here: a reader that decodes the text finds it.
fn escape_end(bytes: &[u8], at: usize) -> Option<usize> {
    match bytes.get(at + 1)? {
        b'u' => bytes.get(at + 2..at + 6)?.iter().all(u8::is_ascii_hexdigit).then_some(at + 6),
        b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => Some(at + 2),
        _ => None,
    }
}

/// A bracket that is open around a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Bracket {
    Array,
    Object,
}

/// All open brackets, the innermost last: one bit each, after a one that marks the first. Only deeper brackets need memory
/// on the heap.
#[derive(Debug)]
struct Open {
    bits: u64,
    outer: Vec<u64>,
}

impl Default for Open {
    fn default() -> Self {
        Self { bits: 1, outer: Vec::new() }
    }
}

impl Open {
    fn push(&mut self, bracket: Bracket) {
        if self.bits.leading_zeros() == 0 {
            self.outer.push(std::mem::replace(&mut self.bits, 1));
        }
        self.bits = self.bits << 1 | u64::from(bracket == Bracket::Object);
    }

    fn pop(&mut self) {
        self.bits >>= 1;
        if self.bits == 1
            && let Some(outer) = self.outer.pop()
        {
            self.bits = outer;
        }
    }

    fn last(&self) -> Option<Bracket> {
        let bracket = if self.bits & 1 == 1 { Bracket::Object } else { Bracket::Array };
        (self.bits != 1).then_some(bracket)
    }
}

#[cfg(test)]
mod tests;
