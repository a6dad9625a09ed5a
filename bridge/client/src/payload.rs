//! JSON objects that MCP servers and programs wrote. Harbor passes them on, and reads them for people only.
//!
//! Owns reading their members. Must never read a message of the bridge: those have types. Must never read a
//! payload into values and write it again: numbers and order would change.

use std::collections::BTreeMap;

use harbor_ipc_proto::json::Json;
use serde_json::Value;
use serde_json::value::RawValue;

/// A JSON object of which each member stays text.
#[derive(Debug, Default)]
pub struct Payload(BTreeMap<String, Box<RawValue>>);

impl Payload {
    /// The object in `json`. Empty if `json` is no object.
    #[must_use]
    pub fn of(json: &Json) -> Self {
        Self::parse(json.as_str().as_bytes()).unwrap_or_default()
    }

    /// The object in these bytes. None if they are no object.
    #[must_use]
    pub fn parse(json: &[u8]) -> Option<Self> {
        serde_json::from_slice(json).map(Self).ok()
    }

    /// The JSON text of a member.
    #[must_use]
    pub fn raw(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(|value| value.get())
    }

    /// The names of the members.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// A member as a value, null when there is none.
    #[must_use]
    pub fn value(&self, name: &str) -> Value {
        self.raw(name).and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default()
    }

    /// A member that is a string. Empty if it is no string.
    #[must_use]
    pub fn text(&self, name: &str) -> String {
        self.raw(name).and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default()
    }

    /// A member that is a string. If it is no readable string (half a surrogate pair), its JSON text. Empty if it is missing.
    #[must_use]
    pub fn text_or_json(&self, name: &str) -> String {
        let raw = self.raw(name).unwrap_or_default();
        serde_json::from_str(raw).unwrap_or_else(|_| raw.to_owned())
    }

    /// A member that is an object. Empty if it is no object.
    #[must_use]
    pub fn object(&self, name: &str) -> Self {
        self.raw(name).and_then(|text| Self::parse(text.as_bytes())).unwrap_or_default()
    }

    /// A member that is an array of objects. Empty if it is no such array.
    #[must_use]
    pub fn objects(&self, name: &str) -> Vec<Self> {
        let items = self.raw(name).and_then(|text| serde_json::from_str(text).ok());
        items.map(|items: Vec<_>| items.into_iter().map(Self).collect()).unwrap_or_default()
    }

    /// A member that is a whole number. None if it is no such number.
    #[must_use]
    pub fn number(&self, name: &str) -> Option<u64> {
        self.value(name).as_u64()
    }

    /// Adds a member that is JSON text. Invalid text is left out.
    pub fn insert(&mut self, name: &str, json: String) {
        if let Ok(value) = RawValue::from_string(json) {
            self.0.insert(name.to_owned(), value);
        }
    }

    /// Takes a member out.
    pub fn remove(&mut self, name: &str) {
        self.0.remove(name);
    }

    /// All members as one JSON object.
    #[must_use]
    pub fn to_json(&self) -> String {
        serde_json::to_string(&self.0).unwrap_or_default()
    }
}

/// The elements of the array in `json`, as they came. Empty if `json` is no array.
#[must_use]
pub fn items(json: &Json) -> Vec<Box<RawValue>> {
    serde_json::from_str(json.as_str()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn payloads_stay_as_they_were_written() {
        let text = r#"{"r":{"z":1,"a":12345678901234567890.10}}"#;
        assert_eq!(Payload::parse(text.as_bytes()).unwrap().to_json(), text);
        assert!(Payload::parse(b"[]").is_none());
    }
}
