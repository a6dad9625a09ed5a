//! Requests about permissions, and what is done for origins.

use super::super::define_requests;
use crate::field::JsonObject;
use crate::server_id::ServerId;
use crate::source_id::SourceId;

define_requests! {
    /// Any request about permissions, and what is done for origins.
    HostRequest:
    /// Records what a person allows or forbids an origin. A DENY wins over whatever else is granted, until it is revoked.
    "host_grant_permission" HostGrantPermission -> HostGrantPermissionResult {
        /// The origin: `https://example.com`, or `client://NAME` for an AI client.
        origin: String,
        /// Which of the origin's profiles; `default` when absent.
        profile: Option<String>,
        /// What for, such as `mcp:tools.call`.
        scope: String,
        /// `ALLOW_ONCE` (when absent; in memory, ends with the bridge), `ALLOW_ALWAYS` or `DENY` (both on disk).
        grant_type: Option<String>,
        /// ALLOW_ONCE: only for calls with this tab of the browser session that the connection's `hello` names.
        tab_id: Option<u64>,
        /// ALLOW_ONCE: when it ends, in milliseconds since 1970; after `grants.onceSeconds` when absent.
        expires_at: Option<u64>,
        /// Tools that it is for, `server/tool` or `server/*`. Absent: all. Empty: none.
        allowed_tools: Option<Vec<String>>,
    }
    /// Takes grants back: of every type, or of one.
    "host_revoke_permission" HostRevokePermission -> HostRevokePermissionResult {
        /// The origin.
        origin: String,
        /// As in `host_grant_permission`.
        profile: Option<String>,
        /// What for.
        scope: String,
        /// Only grants of this type.
        grant_type: Option<String>,
        /// Only those that are bound to this tab of this connection's browser session.
        tab_id: Option<u64>,
    }
    /// Asks whether an origin may do something now.
    "host_check_permission" HostCheckPermission -> HostCheckPermissionResult {
        /// The origin. An AI client may leave it out: it is its own.
        origin: Option<String>,
        /// As in `host_grant_permission`. An AI client has no profiles but `default`.
        profile: Option<String>,
        /// What for.
        scope: String,
        /// The tab that asks.
        tab_id: Option<u64>,
        /// A tool, `server/tool`, that has to be among the allowed ones.
        tool_name: Option<String>,
    }
    /// Lists the grants of one origin.
    "host_get_permissions" HostGetPermissions -> HostGetPermissionsResult {
        /// As in `host_check_permission`.
        origin: Option<String>,
        /// Only of this profile; of all when absent.
        profile: Option<String>,
        /// Leaves out what is bound to another tab.
        tab_id: Option<u64>,
    }
    /// Ends the grants that are bound to a tab: it was closed. Only those of the connection's own browser session, where it
    /// has named one.
    "host_expire_tab_grants" HostExpireTabGrants -> HostExpireTabGrantsResult {
        /// The tab.
        tab_id: u64,
        /// Only grants of this profile.
        profile: Option<String>,
    }
    /// Lists the grants of all origins.
    "host_list_all_permissions" HostListAllPermissions -> HostListAllPermissionsResult {
        /// Only of this profile.
        profile: Option<String>,
        /// Leaves out what is bound to another tab.
        tab_id: Option<u64>,
    }
    /// Lists the tools that an origin may know of: of servers that run, or will be started by a call. Needs the scope
    /// `mcp:tools.list`. A tool is listed when the grant covers it and, where there are grants for `mcp:tools.call` (of
    /// whatever tab), one of these does too, and a DENY of those leaves none; one that has changed since the person saw it is not, until it is accepted.
    "host_list_tools" HostListTools -> HostListToolsResult {
        /// As in `host_check_permission`.
        origin: Option<String>,
        /// As in `host_grant_permission`.
        profile: Option<String>,
        /// The tab that asks.
        tab_id: Option<u64>,
        /// Only of these servers.
        server_ids: Option<Vec<String>>,
    }
    /// Lists the servers of which an origin may use a tool, with their state. Needs the scope `mcp:tools.list`.
    "host_list_servers" HostListServers -> HostListServersResult {
        /// As in `host_check_permission`.
        origin: Option<String>,
        /// As in `host_grant_permission`.
        profile: Option<String>,
        /// The tab that asks.
        tab_id: Option<u64>,
    }
    /// Lists what running servers offer besides tools, of those servers all of whose tools an origin may use. Needs the scope
    /// `mcp:tools.list`. An AI client uses it by `mcp_read_resource`, `mcp_get_prompt`, `mcp_complete` and
    /// `mcp_subscribe_resource`, for which it needs `mcp:tools.call` for all tools of the server.
    "host_list_offers" HostListOffers -> HostListOffersResult {
        /// As in `host_check_permission`.
        origin: Option<String>,
        /// As in `host_grant_permission`.
        profile: Option<String>,
        /// The tab that asks.
        tab_id: Option<u64>,
        /// `resources`, `resource_templates` or `prompts`.
        kind: String,
    }
    /// Calls a tool on behalf of an origin: permission, allowlist, the tool itself, limits, and only then the server. Needs
    /// the scope `mcp:tools.call`. On a timeout, a cancel or a vanished client the server gets `notifications/cancelled`.
    "host_call_tool" HostCallTool -> HostCallToolResult {
        /// As in `host_check_permission`.
        origin: Option<String>,
        /// As in `host_grant_permission`.
        profile: Option<String>,
        /// The tab that asks.
        tab_id: Option<u64>,
        /// The tool, `server/tool`.
        tool_name: String,
        /// The arguments; `{}` when absent. They are checked against the tool's schema and passed on as they are.
        args: Option<JsonObject>,
        /// How long the call may take, waiting for its turn included, in milliseconds (1 to 3,600,000); else what the
        /// configuration or the server's definition says. With `progress`, each sign of progress gives it as much time
        /// again.
        timeout_ms: Option<u64>,
        /// As in `mcp_call_tool`.
        max_timeout_ms: Option<u64>,
        /// The run that the call counts in.
        run_id: Option<String>,
        /// Whether `progress` pushes are wanted.
        progress: Option<bool>,
        /// As in `mcp_call_tool`.
        answers: Option<JsonObject>,
    }
    /// Begins a run: a number of calls that an agent may make. It ends with its client, or when it is not used for
    /// `limits.runStaleSeconds`.
    "host_create_run" HostCreateRun -> HostCreateRunResult {
        /// As in `host_check_permission`.
        origin: Option<String>,
        /// As in `host_grant_permission`.
        profile: Option<String>,
        /// The tab that asks.
        tab_id: Option<u64>,
        /// How many calls; `limits.maxCallsPerRun` when absent, and at most.
        max_calls: Option<u32>,
    }
    /// Ends a run.
    "host_end_run" HostEndRun -> HostEndRunResult {
        /// As in `host_check_permission`.
        origin: Option<String>,
        /// As in `host_grant_permission`.
        profile: Option<String>,
        /// The tab that asks.
        tab_id: Option<u64>,
        /// The run.
        run_id: String,
    }
    /// Says what is left of a run.
    "host_get_run" HostGetRun -> HostGetRunResult {
        /// As in `host_check_permission`.
        origin: Option<String>,
        /// As in `host_grant_permission`.
        profile: Option<String>,
        /// The tab that asks.
        tab_id: Option<u64>,
        /// The run.
        run_id: String,
    }
    /// Counts and durations of calls and decisions since the bridge began, without any payload. With an origin, and always
    /// for an AI client, only what concerns it.
    "host_get_stats" HostGetStats -> HostGetStatsResult {
        /// As in `host_check_permission`; all origins when the owner leaves it out.
        origin: Option<String>,
        /// Without meaning here.
        profile: Option<String>,
        /// Without meaning here.
        tab_id: Option<u64>,
    }
    /// Begins (or ends) the pushes `grant_changed`, `tools_changed` and `tool_changed`. An AI client is told only what
    /// concerns itself.
    "host_watch" HostWatch -> HostWatchResult {
        /// False ends them; true when absent.
        watch: Option<bool>,
    }
    /// Writes into the audit log how a person answered a question of an origin. It changes nothing else: what was allowed is
    /// granted by `host_grant_permission`.
    "host_note_consent" HostNoteConsent -> HostNoteConsentResult {
        /// The origin that asked.
        origin: String,
        /// As in `host_grant_permission`.
        profile: Option<String>,
        /// The tab that asked.
        tab_id: Option<u64>,
        /// `allowed`, `denied`, or `dismissed`: the question was closed without an answer.
        outcome: String,
        /// What the question was about: `server/tool`, `server/*`, or scopes of models.
        tools: Option<Vec<String>>,
    }
    /// Gives the newest lines of the audit log that match, oldest first.
    "host_get_audit" HostGetAudit -> HostGetAuditResult {
        /// Only what was done on behalf of this origin, or by it; `owner` for the person.
        origin: Option<String>,
        /// Only what happened since, in milliseconds since 1970.
        since: Option<u64>,
        /// At most so many; 200 when absent, 10000 at most.
        limit: Option<u64>,
    }
    /// Lists the tools that have changed since they were first seen, or last accepted.
    "host_list_tool_changes" HostListToolChanges -> HostListToolChangesResult {
        /// Only of this server.
        server_id: Option<SourceId>,
    }
    /// Accepts a tool as it is now: origins may use it again.
    "host_accept_tool_change" HostAcceptToolChange -> HostAcceptToolChangeResult {
        /// The server.
        server_id: SourceId,
        /// The tool, as the server names it.
        tool_name: String,
        /// The hash of what is accepted, as `host_list_tool_changes` gives it: a tool that has changed again meanwhile is
        /// not accepted unseen.
        tool_hash: String,
    }
    /// Accepts that a server is another program than before: what was granted for its name counts again, its tools are pinned
    /// as they are, and it gets the secrets of its name at its next start.
    "host_accept_server_change" HostAcceptServerChange -> HostAcceptServerChangeResult {
        /// The server.
        server_id: ServerId,
        /// The program, as `host_list_tool_changes` gives it in `servers` (`after`).
        program: String,
    }
}
