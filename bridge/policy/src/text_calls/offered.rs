//! The tools that a model was told of, as far as a call in a text needs them: names and schemas.
//!
//! Owns which name means which tool, and whether arguments can be meant for it. Must never call a tool something that is not on
//! the list.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;

use serde_json::{Map, Value};

use super::coerced::{coerced, types};

/// Words that models put before a tool's name.
const BEFORE_NAMES: [&str; 5] = ["functions.", "default_api.", "tools.", "tool.", "function."];

/// The offered tools, by name. Made once for a turn.
#[derive(Debug, Clone, Default)]
pub struct OfferedTools {
    schemas: BTreeMap<String, Value>,
    /// The lengths of the names, each once.
    lengths: BTreeSet<usize>,
    /// The bytes with which they begin, a bit for each of ASCII.
    firsts: u128,
}

impl OfferedTools {
    /// The tools with these names and JSON schemas. A schema that is no JSON says nothing.
    pub fn of<'a>(tools: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let schema = |text| serde_json::from_str(text).unwrap_or(Value::Null);
        let schemas: BTreeMap<_, _> =
            tools.into_iter().map(|(name, text)| (name.to_owned(), schema(text))).collect();
        let lengths = schemas.keys().map(String::len).filter(|length| *length > 0).collect();
        let firsts = schemas.keys().filter_map(|name| name.bytes().next());
        let firsts = firsts.filter(|byte| *byte < 128).fold(0_u128, |all, byte| all | 1 << byte);
        Self { schemas, lengths, firsts }
    }

    /// The tool's name as it was offered.
    pub(super) fn name(&self, written: &str) -> Option<&str> {
        let written = written.trim();
        let bare = BEFORE_NAMES.iter().find_map(|before| written.strip_prefix(before));
        let known = |name: &str| self.schemas.get_key_value(name).map(|(name, _)| name.as_str());
        known(written).or_else(|| known(bare?))
    }

    /// The names with which a text begins, wherever they end.
    pub(super) fn beginnings<'a>(&'a self, text: &'a str) -> impl Iterator<Item = &'a str> {
        let first = text.bytes().next().unwrap_or_default();
        let may_begin = first >= 128 || self.firsts >> first & 1 == 1;
        let lengths = self.lengths.iter().filter(move |_| may_begin).filter_map(|length| text.get(..*length));
        lengths.filter_map(|written| self.schemas.get_key_value(written)).map(|(name, _)| name.as_str())
    }

    /// True if a name begins like this, or is this.
    pub(super) fn has_beginning(&self, written: &str) -> bool {
        let next = self.schemas.range::<str, _>((Bound::Included(written), Bound::Unbounded)).next();
        next.is_some_and(|(name, _)| name.starts_with(written))
    }

    /// True if the tool has a parameter of this name.
    pub(super) fn has_parameter(&self, tool: &str, parameter: &str) -> bool {
        self.properties(tool).is_some_and(|properties| properties.contains_key(parameter))
    }

    /// The parameters that a call must have.
    pub(super) fn required(&self, tool: &str) -> impl Iterator<Item = &str> {
        let required = self.schemas.get(tool).and_then(|schema| schema["required"].as_array());
        required.into_iter().flatten().filter_map(Value::as_str)
    }

    /// True if no required parameter is missing.
    pub(super) fn is_complete<T>(&self, tool: &str, arguments: &BTreeMap<String, T>) -> bool {
        self.required(tool).all(|name| arguments.contains_key(name))
    }

    /// True if these arguments can be meant for the tool: none is missing, and none is unknown.
    pub(super) fn fits(&self, tool: &str, arguments: &Map<String, Value>) -> bool {
        let known = self.properties(tool).filter(|known| !known.is_empty());
        self.required(tool).all(|name| arguments.contains_key(name))
            && arguments.keys().all(|name| known.is_none_or(|known| known.contains_key(name)))
    }

    /// The arguments in the types that the tool's schema names.
    pub(super) fn coerced(&self, tool: &str, arguments: Map<String, Value>) -> Map<String, Value> {
        let Some(schema) = self.schemas.get(tool) else { return arguments };
        let is_optional = |name: &str| !self.required(tool).any(|required| required == name);
        let properties = self.properties(tool);
        let one = |(name, value): (String, Value)| {
            let Some(wanted) = properties.and_then(|properties| properties.get(&name)) else {
                return Some((name, value));
            };
            let takes_null = types(schema, wanted).is_none_or(|types| types.contains(&"null"));
            if value.is_null() && is_optional(&name) && !takes_null {
                return None;
            }
            Some((name, coerced(schema, wanted, value)))
        };
        arguments.into_iter().filter_map(one).collect()
    }

    fn properties(&self, tool: &str) -> Option<&Map<String, Value>> {
        self.schemas.get(tool)?["properties"].as_object()
    }
}
