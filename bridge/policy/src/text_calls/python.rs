//! Calls as Python writes them: `get(path="a", limit=3)`, in a list, in `print(…)`, behind a module's name.
//!
//! Owns this form. Must never take the name of a tool that was not offered for a call.

use serde_json::{Map, Value};

use super::lenient::{Unread, blanks, value};
use super::offered::OfferedTools;
use super::shapes::WrittenCall;

/// The calls that begin at `at`: a list of them, or several in a row.
///
/// # Errors
/// When the text ends within one, or something else stands there.
pub(super) fn calls(
    text: &str,
    at: usize,
    tools: &OfferedTools,
) -> Result<(Vec<WrittenCall>, usize), Unread> {
    let is_list = text[at..].starts_with('[');
    let (mut calls, mut at) = (Vec::new(), at + usize::from(is_list));
    loop {
        let begin = blanks(text, at);
        match call(text, begin, tools) {
            Ok((call, end)) => {
                calls.push(call);
                at = end;
            }
            Err(Unread::Ended) if is_list || calls.is_empty() || begin < text.len() => {
                return Err(Unread::Ended);
            }
            Err(why) if is_list || calls.is_empty() => return Err(why),
            Err(_) => return Ok((calls, at)),
        }
        let next = blanks(text, at);
        match text[next..].chars().next() {
            Some(']') if is_list => return Ok((calls, next + 1)),
            Some(',') if is_list => at = next + 1,
            None if is_list => return Err(Unread::Ended),
            Some(';') => at = next + 1,
            _ if is_list => return Err(Unread::Other),
            _ => {}
        }
    }
}

/// The one call that begins at `at`.
///
/// # Errors
/// As for several.
pub(super) fn call(text: &str, at: usize, tools: &OfferedTools) -> Result<(WrittenCall, usize), Unread> {
    let (mut at, mut open) = (at, 0);
    loop {
        let length = name_length(&text[at..]);
        let (name, behind) = (&text[at..at + length], blanks(text, at + length));
        let Some(next) = text[behind..].chars().next() else {
            let bare = name.rsplit_once('.').map_or(name, |(_, bare)| bare);
            let may_be = "print".starts_with(name) || tools.has_beginning(bare);
            return Err(if may_be { Unread::Ended } else { Unread::Other });
        };
        match next {
            '(' if name == "print" && open == 0 => {
                open += 1;
                at = blanks(text, behind + 1);
            }
            '(' => {
                let name = tools.name(name).ok_or(Unread::Other)?;
                let (arguments, end) = arguments(text, behind + 1, name, tools)?;
                let call = WrittenCall { name: name.to_owned(), arguments, is_plain: true };
                return closed(text, end, open).map(|end| (call, end));
            }
            // A result that is given a name.
            '=' if length > 0 && open == 0 && !text[behind + 1..].starts_with('=') => {
                at = blanks(text, behind + 1)
            }
            _ => return Err(Unread::Other),
        }
    }
}

/// The place behind so many closing brackets.
fn closed(text: &str, at: usize, open: usize) -> Result<usize, Unread> {
    let mut at = at;
    for _ in 0..open {
        at = blanks(text, at);
        match text[at..].chars().next() {
            Some(')') => at += 1,
            None => return Err(Unread::Ended),
            Some(_) => return Err(Unread::Other),
        }
    }
    Ok(at)
}

fn arguments(
    text: &str,
    at: usize,
    tool: &str,
    tools: &OfferedTools,
) -> Result<(Map<String, Value>, usize), Unread> {
    let (mut arguments, mut at) = (Map::new(), at);
    loop {
        at = blanks(text, at);
        match text[at..].chars().next().ok_or(Unread::Ended)? {
            ')' => return Ok((arguments, at + 1)),
            ',' => {
                at += 1;
                continue;
            }
            '{' if arguments.is_empty() => {
                let (value, end) = value(text, at)?;
                let Value::Object(all) = value else { return Err(Unread::Other) };
                arguments = all;
                at = end;
                continue;
            }
            _ => {}
        }
        let length = name_length(&text[at..]);
        let behind = blanks(text, at + length);
        if behind == text.len() {
            return Err(Unread::Ended);
        }
        let (name, begin) = if length > 0 && text[behind..].starts_with('=') {
            (text[at..at + length].to_owned(), behind + 1)
        } else {
            // A value without a name means something where only one parameter is required.
            let mut required = tools.required(tool);
            let only = required.next().filter(|_| arguments.is_empty()).ok_or(Unread::Other)?;
            required.next().map_or(Ok(()), |_| Err(Unread::Other))?;
            (only.to_owned(), at)
        };
        let (value, end) = value(text, blanks(text, begin))?;
        arguments.insert(name, value);
        at = end;
    }
}

fn name_length(text: &str) -> usize {
    text.find(|c: char| !c.is_alphanumeric() && c != '_' && c != '.').unwrap_or(text.len())
}
