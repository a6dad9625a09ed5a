//! What the bridge answered: the text as it came, and the value for looking into it.

use std::collections::HashMap;
use std::ops::Deref;
use std::sync::OnceLock;

use harbor_ipc_proto::client::answer::{Heard, Refusal as ErrorFrame};
use harbor_ipc_proto::field::{JsonObject, Message, PutFields, read_object};
use serde_json::Value;
use serde_json::value::RawValue;

/// One answer. Dereferences to its value, so `answer["server"]["state"]` works.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// The frame's body.
    pub text: String,
    /// Its type; empty of one that has none.
    pub(super) tag: String,
    /// The request that it belongs to; empty where it has none, or one that is no text.
    pub(super) request_id: String,
    /// Read when somebody looks into it: it may be large.
    value: OnceLock<Value>,
}

/// An error that the bridge answered with.
#[derive(Debug, Clone, PartialEq)]
pub struct ErrorValue {
    /// The word for programs; `closed` (the harness's own) when the connection ended without an answer.
    pub code: String,
    /// The sentence for people.
    pub message: String,
    /// More for programs; null when absent.
    pub details: Value,
    /// The request that it belongs to.
    pub request_id: String,
    /// The integer, in the `rpc` envelope.
    pub rpc_code: Option<i64>,
}

impl Deref for Answer {
    type Target = Value;

    fn deref(&self) -> &Value {
        self.value.get_or_init(|| serde_json::from_str(&self.text).unwrap_or_default())
    }
}

impl Answer {
    /// Reads a frame's body; `None` when it is no JSON object.
    #[must_use]
    pub fn read(body: Vec<u8>) -> Option<Self> {
        let text = String::from_utf8(body).ok()?;
        let Heard { tag, request_id, .. } = Heard::parse(text.as_bytes()).ok()?;
        Some(Self { text, tag, request_id, value: OnceLock::new() })
    }

    /// The raw text of a top-level field, as the bridge wrote it.
    ///
    /// # Panics
    /// When there is no such field.
    #[must_use]
    pub fn field_text(&self, name: &str) -> String {
        let mut fields: HashMap<String, Box<RawValue>> = serde_json::from_str(&self.text).expect("an object");
        let raw = fields.remove(name).unwrap_or_else(|| panic!("no field {name}"));
        raw.get().to_owned()
    }

    /// The text of the first content item of a tool's result.
    ///
    /// # Panics
    /// When there is none.
    #[must_use]
    pub fn content_text(&self) -> &str {
        let text = self["result"]["content"][0]["text"].as_str();
        text.unwrap_or_else(|| panic!("no text content in {}", excerpt(&self.text)))
    }

    /// The same as a message of the protocol.
    ///
    /// # Panics
    /// When it lacks a field, or has one of another type.
    #[must_use]
    pub fn reads<M: Message>(&self) -> M {
        let read = read_object(&self.text);
        read.unwrap_or_else(|error| panic!("{error:?} in {}", excerpt(&self.text)))
    }

    /// The value alone.
    #[must_use]
    pub fn into_value(self) -> Value {
        let Self { text, value, .. } = self;
        value.into_inner().unwrap_or_else(|| serde_json::from_str(&text).unwrap_or_default())
    }

    /// Tells a result from an error. Of the `rpc` envelope, the value is what stands in `result`.
    ///
    /// # Errors
    /// What the bridge said.
    pub fn judge(self) -> Result<Self, ErrorValue> {
        let rpc = self.tag == "rpc_response";
        if rpc && self["error"].is_null() {
            let text = self.field_text("result");
            return Ok(Self { text, value: OnceLock::new(), ..self });
        }
        if !rpc && self.tag != ErrorFrame::TAG {
            return Ok(self);
        }
        let error = &self["error"];
        // The rpc envelope has a number in place of the word, and the rest of the typed error under `data`.
        let said = if rpc { &error["data"] } else { error };
        let details = said["details"].clone();
        let code = &said["code"];
        Err(ErrorValue {
            code: code.as_str().unwrap_or_default().to_owned(),
            message: error["message"].as_str().unwrap_or_default().to_owned(),
            request_id: text_of_id(&self[if rpc { "id" } else { "request_id" }]),
            rpc_code: error["code"].as_i64(),
            details,
        })
    }
}

impl ErrorValue {
    /// What a request gets when the connection ends before its answer.
    #[must_use]
    pub fn closed(id: &str) -> Self {
        Self {
            code: "closed".into(),
            message: "the connection ended without an answer".into(),
            details: Value::Null,
            request_id: id.to_owned(),
            rpc_code: None,
        }
    }
}

/// A message of the protocol, or an object inside one, as it stands on the wire.
///
/// # Panics
/// When it cannot be written.
#[must_use]
pub fn shown(object: &dyn PutFields) -> Value {
    serde_json::from_str(JsonObject::written(object).0.as_str()).expect("what we write is JSON")
}

/// Objects of the protocol, as they stand on the wire.
#[must_use]
pub fn all_shown<T: PutFields>(objects: &[T]) -> Vec<Value> {
    objects.iter().map(|object| shown(object)).collect()
}

/// A message of the protocol that a test has written as JSON.
///
/// # Panics
/// When it is none.
#[must_use]
pub fn typed<M: Message>(fields: &Value) -> M {
    read_object(&fields.to_string()).unwrap_or_else(|error| panic!("{error:?} in {fields}"))
}

/// An id as text: `"7"` and `7` are the same.
#[must_use]
pub fn text_of_id(id: &Value) -> String {
    id.as_str().map_or_else(|| id.to_string(), str::to_owned)
}

/// The beginning of a text that may be large.
#[must_use]
pub fn excerpt(text: &str) -> String {
    text.chars().take(300).collect()
}
