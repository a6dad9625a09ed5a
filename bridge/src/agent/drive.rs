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

mod answering;
mod asking;
mod calling;
mod citing_answer;
mod summary_step;
mod text_answer;

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;
use std::time::Duration;

use harbor_home::clock::boot_clock;
use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_ipc_proto::model::{ModelMessage, Part, Role, ToolResult};
use harbor_policy::turn::{Action, Event, Turn, Why};
use tokio::task::JoinSet;

use super::Agent;
use super::answer::ReadCall;
use super::approval::ApprovalResult;
use super::counts::{CountGuard, CountedTurn};
use super::on_behalf::OnBehalf;
use super::outcome::TurnOutcome;
use super::plan::TurnPlan;
use super::session::{Session, TurnGuard};
use super::spent::Spent;
use super::toolbox::PlannedCall;
use super::turn_log::{Shown, TurnLogItem};
use super::wanted_summary::WantedSummary;
use crate::host::consent::Judged;
use crate::models::{ModelAnswer, SettledRequests};

/// The result of a task.
enum TaskOutcome {
    Answered(Result<ModelAnswer, ErrorBody>),
    Judged(usize, Judged),
    Called(usize, ReadCall, Duration),
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
    /// True if the answer that is under way is told only when it is whole.
    is_held: bool,
    /// Its requests that are not counted yet.
    settled: SettledRequests,
    /// The tokens of requests since the last answer.
    uncounted: u64,
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
            is_held: false,
            settled: SettledRequests::default(),
            uncounted: 0,
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
        // A request that was stopped, or that failed, may have cost something, too.
        self.outcome.spent.add(&self.settled, &self.session);
        let whole = self.answer.is_some();
        self.enter_answer();
        let text = std::mem::take(&mut *self.partial.borrow_mut());
        if !whole && !text.is_empty() {
            self.session.say(ModelMessage { role: Role::Assistant, parts: vec![Part::Text(text.clone())] });
        }
        self.outcome.ended = why;
        if why != Why::Failed {
            // That of an earlier try.
            self.outcome.error = None;
        }
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
