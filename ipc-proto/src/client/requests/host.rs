//! Requests about permissions, and requests on behalf of origins.

use super::super::define_requests;
use crate::field::JsonObject;
use crate::server_id::ServerId;
use crate::source_id::SourceId;

define_requests! {
    /// Any request about permissions, or on behalf of an origin.
    HostRequest:
    /// Records what the person allows or forbids an origin. A DENY wins over every other grant until it is revoked.
    "host_grant_permission" HostGrantPermission -> HostGrantPermissionResult {
        /// The origin: `https://example.com`, or `client://NAME` for an AI client.
        origin: String,
        /// The profile of the origin; absent: `default`.
        profile: Option<String>,
        /// The scope, such as `mcp:tools.call`.
        scope: String,
        /// `ALLOW_ONCE` (default; in memory, ends with the bridge), `ALLOW_ALWAYS` or `DENY` (both on disk).
        grant_type: Option<String>,
        /// With ALLOW_ONCE: the grant holds only for this tab of the browser session that the connection's `hello` names.
        tab_id: Option<u64>,
        /// With ALLOW_ONCE: when the grant ends, in milliseconds since 1970; absent: after `grants.onceSeconds`.
        expires_at: Option<u64>,
        /// The tools that the grant covers, `server/tool` or `server/*`. Absent: all. Empty: none.
        allowed_tools: Option<Vec<String>>,
    }
    /// Revokes grants of an origin, of every type or of one.
    "host_revoke_permission" HostRevokePermission -> HostRevokePermissionResult {
        /// The origin.
        origin: String,
        /// As in `host_grant_permission`.
        profile: Option<String>,
        /// The scope.
        scope: String,
        /// Only grants of this type; absent: of every type.
        grant_type: Option<String>,
        /// Only grants that are bound to this tab of this connection's browser session.
        tab_id: Option<u64>,
    }
    /// Asks whether an origin may do something now.
    "host_check_permission" HostCheckPermission -> HostCheckPermissionResult {
        /// The origin. An AI client may leave it out: it means itself.
        origin: Option<String>,
        /// As in `host_grant_permission`. An AI client has the profile `default` only.
        profile: Option<String>,
        /// The scope.
        scope: String,
        /// The tab that asks.
        tab_id: Option<u64>,
        /// A tool, as `server/tool`, that the grant must cover.
        tool_name: Option<String>,
    }
    /// Asks whether a page may do something in a tab now, and writes down that it does. Nothing else about it is told.
    "host_begin_page_act" HostBeginPageAct -> HostBeginPageActResult {
        /// The page's origin.
        origin: String,
        /// As in `host_grant_permission`.
        profile: Option<String>,
        /// The tab that asks.
        tab_id: Option<u64>,
        /// The scope that it takes, `browser:…`.
        scope: String,
        /// The function of `agent.browser`, such as `click`: letters, at most 32.
        act: String,
    }
    /// Lists the grants of one origin.
    "host_get_permissions" HostGetPermissions -> HostGetPermissionsResult {
        /// As in `host_check_permission`.
        origin: Option<String>,
        /// Only grants of this profile; absent: of all profiles.
        profile: Option<String>,
        /// Leaves out grants that are bound to another tab.
        tab_id: Option<u64>,
    }
    /// Ends the grants that are bound to a closed tab. If the connection has named a browser session, only grants of that
    /// session.
    "host_expire_tab_grants" HostExpireTabGrants -> HostExpireTabGrantsResult {
        /// The tab.
        tab_id: u64,
        /// Only grants of this profile; absent: of all profiles.
        profile: Option<String>,
    }
    /// Lists the grants of all origins.
    "host_list_all_permissions" HostListAllPermissions -> HostListAllPermissionsResult {
        /// Only grants of this profile; absent: of all profiles.
        profile: Option<String>,
        /// Leaves out grants that are bound to another tab.
        tab_id: Option<u64>,
    }
    /// Lists the tools that an origin may know of, on servers that run or that a call would start. Needs the scope
    /// `mcp:tools.list`. The grant must cover the tool. If there are grants for `mcp:tools.call` (of any tab), one of them
    /// must cover it too. If there is a DENY for that scope, no tool is listed. A tool that has changed since the person
    /// saw it is left out until the person accepts it.
    "host_list_tools" HostListTools -> HostListToolsResult {
        /// As in `host_check_permission`.
        origin: Option<String>,
        /// As in `host_grant_permission`.
        profile: Option<String>,
        /// The tab that asks.
        tab_id: Option<u64>,
        /// Only tools of these servers; absent: of all servers.
        server_ids: Option<Vec<String>>,
    }
    /// Lists the servers with a tool that an origin may use, and their state. Needs the scope `mcp:tools.list`.
    "host_list_servers" HostListServers -> HostListServersResult {
        /// As in `host_check_permission`.
        origin: Option<String>,
        /// As in `host_grant_permission`.
        profile: Option<String>,
        /// The tab that asks.
        tab_id: Option<u64>,
    }
    /// Lists the resources, resource templates or prompts of running servers. A server is listed only if the origin may use
    /// all its tools. Needs the scope `mcp:tools.list`. An AI client uses the items by `mcp_read_resource`,
    /// `mcp_get_prompt`, `mcp_complete` and `mcp_subscribe_resource`. For these it needs `mcp:tools.call` for all tools of
    /// the server.
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
    in CallRequest:
    /// Calls a tool on behalf of an origin. Harbor checks the permission, the allowlist, the tool itself and the limits, in
    /// this order; only then does it ask the server. Needs the scope `mcp:tools.call`. On a timeout, a cancel or a vanished
    /// client the server gets `notifications/cancelled`.
    "host_call_tool" HostCallTool -> HostCallToolResult {
        /// As in `host_check_permission`.
        origin: Option<String>,
        /// As in `host_grant_permission`.
        profile: Option<String>,
        /// The tab that asks.
        tab_id: Option<u64>,
        /// The tool, `server/tool`.
        tool_name: String,
        /// The arguments; absent: `{}`. They are checked against the tool's schema and passed on unchanged.
        args: Option<JsonObject>,
        /// How long the call may take, its wait for a slot included, in milliseconds (1 to 3,600,000). Absent: the limit of
        /// the configuration or of the server's definition. With `progress`, each sign of progress gives it as much time
        /// again.
        timeout_ms: Option<u64>,
        /// As in `mcp_call_tool`.
        max_timeout_ms: Option<u64>,
        /// The run that the call counts in; absent: no run.
        run_id: Option<String>,
        /// True: `progress` pushes come.
        progress: Option<bool>,
        /// As in `mcp_call_tool`.
        answers: Option<JsonObject>,
    }
    /// Runs a script in JavaScript on behalf of an origin, in an interpreter of its own without files and network. There
    /// `await tools.SERVER.TOOL(arguments)` is a `host_call_tool` of that origin: each one is judged, limited and written down
    /// as such. It may make 64 calls, and take 30 s besides them.
    "host_run_script" HostRunScript -> HostRunScriptResult {
        /// As in `host_check_permission`.
        origin: Option<String>,
        /// As in `host_grant_permission`.
        profile: Option<String>,
        /// The tab that asks.
        tab_id: Option<u64>,
        /// The body of an async function whose parameter is `tools`; at most 256 KiB. What it returns is the answer.
        script: String,
        /// The tools that it may call, `server/tool` or `server/*`; absent: all that the origin may call.
        only: Option<Vec<String>>,
    }
    in HostRequest:
    /// Begins a run: a budget of calls for an agent. The run ends with its client, or after `limits.runStaleSeconds`
    /// without use.
    "host_create_run" HostCreateRun -> HostCreateRunResult {
        /// As in `host_check_permission`.
        origin: Option<String>,
        /// As in `host_grant_permission`.
        profile: Option<String>,
        /// The tab that asks.
        tab_id: Option<u64>,
        /// How many calls the run may make, `limits.maxCallsPerRun` at most; absent: that many.
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
    /// Says how many calls of a run are left.
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
    /// Gives counts and durations of calls and decisions since the bridge began, without any payload. With an origin, and
    /// always for an AI client: only its own.
    "host_get_stats" HostGetStats -> HostGetStatsResult {
        /// As in `host_check_permission`. If the owner leaves it out: all origins.
        origin: Option<String>,
        /// Has no meaning here.
        profile: Option<String>,
        /// Has no meaning here.
        tab_id: Option<u64>,
    }
    /// Begins or ends the pushes `grant_changed`, `tools_changed` and `tool_changed`. An AI client gets only pushes about
    /// itself.
    "host_watch" HostWatch -> HostWatchResult {
        /// False ends them; true when absent.
        watch: Option<bool>,
    }
    /// Names the profile of the browser that an extension is in. The first browser that ever came is `default`, each other one
    /// `browser:ID`.
    "host_name_profile" HostNameProfile -> HostNameProfileResult {
        /// A random id that the extension keeps in its browser: 8 to 32 hexadecimal digits.
        id: String,
    }
    /// Writes into the audit log how the person answered a question of an origin. It changes nothing else:
    /// `host_grant_permission` makes the grant.
    "host_note_consent" HostNoteConsent -> HostNoteConsentResult {
        /// The origin that asked.
        origin: String,
        /// As in `host_grant_permission`.
        profile: Option<String>,
        /// The tab that asked.
        tab_id: Option<u64>,
        /// `allowed`, `denied`, or `dismissed`: the question was closed without an answer.
        outcome: String,
        /// The subject of the question: `server/tool`, `server/*`, or scopes of models.
        tools: Option<Vec<String>>,
    }
    /// Gives the newest lines of the audit log that match, oldest first.
    "host_get_audit" HostGetAudit -> HostGetAuditResult {
        /// Only lines about what this origin did, or what was done on its behalf; `owner`: the person. Absent: all lines.
        origin: Option<String>,
        /// Only lines since this time, in milliseconds since 1970.
        since: Option<u64>,
        /// The most lines in the reply, up to 10000; absent: 200.
        limit: Option<u64>,
    }
    /// Lists the tools that have changed since they were first seen or last accepted.
    "host_list_tool_changes" HostListToolChanges -> HostListToolChangesResult {
        /// Only tools of this server; absent: of all servers.
        server_id: Option<SourceId>,
    }
    /// Accepts a tool as it is now: origins may use it again.
    "host_accept_tool_change" HostAcceptToolChange -> HostAcceptToolChangeResult {
        /// The server.
        server_id: SourceId,
        /// The tool, as the server names it.
        tool_name: String,
        /// The hash of the tool, as `host_list_tool_changes` gives it. A tool that has changed again since then is not
        /// accepted.
        tool_hash: String,
    }
    /// Accepts that a server runs another program than before. The grants for its name hold again, its tools are pinned as
    /// they are, and it gets the secrets of its name at its next start.
    "host_accept_server_change" HostAcceptServerChange -> HostAcceptServerChangeResult {
        /// The server.
        server_id: ServerId,
        /// The program, as `host_list_tool_changes` gives it in `servers` (`after`).
        program: String,
    }
}
