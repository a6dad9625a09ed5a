//! Renders docs/status.schema.json from the tables of the status's types: a JSON Schema (2020-12) for readers of `harbor
//! status --json`.
//!
//! Owns the way from a row of the documentation to a schema. Must never say more than the types do: fields may be added
//! later, so unknown fields are allowed.

use serde_json::{Map, Value, json};

use super::docs::one_line;
use super::{CREDENTIAL_OBJECTS, FieldDoc, MessageDoc, STATS_OBJECTS, STATUS_OBJECTS, STATUS_VERSION};

/// The root of the schema.
const ROOT: &str = "Status";

/// The schema, exactly as in docs/status.schema.json.
#[must_use]
pub fn status_schema() -> Value {
    let mut defs = Map::new();
    let mut todo = vec![ROOT.to_owned()];
    while let Some(name) = todo.pop() {
        if defs.contains_key(&name) {
            continue;
        }
        let Some(object) = object(&name) else { continue };
        todo.extend(object.fields.iter().flat_map(|field| [field.kind, field.member]).map(str::to_owned));
        defs.insert(name, schema_of(object));
    }
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Harbor's status",
        "description": format!("What `harbor status --json` prints, version {STATUS_VERSION}. Fields may be added."),
        "$ref": format!("#/$defs/{ROOT}"),
        "$defs": defs,
    })
}

fn object(name: &str) -> Option<&'static MessageDoc> {
    STATUS_OBJECTS.iter().chain(STATS_OBJECTS).chain(CREDENTIAL_OBJECTS).find(|object| object.tag == name)
}

fn schema_of(object: &MessageDoc) -> Value {
    let properties: Map<_, _> =
        object.fields.iter().map(|field| (field.name.to_owned(), property(field))).collect();
    let required: Vec<_> =
        object.fields.iter().filter(|field| !field.optional).map(|field| field.name).collect();
    json!({
        "type": "object",
        "description": one_line(object.doc),
        "properties": properties,
        "required": required,
    })
}

fn property(field: &FieldDoc) -> Value {
    let mut schema = match field.kind {
        "array" => json!({"type": "array", "items": kind(field.member)}),
        "object" => json!({"type": "object", "additionalProperties": kind(field.member)}),
        plain => kind(plain),
    };
    schema["description"] = one_line(field.doc).into();
    if (field.name, field.kind) == ("version", "number") {
        schema["const"] = STATUS_VERSION.into();
    }
    schema
}

fn kind(name: &str) -> Value {
    match name {
        "string" | "boolean" => json!({"type": name}),
        // All numbers of the status count something.
        "number" => json!({"type": "integer", "minimum": 0}),
        object => json!({"$ref": format!("#/$defs/{object}")}),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_is_what_the_types_say() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/status.schema.json");
        let text = format!("{:#}\n", status_schema());
        if std::env::var_os("HARBOR_BLESS").is_some() {
            std::fs::write(path, &text).unwrap();
        }
        let file = std::fs::read_to_string(path).unwrap_or_default();
        assert!(
            file == text,
            "docs/status.schema.json is stale: HARBOR_BLESS=1 cargo test -p harbor-ipc-proto"
        );
    }

    #[test]
    fn every_reference_leads_somewhere() {
        let text = status_schema().to_string();
        for part in text.split("\"$ref\":\"#/$defs/").skip(1) {
            let name = part.split('"').next().unwrap();
            assert!(status_schema()["$defs"][name]["type"] == "object", "{name}");
        }
    }
}
