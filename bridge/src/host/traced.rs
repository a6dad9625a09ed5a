//! The parts of a call that go into its trace.
//!
//! Owns what a trace says of callers and names. A name that a caller may have made up is left out: it may hold anything,
//! and a trace has no arguments.

use std::cell::Cell;
use std::sync::Arc;
use std::time::{Duration, Instant};

use harbor_home::clock::wall_clock_nanos;
use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_ipc_proto::codes::Code;
use harbor_ipc_proto::json::Json;
use harbor_ipc_proto::link::runner::Operation;
use harbor_ipc_proto::server_id::ServerId;
use harbor_ipc_proto::source_id::SourceId;
use harbor_policy::origin::Origin;

use super::Host;
use super::asker::Caller;
use super::metrics::TOOL_ERROR;
use crate::config::OWNER;
use crate::traces::{CallIds, CallTimes, TracedCall};

/// The longest name of a tool in a trace, in bytes; MCP's names have 128 characters at most.
const MAX_NAME: usize = 256;

/// A call that is over.
pub(super) struct TraceInput<'a> {
    pub(super) method: &'static str,
    pub(super) server: Option<&'a str>,
    pub(super) tool: Option<&'a Arc<str>>,
    /// True if the server has that tool, as far as its tools are known.
    pub(super) is_tool: bool,
    /// The principal that sent it.
    pub(super) by: &'a str,
    pub(super) origin: Option<&'a Arc<str>>,
    pub(super) began: Instant,
    pub(super) queued: Duration,
    pub(super) asked: Option<Instant>,
    pub(super) code: Option<Code>,
    /// True if there is a result in which the tool says that it has failed.
    pub(super) tool_failed: bool,
    pub(super) bytes_in: Option<u64>,
    pub(super) bytes_out: Option<u64>,
}

impl Host {
    /// Traces a finished call, if it is sampled.
    pub(super) fn trace<'a>(&self, seen: impl FnOnce() -> TraceInput<'a>) {
        if let Some(ids) = self.traces.sampled() {
            self.traces.note(self.traced(ids, seen()));
        }
    }

    fn traced(&self, ids: CallIds, seen: TraceInput<'_>) -> TracedCall {
        let id = seen.server.and_then(SourceId::parse);
        let source = id.as_ref().and_then(|id| self.sources.get(id));
        let has_tool = |name: &str| {
            let tools = source.as_ref().and_then(|source| source.tools());
            name.len() <= MAX_NAME && (seen.is_tool || tools.is_some_and(|tools| tools.get(name).is_some()))
        };
        let whole = seen.began.elapsed();
        let server = id.as_ref().and_then(SourceId::as_server).and_then(|id| self.supervisor.get(&id));
        let confined = server.and_then(|server| server.confined());
        TracedCall {
            ids,
            method: seen.method,
            tool: seen.tool.filter(|name| has_tool(name)).cloned(),
            server: source.map(|source| source.id().shared()),
            sandbox: confined.map(|confined| confined.profile.level.as_str()),
            caller: caller(seen.by, seen.origin.map(|origin| &**origin)),
            origin: seen.origin.filter(|_| self.traces.tells_origins()).cloned(),
            error: seen.code.map(Code::as_str).or(seen.tool_failed.then_some(TOOL_ERROR)),
            bytes_in: seen.bytes_in,
            bytes_out: seen.bytes_out,
            times: CallTimes {
                began: wall_clock_nanos().saturating_sub(u64::try_from(whole.as_nanos()).unwrap_or(u64::MAX)),
                whole,
                queued: Some(seen.queued).filter(|queued| !queued.is_zero()),
                asked: seen.asked.map(|at| at.saturating_duration_since(seen.began)),
            },
        }
    }
}

/// The kind of caller: an AI client speaks for itself, and another speaks for a page.
fn caller(by: &str, origin: Option<&str>) -> &'static str {
    match origin {
        None => OWNER,
        Some(origin) if origin == by => "client",
        Some(_) => "page",
    }
}

/// A request that is no tool call, until it is over.
pub(super) struct Asking<'a> {
    host: &'a Host,
    method: Option<&'static str>,
    server: Arc<str>,
    by: Arc<str>,
    origin: Option<Arc<str>>,
    began: Instant,
    queued: Cell<Duration>,
    asked: Cell<Option<Instant>>,
    /// The outcome. It is `cancelled` until something else is set, since a caller may leave.
    ended: Cell<Result<u64, Code>>,
}

impl<'a> Asking<'a> {
    pub(super) fn begin(host: &'a Host, caller: &Caller, id: &ServerId, operation: &Operation<'_>) -> Self {
        Self {
            host,
            method: method_of(operation),
            server: id.shared(),
            by: caller.sender().by.clone(),
            origin: caller.origin().map(Origin::shared),
            began: Instant::now(),
            queued: Cell::default(),
            asked: Cell::default(),
            ended: Cell::new(Err(Code::Cancelled)),
        }
    }

    /// The time at which the call came.
    pub(super) fn began(&self) -> Instant {
        self.began
    }

    /// Notes how long the call has waited for its turn.
    pub(super) fn set_queued(&self, queued: Duration) {
        self.queued.set(queued);
    }

    /// The server is asked now.
    pub(super) fn set_asked(&self) {
        self.asked.set(Some(Instant::now()));
    }

    /// It is over.
    pub(super) fn ended(&self, result: Result<&Json, &ErrorBody>) {
        self.ended.set(result.map(|json| json.as_str().len() as u64).map_err(|error| error.code));
    }
}

impl Drop for Asking<'_> {
    fn drop(&mut self) {
        let Some(method) = self.method else { return };
        let ended = self.ended.get();
        self.host.trace(|| TraceInput {
            method,
            server: Some(&self.server),
            tool: None,
            is_tool: false,
            by: &self.by,
            origin: self.origin.as_ref(),
            began: self.began,
            queued: self.queued.get(),
            asked: self.asked.get(),
            code: ended.err(),
            tool_failed: false,
            bytes_in: None,
            bytes_out: ended.ok(),
        });
    }
}

/// MCP's name of a traced request. None for a request that only looks.
pub(super) fn method_of(operation: &Operation<'_>) -> Option<&'static str> {
    match operation {
        Operation::ReadResource { .. } => Some("resources/read"),
        Operation::GetPrompt { .. } => Some("prompts/get"),
        Operation::Complete { .. } => Some("completion/complete"),
        Operation::Subscribe { .. } => Some("resources/subscribe"),
        Operation::Unsubscribe { .. } => Some("resources/unsubscribe"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_speaks_for_itself_is_a_client() {
        assert_eq!(caller("owner", None), "owner");
        assert_eq!(caller("client://A", Some("client://A")), "client");
        assert_eq!(caller("extension:x", Some("https://a.example")), "page");
        assert_eq!(caller("owner", Some("https://a.example")), "page");
    }
}
