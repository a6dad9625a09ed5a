//! The replies of the bridge: `{type: "<request type>_result", request_id, …}` with these fields.

use std::collections::BTreeMap;

use super::{
    ConnectionInfo, ConnectionView, DefinitionView, GrantView, HealthView, ImageView, InstalledView, LogLine,
    OffersView, Provenance, SandboxSettings, SandboxView, ServerChange, ServerView, StatsView, StatusView,
    ToolChange, UnstoredView, UsableServer, define_sent,
};
use crate::field::Word;
use crate::json::{Json, Pieces};

mod agent;
mod approvals;
mod engines;
mod installation;
mod models;
mod secrets;
mod tool_sources;

pub use agent::*;
pub use approvals::*;
pub use engines::*;
pub use installation::*;
pub use models::*;
pub use secrets::*;
pub use tool_sources::*;

define_sent! {
    /// All other replies, by the type of their request.
    REPLIES:
    /// The bridge has accepted the first frame.
    "attach" AttachResult {
        /// The client protocol that the bridge speaks.
        protocol: u32,
        /// The bridge's build.
        build: Word,
        /// The bridge's process id.
        pid: u32,
    }
    /// The bridge's description of itself.
    "hello" HelloResult {
        /// The client protocol that the bridge speaks.
        protocol: u32,
        /// The bridge's version.
        bridge_version: Word,
        /// The bridge's build.
        build: Word,
        /// The bridge's process id.
        pid: u32,
        /// True if larger answers will come as `chunk` pushes.
        chunks: bool,
        /// The largest frame that the bridge will send to this client, in bytes.
        max_frame: u64,
        /// For an AI client that named a session in a browser: true if it goes on with that session.
        joined: Option<bool>,
    }
    /// The bridge is alive.
    "ping" PingResult {
        /// The text from the request.
        echo: Option<String>,
        /// The bridge's time, in milliseconds since 1970.
        timestamp: u64,
    }
    /// The request is cancelled, if it was still open.
    "cancel" CancelResult {
        /// True if the request was ended. False: it had already ended, or never existed.
        cancelled: bool,
    }
    /// The bridge is shutting down.
    "shutdown" ShutdownResult {
        /// Always true.
        stopping: bool,
    }
    /// The definition is stored.
    "add_server" AddServerResult {
        /// The server as `list_servers` shows it.
        server: ServerView,
        /// True if the new definition replaced another one with this id.
        replaced: bool,
        /// The directory with files of an earlier server with this id, or of another program that had it. With `keep_data`
        /// it is the new server's home, otherwise it is set aside. Absent when there are none.
        old_data: Option<String>,
        /// The sandbox settings of the replaced definition, if the new ones differ; otherwise absent.
        old_sandbox: Option<SandboxSettings>,
        /// The change of the server's program, if it is another one than before. Its grants are suspended until the person
        /// accepts that.
        program_change: Option<ServerChange>,
    }
    /// The definition is stored.
    "add_remote_server" AddRemoteServerResult {
        /// The server as `list_servers` shows it.
        server: ServerView,
        /// True if the new definition replaced another one with this id.
        replaced: bool,
        /// The change of the server's address, if it is another one than before. Its grants are suspended until the person
        /// accepts that.
        program_change: Option<ServerChange>,
    }
    /// The definition of the server.
    "get_definition" GetDefinitionResult {
        /// The definition.
        definition: DefinitionView,
    }
    /// The differences that were found.
    "compare_server" CompareServerResult {
        /// Names of the variables and headers that differ or that only one side has; also `url` and `arguments`. Secrets
        /// that only the server has do not count.
        differs: Vec<String>,
    }
    /// The sandbox of the server.
    "get_sandbox" GetSandboxResult {
        /// What the server may do on this machine.
        sandbox: SandboxView,
    }
    /// The settings are stored, if they changed.
    "set_sandbox" SetSandboxResult {
        /// What the server may do from now on.
        sandbox: SandboxView,
        /// True if the server was running and its settings have changed: it is being restarted.
        restarting: bool,
    }
    /// The settings are stored, if they changed.
    "set_supervision" SetSupervisionResult {
        /// The server as `list_servers` shows it.
        server: ServerView,
        /// Names of changed settings that hold only from the next start on: the server still runs with the old values.
        /// Empty when all settings hold now.
        next_start: Vec<String>,
    }
    /// The server is removed.
    "remove_server" RemoveServerResult {
        /// False if there was no definition and no data to delete.
        removed: bool,
        /// The image that was pulled for the server. The engine keeps it. Absent when there was none.
        image: Option<ImageView>,
        /// The data directory, if it was kept or could not be deleted; otherwise absent.
        data: Option<String>,
        /// How many of its secrets were deleted.
        secrets: u32,
        /// Why its secrets may still be on disk; absent when they are not.
        secrets_left: Option<String>,
        /// How many of its tools had been pinned.
        pins: u32,
        /// The grants that its tools were taken out of.
        grants: Vec<GrantView>,
    }
    /// All definitions, sorted by id.
    "list_servers" ListServersResult {
        /// The servers.
        servers: Vec<ServerView>,
    }
    /// The state of the server.
    "get_server_status" GetServerStatusResult {
        /// The server as `list_servers` shows it.
        server: ServerView,
        /// Its package, as `list_installed` shows it, but without `server`; absent when it has none.
        package: Option<InstalledView>,
        /// Secrets that it needs and that are not set.
        missing_secrets: Vec<String>,
        /// True if Harbor knows nothing that would keep it from starting.
        can_start: bool,
        /// What keeps it from starting, and what to do; absent when nothing does.
        why_not: Option<String>,
    }
    /// The server is running.
    "connect_server" ConnectServerResult {
        /// The server as `list_servers` shows it.
        server: ServerView,
        /// What the server said about itself.
        connection_info: ConnectionInfo,
    }
    /// The server has been stopped.
    "disconnect_server" DisconnectServerResult {
        /// The server as `list_servers` shows it. It is stopped, unless somebody has started it again since.
        server: ServerView,
    }
    /// The server is running. The reply lists what it offers.
    "mcp_connect" McpConnectResult {
        /// Always true; a failure is an error.
        connected: bool,
        /// What the server said about itself.
        connection_info: ConnectionInfo,
        /// Its tools, as it wrote them.
        tools: Json,
        /// Its resources, as it wrote them.
        resources: Json,
        /// Its resource templates, as it wrote them.
        resource_templates: Json,
        /// Its prompts, as it wrote them.
        prompts: Json,
        /// Process id of the server.
        pid: u32,
    }
    /// The server is stopped.
    "mcp_disconnect" McpDisconnectResult {
        /// True if the server was running or starting.
        disconnected: bool,
    }
    /// The servers that are running.
    "mcp_list_connections" McpListConnectionsResult {
        /// One entry per running server.
        connections: Vec<ConnectionView>,
    }
    /// The tools.
    "mcp_list_tools" McpListToolsResult {
        /// The tools as the server wrote them. `"type": "object"` is added to an `inputSchema` that lacks it. A tool whose
        /// meaning this would change is left out (`list_problems` of the server).
        tools: Json,
        /// True if these are the tools that the server listed last: it is not running, or does not answer. Otherwise absent.
        last_listed: Option<bool>,
        /// True if the server runs and has not answered in time; otherwise absent.
        no_answer: Option<bool>,
        /// The effect of each tool by its name, as far as Harbor knows it: `reads`, `writes` or `destroys`.
        effects: Option<Json>,
    }
    /// The resources.
    "mcp_list_resources" McpListResourcesResult {
        /// As the server wrote them.
        resources: Json,
    }
    /// The resource templates.
    "mcp_list_resource_templates" McpListResourceTemplatesResult {
        /// As the server wrote them.
        resource_templates: Json,
    }
    /// The prompts.
    "mcp_list_prompts" McpListPromptsResult {
        /// As the server wrote them.
        prompts: Json,
    }
    /// The answer of the tool, which may be its own failure (`isError`).
    "mcp_call_tool" McpCallToolResult {
        /// MCP's CallToolResult, as the server wrote it.
        result: Json,
        /// Harbor's remarks: what the sandbox refused, and which paths in the arguments the server cannot see. Absent when
        /// there are none.
        beside: Option<Vec<String>>,
    }
    /// The content of the resource.
    "mcp_read_resource" McpReadResourceResult {
        /// MCP's ReadResourceResult, as the server wrote it.
        resource: Json,
    }
    /// The prompt.
    "mcp_get_prompt" McpGetPromptResult {
        /// MCP's GetPromptResult, as the server wrote it.
        prompt: Json,
    }
    /// The answer has been passed on.
    "mcp_answer" McpAnswerResult {
        /// False if nobody waits for it any more.
        answered: bool,
    }
    /// The completions.
    "mcp_complete" McpCompleteResult {
        /// MCP's CompleteResult, as the server wrote it.
        result: Json,
    }
    /// The subscription is made.
    "mcp_subscribe_resource" McpSubscribeResourceResult {
        /// Always true; a failure is an error.
        subscribed: bool,
    }
    /// The subscription has ended.
    "mcp_unsubscribe_resource" McpUnsubscribeResourceResult {
        /// Always true; a failure is an error.
        unsubscribed: bool,
    }
    /// The level is set.
    "mcp_set_log_level" McpSetLogLevelResult {
        /// The level in force.
        level: String,
    }
    /// The server answered.
    "mcp_ping" McpPingResult {
        /// How long the answer took, in microseconds.
        elapsed_us: u64,
    }
    /// The answer of MCP's tasks extension.
    "mcp_task" McpTaskResult {
        /// As the server wrote it.
        result: Json,
    }
    /// The newest log lines, oldest first.
    "mcp_get_logs" McpGetLogsResult {
        /// The lines.
        logs: Vec<LogLine>,
        /// The process id of the server; absent when it does not run.
        pid: Option<u32>,
    }
    /// The status of everything.
    "status" StatusResult {
        /// The status now.
        status: StatusView,
    }
    /// The subscription, and the status from which its pushes begin.
    "subscribe_status" SubscribeStatusResult {
        /// True if pushes come from now on.
        subscribed: bool,
        /// The status now.
        status: StatusView,
    }
    /// The health of Harbor.
    "health" HealthResult {
        /// The health, and the reasons for it.
        health: HealthView,
    }
    /// The metrics.
    "get_metrics" GetMetricsResult {
        /// OpenMetrics text, version 1.0.0.
        text: String,
    }
    /// The configuration in force.
    "get_config" GetConfigResult {
        /// A `config.toml` with every key and the value in force.
        config: String,
        /// Why the present file is not in force; absent when it is.
        refused: Option<String>,
        /// How often the values in force have changed since the bridge began.
        changes: u64,
        /// The environment variables that switch something, as far as they are set.
        environment: BTreeMap<String, String>,
    }
    /// The servers now. Pushes report the changes from here on.
    "watch_servers" WatchServersResult {
        /// True if pushes come from now on.
        watching: bool,
        /// The servers.
        servers: Vec<ServerView>,
    }
    /// The grant is recorded.
    "host_grant_permission" HostGrantPermissionResult {
        /// Always true; a failure is an error.
        granted: bool,
        /// True if a DENY exists for this origin, profile and scope. It forbids all of it until it is revoked.
        denied: bool,
        /// The grant.
        grant: GrantView,
        /// How many running calls were ended, since a DENY forbids them or the grant they relied on has become narrower.
        ended: u32,
        /// True if the disk did not take this DENY. It holds until the bridge ends, and is stored as soon as the disk takes it.
        unstored: bool,
    }
    /// The grants are revoked.
    "host_revoke_permission" HostRevokePermissionResult {
        /// True if there were any.
        revoked: bool,
        /// How many running calls were ended. Their servers were told, and their results are dropped.
        ended: u32,
        /// True if the disk did not take the revocation. It holds until the bridge ends, and is stored as soon as the disk
        /// takes it.
        unstored: bool,
    }
    /// The answer whether the origin may.
    "host_check_permission" HostCheckPermissionResult {
        /// True if the origin may.
        granted: bool,
        /// The type of the grant that allows it; absent when none does.
        grant_type: Option<Word>,
        /// The code that a call would get; absent when the origin may.
        code: Option<Word>,
        /// The reason as a sentence; absent when the origin may.
        message: Option<String>,
    }
    /// The page may.
    "host_begin_page_act" HostBeginPageActResult {}
    /// The grants of the origin.
    "host_get_permissions" HostGetPermissionsResult {
        /// The origin in its canonical form.
        origin: String,
        /// Its grants.
        grants: Vec<GrantView>,
        /// Denials and revocations among them that the disk has not taken yet.
        unstored: Vec<UnstoredView>,
        /// True for an AI client that was never here. When it comes, it gets all tools, or those of its `--only`. Otherwise
        /// absent.
        is_new: Option<bool>,
    }
    /// The grants of the tab have ended.
    "host_expire_tab_grants" HostExpireTabGrantsResult {
        /// How many there were.
        expired: u32,
    }
    /// All grants.
    "host_list_all_permissions" HostListAllPermissionsResult {
        /// The grants, sorted by origin.
        grants: Vec<GrantView>,
        /// Denials and revocations that the disk has not taken yet.
        unstored: Vec<UnstoredView>,
    }
    /// The tools.
    "host_list_tools" HostListToolsResult {
        /// An array of `ToolDescriptor`, sorted by server.
        tools: Pieces,
    }
    /// The servers.
    "host_list_servers" HostListServersResult {
        /// The servers, sorted by id.
        servers: Vec<UsableServer>,
    }
    /// The resources, resource templates or prompts of the servers.
    "host_list_offers" HostListOffersResult {
        /// One entry per server. Servers that offer none are left out.
        servers: Vec<OffersView>,
    }
    /// The answer of the tool, which may be its own failure (`isError`).
    "host_call_tool" HostCallToolResult {
        /// MCP's CallToolResult, as the server wrote it.
        result: Json,
        /// Harbor's remarks: what the sandbox refused, and which paths in the arguments the server cannot see. A page never
        /// gets any.
        beside: Option<Vec<String>>,
        /// The server and tool that the result comes from.
        provenance: Provenance,
    }
    /// The script has ended.
    "host_run_script" HostRunScriptResult {
        /// MCP's CallToolResult: what the script returned, behind what it wrote to its console; with `isError` if it failed.
        result: Json,
        /// How many calls of tools it made.
        calls: u32,
    }
    /// The run has begun.
    "host_create_run" HostCreateRunResult {
        /// Its id.
        run_id: String,
        /// How many calls the run may make.
        max_calls: u32,
        /// How many are left.
        remaining: u32,
    }
    /// The run has ended.
    "host_end_run" HostEndRunResult {
        /// Its id.
        run_id: String,
        /// How many calls the run could make.
        max_calls: u32,
        /// How many calls were left.
        remaining: u32,
    }
    /// The state of the run.
    "host_get_run" HostGetRunResult {
        /// Its id.
        run_id: String,
        /// How many calls it may make.
        max_calls: u32,
        /// How many calls are left. A call in flight counts as made; it is given back if it was not sent.
        remaining: u32,
        /// When the run began, in milliseconds since 1970.
        created_at: u64,
    }
    /// The counts.
    "host_get_stats" HostGetStatsResult {
        /// The counts.
        stats: StatsView,
    }
    /// The watch has begun or ended.
    "host_watch" HostWatchResult {
        /// True if pushes come from now on.
        watching: bool,
    }
    /// The `profile` of the grants of pages in this browser.
    "host_name_profile" HostNameProfileResult {
        /// The name, which stays.
        profile: String,
    }
    /// The person's answer is in the audit log.
    "host_note_consent" HostNoteConsentResult {
        /// Always true; a failure is an error.
        noted: bool,
    }
    /// Lines of the audit log.
    "host_get_audit" HostGetAuditResult {
        /// An array of objects, one per line of the log, oldest first.
        records: Json,
        /// True if the log cannot be written at present.
        failing: bool,
        /// How many lines could not be written since the bridge began.
        unaudited: u64,
    }
    /// The tools that have changed.
    "host_list_tool_changes" HostListToolChangesResult {
        /// The tools, sorted by server and name.
        changes: Vec<ToolChange>,
        /// Servers that now run another program than the one that the person allowed.
        servers: Vec<ServerChange>,
    }
    /// The tool is accepted as it is now.
    "host_accept_tool_change" HostAcceptToolChangeResult {
        /// Always true; a failure is an error.
        accepted: bool,
    }
    /// The server's program is accepted as it is now.
    "host_accept_server_change" HostAcceptServerChangeResult {
        /// Always true; a failure is an error.
        accepted: bool,
    }
    /// Messages of this level come as pushes from now on.
    "mcp_follow_messages" McpFollowMessagesResult {
        /// The level in force.
        level: String,
    }
    /// The AI client may begin. Its grants say what it may do.
    "mcp_begin" McpBeginResult {
        /// True if this request gave it its first grants.
        granted: bool,
        /// The value of `mcp.firstUse`: `all`, `ask` or `none`.
        first_use: Word,
    }
}
