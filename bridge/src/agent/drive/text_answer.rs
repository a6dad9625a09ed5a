//! Calls that stand in the text of an answer, and what the person is told of an answer's form.
//!
//! Owns that a call which is not made is told, and that the model hears of a tool that does not exist and, once in a turn, how a
//! call is written. Must never make a call.

use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_ipc_proto::model::{ModelMessage, Part, ToolCall};
use harbor_policy::text_calls::{HeardCalls, LeftAsText, LeftReason, REMINDER, Reading, read_answer};
use harbor_policy::turn::RequestForm;

use super::super::text_reading::{TextReading, offered};
use super::super::turn_log::TurnLogItem;
use super::Drive;
use crate::models::ModelAnswer;

/// Tells that a call is not whole.
const CUT: &str = "the answer breaks off within a call, so that call was not made";

/// The name of a call that broke off, for the answer to it.
const UNFINISHED: &str = "unfinished_call";

impl Drive {
    /// Takes the calls out of the text of an answer, if the model was told to write them there. Else calls in it are told.
    pub(super) fn read_text(&mut self, answered: &mut ModelAnswer) {
        match self.plan.reading.clone() {
            Some(reading) => self.take_calls(&mut answered.message, &reading),
            None if self.is_step => {}
            None => self.tell_unmade(&answered.message),
        }
    }

    fn take_calls(&mut self, message: &mut ModelMessage, reading: &TextReading) {
        let read = read_answer(&message.text(), reading.reading());
        let more = read.rest.strip_prefix(self.partial.borrow().as_str()).unwrap_or_default().to_owned();
        if !more.is_empty() {
            self.partial.borrow_mut().push_str(&more);
            self.tell(TurnLogItem::Text(more));
        }
        let mut calls: Vec<_> = read.calls.into_iter().map(|call| (call.name, call.arguments)).collect();
        self.tell_left(&read.left);
        // A number that the session has not used yet.
        let number = self.session.messages.borrow().len();
        if calls.is_empty() {
            // It is answered that there is no such tool. Nothing is called by such a name: nobody knows who has written it.
            for left in read.left.iter().filter(|left| left.why == LeftReason::NotOffered) {
                self.plan.unmade.insert(id_of(number, calls.len()), not_offered(&left.tool));
                calls.push((left.tool.clone(), "{}".to_owned()));
            }
        }
        if read.is_cut {
            self.tell(TurnLogItem::Status(CUT.into()));
            // It is reminded of the form once in a turn.
            if calls.is_empty() && !std::mem::replace(&mut self.plan.was_reminded, true) {
                self.plan.unmade.insert(id_of(number, 0), REMINDER.to_owned());
                calls.push((UNFINISHED.to_owned(), "{}".to_owned()));
            }
        }
        let call = |(at, (name, arguments)): (usize, (String, String))| {
            Part::ToolCall(ToolCall { id: id_of(number, at), name, arguments })
        };
        let others =
            std::mem::take(&mut message.parts).into_iter().filter(|part| !matches!(part, Part::Text(_)));
        let rest = Some(read.rest).filter(|rest| !rest.is_empty()).map(Part::Text);
        message.parts = others.chain(rest).chain(calls.into_iter().enumerate().map(call)).collect();
    }

    /// Tells of calls in the text of a model that can call tools in another way.
    fn tell_unmade(&self, message: &ModelMessage) {
        let has_call = message.parts.iter().any(|part| matches!(part, Part::ToolCall(_)));
        let text = message.text();
        if has_call || text.is_empty() {
            return;
        }
        if !self.plan.toolbox.is_named_in(&text) {
            return;
        }
        let tools = self.plan.toolbox.definitions(!self.session.kept.is_empty());
        let (tools, heard) = (offered(&tools), HeardCalls::default());
        let reading = Reading { tools: &tools, nonce: None, takes_native: false, heard: &heard };
        self.tell_left(&read_answer(&text, reading).left);
    }

    fn tell_left(&self, left: &[LeftAsText]) {
        let mut told = Vec::new();
        for one in left {
            // A quotation is what people write, and of a tool that is not there the model is told.
            let is_plain =
                matches!(one.why, LeftReason::Quoted | LeftReason::InProse | LeftReason::NotOffered);
            if is_plain || told.contains(&one) {
                continue;
            }
            told.push(one);
            self.tell(TurnLogItem::Status(format!(
                "a call of {} stands in the answer as text and was not made: {}",
                one.tool,
                one.why.as_str()
            )));
        }
    }

    /// Tells how a model calls tools that its provider has no way for.
    pub(super) fn tell_how_it_calls(&self) {
        if let Some(how) = self.plan.how_it_calls() {
            self.tell(TurnLogItem::Status(how));
        }
    }

    /// The form in which the request may be taken after this error; none if the error is about something else.
    pub(super) fn other_form(&mut self, error: &ErrorBody) -> Option<RequestForm> {
        if self.plan.without_tools(error) {
            self.tell_how_it_calls();
            return Some(RequestForm::InWords);
        }
        self.plan.narrow(error).then_some(RequestForm::Shorter)
    }

    /// Tells, once in a turn, which settings the model does not take.
    pub(super) fn tell_left_out(&mut self, answered: &ModelAnswer) {
        let left_out = answered.details.as_ref().map(|details| details.left_out.join(", "));
        if let Some(left_out) = left_out.filter(|left_out| !left_out.is_empty() && !self.told_left_out) {
            self.told_left_out = true;
            let ModelAnswer { provider, model, .. } = answered;
            self.tell(TurnLogItem::Status(format!(
                "{provider}:{model} refuses {left_out}, so it was left out"
            )));
        }
    }
}

/// The answer to a call of a tool that the model was not told of.
fn not_offered(name: &str) -> String {
    format!(
        "You were told of no tool {name}, so nothing was called. search_tools, describe_tool and call_tool reach other tools, where you \
         were told of these three."
    )
}

/// The id of a call in a text: the number of its message, and its place there.
fn id_of(number: usize, at: usize) -> String {
    format!("text_{number}_{at}")
}
