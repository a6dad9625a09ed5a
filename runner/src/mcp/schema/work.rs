//! How many steps a check takes, counted before it is made.
//!
//! ```text
//!  (schema, value) ─► the same value under each branch and reference ─► …
//!                 └─► each member and item under each schema for it  ─► …
//! ```
//!
//! Owns a walk that visits at least what the crate will visit, without its shortcuts, and ends when the steps are
//! used up: so a reference that leads to itself ends it too. Must never decide whether something fits.

use std::borrow::Cow;

use serde_json::{Map, Value};

/// Visits within one another: instances are at most 127 deep, and each place may have some branches and references.
/// The crate's visits take a few hundred bytes of stack each, unoptimised ones a few thousand.
const MAX_NESTED: u32 = 256;

/// A byte that a pattern looks at, in steps.
const PATTERN_STEPS: usize = 16;

/// It would take too many steps.
#[derive(Debug)]
pub(super) struct TooMuch;

type Counted = Result<(), TooMuch>;

/// What can be spent.
pub(super) struct Work<'s> {
    root: &'s Value,
    left: u32,
    /// Whether copies for errors are counted, not only steps.
    copying: bool,
    /// How many branches are around whose errors are kept beside the one that is told, with copies of the value.
    kept: u32,
}

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
            self.copy(value, keywords.len())?;
        }
        let marking = marking
            || keywords.contains_key("unevaluatedProperties")
            || keywords.contains_key("unevaluatedItems");
        for (keyword, member) in keywords {
            self.branches(keyword, member, value, nested + 1, marking)?;
            match value {
                Value::Object(members) => self.members(keyword, member, keywords, members, nested + 1)?,
                Value::Array(items) => self.items(keyword, member, items, nested + 1)?,
                Value::String(text) if keyword == "pattern" => self.spend(text.len() * PATTERN_STEPS)?,
                _ => {}
            }
        }
        Ok(())
    }

    /// The same value under other schemas.
    fn branches(
        &mut self,
        keyword: &str,
        member: &Value,
        value: &Value,
        nested: u32,
        marking: bool,
    ) -> Counted {
        match (keyword, member) {
            ("$ref", Value::String(to)) => match target(self.root, to) {
                Some(schema) => self.branch(schema, value, nested, marking),
                None => Ok(()),
            },
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
            ("enum" | "required", Value::Array(items)) => self.spend(items.len()),
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
                self.spend(schemas.len())?;
                let mut both = schemas.iter().filter_map(|(name, schema)| Some((schema, members.get(name)?)));
                both.try_for_each(|(schema, value)| self.visit(schema, value, nested, false))
            }
            ("patternProperties", Value::Object(schemas)) => members.iter().try_for_each(|(name, value)| {
                self.spend(schemas.len() * (1 + name.len()) * PATTERN_STEPS)?;
                schemas.values().try_for_each(|schema| self.visit(schema, value, nested, false))
            }),
            ("additionalProperties" | "unevaluatedProperties", schema) => {
                // To find out which members are meant, names are held against patterns again.
                let patterns = keywords.get("patternProperties").and_then(Value::as_object);
                let patterns = patterns.map_or(0, Map::len) * PATTERN_STEPS;
                members.iter().try_for_each(|(name, value)| {
                    self.spend((1 + name.len()) * patterns)?;
                    self.visit(schema, value, nested, false)
                })
            }
            ("propertyNames", schema) => members
                .keys()
                .try_for_each(|name| self.visit(schema, &Value::String(name.clone()), nested, false)),
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
            ("uniqueItems", _) => items.iter().try_for_each(|item| self.copy(item, 1)),
            _ => Ok(()),
        }
    }

    /// Spends what `times` copies of `value` cost.
    fn copy(&mut self, value: &Value, times: usize) -> Counted {
        self.spend(times)?;
        match value {
            Value::Object(members) => members.values().try_for_each(|member| self.copy(member, times)),
            Value::Array(items) => items.iter().try_for_each(|item| self.copy(item, times)),
            Value::String(text) => self.spend(text.len() / 64 * times),
            _ => Ok(()),
        }
    }
}
