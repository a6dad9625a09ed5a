//! Arguments that do not fit a tool: which are missing or unknown, and texts that are meant as numbers.
//!
//! Owns the comparison with the tool's schema. Must never guess where the schema allows a text.

use harbor_client::payload::Payload;
use harbor_ipc_proto::json::Json;
use serde_json::Value as Any;

use crate::args::{Argument, Value};

/// Lists wrong arguments by their names alone, since a value may be a secret: `missing: timezone; unknown: tz`.
pub fn mismatch(given: &Payload, schema: &Payload) -> Option<String> {
    let properties = schema.object("properties");
    let known: Vec<_> = properties.names().collect();
    let required = schema.value("required");
    let required = required.as_array().into_iter().flatten().filter_map(Any::as_str);
    let missing: Vec<_> = required.filter(|name| given.raw(name).is_none()).collect();
    let unknown: Vec<_> = given.names().filter(|name| !known.contains(name)).collect();
    let said = [("missing", missing), ("unknown", unknown)];
    let said = said.iter().filter(|(_, names)| !names.is_empty());
    let said: Vec<_> = said.map(|(what, names)| format!("{what}: {}", names.join(", "))).collect();
    (!said.is_empty()).then(|| said.join("; "))
}

/// The words with each text in the type that the schema wants. None if nothing changes.
pub fn coerced(words: &[Argument], schema: &Payload) -> Option<Vec<Argument>> {
    let properties = schema.object("properties");
    let fit = |word: &Argument| {
        let Value::Text(text) = &word.value else { return word.clone() };
        let wanted = properties.object(&word.key).value("type");
        match as_wanted(text, &wanted) {
            Some(json) => Argument { key: word.key.clone(), value: Value::Json(json) },
            None => word.clone(),
        }
    };
    let words_now: Vec<_> = words.iter().map(fit).collect();
    (words_now != words).then_some(words_now)
}

/// The text as JSON of one of the types. None if it may be a text, or has no such type.
fn as_wanted(text: &str, wanted: &Any) -> Option<Json> {
    let types: Vec<_> = match wanted {
        Any::String(one) => vec![one.as_str()],
        Any::Array(many) => many.iter().filter_map(Any::as_str).collect(),
        _ => return None,
    };
    if types.contains(&"string") {
        return None;
    }
    let value: Any = serde_json::from_str(text).ok()?;
    let is = match &value {
        Any::Number(number) if number.is_i64() || number.is_u64() => ["integer", "number"].as_slice(),
        Any::Number(_) => &["number"],
        Any::Bool(_) => &["boolean"],
        Any::Array(_) => &["array"],
        Any::Object(_) => &["object"],
        Any::Null => &["null"],
        Any::String(_) => &[],
    };
    types.iter().any(|wanted| is.contains(wanted)).then(|| Json::from_valid(text.trim().to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn payload(text: &str) -> Payload {
        Payload::parse(text.as_bytes()).unwrap()
    }

    const SCHEMA: &str = r#"{"properties":{"timezone":{"type":"string"},"a":{"type":"number"},"b":{"type":["integer","null"]},
        "c":{"type":"boolean"},"d":{"type":["string","number"]},"e":{}},"required":["timezone","a"]}"#;

    #[test]
    fn what_is_missing_and_unknown_is_named() {
        let said = |given: &str| mismatch(&payload(given), &payload(SCHEMA));
        assert_eq!(said(r#"{"tz":"UTC","a":1}"#).unwrap(), "missing: timezone; unknown: tz");
        assert_eq!(said(r#"{"timezone":"UTC"}"#).unwrap(), "missing: a");
        assert_eq!(said(r#"{"timezone":"UTC","a":"x"}"#), None);
    }

    #[test]
    fn texts_become_what_the_schema_wants() {
        let word = |(key, text): (&str, &str)| Argument { key: key.into(), value: Value::Text(text.into()) };
        let became = |key: &str, text: &str| {
            let words = coerced(&[word((key, text))], &payload(SCHEMA))?;
            let Value::Json(json) = &words[0].value else { return None };
            Some(json.as_str().to_owned())
        };
        assert_eq!(became("a", "1.50"), Some("1.50".into()));
        assert_eq!(became("b", "7"), Some("7".into()));
        assert_eq!(became("c", "true"), Some("true".into()));
        for (key, text) in
            [("a", "one"), ("b", "1.5"), ("c", "yes"), ("d", "1"), ("e", "1"), ("f", "1"), ("timezone", "1")]
        {
            assert_eq!(became(key, text), None, "{key}={text}");
        }
    }
}
