//! The message of a POST: the parts of it that HTTP has to know.
//!
//! Owns reading its envelope, and comparing it with the headers that repeat parts of it. Pure. The machine
//! knows what the message means.

use std::collections::{HashMap, HashSet};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use harbor_ipc_proto::json::Fields;
use hyper::header::{HeaderMap, HeaderName};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::gate::one;
use super::reply::Refusal;
use super::routes::Asked;
use crate::line::{INVALID_PARAMS, INVALID_REQUEST, PARSE_ERROR, UNSUPPORTED_VERSION, is_id};
use crate::want::text;
use crate::write::{self, LEGACY, MODERN};

/// A header does not say what the message says.
const HEADER_MISMATCH: i64 = -32020;

const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
const METHOD: HeaderName = HeaderName::from_static("mcp-method");
const NAME: HeaderName = HeaderName::from_static("mcp-name");

/// The beginning of a header's name that repeats an argument.
const PARAM: &str = "mcp-param-";

/// The most bytes of JSON of an argument in a header.
const MAX_PARAM: usize = 64 * 1024;

/// The member with which a request shows its revision without `initialize`.
const VERSION_OF_REQUEST: &str = "io.modelcontextprotocol/protocolVersion";

/// The longest id or progress token, in bytes of JSON: they are kept as long as their request is open.
const MAX_ID: usize = 256;

/// The longest name of a client's program that is shown.
const SHOWN: usize = 60;

/// A message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// Absent: it is a notification.
    pub asked: Option<Asked>,
    /// Absent: it is a response.
    pub method: Option<String>,
    /// The request that it cancels, JSON text.
    pub cancelled: Option<String>,
    /// The thing that the method is about, where a header repeats it.
    subject: Option<String>,
    /// The revision that it shows.
    version: Option<String>,
    /// The state that the request was given before, if it is made again with answers.
    pub state: Option<String>,
    /// The client's program, as it calls itself.
    pub program: Option<String>,
}

impl Message {
    /// Reads a body.
    pub fn read(body: &[u8]) -> Result<Self, Refusal> {
        let wrong = |code, text| Refusal::of_request(None, code, text, None);
        let Ok(fields) = Fields::parse(body) else {
            return Err(match body.trim_ascii_start().first() {
                Some(b'[') => {
                    wrong(INVALID_REQUEST, "a message is one JSON object; batches are not accepted")
                }
                _ => wrong(PARSE_ERROR, "the body is not a JSON object"),
            });
        };
        if fields.twice().is_some() || fields.are_too_many() || fields.get("jsonrpc") != Some("\"2.0\"") {
            return Err(wrong(INVALID_REQUEST, "the body is not a JSON-RPC 2.0 message"));
        }
        let id = fields.get("id");
        if id.is_some_and(|id| !is_id(id)) {
            return Err(wrong(INVALID_REQUEST, "`id` is neither a string nor a number"));
        }
        if id.is_some_and(|id| id.len() > MAX_ID) {
            return Err(wrong(INVALID_REQUEST, "`id` is longer than 256 bytes"));
        }
        let method = text(&fields, "method");
        let answers = fields.get("result").or(fields.get("error")).is_some();
        if method.is_none() && (id.is_none() || !answers) {
            return Err(wrong(INVALID_REQUEST, "`method` is missing"));
        }
        let inner = |text: Option<&'_ str>| text.map(str::to_owned).unwrap_or_default();
        let params = inner(fields.get("params"));
        let params = Fields::parse(params.as_bytes()).unwrap_or_default();
        let (meta, info) = (inner(params.get("_meta")), inner(params.get("clientInfo")));
        let meta = Fields::parse(meta.as_bytes()).unwrap_or_default();
        let info = Fields::parse(info.as_bytes()).unwrap_or_default();
        let token = meta.get("progressToken").map(str::to_owned);
        if token.as_ref().is_some_and(|token| token.len() > MAX_ID) {
            return Err(wrong(INVALID_REQUEST, "`progressToken` is longer than 256 bytes"));
        }
        let cancels = id.is_none() && method.as_deref() == Some("notifications/cancelled");
        Ok(Self {
            cancelled: params.get("requestId").filter(|_| cancels).map(str::to_owned),
            asked: id.filter(|_| method.is_some()).map(|id| Asked { id: id.to_owned(), token }),
            subject: text(&params, if method.as_deref() == Some("resources/read") { "uri" } else { "name" }),
            version: text(&meta, VERSION_OF_REQUEST),
            state: text(&params, "requestState"),
            program: text(&info, "name").map(|name| shown(&name)),
            method,
        })
    }

    /// True if the message belongs to the generation without sessions.
    pub fn is_modern(&self, headers: &HeaderMap) -> bool {
        self.version.is_some() || one(headers, &VERSION) == Some(MODERN)
    }

    /// Refuses a message of that generation whose headers say something else, or a revision that is not spoken.
    pub fn check_modern(&self, headers: &HeaderMap) -> Result<(), Refusal> {
        let version = self.version.as_deref();
        if one(headers, &VERSION) != version {
            return Err(self.mismatch("MCP-Protocol-Version"));
        }
        if version != Some(MODERN) {
            return Err(self.unsupported(version.unwrap_or_default()));
        }
        if one(headers, &METHOD) != self.method.as_deref() {
            return Err(self.mismatch("Mcp-Method"));
        }
        let is_named =
            matches!(self.method.as_deref(), Some("tools/call" | "resources/read" | "prompts/get"));
        if is_named && one(headers, &NAME).and_then(decoded) != self.subject {
            return Err(self.mismatch("Mcp-Name"));
        }
        Ok(())
    }

    /// Refuses a call with a header `Mcp-Param-…` that repeats no argument of this body. The tool's schema
    /// names the argument, but is not read here.
    pub fn check_params(&self, body: &[u8], headers: &HeaderMap) -> Result<(), Refusal> {
        let mut repeated = headers.iter().filter(|(name, _)| name.as_str().starts_with(PARAM)).peekable();
        if self.method.as_deref() != Some("tools/call") || repeated.peek().is_none() {
            return Ok(());
        }
        let texts = arguments(body).unwrap_or_default();
        let says = |text: Option<String>| text.is_some_and(|text| texts.contains(&text));
        match repeated.find(|(_, value)| !says(value.to_str().ok().and_then(decoded))) {
            Some((name, _)) => Err(self.mismatch(name.as_str())),
            None => Ok(()),
        }
    }

    /// The refusal of a repeated request that belongs to no waiting request.
    pub fn no_state(&self) -> Refusal {
        let why = "`requestState` belongs to no request that waits for answers; send the request again";
        Refusal::of_request(self.asked.as_ref().map(|asked| asked.id.as_str()), INVALID_PARAMS, why, None)
    }

    /// Refuses a message of the older generation that names a revision that is not spoken.
    pub fn check_legacy(&self, headers: &HeaderMap) -> Result<(), Refusal> {
        match headers.contains_key(VERSION).then(|| one(headers, &VERSION).unwrap_or_default()) {
            Some(version) if !LEGACY.contains(&version) => Err(self.unsupported(version)),
            _ => Ok(()),
        }
    }

    fn mismatch(&self, header: &str) -> Refusal {
        let text = format!("the header {header} does not match the message");
        Refusal::of_request(self.id(), HEADER_MISMATCH, &text, None)
    }

    fn unsupported(&self, version: &str) -> Refusal {
        let text = "this MCP version is not supported";
        Refusal::of_request(self.id(), UNSUPPORTED_VERSION, text, Some(&write::supported(version)))
    }

    fn id(&self) -> Option<&str> {
        self.asked.as_ref().map(|asked| asked.id.as_str())
    }
}

/// A call's message, with its arguments unchanged.
#[derive(Deserialize)]
struct CallMessage<'a> {
    #[serde(borrow, default)]
    params: Params<'a>,
}

#[derive(Default, Deserialize)]
struct Params<'a> {
    #[serde(borrow, default)]
    arguments: HashMap<String, &'a RawValue>,
}

/// The arguments of a call, each one as a header would have it.
fn arguments(body: &[u8]) -> Option<HashSet<String>> {
    let call: CallMessage<'_> = serde_json::from_slice(body).ok()?;
    let text = |value: &RawValue| match serde_json::from_str(value.get()).ok()? {
        Value::String(text) => Some(text),
        Value::Bool(flag) => Some(flag.to_string()),
        Value::Number(number) => Some(number.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    };
    let short = call.params.arguments.values().filter(|value| value.get().len() <= MAX_PARAM);
    Some(short.filter_map(|value| text(value)).collect())
}

/// A header's value that may be encoded.
fn decoded(value: &str) -> Option<String> {
    match value.strip_prefix("=?base64?").and_then(|rest| rest.strip_suffix("?=")) {
        Some(encoded) => String::from_utf8(STANDARD.decode(encoded).ok()?).ok(),
        None => Some(value.to_owned()),
    }
}

/// A program's own name, made harmless for a line of a log.
fn shown(name: &str) -> String {
    name.chars().filter(|c| c.is_ascii_graphic() || *c == ' ').take(SHOWN).collect()
}

#[cfg(test)]
mod tests;
