//! What tests ask the bridge for all the time, in one line each.

use harbor_ipc_proto::client::{
    AddServer, ConnectServer, ListServers, McpCallTool, McpConnect, McpGetLogs, McpListConnections, Ping,
    ServerView,
};
use harbor_ipc_proto::field::{JsonObject, Message as _};
use harbor_ipc_proto::json::Json;
use harbor_ipc_proto::server_id::ServerId;
use harbor_ipc_proto::source_id::SourceId;
use serde_json::{Value, json};

use super::{Answer, Client, ErrorValue, Pending, all_shown, server_id, shown, typed};
use crate::{Double, LIMIT};

impl Client {
    /// Defines a test double as the server `id`.
    ///
    /// # Panics
    /// When the bridge refuses.
    pub fn add(&self, id: &str, double: &Double) {
        self.reply(&typed::<AddServer>(&double.definition(id))).expect("the definition is valid");
    }

    /// Starts a server.
    ///
    /// # Panics
    /// When that fails.
    pub fn connect(&self, id: &str) -> Answer {
        self.send_request(&connect(id)).wait(LIMIT).expect("the server starts")
    }

    /// Defines a test double and starts it.
    pub fn add_and_connect(&self, id: &str, double: &Double) -> Answer {
        self.add(id, double);
        self.connect(id)
    }

    /// Tries to start a server that cannot be started.
    ///
    /// # Panics
    /// When it starts.
    #[must_use]
    pub fn fail_to_connect(&self, id: &str) -> ErrorValue {
        self.reply(&connect(id)).expect_err("this server cannot be started")
    }

    /// Sends a tool call.
    pub fn send_tool(&self, server: &str, tool: &str, arguments: &Value) -> Pending {
        self.request(
            McpCallTool::TAG,
            &json!({"server_id": server, "tool_name": tool, "arguments": arguments}),
        )
    }

    /// Calls a tool.
    ///
    /// # Errors
    /// What the bridge answered.
    pub fn tool(&self, server: &str, tool: &str, arguments: &Value) -> Result<Answer, ErrorValue> {
        self.send_tool(server, tool, arguments).wait(LIMIT)
    }

    /// Calls a tool that must work; returns the text of its first content item.
    ///
    /// # Panics
    /// When the call fails.
    #[must_use]
    pub fn tool_text(&self, server: &str, tool: &str, arguments: &Value) -> String {
        self.tool(server, tool, arguments).expect("the call works").content_text().to_owned()
    }

    /// The same of a server that is started for it.
    ///
    /// # Panics
    /// When it does not start, or the call fails.
    #[must_use]
    pub fn started_tool(&self, server: &str, tool: &str, arguments: &Value) -> String {
        self.demand(&ConnectServer { server_id: server_id(server), progress: None, restart: None });
        self.tool_text(server, tool, arguments)
    }

    /// The server as `list_servers` shows it.
    ///
    /// # Panics
    /// When it is not listed.
    #[must_use]
    pub fn server(&self, id: &str) -> Value {
        shown(&self.server_view(id))
    }

    /// The same, typed.
    ///
    /// # Panics
    /// When it is not listed.
    #[must_use]
    pub fn server_view(&self, id: &str) -> ServerView {
        let answer = self.reply(&ListServers {}).expect("listing works");
        answer.servers.into_iter().find(|server| server.server_id == id).expect("it is listed")
    }

    /// The running server as `mcp_list_connections` shows it.
    #[must_use]
    pub fn connection(&self, id: &str) -> Option<Value> {
        let answer = self.reply(&McpListConnections {}).ok()?;
        answer.connections.iter().find(|server| server.server_id == id).map(|server| shown(server))
    }

    /// The server's log lines.
    ///
    /// # Panics
    /// When there is no such server.
    #[must_use]
    pub fn logs(&self, id: &str) -> Vec<Value> {
        let ask = McpGetLogs { server_id: server_id(id), limit: None, follow: None };
        all_shown(&self.reply(&ask).expect("the server is known").logs)
    }

    /// Whether the bridge still answers.
    #[must_use]
    pub fn is_alive(&self) -> bool {
        let echo = Some("still there?".to_owned());
        self.reply(&Ping { echo: echo.clone() }).is_ok_and(|answer| answer.echo == echo)
    }
}

/// A call of a tool, as the owner, with these arguments (a JSON object) and nothing else said.
#[must_use]
pub fn tool_call(server_id: ServerId, tool: &str, arguments: String) -> McpCallTool {
    McpCallTool {
        server_id: SourceId::from(&server_id),
        tool_name: tool.to_owned(),
        arguments: Some(JsonObject(Json::from_valid(arguments))),
        timeout_ms: None,
        max_timeout_ms: None,
        progress: None,
        task: None,
        unless_stopped: None,
        answers: None,
    }
}

fn connect(id: &str) -> McpConnect {
    McpConnect { server_id: server_id(id), progress: None }
}
