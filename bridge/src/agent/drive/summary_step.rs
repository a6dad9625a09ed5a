//! A summary of earlier turns as a step of the turn that needs it.
//!
//! ```text
//!  ask ─ turns do not fit ─► the step begins ─► the model is asked without tools ─► the step's result: the summary, or why there is none
//!                                                                                 └► ask, with the summary or without these turns
//! ```
//!
//! Owns how the step is shown, and that its tokens count. Must never fail the turn: without a summary the oldest turns are left
//! out.

use std::time::{Duration, Instant};

use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_ipc_proto::codes::Code;
use harbor_ipc_proto::json::Json;
use harbor_ipc_proto::model::Finish;
use harbor_policy::turn::Event;

use super::super::on_behalf::OnBehalf;
use super::super::turn_log::{Shown, TurnLogItem};
use super::{Drive, SummaryOutcome, TaskOutcome, kept_back};

/// The name of the step.
const STEP: &str = "summary";

/// Tells why the model is asked for something else first.
const LONG: &str =
    "the conversation is longer than the model's window, so the model summarises its earlier part first";

impl Drive {
    /// Asks for a summary, if the last prompt has shown that one is wanted. True if the prompt has to wait for it.
    pub(super) fn is_summarised_first(&mut self) -> bool {
        let Some(wanted) = self.plan.summarising.take() else { return false };
        self.plan.asks_again();
        let shown = Shown {
            id: format!("{STEP}_{}", self.session.messages.borrow().len()),
            tool: STEP.to_owned(),
            arguments: Json::from_valid(format!(r#"{{"exchanges":{}}}"#, wanted.turns)),
        };
        self.tell(TurnLogItem::Status(LONG.into()));
        if self.shows_steps() {
            self.tell(TurnLogItem::Call(shown.clone()));
        }
        let prompt = self.plan.prompt_of_summary(&self.session, wanted);
        let (agent, on_behalf) = (self.agent.clone(), self.on_behalf.clone());
        self.tasks.spawn_local(async move {
            let began = Instant::now();
            let answered = agent.ask_model(&on_behalf, prompt, async |_| ()).await;
            let took = began.elapsed();
            TaskOutcome::Summarised(Box::new(SummaryOutcome { answered, wanted, shown, took }))
        });
        true
    }

    /// A page hears of its own calls only.
    fn shows_steps(&self) -> bool {
        matches!(*self.on_behalf, OnBehalf::Owner(..))
    }

    /// The model has answered, or not.
    pub(super) fn summarised(&mut self, outcome: SummaryOutcome) -> Event {
        let SummaryOutcome { answered, wanted, shown, took } = outcome;
        let (tokens, taken) = match answered {
            Ok(answered) => {
                let tokens = self.outcome.spent.add(&answered, &self.session);
                self.tell(TurnLogItem::Usage(self.outcome.spent.view()));
                let taken = match answered.finish {
                    Finish::Error => Err(kept_back(&answered)),
                    _ => self
                        .session
                        .take_summary(&answered, wanted)
                        .map_err(|why| ErrorBody::new(Code::ModelFailed, why.as_str())),
                };
                (tokens, taken)
            }
            Err(error) => (0, Err(error)),
        };
        match &taken {
            Ok(_) => self.keep_summary(),
            Err(_) => self.plan.summarising.give_up(),
        }
        self.show_summary(shown, taken, took);
        Event::Summarised(tokens)
    }

    /// Writes the summary down while the turn goes on.
    fn keep_summary(&self) {
        let (agent, session, log) =
            (self.agent.clone(), self.session.clone(), self.guard.ongoing.log.clone());
        tokio::task::spawn_local(async move {
            if let Err(error) = agent.save_summary(&session).await {
                log.add(TurnLogItem::Status(format!("the summary is not written to the disk: {error}")));
            }
        });
    }

    fn show_summary(&self, call: Shown, taken: Result<String, ErrorBody>, took: Duration) {
        let took = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
        if let Err(error) = &taken {
            self.tell(TurnLogItem::Status(format!(
                "the earlier part of the conversation is left out, since it could not be summarised: {}",
                error.message
            )));
        }
        if self.shows_steps() {
            let is_error = taken.is_err();
            let text = taken.as_ref().map_or_else(|error| error.message.clone(), String::clone);
            let answer = taken.map(|text| Json::string(&text));
            self.tell(TurnLogItem::Result { call, text, answer, is_error, took });
        }
    }
}
