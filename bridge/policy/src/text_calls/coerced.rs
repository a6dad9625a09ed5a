//! Arguments in the types of a schema: models write `"5"` for 5 and `True` for true, and tags have nothing but text.
//!
//! Owns the changes, each of which loses nothing: a value that does not become another type whole stays as it is. Must never
//! refuse: whoever calls the tool checks its schema.

use serde_json::{Map, Value};

use super::lenient;

/// How deep schemas are followed.
const DEEPEST: usize = 8;

/// The value as this part of the schema wants it.
pub(super) fn coerced(root: &Value, schema: &Value, value: Value) -> Value {
    at_depth(root, schema, value, 0)
}

/// The types that a schema names; none if it names none.
pub(super) fn types<'a>(root: &'a Value, schema: &'a Value) -> Option<Vec<&'a str>> {
    let schema = followed(root, schema);
    match &schema["type"] {
        Value::String(one) => return Some(vec![one]),
        Value::Array(several) => return Some(several.iter().filter_map(Value::as_str).collect()),
        _ => {}
    }
    let branches = schema["anyOf"].as_array().or_else(|| schema["oneOf"].as_array());
    if let Some(branches) = branches {
        let of = |branch: &'a Value| followed(root, branch)["type"].as_str();
        return branches.iter().map(of).collect();
    }
    let constants = schema["enum"].as_array()?;
    let all = |is: fn(&Value) -> bool| constants.iter().all(is);
    match () {
        () if all(Value::is_string) => Some(vec!["string"]),
        () if all(Value::is_i64) => Some(vec!["integer"]),
        () => None,
    }
}

/// The schema that a reference within the document leads to.
fn followed<'a>(root: &'a Value, schema: &'a Value) -> &'a Value {
    let mut schema = schema;
    for _ in 0..DEEPEST {
        let target = schema["$ref"].as_str().and_then(|place| root.pointer(place.strip_prefix('#')?));
        match target {
            Some(target) => schema = target,
            None => break,
        }
    }
    schema
}

fn at_depth(root: &Value, schema: &Value, value: Value, depth: usize) -> Value {
    let Some(types) = types(root, schema).filter(|_| depth < DEEPEST) else { return value };
    let wants = |name: &str| types.contains(&name);
    let value = match value {
        Value::String(text) if !wants("string") => from_text(&types, text),
        Value::Number(number) if !wants("number") && wants("integer") => {
            whole_number(&number).unwrap_or(Value::Number(number))
        }
        Value::Number(number) if !wants("number") && wants("string") => number.to_string().into(),
        Value::Bool(flag) if !wants("boolean") && wants("string") => flag.to_string().into(),
        other => other,
    };
    below(root, followed(root, schema), value, depth)
}

/// The members of an object, the entries of a list.
fn below(root: &Value, schema: &Value, value: Value, depth: usize) -> Value {
    match value {
        Value::Object(members) => {
            let one = |(name, value): (String, Value)| {
                let value = match schema["properties"].get(&name) {
                    Some(wanted) => at_depth(root, wanted, value, depth + 1),
                    None => value,
                };
                (name, value)
            };
            Value::Object(members.into_iter().map(one).collect::<Map<_, _>>())
        }
        Value::Array(list) if schema["items"].is_object() => {
            list.into_iter().map(|entry| at_depth(root, &schema["items"], entry, depth + 1)).collect()
        }
        other => other,
    }
}

fn from_text(types: &[&str], text: String) -> Value {
    let word = text.trim();
    for name in types {
        let value = match *name {
            "integer" => word.parse::<i64>().ok().map(Value::from).or_else(|| {
                let number = lenient::whole(word)?;
                whole_number(number.as_number()?)
            }),
            "number" => lenient::whole(word).filter(Value::is_number),
            "boolean" => match word {
                "true" | "True" | "TRUE" => Some(true.into()),
                "false" | "False" | "FALSE" => Some(false.into()),
                _ => None,
            },
            "null" => ["null", "None", ""].contains(&word).then_some(Value::Null),
            "array" => lenient::whole(word).filter(Value::is_array),
            "object" => lenient::whole(word).filter(Value::is_object),
            _ => None,
        };
        if let Some(value) = value {
            return value;
        }
    }
    text.into()
}

/// `5.0` as 5.
fn whole_number(number: &serde_json::Number) -> Option<Value> {
    /// Whole numbers up to here are exact as floating point numbers.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if number.is_i64() || number.is_u64() {
        return Some(Value::Number(number.clone()));
    }
    let number = number.as_f64().filter(|number| number.fract() == 0.0 && number.abs() < EXACT)?;
    format!("{number:.0}").parse::<i64>().ok().map(Value::from)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_value_takes_the_type_of_its_schema_where_nothing_is_lost() {
        for (schema, value, wanted) in [
            (json!({"type": "integer"}), json!("5"), json!(5)),
            (json!({"type": "integer"}), json!(" 5.0 "), json!(5)),
            (json!({"type": "integer"}), json!(5.0), json!(5)),
            (json!({"type": "integer"}), json!("5.5"), json!("5.5")),
            (json!({"type": "number"}), json!("1.5"), json!(1.5)),
            (json!({"type": "boolean"}), json!("True"), json!(true)),
            (json!({"type": "boolean"}), json!("yes"), json!("yes")),
            (json!({"type": "string"}), json!(42), json!("42")),
            (json!({"type": "string"}), json!("007"), json!("007")),
            (json!({"type": ["string", "integer"]}), json!("5"), json!("5")),
            (json!({"anyOf": [{"type": "integer"}, {"type": "null"}]}), json!("5"), json!(5)),
            (json!({"enum": ["1", "2"]}), json!(1), json!("1")),
            (json!({"type": "array", "items": {"type": "integer"}}), json!("['1', 2]"), json!([1, 2])),
            (
                json!({"type": "object", "properties": {"a": {"type": "boolean"}}}),
                json!({"a": "false"}),
                json!({"a": false}),
            ),
            (json!({"$ref": "#/$defs/n"}), json!("7"), json!(7)),
            (json!({}), json!("5"), json!("5")),
        ] {
            let root = json!({"$defs": {"n": {"type": "integer"}}});
            assert_eq!(coerced(&root, &schema, value.clone()), wanted, "{schema} {value}");
        }
    }
}
