//! TOML, edited as text.
//!
//! Owns where a table goes in and comes out: as a table of its own at the end of the file, and by whole lines. A file that
//! says it otherwise is noticed when the result is read again, and left as it is.

use std::ops::Range;

use serde_json::Value;
use toml::de::{DeTable, DeValue};

use super::entry::Entry;
use super::foreign_error::ForeignError;

pub fn read(text: &str) -> Result<Value, ForeignError> {
    let root = parse(text)?;
    Ok(table(&root))
}

/// The text with these members of our entry said anew where they stand, and what others have added to it.
pub fn renew(text: &str, key: &str, entry: &Entry, stale: &[&str]) -> Result<String, ForeignError> {
    let by_hand = || ForeignError::ByHand(key.to_owned());
    let lines = lines(entry);
    let mut text = text.to_owned();
    for name in stale {
        let (_, value) = lines.iter().find(|(line, _)| line == name).ok_or_else(by_hand)?;
        let (range, value) = place(&text, key, entry, name, value).ok_or_else(by_hand)?;
        text.replace_range(range, &value);
    }
    Ok(text)
}

/// The place in the text where a member of our entry goes, and the text that goes there.
fn place(text: &str, key: &str, entry: &Entry, name: &str, value: &str) -> Option<(Range<usize>, String)> {
    let root = parse(text).ok()?;
    let ours = root.get(key)?.get_ref().as_table()?.get(entry.name.as_str())?.get_ref().as_table()?;
    if let Some(old) = ours.get(name) {
        let is_in_lines = old.get_ref().as_table().is_some() && !text.get(old.span())?.starts_with('{');
        return (!is_in_lines).then(|| (old.span(), value.to_owned()));
    }
    // Behind the command, which is in the table itself and not in one below it.
    let end = ours.get("command")?.span().end;
    let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let at = text.get(end..)?.find('\n').map_or(text.len(), |found| end + found + 1);
    let before = if text[..at].ends_with('\n') { "" } else { newline };
    Some((at..at, format!("{before}{name} = {value}{newline}")))
}

/// The members of an entry, each with its value in written form.
fn lines(entry: &Entry) -> Vec<(&str, String)> {
    let list = |words: &[String]| {
        let words: Vec<_> = words.iter().map(|word| quoted(word)).collect();
        format!("[{}]", words.join(", "))
    };
    let env: Vec<_> = entry.env.iter().map(|(name, value)| format!("{name} = {}", quoted(value))).collect();
    let lists = entry.lists.iter().map(|(name, words)| (name.as_str(), list(words)));
    let mut lines = vec![
        ("command", quoted(&entry.command)),
        ("args", list(&entry.args)),
        ("env", format!("{{ {} }}", env.join(", "))),
    ];
    lines.extend(lists);
    lines
}

/// The text with a new table, copied from another text.
pub fn give(text: &str, key: &str, name: &str, from: &str) -> Result<String, ForeignError> {
    let range = whole_lines(from, key, name)?;
    let gap = match text {
        "" => "",
        text if text.ends_with('\n') => "\n",
        _ => "\n\n",
    };
    Ok(format!("{text}{gap}{}", &from[range]))
}

pub fn put(text: &str, key: &str, entry: &Entry) -> Result<String, ForeignError> {
    let text = match read(text)?.get(key).is_some_and(|entries| entries.get(&entry.name).is_some()) {
        true => take(text, key, &entry.name)?,
        false => text.to_owned(),
    };
    let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let gap = match text.as_str() {
        "" => String::new(),
        text if text.ends_with('\n') => newline.to_owned(),
        _ => newline.repeat(2),
    };
    let head = format!("[{key}.{}]", entry.name);
    let lines = lines(entry).into_iter().map(|(name, value)| format!("{name} = {value}"));
    let lines: Vec<_> = std::iter::once(head).chain(lines).collect();
    Ok(format!("{text}{gap}{}{newline}", lines.join(newline)))
}

pub fn take(text: &str, key: &str, name: &str) -> Result<String, ForeignError> {
    let Range { start, end } = whole_lines(text, key, name)?;
    let (head, tail) = (&text[..start], &text[end..]);
    // The empty line before it was put there with it.
    let shorter = head.strip_suffix("\r\n").or_else(|| head.strip_suffix('\n')).unwrap_or(head);
    let was_empty = shorter.is_empty() || shorter.ends_with('\n');
    let alone = tail.is_empty() || tail.starts_with(['\n', '\r']);
    Ok([if was_empty && alone { shorter } else { head }, tail].concat())
}

/// The lines of an entry.
fn whole_lines(text: &str, key: &str, name: &str) -> Result<Range<usize>, ForeignError> {
    let root = parse(text)?;
    let entries = root.get(key).and_then(|entries| entries.get_ref().as_table());
    let found = entries.and_then(|entries| entries.get_key_value(name));
    let Some((label, entry)) = found else { return Err(ForeignError::NoTable(key.to_owned())) };
    let mut all = label.span();
    span(entry.get_ref(), entry.span(), &mut all);
    let (head, tail) = match (text.get(..all.start), text.get(all.end..)) {
        (Some(head), Some(tail)) => (head, tail),
        _ => return Err(ForeignError::ByHand(key.to_owned())),
    };
    let from = head.rfind('\n').map_or(0, |newline| newline + 1);
    let until = tail.find('\n').map_or(text.len(), |newline| all.end + newline + 1);
    Ok(from..until)
}

fn parse(text: &str) -> Result<DeTable<'_>, ForeignError> {
    DeTable::parse(text).map(toml::Spanned::into_inner).map_err(|wrong| {
        let before = wrong.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
        let line = before.rsplit('\n').next().unwrap_or_default();
        ForeignError::Malformed {
            line: before.matches('\n').count() + 1,
            column: line.chars().count() + 1,
            what: wrong.message().to_owned(),
        }
    })
}

/// Widens `all` by where a value stands, wherever its parts do.
fn span(value: &DeValue<'_>, own: Range<usize>, all: &mut Range<usize>) {
    if let DeValue::Table(table) = value {
        for (key, value) in table {
            all.start = all.start.min(key.span().start);
            span(value.get_ref(), value.span(), all);
        }
    }
    all.start = all.start.min(own.start);
    all.end = all.end.max(own.end);
}

fn table(table: &DeTable<'_>) -> Value {
    table.iter().map(|(key, entry)| (key.get_ref().to_string(), value(entry.get_ref()))).collect()
}

fn value(found: &DeValue<'_>) -> Value {
    match found {
        DeValue::String(text) => text.to_string().into(),
        // As they are written: they are only compared and shown.
        DeValue::Integer(number) => number.to_string().into(),
        DeValue::Float(number) => number.to_string().into(),
        DeValue::Datetime(time) => time.to_string().into(),
        DeValue::Boolean(flag) => (*flag).into(),
        DeValue::Array(array) => array.iter().map(|item| value(item.get_ref())).collect(),
        DeValue::Table(entries) => table(entries),
    }
}

/// A basic string; the escapes of JSON are among those of TOML.
fn quoted(text: &str) -> String {
    Value::String(text.to_owned()).to_string()
}
