//! Schemas of tools as providers take them: one that a provider refuses fails the whole request. Pure.
//!
//! ```text
//!  any JSON ─► an object schema: type object, properties, no combination at its root, no $schema
//! ```
//!
//! Nothing is lost for good here: arguments are checked against the schema as it was.

use serde_json::{Map, Value, json};

/// Combinations that no provider takes at a root.
const COMBINED: [&str; 3] = ["allOf", "anyOf", "oneOf"];

/// Words of a root that mean nothing to a provider, or that it refuses there.
const REFUSED: [&str; 8] = ["$schema", "$id", "enum", "not", "const", "if", "then", "else"];

/// The schema of a tool's arguments.
pub fn of_tool(text: &str) -> Value {
    let Ok(Value::Object(mut root)) = serde_json::from_str(text) else { return empty() };
    let mut properties = match root.remove("properties") {
        Some(Value::Object(properties)) => properties,
        _ => Map::new(),
    };
    for word in COMBINED {
        let Some(Value::Array(branches)) = root.remove(word) else { continue };
        for branch in branches {
            merge(&mut root, &mut properties, branch, word == "allOf");
        }
    }
    for word in REFUSED {
        root.remove(word);
    }
    root.insert("type".into(), "object".into());
    root.insert("properties".into(), Value::Object(properties));
    Value::Object(root)
}

/// Adds a branch's properties to the root. Required properties are taken over only if all branches apply (`all`).
fn merge(root: &mut Map<String, Value>, properties: &mut Map<String, Value>, branch: Value, all: bool) {
    let Value::Object(mut branch) = branch else { return };
    if let Some(Value::Object(more)) = branch.remove("properties") {
        for (name, schema) in more {
            properties.entry(name).or_insert(schema);
        }
    }
    if let (true, Some(Value::Array(required))) = (all, branch.remove("required")) {
        match root.entry("required").or_insert_with(|| json!([])) {
            Value::Array(known) => known.extend(required),
            other => *other = Value::Array(required),
        }
    }
}

fn empty() -> Value {
    json!({"type": "object", "properties": {}})
}

/// The schema of an answer, for providers that want each object closed and no bounds.
pub fn of_answer(text: &str) -> Value {
    let mut value = serde_json::from_str(text).unwrap_or_else(|_| empty());
    close(&mut value, 0);
    value
}

const BOUNDS: [&str; 9] = [
    "$schema",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
];

fn close(value: &mut Value, depth: usize) {
    if depth > 64 {
        return;
    }
    match value {
        Value::Object(object) => {
            for (name, inner) in object.iter_mut() {
                // Below `properties` there are names, of which any may look like a keyword.
                match inner {
                    Value::Object(named)
                        if matches!(name.as_str(), "properties" | "$defs" | "definitions") =>
                    {
                        named.values_mut().for_each(|inner| close(inner, depth + 1));
                    }
                    _ => close(inner, depth + 1),
                }
            }
            for word in BOUNDS {
                object.remove(word);
            }
            if object.get("type").is_some_and(|kind| kind == "object") {
                object.insert("additionalProperties".into(), false.into());
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|inner| close(inner, depth + 1)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_root_is_an_object_and_nothing_else() {
        for text in ["", "7", "true", "[]", "{}", r#"{"type":["object","null"]}"#] {
            assert_eq!(of_tool(text), empty(), "{text}");
        }
        let combined = r#"{"$schema":"s","required":["a"],"properties":{"a":{"type":"string"}},
            "anyOf":[{"properties":{"b":{"enum":[1]}},"required":["b"]},{"properties":{"a":{}}}],
            "allOf":[{"required":["c"],"properties":{"c":{"not":{}}}}],"$defs":{"d":{}}}"#;
        let wanted = json!({
            "type": "object", "required": ["a", "c"], "$defs": {"d": {}},
            "properties": {"a": {"type": "string"}, "b": {"enum": [1]}, "c": {"not": {}}},
        });
        assert_eq!(of_tool(combined), wanted);
    }

    #[test]
    fn answers_are_closed_and_unbounded() {
        let given = r#"{"type":"object","properties":{"minimum":{"type":"integer","minimum":1}}}"#;
        let wanted = json!({
            "type": "object", "additionalProperties": false, "properties": {"minimum": {"type": "integer"}},
        });
        assert_eq!(of_answer(given), wanted);
    }
}
