//! Checks arguments against the schema of one of the browser's tools.
//!
//! Owns those words of JSON Schema that `browser_tools.json` has, and no others. A server's arguments are checked by its runner; the
//! browser has none.

use serde_json::Value;

/// The longest arguments, in bytes: a browser takes little in one message.
pub(super) const MAX_ARGUMENTS: usize = 256 * 1024;

/// Checks that `value` fits.
///
/// # Errors
/// The place where it does not, as a JSON pointer, and why.
pub(super) fn check(schema: &Value, value: &Value) -> Result<(), (String, String)> {
    at("", schema, value)
}

fn at(path: &str, schema: &Value, value: &Value) -> Result<(), (String, String)> {
    let wrong = |why: String| Err((path.to_owned(), why));
    let kinds = schema["type"].as_array().map_or(std::slice::from_ref(&schema["type"]), Vec::as_slice);
    let kinds: Vec<_> = kinds.iter().filter_map(Value::as_str).collect();
    if !kinds.iter().any(|kind| is_a(kind, value)) {
        return wrong(format!("expected {}", kinds.join(" or ")));
    }
    if let Some(words) = schema["enum"].as_array()
        && !words.contains(value)
    {
        let words: Vec<_> = words.iter().filter_map(Value::as_str).collect();
        return wrong(format!("expected one of {}", words.join(", ")));
    }
    if let Some(items) = value.as_array() {
        let mut items = items.iter().enumerate();
        return items.try_for_each(|(index, item)| at(&format!("{path}/{index}"), &schema["items"], item));
    }
    let names_members = schema["properties"].is_object() || schema["additionalProperties"].is_object();
    let (Some(members), true) = (value.as_object(), names_members) else { return Ok(()) };
    let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    if let Some(missing) = required.into_iter().find(|name| !members.contains_key(*name)) {
        return wrong(format!("{missing} is missing"));
    }
    for (name, member) in members {
        let any = schema.get("additionalProperties").filter(|others| others.is_object());
        let Some(known) = schema["properties"].get(name).or(any) else {
            let names: Vec<_> = schema["properties"]
                .as_object()
                .into_iter()
                .flatten()
                .map(|(name, _)| name.as_str())
                .collect();
            return wrong(format!("there is no argument {name:.50}; the arguments are {}", names.join(", ")));
        };
        at(&format!("{path}/{name}"), known, member)?;
    }
    Ok(())
}

fn is_a(kind: &str, value: &Value) -> bool {
    match kind {
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "number" => value.is_number(),
        "integer" => value.as_i64().is_some_and(|n| n >= 0),
        "array" => value.is_array(),
        "object" => value.is_object(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::tools::Tools;
    use super::*;

    #[test]
    fn what_does_not_fit_is_named() {
        let tools = Tools::new();
        let ask = |name: &str, value: Value| check(tools.schema(name).unwrap(), &value);
        assert_eq!(ask("browser_click", json!({"target": "e1", "modifiers": ["Alt"], "tabId": 7})), Ok(()));
        let secret = json!({"target": "e1", "text": {"secret": "PIN"}});
        assert_eq!(ask("browser_type", secret), Ok(()));
        let data = json!({"target": "e1", "data": {"text/plain": "a", "text/x": "b"}});
        assert_eq!(ask("browser_drop", data), Ok(()));
        for (name, value, path) in [
            ("browser_click", json!({}), ""),
            ("browser_click", json!([]), ""),
            ("browser_click", json!({"target": 5}), "/target"),
            ("browser_click", json!({"target": "e1", "x": 1}), ""),
            ("browser_click", json!({"target": "e1", "modifiers": ["Alt", "Fn"]}), "/modifiers/1"),
            ("browser_click", json!({"target": "e1", "tabId": -1}), "/tabId"),
            ("browser_click", json!({"target": "e1", "tabId": 1.5}), "/tabId"),
            ("browser_drop", json!({"target": "e1", "data": {"text/plain": 5}}), "/data/text/plain"),
            ("browser_file_upload", json!({"files": [{"name": "a"}]}), "/files/0"),
            ("browser_fill_form", json!({"fields": [{"target": "e1"}]}), "/fields/0"),
            ("browser_type", json!({"target": "e1", "text": 5}), "/text"),
            ("browser_type", json!({"target": "e1", "text": {"secret": 5}}), "/text/secret"),
            ("browser_type", json!({"target": "e1", "text": {"secret": "A", "value": "b"}}), "/text"),
        ] {
            assert_eq!(ask(name, value.clone()).unwrap_err().0, path, "{value}");
        }
    }
}
