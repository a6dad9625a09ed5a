//! What servers ask of their client.
//!
//! Owns the answers that need nobody: roots from the definition. Everything else gets MCP's refusal until a
//! handler exists, so that no server waits for an answer that will not come.

use harbor_ipc_proto::link::runner::AskAnswer;

use super::server::Server;

/// JSON-RPC: there is no such method here.
const METHOD_NOT_FOUND: i64 = -32601;

/// Decides what a server's question is answered.
pub(super) fn decide(server: &Server, method: &str) -> AskAnswer<'static> {
    if method == "roots/list" && !server.roots().is_empty() {
        let roots: Vec<_> = server.roots().iter().map(|uri| serde_json::json!({ "uri": uri })).collect();
        return AskAnswer::Result(serde_json::json!({ "roots": roots }).to_string().into());
    }
    let message = match method {
        "roots/list" => "no roots are defined for this server",
        "sampling/createMessage" => "Harbor offers no sampling to this server",
        "elicitation/create" => "Harbor offers no elicitation to this server",
        _ => "Harbor does not know this method",
    };
    AskAnswer::Refused { code: METHOD_NOT_FOUND, message: message.into() }
}
