//! Answers of the agent to what cannot be done.
//!
//! Must never repeat a word of a conversation.

use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_ipc_proto::codes::Code;

pub(super) fn busy() -> ErrorBody {
    let message = "a turn of this session is still running; wait for its end, or stop it (chat_stop)";
    ErrorBody::new(Code::RateLimited, message).with("reason", "busy")
}

pub(super) fn internal(error: &std::io::Error) -> ErrorBody {
    ErrorBody::new(Code::Internal, format!("this system gives no random numbers: {error}"))
}
