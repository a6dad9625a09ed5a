//! The test whether a JSON Schema says at its root that it describes an object, as MCP demands for a tool's arguments.
//!
//! ```text
//!  {"type":"object",…} ─► as it is        {…}, {"type":["object","null"],…}, true ─► completed        anything else ─► none
//! ```
//!
//! AI clients drop a tool whose schema does not say so, or all tools of its list. Arguments are always an object, so adding
//! the word changes nothing about which arguments fit. Owns the rule which schemas may be completed; must never change
//! anything else.

use crate::json::{Fields, with_member};
use crate::strings::text_of;

const TYPE: &str = "type";
const OBJECT: &str = "\"object\"";

/// The root of a schema for a tool's arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Root {
    /// It describes an object, and says so.
    Object,
    /// It described an object without saying so. This is the schema with the word added.
    Completed(String),
    /// No object fits it, or it is no schema.
    Other,
}

impl Root {
    /// The root of `schema`, a JSON text.
    #[must_use]
    pub fn of(schema: &str) -> Self {
        if schema.trim() == "true" {
            return Self::Completed(format!("{{\"{TYPE}\":{OBJECT}}}"));
        }
        let fields = Fields::parse(schema.as_bytes()).ok();
        let Some(fields) = fields.filter(|fields| fields.twice() != Some(TYPE)) else { return Self::Other };
        let said = fields.get(TYPE);
        let is_list_with_it = |said: &str| {
            let types = serde_json::from_str::<Vec<String>>(said).unwrap_or_default();
            types.iter().any(|name| name == "object")
        };
        match said {
            Some(said) if text_of(said).as_deref() == Some("object") => Self::Object,
            Some(said) if !is_list_with_it(said) => Self::Other,
            _ => with_member(schema, TYPE, OBJECT).map_or(Self::Other, Self::Completed),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_added_where_that_changes_nothing() {
        for (schema, completed) in [
            ("{}", r#"{"type":"object"}"#),
            ("true", r#"{"type":"object"}"#),
            (r#"{"anyOf":[{"type":"object"}]}"#, r#"{"anyOf":[{"type":"object"}],"type":"object"}"#),
            (r#"{"type":["null","object"],"x":1e2}"#, r#"{"type":"object","x":1e2}"#),
            (r##"{"$ref":"#/a"}"##, r##"{"$ref":"#/a","type":"object"}"##),
        ] {
            assert_eq!(Root::of(schema), Root::Completed(completed.into()), "{schema}");
            assert_eq!(Root::of(completed), Root::Object, "{schema}");
        }
        assert_eq!(Root::of(r#"{"x":{},"type":"obj\u0065ct"}"#), Root::Object);
        let none =
            [r#"{"type":"string"}"#, r#"{"type":["null"]}"#, r#"{"type":7}"#, "[]", "null", "false", "7"];
        for schema in none.into_iter().chain([r#"{"type":"object","type":"string"}"#, ""]) {
            assert_eq!(Root::of(schema), Root::Other, "{schema}");
        }
    }
}
