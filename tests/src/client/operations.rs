//! What tests ask the bridge for all the time, in one line each.

use serde_json::{Value, json};

use super::{Answer, Client, ErrorValue, Pending};
use crate::{Double, LIMIT};

impl Client {
    /// Defines a test double as the server `id`.
    ///
    /// # Panics
    /// When the bridge refuses.
    pub fn add(&self, id: &str, double: &Double) {
        self.call("add_server", &double.definition(id)).expect("the definition is valid");
    }

    /// Starts a server.
    ///
    /// # Panics
    /// When that fails.
    pub fn connect(&self, id: &str) -> Answer {
        self.call("mcp_connect", &json!({"server_id": id})).expect("the server starts")
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
        let answer = self.call("mcp_connect", &json!({"server_id": id}));
        answer.map(|answer| answer.text.clone()).expect_err("this server cannot be started")
    }

    /// Sends a tool call.
    pub fn send_tool(&self, server: &str, tool: &str, arguments: &Value) -> Pending {
        self.request(
            "mcp_call_tool",
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
        self.ask("connect_server", &json!({"server_id": server}));
        self.tool_text(server, tool, arguments)
    }

    /// The server as `list_servers` shows it.
    ///
    /// # Panics
    /// When it is not listed.
    #[must_use]
    pub fn server(&self, id: &str) -> Value {
        let answer = self.call("list_servers", &json!({})).expect("listing works");
        let servers = answer["servers"].as_array().expect("an array");
        servers.iter().find(|server| server["server_id"] == id).expect("it is listed").clone()
    }

    /// The running server as `mcp_list_connections` shows it.
    #[must_use]
    pub fn connection(&self, id: &str) -> Option<Value> {
        let answer = self.call("mcp_list_connections", &json!({})).ok()?;
        answer["connections"].as_array()?.iter().find(|server| server["server_id"] == id).cloned()
    }

    /// The server's log lines.
    ///
    /// # Panics
    /// When there is no such server.
    #[must_use]
    pub fn logs(&self, id: &str) -> Vec<Value> {
        let answer = self.call("mcp_get_logs", &json!({"server_id": id})).expect("the server is known");
        answer["logs"].as_array().expect("an array").clone()
    }

    /// Whether the bridge still answers.
    #[must_use]
    pub fn is_alive(&self) -> bool {
        self.call("ping", &json!({"echo": "still there?"}))
            .is_ok_and(|answer| answer["echo"] == "still there?")
    }
}
