//! Results that the bridge writes itself, in MCP's form.
//!
//! Owns the form of a refusal: a result of its own kind. Its reader is to end the attempt and seek no other way.

use harbor_ipc_proto::json::{Fields, Json};
use serde_json::{Value, json};

use crate::link::{Failure, ServerAnswer};

/// The demand of a refusal to its reader.
const NO_WAY_AROUND: &str = "Do not try to reach this in another way; tell the person instead.";

/// A result with `value`, as text and as structured content.
pub(super) fn result(value: &Value) -> ServerAnswer {
    let result =
        json!({"content": [{"type": "text", "text": value.to_string()}], "structuredContent": value});
    ServerAnswer::Result(Json::from_valid(result.to_string()))
}

/// An argument that no call may have.
pub(super) fn wrong(path: &str, why: &str) -> ServerAnswer {
    ServerAnswer::Failed(Failure::InvalidArguments(path.to_owned(), why.to_owned()))
}

/// A failure of the tool: a word and a sentence.
pub(super) fn failed(code: &str, message: &str) -> ServerAnswer {
    let text = json!([{"type": "text", "text": message}]);
    let error = json!({"code": code, "message": message});
    let result = json!({"content": text, "structuredContent": {"error": error}, "isError": true});
    ServerAnswer::ToolError(Json::from_valid(result.to_string()))
}

/// A refusal.
pub(super) fn denied(reason: &str, message: &str) -> ServerAnswer {
    let text = json!([{"type": "text", "text": format!("Denied: {message}. {NO_WAY_AROUND}")}]);
    let denied = json!({"reason": reason, "message": message});
    let result = json!({"content": text, "structuredContent": {"denied": denied}, "isError": true});
    ServerAnswer::ToolError(Json::from_valid(result.to_string()))
}

/// The person has pressed Stop.
pub(super) fn stopped() -> ServerAnswer {
    denied("stopped", "the person has stopped your work in the browser")
}

/// The extension's answer, if it is MCP's CallToolResult.
pub(super) fn checked(result: Json) -> ServerAnswer {
    let (content, is_error) = {
        let fields = Fields::parse(result.as_str().as_bytes()).ok();
        let member = |name: &str| fields.as_ref().and_then(|fields| fields.get(name)).map(str::to_owned);
        (member("content"), member("isError"))
    };
    match (content, is_error) {
        (Some(content), Some(is_error)) if content.starts_with('[') && is_error == "true" => {
            ServerAnswer::ToolError(result)
        }
        (Some(content), _) if content.starts_with('[') => ServerAnswer::Result(result),
        _ => ServerAnswer::Failed(Failure::Malformed("the result has no content".into())),
    }
}
