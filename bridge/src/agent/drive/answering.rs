//! An answer of the model: how it ended, its text and its calls.
//!
//! Owns that an answer which is cut off, kept back, or no call though it had to be one, is told as such, with tools as without. Must
//! never take a part of an answer for the whole.

use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_ipc_proto::codes::Code;
use harbor_ipc_proto::link::model::Cause;
use harbor_ipc_proto::model::{Finish, ModelMessage, Part, ToolCall, ToolChoice};
use harbor_policy::turn::{Event, RequestForm};

use super::super::steps;
use super::super::turn_log::TurnLogItem;
use super::{Drive, TurnCall};
use crate::models::ModelAnswer;

/// Tells that an answer is not whole.
const CUT: &str = "the answer was cut off at its limit of tokens";

/// Tells that a step is not whole, and that it would have been a call.
const CUT_CALL: &str = "the answer breaks off within a call, so that call was not made";

/// The text of such a step in the conversation.
const BROKEN_CALL: &str = "(a call that breaks off)";

/// Tells that the model is asked once more, and that it has called no tool even so.
const ASKED_FOR_A_CALL: &str = "the model called no tool, so it is asked for one once more";
const NO_CALL: &str = "the model called no tool, though it had to";

impl Drive {
    pub(super) fn answered(&mut self, mut answered: ModelAnswer) -> Event {
        self.tell_left_out(&answered);
        let is_cut = answered.finish == Finish::Length;
        if is_cut {
            self.tell(TurnLogItem::Status(CUT.into()));
        }
        self.uncounted = self.uncounted.saturating_add(self.outcome.spent.add(&self.settled, &self.session));
        if answered.finish == Finish::Error {
            self.outcome.error = Some(kept_back(&answered));
            return Event::Failed;
        }
        self.read_text(&mut answered);
        if self.is_step {
            answered.message = self.step(answered.message, is_cut);
        }
        let calls: Vec<ToolCall> = answered.message.parts.iter().filter_map(call_of).collect();
        let had_to_call = calls.is_empty() && self.plan.asked.1 == ToolChoice::Required;
        if had_to_call && self.asks_for_a_call() {
            return Event::Adapted(RequestForm::ForcedCall);
        }
        self.tell_held(&answered.message);
        if had_to_call {
            self.tell(TurnLogItem::Status(NO_CALL.into()));
        }
        self.tell(TurnLogItem::Usage(self.outcome.spent.view()));
        self.calls = calls.into_iter().map(|call| self.plan_call(call)).collect();
        let wanted = self.calls.iter().map(|call| self.plan.toolbox.wanted(&call.planned)).collect();
        self.calls.iter().for_each(|call| self.tell(TurnLogItem::Call(call.planned.shown.clone())));
        self.answer = Some(answered.message);
        Event::Answered { calls: wanted, tokens: std::mem::take(&mut self.uncounted) }
    }

    fn plan_call(&self, call: ToolCall) -> TurnCall {
        let planned = self.plan.planned(call, &self.session);
        TurnCall { planned, result: None, remark: None, refusal: None, waits: None }
    }

    /// Reads a step. Of one that is cut off, the beginning of its answer stays.
    fn step(&self, message: ModelMessage, is_cut: bool) -> ModelMessage {
        // A number that the session has not used yet.
        let number = self.session.messages.borrow().len();
        let mut read = steps::read(message, number);
        let text = read.text();
        if is_cut
            && text.trim_start().starts_with('{')
            && !read.parts.iter().any(|part| call_of(part).is_some())
        {
            let begun = steps::begun_answer(&text);
            if begun.is_none() {
                self.tell(TurnLogItem::Status(CUT_CALL.into()));
            }
            read.parts.retain(|part| !matches!(part, Part::Text(_)));
            read.parts.push(Part::Text(begun.unwrap_or_else(|| BROKEN_CALL.into())));
        }
        read
    }

    /// Gives the request the form of a call that is forced; false if that cannot be done, or was done.
    fn asks_for_a_call(&mut self) -> bool {
        let asks = !self.is_step && self.plan.force_call();
        if asks {
            self.tell(TurnLogItem::Status(ASKED_FOR_A_CALL.into()));
        }
        asks
    }

    /// Tells the text of an answer that was held back until it was whole.
    fn tell_held(&self, message: &ModelMessage) {
        let text = message.text();
        if !self.is_held || text.is_empty() || text == BROKEN_CALL {
            return;
        }
        self.partial.borrow_mut().clone_from(&text);
        self.tell(TurnLogItem::Text(text));
    }
}

fn call_of(part: &Part) -> Option<ToolCall> {
    match part {
        Part::ToolCall(call) => Some(call.clone()),
        _ => None,
    }
}

/// The error for an answer that its provider has kept back, or ended.
pub(super) fn kept_back(answered: &ModelAnswer) -> ErrorBody {
    let ModelAnswer { provider, model, raw_finish, .. } = answered;
    let word = raw_finish.as_deref().unwrap_or("it gave no reason");
    ErrorBody::new(Code::ModelFailed, format!("{provider} ended the answer: {word}"))
        .with("cause", Cause::Refused.name())
        .with("provider", provider)
        .with("model", model)
}
