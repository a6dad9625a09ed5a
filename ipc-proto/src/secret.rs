//! A text that only its server may see.
//!
//! Owns that the text is not shown by accident. It has no `Display`, and its `Debug` hides it. Only the frame of a request
//! has it as JSON. It is compared in constant time, and its memory is overwritten when it is dropped. Must never be copied
//! into a plain string except where it is used.

use std::collections::BTreeMap;
use std::fmt;
use std::hint::black_box;

use bincode::de::BorrowDecoder;
use bincode::enc::Encoder;
use bincode::error::{DecodeError, EncodeError};
use bincode::{BorrowDecode, Encode};
use serde::{Deserialize, Deserializer};
use zeroize::Zeroizing;

use crate::field::{FromField, PutField, room_of};
use crate::strings::put_str;

/// A secret text.
#[derive(Clone, Default)]
pub struct Secret(Zeroizing<String>);

impl Secret {
    /// Takes over `text`.
    #[must_use]
    pub fn new(text: String) -> Self {
        Self(Zeroizing::new(text))
    }

    /// The text, for code that uses it.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// The text's length in bytes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// True if the text is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

impl PartialEq for Secret {
    fn eq(&self, other: &Self) -> bool {
        let (ours, theirs) = (self.0.as_bytes(), other.0.as_bytes());
        // Each byte is looked at, whatever those before it were; only the lengths can be told apart by time.
        let differences = ours.iter().zip(theirs).fold(0, |all, (a, b)| black_box(all | (a ^ b)));
        ours.len() == theirs.len() && differences == 0
    }
}

impl Eq for Secret {}

impl<'de> Deserialize<'de> for Secret {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(Self::new)
    }
}

impl Encode for Secret {
    fn encode<E: Encoder>(&self, encoder: &mut E) -> Result<(), EncodeError> {
        self.expose().encode(encoder)
    }
}

impl<'de, C> BorrowDecode<'de, C> for Secret {
    fn borrow_decode<D: BorrowDecoder<'de, Context = C>>(decoder: &mut D) -> Result<Self, DecodeError> {
        <&str>::borrow_decode(decoder).map(|text| Self::new(text.to_owned()))
    }
}

impl FromField for Secret {
    const EXPECTED: &'static str = "a string";
    fn from_text(text: &str) -> Option<Self> {
        String::from_text(text).map(Self::new)
    }
}

impl PutField for Secret {
    const TYPE: &'static str = String::TYPE;
    fn put(&self, out: &mut Vec<u8>) {
        put_str(out, self.expose());
    }
    fn room(&self) -> usize {
        room_of(self.expose())
    }
}

/// Secret texts by name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SecretMap(pub BTreeMap<String, Secret>);

impl FromField for SecretMap {
    const EXPECTED: &'static str = "an object whose values are strings";
    fn from_text(text: &str) -> Option<Self> {
        serde_json::from_str(text).ok().map(Self)
    }
}

impl PutField for SecretMap {
    const TYPE: &'static str = <BTreeMap<String, Secret>>::TYPE;
    const MEMBER: &'static str = <BTreeMap<String, Secret>>::MEMBER;
    fn put(&self, out: &mut Vec<u8>) {
        self.0.put(out);
    }
    fn room(&self) -> usize {
        self.0.room()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_shows_itself_to_nobody_and_is_compared_as_a_whole() {
        let secret = |text: &str| Secret::new(text.into());
        assert_eq!(format!("{:?}", secret("hunter2")), "Secret");
        assert!(secret("hunter2") == secret("hunter2"));
        for other in ["hunter3", "hunter22", "hunter", "", "Hunter2"] {
            assert!(secret("hunter2") != secret(other), "{other}");
        }
        let map = SecretMap::from_text(r#"{"A":"hunter2"}"#).unwrap();
        assert_eq!(format!("{map:?}"), r#"SecretMap({"A": Secret})"#);
        assert_eq!(SecretMap::from_text(r#"{"A":2}"#), None);
        assert_eq!(Secret::from_text("\"a\\nb\""), Some(secret("a\nb")));
    }
}
