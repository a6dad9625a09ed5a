//! What the bridge answers: `{type: "<request type>_result", request_id, …}` with these fields.

use std::collections::BTreeMap;

use super::{
    GrantView, HealthView, OffersView, Provenance, SandboxSettings, StatsView, StatusView, Supervision,
    ToolChange, UsableServer, define_sent,
};
use crate::json::{Json, Pieces};

define_sent! {
    /// Every reply, by the type of its request.
    REPLIES:
    /// The first frame was accepted.
    "attach" AttachResult {
        /// The client protocol that the bridge speaks.
        protocol: u32,
        /// The bridge's build.
        build: &'static str,
        /// The bridge's process id.
        pid: u32,
    }
    /// Who the bridge is.
    "hello" HelloResult {
        /// The client protocol that the bridge speaks.
        protocol: u32,
        /// The bridge's version.
        bridge_version: &'static str,
        /// The bridge's build.
        build: &'static str,
        /// The bridge's process id.
        pid: u32,
        /// Whether larger answers will come as chunks.
        chunks: bool,
        /// The largest frame that the bridge will send to this client, in bytes.
        max_frame: u64,
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
        /// Where an earlier server with this id left files, which the new one gets as its home. Absent when there are
        /// none, and when a definition is replaced.
        old_data: Option<String>,
        /// What the definition that was replaced said about its sandbox, where this one says something else.
        old_sandbox: Option<SandboxSettings>,
    }
    /// What holds the server.
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
    /// Whether there was such a definition.
    "remove_server" RemoveServerResult {
        /// False when there was none, nor data to be deleted.
        removed: bool,
        /// The directory of the data that are kept, or could not be deleted; absent when there are none.
        data: Option<String>,
    }
    /// All definitions, by id.
    "list_servers" ListServersResult {
        /// The servers.
        servers: Vec<ServerView>,
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
        /// As the server wrote them.
        tools: Json,
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
    }
    /// The grants are gone.
    "host_revoke_permission" HostRevokePermissionResult {
        /// Whether there were any.
        revoked: bool,
    }
    /// Whether the origin may.
    "host_check_permission" HostCheckPermissionResult {
        /// Whether it may.
        granted: bool,
        /// By which type of grant.
        grant_type: Option<&'static str>,
        /// Why not: the code that a call would get.
        code: Option<&'static str>,
        /// The same as a sentence.
        message: Option<String>,
    }
    /// The grants of the origin.
    "host_get_permissions" HostGetPermissionsResult {
        /// The origin in its canonical form.
        origin: String,
        /// Its grants.
        grants: Vec<GrantView>,
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
    }
    /// The tool is accepted as it is.
    "host_accept_tool_change" HostAcceptToolChangeResult {
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
        first_use: &'static str,
    }
}

define_sent! {
    /// Objects that stand inside replies.
    OBJECTS:
    /// A server: its definition and its state. Values of environment variables are never shown.
    "Server" ServerView {
        /// The server's id.
        server_id: String,
        /// A name for people.
        label: String,
        /// The program.
        command: String,
        /// Its arguments.
        args: Vec<String>,
        /// Names of the environment variables of its own.
        env_names: Vec<String>,
        /// The directory it runs in, where one was given.
        cwd: Option<String>,
        /// `installing`, `stopped`, `starting`, `running`, `stopping`, `crashed` (waits to be restarted) or `failed`.
        state: &'static str,
        /// Since when, in milliseconds since 1970.
        since: u64,
        /// Whether it has not answered a probe while calls are open; many servers do one thing at a time.
        busy: bool,
        /// Process id of the server, while it runs.
        pid: Option<u32>,
        /// Process id of its runner, while there is one.
        runner_pid: Option<u32>,
        /// How many tools it offers, while it runs.
        tool_count: Option<u32>,
        /// How many of its tools have changed since they were first seen and are not accepted; absent when none has.
        changed_tools: Option<u32>,
        /// How often it was restarted since it was last started by a person.
        restarts: u32,
        /// Restarts that count against `restart_attempts`: those without a stable minute behind them.
        attempt: u32,
        /// While it waits to be restarted: when that will be, in milliseconds since 1970. Of a server that was given up
        /// after it had run: from when on a call tries it once more.
        next_retry: Option<u64>,
        /// How it last ended without being told to, as a sentence; also while it runs again.
        last_error: Option<String>,
        /// The same for programs.
        last_exit: Option<ExitView>,
        /// Calls that wait until it runs.
        queued: u32,
        /// Answers that came after their call had ended; they were dropped.
        late_answers: u64,
        /// What its runner can promise: `pid_namespace` (the kernel ends everything that it started together with its
        /// runner) or `process_group` (what left its group is ended by its runner, by the bridge, or by the next
        /// start of the bridge). Known once it was started.
        containment: Option<&'static str>,
        /// Why it is not `pid_namespace`.
        containment_reason: Option<String>,
        /// The MCP revision that it speaks, once known.
        protocol_version: Option<String>,
        /// The package that is installed for it and run without npx or uvx.
        package: Option<String>,
        /// How it is supervised, as its definition says.
        supervision: Supervision,
        /// What held its last start: the level, and what of it this kernel cannot hold; none until it was started.
        sandbox: Option<SandboxSummary>,
    }
    /// What holds a server, in short.
    "SandboxSummary" SandboxSummary {
        /// `off`, `basic`, `standard` or `strict`.
        level: &'static str,
        /// What of the kernel does it: `landlock 7, seccomp, namespaces`, or less.
        held_by: String,
        /// `none`, `loopback`, `hosts` or `all`.
        network: &'static str,
        /// What the level asks for and this kernel cannot do, a sentence each.
        missing: Vec<String>,
        /// Ways in which this server may leave its sandbox or reach more than one would think, a sentence each.
        warnings: Vec<String>,
    }
    /// What a server may do on this machine.
    "Sandbox" SandboxView {
        /// As its definition says.
        settings: SandboxSettings,
        /// What holds it.
        summary: SandboxSummary,
        /// Why it would not be started; absent when it would.
        refused: Option<String>,
        /// What it may reach of the file system.
        paths: Vec<SandboxPath>,
        /// Directories that look empty to it, but for what it may reach below them.
        hidden: Vec<String>,
        /// What it may use up: `2048 MiB of memory`, one after the other; empty where nothing is limited.
        limits: Vec<String>,
        /// Names of its environment variables.
        env_names: Vec<String>,
        /// What it was refused since the bridge began, newest last.
        denied: Vec<DeniedView>,
    }
    /// A place that a server may reach.
    "SandboxPath" SandboxPath {
        /// The file or directory.
        path: String,
        /// `read` (list and execute too), `write` or `device`.
        access: &'static str,
        /// Why: `system`, `program`, `package`, `data`, `temporary`, `argument`, `cwd`, `granted`.
        why: &'static str,
        /// Of what was granted by another name, that one: the way there has symbolic links on it.
        granted_as: Option<String>,
    }
    /// Something that a server was refused.
    "Denied" DeniedView {
        /// A path as the server wrote it. What begins with no `/` is something else, in words: `more memory than 2048 MiB`,
        /// `the host example.com`.
        path: String,
        /// Whether it wanted to write, of a path.
        write: bool,
        /// The option of `harbor sandbox` that would allow it; absent where nothing does.
        allow: Option<String>,
        /// What to mind before it is given: a sentence, where it leads out of the sandbox.
        mind: Option<&'static str>,
        /// Why nothing does.
        never: Option<String>,
    }
    /// How a server ended, or why it could not be started.
    "Exit" ExitView {
        /// One word: `exited`, `signalled`, `out_of_memory`, `too_many_processes`, `disk_full`, `hung`, `closed_stdout`, `spawn_failed`, `timeout`,
        /// `refused`, `malformed`, `unknown_protocol_version`, `install_failed`, `runner_lost`, `protocol_error` or
        /// `stopped`.
        cause: &'static str,
        /// One sentence.
        message: String,
        /// Its exit code, where it had one.
        exit_code: Option<i32>,
        /// The signal that ended it, where one did.
        signal: Option<i32>,
        /// The last lines of its stderr.
        stderr_tail: Option<String>,
        /// When, in milliseconds since 1970.
        timestamp: u64,
    }
    /// A running server.
    "Connection" ConnectionView {
        /// The server's id.
        server_id: String,
        /// What it said about itself.
        connection_info: ConnectionInfo,
        /// How many tools it offers.
        tool_count: u32,
        /// How many resources it offers.
        resource_count: u32,
        /// How many prompts it offers.
        prompt_count: u32,
        /// Process id of the server.
        pid: u32,
        /// Process id of its runner.
        runner_pid: u32,
    }
    /// What a server said about itself at contact.
    "ConnectionInfo" ConnectionInfo {
        /// Its name.
        server_name: String,
        /// Its version.
        server_version: String,
        /// The MCP revision in use.
        protocol_version: String,
        /// MCP's server capabilities, as the server wrote them.
        capabilities: Json,
        /// How to use the server, in its own words.
        instructions: Option<String>,
    }
    /// A log line.
    "LogLine" LogLine {
        /// Milliseconds since 1970.
        timestamp: u64,
        /// `stderr`, `stdout` (no MCP message), `mcp`, or `harbor` (about the server).
        source: &'static str,
        /// MCP's level, for `mcp` lines.
        level: Option<String>,
        /// The text, cut at 8 KiB.
        text: String,
    }
}
