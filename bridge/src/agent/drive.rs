//! A turn as it happens: performs what `policy::turn` decides.
//!
//! ```text
//!  Turn ─ actions ─► ask the model │ judge a call │ ask the person │ make a call ─► tasks, which end with the turn
//!    ▲                                                                                 │
//!    └──────────────────────────────── events ◄────────────────────────────────────────┘
//! ```
//!
//! Owns the rule that an answer with calls enters the conversation together with all their results, so that it is whole
//! at each instant. Must never call a tool except by `host`, nor a model except by `models`.

mod asking;
mod citing_answer;
mod summary_step;
mod text_answer;

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;
use std::time::Duration;

use harbor_home::clock::boot_clock;
use harbor_ipc_proto::client::TurnStep;
use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_ipc_proto::codes::Code;
use harbor_ipc_proto::json::Json;
use harbor_ipc_proto::link::model::Cause;
use harbor_ipc_proto::model::{Finish, Image, ModelMessage, Part, Role, ToolCall, ToolResult};
use harbor_policy::consent::compact::compact;
use harbor_policy::history::NO_PICTURE;
use harbor_policy::turn::{Action, Event, Turn, Unmade, Verdict, Why};
use harbor_policy::untrusted::cleaned;
use tokio::task::JoinSet;

use super::approval::ApprovalResult;
use super::approving::Candidate;
use super::counts::{CountGuard, CountedTurn};
use super::on_behalf::OnBehalf;
use super::outcome::TurnOutcome;
use super::plan::TurnPlan;
use super::session::{Session, TurnGuard};
use super::spent::Spent;
use super::toolbox::{CallMeaning, PlannedCall};
use super::turn_log::{Shown, TurnLogItem};
use super::wanted_summary::WantedSummary;
use super::{Agent, answer, steps};
use crate::host::consent::Judged;
use crate::host::{Consenting, ToolAnswer, Usable};
use crate::models::ModelAnswer;

/// The result of a task.
enum TaskOutcome {
    Answered(Result<ModelAnswer, ErrorBody>),
    Judged(usize, Judged),
    Called(usize, Result<(ToolAnswer, answer::ReadableAnswer), ErrorBody>, Duration),
    Decided(usize, ApprovalResult),
    Summarised(Box<SummaryOutcome>),
}

/// The result of a request for a summary.
struct SummaryOutcome {
    answered: Result<ModelAnswer, ErrorBody>,
    wanted: WantedSummary,
    /// The step as it is shown.
    shown: Shown,
    took: Duration,
}

/// A call of the answer that is being worked on.
struct TurnCall {
    planned: PlannedCall,
    result: Option<ToolResult>,
    /// A text that is added to its result.
    remark: Option<String>,
    refusal: Option<String>,
    /// Counts the question while the person is asked about it.
    waits: Option<CountGuard>,
}

pub(super) struct Drive {
    agent: Rc<Agent>,
    session: Rc<Session>,
    guard: TurnGuard,
    on_behalf: Rc<OnBehalf>,
    plan: TurnPlan,
    tasks: JoinSet<TaskOutcome>,
    /// The answer that is being worked on, without its results.
    answer: Option<ModelMessage>,
    calls: Vec<TurnCall>,
    /// The answer so far.
    partial: Rc<RefCell<String>>,
    outcome: TurnOutcome,
    /// True if the answer that is under way is one step.
    is_step: bool,
    /// True if it was told which settings the model does not take.
    told_left_out: bool,
    counted: CountedTurn,
}

impl Drive {
    pub fn new(
        agent: Rc<Agent>,
        session: Rc<Session>,
        guard: TurnGuard,
        on_behalf: Rc<OnBehalf>,
        plan: TurnPlan,
    ) -> Self {
        let counted = agent.counts.turn();
        Self {
            agent,
            session,
            guard,
            on_behalf,
            plan,
            tasks: JoinSet::new(),
            answer: None,
            calls: Vec::new(),
            partial: Rc::default(),
            outcome: TurnOutcome {
                text: String::new(),
                steps: Vec::new(),
                rounds: 1,
                ended: Why::Stopped,
                spent: Spent::default(),
                citations: None,
                error: None,
            },
            is_step: false,
            told_left_out: false,
            counted,
        }
    }

    /// Drives the turn to its end.
    pub async fn run(mut self) -> TurnOutcome {
        let (mut turn, actions) = Turn::begin(self.plan.limits, boot_clock());
        let mut actions = VecDeque::from(actions);
        self.tell_how_it_calls();
        std::mem::take(&mut self.plan.missing)
            .into_iter()
            .for_each(|why| self.tell(TurnLogItem::Status(why)));
        self.plan.toolbox.left_out().for_each(|why| self.tell(TurnLogItem::Status(why)));
        loop {
            while let Some(action) = actions.pop_front() {
                if let Action::End(why) = action {
                    self.outcome.rounds = turn.rounds();
                    return self.finish(why).await;
                }
                if let Some(event) = self.perform(action).await {
                    actions.extend(turn.on(event, boot_clock()));
                }
            }
            let event = self.next(&turn).await;
            let is_result = matches!(event, Event::Ended(..));
            actions.extend(turn.on(event, boot_clock()));
            // The next request and the end save it themselves.
            let writes = |action: &Action| matches!(action, Action::Ask { .. } | Action::End(_));
            if is_result && !actions.iter().any(writes) {
                self.save().await;
            }
        }
    }

    fn tell(&self, happening: TurnLogItem) {
        self.guard.ongoing.log.add(happening);
    }

    /// Waits for the next event.
    async fn next(&mut self, turn: &Turn) -> Event {
        let ongoing = self.guard.ongoing.clone();
        let left =
            turn.deadline().map(|deadline| Duration::from_millis(deadline.saturating_sub(boot_clock())));
        let late = async {
            match left {
                Some(left) => tokio::time::sleep(left).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            () = ongoing.stop.notified() => Event::Stopped,
            done = self.tasks.join_next(), if !self.tasks.is_empty() => match done {
                Some(Ok(done)) => self.done(done),
                // A task that was ended gives nothing.
                _ => Event::Tick,
            },
            () = late => Event::Tick,
        }
    }

    fn done(&mut self, done: TaskOutcome) -> Event {
        match done {
            TaskOutcome::Answered(Ok(answered)) => self.answered(answered),
            TaskOutcome::Answered(Err(error)) => {
                let form = self.other_form(&error);
                self.outcome.error = Some(error);
                form.map_or(Event::Failed, Event::Adapted)
            }
            TaskOutcome::Called(at, called, took) => self.called(at, called, took),
            TaskOutcome::Summarised(outcome) => self.summarised(*outcome),
            TaskOutcome::Judged(at, judged) => self.judged(at, judged),
            TaskOutcome::Decided(at, cleared) => {
                self.question_is_over(at, Some(&cleared));
                let is_allowed = cleared.is_ok();
                self.calls[at].refusal = cleared.err().map(|error| error.message);
                Event::Decided(at, is_allowed)
            }
        }
    }

    async fn perform(&mut self, action: Action) -> Option<Event> {
        match action {
            Action::Ask { last } => {
                self.enter_answer();
                self.save().await;
                self.ask(last);
                None
            }
            Action::Judge(at) => self.judge(at),
            Action::AskPerson(at) => {
                self.ask_person(at);
                None
            }
            Action::Run(at) => {
                // Saved before it may have an effect: if the bridge dies
                // now, the call must not be made again.
                self.save().await;
                self.call(at)
            }
            Action::Settle(at, how) => {
                self.settle(at, how);
                None
            }
            Action::Remark(at, times) => {
                let remark = format!(
                    "This call has given the same result {times} times. Do something else, or answer."
                );
                self.calls[at].remark = Some(remark);
                None
            }
            Action::Cancel => {
                self.tasks.abort_all();
                // When this returns, they are gone and their servers were
                // told.
                while self.tasks.join_next().await.is_some() {}
                None
            }
            Action::End(_) => None,
        }
    }

    fn answered(&mut self, mut answered: ModelAnswer) -> Event {
        // That of an earlier try.
        self.outcome.error = None;
        self.tell_left_out(&answered);
        if answered.finish == Finish::Length {
            self.tell(TurnLogItem::Status("the answer was cut off at its limit of tokens".into()));
        }
        if answered.finish == Finish::Error {
            self.outcome.spent.add(&answered, &self.session);
            self.outcome.error = Some(kept_back(&answered));
            return Event::Failed;
        }
        let tokens = self.outcome.spent.add(&answered, &self.session);
        self.read_text(&mut answered);
        if self.is_step {
            // A number that the session has not used yet.
            let number = self.session.messages.borrow().len();
            answered.message = steps::read(answered.message, number);
            let texts = answered.message.parts.iter().filter_map(|part| match part {
                Part::Text(text) => Some(text.clone()),
                _ => None,
            });
            for text in texts {
                self.partial.borrow_mut().push_str(&text);
                self.tell(TurnLogItem::Text(text));
            }
        }
        self.tell(TurnLogItem::Usage(self.outcome.spent.view()));
        let calls: Vec<ToolCall> = answered
            .message
            .parts
            .iter()
            .filter_map(|part| match part {
                Part::ToolCall(call) => Some(call.clone()),
                _ => None,
            })
            .collect();
        self.calls = calls.into_iter().map(|call| self.plan_call(call)).collect();
        let wanted = self.calls.iter().map(|call| self.plan.toolbox.wanted(&call.planned)).collect();
        self.calls.iter().for_each(|call| self.tell(TurnLogItem::Call(call.planned.shown.clone())));
        self.answer = Some(answered.message);
        Event::Answered { calls: wanted, tokens }
    }

    fn plan_call(&self, call: ToolCall) -> TurnCall {
        let planned = self.plan.planned(call, &self.session);
        TurnCall { planned, result: None, remark: None, refusal: None, waits: None }
    }

    /// A call that the person's yes, or the origin's grant, decides; none for Harbor's own calls.
    fn candidate(&self, at: usize) -> Option<Candidate> {
        let call = &self.calls[at].planned;
        let CallMeaning::Tool(usable, arguments) = &call.what else { return None };
        let consent = Consenting {
            chat: Some(self.session.chat.clone()),
            told: Some(usable.tool.hash),
            call_id: Some(call.shown.id.clone()),
            form: None,
        };
        Some(Candidate {
            agent: self.agent.clone(),
            on_behalf: self.on_behalf.clone(),
            session: self.session.clone(),
            usable: Usable::clone(usable),
            arguments: compact(arguments),
            consent,
        })
    }

    fn judge(&mut self, at: usize) -> Option<Event> {
        let Some(candidate) = self.candidate(at) else { return Some(Event::Judged(at, Verdict::Run)) };
        self.tasks.spawn_local(async move { TaskOutcome::Judged(at, candidate.judged().await) });
        None
    }

    fn judged(&mut self, at: usize, judged: Judged) -> Event {
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
    fn ask_person(&mut self, at: usize) {
        let Some(candidate) = self.candidate(at) else { return };
        self.calls[at].waits = Some(self.agent.counts.question());
        self.tasks.spawn_local(async move { TaskOutcome::Decided(at, candidate.cleared().await) });
    }

    /// The person is no longer waited for. `cleared` is there if they have answered.
    fn question_is_over(&mut self, at: usize, cleared: Option<&ApprovalResult>) {
        let call = &mut self.calls[at];
        if let (Some(waits), CallMeaning::Tool(usable, _)) = (call.waits.take(), &call.planned.what) {
            let turn = (&*self.guard.ongoing.log.turn, &**usable);
            waits.answered(&self.agent.host.trail, &self.on_behalf, turn, cleared);
        }
    }

    fn call(&mut self, at: usize) -> Option<Event> {
        match &self.calls[at].planned.what {
            CallMeaning::Tool(..) => {
                let (candidate, agent) = (self.candidate(at)?, self.agent.clone());
                let turn = self.guard.ongoing.log.turn.clone();
                self.tasks.spawn_local(async move {
                    let began = std::time::Instant::now();
                    let called = agent.call_tool(candidate, turn).await;
                    let took = began.elapsed();
                    let called = match called {
                        Ok(called) => {
                            let mut read = answer::read(&called.result, &called.beside);
                            let (images, left_out) = agent.models.scaled(read.images).await;
                            read.images = images;
                            read.text.push_str(&format!("\n{NO_PICTURE}").repeat(left_out));
                            Ok((called, read))
                        }
                        Err(error) => Err(error),
                    };
                    TaskOutcome::Called(at, called, took)
                });
                None
            }
            CallMeaning::Known(text) => {
                let (text, hash) = (text.clone(), self.plan.toolbox.hash(text));
                self.result(
                    at,
                    same(text.clone()),
                    Vec::new(),
                    Ok(Json::string(&text)),
                    false,
                    Duration::ZERO,
                );
                Some(Event::Ended(at, hash))
            }
            CallMeaning::Faulty(why) => {
                let (why, hash) = (why.clone(), self.plan.toolbox.hash(why));
                let error = ErrorBody::new(Code::InvalidParams, why.clone());
                self.result(at, same(cleaned(&why)), Vec::new(), Err(error), true, Duration::ZERO);
                Some(Event::Ended(at, hash))
            }
        }
    }

    fn called(
        &mut self,
        at: usize,
        called: Result<(ToolAnswer, answer::ReadableAnswer), ErrorBody>,
        took: Duration,
    ) -> Event {
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

    fn settle(&mut self, at: usize, how: Unmade) {
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

    /// Saves the session, with the answer that is worked on and its results so far.
    async fn save(&self) {
        let results = self
            .calls
            .iter()
            .filter_map(|call| Some(message_of(call.result.clone()?, call.remark.as_deref())));
        *self.session.under_way.borrow_mut() = self.answer.iter().cloned().chain(results).collect();
        self.agent.save(&self.session, &self.guard.ongoing.log).await;
    }

    /// Adds the answer that was worked on to the conversation, with all its results.
    fn enter_answer(&mut self) {
        let Some(answer) = self.answer.take() else { return };
        self.session.say(answer);
        for call in std::mem::take(&mut self.calls) {
            let Some(result) = call.result else { continue };
            self.session.say(message_of(result, call.remark.as_deref()));
        }
        self.session.mend();
    }

    async fn finish(mut self, why: Why) -> TurnOutcome {
        let whole = self.answer.is_some();
        self.enter_answer();
        let text = std::mem::take(&mut *self.partial.borrow_mut());
        if !whole && !text.is_empty() {
            self.session.say(ModelMessage { role: Role::Assistant, parts: vec![Part::Text(text.clone())] });
        }
        self.outcome.ended = why;
        self.cite(text);
        self.save().await;
        match &self.outcome.error {
            Some(error) if why == Why::Failed => self.tell(TurnLogItem::Error(error.clone())),
            _ => self.tell(TurnLogItem::Final {
                text: self.outcome.text.clone(),
                ended: why.word(),
                usage: self.outcome.spent.view(),
                citations: self.outcome.citations.clone(),
            }),
        }
        let (trail, turn) = (&self.agent.host.trail, &self.guard.ongoing.log.turn);
        self.counted.ended(trail, &self.on_behalf, turn, &self.outcome);
        self.outcome
    }
}

/// The error for an answer that its provider has kept back, or ended.
fn kept_back(answered: &ModelAnswer) -> ErrorBody {
    let ModelAnswer { provider, model, raw_finish, .. } = answered;
    let word = raw_finish.as_deref().unwrap_or("it gave no reason");
    ErrorBody::new(Code::ModelFailed, format!("{provider} ended the answer: {word}"))
        .with("cause", Cause::Refused.name())
        .with("provider", provider)
        .with("model", model)
}

/// A result as the conversation has it.
fn message_of(mut result: ToolResult, remark: Option<&str>) -> ModelMessage {
    if let Some(remark) = remark {
        result.text = format!("{}\n{remark}", result.text);
    }
    if result.text.is_empty() && result.images.is_empty() {
        result.text = "(no output)".into();
    }
    ModelMessage { role: Role::Tool, parts: vec![Part::ToolResult(result)] }
}

/// The same text for the model and for show.
fn same(text: String) -> (String, String) {
    (text.clone(), text)
}
