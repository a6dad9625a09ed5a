//! Tools as TypeScript declares them, for a model that writes scripts.
//!
//! ```text
//!  JSON Schema ─► { city: string; days?: number; unit: "c" | "f" }       what has no such form ─► any
//! ```
//!
//! Pure. Owns the form. A declaration only helps to write a call: arguments are checked by the schema itself. Must never put a server's
//! words where they could be read as code: they stand in comments and in quotes.

use serde_json::{Map, Value};

use crate::untrusted::cleaned;

/// How deep types are shown.
const DEEPEST: usize = 4;

/// Values of an enumeration that are shown.
const MOST_VALUES: usize = 16;

/// The part of a description that is shown, in bytes.
const WORDS: usize = 160;

/// A tool as it is declared, from the object by which its server lists it. None if that is no JSON.
#[must_use]
pub fn of_listed(server: &str, tool: &str, object: &str) -> Option<String> {
    let object: Value = serde_json::from_str(object).ok()?;
    let about = object["description"].as_str().or(object["title"].as_str()).unwrap_or_default();
    Some(declaration(server, tool, about, &object["inputSchema"], object.get("outputSchema")))
}

/// One tool as it is declared: `tools.SERVER.TOOL(args: …): Promise<…>`, behind the first line of its description. `input` and `output`
/// are JSON Schemas.
fn declaration(server: &str, tool: &str, about: &str, input: &Value, output: Option<&Value>) -> String {
    let mut out = String::new();
    let about = cleaned(about.trim().lines().next().unwrap_or_default()).replace("*/", "* /");
    if !about.is_empty() {
        out.push_str(&format!("/** {} */\n", &about[..about.floor_char_boundary(WORDS)]));
    }
    let needs = input["required"].as_array().is_some_and(|names| !names.is_empty());
    let has_any = input["properties"].as_object().is_some_and(|all| !all.is_empty());
    let args = match (has_any, needs) {
        (false, _) => String::new(),
        (true, needs) => format!("args{}: {}", if needs { "" } else { "?" }, type_of(input, 0)),
    };
    let result = output.map_or_else(|| "any".to_owned(), |output| type_of(output, 0));
    out.push_str(&format!("{}({args}): Promise<{result}>", path(server, tool)));
    out
}

/// How a script names a tool.
#[must_use]
pub fn path(server: &str, tool: &str) -> String {
    format!("tools{}{}", member(server), member(tool))
}

fn member(name: &str) -> String {
    if is_word(name) { format!(".{name}") } else { format!("[{}]", Value::from(name)) }
}

fn is_word(name: &str) -> bool {
    let is_letter = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '$');
    !name.is_empty() && name.chars().all(is_letter) && !name.starts_with(|c: char| c.is_ascii_digit())
}

fn type_of(schema: &Value, depth: usize) -> String {
    let Some(fields) = schema.as_object().filter(|_| depth < DEEPEST) else { return "any".into() };
    if let Some(value) = fields.get("const") {
        return value.to_string();
    }
    if let Some(values) = fields.get("enum").and_then(Value::as_array) {
        return match values.len() {
            1..=MOST_VALUES => union(values.iter().map(Value::to_string)),
            _ => "any".into(),
        };
    }
    for word in ["anyOf", "oneOf"] {
        if let Some(choices) = fields.get(word).and_then(Value::as_array).filter(|all| !all.is_empty()) {
            return union(choices.iter().map(|choice| type_of(choice, depth + 1)));
        }
    }
    match fields.get("type") {
        Some(Value::String(kind)) => named(kind, fields, depth),
        Some(Value::Array(kinds)) => {
            union(kinds.iter().filter_map(Value::as_str).map(|kind| named(kind, fields, depth)))
        }
        _ if fields.contains_key("properties") => object(fields, depth),
        _ => "any".into(),
    }
}

fn named(kind: &str, fields: &Map<String, Value>, depth: usize) -> String {
    match kind {
        "string" | "boolean" | "null" => kind.to_owned(),
        "number" | "integer" => "number".into(),
        "array" => {
            let of = fields.get("items").map_or_else(|| "any".to_owned(), |items| type_of(items, depth + 1));
            if of.contains(" | ") { format!("({of})[]") } else { format!("{of}[]") }
        }
        "object" => object(fields, depth),
        _ => "any".into(),
    }
}

fn object(fields: &Map<String, Value>, depth: usize) -> String {
    let Some(properties) = fields.get("properties").and_then(Value::as_object) else {
        return "{ [name: string]: any }".into();
    };
    let required = fields.get("required").and_then(Value::as_array);
    let is_required = |name: &str| required.is_some_and(|all| all.iter().any(|one| one == name));
    let members = properties.iter().map(|(name, schema)| {
        let quoted = if is_word(name) { name.clone() } else { Value::from(name.as_str()).to_string() };
        format!("{quoted}{}: {}", if is_required(name) { "" } else { "?" }, type_of(schema, depth + 1))
    });
    format!("{{ {} }}", members.collect::<Vec<_>>().join("; "))
}

fn union(types: impl Iterator<Item = String>) -> String {
    let mut all: Vec<String> = Vec::new();
    for one in types.filter(|one| !one.is_empty()) {
        if !all.contains(&one) {
            all.push(one);
        }
    }
    if all.is_empty() || all.iter().any(|one| one == "any") { "any".into() } else { all.join(" | ") }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_tool_is_declared_with_what_it_takes_and_gives() {
        let input = json!({
            "type": "object",
            "properties": {
                "city": {"type": "string"},
                "days": {"type": ["integer", "null"]},
                "unit": {"enum": ["c", "f"]},
                "tags": {"type": "array", "items": {"anyOf": [{"type": "string"}, {"type": "number"}]}},
                "a b": {"$ref": "#/$defs/x"},
                "deep": {"type": "object", "properties": {"far": {"type": "object"}}},
            },
            "required": ["city"],
        });
        let output = json!({"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]});
        assert_eq!(
            declaration("weather", "get", "Tells the weather. */ alert()\nMore", &input, Some(&output)),
            "/** Tells the weather. * / alert() */\ntools.weather.get(args: { \"a b\"?: any; city: string; days?: number | null; \
             deep?: { far?: { [name: string]: any } }; tags?: (string | number)[]; unit?: \"c\" | \"f\" }): Promise<{ ok: boolean }>"
        );
        let nothing = json!({"type": "object"});
        assert_eq!(
            declaration("my-server", "do it", "", &nothing, None),
            "tools[\"my-server\"][\"do it\"](): Promise<any>"
        );
        let optional = json!({"properties": {"x": {"const": 7}}});
        assert_eq!(declaration("a", "b", "", &optional, None), "tools.a.b(args?: { x?: 7 }): Promise<any>");
    }

    #[test]
    fn whatever_a_schema_is_there_is_a_declaration() {
        let mut deep = json!({"type": "string"});
        for _ in 0..200 {
            deep = json!({"type": "array", "items": deep});
        }
        let strange =
            [json!(null), json!(7), json!({"type": 7}), json!({"properties": 7}), json!({"type": []}), deep];
        for schema in strange {
            assert!(
                declaration("a", "b", "é".repeat(200).as_str(), &schema, Some(&schema))
                    .contains("tools.a.b(")
            );
        }
    }
}
