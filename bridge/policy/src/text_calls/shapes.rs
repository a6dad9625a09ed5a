//! The shapes in which JSON says a call: which key has the name, which one the arguments.
//!
//! ```text
//!  {"name", "arguments"}   {"tool", "parameters"}   {"function": {…}}   {"tool_calls": […]}   […]
//! ```
//!
//! Owns these keys. Must never know a tool.

use serde_json::{Map, Value};

use super::lenient;

/// Keys of a tool's name.
pub(super) const NAMES: [&str; 7] =
    ["name", "tool", "tool_name", "function", "function_name", "recipient_name", "action"];

/// Keys of arguments.
pub(super) const ARGUMENTS: [&str; 8] =
    ["arguments", "parameters", "args", "input", "params", "tool_input", "action_input", "tool_args"];

/// Keys of the calls in a message.
const CALLS: [&str; 3] = ["tool_calls", "function_call", "tool_call"];

/// Keys beside them. An object with another key is no call, unless a marker says so.
const BESIDE: [&str; 11] = [
    "id",
    "type",
    "index",
    "tool_call_id",
    "call_id",
    "content",
    "role",
    "refusal",
    "thought",
    "reasoning",
    "reasoning_content",
];

/// How deep calls may stand in lists and wrappings.
const DEEPEST: usize = 4;

/// A call as it is written: any name, any arguments.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct WrittenCall {
    pub name: String,
    pub arguments: Map<String, Value>,
    /// True if there are only keys that a call has, and both of its parts.
    pub is_plain: bool,
}

/// The calls that a value is; none if it is anything else.
pub(super) fn calls_of(value: &Value) -> Option<Vec<WrittenCall>> {
    let mut calls = Vec::new();
    gather(value, 0, &mut calls)?;
    (!calls.is_empty()).then_some(calls)
}

/// True if an object may begin with this key and be a call.
pub(super) fn may_begin_with(key: &str) -> bool {
    [&NAMES[..], &ARGUMENTS, &CALLS, &BESIDE].iter().any(|keys| keys.contains(&key))
}

/// True if a beginning of a key may become one that a call begins with.
pub(super) fn may_become_key(beginning: &str) -> bool {
    [&NAMES[..], &ARGUMENTS, &CALLS, &BESIDE]
        .iter()
        .any(|keys| keys.iter().any(|key| key.starts_with(beginning)))
}

fn gather(value: &Value, depth: usize, calls: &mut Vec<WrittenCall>) -> Option<()> {
    if depth > DEEPEST {
        return None;
    }
    match value {
        Value::Array(list) => list.iter().try_for_each(|entry| gather(entry, depth + 1, calls)),
        Value::Object(members) => {
            if let Some(inner) = CALLS.iter().find_map(|key| members.get(*key)).filter(|inner| holds(inner)) {
                return gather(inner, depth + 1, calls);
            }
            if let Some(inner) = members.get("function").filter(|inner| inner.is_object()) {
                return gather(inner, depth + 1, calls);
            }
            calls.push(call(members)?);
            Some(())
        }
        _ => None,
    }
}

fn holds(value: &Value) -> bool {
    value.is_object() || value.as_array().is_some_and(|list| !list.is_empty())
}

fn call(members: &Map<String, Value>) -> Option<WrittenCall> {
    let (name_key, name) = NAMES
        .iter()
        .find_map(|key| Some((*key, members.get(*key)?.as_str().filter(|name| !name.is_empty())?)))?;
    let arguments_key = ARGUMENTS.iter().find(|key| members.contains_key(**key));
    let arguments = match arguments_key.and_then(|key| members.get(*key)) {
        None | Some(Value::Null) => Map::new(),
        Some(Value::Object(arguments)) => arguments.clone(),
        Some(Value::String(text)) if text.trim().is_empty() => Map::new(),
        Some(Value::String(text)) => match lenient::whole(text)? {
            Value::Object(arguments) => arguments,
            _ => return None,
        },
        Some(_) => return None,
    };
    let is_known = |key: &String| {
        key == name_key || Some(&key.as_str()) == arguments_key || BESIDE.contains(&key.as_str())
    };
    let is_plain = arguments_key.is_some() && members.keys().all(is_known);
    Some(WrittenCall { name: name.to_owned(), arguments, is_plain })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn each_shape_says_its_calls() {
        let arguments = json!({"a": 1});
        let text = arguments.to_string();
        for value in [
            json!({"name": "t", "arguments": arguments}),
            json!({"tool": "t", "parameters": arguments}),
            json!({"tool_call_id": "0", "tool_name": "t", "parameters": arguments}),
            json!({"type": "function", "name": "t", "parameters": arguments}),
            json!({"type": "tool_use", "id": "x", "name": "t", "input": arguments}),
            json!({"function": "t", "args": arguments}),
            json!({"id": "c", "type": "function", "function": {"name": "t", "arguments": text}}),
            json!({"content": null, "tool_calls": [{"function": {"name": "t", "arguments": text}}]}),
            json!({"function_call": {"name": "t", "arguments": text}}),
            json!([{"action": "t", "action_input": arguments}]),
        ] {
            let calls = calls_of(&value).unwrap_or_else(|| panic!("{value}"));
            assert_eq!(calls.len(), 1, "{value}");
            assert!(calls[0].name == "t" && calls[0].arguments["a"] == 1 && calls[0].is_plain, "{value}");
        }
        for value in
            [json!({"a": 1}), json!([]), json!([1]), json!({"name": 1}), json!({"name": "t", "input": 1})]
        {
            assert_eq!(calls_of(&value), None, "{value}");
        }
        assert!(!calls_of(&json!({"name": "t", "age": 7})).unwrap()[0].is_plain);
    }
}
