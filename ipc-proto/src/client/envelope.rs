//! The two envelopes of requests and replies.
//!
//! ```text
//!  typed  {type:"T", request_id:"R", …}          → {type:"T_result", request_id:"R", …}
//!                                                  {type:"error", request_id:"R", error:{code, message, details?}}
//!  rpc    {type:"rpc", id:I, method:"T", params}  → {type:"rpc_response", id:I, result:{…}}
//!                                                  {type:"rpc_response", id:I, error:{code:int, message, data:{code, details?}}}
//! ```
//!
//! Owns the reading of a frame into a [`Request`] and the writing of its reply. Must never touch payloads.

use std::borrow::Cow;

use super::{LlmChat, ModelRequest, Request, WorkRequest};
use crate::codes::Code;
use crate::field::{FieldError, FromField, Message, PutFields, kind_of, put_pair};
use crate::json::{Fields, Json};
use crate::members::Malformed;
use crate::strings::{put_str, text_of};

/// The longest id, in bytes. It is bounded since each chunk of an answer repeats it.
const MAX_ID: usize = 256;

/// The envelope of a request, which its answer must have too.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Envelope {
    /// `{type, request_id, …}`; holds the id.
    Typed(String),
    /// `{type:"rpc", id, …}`; holds the id as JSON text (a string or a number).
    Rpc(String),
}

/// A request and its wrapping.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Incoming {
    /// The envelope for the answer.
    pub envelope: Envelope,
    /// The request itself.
    pub request: Request,
}

/// A frame that is no request, with the envelope for the error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    /// The envelope for the error: the typed one with an empty id when the frame had no readable id.
    pub envelope: Envelope,
    /// The error to send.
    pub error: ErrorBody,
}

/// An error on its way to a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ErrorBody {
    /// The word for programs.
    pub code: Code,
    /// The sentence for people: what is wrong and what to do.
    pub message: String,
    /// More for programs: the members of the details, each a name and JSON text.
    pub details: Vec<(&'static str, Json)>,
}

impl ErrorBody {
    /// An error without details.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), details: Vec::new() }
    }

    /// True if the details have `name` with the string `value`.
    #[must_use]
    pub fn has(&self, name: &str, value: &str) -> bool {
        self.details.iter().any(|(known, json)| *known == name && *json == Json::string(value))
    }

    /// Adds a string to the details.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: &str) -> Self {
        self.details.push((name, Json::string(value)));
        self
    }

    /// Adds JSON text to the details.
    #[must_use]
    pub fn with_json(mut self, name: &'static str, value: Json) -> Self {
        self.details.push((name, value));
        self
    }

    fn put_details(&self, out: &mut Vec<u8>) {
        if self.details.is_empty() {
            return;
        }
        out.extend_from_slice(b",\"details\":{");
        let mut first = true;
        for (name, value) in &self.details {
            first = put_pair(out, first, name, value);
        }
        out.push(b'}');
    }
}

impl From<FieldError> for ErrorBody {
    fn from(error: FieldError) -> Self {
        let FieldError { field, expected, found } = error;
        let message = format!("field `{field}`: expected {expected}, found {found}");
        Self::new(Code::InvalidParams, message).with("field", field).with("expected", expected)
    }
}

/// A method that other programs use for `llm.chat` with pushes.
const CHAT_STREAM: &str = "llm_chat_stream";

impl Incoming {
    /// Reads one frame.
    ///
    /// # Errors
    /// Says what is wrong with the frame, and in which envelope to answer.
    pub fn parse(frame: &[u8]) -> Result<Self, Refused> {
        let fields = Fields::parse(frame).map_err(|Malformed { what, at }| {
            let message = format!("the frame is not a JSON object: {what} at byte {at}");
            refuse(Envelope::nobody(), Code::InvalidMessage, message)
        })?;
        if let Some(key @ ("type" | "request_id" | "id")) = fields.twice() {
            return Err(stands_twice(Envelope::nobody(), key));
        }
        let tag = text_field(&fields, "type")?;
        if tag == "rpc" {
            return Self::parse_rpc(&fields);
        }
        let id = text_field(&fields, "request_id")?;
        if id.is_empty() || id.len() > MAX_ID {
            let message = "field `request_id`: expected a string of 1 to 256 bytes";
            return Err(refuse(Envelope::nobody(), Code::InvalidMessage, message));
        }
        Self::build(Envelope::Typed(id.into_owned()), &tag, &fields)
    }

    fn parse_rpc(fields: &Fields<'_>) -> Result<Self, Refused> {
        let id = rpc_id(fields)?;
        let method = rpc_method(fields, &id)?;
        let envelope = Envelope::Rpc(id);
        if let Some(key) = fields.twice() {
            return Err(stands_twice(envelope, key));
        }
        let params = match fields.get("params") {
            None | Some("null") => Ok(Fields::default()),
            Some(text) => Fields::parse(text.as_bytes()),
        };
        match params {
            Ok(params) if *method == *CHAT_STREAM => {
                Self::build(envelope, LlmChat::TAG, &params).map(Self::streaming)
            }
            Ok(params) => Self::build(envelope, &method, &params),
            Err(_) => {
                let found = fields.get("params").map_or("nothing", kind_of);
                let error = FieldError { field: "params", expected: "an object", found };
                Err(Refused { envelope, error: error.into() })
            }
        }
    }

    fn streaming(mut self) -> Self {
        if let Request::Work(WorkRequest::Model(ModelRequest::LlmChat(chat))) = &mut self.request {
            chat.stream = Some(true);
        }
        self
    }

    fn build(envelope: Envelope, tag: &str, fields: &Fields<'_>) -> Result<Self, Refused> {
        if let Some(key) = fields.twice() {
            return Err(stands_twice(envelope, key));
        }
        if fields.are_too_many() {
            return Err(refuse(envelope, Code::InvalidMessage, "the object has more than 64 fields"));
        }
        match Request::parse(tag, fields) {
            Some(Ok(request)) => Ok(Self { envelope, request }),
            Some(Err(error)) => Err(Refused { envelope, error: error.into() }),
            None => {
                let message = "Harbor has no message of this type; `harbor docs protocol` lists them";
                let error =
                    ErrorBody::new(Code::UnknownMessageType, message).with("received_type", &cut(tag, 100));
                Err(Refused { envelope, error })
            }
        }
    }
}

impl Envelope {
    /// The envelope of errors that belong to no request: the typed one with an empty id.
    #[must_use]
    pub fn nobody() -> Self {
        Self::Typed(String::new())
    }

    /// The id as text. The string "7" and the number 7 give the same text: a client's ids share one name space.
    #[must_use]
    pub fn id(&self) -> Cow<'_, str> {
        match self {
            Self::Typed(id) => id.into(),
            Self::Rpc(id) => String::from_text(id).map_or_else(|| id.into(), Cow::Owned),
        }
    }

    /// Appends the reply to the request of type `tag`.
    pub fn put_reply(&self, out: &mut Vec<u8>, tag: &str, reply: &dyn PutFields) {
        match self {
            Self::Typed(id) => {
                out.extend_from_slice(b"{\"type\":\"");
                out.extend_from_slice(tag.as_bytes());
                out.extend_from_slice(b"_result\",\"request_id\":");
                put_str(out, id);
                reply.put_fields(out, false);
                out.push(b'}');
            }
            Self::Rpc(id) => {
                put_rpc_head(out, id);
                out.extend_from_slice(b",\"result\":{");
                reply.put_fields(out, true);
                out.extend_from_slice(b"}}");
            }
        }
    }

    /// Appends an error.
    pub fn put_error(&self, out: &mut Vec<u8>, error: &ErrorBody) {
        match self {
            Self::Typed(id) => {
                out.extend_from_slice(b"{\"type\":\"error\",\"request_id\":");
                put_str(out, id);
                out.extend_from_slice(b",\"error\":{\"code\":");
                put_str(out, error.code.as_str());
                out.extend_from_slice(b",\"message\":");
                put_str(out, &error.message);
                error.put_details(out);
                out.extend_from_slice(b"}}");
            }
            Self::Rpc(id) => {
                put_rpc_head(out, id);
                out.extend_from_slice(
                    format!(",\"error\":{{\"code\":{},\"message\":", error.code.rpc()).as_bytes(),
                );
                put_str(out, &error.message);
                out.extend_from_slice(b",\"data\":{\"code\":");
                put_str(out, error.code.as_str());
                error.put_details(out);
                out.extend_from_slice(b"}}}");
            }
        }
    }
}

/// Appends a push.
pub fn put_push<P: Message>(out: &mut Vec<u8>, push: &P) {
    out.extend_from_slice(b"{\"type\":\"");
    out.extend_from_slice(P::TAG.as_bytes());
    out.push(b'"');
    push.put_fields(out, false);
    out.push(b'}');
}

fn put_rpc_head(out: &mut Vec<u8>, id: &str) {
    out.extend_from_slice(b"{\"type\":\"rpc_response\",\"id\":");
    out.extend_from_slice(id.as_bytes());
}

fn rpc_id(fields: &Fields<'_>) -> Result<String, Refused> {
    let text = fields.get("id").unwrap_or_default();
    let plain_number = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit() || b == b'-');
    if text.len() <= MAX_ID && (plain_number || (text.starts_with('"') && text.len() > 2)) {
        return Ok(text.to_owned());
    }
    let message = "field `id`: expected a string that is not empty or a whole number, of at most 256 bytes";
    Err(refuse(Envelope::nobody(), Code::InvalidMessage, message))
}

fn rpc_method(fields: &Fields<'_>, id: &str) -> Result<String, Refused> {
    crate::field::read::<String>("method", fields.get("method"))
        .map(|method| method.replacen('.', "_", 1))
        .map_err(|error| Refused { envelope: Envelope::Rpc(id.to_owned()), error: error.into() })
}

fn text_field<'a>(fields: &Fields<'a>, name: &'static str) -> Result<Cow<'a, str>, Refused> {
    let json = fields.get(name);
    json.and_then(text_of).ok_or_else(|| {
        let found = json.map_or("nothing", kind_of);
        let error = FieldError { field: name, expected: String::EXPECTED, found };
        let error = ErrorBody { code: Code::InvalidMessage, ..error.into() };
        Refused { envelope: Envelope::nobody(), error }
    })
}

fn stands_twice(envelope: Envelope, key: &str) -> Refused {
    refuse(envelope, Code::InvalidMessage, format!("the key {:?} occurs twice", cut(key, 100)))
}

fn refuse(envelope: Envelope, code: Code, message: impl Into<String>) -> Refused {
    Refused { envelope, error: ErrorBody::new(code, message) }
}

fn cut(text: &str, chars: usize) -> String {
    text.chars().take(chars).collect()
}

#[cfg(test)]
mod tests {
    use super::super::{ConnectionRequest, Ping, PingResult};
    use super::*;

    #[test]
    fn a_chat_that_streams_has_a_name_of_its_own_in_rpc() {
        for (method, stream) in [("llm.chat", None), ("llm.chat_stream", Some(true))] {
            let frame = format!(r#"{{"type":"rpc","id":1,"method":"{method}","params":{{"messages":[]}}}}"#);
            let Request::Work(WorkRequest::Model(ModelRequest::LlmChat(chat))) =
                Incoming::parse(frame.as_bytes()).unwrap().request
            else {
                panic!("{method}")
            };
            assert_eq!(chat.stream, stream);
        }
    }

    fn refused(frame: &str) -> (String, &'static str) {
        let refused = Incoming::parse(frame.as_bytes()).unwrap_err();
        (refused.envelope.id().into_owned(), refused.error.code.as_str())
    }

    #[test]
    fn both_envelopes_carry_the_same_request() {
        let request = Request::Connection(ConnectionRequest::Ping(Ping { echo: Some("x".into()) }));
        for (frame, envelope) in [
            (r#"{"type":"ping","request_id":"1","echo":"x"}"#, Envelope::Typed("1".into())),
            (r#"{"type":"rpc","id":1,"method":"ping","params":{"echo":"x"}}"#, Envelope::Rpc("1".into())),
            (
                r#"{"params":{"echo":"x"},"id":"a","method":"ping","type":"rpc"}"#,
                Envelope::Rpc("\"a\"".into()),
            ),
        ] {
            let incoming = Incoming::parse(frame.as_bytes()).unwrap();
            assert_eq!(incoming, Incoming { envelope, request: request.clone() });
        }
        let dotted = Incoming::parse(br#"{"type":"rpc","id":1,"method":"list.servers"}"#).unwrap();
        assert_eq!(dotted.request.tag(), "list_servers");
    }

    #[test]
    fn what_is_wrong_is_said_to_the_right_request() {
        assert_eq!(refused("{"), (String::new(), "invalid_message"));
        assert_eq!(refused(r#"{"request_id":"1"}"#), (String::new(), "invalid_message"));
        assert_eq!(refused(r#"{"type":"ping"}"#), (String::new(), "invalid_message"));
        assert_eq!(refused(r#"{"type":"ping","request_id":""}"#), (String::new(), "invalid_message"));
        assert_eq!(refused(r#"{"type":"ping","request_id":"7","echo":1}"#), ("7".into(), "invalid_params"));
        assert_eq!(refused(r#"{"type":"nope","request_id":"7"}"#), ("7".into(), "unknown_message_type"));
        assert_eq!(refused(r#"{"type":"rpc","id":7}"#), ("7".into(), "invalid_params"));
        assert_eq!(
            refused(r#"{"type":"rpc","id":7,"method":"ping","params":[]}"#),
            ("7".into(), "invalid_params")
        );
        assert_eq!(
            refused(r#"{"type":"ping","request_id":"7","echo":"a","echo":"b"}"#),
            ("7".into(), "invalid_message")
        );
        assert_eq!(
            refused(r#"{"type":"ping","request_id":"7","request_id":"8"}"#),
            (String::new(), "invalid_message")
        );
        assert_eq!(refused(r#"{"type":"rpc","id":1.5,"method":"ping"}"#), (String::new(), "invalid_message"));
    }

    #[test]
    fn golden_replies() {
        let reply = PingResult { echo: None, timestamp: 5 };
        let error = ErrorBody::new(Code::NotFound, "no \"x\"").with("server_id", "x");
        let written = |envelope: &Envelope| {
            let mut out = Vec::new();
            envelope.put_reply(&mut out, "ping", &reply);
            out.push(b'\n');
            envelope.put_error(&mut out, &error);
            String::from_utf8(out).unwrap()
        };
        assert_eq!(
            written(&Envelope::Typed("1".into())),
            r#"{"type":"ping_result","request_id":"1","timestamp":5}
{"type":"error","request_id":"1","error":{"code":"not_found","message":"no \"x\"","details":{"server_id":"x"}}}"#
        );
        assert_eq!(
            written(&Envelope::Rpc("1".into())),
            r#"{"type":"rpc_response","id":1,"result":{"timestamp":5}}
{"type":"rpc_response","id":1,"error":{"code":-32004,"message":"no \"x\"","data":{"code":"not_found","details":{"server_id":"x"}}}}"#
        );
    }
}
