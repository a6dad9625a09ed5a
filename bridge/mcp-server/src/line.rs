//! Reads one line of the AI client: JSON-RPC, envelope only.
//!
//! Owns telling what a line is, and JSON-RPC's error numbers for a line that is no message. Must never judge
//! payloads, or repeat them.

use harbor_ipc_proto::json::Fields;
use serde::de::IgnoredAny;

/// The line is no JSON.
pub const PARSE_ERROR: i64 = -32700;
/// It is JSON, but no request.
pub const INVALID_REQUEST: i64 = -32600;
/// The code for an unknown method.
pub const NO_METHOD: i64 = -32601;
/// The parameters are wrong, or name a tool that does not exist.
pub const INVALID_PARAMS: i64 = -32602;
/// An MCP version that is not supported.
pub const UNSUPPORTED_VERSION: i64 = -32022;
/// The code for an unknown resource, in the older generation.
pub const NO_RESOURCE: i64 = -32002;
/// The code for a refusal by the bridge, or for a missing bridge.
pub const REFUSED: i64 = -32000;

/// A line, by its kind.
#[derive(Debug, PartialEq, Eq)]
pub enum Line<'a> {
    /// Something is asked; `id` and `params` are JSON text.
    Request { id: &'a str, method: String, params: &'a str },
    /// Something is told.
    Notification { method: String, params: &'a str },
    /// Something that was asked is answered: by a result or an error, JSON text.
    Response { id: &'a str, answer: Result<&'a str, &'a str> },
    /// An empty line.
    Nothing,
    /// Neither; `id` is that of the request, if it shows one.
    Wrong { id: Option<&'a str>, code: i64, message: &'static str },
}

/// Reads a line.
pub fn read(line: &[u8]) -> Line<'_> {
    if line.trim_ascii().is_empty() {
        return Line::Nothing;
    }
    let Ok(fields) = Fields::parse(line) else { return no_object(line) };
    let id = fields.get("id");
    let request_id = id.filter(|id| is_id(id));
    let wrong = |message| Line::Wrong { id: request_id, code: INVALID_REQUEST, message };
    if fields.twice().is_some() || fields.are_too_many() {
        return wrong("a member occurs twice, or there are too many");
    }
    if fields.get("jsonrpc") != Some("\"2.0\"") {
        return wrong("`jsonrpc` is not \"2.0\"");
    }
    let params = fields.get("params").unwrap_or("{}");
    match (fields.get("method").map(serde_json::from_str), id) {
        (Some(Err(_)), _) => wrong("`method` is not a string"),
        (Some(Ok(method)), None) => Line::Notification { method, params },
        (Some(Ok(method)), Some(id)) if is_id(id) => Line::Request { id, method, params },
        (Some(Ok(_)), Some(_)) => wrong("`id` is neither a string nor a number"),
        (None, Some(id)) if fields.get("result").or(fields.get("error")).is_some() => {
            let error = fields.get("error").unwrap_or("{}");
            Line::Response { id, answer: fields.get("result").ok_or(error) }
        }
        (None, _) => wrong("`method` is missing"),
    }
}

fn no_object(line: &[u8]) -> Line<'_> {
    let json = std::str::from_utf8(line).ok().map(serde_json::from_str::<IgnoredAny>);
    match json {
        Some(Ok(_)) => Line::Wrong {
            id: None,
            code: INVALID_REQUEST,
            message: "a message is one JSON object; batches are not accepted",
        },
        _ => Line::Wrong { id: None, code: PARSE_ERROR, message: "the line is not JSON" },
    }
}

/// True if this JSON text is a string or a number.
pub fn is_id(text: &str) -> bool {
    text.starts_with(|first: char| first == '"' || first == '-' || first.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn wrong(text: &str) -> (Option<&str>, i64) {
        match read(text.as_bytes()) {
            Line::Wrong { id, code, .. } => (id, code),
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn lines_are_told_apart() {
        let text = r#"{"jsonrpc":"2.0","id":"a","method":"x","params":{"n":12345678901234567890.10}}"#;
        let params = r#"{"n":12345678901234567890.10}"#;
        assert_eq!(read(text.as_bytes()), Line::Request { id: "\"a\"", method: "x".into(), params });
        let text = r#"{"jsonrpc":"2.0","method":"notifications/x"}"#;
        assert_eq!(
            read(text.as_bytes()),
            Line::Notification { method: "notifications/x".into(), params: "{}" }
        );
        for (text, answer) in [
            (r#"{"jsonrpc":"2.0","id":"a","result":{"x":1e2}}"#, Ok(r#"{"x":1e2}"#)),
            (r#"{"jsonrpc":"2.0","id":"a","error":{"code":1}}"#, Err(r#"{"code":1}"#)),
        ] {
            assert_eq!(read(text.as_bytes()), Line::Response { id: "\"a\"", answer }, "{text}");
        }
        for text in ["", " \r"] {
            assert_eq!(read(text.as_bytes()), Line::Nothing, "{text}");
        }
    }

    #[test]
    fn what_is_no_request_is_refused_under_its_id_where_it_shows_one() {
        for (text, id, code) in [
            ("hello", None, PARSE_ERROR),
            ("{\"id\":1", None, PARSE_ERROR),
            ("{} {}", None, PARSE_ERROR),
            ("7", None, INVALID_REQUEST),
            ("[]", None, INVALID_REQUEST),
            (r#"{"jsonrpc":"2.0"}"#, None, INVALID_REQUEST),
            (r#"{"jsonrpc":"2.0","id":1}"#, Some("1"), INVALID_REQUEST),
            (r#"{"id":1,"method":"ping"}"#, Some("1"), INVALID_REQUEST),
            (r#"{"jsonrpc":"2.0","id":1,"method":7}"#, Some("1"), INVALID_REQUEST),
            (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, None, INVALID_REQUEST),
            (r#"{"jsonrpc":"2.0","id":[1],"method":"ping"}"#, None, INVALID_REQUEST),
            (r#"{"jsonrpc":"2.0","id":1,"id":1,"method":"ping"}"#, Some("1"), INVALID_REQUEST),
        ] {
            assert_eq!(wrong(text), (id, code), "{text}");
        }
        assert!(matches!(
            read(b"{\"jsonrpc\":\"2.0\",\"x\":\"\xff\"}"),
            Line::Wrong { code: PARSE_ERROR, .. }
        ));
    }

    proptest! {
        #[test]
        fn whatever_comes_is_read(line in prop::collection::vec(any::<u8>(), 0..80)) {
            let _ = read(&line);
        }
    }
}
