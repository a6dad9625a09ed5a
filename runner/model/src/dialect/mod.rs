//! The formats of providers, one file each: how a request is written and how an answer is read.
//!
//! Owns which dialect does what. Everything that only one provider knows stands in this directory and nowhere else.

use std::borrow::Cow;

use harbor_ipc_proto::link::model::{Cause, Chat, Failure};
use harbor_ipc_proto::model::{Dialect, Kind, ToolChoice};
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::failure::failed;

pub mod anthropic;
pub mod chat;
pub mod gemini;
pub mod ollama;
pub mod responses;

/// More tools fail the whole request at OpenAI.
const OPENAI_TOOLS: usize = 128;

/// How the bytes of an answer are divided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Framing {
    /// Server-sent events.
    Events,
    /// A JSON value a line.
    Lines,
    /// One JSON value.
    Whole,
}

/// A request that is ready to be sent.
#[derive(Debug)]
pub struct Prepared {
    /// Where to, in the dialect's words.
    pub path: Cow<'static, str>,
    /// JSON.
    pub body: Vec<u8>,
    /// The kinds of answer that are wanted.
    pub accept: &'static str,
}

/// Writes a request.
///
/// # Errors
/// When the provider cannot be asked that.
pub fn prepare(chat: &Chat) -> Result<Prepared, Failure> {
    if chat.target.kind == Kind::OpenAi && chat.tools.len() > OPENAI_TOOLS {
        let why =
            format!("OpenAI accepts at most {OPENAI_TOOLS} tools, but this request has {}", chat.tools.len());
        return Err(failed(Cause::Refused, why));
    }
    let dialect = chat.target.dialect;
    let (path, body) = match dialect {
        Dialect::Chat => ("chat/completions".into(), written(&chat::request(chat))?),
        Dialect::Anthropic => ("messages".into(), written(&anthropic::request(chat))?),
        Dialect::Ollama => ("chat".into(), written(&ollama::request(chat))?),
        Dialect::Responses => ("responses".into(), written(&responses::request(chat)?)?),
        Dialect::Gemini => {
            let (path, request) = gemini::request(chat)?;
            (path.into(), written(&request)?)
        }
    };
    let accept = match (chat.stream, dialect) {
        (false, _) => "application/json",
        (true, Dialect::Ollama) => "application/x-ndjson, application/json",
        (true, _) => "text/event-stream, application/json",
    };
    Ok(Prepared { path, body, accept })
}

pub(crate) fn written(request: &impl Serialize) -> Result<Vec<u8>, Failure> {
    serde_json::to_vec(request).map_err(|_| failed(Cause::Refused, "the request cannot be written as JSON"))
}

/// How an answer with this Content-Type is divided; none: it is none of the dialect.
pub fn framing(dialect: Dialect, content_type: &str) -> Option<Framing> {
    let kind = content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    match (dialect, kind.as_str()) {
        (Dialect::Ollama, "application/x-ndjson" | "application/json" | "application/jsonl") => {
            Some(Framing::Lines)
        }
        (Dialect::Ollama, _) => None,
        (_, "text/event-stream") => Some(Framing::Events),
        (_, "application/json") => Some(Framing::Whole),
        _ => None,
    }
}

/// JSON that travels as text; what is none is an empty object.
pub(crate) fn raw(text: &str) -> Box<RawValue> {
    let value = RawValue::from_string(text.to_owned());
    value.or_else(|_| RawValue::from_string("{}".to_owned())).unwrap_or_else(|_| RawValue::NULL.to_owned())
}

/// The arguments of a call as an object: a model may have written something else, which no provider takes back as input.
pub(crate) fn object(arguments: &str) -> Box<RawValue> {
    raw(if arguments.trim_start().starts_with('{') { arguments } else { "{}" })
}

/// A word that some write as a number.
pub(crate) fn word(value: Option<Value>) -> Option<String> {
    match value? {
        Value::String(text) => Some(text),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// True if tools are sent at all: providers refuse an empty list.
pub(crate) fn sends_tools(chat: &Chat) -> bool {
    !chat.tools.is_empty()
}

/// True if the model has to make a call.
pub(crate) fn forces_call(chat: &Chat) -> bool {
    sends_tools(chat) && matches!(chat.tool_choice, ToolChoice::Required | ToolChoice::Tool(_))
}

#[cfg(test)]
pub(crate) mod tests;
