//! The audit log's record of a change to a server.
//!
//! Owns that it names the server, and nothing that was given to it.

use harbor_ipc_proto::server_id::ServerId;

use crate::store::audit::AuditRecord;

/// The record of a change that was allowed.
pub(crate) fn about(server: &ServerId) -> AuditRecord {
    AuditRecord { server: Some(server.shared()), decision: "allowed", ..AuditRecord::default() }
}
