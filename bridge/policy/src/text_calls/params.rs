//! Arguments between tags: one tag for each parameter.
//!
//! ```text
//!  <parameter=K>V</parameter>   <parameter name="K">V</parameter>   <arg_key>K</arg_key><arg_value>V</arg_value>   <K>V</K>
//! ```
//!
//! Owns where a value begins and ends. In these forms nothing is escaped: a value is the text as it stands, except in `<K>V</K>`,
//! which is XML where the text is. One line break at each end belongs to the form.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::lenient::{Unread, blanks, value};
use super::marks::{Mark, mark};
use super::offered::OfferedTools;

/// Tags around all arguments.
const AROUND: [&str; 5] = ["parameters", "arguments", "args", "input", "params"];

/// The arguments that begin at `at`, and where they end.
///
/// # Errors
/// When the text ends within them.
pub(super) fn params(
    text: &str,
    at: usize,
    tool: &str,
    tools: &OfferedTools,
) -> Result<(Map<String, Value>, usize), Unread> {
    let mut found: BTreeMap<String, String> = BTreeMap::new();
    let mut end = at;
    loop {
        let begin = blanks(text, end);
        if begin == text.len() {
            return ended(found, end, tool, tools);
        }
        if text[begin..].starts_with('{') && found.is_empty() {
            let (value, behind) = value(text, begin)?;
            let Value::Object(arguments) = value else { return Err(Unread::Other) };
            return Ok((arguments, after_around(text, behind, tool, tools)));
        }
        if !text[begin..].starts_with('<') {
            return Ok((all(found), end));
        }
        let tag = match mark(text, begin) {
            Ok(tag) => tag,
            Err(Unread::Ended) => return ended(found, end, tool, tools),
            Err(Unread::Other) => return Ok((all(found), end)),
        };
        if AROUND.contains(&tag.name.as_str()) && !tools.has_parameter(tool, tag.written) {
            end = tag.end;
            continue;
        }
        let Some((name, from, closing)) = param(text, &tag, tool, tools)? else {
            return Ok((all(found), end));
        };
        let length = text[from..].find(&closing).ok_or(Unread::Ended)?;
        let value = bare(&text[from..from + length]);
        let is_element = !["</parameter>", "</arg_value>"].contains(&closing.as_str())
            && closing.len() == tag.written.len() + 3;
        found.insert(name, if is_element { unescaped(value) } else { value.to_owned() });
        end = from + length + closing.len();
    }
}

/// The place behind a closing tag around all arguments.
fn after_around(text: &str, at: usize, tool: &str, tools: &OfferedTools) -> usize {
    match mark(text, blanks(text, at)) {
        Ok(tag)
            if tag.is_closing
                && AROUND.contains(&tag.name.as_str())
                && !tools.has_parameter(tool, tag.written) =>
        {
            tag.end
        }
        _ => at,
    }
}

/// The arguments where the text ends behind them: all, if none is missing. Its stop word ate the closing tag.
fn ended(
    found: BTreeMap<String, String>,
    end: usize,
    tool: &str,
    tools: &OfferedTools,
) -> Result<(Map<String, Value>, usize), Unread> {
    match !found.is_empty() && tools.is_complete(tool, &found) {
        true => Ok((all(found), end)),
        false => Err(Unread::Ended),
    }
}

fn all(found: BTreeMap<String, String>) -> Map<String, Value> {
    found.into_iter().map(|(name, value)| (name, Value::String(value))).collect()
}

/// The name of the parameter that a tag begins, where its value begins, and the tag that closes it.
fn param(
    text: &str,
    tag: &Mark<'_>,
    tool: &str,
    tools: &OfferedTools,
) -> Result<Option<(String, usize, String)>, Unread> {
    if tag.is_closing || tag.is_empty {
        return Ok(None);
    }
    match (tag.name.as_str(), tag.value) {
        ("parameter" | "param" | "arg", Some(name)) => {
            Ok(Some((name.to_owned(), tag.end, format!("</{}>", tag.written))))
        }
        ("arg_key", None) => {
            let length = text[tag.end..].find("</arg_key>").ok_or(Unread::Ended)?;
            let name = text[tag.end..tag.end + length].trim().to_owned();
            let begin = blanks(text, tag.end + length + "</arg_key>".len());
            let value = mark(text, begin)?;
            Ok((value.name == "arg_value").then(|| (name, value.end, "</arg_value>".to_owned())))
        }
        _ if tools.has_parameter(tool, tag.written) => {
            Ok(Some((tag.written.to_owned(), tag.end, format!("</{}>", tag.written))))
        }
        _ => Ok(None),
    }
}

/// A value without the line breaks at its ends that belong to the form.
fn bare(value: &str) -> &str {
    value.strip_prefix('\n').and_then(|value| value.strip_suffix('\n')).unwrap_or(value)
}

/// The text that XML means, if the value is XML: each `&` is the beginning of an entity, and no `<` stands in it.
fn unescaped(value: &str) -> String {
    const ENTITIES: [(&str, &str); 6] =
        [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&apos;", "'"), ("&#39;", "'"), ("&amp;", "&")];
    let is_entity =
        |(at, _): (usize, &str)| ENTITIES.iter().any(|(entity, _)| value[at..].starts_with(entity));
    if value.contains('<') || !value.match_indices('&').all(is_entity) {
        return value.to_owned();
    }
    ENTITIES.iter().fold(value.to_owned(), |text, (entity, c)| text.replace(entity, c))
}
