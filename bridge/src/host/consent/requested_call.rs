//! A call as consent sees it: its caller, and what Harbor knows of its tool and of its source's sandbox.
//!
//! Owns gathering these facts. Must never take them from what the caller says.

use std::rc::Rc;
use std::sync::Arc;

use harbor_ipc_proto::source_id::SourceId;
use harbor_policy::consent::facts::{Effect, Holding};
use harbor_policy::consent::{Call, Names, Who};

use super::chat::Chat;
use crate::host::asker::Caller;
use crate::link::ToolHash;

/// The facts that a source gives about one call. None of them comes from a server.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct About {
    /// The name under which its answer is private, if it is not the source's name.
    pub name: Option<String>,
    /// True if the call stays within the page that is open.
    pub within: bool,
    /// True if the call looks at a loaded document, and its page does not notice.
    pub looks: bool,
    /// The arguments that are ids of Harbor's own.
    pub ids: &'static [&'static str],
}

/// A call that somebody wants to make.
#[derive(Debug, Clone, Copy)]
pub struct RequestedCall<'a> {
    /// The caller.
    pub caller: &'a Caller,
    /// The conversation that it is part of.
    pub chat: Option<&'a Rc<Chat>>,
    /// The source that has the tool.
    pub source: &'a SourceId,
    /// The tool, or the method of a request.
    pub tool: &'a Arc<str>,
    /// True for a request of MCP that is no tool call: it counts as a tool that only reads.
    pub is_request: bool,
    /// JSON object.
    pub arguments: &'a str,
    /// The hash of the tool when the model was told of it.
    pub told: Option<ToolHash>,
    /// The call's id in its turn.
    pub call_id: Option<&'a str>,
}

/// The facts about a tool and its source.
#[derive(Debug, Clone)]
pub struct KnownTool {
    /// The tool's effect.
    pub effect: Effect,
    /// True if more than its server's word says so.
    pub is_sure: bool,
    /// The tool's hash, where the tool is listed.
    pub hash: Option<ToolHash>,
    /// The schema of its arguments, in a conversation: there it counts what was typed.
    pub schema: Option<String>,
    /// The data that its source can reach, open and write.
    pub holding: Holding,
    /// The facts that its source gives about this call.
    pub about: About,
    /// The files of the person's that the call hands over, in words for them.
    pub files: Names,
}

/// A wanted call, kept while the person thinks.
#[derive(Debug, Clone)]
pub(super) struct QuestionedCall {
    pub principal: Arc<str>,
    pub chat: Option<Arc<str>>,
    /// True if it is part of a turn: a no to it ends with the turn.
    pub in_turn: bool,
    pub source: SourceId,
    pub tool: Arc<str>,
    pub arguments: String,
    pub known: KnownTool,
}

impl RequestedCall<'_> {
    /// The kind of caller, for the policy.
    pub(super) fn who(&self) -> Who {
        match (self.caller, self.chat) {
            (Caller::Owner(..), None) => Who::Typed,
            (Caller::Owner(..), Some(chat)) => Who::Person(chat.mode.get()),
            (Caller::Origin(_), Some(chat)) if chat.is_client => Who::Client { guard: true },
            (Caller::Origin(_), Some(_)) => Who::Run,
            (Caller::Origin(asker), None) if asker.sender.own.is_some() => Who::Client { guard: false },
            (Caller::Origin(_), None) => Who::Page,
        }
    }

    /// The principal on whose behalf the call is made.
    pub(super) fn principal(&self) -> Arc<str> {
        self.caller.origin().map_or_else(|| crate::config::OWNER.into(), |origin| origin.shared())
    }

    pub(super) fn wanted(&self, known: &KnownTool) -> QuestionedCall {
        QuestionedCall {
            principal: self.principal(),
            chat: self.chat.map(|chat| chat.id.clone()),
            in_turn: self.chat.is_some_and(|chat| !chat.is_client),
            source: self.source.clone(),
            tool: self.tool.clone(),
            arguments: self.arguments.to_owned(),
            known: known.clone(),
        }
    }
}

impl KnownTool {
    /// The facts about a request of MCP that is no tool call.
    pub(in crate::host) fn of_request(holding: Holding) -> Self {
        let (effect, about) = (Effect::Reads, About::default());
        Self { effect, is_sure: false, hash: None, schema: None, holding, about, files: Names::new() }
    }
}

/// A call of these parts, for the policy.
pub(super) fn call<'a>(
    (principal, chat): (&'a str, Option<&'a str>),
    (source, tool): (&'a SourceId, &'a str),
    arguments: &'a str,
    known: &'a KnownTool,
) -> Call<'a> {
    Call {
        principal,
        chat,
        source: source.as_str(),
        tool,
        hash: known.hash.as_ref(),
        arguments,
        // Without a schema, every key counts as the caller's own.
        schema: Some(known.schema.as_deref().unwrap_or("{}")),
        effect: known.effect,
        is_sure: known.is_sure,
        holding: known.holding,
        name: known.about.name.as_deref().unwrap_or(source.as_str()),
        within: known.about.within,
        looks: known.about.looks,
        ids: known.about.ids,
        files: &known.files,
    }
}

impl QuestionedCall {
    pub fn call(&self) -> Call<'_> {
        call(
            (&self.principal, self.chat.as_deref()),
            (&self.source, &self.tool),
            &self.arguments,
            &self.known,
        )
    }
}
