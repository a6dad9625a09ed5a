//! JSON text that is carried, not modelled.
//!
//! Tool arguments and results cross Harbor as the text that their author wrote: unknown fields, key order
//! and big integers survive. Owns the type for such text, the one-pass split of an object into its fields,
//! and the check that a text cannot break out of the place it is put in. Must never build a value tree.

use std::borrow::Cow;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, Visitor};
use serde_json::value::RawValue;

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

    /// Gives the text away.
    #[must_use]
    pub fn into_string(self) -> String {
        self.0
    }
}

/// Appends `text` as a JSON string.
pub fn put_str(out: &mut Vec<u8>, text: &str) {
    let start = out.len();
    if serde_json::to_writer(&mut *out, text).is_err() {
        out.truncate(start);
        out.extend_from_slice(b"\"\"");
    }
}

/// Whether `text` is one self-contained JSON value: put between two commas it stays one value.
///
/// It is not a full syntax check (the runner makes that one); it is what keeps a hostile runner from closing
/// the frame's object early and answering in the name of another request. One pass, no allocation.
#[must_use]
pub fn is_contained(text: &str) -> bool {
    let bytes = text.trim_ascii().as_bytes();
    match bytes.first() {
        None => false,
        Some(b'{' | b'[') => closes_at_end(bytes),
        Some(b'"') => string_end(bytes, 1) == Some(bytes.len()),
        Some(_) => bytes.iter().all(|b| b.is_ascii_alphanumeric() || b"+-.".contains(b)),
    }
}

fn closes_at_end(bytes: &[u8]) -> bool {
    let (mut at, mut depth) = (0usize, 0usize);
    while at < bytes.len() {
        match bytes[at] {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => {
                depth -= 1;
                if depth == 0 {
                    return at + 1 == bytes.len();
                }
            }
            b'"' => match string_end(bytes, at + 1) {
                Some(end) => {
                    at = end;
                    continue;
                }
                None => return false,
            },
            _ => {}
        }
        at += 1;
    }
    false
}

/// Index just behind the closing quote of the string whose content starts at `from`.
fn string_end(bytes: &[u8], from: usize) -> Option<usize> {
    let mut at = from;
    // Most strings are short keys: looking at a few bytes first is cheaper than starting a vector search.
    let near = (at + 16).min(bytes.len());
    while at < near {
        match bytes[at] {
            b'"' => return Some(at + 1),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    loop {
        at += memchr::memchr2(b'"', b'\\', bytes.get(at..)?)?;
        if bytes[at] == b'"' {
            return Some(at + 1);
        }
        at += 2;
    }
}

/// The fields of one JSON object, split in a single pass; each value stays text.
#[derive(Debug, Default)]
pub struct Fields<'a> {
    pairs: Vec<(Cow<'a, str>, &'a str)>,
    params: Option<Vec<(Cow<'a, str>, &'a str)>>,
}

impl<'a> Fields<'a> {
    /// Splits the object in `bytes`. An object under the key `params` is split in the same pass, so that the
    /// `rpc` envelope costs no second look at a large payload.
    ///
    /// # Errors
    /// Says what is wrong when the bytes are no JSON object, or a key stands twice.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, serde_json::Error> {
        let mut reader = serde_json::Deserializer::from_slice(bytes);
        let fields = reader.deserialize_map(ObjectVisitor { nested: true })?;
        reader.end()?;
        Ok(fields)
    }

    /// The raw text of the field `name`.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&'a str> {
        find(&self.pairs, name)
    }

    /// The fields of the object under `params`, if there is one.
    #[must_use]
    pub fn params(&mut self) -> Option<Self> {
        self.params.take().map(|pairs| Self { pairs, params: None })
    }
}

fn find<'a>(pairs: &[(Cow<'a, str>, &'a str)], name: &str) -> Option<&'a str> {
    pairs.iter().find(|(key, _)| key == name).map(|(_, value)| *value)
}

struct ObjectVisitor {
    nested: bool,
}

impl<'de> Visitor<'de> for ObjectVisitor {
    type Value = Fields<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields<'de>, A::Error> {
        let mut fields = Fields { pairs: Vec::with_capacity(8), params: None };
        while let Some(key) = map.next_key_seed(KeySeed)? {
            let twice = find(&fields.pairs, &key).is_some() || (key == "params" && fields.params.is_some());
            if twice {
                return Err(A::Error::custom(format_args!("the key {key:?} stands twice")));
            }
            if self.nested && key == "params" {
                fields.params = Some(map.next_value_seed(ParamsSeed)?.pairs);
            } else {
                fields.pairs.push((key, map.next_value::<&'de RawValue>()?.get()));
            }
        }
        Ok(fields)
    }
}

struct ParamsSeed;

impl<'de> DeserializeSeed<'de> for ParamsSeed {
    type Value = Fields<'de>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Fields<'de>, D::Error> {
        deserializer.deserialize_map(ObjectVisitor { nested: false })
    }
}

struct KeySeed;

impl<'de> DeserializeSeed<'de> for KeySeed {
    type Value = Cow<'de, str>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<'de> Visitor<'de> for KeySeed {
    type Value = Cow<'de, str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_borrowed_str<E>(self, key: &'de str) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(key))
    }

    fn visit_str<E>(self, key: &str) -> Result<Self::Value, E> {
        Ok(Cow::Owned(key.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn any_json() -> impl Strategy<Value = serde_json::Value> {
        let leaf = prop_oneof![
            Just(serde_json::Value::Null),
            any::<bool>().prop_map(Into::into),
            any::<i64>().prop_map(Into::into),
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
        fn every_json_value_is_contained(value in any_json()) {
            prop_assert!(is_contained(&value.to_string()));
        }

        #[test]
        fn what_is_contained_cannot_change_its_surroundings(text in "[\\[\\]{}\",:a\\\\ 0-9]{0,24}") {
            let around = format!("{{\"id\":\"mine\",\"result\":{text}}}");
            if let (true, Ok(value)) = (is_contained(&text), serde_json::from_str::<serde_json::Value>(&around)) {
                let object = value.as_object().unwrap();
                prop_assert_eq!(object.len(), 2);
                prop_assert_eq!(&object["id"], "mine");
            }
        }

        #[test]
        fn the_fields_are_the_text_that_was_written(value in any_json()) {
            let inner = value.to_string();
            let text = format!("{{ \"a\" : {inner} , \"params\":{{\"b\":{inner}}}}}");
            let mut fields = Fields::parse(text.as_bytes()).unwrap();
            prop_assert_eq!(fields.get("a"), Some(inner.as_str()));
            prop_assert_eq!(fields.params().unwrap().get("b"), Some(inner.as_str()));
        }
    }

    #[test]
    fn breaking_out_is_seen() {
        for bad in [r#"1},"id":"x""#, r#"{}},{"#, r#""a","b":"c""#, "{", "]", "", "1,2", r#""a\""#, r#"{"a}"#]
        {
            assert!(!is_contained(bad), "{bad}");
        }
        let long = format!(r#""{}\"","x":"y""#, "a".repeat(30));
        assert!(!is_contained(&long));
    }

    #[test]
    fn a_key_that_stands_twice_is_refused() {
        for bad in [r#"{"a":1,"a":2}"#, r#"{"params":{},"params":{}}"#, "[1]", "{} {}", "7"] {
            assert!(Fields::parse(bad.as_bytes()).is_err(), "{bad}");
        }
    }
}
