//! Reads the plain types of fields.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::value::RawValue;

use super::{FieldError, FromField, JsonObject, PutField as _, Word};
use crate::json::{Json, Pieces};
use crate::server_id::{self, ServerId};
use crate::source_id::{self, SourceId};
use crate::strings::text_of;

macro_rules! from_serde {
    ($($type:ty = $expected:literal, $array:literal;)*) => {$(
        impl FromField for $type {
            const EXPECTED: &'static str = $expected;
            const EXPECTED_ARRAY: &'static str = $array;
            fn from_text(text: &str) -> Option<Self> {
                serde_json::from_str(text).ok()
            }
        }
    )*};
}

from_serde! {
    bool = "true or false", "an array of true and false";
    u32 = "a whole number from 0 to 4294967295", "an array of whole numbers from 0 to 4294967295";
    u64 = "a whole number, not negative", "an array of whole numbers, not negative";
    i32 = "a whole number", "an array of whole numbers";
    i64 = "a whole number", "an array of whole numbers";
}

impl FromField for String {
    const EXPECTED: &'static str = "a string";
    const EXPECTED_ARRAY: &'static str = "an array of strings";
    const EXPECTED_MAP: &'static str = "an object whose values are strings";
    const EXPECTED_MAP_OF_ARRAYS: &'static str = "an object whose values are arrays of strings";
    fn from_text(text: &str) -> Option<Self> {
        text_of(text).map(Cow::into_owned)
    }
}

impl FromField for Word {
    const EXPECTED: &'static str = String::EXPECTED;
    fn from_text(text: &str) -> Option<Self> {
        String::from_text(text).map(Cow::Owned)
    }
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

impl FromField for Json {
    const EXPECTED: &'static str = Self::TYPE;
    const NULL_IS_NOTHING: bool = false;
    fn from_text(text: &str) -> Option<Self> {
        Some(Self::from_valid(text.to_owned()))
    }
}

impl FromField for Pieces {
    const EXPECTED: &'static str = "an array";
    fn from_text(text: &str) -> Option<Self> {
        let inside = text.strip_prefix('[')?.strip_suffix(']')?.trim();
        let mut pieces = Self::default();
        if !inside.is_empty() {
            pieces.push(&inside.into(), 0..inside.len());
        }
        Some(pieces)
    }
}

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
        if T::NULL_IS_NOTHING && text == "null" { Some(None) } else { T::from_text(text).map(Some) }
    }
    fn wrong_inside(text: &str) -> Option<FieldError> {
        T::wrong_inside(text)
    }
    fn absent() -> Option<Self> {
        Some(None)
    }
}

impl<T: FromField> FromField for Vec<T> {
    const EXPECTED: &'static str = T::EXPECTED_ARRAY;
    const EXPECTED_MAP: &'static str = T::EXPECTED_MAP_OF_ARRAYS;
    fn from_text(text: &str) -> Option<Self> {
        let items: Vec<&RawValue> = serde_json::from_str(text).ok()?;
        items.into_iter().map(|item| T::from_text(item.get())).collect()
    }
    fn wrong_inside(text: &str) -> Option<FieldError> {
        let items: Vec<&RawValue> = serde_json::from_str(text).ok()?;
        let wrong = items.into_iter().find(|item| T::from_text(item.get()).is_none())?;
        T::wrong_inside(wrong.get())
    }
}

impl<T: FromField> FromField for BTreeMap<String, T> {
    const EXPECTED: &'static str = T::EXPECTED_MAP;
    fn from_text(text: &str) -> Option<Self> {
        let items: BTreeMap<String, &RawValue> = serde_json::from_str(text).ok()?;
        items.into_iter().map(|(name, item)| Some((name, T::from_text(item.get())?))).collect()
    }
    fn wrong_inside(text: &str) -> Option<FieldError> {
        let items: BTreeMap<String, &RawValue> = serde_json::from_str(text).ok()?;
        let wrong = items.into_values().find(|item| T::from_text(item.get()).is_none())?;
        T::wrong_inside(wrong.get())
    }
}
