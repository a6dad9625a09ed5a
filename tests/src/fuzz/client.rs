//! Client messages: what is taken has a known type, what is refused can be answered, and goes to whom it belongs.

use harbor_ipc_proto::client::REQUESTS;
use harbor_ipc_proto::client::envelope::{Envelope, ErrorBody, Incoming};
use harbor_ipc_proto::codes::Code;

use super::Target;
use super::json::{Pairs, string};

pub(super) const ENVELOPE: Target = Target { name: "envelope", run: envelope, corpus: CORPUS };

pub(super) const ADDRESSEE: Target = Target { name: "addressee", run: addressee, corpus: CORPUS };

/// One of each kind of field, in both envelopes, and what is wrong in the usual ways.
const CORPUS: &[&[u8]] = &[
    br#"{"type":"ping","request_id":"1","echo":"x"}"#,
    br#"{"type":"attach","request_id":"1","token":"t","role":"cli","protocol":1,"build":"b","client":null}"#,
    br#"{"type":"hello","request_id":"1","protocol":1,"client":"c","chunks":true,"max_frame":1048576}"#,
    br#"{"type":"cancel","request_id":"2","target":"1"}"#,
    // One byte too many.
    br#"{"type":"ping","request_id":"nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn"}"#,
    br#"{"type":"shutdown","request_id":"1"}"#,
    br#"{"type":"add_server","request_id":"3","server_id":"time","command":"node","args":["a.js"],"env":{"A":"b"},"cwd":"/","roots":["file:///"],"supervision":{"restart":"always","restart_attempts":"unlimited","restart_delays_ms":[1,2],"lazy":true},"as_is":true}"#,
    br#"{"type":"list_servers","request_id":"\u0000\"\\"}"#,
    br#"{"type":"mcp_call_tool","request_id":"4","server_id":"time","tool_name":"t","arguments":{"n":12345678901234567890},"timeout_ms":5,"progress":true,"task":{"ttl":1}}"#,
    br#"{"type":"mcp_complete","request_id":"5","server_id":"a","reference":{"type":"ref/prompt"},"argument":{"name":"n"},"context":{}}"#,
    br#"{"type":"mcp_get_logs","request_id":"6","server_id":"a","limit":18446744073709551615,"follow":true}"#,
    br#"{"type":"watch_servers","request_id":"6","watch":false}"#,
    br#"{"type":"rpc","id":1,"method":"ping","params":{"echo":"x"}}"#,
    br#"{"params":{"server_id":"a","uri":"u"},"id":"a","method":"mcp.read_resource","type":"rpc"}"#,
    br#"{"type":"rpc","id":-7,"method":"mcp_task","params":{"server_id":"a","method":"tasks/get","arguments":{}}}"#,
    br#"{"type":"rpc","id":1.5,"method":"ping"}"#,
    br#"{"type":"rpc","id":"\ud800","method":"nope"}"#,
    br#"{"type":"rpc","id":{},"method":"ping"}"#,
    br#"{"type":"nope","request_id":"7"}"#,
    br#"{"type":"nopenopenopenopenopenopenopenopenopenopenopenopenopenopenopenopenopenopenopenopenopenopenopenopenope","request_id":"7"}"#,
    br#"{"type":"ping","request_id":"7","echo":1}"#,
    br#"{"type":"ping","request_id":"7","params":{"a":1}}"#,
    br#"{"type":"ping","request_id":"7","params":7}"#,
    br#"{"type":"rpc","id":7,"method":"ping","params":null}"#,
    br#"{"type":"rpc","id":7,"method":"ping","params":[{"a":1}]}"#,
    br#"{"type":"ping","request_id":"","echo":"a"}"#,
    br#"{"type":"ping","request_id":"1","request_id":"2"}"#,
    b"{",
    b"[]",
];

/// An error without its id: a sentence, and what it repeats of the input.
const MAX_ERROR: usize = 1000;

/// So many characters of a type that nobody knows are repeated.
const MAX_RECEIVED: usize = 100;

fn envelope(frame: &[u8]) {
    match Incoming::parse(frame) {
        Ok(incoming) => {
            let tag = incoming.request.tag();
            assert!(REQUESTS.iter().any(|request| request.tag == tag), "{tag}");
            assert!(!incoming.envelope.id().is_empty(), "a request that cannot be answered");
            let error = ErrorBody::new(Code::Internal, "no");
            put_and_check(&incoming.envelope, &error);
        }
        Err(refused) => {
            put_and_check(&refused.envelope, &refused.error);
            put_and_check(&Envelope::Rpc("7".into()), &refused.error);
            put_and_check(&Envelope::Typed("7".into()), &refused.error);
        }
    }
}

/// Written around an error, the envelope is valid JSON of the documented shape, and carries its id.
fn put_and_check(envelope: &Envelope, error: &ErrorBody) {
    let mut out = Vec::new();
    envelope.put_error(&mut out, error);
    let reply = Pairs::unique(&out).unwrap_or_else(|| panic!("no object: {}", out.escape_ascii()));
    let (kind, id) = match envelope {
        Envelope::Typed(id) => {
            assert_eq!(reply.keys(), ["type", "request_id", "error"]);
            assert_eq!(reply.get("request_id").and_then(string).as_ref(), Some(id));
            ("\"error\"", id)
        }
        Envelope::Rpc(id) => {
            assert_eq!(reply.keys(), ["type", "id", "error"]);
            assert_eq!(reply.get("id"), Some(id.as_str()));
            assert!(id.starts_with('"') || id.parse::<f64>().is_ok(), "neither a string nor a number: {id}");
            ("\"rpc_response\"", id)
        }
    };
    assert_eq!(reply.get("type"), Some(kind));
    // Control characters of an id take six bytes each when they are written.
    assert!(out.len() <= MAX_ERROR + 6 * id.len(), "an error of {} bytes", out.len());
    let body = Pairs::unique(reply.get("error").unwrap().as_bytes()).unwrap();
    assert_eq!(body.get("message").and_then(string).as_deref(), Some(error.message.as_str()));
    let received = error.details.iter().find(|(name, _)| *name == "received_type");
    let received = received.and_then(|(_, text)| string(text.as_str())).unwrap_or_default();
    assert!(received.chars().count() <= MAX_RECEIVED);
}

/// Longer ids are none, in bytes of their text.
const MAX_ID: usize = 256;

/// A request that shows its id is answered under it, whatever else is wrong with it.
fn addressee(frame: &[u8]) {
    let Some(pairs) = Pairs::unique(frame) else { return };
    let Some(kind) = pairs.get("type").and_then(string) else { return };
    let wanted = if kind == "rpc" {
        // Strings by their text: an escape that is no character is still the client's id.
        let is_string = |id: &str| id.starts_with('"') && (3..=MAX_ID).contains(&id.len());
        let id = pairs.get("id").filter(|id| id.parse::<i64>().is_ok() || is_string(id));
        id.map(|id| Envelope::Rpc(id.to_owned()))
    } else {
        let id = pairs.get("request_id").and_then(string).filter(|id| (1..=MAX_ID).contains(&id.len()));
        id.map(Envelope::Typed)
    };
    let Some(wanted) = wanted else { return };
    let answered = match Incoming::parse(frame) {
        Ok(incoming) => incoming.envelope,
        Err(refused) => refused.envelope,
    };
    assert_eq!(answered, wanted, "the answer goes to somebody else");
}
