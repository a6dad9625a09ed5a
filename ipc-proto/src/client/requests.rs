//! What clients may ask. Each entry is the message's type on the wire, its Rust type and its fields.

use std::collections::BTreeMap;

use super::define_requests;
use crate::field::JsonObject;
use crate::server_id::ServerId;

define_requests! {
    /// The first frame of a Harbor program on the local socket: proves by the token of `run/token` that it
    /// may speak to the bridge, and states its role, once. Not sent on `serve --stdio`.
    "attach" Attach {
        /// The content of `$HARBOR_HOME/run/token`.
        token: String,
        /// `relay`, `mcp` or `cli`.
        role: String,
        /// The client protocol that the program speaks.
        protocol: Option<u32>,
        /// The program's build, shown when versions do not fit.
        build: Option<String>,
        /// With `relay`: the id of the browser extension, from the arguments that the browser gave.
        extension_id: Option<String>,
        /// With `mcp`: the name of the AI client.
        client: Option<String>,
    }
    /// Says who the client is and what it can take. Optional on a native-messaging port; without it
    /// frames are limited to 1 MiB and larger answers are errors.
    "hello" Hello {
        /// The client protocol that the client speaks.
        protocol: Option<u32>,
        /// A name for logs.
        client: Option<String>,
        /// Whether answers over `max_frame` may come as `chunk` pushes.
        chunks: Option<bool>,
        /// The largest frame that the client takes, in bytes; at least 4096.
        max_frame: Option<u64>,
        /// A random id of the browser's session.
        browser_session: Option<String>,
    }
    /// Asks whether the bridge is alive.
    "ping" Ping {
        /// Text to send back.
        echo: Option<String>,
    }
    /// Ends an open request of this client. It is answered with the code `cancelled`, and the server is told.
    "cancel" Cancel {
        /// The id of the request to end.
        target: String,
    }
    /// Ends the bridge: servers are stopped, open requests answered.
    "shutdown" Shutdown {}
    /// Defines a server, or replaces the definition with this id (a running server is stopped first).
    "add_server" AddServer {
        /// The server's id.
        server_id: ServerId,
        /// The program to run: an absolute path, or a name to look up in PATH.
        command: String,
        /// Its arguments.
        args: Option<Vec<String>>,
        /// Environment variables of its own.
        env: Option<BTreeMap<String, String>>,
        /// The directory to run in; the server's own data directory when absent.
        cwd: Option<String>,
        /// A name for people.
        label: Option<String>,
        /// File URIs that the server may ask for as its roots; it gets none when absent.
        roots: Option<Vec<String>>,
        /// How it is supervised: the object `supervision` below.
        supervision: Option<JsonObject>,
        /// Runs the command as it is. Otherwise `npx …` and `uvx …` are recognised: the package is installed first,
        /// and then run without them.
        as_is: Option<bool>,
        /// What it may do on this machine: the object `sandbox` below.
        sandbox: Option<JsonObject>,
    }
    /// Says what a server may do on this machine, as the next start has it.
    "get_sandbox" GetSandbox {
        /// The server's id.
        server_id: ServerId,
    }
    /// Changes what a server may do on this machine. A running server is stopped and started again, unless
    /// nothing is different then.
    "set_sandbox" SetSandbox {
        /// The server's id.
        server_id: ServerId,
        /// The settings to change, as in the object `sandbox` below; the others stay.
        sandbox: JsonObject,
        /// Settings that go back to their default, by name; done first.
        reset: Option<Vec<String>>,
    }
    /// Stops a server and forgets its definition. Its data directory stays, and is that of whatever is added with this
    /// id later.
    "remove_server" RemoveServer {
        /// The server's id.
        server_id: ServerId,
        /// Whether the data directory is deleted too, also one that an earlier server with this id has left.
        data: Option<bool>,
    }
    /// Lists the definitions with the state of each server.
    "list_servers" ListServers {}
    /// Starts a server and makes contact; does nothing when it is running. One that waits to be restarted is
    /// started at once, and its restarts count anew.
    "connect_server" ConnectServer {
        /// The server's id.
        server_id: ServerId,
        /// Whether `progress` pushes are wanted: a `message` for each thing that happens until it runs.
        progress: Option<bool>,
        /// Whether it is stopped first when it runs. Calls wait meanwhile, and a later stop wins.
        restart: Option<bool>,
    }
    /// Stops a server. Calls in flight end with `ERR_SERVER_UNAVAILABLE`, and nothing but a `connect_server` starts
    /// it again while this bridge runs.
    "disconnect_server" DisconnectServer {
        /// The server's id.
        server_id: ServerId,
    }
    /// As `connect_server`, and answers with everything that the server offers.
    "mcp_connect" McpConnect {
        /// The server's id.
        server_id: ServerId,
        /// As in `connect_server`.
        progress: Option<bool>,
    }
    /// As `disconnect_server`.
    "mcp_disconnect" McpDisconnect {
        /// The server's id.
        server_id: ServerId,
    }
    /// Lists the servers that are running.
    "mcp_list_connections" McpListConnections {}
    /// Asks a server for its tools, all pages.
    "mcp_list_tools" McpListTools {
        /// The server's id.
        server_id: ServerId,
    }
    /// Asks a running server for its resources, all pages.
    "mcp_list_resources" McpListResources {
        /// The server's id.
        server_id: ServerId,
    }
    /// Asks a running server for its resource templates, all pages.
    "mcp_list_resource_templates" McpListResourceTemplates {
        /// The server's id.
        server_id: ServerId,
    }
    /// Asks a running server for its prompts, all pages.
    "mcp_list_prompts" McpListPrompts {
        /// The server's id.
        server_id: ServerId,
    }
    /// Calls a tool. Ends in the server's result, or an error; on a timeout, a cancel or a vanished client
    /// the server gets `notifications/cancelled`.
    "mcp_call_tool" McpCallTool {
        /// The server's id.
        server_id: ServerId,
        /// The tool's name, as the server gave it.
        tool_name: String,
        /// The arguments, passed on as they are; `{}` when absent.
        arguments: Option<JsonObject>,
        /// How long the call may take, in milliseconds (1 to 3,600,000; the definition's `call_timeout_ms` when
        /// absent). With `progress`, each sign of progress gives it as much time again.
        timeout_ms: Option<u64>,
        /// How long it may take in all, however much progress it makes (as `timeout_ms`; 600,000, or `timeout_ms`
        /// where that is longer, when absent).
        max_timeout_ms: Option<u64>,
        /// Whether `progress` pushes are wanted.
        progress: Option<bool>,
        /// MCP's task parameters (tasks extension), passed on as they are.
        task: Option<JsonObject>,
        /// What the caller can answer while it is open: of MCP's client capabilities `sampling` and `elicitation`. What the
        /// server asks then comes as `ask` pushes.
        answers: Option<JsonObject>,
    }
    /// Reads a resource.
    "mcp_read_resource" McpReadResource {
        /// The server's id.
        server_id: ServerId,
        /// The resource's URI.
        uri: String,
        /// As in `mcp_call_tool`.
        timeout_ms: Option<u64>,
        /// As in `mcp_call_tool`.
        answers: Option<JsonObject>,
    }
    /// Gets a prompt.
    "mcp_get_prompt" McpGetPrompt {
        /// The server's id.
        server_id: ServerId,
        /// The prompt's name.
        prompt_name: String,
        /// Its arguments, strings by MCP's rules; passed on as they are.
        arguments: Option<JsonObject>,
        /// As in `mcp_call_tool`.
        timeout_ms: Option<u64>,
        /// As in `mcp_call_tool`.
        answers: Option<JsonObject>,
    }
    /// Answers a question of a server: an `ask` push.
    "mcp_answer" McpAnswer {
        /// The question's number.
        ask_id: u64,
        /// MCP's result.
        result: Option<JsonObject>,
        /// Or a JSON-RPC error: `code` and `message`. With neither, it is refused.
        error: Option<JsonObject>,
    }
    /// Asks for completions of a prompt's or a resource template's argument.
    "mcp_complete" McpComplete {
        /// The server's id.
        server_id: ServerId,
        /// MCP's `ref` object, passed on as it is.
        reference: JsonObject,
        /// MCP's `argument` object, passed on as it is.
        argument: JsonObject,
        /// MCP's `context` object, passed on as it is.
        context: Option<JsonObject>,
    }
    /// Subscribes to changes of a resource; they come as `resource_updated` pushes to this client.
    "mcp_subscribe_resource" McpSubscribeResource {
        /// The server's id.
        server_id: ServerId,
        /// The resource's URI.
        uri: String,
    }
    /// Ends a subscription.
    "mcp_unsubscribe_resource" McpUnsubscribeResource {
        /// The server's id.
        server_id: ServerId,
        /// The resource's URI.
        uri: String,
    }
    /// Sets how much the server logs by MCP.
    "mcp_set_log_level" McpSetLogLevel {
        /// The server's id.
        server_id: ServerId,
        /// `debug`, `info`, `notice`, `warning`, `error`, `critical`, `alert` or `emergency`.
        level: String,
    }
    /// Asks a running server whether it is alive.
    "mcp_ping" McpPing {
        /// The server's id.
        server_id: ServerId,
    }
    /// Sends a request of MCP's tasks extension.
    "mcp_task" McpTask {
        /// The server's id.
        server_id: ServerId,
        /// `tasks/get`, `tasks/update`, `tasks/cancel`, `tasks/result` or `tasks/list`.
        method: String,
        /// Its parameters, passed on as they are.
        arguments: Option<JsonObject>,
    }
    /// Gives the last log lines of a server: its stderr, what it printed on stdout that was no message, its MCP log
    /// messages, and Harbor's remarks about it.
    "mcp_get_logs" McpGetLogs {
        /// The server's id.
        server_id: ServerId,
        /// At most so many lines, the newest; 200 when absent, 1000 at most.
        limit: Option<u64>,
        /// True: later lines come as `server_log` pushes, until a request says false. The answer and the pushes
        /// together have every line once.
        follow: Option<bool>,
    }
    /// Gives the state of everything, as of now and from memory.
    "status" Status {
        /// Whether what processes use is measured anew before the answer; else it is as of the last measurement.
        fresh: Option<bool>,
    }
    /// Begins (or ends) `status_update` pushes: each change of a server, a client or the health as it happens, and in
    /// between the numbers. The answer has what they begin from.
    "subscribe_status" SubscribeStatus {
        /// False ends them; true when absent.
        subscribe: Option<bool>,
        /// How often the numbers come, in milliseconds: 500 to 3,600,000; 10,000 when absent.
        interval_ms: Option<u64>,
    }
    /// Says how it all is, in short.
    "health" Health {}
    /// Gives the numbers of the status and of the calls as OpenMetrics text. Origins are in it only if `config.toml` says so.
    "get_metrics" GetMetrics {}
    /// Gives what `config.toml` says, as it is in force.
    "get_config" GetConfig {}
    /// Begins (or ends) `server_event` pushes: every change of every server's state. The answer has the states from
    /// which they begin.
    "watch_servers" WatchServers {
        /// False ends them; true when absent.
        watch: Option<bool>,
    }
    /// Records what a person allows or forbids an origin. A DENY wins over whatever else is granted, until it is revoked.
    "host_grant_permission" HostGrantPermission {
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
    "host_revoke_permission" HostRevokePermission {
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
    "host_check_permission" HostCheckPermission {
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
    "host_get_permissions" HostGetPermissions {
        /// As in `host_check_permission`.
        origin: Option<String>,
        /// Only of this profile; of all when absent.
        profile: Option<String>,
        /// Leaves out what is bound to another tab.
        tab_id: Option<u64>,
    }
    /// Ends the grants that are bound to a tab: it was closed. Only those of the connection's own browser session, where it
    /// has named one.
    "host_expire_tab_grants" HostExpireTabGrants {
        /// The tab.
        tab_id: u64,
        /// Only grants of this profile.
        profile: Option<String>,
    }
    /// Lists the grants of all origins.
    "host_list_all_permissions" HostListAllPermissions {
        /// Only of this profile.
        profile: Option<String>,
        /// Leaves out what is bound to another tab.
        tab_id: Option<u64>,
    }
    /// Lists the tools that an origin may know of: of servers that run, or will be started by a call. Needs the scope
    /// `mcp:tools.list`. A tool is listed when the grant covers it and, where there are grants for `mcp:tools.call` (of
    /// whatever tab), one of these does too, and a DENY of those leaves none; one that has changed since the person saw it is not, until it is accepted.
    "host_list_tools" HostListTools {
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
    "host_list_servers" HostListServers {
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
    "host_list_offers" HostListOffers {
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
    "host_call_tool" HostCallTool {
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
    "host_create_run" HostCreateRun {
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
    "host_end_run" HostEndRun {
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
    "host_get_run" HostGetRun {
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
    "host_get_stats" HostGetStats {
        /// As in `host_check_permission`; all origins when the owner leaves it out.
        origin: Option<String>,
        /// Without meaning here.
        profile: Option<String>,
        /// Without meaning here.
        tab_id: Option<u64>,
    }
    /// Begins (or ends) the pushes `grant_changed`, `tools_changed` and `tool_changed`. An AI client is told only what
    /// concerns itself.
    "host_watch" HostWatch {
        /// False ends them; true when absent.
        watch: Option<bool>,
    }
    /// Gives the newest lines of the audit log that match, oldest first.
    "host_get_audit" HostGetAudit {
        /// Only what was done on behalf of this origin, or by it; `owner` for the person.
        origin: Option<String>,
        /// Only what happened since, in milliseconds since 1970.
        since: Option<u64>,
        /// At most so many; 200 when absent, 10000 at most.
        limit: Option<u64>,
    }
    /// Lists the tools that have changed since they were first seen, or last accepted.
    "host_list_tool_changes" HostListToolChanges {
        /// Only of this server.
        server_id: Option<ServerId>,
    }
    /// Accepts a tool as it is now: origins may use it again.
    "host_accept_tool_change" HostAcceptToolChange {
        /// The server.
        server_id: ServerId,
        /// The tool, as the server names it.
        tool_name: String,
        /// The hash of what is accepted, as `host_list_tool_changes` gives it: a tool that has changed again meanwhile is
        /// not accepted unseen.
        tool_hash: String,
    }
    /// Begins `server_message` pushes: MCP's log messages of running servers all of whose tools an AI client may use, from a
    /// level on. Servers that write none below another level are asked for these, too. Only with the role `mcp`.
    "mcp_follow_messages" McpFollowMessages {
        /// As in `mcp_set_log_level`.
        level: String,
    }
    /// An AI client begins to serve. One of whose name the bridge has neither heard before nor has a grant or a DENY gets
    /// `mcp:tools.list` and `mcp:tools.call` for good, where `mcp.firstUse` is `all`. Only with the role `mcp`.
    "mcp_begin" McpBegin {
        /// Tools that it is for, `server/tool` or `server/*`. Absent: all.
        only: Option<Vec<String>>,
    }
}
