//! Schemas of tools as providers take them. If a provider refuses one schema, the whole request fails, with all other tools.
//!
//! ```text
//!  any JSON ─► an object schema: `type` object, `properties`, no combination at its root, no `$schema`
//!           └► none, and why
//! ```
//!
//! Owns the rules of rewriting: a schema may be rewritten only if it accepts the same arguments afterwards. Must never loosen or
//! tighten a schema. A tool whose schema cannot be expressed for a provider is left out instead.

use std::fmt;

use harbor_ipc_proto::model::Dialect;
use serde_json::{Map, Value};

use crate::untrusted::{cleaned, has_control_word};

/// Words that no provider takes at a root.
const REFUSED: [&str; 7] = ["anyOf", "oneOf", "allOf", "enum", "const", "not", "if"];

/// Words that say nothing about which arguments fit.
const SILENT: [&str; 7] = ["$schema", "$id", "$comment", "$defs", "definitions", "title", "description"];

/// Words below which there are named schemas.
const NAMED: [&str; 5] = ["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"];

/// Words that hold a schema, or a list of them.
const HOLDING: [&str; 12] = [
    "items",
    "prefixItems",
    "contains",
    "additionalProperties",
    "propertyNames",
    "anyOf",
    "oneOf",
    "allOf",
    "not",
    "if",
    "then",
    "else",
];

/// Words that refer to another schema.
const REFERENCES: [&str; 3] = ["$ref", "$dynamicRef", "$recursiveRef"];

/// How often a root may refer to another combined schema.
const DEEPEST: usize = 8;

/// The reason why a schema cannot be given to a provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnfitSchemaReason {
    /// It is no JSON, or nested too deeply to be read.
    NoJson,
    /// No object fits it.
    NoObject,
    /// This word stands at its root.
    Word(&'static str),
    /// It refers to something outside it.
    Elsewhere,
    /// A parameter has a name that the provider refuses.
    Parameter,
    /// It has control words of chat templates where they cannot be broken up.
    ControlWord,
}

impl fmt::Display for UnfitSchemaReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoJson => f.write_str("the schema of its parameters is not readable JSON"),
            Self::NoObject => f.write_str("the schema of its parameters is not an object schema"),
            Self::Word(word) => {
                write!(f, "the schema of its parameters has `{word}` at its root, which the provider refuses")
            }
            Self::Elsewhere => f.write_str("the schema of its parameters refers to another document"),
            Self::ControlWord => {
                f.write_str("the schema of its parameters has a control word of a chat template in it")
            }
            Self::Parameter => f.write_str("one of its parameters has a name that the provider refuses"),
        }
    }
}

impl std::error::Error for UnfitSchemaReason {}

/// The schema in this dialect. It accepts what `schema` accepts.
///
/// # Errors
/// Why there is none.
pub fn fitted(dialect: Dialect, schema: &str) -> Result<Value, UnfitSchemaReason> {
    let mut root = match serde_json::from_str(schema) {
        Ok(Value::Object(root)) => root,
        Ok(Value::Bool(true)) => Map::new(),
        Ok(_) => return Err(UnfitSchemaReason::NoObject),
        Err(_) => return Err(UnfitSchemaReason::NoJson),
    };
    if !takes_objects(&root) {
        return Err(UnfitSchemaReason::NoObject);
    }
    flatten(&mut root)?;
    if let Some(word) = REFUSED.into_iter().find(|word| root.contains_key(*word)) {
        return Err(UnfitSchemaReason::Word(word));
    }
    // Without `if` they say nothing. References stay within the document, so its address says nothing either.
    for silent in ["then", "else", "$schema", "$id"] {
        root.remove(silent);
    }
    let said = root.insert("type".into(), "object".into());
    let says_less = said.is_none_or(|said| said != "object");
    if !root.entry("properties").or_insert_with(|| Map::new().into()).is_object() {
        return Err(UnfitSchemaReason::NoObject);
    }
    let mut schema = Value::Object(root);
    written_out(&mut schema);
    let mut references = Vec::new();
    gather(&schema, &mut references);
    let is_inside = |place: &&str| place.strip_prefix('#').is_some_and(|at| schema.pointer(at).is_some());
    if !references.iter().all(is_inside) {
        return Err(UnfitSchemaReason::Elsewhere);
    }
    // What is a parameter somewhere below may be no object, and was allowed to be none.
    if says_less && references.contains(&"#") {
        return Err(UnfitSchemaReason::Word("$ref"));
    }
    let takes = |name: &String| dialect != Dialect::Anthropic || is_parameter(name);
    let named = schema.get("properties").and_then(Value::as_object);
    if named.is_some_and(|named| !named.keys().all(takes)) {
        return Err(UnfitSchemaReason::Parameter);
    }
    clean(&mut schema);
    if has_control_word(&schema.to_string()) { Err(UnfitSchemaReason::ControlWord) } else { Ok(schema) }
}

/// The names of the parameters of a schema, with blanks between.
#[must_use]
pub fn parameters(schema: &str) -> String {
    let schema: Value = serde_json::from_str(schema).unwrap_or_default();
    let names = schema["properties"].as_object().into_iter().flat_map(Map::keys);
    names.map(String::as_str).collect::<Vec<_>>().join(" ")
}

/// Makes harmless what says nothing about which arguments fit.
fn clean(schema: &mut Value) {
    match schema {
        Value::Object(words) => words.iter_mut().for_each(|(word, below)| match below {
            Value::String(text) if SILENT.contains(&word.as_str()) => *text = cleaned(text),
            below => clean(below),
        }),
        Value::Array(list) => list.iter_mut().for_each(clean),
        _ => {}
    }
}

/// True if an object can fit `type`. The arguments of a tool are always an object.
fn takes_objects(schema: &Map<String, Value>) -> bool {
    match schema.get("type") {
        None => true,
        Some(Value::Array(types)) => types.iter().any(|name| name == "object"),
        Some(name) => name == "object",
    }
}

/// Takes what a root says by `$ref`, `allOf` and combinations of one branch into the root itself, where that is the same.
fn flatten(root: &mut Map<String, Value>) -> Result<(), UnfitSchemaReason> {
    for _ in 0..DEEPEST {
        let mut branches = Vec::new();
        if let Some(reference) = root.remove("$ref") {
            branches.push(referred(root, &reference).ok_or(UnfitSchemaReason::Elsewhere)?);
        }
        for word in ["allOf", "anyOf", "oneOf"] {
            match root.get(word) {
                Some(Value::Array(of)) if word == "allOf" || of.len() == 1 => {
                    branches.extend(of.iter().cloned())
                }
                // One branch that takes everything: all of them together do.
                Some(Value::Array(of)) if word == "anyOf" && of.iter().any(takes_all) => {}
                _ => continue,
            }
            root.remove(word);
        }
        if branches.is_empty() {
            return Ok(());
        }
        for branch in branches {
            merge(root, branch)?;
        }
    }
    Err(UnfitSchemaReason::Word("$ref"))
}

fn takes_all(schema: &Value) -> bool {
    schema == &Value::Bool(true) || schema.as_object().is_some_and(Map::is_empty)
}

/// The schema that `#/$defs/name` or `#/definitions/name` refers to.
fn referred(root: &Map<String, Value>, reference: &Value) -> Option<Value> {
    let (place, name) = reference.as_str()?.strip_prefix("#/")?.split_once('/')?;
    let is_plain = SILENT.contains(&place) && !name.contains(['/', '~', '%']);
    root.get(place).filter(|_| is_plain)?.get(name).cloned()
}

/// The schema that a branch stands for. A branch that is only a reference is replaced with its target.
fn followed(root: &Map<String, Value>, mut branch: Value) -> Result<Value, UnfitSchemaReason> {
    for _ in 0..DEEPEST {
        let Some(words) = branch.as_object() else { return Ok(branch) };
        let Some(reference) = words.get("$ref") else { return Ok(branch) };
        if words.keys().any(|word| word != "$ref" && !SILENT.contains(&word.as_str())) {
            return Ok(branch);
        }
        branch = referred(root, reference).ok_or(UnfitSchemaReason::Elsewhere)?;
    }
    Err(UnfitSchemaReason::Word("$ref"))
}

/// Adds what a branch demands to the root, which then demands both.
fn merge(root: &mut Map<String, Value>, branch: Value) -> Result<(), UnfitSchemaReason> {
    let mut branch = match followed(root, branch)? {
        Value::Bool(true) => return Ok(()),
        Value::Object(branch) => branch,
        _ => return Err(UnfitSchemaReason::NoObject),
    };
    if !takes_objects(&branch) {
        return Err(UnfitSchemaReason::NoObject);
    }
    // References of a branch with definitions of its own would lead elsewhere afterwards.
    if ["$defs", "definitions", "$id", "$anchor"].iter().any(|word| branch.contains_key(*word)) {
        return Err(UnfitSchemaReason::Word("allOf"));
    }
    branch.remove("type");
    let says_nothing = root.keys().all(|word| word == "type" || SILENT.contains(&word.as_str()));
    if says_nothing {
        for (word, value) in branch {
            root.entry(word).or_insert(value);
        }
        return Ok(());
    }
    for silent in SILENT {
        branch.remove(silent);
    }
    if branch.keys().any(|word| word != "properties" && word != "required") {
        return Err(UnfitSchemaReason::Word("allOf"));
    }
    add_properties(root, branch.remove("properties"))?;
    add_required(root, branch.remove("required"))
}

fn add_properties(root: &mut Map<String, Value>, more: Option<Value>) -> Result<(), UnfitSchemaReason> {
    let Some(Value::Object(more)) = more else { return Ok(()) };
    // What counts as additional depends on which properties stand beside it.
    let is_open = root.get("additionalProperties").is_none_or(takes_all);
    let known = root.entry("properties").or_insert_with(|| Map::new().into());
    let known = known.as_object_mut().ok_or(UnfitSchemaReason::NoObject)?;
    if !is_open && !more.keys().all(|name| known.contains_key(name)) {
        return Err(UnfitSchemaReason::Word("allOf"));
    }
    for (name, schema) in more {
        match known.get_mut(&name) {
            Some(before) if *before == schema => {}
            Some(before) => *before = serde_json::json!({"allOf": [before.take(), schema]}),
            None => {
                known.insert(name, schema);
            }
        }
    }
    Ok(())
}

fn add_required(root: &mut Map<String, Value>, more: Option<Value>) -> Result<(), UnfitSchemaReason> {
    let Some(Value::Array(more)) = more else { return Ok(()) };
    let known = root.entry("required").or_insert_with(|| Value::Array(Vec::new()));
    let known = known.as_array_mut().ok_or(UnfitSchemaReason::NoObject)?;
    for name in more {
        if !known.contains(&name) {
            known.push(name);
        }
    }
    Ok(())
}

/// Writes `true` as `{}` where parameters are named: Ollama reads an object there and nothing else.
fn written_out(schema: &mut Value) {
    let Value::Object(schema) = schema else { return };
    for (word, below) in schema.iter_mut() {
        match below {
            Value::Object(named) if NAMED.contains(&word.as_str()) => {
                for below in named.values_mut() {
                    if *below == Value::Bool(true) {
                        *below = Map::new().into();
                    }
                    written_out(below);
                }
            }
            Value::Array(list) if HOLDING.contains(&word.as_str()) => list.iter_mut().for_each(written_out),
            below if HOLDING.contains(&word.as_str()) => written_out(below),
            _ => {}
        }
    }
}

/// All references of a schema.
fn gather<'a>(schema: &'a Value, references: &mut Vec<&'a str>) {
    match schema {
        Value::Object(words) => {
            let refers = |(word, below): (&String, &'a Value)| {
                if REFERENCES.contains(&word.as_str()) { below.as_str() } else { None }
            };
            references.extend(words.iter().filter_map(refers));
            words.values().for_each(|below| gather(below, references));
        }
        Value::Array(list) => list.iter().for_each(|below| gather(below, references)),
        _ => {}
    }
}

/// True if Anthropic takes `name` as the name of a parameter.
fn is_parameter(name: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte);
    (1..=64).contains(&name.len()) && name.bytes().all(fits)
}

#[cfg(test)]
mod tests;
