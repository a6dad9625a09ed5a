//! Servers' questions to their client.
//!
//! Owns the answers that need nobody: roots from the definition. A question that the maker of the call could answer, but does
//! not, gets MCP's refusal, so that no server waits for an answer that will not come.

use harbor_ipc_proto::link::runner::AskAnswer;

use crate::link::{UNKNOWN_METHOD, nobody_answers};

/// JSON-RPC: there is no such method here.
const METHOD_NOT_FOUND: i64 = -32601;

/// Decides the answer to a question of a server with these roots. `unoffered`: it was told that no client answers.
pub(super) fn decide(roots: &[String], method: &str, unoffered: bool) -> AskAnswer<'static> {
    if method == "roots/list" && !roots.is_empty() {
        let roots: Vec<_> = roots.iter().map(|uri| serde_json::json!({ "uri": uri })).collect();
        return AskAnswer::Result(serde_json::json!({ "roots": roots }).to_string().into());
    }
    let message = match method {
        "roots/list" => "this server has no roots",
        "sampling/createMessage" | "elicitation/create" if unoffered => {
            "the client that made this call cannot answer such a question"
        }
        "sampling/createMessage" | "elicitation/create" => return nobody_answers(method),
        _ => UNKNOWN_METHOD,
    };
    AskAnswer::Refused { code: METHOD_NOT_FOUND, message: message.into() }
}
