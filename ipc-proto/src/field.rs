//! How single fields of client messages are read from JSON text and written to it.
//!
//! Owns the traits; `read` and `put` have the plain types. A field that does not fit becomes a [`FieldError`], which names
//! the field and what was expected; a value is never echoed, it may be a secret.

use std::borrow::Cow;

use crate::json::{Fields, Json};
use crate::server_id::ServerId;
use crate::source_id::SourceId;
use crate::strings::{put_str, text_of};

mod put;
mod read;

pub(crate) use put::room_of;

/// A word of the protocol: the bridge writes one of its own and allocates nothing, a client reads any.
pub type Word = Cow<'static, str>;

/// A JSON object that is carried as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JsonObject(pub Json);

impl JsonObject {
    /// The object with these fields.
    #[must_use]
    pub fn written(fields: &dyn PutFields) -> Self {
        let mut text = Vec::new();
        put_object(&mut text, fields);
        Self(Json::from_valid(String::from_utf8(text).unwrap_or_default()))
    }
}

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

/// A type that can be read from a field of a message.
pub trait FromField: Sized {
    /// What the documentation and the errors call this type.
    const EXPECTED: &'static str;

    /// What they call an array of it.
    const EXPECTED_ARRAY: &'static str = "an array";

    /// What they call an object whose values are of this type.
    const EXPECTED_MAP: &'static str = "an object";

    /// What they call an object whose values are arrays of it.
    const EXPECTED_MAP_OF_ARRAYS: &'static str = "an object whose values are arrays";

    /// Reads the value from its text; `None` when it does not fit.
    fn from_text(text: &str) -> Option<Self>;

    /// Of text that does not fit: the field inside it that is wrong, where it is one.
    #[must_use]
    fn wrong_inside(text: &str) -> Option<FieldError> {
        let _ = text;
        None
    }

    /// The value of a field that is absent; `None` when it must be there.
    #[must_use]
    fn absent() -> Option<Self> {
        None
    }

    /// Whether the field may be left out.
    const OPTIONAL: bool = false;

    /// Whether `null` stands for a field that is absent. Of a payload it is the payload.
    const NULL_IS_NOTHING: bool = true;
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
    read.ok_or_else(|| text.and_then(T::wrong_inside).unwrap_or_else(|| wrong::<T>(name, text)))
}

fn wrong<T: FromField>(field: &'static str, text: Option<&str>) -> FieldError {
    FieldError { field, expected: T::EXPECTED, found: text.map_or("nothing", kind_of) }
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

/// A type that can be written into a field of a message.
pub trait PutField {
    /// What the documentation calls this type.
    const TYPE: &'static str;

    /// Of an array or a map: the type of its members.
    const MEMBER: &'static str = "";

    /// Appends the value as JSON.
    fn put(&self, out: &mut Vec<u8>);

    /// At least as many bytes as [`Self::put`] appends. A request's frame is allocated once by it: memory that was given back
    /// while it grew could keep a secret.
    fn room(&self) -> usize;

    /// Whether the field is left out altogether.
    fn is_absent(&self) -> bool {
        false
    }
}

/// The fields of a message or of an object inside one.
pub trait PutFields {
    /// Appends `"name":value` pairs, separated by commas, each preceded by a comma when `first` is false.
    /// Returns whether nothing has been written yet.
    fn put_fields(&self, out: &mut Vec<u8>, first: bool) -> bool;

    /// At least as many bytes as [`Self::put_fields`] appends.
    fn fields_room(&self) -> usize;
}

/// A message, or an object inside one: what can be written can be read.
pub trait Message: PutFields + Sized {
    /// Of a request or a push its `type` on the wire, of a reply that of its request, of an object its name.
    const TAG: &'static str;

    /// Reads it from its fields; those that it does not know are passed over.
    ///
    /// # Errors
    /// Which field is missing or wrong.
    fn read(fields: &Fields<'_>) -> Result<Self, FieldError>;
}

/// A request, which says what answers it.
pub trait Ask: Message {
    /// What the bridge answers.
    type Reply: Message;

    /// The server that it is about, where it is about one.
    fn server(&self) -> Option<&str>;

    /// The profile of the origin that it is about, likewise.
    fn profile(&self) -> Option<&str>;
}

/// A field that may name one server or one profile.
pub(crate) trait NamesOne {
    fn name(&self) -> Option<&str>;
}

impl NamesOne for ServerId {
    fn name(&self) -> Option<&str> {
        Some(self.as_str())
    }
}

impl NamesOne for SourceId {
    fn name(&self) -> Option<&str> {
        Some(self.as_str())
    }
}

impl NamesOne for String {
    fn name(&self) -> Option<&str> {
        Some(self)
    }
}

impl<T: NamesOne> NamesOne for Option<T> {
    fn name(&self) -> Option<&str> {
        self.as_ref().and_then(NamesOne::name)
    }
}

/// Reads a message from the text of its object.
///
/// # Errors
/// Which field is missing or wrong; the whole, under its name, where the text is no object.
pub fn read_object<T: Message>(text: &str) -> Result<T, FieldError> {
    let fields = Fields::parse(text.as_bytes());
    let fields =
        fields.map_err(|_| FieldError { field: T::TAG, expected: "an object", found: kind_of(text) })?;
    T::read(&fields)
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

/// At least as many bytes as [`put_pair`] appends.
pub fn pair_room<T: PutField>(name: &str, value: &T) -> usize {
    name.len() + "\"\":,".len() + value.room()
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
