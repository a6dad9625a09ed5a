//! Decides whether the person typed, in this chat, everything that a call carries.
//!
//! ```text
//!  typed: "mail Ann <ann@b.example> that I am late"
//!  {"to":"ann@b.example","text":"I am late"}  covered
//!  {"to":"ann@b.example","text":"I am"}       covered
//!  {"to":"nn@b.example"}                      not: its first word is a part of one
//!  {"to":"ann@b.example","cc":"eve@e.example"}  not
//! ```
//!
//! Owns what counts as typed. Must never be generous: what it covers leaves without a question, though the model has read
//! something private. Yes and no, and the choice among typed texts, tell something, too: so the number of values is bounded.

use std::collections::HashSet;

use harbor_ipc_proto::hidden::has_hidden;
use harbor_ipc_proto::strings::text_of;
use serde_json::Value;

use self::places::ArgumentPlace;
use super::shown::values::ValueCursor;

mod places;

/// Bytes of typed text that are kept, the newest.
const MOST_KEPT: usize = 256 * 1024;
/// Larger arguments are not checked.
const MOST_ARGUMENTS: usize = 64 * 1024;
/// Arguments with more values, objects and arrays among them, are not covered.
const MOST_VALUES: usize = 64;
/// The most bits of information in a call by choices among constants, and between yes and no.
const MOST_BITS: u32 = 16;
/// Bytes of an id.
const LONGEST_ID: usize = 64;

/// Stands between two texts. No value has one, since it is hidden.
const BETWEEN: char = '\0';

/// The texts that the person typed in a chat, the oldest first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Typed(String);

impl Typed {
    /// Nothing was typed yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a text that the person typed. Text that is too old is dropped: whole texts, or words of the only one.
    pub fn add(&mut self, text: &str) {
        let start = text.ceil_char_boundary(text.len().saturating_sub(MOST_KEPT));
        let whole_words = match start {
            0 => text,
            _ => text[start..].find(|c: char| !c.is_alphanumeric()).map_or("", |end| &text[start + end..]),
        };
        self.0.push(BETWEEN);
        self.0.push_str(whole_words);
        while self.0.len() > MOST_KEPT + BETWEEN.len_utf8() {
            let second = self.0[1..].find(BETWEEN).map_or(self.0.len(), |at| at + 1);
            self.0.drain(..second);
        }
    }

    /// True if every value in these arguments was typed or is a constant of the schema at its place. The same holds for every key
    /// that the schema does not name. Typed text counts only as a stretch of whole words of one text. `ids`: the keys whose
    /// values Harbor gave.
    #[must_use]
    pub fn covers(&self, arguments: &str, schema: Option<&str>, ids: &[&str]) -> bool {
        if arguments.len() > MOST_ARGUMENTS {
            return false;
        }
        let Some(mut values) = ValueCursor::of(arguments) else { return false };
        // One that cannot be read names nothing.
        let root = schema.map(|schema| serde_json::from_str(schema).unwrap_or(Value::Null));
        let names_all = root.is_none();
        let root = root.unwrap_or_default();
        let mut look = Look { typed: &self.0, left: MOST_VALUES, bits: MOST_BITS };
        look.top(&mut values, &ArgumentPlace::root(&root), names_all, ids)
    }
}

/// One look through arguments.
#[derive(Debug)]
struct Look<'a> {
    typed: &'a str,
    /// Values that may still come.
    left: usize,
    /// Bits that choices may still tell.
    bits: u32,
}

impl Look<'_> {
    /// The arguments themselves. `names_all`: there is no schema that could name their keys.
    fn top(
        &mut self,
        values: &mut ValueCursor<'_>,
        place: &ArgumentPlace<'_>,
        names_all: bool,
        ids: &[&str],
    ) -> bool {
        self.members(values, place, |look, key, is_named, values, below| {
            let is_id = ids.contains(&key);
            if is_id && is_short(values) {
                values.whole();
                return look.counts();
            }
            (is_named || names_all || is_id || look.is_typed(key)) && look.value(values, below)
        })
    }

    /// True if all members of an object are covered, and no key stands twice. `member` checks one of them.
    fn members(
        &mut self,
        values: &mut ValueCursor<'_>,
        place: &ArgumentPlace<'_>,
        mut member: impl FnMut(&mut Self, &str, bool, &mut ValueCursor<'_>, &ArgumentPlace<'_>) -> bool,
    ) -> bool {
        let mut known = HashSet::new();
        values.enter();
        while !values.leave() {
            let Some(key) = text_of(values.whole()) else { return false };
            let (is_named, below) = place.member(&key);
            if !member(self, &key, is_named, values, &below) || !known.insert(key) {
                return false;
            }
        }
        true
    }

    fn value(&mut self, values: &mut ValueCursor<'_>, place: &ArgumentPlace<'_>) -> bool {
        if !self.counts() {
            return false;
        }
        match values.peek() {
            Some(b'{') => self.members(values, place, |look, key, is_named, values, below| {
                (is_named || look.is_typed(key)) && look.value(values, below)
            }),
            Some(b'[') => self.items(values, place),
            Some(b'"') => {
                let text = text_of(values.whole());
                text.is_some_and(|text| {
                    self.is_typed(&text)
                        || !has_hidden(&text) && place.texts(&text).is_some_and(|of| self.chooses(of))
                })
            }
            Some(b't' | b'f' | b'n') => {
                values.whole();
                self.chooses(2)
            }
            Some(_) => {
                let number = values.whole();
                self.is_typed(number) || place.numbers(number).is_some_and(|of| self.chooses(of))
            }
            None => false,
        }
    }

    fn items(&mut self, values: &mut ValueCursor<'_>, place: &ArgumentPlace<'_>) -> bool {
        values.enter();
        for at in 0.. {
            if values.leave() {
                break;
            }
            if !self.value(values, &place.item(at)) {
                return false;
            }
        }
        true
    }

    /// Counts one value more. True if it is still within the bound.
    fn counts(&mut self) -> bool {
        let counts = self.left > 0;
        self.left = self.left.saturating_sub(1);
        counts
    }

    /// Pays for a choice among `of` values. True if enough bits were left.
    fn chooses(&mut self, of: usize) -> bool {
        let bits = of.next_power_of_two().trailing_zeros().max(1);
        let may = bits <= self.bits;
        self.bits = self.bits.saturating_sub(bits);
        may
    }

    fn is_typed(&self, text: &str) -> bool {
        text.is_empty() || !has_hidden(text) && has_words(self.typed, text)
    }
}

/// True if the next value may be an id: a number, or a short string.
fn is_short(values: &ValueCursor<'_>) -> bool {
    let mut ahead = *values;
    let is_plain = matches!(ahead.peek(), Some(b'"' | b'-' | b'0'..=b'9'));
    is_plain && ahead.whole().len() <= LONGEST_ID
}

/// True if `words` stands in `text` with no letter and no digit before or behind it.
fn has_words(text: &str, words: &str) -> bool {
    let is_part = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    // Most are not there at all, which is seen faster.
    text.contains(words)
        && ends(text.as_bytes(), words.as_bytes()).any(|end| {
            let (before, behind) = (text.get(..end - words.len()), text.get(end..));
            !is_part(before.and_then(|before| before.chars().next_back()))
                && !is_part(behind.and_then(|behind| behind.chars().next()))
        })
}

/// The end of each place where the non-empty `wanted` stands in `text`, overlapping ones too. It uses the
/// table of Knuth, Morris and Pratt, since trying each place would take minutes for a text of one letter.
fn ends(text: &[u8], wanted: &[u8]) -> impl Iterator<Item = usize> {
    let borders = borders(wanted);
    let mut matched = 0;
    text.iter().enumerate().filter_map(move |(at, byte)| {
        matched = step(wanted, &borders, matched, *byte);
        (matched == wanted.len()).then_some(at + 1)
    })
}

/// The table for each beginning of `wanted`: the length of the longest shorter beginning with which it ends.
fn borders(wanted: &[u8]) -> Vec<usize> {
    let mut borders = vec![0; wanted.len()];
    for at in 1..wanted.len() {
        borders[at] = step(wanted, &borders, borders[at - 1], wanted[at]);
    }
    borders
}

/// How much of `wanted` matches before the next place, if `matched` bytes matched before this one.
fn step(wanted: &[u8], borders: &[usize], mut matched: usize, byte: u8) -> usize {
    while matched > 0 && wanted.get(matched) != Some(&byte) {
        matched = borders[matched - 1];
    }
    matched + usize::from(wanted.get(matched) == Some(&byte))
}

#[cfg(test)]
mod tests;
