//! Ids of servers on their way from the command line into a request.
//!
//! Must never let one through that the bridge would refuse: the refusal is the bridge's own.

use harbor_ipc_proto::codes::Code;
use harbor_ipc_proto::server_id::{self, ServerId};
use harbor_ipc_proto::source_id::{self, SourceId};

use crate::errors::Failure;

/// The id of a server, as a request has it.
///
/// # Errors
/// When the bridge would refuse it.
pub fn server_id(text: &str) -> Result<ServerId, Failure> {
    ServerId::parse(text).ok_or_else(|| wrong(server_id::RULE, text))
}

/// The id of a source, as a request has it.
///
/// # Errors
/// When the bridge would refuse it.
pub fn source_id(text: &str) -> Result<SourceId, Failure> {
    SourceId::parse(text).ok_or_else(|| wrong(source_id::RULE, text))
}

fn wrong(rule: &str, text: &str) -> Failure {
    let message = format!("field `server_id`: expected {rule}, found a string");
    Failure::refused(Code::InvalidParams, message, text)
}
