//! Calls that begin with a line: `Action:` and what follows, a bare value, a Python call, a tool's name.
//!
//! Owns these forms. Must never decide if a call counts: it may be an example.

use super::heard::BETWEEN;
use super::items::{MOST, WrittenCalls, arguments, call, separators};
use super::lenient::{Unread, blanks, string, value};
use super::offered::OfferedTools;
use super::python;
use super::shapes::{NAMES, WrittenCall, calls_of, may_become_key, may_begin_with};

/// The words with which lines of the form with thoughts and actions begin.
pub(super) const KEYWORDS: [&str; 4] = ["Thought:", "Action:", "Observation:", "Final Answer:"];

const INPUT: &str = "Action Input:";

/// The beginning of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LineBegin {
    Thought,
    Action,
    Observation,
    FinalAnswer,
}

/// The keyword that a line begins with, and the place behind it.
///
/// # Errors
/// When the text ends within it, or the line begins otherwise.
pub(super) fn keyword(text: &str, at: usize) -> Result<(LineBegin, usize), Unread> {
    let rest = &text[at..];
    let marks = rest.len() - rest.trim_start_matches('*').len();
    let rest = &rest[marks..];
    let begins = [LineBegin::Thought, LineBegin::Action, LineBegin::Observation, LineBegin::FinalAnswer];
    for (word, begin) in KEYWORDS.into_iter().zip(begins) {
        if let Some(behind) = rest.strip_prefix(word) {
            let stars = behind.len() - behind.trim_start_matches('*').len();
            return Ok((begin, at + marks + word.len() + stars));
        }
    }
    let may_become = KEYWORDS.iter().any(|word| word.starts_with(rest));
    Err(if may_become { Unread::Ended } else { Unread::Other })
}

/// True if an offered tool, a list or an input follows behind `Action:`. Otherwise the word is an ordinary one.
pub(super) fn is_action(text: &str, at: usize, tools: &OfferedTools) -> bool {
    let rest = text[at..].trim_start();
    let (line, behind) = rest.split_once('\n').unwrap_or((rest, ""));
    let name = line.trim().trim_matches(['`', '*', '"', '\'']).trim();
    let is_whole = line.len() < rest.len();
    rest.starts_with(['{', '['])
        || rest.starts_with("```")
        || tools.name(name).is_some()
        || (!is_whole && tools.has_beginning(name))
        || behind.trim_start().trim_start_matches('*').starts_with(INPUT)
}

/// The calls behind `Action:`, one or several pairs of an action and its input, or a list in a fence.
///
/// # Errors
/// When the text ends within them, or something else stands there.
pub(super) fn actions(text: &str, at: usize, tools: &OfferedTools) -> Result<WrittenCalls, Unread> {
    let (mut calls, mut end) = (Vec::new(), at);
    loop {
        let (more, behind) = action(text, end, tools)?;
        calls.extend(more);
        end = behind;
        match keyword(text, blanks(text, end)) {
            Ok((LineBegin::Action, behind)) if calls.len() <= MOST => end = behind,
            _ => return Ok((calls, end)),
        }
    }
}

fn action(text: &str, at: usize, tools: &OfferedTools) -> Result<WrittenCalls, Unread> {
    let begin = blanks(text, at);
    let rest = &text[begin..];
    let ticks = rest.bytes().take_while(|byte| *byte == b'`').count();
    if ticks >= 3 {
        return listed(text, begin, ticks);
    }
    if rest.starts_with(['{', '[']) {
        let (value, end) = value(text, begin)?;
        return Ok((calls_of(&value).ok_or(Unread::Other)?, end));
    }
    let line = rest.find('\n').ok_or(Unread::Ended)?;
    let name = rest[..line].trim().trim_matches(['`', '*', '"', '\'']).trim();
    if name.is_empty() || name.len() > BETWEEN / 2 {
        return Err(Unread::Other);
    }
    let begin = blanks(text, begin + line);
    let rest = text[begin..].trim_start_matches('*');
    let Some(behind) = rest.strip_prefix(INPUT) else {
        return Err(if INPUT.starts_with(rest) { Unread::Ended } else { Unread::Other });
    };
    let behind = behind.trim_start_matches('*');
    let (arguments, end) = arguments(text, text.len() - behind.len())?;
    Ok((vec![call(name, arguments, tools)], end))
}

/// A list of calls in a fence.
fn listed(text: &str, at: usize, ticks: usize) -> Result<WrittenCalls, Unread> {
    let info = text[at + ticks..].bytes().take_while(u8::is_ascii_alphabetic).count();
    let (value, end) = value(text, at + ticks + info)?;
    let closing = blanks(text, end);
    let length = text[closing..].bytes().take_while(|byte| *byte == b'`').count();
    Ok((calls_of(&value).ok_or(Unread::Other)?, if length > 0 { closing + length } else { end }))
}

/// A value that stands by itself: the calls that it is, if any, and where it ends.
///
/// # Errors
/// When the text ends within it, or there is none.
pub(super) fn bare_values(text: &str, at: usize) -> Result<(Option<Vec<WrittenCall>>, usize), Unread> {
    let (mut calls, mut end) = (Some(Vec::new()), at);
    loop {
        let (value, behind) = value(text, if end == at { at } else { separators(text, end) })?;
        let more = calls_of(&value).filter(|calls| calls.iter().all(|call| call.is_plain));
        let Some((all, more)) = calls.as_mut().zip(more) else {
            return Ok((None, behind));
        };
        all.extend(more);
        end = behind;
        if !text[separators(text, end)..].starts_with(['{', '[']) || all.len() > MOST {
            return Ok((calls, end));
        }
    }
}

/// True if a value that breaks off may have become a call.
pub(super) fn may_become_call(text: &str, tools: &OfferedTools) -> bool {
    let text = text.trim_start();
    let Some(inner) = text.strip_prefix('{') else {
        return match text.strip_prefix('[') {
            Some(list) => {
                list.is_empty()
                    || may_become_call(list, tools)
                    || python::calls(text, 0, tools).is_err_and(|why| why == Unread::Ended)
            }
            None => text.is_empty(),
        };
    };
    let inner = inner.trim_start();
    let (key, end) = match string(inner, 0) {
        Ok(found) => found,
        Err(Unread::Ended) => return inner.is_empty() || may_become_key(&inner[1..]),
        Err(Unread::Other) => return false,
    };
    let behind = inner[end..].trim_start().trim_start_matches(':').trim_start();
    if !may_begin_with(&key) {
        return false;
    }
    if !NAMES.contains(&key.as_str()) || !behind.starts_with('"') {
        return true;
    }
    match string(behind, 0) {
        Ok((name, _)) => tools.name(&name).is_some(),
        Err(_) => tools.has_beginning(&behind[1..]),
    }
}

/// The Python calls with which a line begins.
///
/// # Errors
/// When the text ends within one, or the line begins otherwise.
pub(super) fn python_line(text: &str, at: usize, tools: &OfferedTools) -> Result<WrittenCalls, Unread> {
    let rest = &text[at..];
    let length = rest.find(|c: char| !c.is_alphanumeric() && c != '_' && c != '.').unwrap_or(rest.len());
    let name = &rest[..length];
    let begins = rest[length..].trim_start_matches(' ').chars().next();
    let is_one = match begins {
        Some('(') => name == "print" || tools.name(name).is_some(),
        Some('=') => length > 0,
        None => {
            length > 0
                && ("print".starts_with(name) || tools.has_beginning(name.rsplit('.').next().unwrap_or(name)))
        }
        Some(_) => false,
    };
    if is_one { python::calls(text, at, tools) } else { Err(Unread::Other) }
}

/// A tool's name in the first line, its arguments in the next: the mark before them was in the prompt.
///
/// # Errors
/// When the text ends within it, or begins otherwise.
pub(super) fn name_line(text: &str, at: usize, tools: &OfferedTools) -> Result<WrittenCalls, Unread> {
    let rest = &text[at..];
    let Some(length) = rest.find('\n') else {
        let may_become = !rest.is_empty() && (tools.has_beginning(rest) || "all".starts_with(rest));
        return Err(if may_become { Unread::Ended } else { Unread::Other });
    };
    let tool = tools.name(&rest[..length]).ok_or(Unread::Other)?;
    let begin = blanks(text, at + length);
    if begin < text.len() && !text[begin..].starts_with('{') {
        return Err(Unread::Other);
    }
    let (arguments, end) = arguments(text, begin)?;
    Ok((vec![call(tool, arguments, tools)], end))
}
