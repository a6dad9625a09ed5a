//! Keys that a README gives as arguments. Each process of the user can read arguments, so a variable holds the key where there is
//! one.
//!
//! ```text
//!  --figma-api-key=YOUR-KEY  ─► FIGMA_API_KEY, if the README or the server names that        else as it is
//! ```
//!
//! Owns the choice of that variable.

use super::start::{MAX_VARIABLES, ReadmeStart, is_left_open};
use crate::credentials::{is_secret_name, is_variable};
use crate::environment::wrong_of_others;

/// A start with its keys in variables, as far as these are known.
pub(super) fn as_variables(start: ReadmeStart, readme: &str, said: &str) -> ReadmeStart {
    let ReadmeStart { args, mut variables } = start;
    let known =
        VariableMentions { own: variables.iter().map(|(name, _)| name.clone()).collect(), readme, said };
    let (mut kept, mut rest) = (Vec::new(), args.as_slice());
    while let [arg, behind @ ..] = rest {
        let (taken, found) = match key_in(arg, behind.first()) {
            Some((taken, names)) => (taken, names.iter().find_map(|name| known.variable(name))),
            None => (1, None),
        };
        match found {
            Some(name) if variables.iter().any(|(other, _)| *other == name) => {}
            Some(name) if variables.len() < MAX_VARIABLES => variables.push((name, None)),
            _ => kept.extend_from_slice(&rest[..taken]),
        }
        rest = &rest[taken..];
    }
    ReadmeStart { args: kept, variables }
}

/// How many words a key takes here, and what it may be called, the surest first.
fn key_in(arg: &str, next: Option<&String>) -> Option<(usize, Vec<String>)> {
    let option = |name: &str| name.starts_with('-') && is_secret_name(name);
    // A value may be the very variable; a placeholder such as YOUR-KEY says less than its option.
    let of = |name: &str, value: &str| {
        let value = Some(value).filter(|value| is_variable(value) && !is_left_open(value));
        value.into_iter().chain([name]).map(plain).collect()
    };
    if let Some((name, value)) = arg.split_once('=') {
        return option(name).then(|| (1, of(name, value)));
    }
    if let Some(value) = next.filter(|value| option(arg) && is_open(value)) {
        return Some((2, of(arg, value)));
    }
    (is_open(arg) && is_secret_name(&plain(arg))).then(|| (1, vec![plain(arg)]))
}

fn is_open(value: &str) -> bool {
    is_left_open(value) || is_variable(value)
}

/// `--figma-api-key`, `<your-api-key>`: as a variable would be called.
fn plain(word: &str) -> String {
    let word = word.to_ascii_uppercase().replace(|c: char| !c.is_ascii_alphanumeric(), "_");
    let word = word.trim_matches('_');
    word.strip_prefix("YOUR_").unwrap_or(word).trim_end_matches("_HERE").to_owned()
}

/// The texts in which variables are named.
struct VariableMentions<'a> {
    own: Vec<String>,
    readme: &'a str,
    said: &'a str,
}

impl VariableMentions<'_> {
    /// The wanted variable: the one of this name, or the only one that ends with it.
    fn variable(&self, wanted: &str) -> Option<String> {
        if !is_secret_name(wanted) {
            return None;
        }
        let all = || {
            let own = self.own.iter().map(String::as_str);
            own.chain(variables_in(self.said)).chain(variables_in(self.readme))
        };
        let end = format!("_{wanted}");
        let longer = || {
            let mut found = all().filter(|name| name.ends_with(&end));
            let first = found.next()?;
            found.all(|other| other == first).then_some(first)
        };
        let found = all().find(|name| *name == wanted).or_else(longer)?;
        wrong_of_others(found).is_none().then(|| found.to_owned())
    }
}

/// The names of variables for secrets in a text. A placeholder looks the same, but stands behind a `=` or a bracket.
fn variables_in(text: &str) -> impl Iterator<Item = &str> {
    let mut before = ' ';
    let pieces = text.split_inclusive(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
    pieces.filter_map(move |piece| {
        let opened = std::mem::replace(&mut before, piece.chars().next_back().unwrap_or(' '));
        let word = piece.trim_end_matches(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
        let is_named = is_variable(word) && is_secret_name(word) && !is_left_open(word);
        (is_named && !['=', '<', '{', '$'].contains(&opened)).then_some(word)
    })
}
