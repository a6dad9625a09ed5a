//! A call behind its mark, in any of the forms that models use.
//!
//! ```text
//!  opening marks ─► JSON │ name, separator, JSON │ name, tags │ <function=name> … │ <invoke name="…"> … │ <name> … │ name(…) ─► closing marks
//! ```
//!
//! Owns the order in which the forms are tried. Must never look at the text around.

use serde_json::{Map, Value};

use super::lenient::{Unread, blanks, string, value};
use super::marks::{Form, Mark, Role, mark};
use super::offered::OfferedTools;
use super::params::params;
use super::python;
use super::shapes::{WrittenCall, calls_of};

/// Calls and the place behind them.
pub(super) type WrittenCalls = (Vec<WrittenCall>, usize);

/// Calls of an answer at most.
pub(super) const MOST: usize = 32;

/// The calls that begin at `at` with an opening mark, or with a tag that is one by itself.
///
/// # Errors
/// When the text ends within them, or when something else stands there.
pub(super) fn block(text: &str, at: usize, tools: &OfferedTools) -> Result<WrittenCalls, Unread> {
    let (mut calls, mut end, mut first) = (Vec::new(), at, None);
    loop {
        let begin = if calls.is_empty() { end } else { separators(text, end) };
        if begin == text.len() && !calls.is_empty() {
            return Ok((calls, end));
        }
        let (begin, form) = opened(text, begin)?;
        let is_opened = form.is_some();
        if calls.is_empty() {
            first = form;
        } else if is_opened && form != first {
            // Another format begins here.
            return Ok((calls, end));
        }
        if begin == text.len() {
            return Err(Unread::Ended);
        }
        match item(text, begin, tools, is_opened) {
            Ok((more, behind)) => {
                calls.extend(more);
                end = closed(text, behind);
            }
            Err(Unread::Ended) => return Err(Unread::Ended),
            Err(why) if calls.is_empty() => return Err(why),
            Err(_) => return Ok((calls, end)),
        }
        if calls.len() > MOST {
            return Ok((calls, end));
        }
    }
}

/// The place behind blanks and what separates calls.
pub(super) fn separators(text: &str, at: usize) -> usize {
    at + text[at..].bytes().take_while(|byte| byte.is_ascii_whitespace() || b";,".contains(byte)).count()
}

/// The place behind opening marks, and their form if there are any.
fn opened(text: &str, at: usize) -> Result<(usize, Option<Form>), Unread> {
    let (mut at, mut form) = (at, None);
    loop {
        if text[at..].starts_with("functools[") {
            return Ok((at + "functools".len(), Some(Form::Bracket)));
        }
        match mark(text, at) {
            Ok(found) if found.role() == Role::Opens => {
                at = blanks(text, found.end);
                form = Some(found.form);
            }
            // A list may begin with a bracket, too.
            Err(Unread::Ended) if form.is_some() || !text[at..].starts_with('[') => {
                return Err(Unread::Ended);
            }
            _ => return Ok((at, form)),
        }
    }
}

/// The place behind closing marks, also behind one that is cut off by the end of the text.
fn closed(text: &str, at: usize) -> usize {
    let mut end = at;
    loop {
        let begin = blanks(text, end);
        match mark(text, begin) {
            Ok(found) if found.role() == Role::Closes || is_own_end(&found) => end = found.end,
            Err(Unread::Ended) if is_half_closing(&text[begin..]) => return text.len(),
            _ => return end,
        }
    }
}

/// True if a text may be the beginning of a closing tag.
fn is_half_closing(text: &str) -> bool {
    text == "<" || text.starts_with("</")
}

/// True for the closing tag of a single call.
fn is_own_end(found: &Mark<'_>) -> bool {
    found.is_closing && found.form == Form::Tag && ["function", "invoke"].contains(&found.name.as_str())
}

/// The call that begins at `at` behind an opening mark, or without one.
///
/// # Errors
/// When the text ends within it, or something else stands there.
pub(super) fn item(
    text: &str,
    at: usize,
    tools: &OfferedTools,
    is_opened: bool,
) -> Result<WrittenCalls, Unread> {
    match text.as_bytes()[at] {
        b'{' => json(text, at),
        b'[' => json(text, at).or_else(|why| match (why, is_opened) {
            (Unread::Other, true) => python::calls(text, at, tools),
            _ => Err(why),
        }),
        b'<' => tagged(text, at, tools, is_opened),
        _ if is_opened => named(text, at, tools),
        _ => Err(Unread::Other),
    }
}

fn json(text: &str, at: usize) -> Result<WrittenCalls, Unread> {
    let (value, end) = value(text, at)?;
    Ok((calls_of(&value).ok_or(Unread::Other)?, end))
}

/// A call that begins with a tag.
fn tagged(text: &str, at: usize, tools: &OfferedTools, is_opened: bool) -> Result<WrittenCalls, Unread> {
    let tag = mark(text, at)?;
    if tag.form != Form::Tag || tag.is_closing {
        return Err(Unread::Other);
    }
    match (tag.name.as_str(), tag.value) {
        ("function" | "invoke", Some(name)) => with_params(text, tag.end, name, tools),
        ("tool_name" | "name" | "tool", None) if is_opened => {
            let closing = format!("</{}>", tag.written);
            let length = text[tag.end..].find(&closing).ok_or(Unread::Ended)?;
            let name = text[tag.end..tag.end + length].trim();
            with_params(text, tag.end + length + closing.len(), name, tools)
        }
        _ => element(text, &tag, tools),
    }
}

fn with_params(text: &str, at: usize, name: &str, tools: &OfferedTools) -> Result<WrittenCalls, Unread> {
    let tool = tools.name(name).unwrap_or(name);
    let (arguments, end) = params(text, at, tool, tools)?;
    Ok((vec![WrittenCall { name: tool.to_owned(), arguments, is_plain: true }], end))
}

/// The element whose tag is the name of an offered tool.
fn element(text: &str, tag: &Mark<'_>, tools: &OfferedTools) -> Result<WrittenCalls, Unread> {
    let tool = tools.name(tag.written).ok_or(Unread::Other)?;
    if tag.is_empty {
        return Ok((
            vec![WrittenCall { name: tool.to_owned(), arguments: Map::new(), is_plain: true }],
            tag.end,
        ));
    }
    let (calls, end) = with_params(text, tag.end, tool, tools)?;
    let closing = blanks(text, end);
    match mark(text, closing) {
        Ok(found) if found.is_closing && found.written == tag.written => Ok((calls, found.end)),
        _ if closing == text.len() => Ok((calls, end)),
        Err(Unread::Ended) if is_half_closing(&text[closing..]) => Ok((calls, text.len())),
        _ => Err(Unread::Other),
    }
}

/// A call that begins with a name, behind an opening mark.
fn named(text: &str, at: usize, tools: &OfferedTools) -> Result<WrittenCalls, Unread> {
    let (mut name, mut end) = name_at(text, at)?;
    if name == "function" {
        // DeepSeek's kind of call.
        let separator = mark(text, end)?;
        if separator.role() != Role::Separates {
            return Err(Unread::Other);
        }
        (name, end) = name_at(text, separator.end)?;
    }
    let mut begin = blanks(text, end);
    if text[begin..].starts_with('(') {
        return python::calls(text, at, tools);
    }
    loop {
        match mark(text, begin) {
            Ok(found) if found.role() == Role::Separates => begin = blanks(text, found.end),
            Ok(found) if found.name == "call_id" => {
                let id = text[found.end..].find('[').ok_or(Unread::Ended)?;
                begin = found.end + id;
            }
            Ok(found) if found.name == "arg_key" => return with_params(text, begin, name, tools),
            Ok(found)
                if found.role() == Role::Closes
                    && !tools.required(tools.name(name).unwrap_or(name)).any(|_| true) =>
            {
                return Ok((vec![call(name, Map::new(), tools)], begin));
            }
            Err(Unread::Ended) => return Err(Unread::Ended),
            _ => break,
        }
    }
    let (arguments, end) = arguments(text, begin)?;
    Ok((vec![call(name, arguments, tools)], end))
}

pub(super) fn call(name: &str, arguments: Map<String, Value>, tools: &OfferedTools) -> WrittenCall {
    let name = tools.name(name).unwrap_or(name).to_owned();
    WrittenCall { name, arguments, is_plain: true }
}

/// A name, without the number of the call behind it, and where both end.
fn name_at(text: &str, at: usize) -> Result<(&str, usize), Unread> {
    let rest = &text[at..];
    let is_part = |c: char| c.is_alphanumeric() || "_.-/".contains(c);
    let length = rest.find(|c| !is_part(c)).ok_or(Unread::Ended)?;
    if length == 0 || length > 128 {
        return Err(Unread::Other);
    }
    let digits = match rest[length..].strip_prefix(':') {
        Some(number) => 1 + number.bytes().take_while(u8::is_ascii_digit).count(),
        None => 0,
    };
    Ok((&rest[..length], at + length + digits))
}

/// An object with arguments, also in a fence of its own, or as a string.
pub(super) fn arguments(text: &str, at: usize) -> Result<(Map<String, Value>, usize), Unread> {
    let begin = blanks(text, at);
    let ticks = text[begin..].bytes().take_while(|byte| *byte == b'`').count();
    if ticks == 0 {
        return object(text, begin);
    }
    let info = text[begin + ticks..].bytes().take_while(u8::is_ascii_alphabetic).count();
    let (arguments, end) = object(text, blanks(text, begin + ticks + info))?;
    let closing = blanks(text, end);
    let ticks = text[closing..].bytes().take_while(|byte| *byte == b'`').count();
    Ok((arguments, if ticks > 0 { closing + ticks } else { end }))
}

fn object(text: &str, at: usize) -> Result<(Map<String, Value>, usize), Unread> {
    match text[at..].chars().next().ok_or(Unread::Ended)? {
        '{' => match value(text, at)? {
            (Value::Object(arguments), end) => Ok((arguments, end)),
            _ => Err(Unread::Other),
        },
        '"' => {
            let (inner, end) = string(text, at)?;
            match super::lenient::whole(&inner) {
                Some(Value::Object(arguments)) => Ok((arguments, end)),
                _ => Err(Unread::Other),
            }
        }
        _ => Err(Unread::Other),
    }
}
