//! Ids of servers on their way from the command line into a request.
//!
//! Must never let one through that the bridge would refuse: the refusal is the bridge's own.

use harbor_ipc_proto::codes::Code;
use harbor_ipc_proto::server_id::{RULE, ServerId};

use crate::errors::Failure;

/// The id of a server, as a request has it.
pub fn server_id(text: &str) -> Result<ServerId, Failure> {
    let wrong = || format!("field `server_id`: expected {RULE}, found a string");
    ServerId::parse(text).ok_or_else(|| Failure::refused(Code::InvalidParams, wrong(), text))
}
