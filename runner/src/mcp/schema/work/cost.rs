//! The costs of keywords by the size of what they look at: names, texts, lists.
//!
//! Owns the price of each such look, in steps, and no way down into schemas. Must never do more than it counts.

use serde_json::{Map, Value};

use super::super::pattern;
use super::steps::{Counted, TooMuch, Work};

/// Bytes that are compared, copied, hashed or counted in one step.
const BYTES: usize = 64;

/// Bytes of a text that are decoded, or of a pattern that are read, in one step.
const DECODED: usize = 4;

/// Steps of a division that may need big numbers.
const DIVISION: usize = 32;

/// Names of an object, at most, that one name is held against to be found.
const HELD: usize = 64;

/// Names in a schema, and items of a list, from which on they are hashed.
pub(super) const HASHED: usize = 15;

/// The number of item comparisons that count as one step.
const COMPARED: usize = 64;

impl Work<'_> {
    pub(super) fn required(&mut self, names: &Value, members: &Map<String, Value>) -> Counted {
        let names = names.as_array().into_iter().flatten();
        self.find(names.filter_map(Value::as_str), members)
    }

    /// Each of `names` is looked for in an object.
    pub(super) fn find<'n>(
        &mut self,
        mut names: impl Iterator<Item = &'n str>,
        members: &Map<String, Value>,
    ) -> Counted {
        let held = members.len().min(HELD);
        names.try_for_each(|name| self.spend(1 + name.len() / BYTES * held))
    }

    /// Each name of an object is copied, hashed or compared.
    pub(super) fn names(&mut self, members: &Map<String, Value>) -> Counted {
        members.keys().try_for_each(|name| self.spend(1 + name.len() / BYTES))
    }

    /// The steps for each byte that is held against all of these patterns.
    pub(super) fn patterns(&mut self, schemas: &Map<String, Value>) -> Result<usize, TooMuch> {
        schemas.keys().try_fold(0_usize, |steps, pattern| Ok(steps.saturating_add(self.pattern(pattern)?)))
    }

    fn pattern(&mut self, pattern: &str) -> Result<usize, TooMuch> {
        self.spend(pattern.len() / DECODED)?;
        Ok(pattern::steps(pattern))
    }

    pub(super) fn text(&mut self, keyword: &str, member: &Value, text: &str) -> Counted {
        match (keyword, member) {
            ("pattern", Value::String(pattern)) => {
                let steps = self.pattern(pattern)?;
                self.spend(text.len().saturating_mul(steps))
            }
            // Among many constants, the one that may fit is found by the text's hash.
            ("minLength" | "maxLength" | "const" | "enum", _) => self.spend(text.len() / BYTES),
            ("contentEncoding" | "contentMediaType", _) => self.spend(text.len() / DECODED),
            _ => Ok(()),
        }
    }

    pub(super) fn number(&mut self, keyword: &str, member: &Value) -> Counted {
        if keyword == "multipleOf" && member.is_f64() { self.spend(DIVISION) } else { Ok(()) }
    }

    /// Pays for writing down each name or item that was looked at.
    pub(super) fn mark(&mut self, value: &Value) -> Counted {
        match value {
            Value::Object(members) => self.names(members),
            Value::Array(items) => self.spend(items.len()),
            _ => Ok(()),
        }
    }

    /// A comparison ends at the first difference, which may be the last of all; where lengths differ, it is the first.
    pub(super) fn compare(&mut self, expected: &Value, value: &Value) -> Counted {
        let as_long = match (expected, value) {
            (Value::String(one), Value::String(other)) => one.len() == other.len(),
            (Value::Array(one), Value::Array(other)) => one.len() == other.len(),
            (Value::Object(one), Value::Object(other)) => one.len() == other.len(),
            _ => false,
        };
        if as_long { self.copy(expected, 1) } else { self.spend(1) }
    }

    /// Spends what `times` copies of `value` cost.
    pub(super) fn copy(&mut self, value: &Value, times: usize) -> Counted {
        self.spend(times)?;
        match value {
            Value::Object(members) => members.iter().try_for_each(|(name, member)| {
                self.spend((name.len() / BYTES).saturating_mul(times))?;
                self.copy(member, times)
            }),
            Value::Array(items) => items.iter().try_for_each(|item| self.copy(item, times)),
            Value::String(text) => self.spend((text.len() / BYTES).saturating_mul(times)),
            _ => Ok(()),
        }
    }
}

/// Following a reference to its schema.
pub(super) fn reference(to: &str) -> usize {
    to.matches('/').count() + to.len() / BYTES
}

/// The most errors that a schema's keywords make of one value, each with a copy of it.
pub(super) fn errors(keywords: &Map<String, Value>, value: &Value) -> usize {
    let of = |(keyword, member): (&String, &Value)| match (keyword.as_str(), member, value) {
        ("required", Value::Array(names), _) => names.len(),
        ("dependentRequired" | "dependencies", Value::Object(all), _) => {
            all.values().map(|names| names.as_array().map_or(1, Vec::len)).sum()
        }
        ("propertyNames", _, Value::Object(members)) => members.len(),
        _ => 1,
    };
    // A walk through the value is a step for each node, also where there is nothing to copy it for.
    keywords.iter().map(of).sum::<usize>().max(1)
}

/// How often each item is compared with others, in steps. Few are compared each with each, more only where they have
/// the same hash: lists and objects of the same leaves, and large numbers that are nearly the same.
pub(super) fn comparisons(items: &[Value]) -> usize {
    const EXACT: u64 = 1 << f64::MANTISSA_DIGITS;
    let alike = |item: &&Value| match item {
        Value::Array(_) | Value::Object(_) => true,
        Value::Number(number) => {
            number.as_u64().or_else(|| Some(number.as_i64()?.unsigned_abs())).is_some_and(|n| n > EXACT)
        }
        _ => false,
    };
    match items.len() <= HASHED {
        true => items.len(),
        false => 1 + items.iter().filter(alike).count() / COMPARED,
    }
}
