//! The note of one call: in the audit log and in the counts.
//!
//! Owns the promise that each call is noted once, even if its caller leaves in the middle. Notes sizes and times, never
//! arguments or results.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_ipc_proto::codes::Code;
use harbor_ipc_proto::json::Json;
use harbor_ipc_proto::source_id::SourceId;
use harbor_policy::origin::Origin;
use harbor_policy::scope::Scope;
use harbor_policy::stats;

use super::Host;
use super::asker::{Caller, Sender};
use super::tool_call::ToolCall;
use super::traced::TraceInput;
use crate::config::OWNER;
use crate::link::ToolHash;
use crate::store::audit::AuditRecord;

/// The note of a call.
pub(super) struct CallNote {
    host: Rc<Host>,
    sender: Rc<Sender>,
    origin: Option<Arc<str>>,
    profile: Option<Arc<str>>,
    source: SourceId,
    /// True if there is a source of that name.
    is_source: bool,
    tool: Arc<str>,
    bytes_in: u64,
    run_id: Option<Arc<str>>,
    began: Instant,
    /// The instance that answers, if it is the caller's own.
    instance: RefCell<Option<Arc<str>>>,
    queued: Cell<Duration>,
    asked: Cell<Option<Instant>>,
    hash: Cell<Option<ToolHash>>,
    ending: Cell<CallEnding>,
    tool_failed: Cell<bool>,
}

/// The length of a run's id, in bytes.
const RUN_ID: usize = 64;

/// How a call ended.
#[derive(Clone, Copy)]
enum CallEnding {
    /// Not at all, so far.
    Open,
    /// Noted as a refusal with this code.
    Refused(Code),
    /// The call was answered, with a result of this many bytes.
    Answered(u64),
    /// The call failed, with this code.
    Failed(Code),
}

impl CallNote {
    pub(super) fn begin(host: &Rc<Host>, caller: &Caller, call: &ToolCall, is_source: bool) -> Self {
        let profile = match caller {
            Caller::Owner(..) => None,
            Caller::Origin(asker) => Some(asker.profile.clone()),
        };
        Self {
            host: host.clone(),
            sender: caller.sender().clone(),
            origin: caller.origin().map(Origin::shared),
            profile,
            source: call.source.clone(),
            is_source,
            tool: call.tool.clone(),
            bytes_in: call.arguments.len() as u64,
            // Another one was made up.
            run_id: call.run_id.as_deref().filter(|id| id.len() == RUN_ID).map(Into::into),
            began: Instant::now(),
            instance: RefCell::default(),
            queued: Cell::default(),
            asked: Cell::default(),
            hash: Cell::default(),
            ending: Cell::new(CallEnding::Open),
            tool_failed: Cell::default(),
        }
    }

    /// The name under which it is counted.
    fn accounted(&self) -> &str {
        self.origin.as_deref().unwrap_or(OWNER)
    }

    /// Notes how long the call has waited for its turn.
    pub(super) fn set_queued(&self, queued: Duration) {
        self.queued.set(queued);
    }

    /// This process of the source answers.
    pub(super) fn set_instance(&self, instance: Option<Arc<str>>) {
        *self.instance.borrow_mut() = instance;
    }

    /// The server is asked now.
    pub(super) fn set_asked(&self) {
        self.asked.set(Some(Instant::now()));
    }

    /// Notes whether its result says that the tool has failed.
    pub(super) fn set_tool_failed(&self, failed: bool) {
        self.tool_failed.set(failed);
    }

    /// The time since the call was asked for.
    pub(super) fn asked_for(&self) -> Duration {
        self.asked.get().map(|at| at.elapsed()).unwrap_or_default()
    }

    pub(super) fn set_hash(&self, hash: Option<ToolHash>) {
        self.hash.set(hash);
    }

    pub(super) fn hash(&self) -> Option<ToolHash> {
        self.hash.get()
    }

    /// The origin may not.
    pub(super) async fn refused(&self, error: &ErrorBody) {
        self.ending.set(CallEnding::Refused(error.code));
        let (scope, code) = (Scope::McpToolsCall.as_str(), error.code.as_str());
        self.host.note_decision(self.accounted(), Scope::McpToolsCall, code);
        let record = AuditRecord { scope: Some(scope), code: Some(code), ..self.record() };
        self.host.trail.refused(&self.sender, Some(self.accounted()), record).await;
    }

    fn record(&self) -> AuditRecord {
        AuditRecord {
            event: "call",
            by: self.sender.by.clone(),
            origin: self.origin.clone(),
            profile: self.profile.clone(),
            server: Some(self.source.shared()),
            instance: self.instance.borrow().clone(),
            tool: Some(self.tool.clone()),
            bytes_in: Some(self.bytes_in),
            run_id: self.run_id.clone(),
            ..AuditRecord::default()
        }
    }

    fn trace(&self, code: Option<Code>, bytes_out: Option<u64>) {
        self.host.trace(|| TraceInput {
            method: "tools/call",
            server: Some(self.source.as_str()),
            tool: Some(&self.tool),
            is_tool: self.hash.get().is_some(),
            by: &self.sender.by,
            origin: self.origin.as_ref(),
            began: self.began,
            queued: self.queued.get(),
            asked: self.asked.get(),
            code,
            tool_failed: self.tool_failed.get(),
            bytes_in: Some(self.bytes_in),
            bytes_out,
        });
    }

    /// It is over.
    pub(super) fn ended(&self, result: &Result<Json, ErrorBody>) {
        match result {
            Ok(json) => self.ending.set(CallEnding::Answered(json.as_str().len() as u64)),
            Err(error) => self.failed(error),
        }
    }

    /// It has come to nothing.
    pub(super) fn failed(&self, error: &ErrorBody) {
        self.ending.set(CallEnding::Failed(error.code));
    }
}

/// True if a code says that Harbor kept the call from its server on purpose.
fn blocks(code: Code) -> bool {
    matches!(
        code,
        Code::PermissionDenied
            | Code::ScopeRequired
            | Code::ToolNotAllowed
            | Code::RateLimited
            | Code::BudgetExceeded
    )
}

impl Drop for CallNote {
    fn drop(&mut self) {
        let (code, bytes_out) = match self.ending.get() {
            CallEnding::Refused(code) => return self.trace(Some(code), None),
            // Its caller has left.
            CallEnding::Open => (Some(Code::Cancelled), None),
            CallEnding::Answered(bytes) => (None, Some(bytes)),
            CallEnding::Failed(code) => (Some(code), None),
        };
        self.trace(code, bytes_out);
        let micros = |time: Duration| u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        let (duration_us, queued_us) = (micros(self.began.elapsed()), micros(self.queued.get()));
        // Names that a caller may have made up are not kept among the counts.
        let tool = if self.hash.get().is_some() { &*self.tool } else { stats::OTHERS };
        let server = if self.is_source { self.source.as_str() } else { stats::OTHERS };
        self.host.stats.borrow_mut().note(&stats::FinishedCall {
            origin: self.accounted(),
            server,
            tool,
            code: code.map(Code::as_str),
            tool_error: code.is_none() && self.tool_failed.get(),
            duration_us,
            queued_us,
            bytes_in: self.bytes_in,
            bytes_out: bytes_out.unwrap_or_default(),
        });
        let is_asked = self.asked.get().is_some();
        // Then nothing is called; as many attempts as somebody likes must not take the places of what was.
        let is_log_shut = !is_asked && self.host.trail.is_open().is_err();
        let is_blocked = is_log_shut || code.is_some_and(blocks);
        let decision = code.filter(|_| is_blocked).map_or("allowed", Code::as_str);
        self.host.note_decision(self.accounted(), Scope::McpToolsCall, decision);
        let record = AuditRecord {
            tool_hash: self.hash.get(),
            code: code.map(Code::as_str),
            tool_error: code.is_none() && self.tool_failed.get(),
            bytes_out,
            duration_us: Some(duration_us),
            queued_us: Some(queued_us),
            decision: if is_blocked { "denied" } else { "allowed" },
            ..self.record()
        };
        // Limits bound what an origin asks of servers, and nothing what it asks of Harbor.
        match is_log_shut || (!is_asked && self.origin.is_some()) {
            true => self.host.trail.not_asked(self.accounted(), record),
            false => self.host.trail.called(record),
        }
    }
}
