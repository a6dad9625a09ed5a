//! Reads single fields of client messages from JSON text, and writes them.
//!
//! Owns the traits; `read` and `put` have the plain types. A field that does not fit becomes a [`FieldError`], which names
//! the field and the expected type. It never repeats the value, which may be a secret.

use std::borrow::Cow;

use crate::json::{Fields, Json};
use crate::server_id::ServerId;
use crate::source_id::SourceId;
use crate::strings::{put_str, text_of};

mod put;
mod read;

pub(crate) use put::room_of;

/// A word of the protocol. The bridge writes its own words without an allocation; a client reads any word.
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
    /// The type that was expected there.
    pub expected: &'static str,
    /// The kind of JSON value that was found instead, or `nothing`.
    pub found: &'static str,
}

/// A type that can be read from a field of a message.
pub trait FromField: Sized {
    /// The name of this type in the documentation and in errors.
    const EXPECTED: &'static str;

    /// The name of an array of this type there.
    const EXPECTED_ARRAY: &'static str = "an array";

    /// The name of an object whose values are of this type.
    const EXPECTED_MAP: &'static str = "an object";

    /// The name of an object whose values are arrays of this type.
    const EXPECTED_MAP_OF_ARRAYS: &'static str = "an object whose values are arrays";

    /// Reads the value from its text; `None` when it does not fit.
    fn from_text(text: &str) -> Option<Self>;

    /// The wrong field inside a text that does not fit, if the text is an object with one.
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

    /// True if the field may be left out.
    const OPTIONAL: bool = false;

    /// True if `null` stands for an absent field. In a payload, `null` is the payload.
    const NULL_IS_NOTHING: bool = true;
}

/// Reads the field `name` whose text is `text`.
///
/// # Errors
/// When the field is missing and required, or does not fit its type.
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
    /// The name of this type in the documentation.
    const TYPE: &'static str;

    /// The type of the members, for an array or a map.
    const MEMBER: &'static str = "";

    /// Appends the value as JSON.
    fn put(&self, out: &mut Vec<u8>);

    /// An upper bound for the bytes that [`Self::put`] appends. It lets a request's frame be allocated once: memory that
    /// was freed while a frame grew could keep a secret.
    fn room(&self) -> usize;

    /// True if the field is left out altogether.
    fn is_absent(&self) -> bool {
        false
    }
}

/// The fields of a message or of an object inside one.
pub trait PutFields {
    /// Appends `"name":value` pairs, separated by commas. Each has a comma before it if `first` is false. Returns true if
    /// nothing has been written yet.
    fn put_fields(&self, out: &mut Vec<u8>, first: bool) -> bool;

    /// An upper bound for the bytes that [`Self::put_fields`] appends.
    fn fields_room(&self) -> usize;
}

/// A message, or an object inside one. It can be written and read.
pub trait Message: PutFields + Sized {
    /// The `type` on the wire, for a request or a push. For a reply: the type of its request. For an object: its name.
    const TAG: &'static str;

    /// Reads the message from its fields. Unknown fields are ignored.
    ///
    /// # Errors
    /// Says which field is missing or wrong.
    fn read(fields: &Fields<'_>) -> Result<Self, FieldError>;
}

/// A request with the type of its reply.
pub trait Ask: Message {
    /// The reply to this request.
    type Reply: Message;

    /// The server that the request names, if it names one.
    fn server(&self) -> Option<&str>;

    /// The profile that the request names, if it names one.
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
/// Says which field is missing or wrong. If the text is no object, the error names the whole message.
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

/// An upper bound for the bytes that [`put_pair`] appends.
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
