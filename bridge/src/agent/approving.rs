//! A call of a turn, as `host::consent` judges it.
//!
//! Owns the way to consent: on whose behalf a call is, in which conversation, and how its model was told of the tool.
//! Must never decide by itself.

use std::rc::Rc;
use std::time::Duration;

use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_policy::consent::answers::Cover;

use super::mode::consents;
use super::session::Session;
use super::turn_log::{TurnLog, TurnLogItem};
use super::{Agent, OnBehalf};
use crate::host::asker::Caller;
use crate::host::consent::Judged;
use crate::host::consent::requested_call::RequestedCall;
use crate::host::{Consenting, Usable};

/// The person's yes to a call, or why it may not be made; no yes if none was needed any more.
pub(super) type ApprovalResult = Result<Option<Cover>, ErrorBody>;

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
        match &*self.on_behalf {
            OnBehalf::Owner(sender, turn) => {
                Caller::Owner(sender.clone(), turn.right(self.usable.source.kind()))
            }
            OnBehalf::Origin { asker, .. } => Caller::Origin(asker.clone()),
        }
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
