//! The calls that stand in texts which a model has read: results, pages, attachments, messages. A model that repeats one was told
//! to by that text, and has not decided it.
//!
//! ```text
//!  text ─► each JSON value │ each name of a tool, and what stands behind it ─► a call in its plain form ─► its number
//! ```
//!
//! Owns this plain form: arguments in the schema's types, without blanks, in small letters. Finds calls in any format, anywhere,
//! also in quotations and in strings. Must never miss one that a part of the text would be; one too many does less harm. Others
//! write these texts, so none may take longer than its length: a call is looked for at each name, as far as a call reaches.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::hash::BuildHasher as _;

use foldhash::fast::FixedState;
use serde_json::{Map, Value};

use super::items::arguments;
use super::lenient::{blanks, value};
use super::offered::OfferedTools;
use super::params::params;
use super::python;
use super::shapes::calls_of;
use crate::untrusted::Nonce;

/// How often a string in a value is read as a text of its own.
const DEEPEST: usize = 3;

/// How much may stand between a name and its arguments, blanks aside; more than any format has.
pub(super) const BETWEEN: usize = 240;

/// The longest word of a turn, with blanks in it, in bytes.
const LONGEST_WORD: usize = 128;

/// The longest arguments that are looked for, in bytes of their plain form. Longer ones count as heard.
pub(super) const LONGEST: usize = 4 * 1024;

/// How far arguments between tags are looked for behind a name, in bytes. In XML a character may have six.
const TAGS_REACH: usize = 6 * LONGEST + BETWEEN;

/// More blanks in a row mean nothing.
const MOST_BLANKS: usize = 16;

/// The calls that were heard.
#[derive(Debug, Clone, Default)]
pub struct HeardCalls {
    calls: BTreeSet<u64>,
    words: BTreeSet<String>,
}

impl HeardCalls {
    /// Adds the calls of a text that the model is shown and did not write.
    pub fn add(&mut self, text: &str, tools: &OfferedTools) {
        let text = &*few_blanks(text);
        self.gather(text, tools, 0);
        let plain = plain(text);
        if plain != text {
            self.gather(&plain, tools, 0);
        }
        for (at, _) in text.match_indices("[call ") {
            // `untrusted` has put a blank into the word of the turn.
            let near = &text[at + 6..text.floor_char_boundary(at + 6 + LONGEST_WORD)];
            let word = near.split(']').next().unwrap_or_default();
            self.words.insert(word.chars().filter(|c| !c.is_whitespace()).collect());
        }
    }

    /// True if this call stands in one of the texts.
    pub(super) fn has(&self, name: &str, arguments: &Map<String, Value>) -> bool {
        !self.calls.is_empty() && self.calls.contains(&number(name, arguments))
    }

    /// True if arguments are too long to be looked for in the texts, of which there are some.
    pub(super) fn is_too_long(&self, arguments: &Map<String, Value>) -> bool {
        !self.calls.is_empty() && serde_json::to_string(arguments).is_ok_and(|text| text.len() > LONGEST)
    }

    /// True if a text has a call with this word, which is then no secret.
    pub(super) fn knows(&self, nonce: &Nonce) -> bool {
        self.words.contains(nonce.as_str())
    }

    fn gather(&mut self, text: &str, tools: &OfferedTools, depth: usize) {
        let (mut json_from, mut objects) = (0, Objects::default());
        for (at, c) in text.char_indices() {
            if matches!(c, '{' | '[') {
                if at >= json_from
                    && let Ok((value, end)) = value(text, at)
                {
                    self.walk(&value, tools, depth);
                    json_from = end;
                }
                continue;
            }
            // Also within a longer word: a part of the text may begin there.
            for name in tools.beginnings(&text[at..]) {
                self.behind(text, at, name, tools, &mut objects);
            }
        }
    }

    /// Looks for calls in a value.
    fn walk(&mut self, value: &Value, tools: &OfferedTools, depth: usize) {
        match value {
            Value::Object(members) => {
                for call in calls_of(value).unwrap_or_default() {
                    self.insert(&call.name, call.arguments, tools);
                }
                members.values().for_each(|value| self.walk(value, tools, depth));
            }
            Value::Array(list) => list.iter().for_each(|value| self.walk(value, tools, depth)),
            Value::String(text) if depth < DEEPEST && text.len() > 2 => self.gather(text, tools, depth + 1),
            _ => {}
        }
    }

    /// Looks for the arguments behind a name.
    fn behind(&mut self, text: &str, begin: usize, name: &str, tools: &OfferedTools, objects: &mut Objects) {
        let at = begin + name.len();
        let end = reach(text, at);
        if let Some(brace) = text[at..end].find('{')
            && let Some(given) = objects.at(text, at + brace)
        {
            self.insert(name, given.clone(), tools);
        }
        let near = blanks(text, at);
        if text[near..].starts_with('(')
            && let Ok((call, _)) = python::call(text, begin, tools)
        {
            self.insert(&call.name, call.arguments, tools);
        }
        let near_text = &text[..text.floor_char_boundary(at + TAGS_REACH)];
        for (tag, _) in text[at..end].match_indices('<').take(4) {
            if let Ok((given, _)) = params(near_text, at + tag, name, tools)
                && !given.is_empty()
            {
                self.insert(name, given, tools);
                break;
            }
        }
        // A call without arguments is its name and a mark; a name in plain words is none.
        let is_marked = text[near..].starts_with(['<', '>', '"', '\'', '/', '|', '[', '{', '(']);
        if is_marked {
            self.insert(name, Map::new(), tools);
        }
    }

    fn insert(&mut self, name: &str, arguments: Map<String, Value>, tools: &OfferedTools) {
        if let Some(name) = tools.name(name) {
            self.calls.insert(number(name, &tools.coerced(name, arguments)));
        }
    }
}

/// The place and the members of the object that was read last: the names before it all have it.
#[derive(Debug, Default)]
struct Objects(Option<(usize, Option<Map<String, Value>>)>);

impl Objects {
    /// The arguments that begin at a place.
    fn at(&mut self, text: &str, at: usize) -> Option<&Map<String, Value>> {
        let read = self.0.take().filter(|(last, _)| *last == at);
        let read = read.unwrap_or_else(|| (at, arguments(text, at).ok().map(|(found, _)| found)));
        self.0.insert(read).1.as_ref()
    }
}

/// The text with no more than so many blanks in a row: else a long row of them would hide what stands behind a name.
fn few_blanks(text: &str) -> Cow<'_, str> {
    let mut row = 0;
    let keeps = |c: char, row: &mut usize| {
        *row = if c.is_whitespace() { *row + 1 } else { 0 };
        *row <= MOST_BLANKS
    };
    if text.chars().all(|c| keeps(c, &mut row)) {
        return text.into();
    }
    row = 0;
    text.chars().filter(|c| keeps(*c, &mut row)).collect()
}

/// The end of what may stand between a name and its arguments.
fn reach(text: &str, at: usize) -> usize {
    let mut passed = 0;
    for (offset, c) in text[at..].char_indices() {
        passed += if c.is_whitespace() { 0 } else { c.len_utf8() };
        if passed > BETWEEN {
            return at + offset;
        }
    }
    text.len()
}

/// The text without the blanks that `untrusted` puts into control words, and with the characters that HTML means.
fn plain(text: &str) -> String {
    const CHANGES: [(&str, &str); 8] = [
        ("< ", "<"),
        ("[ ", "["),
        ("| >", "|>"),
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&#39;", "'"),
        ("&amp;", "&"),
    ];
    CHANGES.iter().fold(text.to_owned(), |text, (from, to)| match text.contains(from) {
        true => text.replace(from, to),
        false => text,
    })
}

/// The number of a call in its plain form.
fn number(name: &str, arguments: &Map<String, Value>) -> u64 {
    let text = serde_json::to_string(arguments).unwrap_or_default();
    let text = text.replace("\\n", "").replace("\\t", "").replace("\\r", "");
    let text: String = text.chars().filter(|c| !c.is_whitespace()).flat_map(char::to_lowercase).collect();
    FixedState::default().hash_one((name, text))
}
