//! The arguments of a call in the form that the person sees: key by key, in their order.
//!
//! ```text
//!  {"to":"a@b.example","mail":{"text":"Hi\u200b"},"n":[1,2]}
//!  to         a@b.example
//!  mail.text  Hi\u{200b}
//!  n          [1,2]
//! ```
//!
//! Owns which values are shown whole and which are cut; a cut value says so. Must never leave a key out without a word. Must
//! never show a character that nobody would see: what is shown is what leaves.

use std::fmt::Write as _;

use harbor_ipc_proto::hidden::is_hidden;

pub(super) mod values;

use self::values::{Letters, ValueCursor};

/// The largest arguments that can be asked about, in bytes.
pub const MOST: usize = 1024 * 1024;

/// Fields that are shown; any more are only counted.
const MOST_FIELDS: usize = 64;
/// Bytes of a text, and of a key, that are shown.
const MOST_TEXT: usize = 2000;
const MOST_KEY: usize = 500;
/// The most bytes for which an array of numbers and short texts is one field.
const MOST_ROW: usize = 200;
/// The depth that is shown in fields; anything deeper is shown as JSON.
const DEEPEST: usize = 32;

/// One argument of a call in the form for the person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    /// Its key, with those above it: `a.b[0]`.
    pub key: String,
    /// Its value: a string unchanged, anything else as JSON. Hidden characters are written out as `\u{…}`.
    pub text: String,
    /// How many bytes the value has, where `text` is only its beginning.
    pub bytes: Option<u64>,
}

/// The arguments of a call as fields. A text that is no JSON object is one field without a key.
#[must_use]
pub fn fields(arguments: &str) -> Vec<Field> {
    let mut shown = Shown::default();
    match ValueCursor::of(arguments) {
        Some(mut values) => shown.object(&mut values),
        None => shown.add(Letters::plain(arguments)),
    }
    shown.fields()
}

/// The fields so far, and the place of the walk.
#[derive(Debug, Default)]
struct Shown {
    fields: Vec<Field>,
    /// How many fields there are, those that are not kept among them.
    count: usize,
    key: ShownText,
    depth: usize,
}

impl Shown {
    fn value(&mut self, values: &mut ValueCursor<'_>) {
        match values.peek() {
            Some(b'{') if self.depth < DEEPEST => self.object(values),
            Some(b'[') if self.depth < DEEPEST => self.array(values),
            _ => self.add(Letters::of(values.whole())),
        }
    }

    fn object(&mut self, values: &mut ValueCursor<'_>) {
        let is_top = self.depth == 0;
        values.enter();
        if !is_top && values.leave() {
            return self.add(Letters::plain("{}"));
        }
        while !values.leave() {
            let key = Letters::of(values.whole());
            self.below(values, |path| {
                if !is_top {
                    path.put(Letters::plain("."), MOST_KEY, is_odd_in_key);
                }
                path.put(key, MOST_KEY, is_odd_in_key);
            });
        }
    }

    fn array(&mut self, values: &mut ValueCursor<'_>) {
        if let Some(row) = values.row(MOST_ROW) {
            return self.add(Letters::plain(row));
        }
        values.enter();
        for at in 0_usize.. {
            if values.leave() {
                break;
            }
            self.below(values, |path| path.put(Letters::plain(&format!("[{at}]")), MOST_KEY, is_odd_in_key));
        }
    }

    /// The next value, under a key that is longer by what `lengthen` adds.
    fn below(&mut self, values: &mut ValueCursor<'_>, lengthen: impl FnOnce(&mut ShownText)) {
        let before = (self.key.text.len(), self.key.bytes, self.key.is_cut);
        // Nobody sees the keys of what is only counted.
        if self.count < MOST_FIELDS {
            lengthen(&mut self.key);
        }
        self.depth += 1;
        self.value(values);
        self.depth -= 1;
        self.key.text.truncate(before.0);
        (self.key.bytes, self.key.is_cut) = (before.1, before.2);
    }

    fn add(&mut self, value: Letters<'_>) {
        self.count += 1;
        if self.count > MOST_FIELDS {
            return;
        }
        let mut shown = ShownText::default();
        shown.put(value, MOST_TEXT, is_odd);
        let bytes = shown.is_cut.then(|| u64::try_from(shown.bytes).unwrap_or(u64::MAX));
        self.fields.push(Field { key: self.key.as_key(), text: shown.text, bytes });
    }

    fn fields(mut self) -> Vec<Field> {
        if self.count > MOST_FIELDS {
            self.fields.truncate(MOST_FIELDS - 1);
            let more = self.count - self.fields.len();
            self.fields.push(Field { key: "…".into(), text: format!("{more} more"), bytes: None });
        }
        self.fields
    }
}

/// A text with its hidden characters written out, as far as there is room for it.
#[derive(Debug, Default)]
struct ShownText {
    text: String,
    /// How many bytes there were.
    bytes: usize,
    is_cut: bool,
}

impl ShownText {
    /// Adds the letters that fit. `is_odd` tells, for a letter before another character, if it is written out.
    fn put(&mut self, mut letters: Letters<'_>, most: usize, is_odd: fn(char, char) -> bool) {
        self.bytes += letters.bytes();
        while !self.is_cut
            && let Some(letter) = letters.next()
        {
            let end = self.text.len();
            let before = self.text.chars().next_back().unwrap_or(' ');
            // Writing into a string cannot fail.
            let _ = match letter {
                Ok(letter) if !is_odd(before, letter) => self.text.write_char(letter),
                Ok(letter) => write!(self.text, "{}", letter.escape_unicode()),
                Err(half) => write!(self.text, "\\u{{{half:x}}}"),
            };
            if self.text.len() > most {
                self.text.truncate(end);
                self.is_cut = true;
            }
        }
    }

    fn as_key(&self) -> String {
        let Self { text, bytes, is_cut } = self;
        if *is_cut { format!("{text}… ({bytes} bytes)") } else { text.clone() }
    }
}

/// True if a character that follows `before` would be invisible, would look like a blank, or would overwrite its line.
fn is_odd(before: char, letter: char) -> bool {
    // Of sixteen blanks that look alike each would be four bits.
    let is_like_blank =
        matches!(letter, '\u{a0}' | '\u{1680}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}');
    letter == '\r' || is_like_blank || is_hidden(before, letter)
}

/// True if a character is odd in a key, which is one line.
fn is_odd_in_key(before: char, letter: char) -> bool {
    matches!(letter, '\n' | '\t') || is_odd(before, letter)
}

#[cfg(test)]
mod tests;
