//! The bounds that a schema has to keep to be compiled at all.
//!
//! Owns the look at a schema before the crate sees it. It does not know which members are keywords and which are
//! data: a default value that looks like a reference is taken for one, and costs the check of that tool, no more.

use serde_json::Value;

use super::work::{Work, target};

/// Deeper schemas are not compiled: compiling recurses.
const MAX_DEPTH: u32 = 64;

/// Patterns of one schema, and the longest: translating one to the engine's syntax may take its length squared.
const MAX_PATTERNS: usize = 100;
const MAX_PATTERN: usize = 4096;

/// Steps for `unevaluated…`, whose compilation unfolds all branches and references.
const MAX_UNFOLDED: u32 = 10_000;

/// Returns the number of patterns.
pub(super) fn within(schema: &Value) -> Result<usize, String> {
    let mut look = Look { root: schema, patterns: 0, unevaluated: Vec::new() };
    look.at(schema, 1)?;
    let mut work = Work::new(schema, MAX_UNFOLDED);
    let unfolds = look.unevaluated.iter().all(|schema| work.unfold(schema).is_ok());
    if unfolds { Ok(look.patterns) } else { Err("its schema has too many branches".into()) }
}

struct Look<'s> {
    root: &'s Value,
    patterns: usize,
    /// Schemas with `unevaluatedProperties` or `unevaluatedItems`.
    unevaluated: Vec<&'s Value>,
}

impl<'s> Look<'s> {
    fn at(&mut self, value: &'s Value, depth: u32) -> Result<(), String> {
        if depth > MAX_DEPTH {
            return Err("its schema is nested more than 64 deep".into());
        }
        match value {
            Value::Object(members) => {
                if ["unevaluatedProperties", "unevaluatedItems"].iter().any(|key| members.contains_key(*key))
                {
                    self.unevaluated.push(value);
                }
                members.iter().try_for_each(|(key, member)| {
                    self.keyword(key, member, depth)?;
                    self.at(member, depth + 1)
                })
            }
            Value::Array(items) => items.iter().try_for_each(|item| self.at(item, depth + 1)),
            _ => Ok(()),
        }
    }

    fn keyword(&mut self, key: &str, member: &Value, depth: u32) -> Result<(), String> {
        match (key, member) {
            ("$ref", Value::String(to)) if target(self.root, to).is_none() => {
                Err(format!("its schema refers to something outside it: {to}"))
            }
            ("$dynamicRef" | "$recursiveRef", Value::String(_)) => {
                Err("its schema has dynamic references".into())
            }
            // Below the root it would change what references mean.
            ("$id" | "id", Value::String(_)) if depth > 1 && (key == "$id" || self.is_draft_4()) => {
                Err("its schema contains schemas with their own identifiers".into())
            }
            ("pattern", Value::String(pattern)) => self.pattern(pattern),
            ("patternProperties", Value::Object(members)) => {
                members.keys().try_for_each(|pattern| self.pattern(pattern))
            }
            _ => Ok(()),
        }
    }

    fn pattern(&mut self, pattern: &str) -> Result<(), String> {
        self.patterns += 1;
        if pattern.len() > MAX_PATTERN || self.patterns > MAX_PATTERNS {
            return Err("its schema has a pattern longer than 4096 bytes, or more than 100 patterns".into());
        }
        Ok(())
    }

    /// The one draft in which `id` is a keyword.
    fn is_draft_4(&self) -> bool {
        self.root["$schema"].as_str().is_some_and(|draft| draft.contains("draft-04"))
    }
}
