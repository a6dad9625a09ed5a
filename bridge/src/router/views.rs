//! Events and log lines of servers, as clients see them.
//!
//! Owns the words of pushes about servers. `host` has the view of a server itself.

use harbor_ipc_proto::client::{LogLine, ServerEvent, ServerLog};
use harbor_policy::lifecycle::State;

use crate::supervisor::{Line, Source, StateChange};

/// The state of a removed server in events.
const REMOVED: &str = "removed";

pub(super) fn event(change: &StateChange) -> ServerEvent {
    let word = |state: State| state.as_str().into();
    ServerEvent {
        server_id: change.server.to_string(),
        old_state: change.before.map(word),
        new_state: change.now.map_or(REMOVED.into(), word),
        timestamp: change.timestamp,
        busy: change.busy,
        cause: change.report.as_ref().map(|report| report.cause.into()),
        message: change.report.as_ref().map(|report| report.message.clone()),
        attempt: Some(change.attempt).filter(|attempt| *attempt > 0),
        next_retry: change.next_retry,
        pid: change.pid,
    }
}

pub(super) fn log_line(line: Line) -> LogLine {
    LogLine {
        timestamp: line.timestamp,
        source: source(line.source).into(),
        level: line.level,
        text: line.text,
    }
}

pub(super) fn log_push(server_id: &str, line: &Line) -> ServerLog {
    let LogLine { timestamp, source, level, text } = log_line(line.clone());
    ServerLog { server_id: server_id.to_owned(), timestamp, source, level, text }
}

fn source(source: Source) -> &'static str {
    match source {
        Source::Stderr => "stderr",
        Source::Stdout => "stdout",
        Source::Mcp => "mcp",
        Source::Harbor => "harbor",
        Source::Install => "install",
    }
}
