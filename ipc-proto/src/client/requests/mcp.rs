//! Requests about the tools, resources and prompts of servers, by MCP.

use super::super::define_requests;
use crate::field::JsonObject;
use crate::server_id::ServerId;
use crate::source_id::SourceId;

define_requests! {
    /// Any request about the tools, resources and prompts of servers, by MCP.
    McpRequest:
    /// Starts a server as `connect_server` does, and answers with everything that it offers.
    "mcp_connect" McpConnect -> McpConnectResult {
        /// The server's id.
        server_id: ServerId,
        /// As in `connect_server`.
        progress: Option<bool>,
    }
    /// Stops a server as `disconnect_server` does.
    "mcp_disconnect" McpDisconnect -> McpDisconnectResult {
        /// The server's id.
        server_id: ServerId,
    }
    /// Lists the servers that are running.
    "mcp_list_connections" McpListConnections -> McpListConnectionsResult {}
    /// Asks a server for its tools, all pages. If the server is stopped, or was never started, the reply has the tools that
    /// Harbor knows.
    "mcp_list_tools" McpListTools -> McpListToolsResult {
        /// The server's id.
        server_id: SourceId,
        /// How long to wait for the server's answer, in milliseconds, if Harbor knows its last list. Otherwise, and when
        /// absent: as long as for any request. 0: only what Harbor knows; no server is started for it.
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
    in CallRequest:
    /// Calls a tool. The reply is the server's result, or an error. On a timeout, a cancel or a vanished client the server
    /// gets `notifications/cancelled`.
    "mcp_call_tool" McpCallTool -> McpCallToolResult {
        /// The server's id.
        server_id: SourceId,
        /// The tool's name, as the server gave it.
        tool_name: String,
        /// The arguments, passed on unchanged; absent: `{}`.
        arguments: Option<JsonObject>,
        /// How long the call may take, in milliseconds (1 to 3,600,000); absent: the definition's `call_timeout_ms`. With
        /// `progress`, each sign of progress gives it as much time again.
        timeout_ms: Option<u64>,
        /// How long the call may take in all, whatever its progress, in milliseconds (1 to 3,600,000). Absent: 600,000, or
        /// `timeout_ms` if that is longer.
        max_timeout_ms: Option<u64>,
        /// True: `progress` pushes come.
        progress: Option<bool>,
        /// MCP's task parameters (tasks extension), passed on unchanged.
        task: Option<JsonObject>,
        /// True: if the server is stopped and no call starts it, the call only fails (`ERR_SERVER_UNAVAILABLE`, `sent`
        /// false), and nothing is counted. For callers that will then start the server.
        unless_stopped: Option<bool>,
        /// The questions that the caller can answer during the call: `sampling` and `elicitation` of MCP's client
        /// capabilities. The server's questions then come as `ask` pushes. Absent: none.
        answers: Option<JsonObject>,
    }
    in McpRequest:
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
        /// The prompt's arguments, strings by MCP's rules; passed on unchanged.
        arguments: Option<JsonObject>,
        /// As in `mcp_call_tool`.
        timeout_ms: Option<u64>,
        /// As in `mcp_call_tool`.
        answers: Option<JsonObject>,
    }
    /// Answers a question of a server: an `ask` push.
    "mcp_answer" McpAnswer -> McpAnswerResult {
        /// The question's number, from the push.
        ask_id: u64,
        /// The answer: MCP's result.
        result: Option<JsonObject>,
        /// A JSON-RPC error in place of a result: `code` and `message`. With neither, the question is refused.
        error: Option<JsonObject>,
    }
    /// Asks for completions of an argument of a prompt or a resource template.
    "mcp_complete" McpComplete -> McpCompleteResult {
        /// The server's id.
        server_id: ServerId,
        /// MCP's `ref` object, passed on unchanged.
        reference: JsonObject,
        /// MCP's `argument` object, passed on unchanged.
        argument: JsonObject,
        /// MCP's `context` object, passed on unchanged.
        context: Option<JsonObject>,
    }
    /// Subscribes to changes of a resource. This client gets them as `resource_updated` pushes.
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
    /// Sets the level from which the server logs by MCP.
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
        /// The request's parameters, passed on unchanged.
        arguments: Option<JsonObject>,
    }
    /// Begins the work of an AI client. If the bridge has never heard of its name, and there is neither a grant nor a DENY
    /// for it, it gets `mcp:tools.list` and `mcp:tools.call` for good, provided that `mcp.firstUse` is `all`. Only with the
    /// role `mcp`.
    "mcp_begin" McpBegin -> McpBeginResult {
        /// The tools that these first grants cover, `server/tool` or `server/*`. Absent: all.
        only: Option<Vec<String>>,
    }
}
