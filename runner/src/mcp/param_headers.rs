//! Arguments that a remote server wants as headers too: `x-mcp-header` in a tool's schema, as of 2026-07-28.
//!
//! ```text
//!  schema ─► which property under which name, or why the tool is not to be used
//!  arguments ─► name, text of the value ─► headers Mcp-Param-NAME (encoded where headers are written)
//! ```
//!
//! Owns that rule. Must never designate what is no string, integer or boolean.

use std::collections::{BTreeMap, HashSet};

use serde_json::{Map, Value};

const KEY: &str = "x-mcp-header";

/// Headers that a tool may want at most.
const MAX: usize = 64;

/// The properties of a schema that go as headers: property and name.
///
/// # Errors
/// Why a client must not use the tool.
pub fn designated(schema: &str) -> Result<Vec<(String, String)>, &'static str> {
    // Nearly all schemas have none, and need no reading.
    if memchr::memmem::find(schema.as_bytes(), KEY.as_bytes()).is_none() {
        return Ok(Vec::new());
    }
    let schema: Map<String, Value> = serde_json::from_str(schema).unwrap_or_default();
    let properties = schema.get("properties").and_then(Value::as_object);
    let (mut found, mut names) = (Vec::new(), HashSet::new());
    for (property, said) in properties.into_iter().flatten() {
        let Some(name) = said.get(KEY) else { continue };
        let name = name
            .as_str()
            .filter(|name| is_name(name))
            .ok_or("an x-mcp-header is not the name of a header")?;
        if !matches!(said["type"].as_str(), Some("string" | "integer" | "boolean")) {
            return Err("an x-mcp-header is set for a property that is neither string, integer nor boolean");
        }
        if !names.insert(name.to_ascii_lowercase()) {
            return Err("two properties have the same x-mcp-header");
        }
        found.push((property.clone(), name.to_owned()));
    }
    if found.len() <= MAX { Ok(found) } else { Err("it has too many x-mcp-header properties") }
}

fn is_name(name: &str) -> bool {
    let token = |b: u8| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b);
    (1..=128).contains(&name.len()) && name.bytes().all(token)
}

/// The headers of a call: names and texts. An absent or null argument gives no header.
#[must_use]
pub fn of_call(schema: &str, arguments: &str) -> Vec<(String, String)> {
    let designated = designated(schema).unwrap_or_default();
    if designated.is_empty() {
        return Vec::new();
    }
    let arguments: BTreeMap<String, Value> = serde_json::from_str(arguments).unwrap_or_default();
    let text = |property: &str| match arguments.get(property)? {
        Value::String(text) => Some(text.clone()),
        Value::Bool(flag) => Some(flag.to_string()),
        Value::Number(number) => Some(number.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    };
    designated.iter().filter_map(|(property, name)| Some((name.clone(), text(property)?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCHEMA: &str = r#"{"type":"object","properties":{"a":{"type":"string","x-mcp-header":"A"},
        "b":{"type":"integer","x-mcp-header":"B-2"},"c":{"type":"boolean","x-mcp-header":"C"},"d":{"type":"number"}}}"#;

    #[test]
    fn designated_arguments_become_headers() {
        let of = |arguments: &str| of_call(SCHEMA, arguments);
        let pair = |name: &str, text: &str| (name.to_owned(), text.to_owned());
        assert_eq!(
            of(r#"{"a":" ä","b":42,"c":false,"d":1.5}"#),
            [pair("A", " ä"), pair("B-2", "42"), pair("C", "false")]
        );
        assert_eq!(of(r#"{"a":null,"c":{},"d":1}"#), []);
        assert_eq!(of_call(r#"{"properties":{"a":{"type":"string"}}}"#, r#"{"a":"x"}"#), []);
    }

    #[test]
    fn a_tool_that_designates_wrongly_is_not_to_be_used() {
        let judged = |kind: &str, name: &str| {
            designated(&format!(r#"{{"properties":{{"a":{{"type":"{kind}","x-mcp-header":{name}}}}}}}"#))
                .is_err()
        };
        assert!(!judged("string", "\"A\""));
        for name in ["\"\"", "\"a b\"", "\"a:b\"", "\"é\"", "\"a\\tb\"", "7"] {
            assert!(judged("string", name), "{name}");
        }
        for kind in ["object", "array", "null", "number"] {
            assert!(judged(kind, "\"A\""), "{kind}");
        }
        let twice = r#"{"properties":{"a":{"type":"string","x-mcp-header":"A"},"b":{"type":"string","x-mcp-header":"a"}}}"#;
        assert!(designated(twice).is_err());
    }
}
