//! Requests about how it all is: status, logs, numbers.

use super::super::define_requests;
use crate::server_id::ServerId;

define_requests! {
    /// Any request about how it all is: status, logs, numbers.
    StatusRequest:
    /// Gives the last log lines of a server: its stderr, what it printed on stdout that was no message, its MCP log
    /// messages, and Harbor's remarks about it.
    "mcp_get_logs" McpGetLogs -> McpGetLogsResult {
        /// The server's id.
        server_id: ServerId,
        /// At most so many lines, the newest; 200 when absent, 1000 at most.
        limit: Option<u64>,
        /// True: later lines come as `server_log` pushes, until a request says false. The answer and the pushes
        /// together have every line once.
        follow: Option<bool>,
    }
    /// Gives the state of everything, as of now and from memory.
    "status" Status -> StatusResult {
        /// Whether what processes use is measured anew before the answer; else it is as of the last measurement.
        fresh: Option<bool>,
    }
    /// Begins (or ends) `status_update` pushes: each change of a server, a client or the health as it happens, and in
    /// between the numbers. The answer has what they begin from.
    "subscribe_status" SubscribeStatus -> SubscribeStatusResult {
        /// False ends them; true when absent.
        subscribe: Option<bool>,
        /// How often the numbers come, in milliseconds: 500 to 3,600,000; 10,000 when absent.
        interval_ms: Option<u64>,
    }
    /// Says how it all is, in short.
    "health" Health -> HealthResult {}
    /// Gives the numbers of the status and of the calls as OpenMetrics text. Origins are in it only if `config.toml` says so.
    "get_metrics" GetMetrics -> GetMetricsResult {}
    /// Gives what `config.toml` says, as it is in force.
    "get_config" GetConfig -> GetConfigResult {}
    /// Begins (or ends) `server_event` pushes: every change of every server's state. The answer has the states from
    /// which they begin.
    "watch_servers" WatchServers -> WatchServersResult {
        /// False ends them; true when absent.
        watch: Option<bool>,
    }
    /// Begins `server_message` pushes: MCP's log messages of running servers all of whose tools an AI client may use, from a
    /// level on. Servers that write none below another level are asked for these, too. Only with the role `mcp`.
    "mcp_follow_messages" McpFollowMessages -> McpFollowMessagesResult {
        /// As in `mcp_set_log_level`.
        level: String,
    }
}
