//! The calls of the answer that is being worked on: judged, asked about, made, and their results.
//!
//! Owns that each call has one result, which is told, shown and counted. Must never make a call that was not judged.

use std::rc::Rc;
use std::time::{Duration, Instant};

use harbor_ipc_proto::client::TurnStep;
use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_ipc_proto::codes::Code;
use harbor_ipc_proto::json::Json;
use harbor_ipc_proto::model::{Image, ToolResult};
use harbor_policy::consent::plan::ActionPlan;
use harbor_policy::history::NO_PICTURE;
use harbor_policy::turn::{Event, Unmade, Verdict};
use harbor_policy::untrusted::cleaned;

use super::super::Agent;
use super::super::answer::{self, ReadCall};
use super::super::approval::ApprovalResult;
use super::super::approving::Candidate;
use super::super::on_behalf::OnBehalf;
use super::super::scripting::TurnCalls;
use super::super::toolbox::CallMeaning;
use super::super::turn_log::{Shown, TurnLogItem};
use super::{Drive, TaskOutcome};
use crate::host::consent::Judged;
use crate::host::consent::plans::ProposedPlan;
use crate::host::{ToolAnswer, Usable};

/// The result of a plan that the person has approved.
const APPROVED: &str = "The plan is approved. Calls within it are made without a question until you have answered; the person is \
                        still asked about what deletes, and about what lets private data leave.";

impl Drive {
    /// A call that the person's yes, or the origin's grant, decides; none for Harbor's own calls.
    fn candidate(&self, at: usize) -> Option<Candidate> {
        let call = &self.calls[at].planned;
        let CallMeaning::Tool(usable, arguments) = &call.what else { return None };
        let called = (Usable::clone(usable), arguments.as_str());
        Some(Candidate::new(&self.agent, &self.on_behalf, &self.session, called, &call.shown.id))
    }

    /// A plan that the model proposes in this call.
    fn proposed(&self, at: usize) -> Option<ProposedPlan> {
        let call = &self.calls[at].planned;
        let (CallMeaning::Plan(plan), OnBehalf::Owner(sender, _)) = (&call.what, &*self.on_behalf) else {
            return None;
        };
        let (chat, call_id) = (self.session.chat.clone(), call.shown.id.clone());
        Some(ProposedPlan { chat, client: sender.client, call_id, plan: ActionPlan::clone(plan) })
    }

    pub(super) fn judge(&mut self, at: usize) -> Option<Event> {
        if let Some(proposed) = self.proposed(at) {
            let judged = self.agent.host.judged_plan(&proposed);
            return Some(self.judged(at, judged));
        }
        let Some(candidate) = self.candidate(at) else { return Some(Event::Judged(at, Verdict::Run)) };
        self.tasks.spawn_local(async move { TaskOutcome::Judged(at, candidate.judged().await) });
        None
    }

    pub(super) fn judged(&mut self, at: usize, judged: Judged) -> Event {
        let verdict = match judged {
            Judged::Run => Verdict::Run,
            Judged::Ask => Verdict::Ask,
            Judged::Refuse(why) => {
                self.calls[at].refusal = Some(why.message);
                Verdict::Refuse
            }
        };
        Event::Judged(at, verdict)
    }

    /// Asks the person, wherever they may be.
    pub(super) fn ask_person(&mut self, at: usize) {
        if let Some(proposed) = self.proposed(at) {
            self.calls[at].waits = Some(self.agent.counts.question());
            let host = self.agent.host.clone();
            self.tasks.spawn_local(async move { TaskOutcome::Decided(at, host.clear_plan(&proposed).await) });
            return;
        }
        let Some(candidate) = self.candidate(at) else { return };
        self.calls[at].waits = Some(self.agent.counts.question());
        self.tasks.spawn_local(async move { TaskOutcome::Decided(at, candidate.cleared().await) });
    }

    /// The person is no longer waited for. `cleared` is there if they have answered.
    pub(super) fn question_is_over(&mut self, at: usize, cleared: Option<&ApprovalResult>) {
        let call = &mut self.calls[at];
        let tool = match &call.planned.what {
            CallMeaning::Tool(usable, _) => Some(&**usable),
            _ => None,
        };
        if let Some(waits) = call.waits.take() {
            let turn = &*self.guard.ongoing.log.turn;
            waits.answered(&self.agent.host.trail, &self.on_behalf, (turn, tool), cleared);
        }
    }

    pub(super) fn call(&mut self, at: usize) -> Option<Event> {
        match &self.calls[at].planned.what {
            CallMeaning::Tool(..) => {
                let (candidate, agent) = (self.candidate(at)?, self.agent.clone());
                let turn = self.guard.ongoing.log.turn.clone();
                let answerers = self.plan.answerers.clone();
                self.begin(at, async move { agent.call_tool(candidate, turn, answerers).await });
                None
            }
            CallMeaning::Script(script) => {
                let (script, calls, agent) = (script.clone(), self.script_calls(at), self.agent.clone());
                self.begin(at, async move { agent.run_script(&script, calls).await });
                None
            }
            CallMeaning::Known(text) => {
                let text = text.clone();
                Some(self.known(at, text))
            }
            CallMeaning::Plan(_) => Some(self.known(at, APPROVED.to_owned())),
            CallMeaning::Faulty(why) => {
                let (why, hash) = (why.clone(), self.plan.toolbox.hash(why));
                let error = ErrorBody::new(Code::InvalidParams, why.clone());
                self.result(at, same(cleaned(&why)), Vec::new(), Err(error), true, Duration::ZERO);
                Some(Event::Ended(at, hash))
            }
        }
    }

    /// Makes a call beside all else. Its answer is read before it is done.
    fn begin(&mut self, at: usize, call: impl Future<Output = Result<ToolAnswer, ErrorBody>> + 'static) {
        let agent = self.agent.clone();
        self.tasks.spawn_local(async move {
            let began = Instant::now();
            let called = call.await;
            let took = began.elapsed();
            TaskOutcome::Called(at, readable(&agent, called).await, took)
        });
    }

    /// The calls of a script that is run in this step.
    fn script_calls(&self, at: usize) -> Rc<TurnCalls> {
        Rc::new(TurnCalls {
            agent: self.agent.clone(),
            on_behalf: self.on_behalf.clone(),
            session: self.session.clone(),
            usable: self.plan.toolbox.usable(),
            turn: self.guard.ongoing.log.turn.clone(),
            call_id: self.calls[at].planned.shown.id.clone(),
            answerers: self.plan.answerers.clone(),
            left: self.plan.script_calls.clone(),
        })
    }

    /// A call has the result that is known without a server.
    fn known(&mut self, at: usize, text: String) -> Event {
        let hash = self.plan.toolbox.hash(&text);
        let answer = Ok(Json::string(&text));
        self.result(at, same(text), Vec::new(), answer, false, Duration::ZERO);
        Event::Ended(at, hash)
    }

    pub(super) fn called(&mut self, at: usize, called: ReadCall, took: Duration) -> Event {
        let hash = match &called {
            Ok((called, _)) => self.plan.toolbox.hash(&called.result.as_str()),
            Err(error) => self.plan.toolbox.hash(&error.message),
        };
        match called {
            Ok((called, read)) => {
                let tool = &self.calls[at].planned.shown.tool;
                let mut told = self.session.kept.told(&self.plan.toolbox.telling, tool, &read.text);
                if let Some(sources) = &mut self.plan.sources {
                    let number = sources.add(tool, &self.calls[at].planned.shown.id, &read.text);
                    told = format!("[{number}]\n{told}");
                }
                self.result(at, (told, read.text), read.images, Ok(called.result), read.is_error, took);
            }
            Err(error) => {
                let tool = &self.calls[at].planned.shown.tool;
                let text = answer::of_error(&error);
                let told = self.session.kept.told(&self.plan.toolbox.telling, tool, &text);
                self.result(at, (told, text), Vec::new(), Err(error), true, took);
            }
        }
        Event::Ended(at, hash)
    }

    pub(super) fn settle(&mut self, at: usize, how: Unmade) {
        self.question_is_over(at, None);
        let text = match how {
            Unmade::Refused => {
                self.calls[at].refusal.take().unwrap_or_else(|| "It may not be called.".into())
            }
            Unmade::Stopped => "It was not called, or did not finish: the person has ended the turn.".into(),
            Unmade::TooMany => "It was not called: this turn has reached its limit of calls.".into(),
            Unmade::Late => "It was not called, or did not finish: the time of this turn is over.".into(),
        };
        let code = match how {
            Unmade::Refused => Code::PermissionDenied,
            Unmade::TooMany => Code::BudgetExceeded,
            Unmade::Stopped | Unmade::Late => Code::Cancelled,
        };
        self.result(
            at,
            same(text.clone()),
            Vec::new(),
            Err(ErrorBody::new(code, text)),
            true,
            Duration::ZERO,
        );
    }

    /// A call has its result: `told` is for the model, `text` is shown.
    fn result(
        &mut self,
        at: usize,
        (told, text): (String, String),
        images: Vec<Image>,
        answer: Result<Json, ErrorBody>,
        is_error: bool,
        took: Duration,
    ) {
        let call = &mut self.calls[at];
        let Shown { id, tool, .. } = call.planned.shown.clone();
        let took = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
        let result =
            ToolResult { call_id: id.clone(), name: call.planned.name.clone(), text: told, images, is_error };
        call.result = Some(result);
        self.outcome.steps.push(TurnStep { call_id: id, tool, is_error, duration_ms: took });
        let call = self.calls[at].planned.shown.clone();
        self.tell(TurnLogItem::Result { call, text, answer, is_error, took });
    }
}

/// Reads an answer, with its pictures as providers take them.
async fn readable(agent: &Agent, called: Result<ToolAnswer, ErrorBody>) -> ReadCall {
    let called = called?;
    let mut read = answer::read(&called.result, &called.beside);
    let (images, left_out) = agent.models.scaled(read.images).await;
    read.images = images;
    read.text.push_str(&format!("\n{NO_PICTURE}").repeat(left_out));
    Ok((called, read))
}

/// One text for the model and for show.
fn same(text: String) -> (String, String) {
    (text.clone(), text)
}
