//! The requests that are measured, as bytes that were made once; only the id is written into them again.
//!
//! Must not allocate or format once a request is prepared.

use crate::Outcome;
use crate::ask::id;
use crate::wire::{Framing, excerpt};
use harbor_ipc_proto::client::answer::request_frame;
use harbor_ipc_proto::client::{HostCallTool, McpCallTool};
use harbor_ipc_proto::field::{Ask, JsonObject};
use harbor_ipc_proto::json::Json;
use harbor_tests::client::tool_call;
use serde_json::{Value, json};
use std::fmt::Display;

/// The server's id in Harbor.
pub const SERVER: &str = "bench";

/// The origin on whose behalf tools are called.
pub const ORIGIN: &str = "https://caller.example";

/// Ids have this many digits, all of them, so that every request of a kind has the same length.
const ID_DIGITS: usize = 10;

/// The first id; none is shorter.
pub const FIRST_ID: u64 = 1_000_000_000;

/// What is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Workload {
    /// 100 bytes of text there and back.
    Small,
    /// A short request, 64 KiB of text back.
    Text,
    /// A short request, 64 KiB of structured content back.
    Structured,
}

impl Workload {
    /// All of them, in the order of the reports; `as usize` is the place.
    pub const ALL: [Self; 3] = [Self::Small, Self::Text, Self::Structured];

    /// For reports.
    pub fn title(self) -> &'static str {
        match self {
            Self::Small => "100 B text",
            Self::Text => "64 KB text",
            Self::Structured => "64 KB structured content",
        }
    }

    /// The tool and its arguments.
    pub fn call(self) -> (&'static str, Value) {
        match self {
            Self::Small => ("echo", json!({ "text": "x".repeat(self.payload()) })),
            Self::Text => ("text", json!({ "n": self.payload() })),
            Self::Structured => ("structured", json!({ "n": self.payload() })),
        }
    }

    fn payload(self) -> usize {
        match self {
            Self::Small => 100,
            Self::Text | Self::Structured => 65_536,
        }
    }

    /// Whether an answer is what was asked for, told from its JSON.
    pub fn check(self, answer: &[u8], id: u64) -> Outcome<()> {
        let value: Value = serde_json::from_slice(answer)?;
        let of_id = value["id"] == json!(id) || value["request_id"] == json!(id.to_string());
        let result = &value["result"];
        let right_kind = match self {
            Self::Small | Self::Text => result["content"][0]["text"].is_string(),
            Self::Structured => result["structuredContent"].is_object(),
        };
        // Roughly the size that the tables name; what structure adds or lacks is the server's affair.
        let right_size = (self.payload() * 3 / 4..self.payload() * 2 + 1024).contains(&answer.len());
        if of_id && right_kind && right_size && result["isError"] != json!(true) {
            Ok(())
        } else {
            Err(format!("wrong answer to {}: {}", self.title(), excerpt(answer)).into())
        }
    }
}

/// By which message a tool is called, and so as whom.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Manner {
    /// `tools/call`, as any client of an MCP server.
    Plain,
    /// `tools/call` of a tool among those of all servers, as an AI client.
    Client,
    /// `mcp_call_tool`, as the owner.
    Owner,
    /// `host_call_tool`, as [`ORIGIN`].
    Origin,
}

impl Manner {
    /// How such messages are told apart.
    pub fn framing(self) -> Framing {
        match self {
            Self::Plain | Self::Client => Framing::Line,
            Self::Owner | Self::Origin => Framing::Length,
        }
    }

    /// The message that calls a tool with these arguments.
    pub fn json(self, tool: &str, arguments: &impl Display) -> String {
        match self {
            Self::Plain => format!(
                r#"{{"jsonrpc":"2.0","id":{FIRST_ID},"method":"tools/call","params":{{"name":"{tool}","arguments":{arguments}}}}}"#
            ),
            Self::Client => Self::Plain.json(&format!("{SERVER}__{tool}"), arguments),
            Self::Owner => {
                owners_call(SERVER, tool, arguments).map(|call| json_of(&call)).unwrap_or_default()
            }
            Self::Origin => json_of(&HostCallTool {
                origin: Some(ORIGIN.to_owned()),
                profile: None,
                tab_id: None,
                tool_name: format!("{SERVER}/{tool}"),
                args: Some(object(arguments)),
                timeout_ms: None,
                max_timeout_ms: None,
                run_id: None,
                progress: None,
                answers: None,
            }),
        }
    }
}

/// A call of a tool of any server, as the owner.
pub fn owners_call(server: &str, tool: &str, arguments: &impl Display) -> Outcome<McpCallTool> {
    Ok(tool_call(id(server)?, tool, arguments.to_string()))
}

fn object(text: &impl Display) -> JsonObject {
    JsonObject(Json::from_valid(text.to_string()))
}

/// The message that asks this under the first id.
fn json_of<A: Ask>(ask: &A) -> String {
    let frame = request_frame(&FIRST_ID.to_string(), ask);
    String::from_utf8_lossy(&frame[Framing::Length.json_at()..]).into_owned()
}

/// A prepared request, as often in a row as it may be sent at once.
#[derive(Debug, Clone)]
pub struct Request {
    bytes: Vec<u8>,
    length: usize,
    id_at: usize,
}

impl Request {
    /// Prepares a call for up to `copies` at once.
    pub fn call(manner: Manner, workload: Workload, copies: usize) -> Outcome<Self> {
        let (tool, arguments) = workload.call();
        Self::of_tool(manner, tool, &arguments, copies)
    }

    /// Prepares a call of any tool.
    pub fn of_tool(manner: Manner, tool: &str, arguments: &Value, copies: usize) -> Outcome<Self> {
        Self::of_json(&manner.json(tool, arguments), manner.framing(), copies)
    }

    /// Prepares a call of a tool of any server, as the owner.
    pub fn of_server(server: &str, tool: &str, arguments: &Value, copies: usize) -> Outcome<Self> {
        let json = json_of(&owners_call(server, tool, arguments)?);
        Self::of_json(&json, Manner::Owner.framing(), copies)
    }

    fn of_json(json: &str, framing: Framing, copies: usize) -> Outcome<Self> {
        let one = framing.wrap(json);
        let id_at = id_in(json)? + framing.json_at();
        Ok(Self { length: one.len(), bytes: one.repeat(copies), id_at })
    }

    /// Prepares a message behind a head, as HTTP has them.
    pub fn posted(head: &str, json: &str) -> Outcome<Self> {
        let bytes = [head.as_bytes(), json.as_bytes()].concat();
        Ok(Self { length: bytes.len(), bytes, id_at: id_in(json)? + head.len() })
    }

    /// The first `count` copies, with ids from `first_id` on.
    pub fn stamped(&mut self, first_id: u64, count: usize) -> &[u8] {
        for (id, copy) in (first_id..).zip(self.bytes.chunks_exact_mut(self.length)).take(count) {
            write_id(&mut copy[self.id_at..self.id_at + ID_DIGITS], id);
        }
        &self.bytes[..count * self.length]
    }
}

fn id_in(json: &str) -> Outcome<usize> {
    Ok(json.find(&FIRST_ID.to_string()).ok_or("the request lacks its id")?)
}

fn write_id(place: &mut [u8], id: u64) {
    let mut rest = id;
    for digit in place.iter_mut().rev() {
        // A remainder of ten fits.
        *digit = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_id_differs_between_copies() {
        for manner in [Manner::Plain, Manner::Client, Manner::Owner, Manner::Origin] {
            let mut request = Request::call(manner, Workload::Small, 2).unwrap();
            let text = String::from_utf8_lossy(request.stamped(1_234_567_899, 2)).into_owned();
            let half = text.len() / 2;
            assert!(text[..half].contains("1234567899") && text[half..].contains("1234567900"));
            assert_eq!(text[..half].replace("1234567899", "1234567900"), text[half..]);
        }
    }

    #[test]
    fn an_answer_with_another_id_or_an_error_is_wrong() {
        let answer = |id: u64, key: &str| {
            let text = "x".repeat(100);
            format!(r#"{{"id":{id},"{key}":{{"content":[{{"type":"text","text":"{text}"}}]}}}}"#).into_bytes()
        };
        assert!(Workload::Small.check(&answer(7, "result"), 7).is_ok());
        assert!(Workload::Small.check(&answer(8, "result"), 7).is_err());
        assert!(Workload::Small.check(&answer(7, "error"), 7).is_err());
    }
}
