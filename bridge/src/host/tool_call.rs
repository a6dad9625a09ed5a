//! A tool call as it is asked for: what is called, how long it may take, and what consent has to know of it.
//!
//! Owns that form, whoever asks. Must never look into the arguments.

use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use harbor_ipc_proto::source_id::SourceId;

use super::AskedTime;
use super::asker::Caller;
use super::consent::asking::Form;
use super::consent::chat::Chat;
use super::consent::requested_call::RequestedCall;
use crate::link::{Audience, ToolHash};

/// A tool call that somebody asks for.
pub struct ToolCall {
    /// The source that has the tool.
    pub source: SourceId,
    /// The tool, as its source names it.
    pub tool: Arc<str>,
    /// JSON object.
    pub arguments: String,
    /// JSON object: MCP's task parameters.
    pub task: Option<String>,
    /// The requested time limit.
    pub time: AskedTime,
    /// The run that it counts in.
    pub run_id: Option<String>,
    /// True if the call must not wait for a stopped source that no call starts. Its caller gets an error.
    pub unless_stopped: bool,
    /// Those who hear of the call while it is open.
    pub audience: Audience,
    /// The facts that consent needs about the call.
    pub consent: Consenting,
}

/// The facts that consent needs besides the call itself.
#[derive(Default, Clone)]
pub struct Consenting {
    /// The conversation that it is part of.
    pub chat: Option<Rc<Chat>>,
    /// The hash of the tool when the model was told of it.
    pub told: Option<ToolHash>,
    /// The call's id in its turn.
    pub call_id: Option<String>,
    /// The form by which the caller itself can ask the person.
    pub form: Option<Form>,
}

impl Consenting {
    /// The call as consent sees it.
    pub fn wish<'a>(
        &'a self,
        caller: &'a Caller,
        (source, tool): (&'a SourceId, &'a Arc<str>),
        arguments: &'a str,
    ) -> RequestedCall<'a> {
        let Self { chat, told, call_id, .. } = self;
        let (chat, told, call_id) = (chat.as_ref(), *told, call_id.as_deref());
        RequestedCall { caller, chat, source, tool, is_request: false, arguments, told, call_id }
    }
}

impl ToolCall {
    pub(super) fn wish<'a>(&'a self, caller: &'a Caller) -> RequestedCall<'a> {
        self.consent.wish(caller, (&self.source, &self.tool), &self.arguments)
    }

    /// How long the person may take about an origin's own call.
    pub(super) fn patience(&self) -> Duration {
        self.time.timeout.map_or(Duration::MAX, Duration::from_millis)
    }
}
