//! Checks that JSON text fits a tool's schema.
//!
//! ```text
//!  schema's text ─► bounds ─► Checker ─┐
//!  JSON text ─► value ─► its work ─────┴─► Fits | Wrong(where, why) | NotChecked(why)
//! ```
//!
//! Owns the bounds within which a foreign schema may be tried on foreign data. The crate that does it follows references and
//! branches as often as a schema has them, and a small schema can ask for more steps than there is time. Data beyond the
//! bounds is not checked; that is said, and is no reason to refuse a call. Must never fetch anything, and never put a value
//! into a sentence.

mod bounds;
mod pattern;
mod work;

use jsonschema::error::ValidationErrorKind;
use jsonschema::{PatternOptions, ValidationError, Validator};
use serde::de::IgnoredAny;
use serde_json::Value;

use work::Work;

/// The most bytes of a schema that is compiled.
pub const MAX_SCHEMA: usize = 128 * 1024;

/// The most bytes of data that is checked.
pub const MAX_DATA: usize = 1024 * 1024;

/// The longest path that is told, in bytes.
const MAX_PATH: usize = 200;

/// The longest sentence that is told, in bytes.
const MAX_WHY: usize = 300;

/// The most memory of one pattern's program, and of its states while it runs. Programs below 2 MiB are also
/// out of reach of a panic in regex-automata (rust-lang/regex#1344).
const MAX_PATTERN: usize = 1024 * 1024;

/// Steps that one check may take: tenths of a second.
const MAX_STEPS: u32 = 2_000_000;

/// Values that may be copied for an error's sake.
const MAX_COPIES: u32 = 500_000;

/// A compiled schema.
#[derive(Debug)]
pub struct Checker {
    schema: Value,
    validator: Validator,
    patterns: usize,
}

/// The outcome of a check.
#[derive(Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The data fits.
    Fits,
    /// It does not.
    Wrong(Mismatch),
    /// The check would take too much, or the data is longer than is read. Names which.
    NotChecked(&'static str),
}

/// The place where data does not fit, and why.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Mismatch {
    /// A JSON pointer into the data, bounded.
    pub path: String,
    /// A sentence without the value, bounded.
    pub why: String,
    /// The schema's rule that does not hold: a bounded JSON pointer, empty if the rule is unknown.
    pub rule: String,
}

/// True if every object fits the schema in `text`, judged by its keywords alone. Nothing is compiled for
/// that, nor parsed later.
#[must_use]
pub fn any_object_fits(text: &str) -> bool {
    text.len() <= MAX_SCHEMA && serde_json::from_str(text).is_ok_and(|schema| asks_nothing(&schema))
}

fn asks_nothing(schema: &Value) -> bool {
    let Value::Object(schema) = schema else { return schema == &Value::Bool(true) };
    schema.iter().all(|(keyword, value)| match keyword.as_str() {
        "$schema" | "$comment" | "title" | "description" | "default" | "examples" | "deprecated"
        | "readOnly" | "writeOnly" => true,
        "type" => value == "object",
        "properties" | "patternProperties" | "$defs" | "definitions" => {
            value.as_object().is_some_and(serde_json::Map::is_empty)
        }
        "required" => value.as_array().is_some_and(Vec::is_empty),
        "additionalProperties" => value == &Value::Bool(true) || value == &serde_json::json!({}),
        _ => false,
    })
}

impl Checker {
    /// Compiles the schema in `text`: the draft that it names, else 2020-12. Formats are not asserted.
    ///
    /// # Errors
    /// Says why nothing can be checked against it. The sentence may quote the schema.
    pub fn compile(text: &str) -> Result<Self, String> {
        if text.len() > MAX_SCHEMA {
            return Err("its schema is longer than 128 KiB".into());
        }
        let schema: Value =
            serde_json::from_str(text).map_err(|error| format!("its schema cannot be read: {error}"))?;
        let patterns = bounds::within(&schema)?;
        let engine = PatternOptions::regex().size_limit(MAX_PATTERN).dfa_size_limit(MAX_PATTERN);
        let validator = jsonschema::options()
            .offline()
            .should_validate_formats(false)
            .with_pattern_options(engine)
            .build(&schema)
            .map_err(|error| format!("its schema is invalid at `{}`: {error}", error.instance_path()))?;
        Ok(Self { schema, validator, patterns })
    }

    /// The number of its patterns, which take far more memory than their text.
    #[must_use]
    pub fn patterns(&self) -> usize {
        self.patterns
    }

    /// Checks the JSON text `data`. JSON that cannot become a value here is not checked.
    #[must_use]
    pub fn check(&self, data: &str) -> Verdict {
        if data.len() > MAX_DATA {
            return Verdict::NotChecked("the data is longer than 1 MiB");
        }
        let value: Value = match serde_json::from_str(data) {
            Ok(value) => value,
            Err(_) if serde_json::from_str::<IgnoredAny>(data).is_ok() => {
                return Verdict::NotChecked(
                    "the data has a number, a text or a depth that Harbor cannot read",
                );
            }
            Err(error) => {
                let why = bounded(&format!("it cannot be read: {error}"), MAX_WHY);
                return Verdict::Wrong(Mismatch { why, ..Mismatch::default() });
            }
        };
        if Work::new(&self.schema, MAX_STEPS).steps(&value).is_err() {
            return Verdict::NotChecked("the check takes too many steps");
        }
        if self.validator.is_valid(&value) { Verdict::Fits } else { Verdict::Wrong(self.explain(&value)) }
    }

    /// The first thing that is wrong. The crate copies values into errors of branches, once for each branch.
    fn explain(&self, value: &Value) -> Mismatch {
        if Work::new(&self.schema, MAX_COPIES).copies(value).is_err() {
            return Mismatch { why: "it does not fit the schema".into(), ..Mismatch::default() };
        }
        match self.validator.validate(value) {
            Ok(()) => Mismatch::default(),
            Err(error) => Mismatch {
                path: bounded(error.instance_path().as_str(), MAX_PATH),
                why: bounded(&sentence(&error), MAX_WHY),
                rule: bounded(error.schema_path().as_str(), MAX_PATH),
            },
        }
    }
}

/// The reason why data does not fit, without the value. It may hold names of properties, which are places, as
/// in the path.
fn sentence(error: &ValidationError<'_>) -> String {
    match error.kind() {
        // Shown unmasked by the crate.
        ValidationErrorKind::PropertyNames { error } => {
            format!("the name of a property is wrong: {}", error.masked_with("it"))
        }
        ValidationErrorKind::Enum { options } => format!("it is none of {options}"),
        ValidationErrorKind::Constant { expected_value } => format!("it is not {expected_value}"),
        _ => error.masked_with("it").to_string(),
    }
}

/// At most `bytes` of `text`, in whole characters. A cut is marked.
fn bounded(text: &str, bytes: usize) -> String {
    const MARK: &str = "…";
    if text.len() <= bytes {
        return text.to_owned();
    }
    let mut cut = text[..text.floor_char_boundary(bytes - MARK.len())].to_owned();
    cut.push_str(MARK);
    cut
}

#[cfg(test)]
mod tests;
