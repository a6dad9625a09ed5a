//! JSON with comments and trailing commas, edited as text.
//!
//! ```text
//!  "servers": {                       "servers": {
//!    "a": {…} // mine                   "a": {…}, // mine       ◄ a comma
//!  }                                    "harbor": {…}           ◄ a line
//!                                     }
//! ```
//!
//! Owns where an entry goes in and comes out, in the file's own style: its indentation, its line ends, its
//! commas. Must never rewrite text that it did not write.

use jsonc_parser::ast::{Object, ObjectProp, Value as Node};
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use serde_json::Value;

use super::entry::{Entry, is_ours};
use super::foreign_error::ForeignError;

/// The whitespace of JSON.
const SPACE: [char; 4] = [' ', '\t', '\r', '\n'];

pub fn read(text: &str) -> Result<Value, ForeignError> {
    match parse(text)? {
        None => Ok(Value::Object(serde_json::Map::new())),
        Some(root @ Node::Object(_)) => Ok(value(&root)),
        Some(_) => Err(ForeignError::NoTable("the file".into())),
    }
}

pub fn put(text: &str, key: &str, entry: &Entry) -> Result<String, ForeignError> {
    let root = root(text)?;
    let Some(root) = root else {
        // Nothing but space or comments.
        let style = Style { newline: "\n", unit: "  ".into(), compact: false };
        let made =
            style.object(&[(key, style.object(&[(&entry.name, style.entry(entry, "    "))], "  "))], "");
        let gap = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
        return Ok(format!("{text}{gap}{made}\n"));
    };
    let style = Style::of(text, &root);
    let Some(table) = member(&root, key)? else {
        let indent = style.indent_in(text, &root);
        let inner = style.deeper(&indent);
        let entries = style.object(&[(&entry.name, style.entry(entry, &inner))], &indent);
        return Ok(style.insert(text, &root, key, &entries));
    };
    let Node::Object(table) = &table.value else { return Err(ForeignError::NoTable(key.into())) };
    match member(table, &entry.name)? {
        Some(old) if is_ours(&value(&old.value)) => renew(text, key, entry, &entry.stale(&value(&old.value))),
        Some(old) => {
            let indent = indent_at(text, old.range.start).to_owned();
            let range = old.value.range();
            Ok([&text[..range.start], &style.entry(entry, &indent), &text[range.end..]].concat())
        }
        None => {
            let indent = style.indent_in(text, table);
            Ok(style.insert(text, table, &entry.name, &style.entry(entry, &indent)))
        }
    }
}

/// The text in which these members of our entry are written anew, one after the other, since each moves the text behind it.
fn renew(text: &str, key: &str, entry: &Entry, stale: &[&str]) -> Result<String, ForeignError> {
    let unknown = || ForeignError::NoTable(key.to_owned());
    let Some((name, rest)) = stale.split_first() else { return Ok(text.to_owned()) };
    let root = root(text)?.ok_or_else(unknown)?;
    let style = Style::of(text, &root);
    let Some(Node::Object(table)) = member(&root, key)?.map(|found| &found.value) else {
        return Err(unknown());
    };
    let Some(Node::Object(ours)) = member(table, &entry.name)?.map(|found| &found.value) else {
        return Err(unknown());
    };
    let indent = style.indent_in(text, ours);
    let members = style.members(entry, &indent);
    let value =
        members.into_iter().find(|(member, _)| member == name).map(|(_, value)| value).ok_or_else(unknown)?;
    let text = match member(ours, name)? {
        Some(old) => [&text[..old.value.range().start], &value, &text[old.value.range().end..]].concat(),
        None => style.insert(text, ours, name, &value),
    };
    renew(&text, key, entry, rest)
}

/// The text with a new entry, copied from another text.
pub fn give(text: &str, key: &str, name: &str, from: &str) -> Result<String, ForeignError> {
    let unknown = || ForeignError::NoTable(key.to_owned());
    let theirs = root(from)?.ok_or_else(unknown)?;
    let Some(Node::Object(table)) = member(&theirs, key)?.map(|found| &found.value) else {
        return Err(unknown());
    };
    let range = member(table, name)?.ok_or_else(unknown)?.value.range();
    let written = &from[range.start..range.end];
    let Some(root) = root(text)? else { return Err(unknown()) };
    let style = Style::of(text, &root);
    match member(&root, key)?.map(|found| &found.value) {
        Some(Node::Object(table)) => Ok(style.insert(text, table, name, written)),
        Some(_) => Err(unknown()),
        None => {
            let indent = style.indent_in(text, &root);
            let entries = style.object(&[(name, written.to_owned())], &indent);
            Ok(style.insert(text, &root, key, &entries))
        }
    }
}

pub fn take(text: &str, key: &str, name: &str, key_too: bool) -> Result<String, ForeignError> {
    let unknown = || ForeignError::NoTable(key.to_owned());
    let root = root(text)?.ok_or_else(unknown)?;
    let Some(Node::Object(table)) = member(&root, key)?.map(|found| &found.value) else {
        return Err(unknown());
    };
    match key_too {
        true => Ok(remove(text, &root, key)),
        false => {
            member(table, name)?;
            Ok(remove(text, table, name))
        }
    }
}

fn parse(text: &str) -> Result<Option<Node<'_>>, ForeignError> {
    let strict = ParseOptions {
        allow_comments: true,
        allow_trailing_commas: true,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    };
    match parse_to_ast(text, &CollectOptions::default(), &strict) {
        Ok(parsed) => Ok(parsed.value),
        Err(wrong) => Err(ForeignError::Malformed {
            line: wrong.line_display(),
            column: wrong.column_display(),
            what: wrong.kind().to_string(),
        }),
    }
}

fn root(text: &str) -> Result<Option<Object<'_>>, ForeignError> {
    match parse(text)? {
        None => Ok(None),
        Some(Node::Object(root)) => Ok(Some(root)),
        Some(_) => Err(ForeignError::NoTable("the file".into())),
    }
}

fn member<'a, 'b>(object: &'b Object<'a>, name: &str) -> Result<Option<&'b ObjectProp<'a>>, ForeignError> {
    let mut found = object.properties.iter().filter(|member| member.name.as_str() == name);
    match (found.next(), found.next()) {
        (_, Some(_)) => Err(ForeignError::Twice(name.to_owned())),
        (found, None) => Ok(found),
    }
}

fn value(node: &Node<'_>) -> Value {
    match node {
        Node::StringLit(text) => Value::String(text.value.to_string()),
        // As text where this machine has no such number: it is only compared and shown.
        Node::NumberLit(number) => {
            serde_json::from_str(number.value).unwrap_or_else(|_| number.value.to_owned().into())
        }
        Node::BooleanLit(flag) => flag.value.into(),
        Node::Object(object) => {
            let members = object.properties.iter();
            members.map(|member| (member.name.as_str().to_owned(), value(&member.value))).collect()
        }
        Node::Array(array) => array.elements.iter().map(value).collect(),
        Node::NullKeyword(_) => Value::Null,
    }
}

/// The style in which a file is written.
struct Style {
    newline: &'static str,
    /// One step of indentation.
    unit: String,
    /// True if everything stands on one line.
    compact: bool,
}

impl Style {
    fn of(text: &str, root: &Object<'_>) -> Self {
        let inside = &text[root.range.start..root.range.end];
        let unit = root.properties.first().map(|first| indent_at(text, first.range.start));
        let unit = unit.filter(|unit| !unit.is_empty()).unwrap_or("  ").to_owned();
        Self {
            newline: if text.contains("\r\n") { "\r\n" } else { "\n" },
            unit,
            compact: !inside.contains('\n') && !root.properties.is_empty(),
        }
    }

    fn deeper(&self, indent: &str) -> String {
        format!("{indent}{}", self.unit)
    }

    /// The indentation of what stands in an object.
    fn indent_in(&self, text: &str, object: &Object<'_>) -> String {
        match object.properties.last() {
            Some(last) if begins_line(text, last.range.start) => indent_at(text, last.range.start).to_owned(),
            _ => self.deeper(indent_at(text, object.range.start)),
        }
    }

    fn entry(&self, entry: &Entry, indent: &str) -> String {
        self.object(&self.members(entry, &self.deeper(indent)), indent)
    }

    /// The members of an entry; each one stands at `indent`.
    fn members<'a>(&self, entry: &'a Entry, indent: &str) -> Vec<(&'a str, String)> {
        let comma = if self.compact { "," } else { ", " };
        let list = |words: &[String]| {
            let words: Vec<_> = words.iter().map(|word| quoted(word)).collect();
            format!("[{}]", words.join(comma))
        };
        let env: Vec<_> = entry.env.iter().map(|(name, value)| (name.as_str(), quoted(value))).collect();
        let mut members = Vec::new();
        members.extend(entry.typed.then(|| ("type", quoted("stdio"))));
        members.push(("command", quoted(&entry.command)));
        members.push(("args", list(&entry.args)));
        members.push(("env", self.object(&env, indent)));
        members.extend(entry.lists.iter().map(|(name, words)| (name.as_str(), list(words))));
        members
    }

    /// An object whose closing brace stands at `indent`.
    fn object(&self, members: &[(&str, String)], indent: &str) -> String {
        let (line, end, colon) = match self.compact {
            true => (String::new(), String::new(), ":"),
            false => (
                format!("{}{}", self.newline, self.deeper(indent)),
                format!("{}{indent}", self.newline),
                ": ",
            ),
        };
        let member = |(name, value): &(&str, String)| format!("{line}{}{colon}{value}", quoted(name));
        let members: Vec<_> = members.iter().map(member).collect();
        format!("{{{}{end}}}", members.join(","))
    }

    /// A new last member.
    fn insert(&self, text: &str, object: &Object<'_>, name: &str, value: &str) -> String {
        let (indent, colon) = (self.indent_in(text, object), if self.compact { ":" } else { ": " });
        let member = format!("{}{colon}{value}", quoted(name));
        let Some(last) = object.properties.last() else {
            let at = object.range.start + 1;
            let closing = !text[at..object.range.end].contains('\n');
            let (line, end) = match self.compact {
                true => (String::new(), String::new()),
                false if closing => (
                    format!("{}{indent}", self.newline),
                    format!("{}{}", self.newline, indent_at(text, object.range.start)),
                ),
                false => (format!("{}{indent}", self.newline), String::new()),
            };
            return [&text[..at], &line, &member, &end, &text[at..]].concat();
        };
        let value_end = last.range.end;
        let comma_end = comma_behind(text, value_end);
        let own_line = begins_line(text, last.range.start);
        let from = comma_end.unwrap_or(value_end);
        let at = if own_line { line_content_end(text, from) } else { from };
        let gap = match (own_line, self.compact) {
            (true, _) => format!("{}{indent}", self.newline),
            (false, true) => String::new(),
            (false, false) => " ".into(),
        };
        let (before, behind) = if comma_end.is_some() { ("", ",") } else { (",", "") };
        [&text[..value_end], before, &text[value_end..at], &gap, &member, behind, &text[at..]].concat()
    }
}

/// The text without a member, which is there.
fn remove(text: &str, object: &Object<'_>, name: &str) -> String {
    let position = object.properties.iter().position(|member| member.name.as_str() == name);
    let Some((at, found)) = position.and_then(|at| Some((at, object.properties.get(at)?))) else {
        return text.to_owned();
    };
    let (start, end) = (found.range.start, found.range.end);
    let (open, close) = (object.range.start + 1, object.range.end - 1);
    let comma_end = comma_behind(text, end);
    let stop = comma_end.unwrap_or(end);
    // Nothing but space is left of it.
    if object.properties.len() == 1
        && text[open..start].trim_matches(SPACE).is_empty()
        && text[stop..close].trim_matches(SPACE).is_empty()
    {
        return [&text[..open], &text[close..]].concat();
    }
    let from = line_start_before(text, start);
    // Without a comma behind it, the one before it is one too many.
    let before = at.checked_sub(1).and_then(|at| object.properties.get(at)).filter(|_| comma_end.is_none());
    match before.and_then(|before| Some((before.range.end, comma_behind(text, before.range.end)?))) {
        Some((value_end, comma)) => {
            [&text[..value_end], &text[value_end..comma - 1], &text[comma..from.max(comma)], &text[stop..]]
                .concat()
        }
        None => [&text[..from], &text[stop..]].concat(),
    }
}

/// The place where the line break before a member begins, or the space before a member that shares its
/// line.
fn line_start_before(text: &str, start: usize) -> usize {
    let head = text[..start].trim_end_matches([' ', '\t']);
    let head = head.strip_suffix('\n').map_or(head, |head| head.strip_suffix('\r').unwrap_or(head));
    head.len()
}

fn quoted(text: &str) -> String {
    Value::String(text.to_owned()).to_string()
}

/// The space at the beginning of the line on which this place is.
fn indent_at(text: &str, at: usize) -> &str {
    let line = &text[text[..at].rfind('\n').map_or(0, |newline| newline + 1)..];
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

fn begins_line(text: &str, at: usize) -> bool {
    text[..at].trim_end_matches([' ', '\t']).ends_with('\n')
}

/// The end of the comma behind a value, comments in between or not.
fn comma_behind(text: &str, mut at: usize) -> Option<usize> {
    loop {
        let rest = &text[at..];
        let here = rest.trim_start_matches(SPACE);
        at += rest.len() - here.len();
        match here {
            _ if here.starts_with(',') => return Some(at + 1),
            _ if here.starts_with("//") => at += here.find('\n')?,
            _ if here.starts_with("/*") => at += here.find("*/")? + 2,
            _ => return None,
        }
    }
}

/// The place behind the comments that stand on the same line.
fn line_content_end(text: &str, mut at: usize) -> usize {
    loop {
        let rest = &text[at..];
        let here = rest.trim_start_matches([' ', '\t']);
        let skipped = rest.len() - here.len();
        let line = here.split('\n').next().unwrap_or_default();
        match here.strip_prefix("/*").and_then(|comment| comment.find("*/")) {
            Some(end) if end + 4 <= line.len() => at += skipped + end + 4,
            _ if here.starts_with("//") => {
                return at + skipped + line.strip_suffix('\r').unwrap_or(line).len();
            }
            _ => return at,
        }
    }
}
