//! Writes the lines that go to a server.
//!
//! Owns the shape of requests, notifications and answers. JSON that came from a client is put in as it is,
//! except that raw line ends in it (only possible between tokens) become spaces: a line is a message.

use std::borrow::Cow;

use harbor_ipc_proto::link::runner::{Era, Operation};
use harbor_ipc_proto::strings::put_str;

use super::contact::MODERN;

/// Harbor's name for servers.
const CLIENT_INFO: &str = concat!("{\"name\":\"harbor\",\"version\":\"", env!("CARGO_PKG_VERSION"), "\"}");

/// Bytes around the name and the arguments of a call.
const AROUND: usize = 32;

/// Facts that each request tells a server of the modern generation.
#[derive(Debug, Clone, Default)]
pub struct RequestMeta {
    /// True if the server may ask for roots.
    pub offers_roots: bool,
    /// The level at which it shall log, MCP's word.
    pub log_level: Option<String>,
}

/// One request: its method and what stands in its params, `_meta` aside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// MCP's method.
    pub method: Cow<'static, str>,
    /// Members of the params object without its braces; may be empty.
    pub members: Vec<u8>,
    /// True if the request declares the tasks extension.
    pub tasks: bool,
    /// The requests that its caller can answer, JSON object: MCP's client capabilities.
    pub capabilities: Option<String>,
}

impl Request {
    /// A request with these members.
    pub fn new(method: impl Into<Cow<'static, str>>, members: Vec<u8>) -> Self {
        Self { method: method.into(), members, tasks: false, capabilities: None }
    }

    /// The request for `operation`; `None` for those that are more than one request, or none, or depend on
    /// the generation.
    pub fn of(operation: &Operation<'_>, era: Era) -> Option<Self> {
        let mut members = Vec::new();
        let (method, tasks) = match operation {
            Operation::CallTool { name, arguments, task } => {
                members.reserve_exact(AROUND + name.len() + arguments.len());
                put_member(&mut members, "name", Value::Text(name));
                put_member(&mut members, "arguments", Value::Json(arguments));
                if let (Some(task), Era::Legacy) = (task, era) {
                    put_member(&mut members, "task", Value::Json(task));
                }
                ("tools/call", task.is_some())
            }
            Operation::ReadResource { uri } => {
                put_member(&mut members, "uri", Value::Text(uri));
                ("resources/read", false)
            }
            Operation::GetPrompt { name, arguments } => {
                put_member(&mut members, "name", Value::Text(name));
                put_member(&mut members, "arguments", Value::Json(arguments));
                ("prompts/get", false)
            }
            Operation::Complete { reference, argument, context } => {
                put_member(&mut members, "ref", Value::Json(reference));
                put_member(&mut members, "argument", Value::Json(argument));
                if let Some(context) = context {
                    put_member(&mut members, "context", Value::Json(context));
                }
                ("completion/complete", false)
            }
            Operation::Task { method, params } => {
                put_raw(&mut members, inner(params));
                return Some(Self { tasks: true, ..Self::new(method.clone().into_owned(), members) });
            }
            _ => return None,
        };
        Some(Self { tasks, ..Self::new(method, members) })
    }
}

/// The members of an object, without its braces.
fn inner(object: &str) -> &str {
    let inner = object.trim().strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
    inner.unwrap_or_default().trim()
}

enum Value<'a> {
    Text(&'a str),
    Json(&'a str),
}

fn put_member(out: &mut Vec<u8>, name: &str, value: Value<'_>) {
    if !out.is_empty() {
        out.push(b',');
    }
    put_str(out, name);
    out.push(b':');
    match value {
        Value::Text(text) => put_str(out, text),
        Value::Json(json) => put_raw(out, json),
    }
}

/// Appends one member whose value is JSON text.
pub fn put_json_member(out: &mut Vec<u8>, name: &str, json: &str) {
    put_member(out, name, Value::Json(json));
}

/// Appends one member whose value is a string.
pub fn put_text_member(out: &mut Vec<u8>, name: &str, text: &str) {
    put_member(out, name, Value::Text(text));
}

/// Appends JSON text on one line.
fn put_raw(out: &mut Vec<u8>, json: &str) {
    let start = out.len();
    out.extend_from_slice(json.as_bytes());
    if memchr::memchr2(b'\n', b'\r', &out[start..]).is_some() {
        for byte in &mut out[start..] {
            if matches!(*byte, b'\n' | b'\r') {
                *byte = b' ';
            }
        }
    }
}

fn put_number(out: &mut Vec<u8>, number: u64) {
    out.extend_from_slice(number.to_string().as_bytes());
}

/// Appends a request line with the id `id`. `token` asks for progress.
pub fn put_request(
    out: &mut Vec<u8>,
    id: u64,
    request: &Request,
    token: Option<u64>,
    meta: Option<&RequestMeta>,
) {
    out.extend_from_slice(b"{\"jsonrpc\":\"2.0\",\"id\":");
    put_number(out, id);
    out.extend_from_slice(b",\"method\":\"");
    out.extend_from_slice(request.method.as_bytes());
    out.extend_from_slice(b"\",\"params\":{");
    out.extend_from_slice(&request.members);
    if token.is_some() || meta.is_some() {
        if !request.members.is_empty() {
            out.push(b',');
        }
        out.extend_from_slice(b"\"_meta\":{");
        put_meta(out, token, meta, request);
        out.push(b'}');
    }
    out.extend_from_slice(b"}}\n");
}

fn put_meta(out: &mut Vec<u8>, token: Option<u64>, meta: Option<&RequestMeta>, request: &Request) {
    if let Some(token) = token {
        out.extend_from_slice(b"\"progressToken\":");
        put_number(out, token);
    }
    let Some(meta) = meta else { return };
    if token.is_some() {
        out.push(b',');
    }
    out.extend_from_slice(b"\"io.modelcontextprotocol/protocolVersion\":\"");
    out.extend_from_slice(MODERN.as_bytes());
    out.extend_from_slice(b"\",\"io.modelcontextprotocol/clientInfo\":");
    out.extend_from_slice(CLIENT_INFO.as_bytes());
    out.extend_from_slice(b",\"io.modelcontextprotocol/clientCapabilities\":");
    put_capabilities(out, meta.offers_roots, request.tasks, request.capabilities.as_deref());
    if let Some(level) = &meta.log_level {
        out.extend_from_slice(b",\"io.modelcontextprotocol/logLevel\":");
        put_str(out, level);
    }
}

fn put_capabilities(out: &mut Vec<u8>, roots: bool, tasks: bool, answers: Option<&str>) {
    let mut members = Vec::new();
    put_raw(&mut members, answers.map_or("", inner));
    if roots {
        put_member(&mut members, "roots", Value::Json("{}"));
    }
    if tasks {
        put_member(&mut members, "extensions", Value::Json("{\"io.modelcontextprotocol/tasks\":{}}"));
    }
    out.push(b'{');
    out.extend_from_slice(&members);
    out.push(b'}');
}

/// The probe of the modern generation.
pub fn discover() -> Request {
    Request::new("server/discover", Vec::new())
}

/// The questions that servers of the legacy generation may ask: they are told once for all callers. The caller decides if
/// somebody answers.
const ASKABLE: &str = "{\"sampling\":{},\"elicitation\":{}}";

/// The handshake of the legacy generation.
pub fn initialize(offers_roots: bool, revision: &str) -> Request {
    let mut capabilities = Vec::new();
    put_capabilities(&mut capabilities, offers_roots, false, Some(ASKABLE));
    let mut members = Vec::new();
    put_member(&mut members, "protocolVersion", Value::Text(revision));
    members.extend_from_slice(b",\"capabilities\":");
    members.extend_from_slice(&capabilities);
    put_member(&mut members, "clientInfo", Value::Json(CLIENT_INFO));
    Request::new("initialize", members)
}

/// Appends a notification line; `members` as in [`Request`].
pub fn put_notification(out: &mut Vec<u8>, method: &str, members: &[u8]) {
    out.extend_from_slice(b"{\"jsonrpc\":\"2.0\",\"method\":\"");
    out.extend_from_slice(method.as_bytes());
    out.push(b'"');
    if !members.is_empty() {
        out.extend_from_slice(b",\"params\":{");
        out.extend_from_slice(members);
        out.push(b'}');
    }
    out.extend_from_slice(b"}\n");
}

/// Appends `notifications/cancelled` for the request `id`.
pub fn put_cancelled(out: &mut Vec<u8>, id: u64, reason: &str) {
    let mut members = Vec::new();
    put_member(&mut members, "requestId", Value::Json(&id.to_string()));
    put_member(&mut members, "reason", Value::Text(reason));
    put_notification(out, "notifications/cancelled", &members);
}

/// Appends the answer to a server's request; `id` is the JSON text that the server gave.
pub fn put_answer(out: &mut Vec<u8>, id: &str, answer: Result<&str, (i64, &str)>) {
    out.extend_from_slice(b"{\"jsonrpc\":\"2.0\",\"id\":");
    out.extend_from_slice(id.as_bytes());
    match answer {
        Ok(result) => {
            out.extend_from_slice(b",\"result\":");
            put_raw(out, result);
        }
        Err((code, message)) => {
            out.extend_from_slice(format!(",\"error\":{{\"code\":{code},\"message\":").as_bytes());
            put_str(out, message);
            out.push(b'}');
        }
    }
    out.extend_from_slice(b"}\n");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(write: impl FnOnce(&mut Vec<u8>)) -> String {
        let mut out = Vec::new();
        write(&mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn golden_lines() {
        let operation =
            Operation::CallTool { name: "a\"b".into(), arguments: "{\n\"x\": 1e2}".into(), task: None };
        let call = Request::of(&operation, Era::Legacy).unwrap();
        assert_eq!(
            text(|out| put_request(out, 7, &call, Some(7), None)),
            "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/call\",\"params\":{\"name\":\"a\\\"b\",\
             \"arguments\":{ \"x\": 1e2},\"_meta\":{\"progressToken\":7}}}\n"
        );
        assert_eq!(
            text(|out| put_request(out, 1, &discover(), None, Some(&RequestMeta::default()))),
            format!(
                "{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"server/discover\",\"params\":{{\"_meta\":{{\
                 \"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\",\
                 \"io.modelcontextprotocol/clientInfo\":{CLIENT_INFO},\
                 \"io.modelcontextprotocol/clientCapabilities\":{{}}}}}}}}\n"
            )
        );
        assert_eq!(
            text(|out| put_request(out, 2, &initialize(true, "2025-11-25"), None, None)),
            format!(
                "{{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"initialize\",\"params\":{{\"protocolVersion\":\
                 \"2025-11-25\",\"capabilities\":{{\"sampling\":{{}},\"elicitation\":{{}},\"roots\":{{}}}},\"clientInfo\":{CLIENT_INFO}}}}}\n"
            )
        );
        assert_eq!(
            text(|out| put_cancelled(out, 7, "timeout")),
            "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":7,\"reason\":\"timeout\"}}\n"
        );
        assert_eq!(
            text(|out| put_answer(out, "\"q\"", Err((-32601, "no")))),
            "{\"jsonrpc\":\"2.0\",\"id\":\"q\",\"error\":{\"code\":-32601,\"message\":\"no\"}}\n"
        );
        assert_eq!(
            text(|out| put_notification(out, "notifications/initialized", b"")),
            "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n"
        );
    }
}
