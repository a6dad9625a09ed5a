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
use super::consent::wanted::Wish;
use crate::link::{Audience, ToolHash};

/// What is to be called.
pub struct ToolCall {
    /// What has the tool.
    pub source: SourceId,
    /// The tool, as its source names it.
    pub tool: Arc<str>,
    /// JSON object.
    pub arguments: String,
    /// JSON object: MCP's task parameters.
    pub task: Option<String>,
    /// How long it may take.
    pub time: AskedTime,
    /// The run that it counts in.
    pub run_id: Option<String>,
    /// Of a source that is stopped, and that no call starts, the caller is only told.
    pub unless_stopped: bool,
    /// Who hears of it while it is open.
    pub audience: Audience,
    /// What consent has to know of it.
    pub consent: Consenting,
}

/// What consent has to know of a call besides what it is.
#[derive(Default, Clone)]
pub struct Consenting {
    /// The conversation that it is part of.
    pub chat: Option<Rc<Chat>>,
    /// What its model was told of the tool.
    pub told: Option<ToolHash>,
    /// Its id in its turn.
    pub call_id: Option<String>,
    /// How its caller itself can ask the person.
    pub form: Option<Form>,
}

impl Consenting {
    /// A call, for consent.
    pub fn wish<'a>(
        &'a self,
        caller: &'a Caller,
        (source, tool): (&'a SourceId, &'a Arc<str>),
        arguments: &'a str,
    ) -> Wish<'a> {
        let Self { chat, told, call_id, .. } = self;
        let (chat, told, call_id) = (chat.as_ref(), *told, call_id.as_deref());
        Wish { caller, chat, source, tool, is_request: false, arguments, told, call_id }
    }
}

impl ToolCall {
    pub(super) fn wish<'a>(&'a self, caller: &'a Caller) -> Wish<'a> {
        self.consent.wish(caller, (&self.source, &self.tool), &self.arguments)
    }

    /// How long the person may take, where the call is an origin's own.
    pub(super) fn patience(&self) -> Duration {
        self.time.timeout.map_or(Duration::MAX, Duration::from_millis)
    }
}
