//! An answer of the bridge: its members as JSON text, and the answer that came in pieces.
//!
//! Owns reading them. Must never read a payload into values and write it again: numbers and order would change.

use std::collections::BTreeMap;
use std::ops::Deref;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use harbor_ipc_proto::client::Chunk;
use harbor_ipc_proto::client::answer::Heard;
use harbor_ipc_proto::field::Message;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::ask::Ask;
use crate::errors::{Failure, Refusal};

/// The largest answer that is put together, in bytes.
const MAX_ANSWER: usize = 1 << 30;

/// A message of the bridge, or an object inside one.
#[derive(Debug, Default)]
pub struct Members(BTreeMap<String, Box<RawValue>>);

impl Members {
    pub fn parse(json: &[u8]) -> Option<Self> {
        serde_json::from_slice(json).map(Self).ok()
    }

    /// The JSON text of a member.
    pub fn raw(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(|value| value.get())
    }

    /// The names of the members.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// A member as a value, null when there is none.
    pub fn value(&self, name: &str) -> Value {
        self.raw(name).and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default()
    }

    /// A member that is a string; empty when it is none.
    pub fn text(&self, name: &str) -> String {
        self.raw(name).and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default()
    }

    /// A member that is a string; its JSON text where it is none (half a surrogate pair), empty when it is missing.
    pub fn text_or_json(&self, name: &str) -> String {
        let raw = self.raw(name).unwrap_or_default();
        serde_json::from_str(raw).unwrap_or_else(|_| raw.to_owned())
    }

    /// A member that is an object; empty when it is none.
    pub fn object(&self, name: &str) -> Self {
        self.raw(name).and_then(|text| Self::parse(text.as_bytes())).unwrap_or_default()
    }

    /// A member that is an array of objects; empty when it is none.
    pub fn objects(&self, name: &str) -> Vec<Self> {
        let items = self.raw(name).and_then(|text| serde_json::from_str(text).ok());
        items.map(|items: Vec<_>| items.into_iter().map(Self).collect()).unwrap_or_default()
    }

    /// The objects that are the members of a member, by name.
    pub fn named_objects(&self, name: &str) -> Vec<(String, Self)> {
        let inner = self.object(name);
        inner.0.keys().map(|key| (key.clone(), inner.object(key))).collect()
    }

    /// The JSON texts in a member that is an array, as they came; none when it is none.
    pub fn raws(&self, name: &str) -> Vec<Box<RawValue>> {
        self.raw(name).and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default()
    }

    /// A member that is a list of texts; none when it is none.
    pub fn strings(&self, name: &str) -> Vec<String> {
        serde_json::from_value(self.value(name)).unwrap_or_default()
    }

    /// A member that is a number of something; `None` when it is none.
    pub fn number(&self, name: &str) -> Option<u64> {
        self.value(name).as_u64()
    }

    /// Adds a member that is JSON text; text that is none is left out.
    pub fn insert(&mut self, name: &str, json: String) {
        if let Ok(value) = RawValue::from_string(json) {
            self.0.insert(name.to_owned(), value);
        }
    }

    pub fn remove(&mut self, name: &str) {
        self.0.remove(name);
    }

    /// All members as one JSON object.
    pub fn to_json(&self) -> String {
        serde_json::to_string(&self.0).unwrap_or_default()
    }

    /// Reads this as the `error` object of the answer to `ask`.
    pub fn into_refusal(self, ask: &Ask) -> Failure {
        let details = self.raw("details").map(str::to_owned);
        let (code, message) = (self.text("code"), self.text("message"));
        let (server, profile) = (ask.server.clone(), ask.profile.clone());
        Failure::Refused(Box::new(Refusal { code, message, details, server, profile }))
    }
}

/// A message of the bridge, and the text that it came as: `--json` prints also what this version does not know.
#[derive(Debug)]
pub struct Answer<T> {
    value: T,
    frame: Vec<u8>,
}

impl<T: Message> Answer<T> {
    /// Reads a frame.
    pub fn parse(frame: Vec<u8>) -> Result<Self, Failure> {
        let heard = Heard::parse(&frame).map_err(|_| Failure::Garbled("a frame that is no JSON object"))?;
        let value = heard.read()?;
        Ok(Self { value, frame })
    }
}

impl<T> Answer<T> {
    /// What was read, without the text.
    pub fn into_value(self) -> T {
        self.value
    }

    /// Its members as they came, but for those of the envelope.
    pub fn members(&self) -> Members {
        let mut members = Members::parse(&self.frame).unwrap_or_default();
        members.remove("type");
        members.remove("request_id");
        members
    }

    /// What `--json` prints.
    pub fn to_json(&self) -> String {
        self.members().to_json()
    }
}

impl<T> Deref for Answer<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

/// Puts the pieces of one answer together.
#[derive(Debug, Default)]
pub struct Pieces {
    bytes: Vec<u8>,
    next: u32,
}

impl Pieces {
    /// Takes a `chunk` push; gives the whole answer with the last one.
    pub fn add(&mut self, chunk: &Chunk) -> Result<Option<Vec<u8>>, Failure> {
        if chunk.seq != self.next {
            return Err(Failure::Garbled("a piece of an answer out of its order"));
        }
        self.next += 1;
        STANDARD
            .decode_vec(&chunk.data, &mut self.bytes)
            .map_err(|_| Failure::Garbled("a piece of an answer that is no base64"))?;
        if self.bytes.len() > MAX_ANSWER {
            return Err(Failure::Garbled("an answer without an end"));
        }
        Ok(chunk.last.then(|| std::mem::take(self).bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chunk(seq: u32, last: bool, data: &str) -> Chunk {
        Chunk { request_id: "1".into(), seq, last, data: STANDARD.encode(data) }
    }

    #[test]
    fn pieces_become_the_answer() {
        let mut pieces = Pieces::default();
        assert_eq!(pieces.add(&chunk(0, false, "{\"a\"")).unwrap(), None);
        assert_eq!(pieces.add(&chunk(1, false, ":")).unwrap(), None);
        assert_eq!(pieces.add(&chunk(2, true, "1}")).unwrap().unwrap(), b"{\"a\":1}");
        assert_eq!(pieces.add(&chunk(0, true, "x")).unwrap().unwrap(), b"x");
    }

    #[test]
    fn pieces_that_do_not_fit_are_refused() {
        let mut pieces = Pieces::default();
        assert!(pieces.add(&chunk(1, false, "")).is_err());
        let bad = Chunk { data: "?".into(), ..chunk(0, true, "") };
        assert!(Pieces::default().add(&bad).is_err());
    }

    #[test]
    fn payloads_stay_as_they_were_written() {
        let text = r#"{"r":{"z":1,"a":12345678901234567890.10}}"#;
        assert_eq!(Members::parse(text.as_bytes()).unwrap().to_json(), text);
        assert!(Members::parse(b"[]").is_none());
    }
}
