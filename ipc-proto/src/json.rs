//! JSON as text, which Harbor passes on without a model of it.
//!
//! Tool arguments and results cross Harbor as the text that their author wrote: unknown fields, key order and big integers
//! survive. Owns the type for such text and the one-pass split of an object into its fields. Must never build a value tree.

use std::borrow::Cow;
use std::ops::Range;
use std::rc::Rc;

use crate::members::{Malformed, Members};
use crate::strings::put_str;

/// One JSON value as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Json(String);

impl Json {
    /// Takes text that is known to be one JSON value: it came out of a parser or was written by our own code.
    #[must_use]
    pub fn from_valid(text: String) -> Self {
        Self(text)
    }

    /// The JSON string for `text`, quoted and escaped.
    #[must_use]
    pub fn string(text: &str) -> Self {
        let mut out = Vec::with_capacity(text.len() + 2);
        put_str(&mut out, text);
        Self(String::from_utf8(out).unwrap_or_default())
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The text, without a copy.
    #[must_use]
    pub fn into_string(self) -> String {
        self.0
    }
}

/// Room after an array for the end of its message, so that the array is not moved for that.
const AROUND: usize = 64;

/// A JSON array from parts of texts that others hold. Nothing is copied before it is sent.
#[derive(Debug, Clone, Default)]
pub struct Pieces(Vec<(Rc<str>, Range<usize>)>);

impl Pieces {
    /// Adds a part of `text`: one element, or more with a comma between them.
    pub fn push(&mut self, text: &Rc<str>, part: Range<usize>) {
        match self.0.last_mut() {
            // The next element of the same text, one comma later, extends the last part.
            Some((last, range)) if Rc::ptr_eq(last, text) && range.end + 1 == part.start => {
                range.end = part.end;
            }
            _ => self.0.push((text.clone(), part)),
        }
    }

    /// An upper bound for the bytes that [`Self::put`] appends.
    #[must_use]
    pub fn room(&self) -> usize {
        self.0.iter().map(|(_, part)| part.len().max("null".len()) + 1).sum::<usize>() + 2
    }

    /// The array as one text.
    #[must_use]
    pub fn to_json(&self) -> Json {
        let mut out = Vec::new();
        self.put(&mut out);
        Json(String::from_utf8(out).unwrap_or_default())
    }

    /// Appends the array.
    pub fn put(&self, out: &mut Vec<u8>) {
        out.reserve(self.room() + AROUND);
        out.push(b'[');
        for (at, (text, part)) in self.0.iter().enumerate() {
            if at > 0 {
                out.push(b',');
            }
            out.extend_from_slice(text.get(part.clone()).unwrap_or("null").as_bytes());
        }
        out.push(b']');
    }
}

/// Pieces are equal if they are the same array: an array from many texts is read back as one text.
impl PartialEq for Pieces {
    fn eq(&self, other: &Self) -> bool {
        self.to_json() == other.to_json()
    }
}

impl Eq for Pieces {}

/// The object with `value` for the member `name`, and everything else as it was written. `None` if `object` is no object,
/// or has more members than any message.
#[must_use]
pub fn with_member(object: &str, name: &str, value: &str) -> Option<String> {
    let fields = Fields::parse(object.as_bytes()).ok().filter(|fields| !fields.are_too_many())?;
    if let Some(old) = fields.get(name) {
        let start = old.as_ptr().addr().checked_sub(object.as_ptr().addr())?;
        return Some([object.get(..start)?, value, object.get(start + old.len()..)?].concat());
    }
    let rest = object.trim_end().strip_suffix('}')?;
    let comma = if fields.names().next().is_some() { "," } else { "" };
    Some(format!("{rest}{comma}{}:{value}}}", Json::string(name).as_str()))
}

/// The object without the member `name`; all other values stay as they were written. `None` as in [`with_member`].
#[must_use]
pub fn without_member(object: &str, name: &str) -> Option<String> {
    let fields = Fields::parse(object.as_bytes()).ok().filter(|fields| !fields.are_too_many())?;
    let kept = fields.pairs.iter().filter(|(key, _)| key != name);
    let kept: Vec<_> = kept.map(|(key, value)| format!("{}:{value}", Json::string(key).as_str())).collect();
    Some(format!("{{{}}}", kept.join(",")))
}

/// The fields of one JSON object, split in a single pass; each value stays text.
#[derive(Debug, Default)]
pub struct Fields<'a> {
    pairs: Vec<(Cow<'a, str>, &'a str)>,
    twice: Option<Cow<'a, str>>,
    too_many: bool,
}

/// The limit for fields: more than any message has. Each new field is compared with those before.
const MAX_FIELDS: usize = 64;

impl<'a> Fields<'a> {
    /// Splits the object in `bytes`.
    ///
    /// # Errors
    /// Says what is wrong if the bytes are no JSON object.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, Malformed> {
        let text = std::str::from_utf8(bytes)
            .map_err(|error| Malformed { what: "it is not UTF-8", at: error.valid_up_to() })?;
        let mut fields = Self { pairs: Vec::with_capacity(8), ..Self::default() };
        for member in Members::of(text) {
            let (key, value) = member?;
            if fields.pairs.len() >= MAX_FIELDS {
                fields.too_many = true;
            } else if fields.get(&key).is_some() {
                fields.twice = Some(key);
            } else {
                fields.pairs.push((key, value));
            }
        }
        Ok(fields)
    }

    /// The raw text of the field `name`.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&'a str> {
        self.pairs.iter().find(|(key, _)| key == name).map(|(_, value)| *value)
    }

    /// The names of the fields, each once.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.pairs.iter().map(|(name, _)| name.as_ref())
    }

    /// True if the object has more fields than any message. Fields after the 64th were left out.
    #[must_use]
    pub fn are_too_many(&self) -> bool {
        self.too_many
    }

    /// A key that stands twice. Two readers may take different values for it, so such an object must be refused. It is no
    /// error of `parse`, since the sender must be told under the right id.
    #[must_use]
    pub fn twice(&self) -> Option<&str> {
        self.twice.as_deref()
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Any value, of a size that a person can read.
    pub(crate) fn any_json() -> impl Strategy<Value = serde_json::Value> {
        let leaf = prop_oneof![
            Just(serde_json::Value::Null),
            any::<bool>().prop_map(Into::into),
            any::<i64>().prop_map(Into::into),
            any::<f64>().prop_map(Into::into),
            ".{0,40}".prop_map(Into::into),
        ];
        leaf.prop_recursive(4, 40, 6, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..6).prop_map(Into::into),
                prop::collection::btree_map("[a-z\"\\\\]{0,20}", inner, 0..6)
                    .prop_map(|m| serde_json::Value::Object(m.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn the_fields_are_the_text_that_was_written(text in "[^\\p{C}]{0,40}", number in any::<i64>()) {
            let inner = serde_json::json!({ "x": [text, number] }).to_string();
            let text = format!("{{ \"a\" : {inner} , \"b\":{number}}}");
            let fields = Fields::parse(text.as_bytes()).unwrap();
            prop_assert_eq!(fields.get("a"), Some(inner.as_str()));
            prop_assert_eq!(fields.get("b").and_then(|b| b.parse().ok()), Some(number));
            prop_assert_eq!(fields.get("c"), None);
        }
    }

    #[test]
    fn pieces_are_an_array_of_whatever_parts_of_their_texts() {
        let text: Rc<str> = r#"{"a":1},{"b":2},{"c":3}"#.into();
        let elements = [0..7, 8..15, 16..23];
        for (chosen, expected) in [
            (vec![], "[]"),
            (vec![1], r#"[{"b":2}]"#),
            (vec![0, 1, 2], r#"[{"a":1},{"b":2},{"c":3}]"#),
            (vec![0, 2, 0, 1], r#"[{"a":1},{"c":3},{"a":1},{"b":2}]"#),
        ] {
            let (mut pieces, mut out) = (Pieces::default(), Vec::new());
            chosen.into_iter().for_each(|which: usize| pieces.push(&text, elements[which].clone()));
            pieces.put(&mut out);
            assert_eq!(String::from_utf8(out).unwrap(), expected);
        }
        let (mut pieces, mut out) = (Pieces::default(), Vec::new());
        pieces.push(&text, 0..7);
        pieces.push(&"[7],8".into(), 0..3);
        pieces.push(&text, 0..23);
        pieces.put(&mut out);
        assert_eq!(String::from_utf8(out).unwrap(), format!(r#"[{{"a":1}},[7],{text}]"#));
    }

    #[test]
    fn a_key_that_stands_twice_is_told() {
        let twice = |text: &str| Fields::parse(text.as_bytes()).unwrap().twice().map(ToOwned::to_owned);
        assert_eq!(twice(r#"{"a":1,"b":2,"a":3}"#).as_deref(), Some("a"));
        assert_eq!(twice(r#"{"params":null,"params":1}"#).as_deref(), Some("params"));
        assert_eq!(twice(r#"{"a":{"b":1,"b":1}}"#), None, "a payload is its author's");
        for bad in ["[1]", "{} {}", "7", ""] {
            assert!(Fields::parse(bad.as_bytes()).is_err(), "{bad}");
        }
    }
}
