//! TOML, edited as text.
//!
//! Owns where a table goes in and comes out: as a table of its own at the end of the file, and by whole lines. A file that
//! says it otherwise is noticed when the result is read again, and left as it is.

use std::ops::Range;

use serde_json::Value;
use toml::de::{DeTable, DeValue};

use super::{Entry, ForeignError};

pub fn read(text: &str) -> Result<Value, ForeignError> {
    let root = parse(text)?;
    Ok(table(&root))
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
    let words: Vec<_> = entry.args.iter().map(|word| quoted(word)).collect();
    let env: Vec<_> = entry.env.iter().map(|(name, value)| format!("{name} = {}", quoted(value))).collect();
    let lines = [
        format!("[{key}.{}]", entry.name),
        format!("command = {}", quoted(&entry.command)),
        format!("args = [{}]", words.join(", ")),
        format!("env = {{ {} }}", env.join(", ")),
    ];
    Ok(format!("{text}{gap}{}{newline}", lines.join(newline)))
}

pub fn take(text: &str, key: &str, name: &str) -> Result<String, ForeignError> {
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
    let (head, tail) = (&text[..from], &text[until..]);
    // The empty line before it was put there with it.
    let shorter = head.strip_suffix("\r\n").or_else(|| head.strip_suffix('\n')).unwrap_or(head);
    let was_empty = shorter.is_empty() || shorter.ends_with('\n');
    let alone = tail.is_empty() || tail.starts_with(['\n', '\r']);
    Ok([if was_empty && alone { shorter } else { head }, tail].concat())
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
