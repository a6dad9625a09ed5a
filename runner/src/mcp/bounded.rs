//! Arrays of another process: their elements stay text, and there are not too many of them.
//!
//! Must never keep more than the bound: two bytes of text are enough for an element, and each takes eight times that here.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, SeqAccess, Visitor};
use serde_json::value::RawValue;

/// At most `MOST` elements, as they are written. A longer array is refused as soon as its first surplus element is read.
#[derive(Debug)]
pub struct Bounded<'a, const MOST: usize>(pub Vec<&'a RawValue>);

impl<'de: 'a, 'a, const MOST: usize> Deserialize<'de> for Bounded<'a, MOST> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(Elements::<MOST>)
    }
}

struct Elements<const MOST: usize>;

impl<'de, const MOST: usize> Visitor<'de> for Elements<MOST> {
    type Value = Bounded<'de, MOST>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "an array of at most {MOST} elements")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut array: A) -> Result<Self::Value, A::Error> {
        let mut elements = Vec::new();
        while let Some(element) = array.next_element()? {
            if elements.len() == MOST {
                return Err(A::Error::invalid_length(MOST + 1, &self));
            }
            elements.push(element);
        }
        Ok(Bounded(elements))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_stay_text_up_to_the_bound() {
        let read = |text| serde_json::from_str::<Bounded<'_, 2>>(text);
        let Bounded(elements) = read(r#"[ {"a": 1.0} ,2]"#).unwrap();
        assert_eq!(elements.iter().map(|element| element.get()).collect::<Vec<_>>(), [r#"{"a": 1.0}"#, "2"]);
        assert!(read("[]").is_ok());
        for wrong in ["[1,2,3]", "[1,2,3", "[1,", "{}", "1"] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
