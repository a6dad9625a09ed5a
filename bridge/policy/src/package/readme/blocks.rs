//! The tables of servers in a README: JSON as people write it for AI clients, wherever it stands.
//!
//! Owns finding them, comments and trailing commas or not, in a fence or not. Must never look further than its limits.

use serde_json::{Map, Value};

/// The names before a table: that of most clients, and that of VS Code.
const NAMES: &[&str] = &["\"mcpServers\"", "\"servers\""];

/// The most tables that are read.
const MAX_TABLES: usize = 32;
/// The most bytes of an example.
const MAX_TABLE: usize = 16 << 10;

/// The tables in their order. An unreadable one is left out.
pub(super) fn servers(text: &str) -> impl Iterator<Item = Map<String, Value>> {
    starts(text).take(MAX_TABLES).filter_map(table)
}

/// The texts behind each of these names and a colon.
fn starts(text: &str) -> impl Iterator<Item = &str> {
    text.match_indices('"').filter_map(|(at, _)| {
        let rest = &text[at..];
        let name = NAMES.iter().find(|name| rest.starts_with(**name))?;
        let rest = rest[name.len()..].trim_start().strip_prefix(':')?.trim_start();
        rest.starts_with('{').then_some(rest)
    })
}

fn table(text: &str) -> Option<Map<String, Value>> {
    let text = &text[..text.floor_char_boundary(MAX_TABLE)];
    serde_json::from_str(&strict(text)?).ok()
}

/// The object with which a text begins, without comments, trailing commas and space. None if the object does not end.
fn strict(text: &str) -> Option<String> {
    let (mut json, mut depth, mut rest) = (String::new(), 0_usize, text);
    loop {
        let next = rest.chars().next()?;
        let taken = match next {
            '"' => {
                let end = end_of_string(rest)?;
                json.push_str(&rest[..end]);
                end
            }
            '/' if rest.starts_with("//") => rest.find('\n')?,
            '/' if rest.starts_with("/*") => rest.find("*/")? + 2,
            c if c.is_whitespace() => c.len_utf8(),
            c => {
                if matches!(c, '}' | ']') && json.ends_with(',') {
                    json.pop();
                }
                json.push(c);
                c.len_utf8()
            }
        };
        match next {
            '{' | '[' => depth += 1,
            '}' | ']' => depth = depth.checked_sub(1)?,
            _ => {}
        }
        if depth == 0 {
            return Some(json);
        }
        rest = &rest[taken..];
    }
}

/// Behind the closing quote of the string with which a text begins.
fn end_of_string(text: &str) -> Option<usize> {
    let mut is_escaped = false;
    let closing = text.char_indices().skip(1).find(|(_, c)| {
        let closes = *c == '"' && !is_escaped;
        is_escaped = *c == '\\' && !is_escaped;
        closes
    });
    closing.map(|(at, _)| at + 1)
}
