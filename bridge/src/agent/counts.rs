//! The numbers of turns since the bridge began.
//!
//! Owns these counts, and the audit log's records of turns and questions. Must never have a word of a conversation.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Instant;

use harbor_ipc_proto::client::AgentStatus;
use harbor_policy::consent::answers::Cover;
use harbor_policy::consent::plan::UPDATE_PLAN;
use harbor_policy::origin::Origin;
use harbor_policy::turn::Why;

use super::approval::ApprovalResult;
use super::on_behalf::OnBehalf;
use super::outcome::TurnOutcome;
use crate::host::{AuditTrail, Usable};
use crate::store::audit::AuditRecord;

/// The counts of all turns.
#[derive(Debug, Default)]
pub(super) struct TurnCounts {
    running: Cell<u64>,
    waiting: Cell<u64>,
    sum: RefCell<Sum>,
}

#[derive(Debug, Default)]
struct Sum {
    ended: BTreeMap<&'static str, u64>,
    answered: BTreeMap<&'static str, u64>,
    rounds: u64,
    calls: u64,
    input: u64,
    output: u64,
}

/// How a question ended that nobody answered before its time, or its turn, was over.
const GONE: &str = "gone";

/// While this exists, something under way is counted.
#[derive(Debug)]
pub(super) struct CountGuard {
    counts: Rc<TurnCounts>,
    of: fn(&TurnCounts) -> &Cell<u64>,
}

impl CountGuard {
    fn begin(counts: &Rc<TurnCounts>, of: fn(&TurnCounts) -> &Cell<u64>) -> Self {
        of(counts).set(of(counts).get() + 1);
        Self { counts: counts.clone(), of }
    }
}

impl Drop for CountGuard {
    fn drop(&mut self) {
        let cell = (self.of)(&self.counts);
        cell.set(cell.get().saturating_sub(1));
    }
}

/// A turn, which is counted until this is dropped.
#[derive(Debug)]
pub(super) struct CountedTurn {
    turn: CountGuard,
    began: Instant,
}

impl TurnCounts {
    /// A turn begins.
    pub fn turn(self: &Rc<Self>) -> CountedTurn {
        CountedTurn { turn: CountGuard::begin(self, |counts| &counts.running), began: Instant::now() }
    }

    /// The person is asked.
    pub fn question(self: &Rc<Self>) -> CountGuard {
        CountGuard::begin(self, |counts| &counts.waiting)
    }

    /// The counts as they are shown.
    pub fn status(&self) -> AgentStatus {
        let sum = self.sum.borrow();
        let named = |all: &BTreeMap<&'static str, u64>| {
            all.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect()
        };
        AgentStatus {
            running: self.running.get(),
            ended: named(&sum.ended),
            rounds: sum.rounds,
            calls: sum.calls,
            input_tokens: sum.input,
            output_tokens: sum.output,
            waiting: self.waiting.get(),
            answered: named(&sum.answered),
        }
    }

    fn add(&self, why: Why, outcome: &TurnOutcome) {
        let (mut sum, used) = (self.sum.borrow_mut(), outcome.spent.view());
        *sum.ended.entry(why.word()).or_default() += 1;
        sum.rounds += u64::from(outcome.rounds);
        sum.calls += outcome.steps.len() as u64;
        sum.input = sum.input.saturating_add(used.input_tokens);
        sum.output = sum.output.saturating_add(used.output_tokens);
    }
}

impl CountedTurn {
    /// The turn has ended: counts it, and writes it down.
    pub fn ended(self, trail: &AuditTrail, on_behalf: &OnBehalf, turn: &str, outcome: &TurnOutcome) {
        self.turn.counts.add(outcome.ended, outcome);
        let used = outcome.spent.view();
        let model = outcome.spent.model.as_ref();
        trail.called(AuditRecord {
            event: "turn",
            decision: "allowed",
            outcome: Some(outcome.ended.word()),
            code: outcome.error.as_ref().map(|error| error.code.as_str()),
            duration_us: Some(u64::try_from(self.began.elapsed().as_micros()).unwrap_or(u64::MAX)),
            count: Some(outcome.steps.len() as u64),
            provider: model.map(|(provider, _)| provider.as_str().into()),
            model: model.map(|(_, model)| model.as_str().into()),
            tokens: model.map(|_| [used.input_tokens, used.output_tokens]),
            ..of(on_behalf, turn)
        });
    }
}

impl CountGuard {
    /// The question is over; without a tool, it was about a plan. Without a decision, its turn ended first.
    pub fn answered(
        self,
        trail: &AuditTrail,
        on_behalf: &OnBehalf,
        (turn, tool): (&str, Option<&Usable>),
        cleared: Option<&ApprovalResult>,
    ) {
        let outcome = match cleared {
            Some(Ok(yes)) => yes.map_or(GONE, Cover::word),
            Some(Err(error)) if error.has("reason", "declined") => "no",
            _ => GONE,
        };
        *self.counts.sum.borrow_mut().answered.entry(outcome).or_default() += 1;
        let is_allowed = matches!(cleared, Some(Ok(Some(_))));
        trail.called(AuditRecord {
            event: "approval",
            decision: if is_allowed { "allowed" } else { "denied" },
            outcome: Some(outcome),
            server: tool.map(|usable| usable.source.shared()),
            tool: Some(tool.map_or_else(|| UPDATE_PLAN.into(), |usable| usable.tool.name.clone())),
            tool_hash: tool.map(|usable| usable.tool.hash),
            ..of(on_behalf, turn)
        });
    }
}

fn of(on_behalf: &OnBehalf, turn: &str) -> AuditRecord {
    let (by, origin, profile, run) = match on_behalf {
        OnBehalf::Owner(sender, _) => (sender.by.clone(), None, None, turn),
        OnBehalf::Origin { asker, run, .. } => {
            let origin = Origin::shared(&asker.origin);
            (asker.sender.by.clone(), Some(origin), Some(asker.profile.clone()), run.as_str())
        }
    };
    AuditRecord { by, origin, profile, run_id: Some(run.into()), ..AuditRecord::default() }
}
