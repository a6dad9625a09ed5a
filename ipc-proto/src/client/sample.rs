//! Whole messages of the bridge from the part that a test writes: the other required fields are added, empty.
//!
//! Owns the empty values. For tests of clients only: no other code may make up what the bridge has not said.

use serde_json::value::RawValue;

use super::docs::{objects, replies};
use super::{FieldDoc, MessageDoc, PUSHES};
use crate::field::{FieldError, Message, PutField as _, read_object};
use crate::json::Json;
use crate::members::{Malformed, Members};

/// The message in `text`, with all required fields.
#[must_use]
pub fn complete(text: &str) -> String {
    let Ok(members) = in_order(text) else { return text.to_owned() };
    let tag = members.iter().find(|(name, _)| name == "type");
    let tag: String = tag.and_then(|(_, tag)| serde_json::from_str(tag).ok()).unwrap_or_default();
    let mut replies = replies();
    let message = match tag.strip_suffix("_result") {
        Some(tag) => replies.find(|reply| reply.tag == tag),
        None => PUSHES.iter().find(|push| push.tag == tag),
    };
    message.map_or_else(|| text.to_owned(), |doc| filled(doc, text))
}

/// The object in `text`, of the type `name`, with all required fields.
#[must_use]
pub fn complete_object(name: &str, text: &str) -> String {
    objects().find(|object| object.tag == name).map_or_else(|| text.to_owned(), |doc| filled(doc, text))
}

/// The reply to `host_list_tools` in `text`, whose tools have all required fields too.
#[must_use]
pub fn complete_tools(text: &str) -> String {
    let Ok(mut members) = in_order(text) else { return text.to_owned() };
    if text.contains("\"host_list_tools_result\"")
        && let Some((_, tools)) = members.iter_mut().find(|(name, _)| name == "tools")
    {
        let items: Vec<Box<RawValue>> = serde_json::from_str(tools).unwrap_or_default();
        let items = items.iter().map(|tool| complete_object("ToolDescriptor", tool.get()));
        *tools = format!("[{}]", items.collect::<Vec<_>>().join(","));
    }
    object(&members)
}

/// A typed message from a text with only the fields that a test needs.
///
/// # Errors
/// When it cannot be read even so.
pub fn typed<T: Message>(text: &str) -> Result<T, FieldError> {
    let mut docs = replies().chain(PUSHES).chain(objects());
    let text = docs.find(|doc| doc.tag == T::TAG).map_or_else(|| text.to_owned(), |doc| filled(doc, text));
    read_object(&text)
}

/// The object as it was written, with the missing required fields at its end.
fn filled(doc: &MessageDoc, text: &str) -> String {
    let Ok(mut members) = in_order(text) else { return text.to_owned() };
    for field in doc.fields {
        match members.iter_mut().find(|(name, _)| name == field.name) {
            Some((_, value)) => *value = filled_value(field, value),
            None if field.optional => {}
            None => members.push((field.name.to_owned(), empty(field))),
        }
    }
    object(&members)
}

fn in_order(text: &str) -> Result<Vec<(String, String)>, Malformed> {
    Members::of(text)
        .map(|member| member.map(|(name, value)| (name.into_owned(), value.to_owned())))
        .collect()
}

fn object(members: &[(String, String)]) -> String {
    let member = |(name, value): &(String, String)| format!("{}:{value}", Json::string(name).as_str());
    format!("{{{}}}", members.iter().map(member).collect::<Vec<_>>().join(","))
}

fn filled_value(field: &FieldDoc, value: &str) -> String {
    let each = |item: &RawValue| complete_object(field.member, item.get());
    match field.kind {
        "array" => {
            let items: Vec<Box<RawValue>> = serde_json::from_str(value).unwrap_or_default();
            format!("[{}]", items.iter().map(|item| each(item)).collect::<Vec<_>>().join(","))
        }
        "object" => {
            let mut members = in_order(value).unwrap_or_default();
            members.iter_mut().for_each(|(_, value)| *value = complete_object(field.member, value));
            object(&members)
        }
        kind => complete_object(kind, value),
    }
}

fn empty(field: &FieldDoc) -> String {
    match field.kind {
        "string" if field.name == "credential_type" => "\"api_key\"".into(),
        "string" => "\"\"".into(),
        "number" => "0".into(),
        "boolean" => "false".into(),
        "array" => "[]".into(),
        Json::TYPE => "null".into(),
        kind => complete_object(kind, "{}"),
    }
}
