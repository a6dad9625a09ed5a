//! Placeholders of a recipe, and the values that replace them.
//!
//! ```text
//!  text ─► parts ─► how much they become ─┬─ too much: refused before anything is made
//!                                         └─► words ─► of an argument of others: whose place is that?
//! ```
//!
//! Owns the limits of filling, and the check that an argument names a place. Must never let other people's text name a place,
//! whatever values of the person stand beside it.

use std::collections::BTreeMap;

use super::unfilled::{MAX_ALL, MAX_WORD, Unfilled};

/// The words that one text may become: its placeholders may have several values each.
const MOST_WORDS: usize = 1000;

/// The value that replaces a placeholder.
#[derive(Debug, Default)]
pub(super) struct Value {
    pub(super) words: Vec<String>,
    /// True if the person gave it; else it is the recipe's.
    pub(super) of_person: bool,
}

/// The values of each placeholder, by its name.
pub(super) type PlaceholderValues<'a> = BTreeMap<&'a str, Value>;

/// The amount of text that may still be made.
#[derive(Debug)]
pub(super) struct Budget(usize);

impl Default for Budget {
    fn default() -> Self {
        Self(MAX_ALL)
    }
}

impl Budget {
    fn take(&mut self, bytes: usize) -> Result<(), Unfilled> {
        self.0 = self.0.checked_sub(bytes).ok_or(Unfilled::TooLong)?;
        Ok(())
    }
}

/// A part of a text.
#[derive(Debug, Clone, Copy)]
enum TemplatePart<'t> {
    Text(&'t str),
    Value(&'t Value),
}

/// A part of a word, and whether the person said it.
type WordPiece<'t> = (&'t str, bool);

/// A text with its placeholders filled, once for each combination of their values. Empty if a placeholder has
/// no value. Braces around anything else stay.
///
/// # Errors
/// It would be too long.
pub(super) fn filled(
    text: &str,
    values: &PlaceholderValues<'_>,
    budget: &mut Budget,
) -> Result<Vec<String>, Unfilled> {
    let parts = parts(text, values);
    Ok(words(&parts, budget)?.map(|pieces| joined(&pieces)).collect())
}

/// A group of arguments with its placeholders filled, repeated for each value of its placeholder. With
/// `of_others`, no argument may name a place that the person did not name.
///
/// # Errors
/// It would be too long, or names a place.
pub(super) fn group(
    group: &[String],
    values: &PlaceholderValues<'_>,
    of_others: bool,
    budget: &mut Budget,
) -> Result<Vec<String>, Unfilled> {
    let mut all = Vec::new();
    for text in group {
        let (parts, mut made) = (parts(text, values), Vec::new());
        for pieces in words(&parts, budget)? {
            if of_others && names_a_place(&as_judged(&pieces)) {
                return Err(Unfilled::Place(text.clone()));
            }
            made.push(joined(&pieces));
        }
        all.push(made);
    }
    let times = all.iter().map(Vec::len).fold(1, |most, each| if each == 1 { most } else { each });
    for one in all.iter().filter(|made| made.len() < times).filter_map(|made| made.first()) {
        budget.take((one.len() + 1).saturating_mul(times))?;
    }
    let word = |made: &Vec<String>, at: usize| made.get(at).or_else(|| made.first()).cloned();
    Ok((0..times).flat_map(|at| all.iter().filter_map(move |made| word(made, at))).collect())
}

fn parts<'t>(text: &'t str, values: &'t PlaceholderValues<'_>) -> Vec<TemplatePart<'t>> {
    let (mut all, mut rest) = (Vec::new(), text);
    while let Some((before, name, behind)) = placeholder(rest, values) {
        all.push(TemplatePart::Text(before));
        all.extend(values.get(name).map(TemplatePart::Value));
        rest = behind;
    }
    all.push(TemplatePart::Text(rest));
    all
}

/// The text before the first placeholder, its name, and the text behind it.
pub(super) fn placeholder<'t>(
    text: &'t str,
    values: &PlaceholderValues<'_>,
) -> Option<(&'t str, &'t str, &'t str)> {
    let mut looked_at = 0;
    text.match_indices('}').find_map(|(closed, _)| {
        let opened = text[looked_at..closed].rfind('{').map(|at| looked_at + at);
        looked_at = closed + 1;
        let name = opened.map(|opened| &text[opened + 1..closed]).filter(|name| values.contains_key(name));
        Some((&text[..opened?], name?, &text[closed + 1..]))
    })
}

/// All combinations, in which the first placeholder changes first. Their cost is taken before the first is made.
fn words<'t>(
    parts: &[TemplatePart<'t>],
    budget: &mut Budget,
) -> Result<impl Iterator<Item = Vec<WordPiece<'t>>>, Unfilled> {
    let counts =
        parts.iter().map(|part| if let TemplatePart::Value(value) = part { value.words.len() } else { 1 });
    // None at all is nothing, whatever stands beside it.
    let times =
        if counts.clone().any(|count| count == 0) { 0 } else { counts.fold(1, usize::saturating_mul) };
    if times > MOST_WORDS {
        return Err(Unfilled::TooLong);
    }
    let longest = |part: &TemplatePart<'_>| match part {
        TemplatePart::Text(text) => text.len(),
        TemplatePart::Value(value) => value.words.iter().map(String::len).max().unwrap_or(0),
    };
    if times > 0 && parts.iter().map(longest).sum::<usize>() > MAX_WORD {
        return Err(Unfilled::TooLong);
    }
    let bytes = |part: &TemplatePart<'_>| match part {
        TemplatePart::Text(text) => text.len() * times,
        TemplatePart::Value(value) => {
            let each = value.words.iter().map(|word| word.len() + 1).sum::<usize>();
            each * (times / value.words.len().max(1))
        }
    };
    budget.take(parts.iter().map(bytes).sum())?;
    let parts = parts.to_vec();
    Ok((0..times).map(move |mut at| {
        let piece = |part: &TemplatePart<'t>| match *part {
            TemplatePart::Text(text) => (text, false),
            TemplatePart::Value(value) => {
                let (count, chosen) = (value.words.len().max(1), at);
                at /= count;
                (value.words.get(chosen % count).map_or("", String::as_str), value.of_person)
            }
        };
        parts.iter().map(piece).filter(|(text, _)| !text.is_empty()).collect()
    }))
}

fn joined(pieces: &[WordPiece<'_>]) -> String {
    pieces.iter().map(|(text, _)| *text).collect()
}

/// A word in which a letter replaces each place that the person named. If it still names a place, others have
/// named it. A mere piece of a place (`/`, `.`, `:`) is not replaced, so what others make of it counts as theirs.
fn as_judged(pieces: &[WordPiece<'_>]) -> String {
    let last_of_others = pieces.iter().rposition(|(_, of_person)| !of_person);
    let mut all = String::new();
    for (at, (text, of_person)) in pieces.iter().enumerate() {
        let is_last = last_of_others.is_none_or(|last| last < at);
        // What others put behind a directory is inside of it.
        let is_inside = text.starts_with('/')
            && text.contains(|c| !"/.".contains(c))
            && pieces.get(at + 1).is_some_and(|(behind, _)| behind.starts_with('/'));
        let is_theirs = *of_person && names_a_place(text) && (is_last || is_inside);
        all.push_str(if is_theirs { "x" } else { text });
    }
    all
}

/// True if an argument names a place outside of where its server runs, by itself or behind a `=`.
pub(super) fn names_a_place(word: &str) -> bool {
    word.split('=').any(|named| {
        named.starts_with(['/', '~'])
            || named.to_ascii_lowercase().starts_with("file:")
            || named.split('/').any(|part| part == "..")
    })
}

#[cfg(test)]
mod tests;
