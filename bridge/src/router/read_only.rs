//! The rules for a home that cannot be written to.
//!
//! Owns the list of requests that are still answered. Must never let a request through that would change something: its
//! change would be reported, and lost.

use std::path::Path;

use harbor_home::mounted::is_read_only;
use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_ipc_proto::client::{
    ApprovalsList, ApprovalsWatch, Attach, Cancel, GetConfig, GetDefinition, GetMetrics, GetSandbox,
    GetServerStatus, Health, Hello, HostGetPermissions, HostGetStats, HostListAllPermissions,
    HostListServers, HostListToolChanges, HostNameProfile, HostWatch, ListInstalled, ListServers,
    ListSources, LlmGetActive, LlmListBudgets, LlmListProviders, Ping, Shutdown, Status, SubscribeStatus,
    WatchServers,
};
use harbor_ipc_proto::codes::Code;
use harbor_ipc_proto::field::Message as _;
use harbor_ipc_proto::server_id::ServerId;

/// The requests that only read the tables, or are about the connection.
const READING: [&str; 29] = [
    ApprovalsList::TAG,
    ApprovalsWatch::TAG,
    Attach::TAG,
    Cancel::TAG,
    GetConfig::TAG,
    GetDefinition::TAG,
    GetMetrics::TAG,
    GetSandbox::TAG,
    GetServerStatus::TAG,
    Health::TAG,
    Hello::TAG,
    HostGetPermissions::TAG,
    HostGetStats::TAG,
    HostListAllPermissions::TAG,
    HostListServers::TAG,
    HostListToolChanges::TAG,
    HostNameProfile::TAG,
    HostWatch::TAG,
    ListInstalled::TAG,
    ListServers::TAG,
    ListSources::TAG,
    LlmGetActive::TAG,
    LlmListBudgets::TAG,
    LlmListProviders::TAG,
    Ping::TAG,
    Shutdown::TAG,
    Status::TAG,
    SubscribeStatus::TAG,
    WatchServers::TAG,
];

/// The refusal of a request if `home` is read-only. None if the request only reads.
pub(super) fn refused(home: Option<&Path>, tag: &str) -> Option<ErrorBody> {
    let home = home.filter(|_| !READING.contains(&tag))?;
    let message = format!(
        "{} is on a read-only file system, so Harbor can show servers, grants and status, but cannot start, call or change anything. Make it writable, run `harbor shutdown`, and try again",
        home.display()
    );
    Some(ErrorBody::new(Code::PermissionDenied, message).with("reason", "read_only_home"))
}

/// Checks that a server may be stopped that is to run again.
///
/// # Errors
/// When its home has become read-only under the bridge: it could not be started again.
pub(super) fn may_stop(home: &Path, id: &ServerId) -> Result<(), ErrorBody> {
    if !is_read_only(home) {
        return Ok(());
    }
    let message = format!(
        "{id} was not stopped, since {} is now on a read-only file system and it could not start again; make that writable and try again",
        home.display()
    );
    Err(ErrorBody::new(Code::PermissionDenied, message).with("reason", "read_only_home"))
}

#[cfg(test)]
mod tests {
    use harbor_ipc_proto::client::{AddServer, McpCallTool};

    use super::*;

    #[test]
    fn only_what_reads_is_answered_and_only_where_that_is_so() {
        let home = Some(Path::new("/h"));
        assert!(refused(None, AddServer::TAG).is_none() && refused(home, ListServers::TAG).is_none());
        assert!(
            refused(home, McpCallTool::TAG)
                .is_some_and(|error| error.message.starts_with("/h is on a read-only"))
        );
    }
}
