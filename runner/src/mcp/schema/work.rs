//! How many steps a check takes, counted before it is made.
//!
//! ```text
//!  (schema, value) ─► the same value under each branch and reference ─► …
//!                 └─► each member and item under each schema for it  ─► …
//! ```
//!
//! Owns a walk that visits at least what the crate will visit, without its shortcuts, and ends when the steps are used up: a
//! reference that leads to itself ends so, too. A keyword costs by the size of what it looks at. The walk itself must not do
//! more than it counts. Must never decide whether something fits.

mod cost;
mod steps;

use std::borrow::Cow;

use serde_json::{Map, Value};

use cost::{HASHED, comparisons, errors};
use steps::Counted;
pub(super) use steps::{TooMuch, Work};

/// The deepest nesting of visits: instances are at most 127 deep, and each place may have some branches and
/// references. The crate's visits take a few hundred bytes of stack each, unoptimised ones a few thousand.
const MAX_NESTED: u32 = 256;

/// The schema that the reference `to` names within `root`.
pub(super) fn target<'s>(root: &'s Value, to: &str) -> Option<&'s Value> {
    let pointer = to.strip_prefix('#')?;
    root.pointer(&decoded(pointer)?)
}

/// Percent signs stand in pointers that are fragments of a URI.
fn decoded(pointer: &str) -> Option<Cow<'_, str>> {
    if !pointer.contains('%') {
        return Some(Cow::Borrowed(pointer));
    }
    let mut bytes = Vec::with_capacity(pointer.len());
    let mut rest = pointer.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let escaped = after.first_chunk::<2>().filter(|_| *first == b'%');
        let (byte, next) = match escaped {
            Some(hex) => (u8::from_str_radix(std::str::from_utf8(hex).ok()?, 16).ok()?, &after[2..]),
            None => (*first, after),
        };
        bytes.push(byte);
        rest = next;
    }
    String::from_utf8(bytes).ok().map(Cow::Owned)
}

impl<'s> Work<'s> {
    pub(super) fn new(root: &'s Value, left: u32) -> Self {
        Self { root, left, copying: false, kept: 0 }
    }

    /// Counts the steps of a check of `value`.
    pub(super) fn steps(&mut self, value: &Value) -> Counted {
        self.visit(self.root, value, 0, false)
    }

    /// Counts what is copied for errors.
    pub(super) fn copies(&mut self, value: &Value) -> Counted {
        self.copying = true;
        self.steps(value)
    }

    /// Counts what `schema` becomes when each branch and reference for one value is written out.
    pub(super) fn unfold(&mut self, schema: &Value) -> Counted {
        self.visit(schema, &Value::Null, 0, true)
    }

    fn spend(&mut self, steps: usize) -> Counted {
        let steps = u32::try_from(steps).map_err(|_| TooMuch)?;
        self.left = self.left.checked_sub(steps).ok_or(TooMuch)?;
        Ok(())
    }

    /// `marking`: an `unevaluated…` keyword asks each branch once more what it looked at.
    fn visit(&mut self, schema: &Value, value: &Value, nested: u32, marking: bool) -> Counted {
        self.spend(1)?;
        let Value::Object(keywords) = schema else { return Ok(()) };
        self.spend(keywords.len())?;
        if nested >= MAX_NESTED {
            return Err(TooMuch);
        }
        if self.copying && self.kept > 0 {
            self.copy(value, errors(keywords, value))?;
        }
        let marking = marking
            || keywords.contains_key("unevaluatedProperties")
            || keywords.contains_key("unevaluatedItems");
        if marking {
            self.mark(value)?;
        }
        for (keyword, member) in keywords {
            self.branches(keyword, member, value, nested + 1, marking)?;
            match value {
                Value::Object(members) => self.members(keyword, member, keywords, members, nested + 1)?,
                Value::Array(items) => self.items(keyword, member, items, nested + 1)?,
                Value::String(text) => self.text(keyword, member, text)?,
                Value::Number(_) => self.number(keyword, member)?,
                _ => {}
            }
        }
        Ok(())
    }

    /// Visits the same value under other schemas.
    fn branches(
        &mut self,
        keyword: &str,
        member: &Value,
        value: &Value,
        nested: u32,
        marking: bool,
    ) -> Counted {
        match (keyword, member) {
            ("$ref", Value::String(to)) => {
                self.spend(cost::reference(to))?;
                match target(self.root, to) {
                    Some(schema) => self.branch(schema, value, nested, marking),
                    None => Ok(()),
                }
            }
            ("anyOf" | "oneOf", Value::Array(schemas)) => {
                self.kept += 1;
                schemas.iter().try_for_each(|schema| self.branch(schema, value, nested, marking))?;
                self.kept -= 1;
                Ok(())
            }
            ("allOf", Value::Array(schemas)) => {
                schemas.iter().try_for_each(|schema| self.branch(schema, value, nested, marking))
            }
            ("not" | "if" | "then" | "else", schema) => self.branch(schema, value, nested, marking),
            ("dependentSchemas" | "dependencies", Value::Object(schemas)) => {
                schemas.values().try_for_each(|schema| self.branch(schema, value, nested, marking))
            }
            ("const", expected) => self.compare(expected, value),
            ("enum", Value::Array(items)) => items.iter().try_for_each(|item| self.compare(item, value)),
            _ => Ok(()),
        }
    }

    fn branch(&mut self, schema: &Value, value: &Value, nested: u32, marking: bool) -> Counted {
        self.visit(schema, value, nested, false)?;
        if marking { self.visit(schema, value, nested, true) } else { Ok(()) }
    }

    fn members(
        &mut self,
        keyword: &str,
        member: &Value,
        keywords: &Map<String, Value>,
        members: &Map<String, Value>,
        nested: u32,
    ) -> Counted {
        match (keyword, member) {
            ("properties", Value::Object(schemas)) => {
                self.find(schemas.keys().map(String::as_str), members)?;
                if schemas.len() >= HASHED {
                    self.names(members)?;
                }
                let mut both = schemas.iter().filter_map(|(name, schema)| Some((schema, members.get(name)?)));
                both.try_for_each(|(schema, value)| self.visit(schema, value, nested, false))
            }
            ("required", names) => self.required(names, members),
            ("dependentRequired" | "dependentSchemas" | "dependencies", Value::Object(all)) => {
                self.find(all.keys().map(String::as_str), members)?;
                all.values().try_for_each(|names| self.required(names, members))
            }
            ("patternProperties", Value::Object(schemas)) => {
                let steps = self.patterns(schemas)?;
                members.iter().try_for_each(|(name, value)| {
                    self.spend((1 + name.len()).saturating_mul(steps))?;
                    schemas.values().try_for_each(|schema| self.visit(schema, value, nested, false))
                })
            }
            ("additionalProperties" | "unevaluatedProperties", schema) => {
                self.names(members)?;
                // To find out which members are meant, names are held against patterns again.
                let patterns = keywords.get("patternProperties").and_then(Value::as_object);
                let steps = patterns.map_or(Ok(0), |patterns| self.patterns(patterns))?;
                members.iter().try_for_each(|(name, value)| {
                    self.spend((1 + name.len()).saturating_mul(steps))?;
                    self.visit(schema, value, nested, false)
                })
            }
            ("propertyNames", schema) => {
                self.names(members)?;
                let mut names = members.keys().map(|name| Value::String(name.clone()));
                names.try_for_each(|name| self.visit(schema, &name, nested, false))
            }
            _ => Ok(()),
        }
    }

    fn items(&mut self, keyword: &str, member: &Value, items: &[Value], nested: u32) -> Counted {
        match (keyword, member) {
            ("items" | "prefixItems", Value::Array(schemas)) => {
                let mut both = schemas.iter().zip(items);
                both.try_for_each(|(schema, item)| self.visit(schema, item, nested, false))
            }
            ("items" | "additionalItems" | "unevaluatedItems" | "contains", schema) => {
                items.iter().try_for_each(|item| self.visit(schema, item, nested, false))
            }
            ("uniqueItems", Value::Bool(true)) => {
                let times = comparisons(items);
                items.iter().try_for_each(|item| self.copy(item, times))
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests;
