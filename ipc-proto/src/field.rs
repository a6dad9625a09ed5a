//! How single fields of client messages are read from JSON text and written to it.
//!
//! Owns the two traits and their implementations for the plain types. A field that does not fit becomes a
//! [`FieldError`], which names the field and what was expected; a value is never echoed, it may be a secret.

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::json::{Json, Pieces, put_str, text_of};
use crate::server_id::{self, ServerId};
use crate::source_id::{self, SourceId};

/// A field that is missing or wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldError {
    /// The field's name.
    pub field: &'static str,
    /// What was expected there.
    pub expected: &'static str,
    /// What was found instead: `nothing`, or the kind of JSON value.
    pub found: &'static str,
}

/// A type that can stand in a field of a request.
pub trait FromField: Sized {
    /// What the documentation and the errors call this type.
    const EXPECTED: &'static str;

    /// Reads the value from its text; `None` when it does not fit.
    fn from_text(text: &str) -> Option<Self>;

    /// The value of a field that is absent; `None` when it must be there.
    #[must_use]
    fn absent() -> Option<Self> {
        None
    }

    /// Whether the field may be left out.
    const OPTIONAL: bool = false;
}

/// Reads the field `name` whose text is `text`.
///
/// # Errors
/// When it is missing although it must be there, or does not fit its type.
pub fn read<T: FromField>(name: &'static str, text: Option<&str>) -> Result<T, FieldError> {
    let read = match text {
        Some(text) => T::from_text(text),
        None => T::absent(),
    };
    read.ok_or_else(|| {
        let found = text.map_or("nothing", kind_of);
        FieldError { field: name, expected: T::EXPECTED, found }
    })
}

/// The kind of JSON value that `text` is.
#[must_use]
pub fn kind_of(text: &str) -> &'static str {
    match text.trim_start().as_bytes().first() {
        Some(b'"') if text_of(text.trim()).is_none() => "a string with half a surrogate pair",
        Some(b'"') => "a string",
        Some(b'{') => "an object",
        Some(b'[') => "an array",
        Some(b't' | b'f') => "a boolean",
        Some(b'n') => "null",
        Some(_) => "a number",
        None => "nothing",
    }
}

macro_rules! from_serde {
    ($($type:ty = $expected:literal;)*) => {$(
        impl FromField for $type {
            const EXPECTED: &'static str = $expected;
            fn from_text(text: &str) -> Option<Self> {
                serde_json::from_str(text).ok()
            }
        }
    )*};
}

impl FromField for String {
    const EXPECTED: &'static str = "a string";
    fn from_text(text: &str) -> Option<Self> {
        text_of(text).map(Cow::into_owned)
    }
}

from_serde! {
    bool = "true or false";
    u32 = "a whole number from 0 to 4294967295";
    u64 = "a whole number, not negative";
    Vec<String> = "an array of strings";
    Vec<u64> = "an array of whole numbers, not negative";
    BTreeMap<String, String> = "an object whose values are strings";
    BTreeMap<String, Vec<String>> = "an object whose values are arrays of strings";
}

impl FromField for ServerId {
    const EXPECTED: &'static str = server_id::RULE;
    fn from_text(text: &str) -> Option<Self> {
        Self::parse(&text_of(text)?)
    }
}

impl FromField for SourceId {
    const EXPECTED: &'static str = source_id::RULE;
    fn from_text(text: &str) -> Option<Self> {
        Self::parse(&text_of(text)?)
    }
}

/// A JSON object that is carried as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JsonObject(pub Json);

impl FromField for JsonObject {
    const EXPECTED: &'static str = "an object";
    fn from_text(text: &str) -> Option<Self> {
        text.starts_with('{').then(|| Self(Json::from_valid(text.to_owned())))
    }
}

impl<T: FromField> FromField for Option<T> {
    const EXPECTED: &'static str = T::EXPECTED;
    const OPTIONAL: bool = true;
    fn from_text(text: &str) -> Option<Self> {
        if text == "null" { Some(None) } else { T::from_text(text).map(Some) }
    }
    fn absent() -> Option<Self> {
        Some(None)
    }
}

/// A type that can stand in a field of a reply.
pub trait PutField {
    /// What the documentation calls this type.
    const TYPE: &'static str;

    /// Of an array or a map: the type of its members.
    const MEMBER: &'static str = "";

    /// Appends the value as JSON.
    fn put(&self, out: &mut Vec<u8>);

    /// Whether the field is left out altogether.
    fn is_absent(&self) -> bool {
        false
    }
}

macro_rules! put_display {
    ($($type:ty = $name:literal;)*) => {$(
        impl PutField for $type {
            const TYPE: &'static str = $name;
            fn put(&self, out: &mut Vec<u8>) {
                out.extend_from_slice(self.to_string().as_bytes());
            }
        }
    )*};
}

put_display! { bool = "boolean"; u32 = "number"; u64 = "number"; i32 = "number"; i64 = "number"; }

impl PutField for String {
    const TYPE: &'static str = "string";
    fn put(&self, out: &mut Vec<u8>) {
        put_str(out, self);
    }
}

impl PutField for &'static str {
    const TYPE: &'static str = "string";
    fn put(&self, out: &mut Vec<u8>) {
        put_str(out, self);
    }
}

impl PutField for Json {
    const TYPE: &'static str = "JSON as its author wrote it";
    fn put(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.as_str().as_bytes());
    }
}

impl PutField for Pieces {
    const TYPE: &'static str = Json::TYPE;
    fn put(&self, out: &mut Vec<u8>) {
        self.put(out);
    }
}

impl<T: PutField> PutField for Option<T> {
    const TYPE: &'static str = T::TYPE;
    const MEMBER: &'static str = T::MEMBER;
    fn put(&self, out: &mut Vec<u8>) {
        match self {
            Some(value) => value.put(out),
            None => out.extend_from_slice(b"null"),
        }
    }
    fn is_absent(&self) -> bool {
        self.is_none()
    }
}

impl<T: PutField> PutField for Vec<T> {
    const TYPE: &'static str = "array";
    const MEMBER: &'static str = T::TYPE;
    fn put(&self, out: &mut Vec<u8>) {
        out.push(b'[');
        for (at, item) in self.iter().enumerate() {
            if at > 0 {
                out.push(b',');
            }
            item.put(out);
        }
        out.push(b']');
    }
}

impl<T: PutField> PutField for BTreeMap<String, T> {
    const TYPE: &'static str = "object";
    const MEMBER: &'static str = T::TYPE;
    fn put(&self, out: &mut Vec<u8>) {
        out.push(b'{');
        for (at, (name, value)) in self.iter().enumerate() {
            if at > 0 {
                out.push(b',');
            }
            put_str(out, name);
            out.push(b':');
            value.put(out);
        }
        out.push(b'}');
    }
}

/// The fields of a reply, a push or an object inside one.
pub trait PutFields {
    /// Appends `"name":value` pairs, separated by commas, each preceded by a comma when `first` is false.
    /// Returns whether nothing has been written yet.
    fn put_fields(&self, out: &mut Vec<u8>, first: bool) -> bool;
}

/// Appends one `"name":value` pair unless the value is absent; see [`PutFields::put_fields`].
pub fn put_pair<T: PutField>(out: &mut Vec<u8>, first: bool, name: &str, value: &T) -> bool {
    if value.is_absent() {
        return first;
    }
    if !first {
        out.push(b',');
    }
    put_str(out, name);
    out.push(b':');
    value.put(out);
    false
}

/// Appends `fields` as a JSON object.
pub fn put_object(out: &mut Vec<u8>, fields: &dyn PutFields) {
    out.push(b'{');
    fields.put_fields(out, true);
    out.push(b'}');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_field_says_which_and_what_but_not_its_value() {
        let error = read::<u64>("timeout_ms", Some("\"secret\"")).unwrap_err();
        assert_eq!(
            error,
            FieldError { field: "timeout_ms", expected: "a whole number, not negative", found: "a string" }
        );
        assert_eq!(read::<String>("label", None).unwrap_err().found, "nothing");
    }

    #[test]
    fn optional_fields_may_be_absent_or_null() {
        assert_eq!(read::<Option<bool>>("progress", None), Ok(None));
        assert_eq!(read::<Option<bool>>("progress", Some("null")), Ok(None));
        assert_eq!(read::<Option<bool>>("progress", Some("true")), Ok(Some(true)));
        assert!(read::<Option<bool>>("progress", Some("1")).is_err());
    }
}
