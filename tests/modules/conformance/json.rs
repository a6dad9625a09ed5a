//! JSON: reads a value, and writes it piece by piece, for a large one fits into the memory of a module only once or twice.

use std::io::{self, Write};

/// The deepest nesting that is read.
const DEEPEST: u32 = 64;

#[derive(Clone, PartialEq)]
pub enum Json {
    Null,
    Bool(bool),
    /// As it was written.
    Number(String),
    Text(String),
    List(Vec<Json>),
    Object(Vec<(String, Json)>),
}

pub fn object<const N: usize>(members: [(&str, Json); N]) -> Json {
    Json::Object(members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
}

pub fn text(text: &str) -> Json {
    Json::Text(text.to_owned())
}

pub fn number(number: i64) -> Json {
    Json::Number(number.to_string())
}

impl Json {
    /// A member of an object.
    pub fn get(&self, name: &str) -> Option<&Json> {
        match self {
            Json::Object(members) => members.iter().find(|member| member.0 == name).map(|member| &member.1),
            _ => None,
        }
    }

    /// Takes a member out of an object.
    pub fn take(&mut self, name: &str) -> Option<Json> {
        match self {
            Json::Object(members) => {
                let at = members.iter().position(|member| member.0 == name)?;
                Some(members.swap_remove(at).1)
            }
            _ => None,
        }
    }

    /// The text that a member is.
    pub fn text(&self, name: &str) -> Option<&str> {
        match self.get(name) {
            Some(Json::Text(text)) => Some(text),
            _ => None,
        }
    }

    /// The whole number that a member is, from 0.
    pub fn count(&self, name: &str) -> Option<usize> {
        match self.get(name) {
            Some(Json::Number(digits)) => digits.parse().ok(),
            _ => None,
        }
    }

    /// Adds a member to an object that has none of this name.
    pub fn add(&mut self, name: &str, value: Json) {
        let is_new = self.get(name).is_none();
        if let (true, Json::Object(members)) = (is_new, self) {
            members.push((name.to_owned(), value));
        }
    }

    /// Reads a whole text; None if it is no JSON.
    pub fn read(text: &str) -> Option<Json> {
        let mut reader = Reader { text, at: 0 };
        let value = reader.value(DEEPEST)?;
        reader.space();
        if reader.at == text.len() {
            Some(value)
        } else {
            None
        }
    }

    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        match self {
            Json::Null => out.write_all(b"null"),
            Json::Bool(is) => write!(out, "{is}"),
            Json::Number(digits) => out.write_all(digits.as_bytes()),
            Json::Text(text) => quote(text, out),
            Json::List(items) => {
                for (at, item) in items.iter().enumerate() {
                    out.write_all(if at == 0 { b"[" } else { b"," })?;
                    item.write(out)?;
                }
                out.write_all(if items.is_empty() { b"[]" } else { b"]" })
            }
            Json::Object(members) => {
                for (at, (name, value)) in members.iter().enumerate() {
                    out.write_all(if at == 0 { b"{" } else { b"," })?;
                    quote(name, out)?;
                    out.write_all(b":")?;
                    value.write(out)?;
                }
                out.write_all(if members.is_empty() { b"{}" } else { b"}" })
            }
        }
    }

    /// The value as one text.
    pub fn written(&self) -> String {
        let mut bytes = Vec::new();
        self.write(&mut bytes).expect("a vector takes everything");
        String::from_utf8(bytes).expect("JSON is UTF-8")
    }
}

/// How many bytes, from the first, stand for themselves within a text: none below the space, no quote, no backslash. A large
/// text is most of what the interpreter computes, so eight bytes at once are looked at while they are plain.
fn plain(bytes: &[u8]) -> usize {
    let eights = bytes.chunks_exact(8).take_while(|eight| is_plain(eight)).count() * 8;
    let is_other = |byte: &u8| *byte < b' ' || *byte == b'"' || *byte == b'\\';
    bytes[eights..].iter().position(is_other).map_or(bytes.len(), |at| eights + at)
}

/// Whether eight bytes are plain, by the highest bit of each: subtracting sets it where a byte was too small. A borrow reaches
/// the byte above only from one that is not plain.
fn is_plain(eight: &[u8]) -> bool {
    const ONES: u64 = 0x0101_0101_0101_0101;
    let word = eight.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
    let (quote, slash) = (word ^ (ONES * b'"' as u64), word ^ (ONES * b'\\' as u64));
    let control = word.wrapping_sub(ONES * b' ' as u64) & !word;
    let same = quote.wrapping_sub(ONES) & !quote | slash.wrapping_sub(ONES) & !slash;
    (control | same) & (ONES * 0x80) == 0
}

fn quote(text: &str, out: &mut dyn Write) -> io::Result<()> {
    let mut rest = text.as_bytes();
    out.write_all(b"\"")?;
    loop {
        let (piece, others) = rest.split_at(plain(rest));
        out.write_all(piece)?;
        match others.first() {
            Some(letter @ (b'"' | b'\\')) => out.write_all(&[b'\\', *letter])?,
            Some(control) => write!(out, "\\u{control:04x}")?,
            None => return out.write_all(b"\""),
        }
        rest = &others[1..];
    }
}

struct Reader<'a> {
    text: &'a str,
    /// In bytes; always where a letter begins.
    at: usize,
}

impl<'a> Reader<'a> {
    fn next(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn space(&mut self) {
        self.at = self.text.len()
            - self.rest().trim_start_matches(|it| matches!(it, ' ' | '\t' | '\n' | '\r')).len();
    }

    /// Goes on behind a word, if it is next.
    fn takes(&mut self, word: &str) -> bool {
        let is = self.rest().starts_with(word);
        self.at += if is { word.len() } else { 0 };
        is
    }

    fn value(&mut self, depth: u32) -> Option<Json> {
        self.space();
        match self.next()? {
            b'"' => self.text().map(Json::Text),
            b'-' | b'0'..=b'9' => self.number(),
            _ if self.takes("[") => self.list(depth.checked_sub(1)?),
            _ if self.takes("{") => self.object(depth.checked_sub(1)?),
            _ if self.takes("null") => Some(Json::Null),
            _ if self.takes("true") => Some(Json::Bool(true)),
            _ if self.takes("false") => Some(Json::Bool(false)),
            _ => None,
        }
    }

    fn number(&mut self) -> Option<Json> {
        let is_part = |byte: &u8| matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E');
        let digits = &self.rest()[..self.rest().bytes().take_while(is_part).count()];
        self.at += digits.len();
        digits.parse::<f64>().ok().map(|_| Json::Number(digits.to_owned()))
    }

    fn list(&mut self, depth: u32) -> Option<Json> {
        let mut items = Vec::new();
        while let Some(true) = self.goes_on("]", items.is_empty()) {
            items.push(self.value(depth)?);
        }
        self.takes("]").then(|| Json::List(items))
    }

    fn object(&mut self, depth: u32) -> Option<Json> {
        let mut members = Vec::new();
        while let Some(true) = self.goes_on("}", members.is_empty()) {
            self.space();
            let name = self.text()?;
            self.space();
            if !self.takes(":") {
                return None;
            }
            members.push((name, self.value(depth)?));
        }
        self.takes("}").then(|| Json::Object(members))
    }

    /// Whether another item comes before the end; None if neither does.
    fn goes_on(&mut self, end: &str, is_first: bool) -> Option<bool> {
        self.space();
        if self.rest().starts_with(end) {
            return Some(false);
        }
        (is_first || self.takes(",")).then(|| true)
    }

    fn text(&mut self) -> Option<String> {
        if !self.takes("\"") {
            return None;
        }
        let mut text = String::new();
        loop {
            let piece = &self.rest()[..plain(self.rest().as_bytes())];
            text.push_str(piece);
            self.at += piece.len();
            if self.takes("\"") {
                return Some(text);
            }
            if !self.takes("\\") {
                return None;
            }
            text.push(self.escaped()?);
        }
    }

    fn escaped(&mut self) -> Option<char> {
        let byte = self.next()?;
        // A letter of several bytes is no escape, and ends the reading.
        self.at += 1;
        Some(match byte {
            b'"' | b'\\' | b'/' => byte as char,
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => return self.letter(),
            _ => return None,
        })
    }

    /// Letters of other planes are written as two units.
    fn letter(&mut self) -> Option<char> {
        let first = self.unit()?;
        let second =
            if matches!(first, 0xd800..=0xdbff) && self.takes("\\u") { Some(self.unit()?) } else { None };
        let units = [Some(first), second];
        let mut letters = char::decode_utf16(units.iter().flatten().copied());
        match (letters.next()?, letters.next()) {
            (Ok(letter), None) => Some(letter),
            _ => None,
        }
    }

    fn unit(&mut self) -> Option<u16> {
        let digits = self.text.get(self.at..self.at + 4)?;
        self.at += 4;
        u16::from_str_radix(digits, 16).ok()
    }
}
