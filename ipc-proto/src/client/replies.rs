//! What the bridge answers: `{type: "<request type>_result", request_id, …}` with these fields.

use std::collections::BTreeMap;

use super::{
    CatalogChanges, CatalogDetails, CatalogEntry, CatalogSource, CatalogStatus, ConnectionInfo,
    ConnectionView, DefinitionView, GrantView, HealthView, ImageView, InstalledView, LogLine, OffersView,
    Provenance, ResolvedView, RuntimesView, SandboxSettings, SandboxView, ServerChange, ServerView,
    StatsView, StatusView, ToolChange, UnstoredView, UpgradeView, UsableServer, define_sent,
};
use crate::field::Word;
use crate::json::{Json, Pieces};

mod agent;
mod approvals;
mod models;
mod secrets;
mod tool_sources;

pub use agent::*;
pub use approvals::*;
pub use models::*;
pub use secrets::*;
pub use tool_sources::*;

define_sent! {
    /// Every other reply, by the type of its request.
    REPLIES:
    /// The first frame was accepted.
    "attach" AttachResult {
        /// The client protocol that the bridge speaks.
        protocol: u32,
        /// The bridge's build.
        build: Word,
        /// The bridge's process id.
        pid: u32,
    }
    /// Who the bridge is.
    "hello" HelloResult {
        /// The client protocol that the bridge speaks.
        protocol: u32,
        /// The bridge's version.
        bridge_version: Word,
        /// The bridge's build.
        build: Word,
        /// The bridge's process id.
        pid: u32,
        /// Whether larger answers will come as chunks.
        chunks: bool,
        /// The largest frame that the bridge will send to this client, in bytes.
        max_frame: u64,
        /// Of an AI client that named a session in a browser: whether it goes on with that one.
        joined: Option<bool>,
    }
    /// The bridge is alive.
    "ping" PingResult {
        /// The text that was sent.
        echo: Option<String>,
        /// Milliseconds since 1970.
        timestamp: u64,
    }
    /// Whether there was such a request to end.
    "cancel" CancelResult {
        /// False when the target had already ended, or never was.
        cancelled: bool,
    }
    /// The bridge is on its way out.
    "shutdown" ShutdownResult {
        /// Always true.
        stopping: bool,
    }
    /// The definition is stored.
    "add_server" AddServerResult {
        /// The server as `list_servers` shows it.
        server: ServerView,
        /// Whether there was a definition with this id before.
        replaced: bool,
        /// Where files of an earlier server with this id are, or of another program that had it: with `keep_data` the home
        /// of the new one, else set aside. Absent when there are none.
        old_data: Option<String>,
        /// What the definition that was replaced said about its sandbox, where this one says something else.
        old_sandbox: Option<SandboxSettings>,
        /// The server runs another program than before: its grants are suspended until that is accepted.
        program_change: Option<ServerChange>,
    }
    /// The definition is stored.
    "add_remote_server" AddRemoteServerResult {
        /// The server as `list_servers` shows it.
        server: ServerView,
        /// Whether there was a definition with this id before.
        replaced: bool,
        /// The server is at another place than before: its grants are suspended until that is accepted.
        program_change: Option<ServerChange>,
    }
    /// What holds the server.
    "get_definition" GetDefinitionResult {
        /// The definition.
        definition: DefinitionView,
    }
    /// What is different.
    "compare_server" CompareServerResult {
        /// Names of variables and headers with another value, or that only one side has; `url` and `arguments`. Secrets that only
        /// the server has do not count.
        differs: Vec<String>,
    }
    /// What it may do.
    "get_sandbox" GetSandboxResult {
        /// What it may do.
        sandbox: SandboxView,
    }
    /// The change is stored, if it is one.
    "set_sandbox" SetSandboxResult {
        /// What it may do now.
        sandbox: SandboxView,
        /// Whether the server was running and has other settings now: it is on its way up again.
        restarting: bool,
    }
    /// The change is stored, if it is one.
    "set_supervision" SetSupervisionResult {
        /// The server as `list_servers` shows it.
        server: ServerView,
        /// Settings that were changed and that a start takes with it: the server runs with what they were. Empty where
        /// everything holds by now.
        next_start: Vec<String>,
    }
    /// Whether there was such a definition.
    "remove_server" RemoveServerResult {
        /// False when there was none, nor data to be deleted.
        removed: bool,
        /// The image that was pulled for it, which the engine keeps; absent when there was none.
        image: Option<ImageView>,
        /// The directory of the data that are kept, or could not be deleted; absent when there are none.
        data: Option<String>,
        /// How many secrets were deleted with it.
        secrets: u32,
        /// Why its secrets, if it has any, are still on disk; absent when they are not.
        secrets_left: Option<String>,
        /// How many of its tools were pinned, and are not any more.
        pins: u32,
        /// What grants had of its tools, and have no more.
        grants: Vec<GrantView>,
    }
    /// All definitions, by id.
    "list_servers" ListServersResult {
        /// The servers.
        servers: Vec<ServerView>,
    }
    /// How it is.
    "get_server_status" GetServerStatusResult {
        /// The server as `list_servers` shows it.
        server: ServerView,
        /// Its package, as `list_installed` shows it but for `server`; absent where it has none.
        package: Option<InstalledView>,
        /// Secrets that it needs and that are not set.
        missing_secrets: Vec<String>,
        /// Whether nothing is known that keeps it from its next start.
        can_start: bool,
        /// What does, and what to do; absent when nothing does.
        why_not: Option<String>,
    }
    /// The server is running.
    "connect_server" ConnectServerResult {
        /// The server as `list_servers` shows it.
        server: ServerView,
        /// What it said about itself.
        connection_info: ConnectionInfo,
    }
    /// The stop has come to its end.
    "disconnect_server" DisconnectServerResult {
        /// The server as `list_servers` shows it: stopped, unless somebody has started it again meanwhile.
        server: ServerView,
    }
    /// The server is running, and this is what it offers.
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
        /// Whether it was running or starting.
        disconnected: bool,
    }
    /// The servers that are running.
    "mcp_list_connections" McpListConnectionsResult {
        /// One entry per running server.
        connections: Vec<ConnectionView>,
    }
    /// The tools.
    "mcp_list_tools" McpListToolsResult {
        /// As the server wrote them; an `inputSchema` that does not say `"type": "object"` has it added, and a tool of which
        /// that would change the meaning is left out (`list_problems` of the server).
        tools: Json,
        /// True: it does not run, or does not answer, and these are what it listed last.
        last_listed: Option<bool>,
        /// True: it runs, and has not answered in time.
        no_answer: Option<bool>,
        /// What each tool does as far as Harbor knows, by its name: `reads`, `writes` or `destroys`.
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
    /// What the tool answered, failures of the tool itself (`isError`) included.
    "mcp_call_tool" McpCallToolResult {
        /// MCP's CallToolResult, as the server wrote it.
        result: Json,
        /// What Harbor says of it: what the sandbox refused, which places in the arguments the server does not have.
        beside: Option<Vec<String>>,
    }
    /// What the resource holds.
    "mcp_read_resource" McpReadResourceResult {
        /// MCP's ReadResourceResult, as the server wrote it.
        resource: Json,
    }
    /// The prompt.
    "mcp_get_prompt" McpGetPromptResult {
        /// MCP's GetPromptResult, as the server wrote it.
        prompt: Json,
    }
    /// The answer is on its way.
    "mcp_answer" McpAnswerResult {
        /// False when nobody waits for it any more.
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
        /// How long it took, in microseconds.
        elapsed_us: u64,
    }
    /// What the tasks extension answered.
    "mcp_task" McpTaskResult {
        /// As the server wrote it.
        result: Json,
    }
    /// The newest log lines, oldest first.
    "mcp_get_logs" McpGetLogsResult {
        /// The lines.
        logs: Vec<LogLine>,
        /// Process id of the server, while it runs.
        pid: Option<u32>,
    }
    /// The state of everything.
    "status" StatusResult {
        /// As of now.
        status: StatusView,
    }
    /// Whether pushes come from now on, and what they begin from.
    "subscribe_status" SubscribeStatusResult {
        /// As asked.
        subscribed: bool,
        /// As of now.
        status: StatusView,
    }
    /// How it all is.
    "health" HealthResult {
        /// And why.
        health: HealthView,
    }
    /// The numbers.
    "get_metrics" GetMetricsResult {
        /// OpenMetrics text, version 1.0.0.
        text: String,
    }
    /// What is in force.
    "get_config" GetConfigResult {
        /// A `config.toml` that says it, with every key.
        config: String,
        /// Why the file as it is now is not in force; absent when it is.
        refused: Option<String>,
        /// How often other values have come into force since the bridge began.
        changes: u64,
        /// The environment's switches that are set.
        environment: BTreeMap<String, String>,
    }
    /// The servers now; the pushes tell what changes from here.
    "watch_servers" WatchServersResult {
        /// Whether pushes come from now on.
        watching: bool,
        /// The servers.
        servers: Vec<ServerView>,
    }
    /// The grant is recorded.
    "host_grant_permission" HostGrantPermissionResult {
        /// Always true; a failure is an error.
        granted: bool,
        /// Whether a DENY stands for this origin, profile and scope: then nothing of it is allowed until that is revoked.
        denied: bool,
        /// The grant.
        grant: GrantView,
        /// Calls that ran on what a DENY denies, or on a grant that covered more, and were ended.
        ended: u32,
        /// True of a DENY that the disk refuses: it holds until the bridge ends, and is stored as soon as the disk takes it.
        unstored: bool,
    }
    /// The grants are gone.
    "host_revoke_permission" HostRevokePermissionResult {
        /// Whether there were any.
        revoked: bool,
        /// Calls that ran on them, and were ended: their servers were told, and their results are not given.
        ended: u32,
        /// True where the disk refuses it: it holds until the bridge ends, and is stored as soon as the disk takes it.
        unstored: bool,
    }
    /// Whether the origin may.
    "host_check_permission" HostCheckPermissionResult {
        /// Whether it may.
        granted: bool,
        /// By which type of grant.
        grant_type: Option<Word>,
        /// Why not: the code that a call would get.
        code: Option<Word>,
        /// The same as a sentence.
        message: Option<String>,
    }
    /// The grants of the origin.
    "host_get_permissions" HostGetPermissionsResult {
        /// The origin in its canonical form.
        origin: String,
        /// Its grants.
        grants: Vec<GrantView>,
        /// What of them the disk has not taken yet, revocations too.
        unstored: Vec<UnstoredView>,
        /// An AI client that was not here yet: when it comes, it gets all tools, or those of its `--only`.
        is_new: Option<bool>,
    }
    /// The grants of the tab are gone.
    "host_expire_tab_grants" HostExpireTabGrantsResult {
        /// How many there were.
        expired: u32,
    }
    /// All grants.
    "host_list_all_permissions" HostListAllPermissionsResult {
        /// By origin.
        grants: Vec<GrantView>,
        /// What of them the disk has not taken yet, revocations too.
        unstored: Vec<UnstoredView>,
    }
    /// The tools.
    "host_list_tools" HostListToolsResult {
        /// An array of `ToolDescriptor`, by server.
        tools: Pieces,
    }
    /// The servers.
    "host_list_servers" HostListServersResult {
        /// By id.
        servers: Vec<UsableServer>,
    }
    /// What is offered.
    "host_list_offers" HostListOffersResult {
        /// By server; those that offer none of it are left out.
        servers: Vec<OffersView>,
    }
    /// What the tool answered, failures of the tool itself (`isError`) included.
    "host_call_tool" HostCallToolResult {
        /// MCP's CallToolResult, as the server wrote it.
        result: Json,
        /// What Harbor says of it: what the sandbox refused, which places in the arguments the server does not have. Never to a page.
        beside: Option<Vec<String>>,
        /// Where it comes from.
        provenance: Provenance,
    }
    /// The run has begun.
    "host_create_run" HostCreateRunResult {
        /// Its id.
        run_id: String,
        /// How many calls it may make.
        max_calls: u32,
        /// How many are left.
        remaining: u32,
    }
    /// The run as it ended.
    "host_end_run" HostEndRunResult {
        /// Its id.
        run_id: String,
        /// How many calls it could make.
        max_calls: u32,
        /// How many were left.
        remaining: u32,
    }
    /// The run now.
    "host_get_run" HostGetRunResult {
        /// Its id.
        run_id: String,
        /// How many calls it may make.
        max_calls: u32,
        /// How many are left; calls in flight are counted as made, and given back where they were not sent.
        remaining: u32,
        /// When it began, in milliseconds since 1970.
        created_at: u64,
    }
    /// The counts.
    "host_get_stats" HostGetStatsResult {
        /// The counts.
        stats: StatsView,
    }
    /// Whether pushes come from now on.
    "host_watch" HostWatchResult {
        /// As asked.
        watching: bool,
    }
    /// The answer is in the audit log.
    "host_note_consent" HostNoteConsentResult {
        /// Always true; a failure is an error.
        noted: bool,
    }
    /// Lines of the audit log.
    "host_get_audit" HostGetAuditResult {
        /// An array of objects, one per line, oldest first.
        records: Json,
        /// Whether the log cannot be written at present.
        failing: bool,
        /// How many lines could not be written since the bridge began.
        unaudited: u64,
    }
    /// The tools that have changed.
    "host_list_tool_changes" HostListToolChangesResult {
        /// By server and name.
        changes: Vec<ToolChange>,
        /// Servers that are other programs than those that were allowed.
        servers: Vec<ServerChange>,
    }
    /// The tool is accepted as it is.
    "host_accept_tool_change" HostAcceptToolChangeResult {
        /// Always true; a failure is an error.
        accepted: bool,
    }
    /// The server is accepted as it is.
    "host_accept_server_change" HostAcceptServerChangeResult {
        /// Always true; a failure is an error.
        accepted: bool,
    }
    /// From now on.
    "mcp_follow_messages" McpFollowMessagesResult {
        /// The level.
        level: String,
    }
    /// The AI client may serve; what it may do is in its grants.
    "mcp_begin" McpBeginResult {
        /// Whether it has got its first grants by this.
        granted: bool,
        /// What `mcp.firstUse` says: `all`, `ask` or `none`.
        first_use: Word,
    }
    /// A page of the catalog.
    "catalog_get" CatalogGetResult {
        /// The entries, the first ones first.
        entries: Vec<CatalogEntry>,
        /// Where the next page begins; absent on the last one.
        next_cursor: Option<String>,
        /// How many there are on all pages.
        total: u64,
        /// `YYYY-MM-DD`: all there is are the entries that Harbor brought along, of that day, as no source was reached yet.
        snapshot: Option<String>,
        /// When a source was last fetched, in milliseconds since 1970.
        last_refresh: Option<u64>,
    }
    /// A page of what was found.
    "catalog_search" CatalogSearchResult {
        /// The entries, the best ones first.
        entries: Vec<CatalogEntry>,
        /// As in `catalog_get`.
        next_cursor: Option<String>,
        /// How many were found; absent when they are more than 500.
        total: Option<u64>,
        /// As in `catalog_get`.
        snapshot: Option<String>,
        /// As in `catalog_get`.
        last_refresh: Option<u64>,
    }
    /// One of the catalog.
    "catalog_entry" CatalogEntryResult {
        /// It.
        details: CatalogDetails,
    }
    /// The refresh is over. Sources that failed are told; the entries of those are as they were.
    "catalog_refresh" CatalogRefreshResult {
        /// What has changed.
        changes: CatalogChanges,
        /// How the sources did.
        sources: Vec<CatalogSource>,
        /// How many entries there are now.
        entries: u64,
        /// As in `catalog_get`.
        snapshot: Option<String>,
    }
    /// The looking up is over.
    "catalog_enrich" CatalogEnrichResult {
        /// How many entries were looked up.
        enriched: u64,
        /// How many of them could not be.
        failed: u64,
    }
    /// How the catalog is.
    "catalog_status" CatalogStatusResult {
        /// As in `status`.
        catalog: CatalogStatus,
        /// The sources, by name; those of the file, which need not be the configured ones.
        sources: Vec<CatalogSource>,
    }
    /// It is installed, or what would be.
    "install_server" InstallServerResult {
        /// The package and its server.
        installed: InstalledView,
    }
    /// What it is.
    "resolve_server" ResolveServerResult {
        /// It.
        server: ResolvedView,
    }
    /// The servers that Harbor brings along.
    "get_curated_list" GetCuratedListResult {
        /// One after the other.
        servers: Vec<ResolvedView>,
    }
    /// What is different.
    "upgrade_server" UpgradeServerResult {
        /// The versions and their tools.
        upgrade: UpgradeView,
    }
    /// The earlier version is used.
    "undo_upgrade" UndoUpgradeResult {
        /// The package and its server.
        installed: InstalledView,
    }
    /// As `remove_server`.
    "uninstall_server" UninstallServerResult {
        /// As in `remove_server`.
        removed: bool,
        /// As in `remove_server`.
        data: Option<String>,
    }
    /// The arguments are changed.
    "update_server_args" UpdateServerArgsResult {
        /// The server as `list_servers` shows it.
        server: ServerView,
    }
    /// The servers with a package, by id.
    "list_installed" ListInstalledResult {
        /// Their packages.
        servers: Vec<InstalledView>,
    }
    /// The programs.
    "check_runtimes" CheckRuntimesResult {
        /// What was found, and where.
        runtimes: RuntimesView,
    }
}
