//! A call of a turn, as `host::consent` judges it.
//!
//! Owns the way to consent and to the tool: on whose behalf a call is, in which conversation, and how its model was told of the tool.
//! Must never decide by itself.

use std::rc::Rc;
use std::time::Duration;

use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_policy::consent::compact::compact;

use super::Agent;
use super::approval::ApprovalResult;
use super::mode::consents;
use super::on_behalf::{Answerers, OnBehalf};
use super::session::Session;
use super::turn_log::{TurnLog, TurnLogItem};
use crate::host::asker::Caller;
use crate::host::consent::Judged;
use crate::host::consent::requested_call::RequestedCall;
use crate::host::{AskedTime, Consenting, ToolAnswer, ToolCall, Usable};
use crate::link::Audience;

/// A tool that the model wants called.
pub(super) struct Candidate {
    pub agent: Rc<Agent>,
    pub on_behalf: Rc<OnBehalf>,
    pub session: Rc<Session>,
    pub usable: Usable,
    pub arguments: String,
    /// The facts for consent.
    pub consent: Consenting,
}

impl Candidate {
    /// A call of this tool in the step `call_id` of a turn, as the model was told of the tool.
    pub fn new(
        agent: &Rc<Agent>,
        on_behalf: &Rc<OnBehalf>,
        session: &Rc<Session>,
        (usable, arguments): (Usable, &str),
        call_id: &str,
    ) -> Self {
        let consent = Consenting {
            chat: Some(session.chat.clone()),
            told: Some(usable.tool.hash),
            call_id: Some(call_id.to_owned()),
            form: None,
        };
        let (agent, on_behalf, session) = (agent.clone(), on_behalf.clone(), session.clone());
        Self { agent, on_behalf, session, usable, arguments: compact(arguments), consent }
    }

    /// The judgement of the call as it is now.
    pub async fn judged(&self) -> Judged {
        let caller = self.caller();
        self.agent.host.judged(&self.wish(&caller)).await
    }

    /// Waits until it may be called, and asks the person if needed. Gives their yes.
    pub async fn cleared(&self) -> ApprovalResult {
        let caller = self.caller();
        self.agent.host.clear(&self.wish(&caller), None, Duration::MAX).await
    }

    /// The caller on whose behalf it is called.
    pub fn caller(&self) -> Caller {
        self.on_behalf.caller(self.usable.source.kind())
    }

    fn wish<'a>(&'a self, caller: &'a Caller) -> RequestedCall<'a> {
        let Usable { source, tool, .. } = &self.usable;
        self.consent.wish(caller, (source, &tool.name), &self.arguments)
    }
}

/// A turn begins: earlier answers to single calls end, and its log hears of questions.
pub(super) fn begin(agent: &Agent, session: &Session, log: &Rc<TurnLog>) {
    let chat = &session.chat;
    chat.mode.set(consents(session.head.borrow().mode));
    agent.host.consent.begin_turn(chat);
    let log = Rc::downgrade(log);
    chat.on_question(Some(Rc::new(move |approval, waits| {
        let happening = || TurnLogItem::Approval { approval: Box::new(approval.clone()), waits };
        log.upgrade().iter().for_each(|log| log.add(happening()));
    })));
}

impl Agent {
    /// Makes the call.
    pub(super) async fn call_tool(
        &self,
        candidate: Candidate,
        turn: String,
        answerers: Option<Answerers>,
    ) -> Result<ToolAnswer, ErrorBody> {
        let caller = candidate.caller();
        let run = match &*candidate.on_behalf {
            OnBehalf::Owner(..) => turn,
            OnBehalf::Origin { run, .. } => run.clone(),
        };
        let conversation = Some(candidate.session.id.as_str().into());
        // Only servers ask questions.
        let answerer =
            answerers.zip(candidate.usable.source.as_server()).and_then(|(of, server)| of(&server));
        let party = Some(caller.party());
        let audience = Audience { party, conversation, answerer, ..Audience::default() };
        let Candidate { usable: Usable { source, tool, .. }, arguments, consent, .. } = candidate;
        let call = ToolCall {
            source,
            tool: tool.name,
            arguments,
            task: None,
            time: AskedTime { timeout: None, whole: None },
            run_id: Some(run),
            unless_stopped: false,
            audience,
            consent,
        };
        let noted = self.host.note_call(caller, call);
        self.host.call_tool(noted).await
    }
}
