//! Requests about what servers offer, by MCP.

use super::super::define_requests;
use crate::field::JsonObject;
use crate::server_id::ServerId;
use crate::source_id::SourceId;

define_requests! {
    /// Any request about what servers offer, by MCP.
    McpRequest:
    /// As `connect_server`, and answers with everything that the server offers.
    "mcp_connect" McpConnect -> McpConnectResult {
        /// The server's id.
        server_id: ServerId,
        /// As in `connect_server`.
        progress: Option<bool>,
    }
    /// As `disconnect_server`.
    "mcp_disconnect" McpDisconnect -> McpDisconnectResult {
        /// The server's id.
        server_id: ServerId,
    }
    /// Lists the servers that are running.
    "mcp_list_connections" McpListConnections -> McpListConnectionsResult {}
    /// Asks a server for its tools, all pages. Of one that was stopped, or has not been started yet, what is known of them.
    "mcp_list_tools" McpListTools -> McpListToolsResult {
        /// The server's id.
        server_id: SourceId,
        /// How long its answer is waited for, in milliseconds, where it is known what it listed last; else as long as for any
        /// request. 0: what is at hand; no server is started for it.
        wait_ms: Option<u64>,
    }
    /// Asks a running server for its resources, all pages.
    "mcp_list_resources" McpListResources -> McpListResourcesResult {
        /// The server's id.
        server_id: ServerId,
    }
    /// Asks a running server for its resource templates, all pages.
    "mcp_list_resource_templates" McpListResourceTemplates -> McpListResourceTemplatesResult {
        /// The server's id.
        server_id: ServerId,
    }
    /// Asks a running server for its prompts, all pages.
    "mcp_list_prompts" McpListPrompts -> McpListPromptsResult {
        /// The server's id.
        server_id: ServerId,
    }
    /// Calls a tool. Ends in the server's result, or an error; on a timeout, a cancel or a vanished client
    /// the server gets `notifications/cancelled`.
    "mcp_call_tool" McpCallTool -> McpCallToolResult {
        /// The server's id.
        server_id: SourceId,
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
        /// True: of a server that is stopped and that no call starts, it is only told (`ERR_SERVER_UNAVAILABLE`, `sent`
        /// false), and nothing is counted: the caller is about to start it.
        unless_stopped: Option<bool>,
        /// What the caller can answer while it is open: of MCP's client capabilities `sampling` and `elicitation`. What the
        /// server asks then comes as `ask` pushes.
        answers: Option<JsonObject>,
    }
    /// Reads a resource.
    "mcp_read_resource" McpReadResource -> McpReadResourceResult {
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
    "mcp_get_prompt" McpGetPrompt -> McpGetPromptResult {
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
    "mcp_answer" McpAnswer -> McpAnswerResult {
        /// The question's number.
        ask_id: u64,
        /// MCP's result.
        result: Option<JsonObject>,
        /// Or a JSON-RPC error: `code` and `message`. With neither, it is refused.
        error: Option<JsonObject>,
    }
    /// Asks for completions of a prompt's or a resource template's argument.
    "mcp_complete" McpComplete -> McpCompleteResult {
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
    "mcp_subscribe_resource" McpSubscribeResource -> McpSubscribeResourceResult {
        /// The server's id.
        server_id: ServerId,
        /// The resource's URI.
        uri: String,
    }
    /// Ends a subscription.
    "mcp_unsubscribe_resource" McpUnsubscribeResource -> McpUnsubscribeResourceResult {
        /// The server's id.
        server_id: ServerId,
        /// The resource's URI.
        uri: String,
    }
    /// Sets how much the server logs by MCP.
    "mcp_set_log_level" McpSetLogLevel -> McpSetLogLevelResult {
        /// The server's id.
        server_id: ServerId,
        /// `debug`, `info`, `notice`, `warning`, `error`, `critical`, `alert` or `emergency`.
        level: String,
    }
    /// Asks a running server whether it is alive.
    "mcp_ping" McpPing -> McpPingResult {
        /// The server's id.
        server_id: ServerId,
    }
    /// Sends a request of MCP's tasks extension.
    "mcp_task" McpTask -> McpTaskResult {
        /// The server's id.
        server_id: ServerId,
        /// `tasks/get`, `tasks/update`, `tasks/cancel`, `tasks/result` or `tasks/list`.
        method: String,
        /// Its parameters, passed on as they are.
        arguments: Option<JsonObject>,
    }
    /// An AI client begins to serve. One of whose name the bridge has neither heard before nor has a grant or a DENY gets
    /// `mcp:tools.list` and `mcp:tools.call` for good, where `mcp.firstUse` is `all`. Only with the role `mcp`.
    "mcp_begin" McpBegin -> McpBeginResult {
        /// Tools that it is for, `server/tool` or `server/*`. Absent: all.
        only: Option<Vec<String>>,
    }
}
