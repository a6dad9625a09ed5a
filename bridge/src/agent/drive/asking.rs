//! One request of a turn to its model, and the pieces of the answer as they come.
//!
//! Owns what is shown of an answer before it is whole. Must never show what may become a call.

use std::cell::{Cell, RefCell};

use harbor_ipc_proto::client::ChatEvent;
use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_ipc_proto::codes::Code;
use harbor_ipc_proto::link::model::Cause;
use harbor_policy::text_calls::AnswerReader;
use harbor_policy::turn::Why;
use tokio::sync::Notify;

use super::super::turn_log::TurnLogItem;
use super::{Drive, TaskOutcome};

/// The longest answer, including the model's thoughts, in bytes.
const LONGEST_ANSWER: usize = 4 * 1024 * 1024;

/// Tells that the model does not get all of an attachment.
const CUT: &str = "the attachments are longer than half of the model's window, so the model gets only the beginning and the end of long ones";

/// Tells that the model has to be loaded first.
const LOADING: &str = "the provider loads the model, which may take minutes";

impl Drive {
    /// Puts the conversation to the model.
    pub(super) fn ask(&mut self, last: Option<Why>) {
        self.partial.borrow_mut().clear();
        let (before, was_cut) = (self.plan.shortened, self.plan.cuts_attachments);
        let prompt = self.plan.prompt(&self.session, last.is_some());
        if self.is_summarised_first() {
            (self.plan.shortened, self.plan.cuts_attachments) = (before, was_cut);
            return;
        }
        if let Some(what) = self.plan.shortened.sentence().filter(|_| self.plan.shortened != before) {
            self.tell(TurnLogItem::Status(what));
        }
        if self.plan.cuts_attachments && !was_cut {
            self.tell(TurnLogItem::Status(CUT.into()));
        }
        // A step is told only when it is whole.
        self.is_step = prompt.options.response_schema.is_some();
        let is_step = self.is_step;
        let (agent, on_behalf) = (self.agent.clone(), self.on_behalf.clone());
        let (log, partial) = (self.guard.ongoing.log.clone(), self.partial.clone());
        let (reading, reader) = (self.plan.reading.clone(), RefCell::new(AnswerReader::default()));
        self.tasks.spawn_local(async move {
            let (told, too_long) = (Cell::new(0_usize), Notify::new());
            let push = async |event: ChatEvent| {
                told.set(told.get() + event.text.as_ref().map_or(0, String::len));
                if told.get() > LONGEST_ANSWER {
                    return too_long.notify_one();
                }
                match (&*event.r#type, event.text) {
                    ("text", Some(_)) if is_step => {}
                    ("text", Some(text)) => {
                        // What may become a call is held back.
                        let shown = match &reading {
                            Some(reading) => reader.borrow_mut().add(&text, reading.reading()),
                            None => text,
                        };
                        if !shown.is_empty() {
                            partial.borrow_mut().push_str(&shown);
                            log.add(TurnLogItem::Text(shown));
                        }
                    }
                    ("reasoning", Some(text)) => log.add(TurnLogItem::Reasoning(text)),
                    ("loading", _) => log.add(TurnLogItem::Status(LOADING.into())),
                    _ => {}
                }
            };
            let answered = tokio::select! {
                answered = agent.ask_model(&on_behalf, prompt, &push) => answered,
                () = too_long.notified() => Err(endless()),
            };
            TaskOutcome::Answered(answered)
        });
    }
}

/// The error for an answer that is too long; its text so far is kept.
fn endless() -> ErrorBody {
    let message = "the answer is longer than 4 MiB; Harbor keeps what has arrived";
    ErrorBody::new(Code::ModelFailed, message).with("cause", Cause::Protocol.name())
}
