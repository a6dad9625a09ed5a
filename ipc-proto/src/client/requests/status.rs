//! Requests about Harbor's state: status, logs, numbers.

use super::super::define_requests;
use crate::server_id::ServerId;

define_requests! {
    /// Any request about Harbor's state: status, logs, numbers.
    StatusRequest:
    /// Gives the last log lines of a server: its stderr, the lines on its stdout that were no messages, its MCP log
    /// messages, and Harbor's remarks about it.
    "mcp_get_logs" McpGetLogs -> McpGetLogsResult {
        /// The server's id.
        server_id: ServerId,
        /// The most lines in the reply, the newest ones, up to 1000; absent: 200.
        limit: Option<u64>,
        /// True: later lines come as `server_log` pushes, until a request says false. The reply and the pushes together
        /// have every line once.
        follow: Option<bool>,
    }
    /// Gives the status of everything, as it is now and from memory.
    "status" Status -> StatusResult {
        /// True: the memory and processor use of processes is measured anew before the reply. Otherwise it is that of the
        /// last measurement.
        fresh: Option<bool>,
    }
    /// Begins or ends `status_update` pushes: each change of a server, a client or the health as it happens, and the
    /// numbers in between. The reply has the status from which they begin.
    "subscribe_status" SubscribeStatus -> SubscribeStatusResult {
        /// False ends the pushes; absent: true.
        subscribe: Option<bool>,
        /// How often the numbers come, in milliseconds: 500 to 3,600,000; absent: 10,000.
        interval_ms: Option<u64>,
    }
    /// Gives Harbor's health in short.
    "health" Health -> HealthResult {}
    /// Gives the numbers of the status and of the calls as OpenMetrics text. Origins are in it only if `config.toml` says so.
    "get_metrics" GetMetrics -> GetMetricsResult {}
    /// Gives the values of `config.toml` that are in force.
    "get_config" GetConfig -> GetConfigResult {}
    /// Begins or ends `server_event` pushes: every change of every server's state. The reply has the states from which they
    /// begin.
    "watch_servers" WatchServers -> WatchServersResult {
        /// False ends the pushes; absent: true.
        watch: Option<bool>,
    }
    /// Begins `server_message` pushes: MCP log messages from a level on, of running servers all of whose tools an AI client
    /// may use. A server whose own level is higher is asked for these messages too. Only with the role `mcp`.
    "mcp_follow_messages" McpFollowMessages -> McpFollowMessagesResult {
        /// The level, as in `mcp_set_log_level`.
        level: String,
    }
}
