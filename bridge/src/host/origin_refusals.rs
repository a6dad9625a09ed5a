//! The errors for an origin that does not get what it asks for: one place for code, sentence and next step.

use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_ipc_proto::codes::Code;
use harbor_ipc_proto::json::Json;
use harbor_ipc_proto::source_id::SourceId;
use harbor_policy::grants::Verdict;
use harbor_policy::limiter::LimitRefusalReason;
use harbor_policy::origin::Origin;
use harbor_policy::scope::Scope;

use super::asker::Asker;

/// The error for a check with this verdict.
pub(super) fn refused(asker: &Asker, scope: Scope, verdict: &Verdict) -> ErrorBody {
    let (origin, scope) = (&asker.origin, scope.as_str());
    let error = match verdict {
        Verdict::Granted(_) => ErrorBody::new(Code::Internal, "a granted request is not refused"),
        Verdict::Denied => ErrorBody::new(Code::PermissionDenied, format!("{origin} was denied {scope}")),
        Verdict::ToolNotAllowed => {
            let message = format!("{origin} may not use this tool: it is not among the allowed tools");
            ErrorBody::new(Code::ToolNotAllowed, message).with("reason", "allowlist")
        }
        Verdict::ScopeRequired { expired } => {
            let message = match expired {
                true => format!("the permission of {origin} for {scope} has ended; ask for it again"),
                false => format!("{origin} needs permission for {scope}; ask the person for it"),
            };
            let expired = Json::from_valid(expired.to_string());
            ErrorBody::new(Code::ScopeRequired, message).with_json("expired", expired)
        }
    };
    error.with("scope", scope).with("origin", origin.as_str())
}

/// The error for an offer besides tools, if not all tools of its server were allowed.
pub(super) fn not_all_tools(origin: &Origin, server: &SourceId) -> ErrorBody {
    let message = format!(
        "{origin} may use only some tools of {server}; its prompts and resources require all tools (`{server}/*`)"
    );
    ErrorBody::new(Code::ToolNotAllowed, message)
        .with("reason", "allowlist")
        .with("scope", Scope::McpToolsCall.as_str())
        .with("origin", origin.as_str())
}

/// The tool does not exist. Only those who were allowed to call it are told so.
pub(super) fn tool_not_found(server: &SourceId, tool: &str) -> ErrorBody {
    let message = format!("there is no tool {server}/{tool:.200}");
    ErrorBody::new(Code::ToolNotFound, message).with("server_id", server.as_str())
}

/// The server has more tools than Harbor keeps of one server.
pub(super) fn too_many_tools(server: &SourceId, tool: &str) -> ErrorBody {
    let message = format!(
        "{server} lists more tools than Harbor keeps for one server, and {server}/{tool:.200} is beyond that limit: \
         origins cannot use it"
    );
    let error = ErrorBody::new(Code::ToolNotAllowed, message);
    error.with("reason", "too_many_tools").with("server_id", server.as_str())
}

/// The tool is not as the person saw it.
pub(super) fn tool_changed(server: &SourceId, tool: &str) -> ErrorBody {
    let message = format!(
        "{server}/{tool:.200} has changed since it was first seen; the person must accept it (`harbor tools \
         --changed`) before it can be used again"
    );
    ErrorBody::new(Code::ToolNotAllowed, message)
        .with("reason", "tool_changed")
        .with("server_id", server.as_str())
}

/// Another program has the server's name.
pub(super) fn server_changed(server: &SourceId) -> ErrorBody {
    let message = format!(
        "{server} is now a different program than the allowed one; accept it before it can be used again: `harbor \
         accept {server}`"
    );
    let error = ErrorBody::new(Code::ToolNotAllowed, message);
    error.with("reason", "server_changed").with("server_id", server.as_str())
}

/// The permission that a call ran on was taken back.
pub(super) fn revoked(server: &SourceId, verdict: &Verdict) -> ErrorBody {
    let code = match verdict {
        Verdict::Denied => Code::PermissionDenied,
        Verdict::ToolNotAllowed => Code::ToolNotAllowed,
        Verdict::Granted(_) | Verdict::ScopeRequired { .. } => Code::ScopeRequired,
    };
    let message = format!(
        "the permission was revoked during the call, so Harbor told {server} to stop and dropped its result"
    );
    ErrorBody::new(code, message)
        .with("reason", "revoked")
        .with("server_id", server.as_str())
        .with("scope", Scope::McpToolsCall.as_str())
        .with_json("sent", Json::from_valid("true".into()))
}

/// Too many calls.
pub(super) fn rate_limited(origin: &str, server: &SourceId, refusal: LimitRefusalReason) -> ErrorBody {
    let (message, limit, retry) = match refusal {
        LimitRefusalReason::TooManyPerMinute { retry_after_ms } => {
            (format!("{origin} has made too many calls in this minute"), "per_minute", Some(retry_after_ms))
        }
        LimitRefusalReason::ServerTooManyPerMinute { retry_after_ms } => (
            format!("{server} has received too many calls in this minute"),
            "server_per_minute",
            Some(retry_after_ms),
        ),
        LimitRefusalReason::TooManyAtOnce => {
            (format!("too many calls of {origin} are open; wait for answers"), "concurrent", None)
        }
    };
    let error = ErrorBody::new(Code::RateLimited, format!("{message}. The call was not sent"))
        .with("limit", limit)
        .with_json("sent", Json::from_valid("false".into()));
    match retry {
        Some(retry) => error.with_json("retry_after_ms", Json::from_valid(retry.to_string())),
        None => error,
    }
}

/// Too many lists.
pub(super) fn too_many_lists(origin: &Origin, refusal: LimitRefusalReason) -> ErrorBody {
    let message = format!("{origin} has asked for its tools too often in this minute");
    let error = ErrorBody::new(Code::RateLimited, message).with("limit", "per_minute");
    match refusal {
        LimitRefusalReason::TooManyPerMinute { retry_after_ms } => {
            error.with_json("retry_after_ms", Json::from_valid(retry_after_ms.to_string()))
        }
        _ => error,
    }
}

/// The run is over its budget.
pub(super) fn budget_exceeded(run_id: &str) -> ErrorBody {
    let message = "the run has used its budget of calls; begin another run";
    ErrorBody::new(Code::BudgetExceeded, message)
        .with("run_id", run_id)
        .with_json("sent", Json::from_valid("false".into()))
}

/// The error for a run that does not exist, or is somebody else's.
pub(super) fn no_run(run_id: &str) -> ErrorBody {
    let message = "there is no such run; it has ended, or this client did not begin it for this origin";
    ErrorBody::new(Code::NotFound, message).with("run_id", run_id)
}
