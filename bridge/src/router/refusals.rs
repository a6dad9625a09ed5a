//! The errors for requests that no handler gets.
//!
//! Owns their words. Must never say anything of what the request carried.

use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_ipc_proto::client::{Attach, McpBegin, McpFollowMessages};
use harbor_ipc_proto::codes::Code;
use harbor_ipc_proto::field::Message as _;

/// The error for a request that comes, or waits, while the bridge ends.
#[must_use]
pub fn shutting_down() -> ErrorBody {
    ErrorBody::new(
        Code::ShuttingDown,
        "the bridge is shutting down; repeat the request, which starts it again",
    )
}

/// The error for a client for which no descriptor is left.
#[must_use]
pub fn crowded() -> ErrorBody {
    let message = "too many clients: the bridge cannot open more files. End some clients or servers, or raise its limit (`ulimit -n`, LimitNOFILE=) before its next start";
    ErrorBody::new(Code::RateLimited, message)
}

/// The error for a message that this client may not send.
pub(super) fn denied(tag: &str) -> ErrorBody {
    let message = match tag {
        Attach::TAG => "attach is the first frame of a connection and cannot be repeated".to_owned(),
        McpBegin::TAG | McpFollowMessages::TAG => format!("only an AI client sends {tag}: `harbor mcp`"),
        _ => format!("this connection may not send {tag}; only the owner may"),
    };
    ErrorBody::new(Code::PermissionDenied, message)
}
