//! A turn of the agent: the next step, and the end.
//!
//! ```text
//!              ┌───────────────────────── every call has its result ─────────────────────┐
//!              ▼                                                                         │
//!  begin ─► Asking ── calls ─► Calling: each call  Judge ─┬─ run ──► Run ─── ended ──────┤
//!              │                                          ├─ ask ──► AskPerson ─┬─ yes ► Run
//!              │ no calls                                 │                     └─ no ─► Settle
//!              ▼                                          └─ refuse ─► Settle
//!            Ended ◄── a last answer without tools ◄── a limit is reached
//!
//!  state    event                 next                      actions
//!  Asking   answered, no calls    Ended                     End
//!  Asking   answered, calls       Calling                   Judge: all calls where all only read, else the first
//!  Asking   failed                Ended                     End
//!  Asking   adapted, once a form  Asking                    Ask: the driver has given the request another form
//!  Asking   summarised            Asking                    Ask: the driver has had earlier turns summarised
//!  Calling  judged, decided       Calling                   Run, AskPerson or Settle
//!  Calling  ended, the last one   Asking                    Ask, without tools where a limit is reached
//!  any      stopped               Ended                     Cancel, Settle each open call, End
//!  any      time is over          Asking or Ended           Cancel, Settle each open call, Ask without tools or End
//! ```
//!
//! Owns the order, the limits, and that each call has exactly one result. The driver's `ended` follows a `Run`; every other call
//! that was wanted gets one `Settle`. Must never know what a call is about; `consent` does.

mod call;
#[cfg(test)]
mod tests;

use std::collections::HashMap;

pub use self::call::Wanted;
use self::call::{CallState, Open};
use crate::lifecycle::Millis;

/// The number of times that the same call has the same result before the model is told.
pub const TOLD_AT: u32 = 3;

/// The number of such times with which the turn ends with a question to the person.
pub const ENOUGH_AT: u32 = 5;

/// How long the last answer may take when the time of a turn is over, in milliseconds.
pub const GRACE: u64 = 60_000;

/// The limits of a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Answers of the model with tools.
    pub rounds: u32,
    /// Calls.
    pub calls: u32,
    /// Tokens, read and written.
    pub tokens: u64,
    /// Time in milliseconds, without that in which only the person is waited for.
    pub time: u64,
}

/// An event of a turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// The model has answered.
    Answered {
        /// The calls that it wants, in their order.
        calls: Vec<Wanted>,
        /// The tokens that it took.
        tokens: u64,
    },
    /// It has not.
    Failed,
    /// It has not: the provider refuses the request as it was, and the driver has given it this form.
    Adapted(RequestForm),
    /// Instead of it, the model was asked for a summary of the earlier conversation, which took so many tokens.
    Summarised(u64),
    /// A call was looked at.
    Judged(usize, Verdict),
    /// The person has said yes, or no.
    Decided(usize, bool),
    /// A call that was run has its result, of which this is a hash.
    Ended(usize, u64),
    /// The person wants it to end.
    Stopped,
    /// Time has passed.
    Tick,
}

/// A form that a request can be given after a refusal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestForm {
    /// A shorter conversation.
    Shorter,
    /// Without tools of the provider's kind: the model is told of them in words.
    InWords,
}

/// The decision about a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It runs.
    Run,
    /// The person is asked.
    Ask,
    /// It does not.
    Refuse,
}

/// An action for the driver.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// Ask the model.
    Ask {
        /// None if it may call tools. Else the reason why this is its last answer.
        last: Option<Why>,
    },
    /// Say whether a call may be made.
    Judge(usize),
    /// Ask the person.
    AskPerson(usize),
    /// Make a call.
    Run(usize),
    /// Give an unmade or unfinished call a result that says why.
    Settle(usize, Unmade),
    /// Tell the model, with the result of this call, that the same call has come this often.
    Remark(usize, u32),
    /// End whatever is under way: the request to the model, calls, questions.
    Cancel,
    /// The turn is over.
    End(Why),
}

/// The reason why a call has no result of its tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unmade {
    /// The person said no, or the call may not be made.
    Refused,
    /// The turn was stopped.
    Stopped,
    /// There were enough calls.
    TooMany,
    /// The time is over.
    Late,
}

/// The reason why a turn is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Why {
    /// The model had nothing more to do.
    Done,
    /// The person has ended it.
    Stopped,
    /// There was no answer.
    Failed,
    /// The model was asked as often as it may be.
    Rounds,
    /// It has made all its calls.
    Calls,
    /// It has used all its tokens.
    Tokens,
    /// It has used all its time.
    Time,
    /// It only repeats itself.
    Repeats,
}

impl Why {
    /// The word for clients.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Stopped => "stopped",
            Self::Failed => "failed",
            Self::Rounds => "rounds",
            Self::Calls => "calls",
            Self::Tokens => "tokens",
            Self::Time => "time",
            Self::Repeats => "repeats",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum State {
    Asking {
        last: Option<Why>,
        /// The forms that the request for this answer was given after refusals.
        forms: [Option<RequestForm>; 2],
    },
    Calling(Vec<Open>),
    Ended,
}

/// One turn.
#[derive(Debug, Clone)]
pub struct Turn {
    limits: Limits,
    state: State,
    began: Millis,
    rounds: u32,
    calls: u32,
    tokens: u64,
    /// How often each call has had the same result.
    seen: HashMap<(u64, u64), u32>,
    most_seen: u32,
    /// Since when only the person is waited for.
    waits_since: Option<Millis>,
    /// How long the turn waited like that before.
    waited: u64,
}

impl Turn {
    /// Begins a turn.
    #[must_use]
    pub fn begin(limits: Limits, now: Millis) -> (Self, Vec<Action>) {
        let turn = Self {
            limits,
            state: State::Asking { last: None, forms: [None; 2] },
            began: now,
            rounds: 1,
            calls: 0,
            tokens: 0,
            seen: HashMap::new(),
            most_seen: 0,
            waits_since: None,
            waited: 0,
        };
        (turn, vec![Action::Ask { last: None }])
    }

    /// The actions after an event. An event that comes too late does nothing.
    #[must_use]
    pub fn on(&mut self, event: Event, now: Millis) -> Vec<Action> {
        let mut actions = Vec::new();
        match event {
            Event::Stopped => self.stop(&mut actions),
            Event::Tick => self.tick(now, &mut actions),
            Event::Answered { calls, tokens } => self.answered(calls, tokens, &mut actions),
            Event::Failed if matches!(self.state, State::Asking { .. }) => {
                self.end(Why::Failed, &mut actions);
            }
            Event::Adapted(form) => self.adapted(form, &mut actions),
            Event::Summarised(tokens) => self.summarised(tokens, &mut actions),
            Event::Judged(call, verdict) => self.judged(call, verdict, &mut actions),
            Event::Decided(call, is_allowed) => self.decided(call, is_allowed, &mut actions),
            Event::Ended(call, result) => self.ended(call, result, &mut actions),
            Event::Failed => {}
        }
        self.go_on(now, &mut actions);
        self.note_waiting(now);
        actions
    }

    /// The time when [`Event::Tick`] is due. Never while the turn waits only for the person.
    #[must_use]
    pub fn deadline(&self) -> Option<Millis> {
        match &self.state {
            State::Ended => None,
            _ if self.waits_since.is_some() => None,
            State::Asking { last: Some(_), .. } => Some(self.end_of_time().saturating_add(GRACE)),
            _ => Some(self.end_of_time()),
        }
    }

    /// The number of requests to the model.
    #[must_use]
    pub fn rounds(&self) -> u32 {
        self.rounds
    }

    fn end_of_time(&self) -> Millis {
        self.began.saturating_add(self.limits.time).saturating_add(self.waited)
    }

    fn end(&mut self, why: Why, actions: &mut Vec<Action>) {
        self.state = State::Ended;
        actions.push(Action::End(why));
    }

    /// Settles each call that has no result.
    fn settle_all(&mut self, how: Unmade, actions: &mut Vec<Action>) {
        if let State::Calling(calls) = &mut self.state {
            for (at, call) in calls.iter_mut().enumerate().filter(|(_, call)| !call.is_done()) {
                call.state = CallState::Done;
                actions.push(Action::Settle(at, how));
            }
        }
    }

    fn stop(&mut self, actions: &mut Vec<Action>) {
        if self.state != State::Ended {
            actions.push(Action::Cancel);
            self.settle_all(Unmade::Stopped, actions);
            self.end(Why::Stopped, actions);
        }
    }

    fn tick(&mut self, now: Millis, actions: &mut Vec<Action>) {
        if self.deadline().is_none_or(|deadline| now < deadline) {
            return;
        }
        actions.push(Action::Cancel);
        match self.state {
            // What comes next sees that the time is over.
            State::Calling(_) => self.settle_all(Unmade::Late, actions),
            _ => self.end(Why::Time, actions),
        }
    }

    fn adapted(&mut self, form: RequestForm, actions: &mut Vec<Action>) {
        match self.state {
            State::Asking { last, forms } if !forms.contains(&Some(form)) => {
                self.state = State::Asking { last, forms: [Some(form), forms[0]] };
                actions.push(Action::Ask { last });
            }
            State::Asking { .. } => self.end(Why::Failed, actions),
            _ => {}
        }
    }

    /// The request follows that the summary was made for. It is the last one, if the tokens are used up.
    fn summarised(&mut self, tokens: u64, actions: &mut Vec<Action>) {
        let State::Asking { last, .. } = &mut self.state else { return };
        self.tokens = self.tokens.saturating_add(tokens);
        if self.tokens >= self.limits.tokens {
            *last = last.or(Some(Why::Tokens));
        }
        actions.push(Action::Ask { last: *last });
    }

    fn answered(&mut self, calls: Vec<Wanted>, tokens: u64, actions: &mut Vec<Action>) {
        let State::Asking { last, .. } = self.state else { return };
        self.tokens = self.tokens.saturating_add(tokens);
        if calls.is_empty() {
            return self.end(last.unwrap_or(Why::Done), actions);
        }
        let left = self.limits.calls.saturating_sub(self.calls) as usize;
        let mut open: Vec<Open> = calls.into_iter().map(Open::new).collect();
        for (at, call) in open.iter_mut().enumerate() {
            if last.is_some() || at >= left {
                call.state = CallState::Done;
                actions.push(Action::Settle(at, Unmade::TooMany));
            } else {
                self.calls += 1;
            }
        }
        self.state = State::Calling(open);
        if let Some(why) = last {
            // It was to answer without calls: there is no further round.
            self.end(why, actions);
        }
    }

    fn call(&mut self, at: usize, state: CallState) -> Option<&mut Open> {
        let State::Calling(calls) = &mut self.state else { return None };
        calls.get_mut(at).filter(|call| call.state == state)
    }

    fn judged(&mut self, at: usize, verdict: Verdict, actions: &mut Vec<Action>) {
        let Some(call) = self.call(at, CallState::Judging) else { return };
        let (state, action) = match verdict {
            Verdict::Run => (CallState::Running, Action::Run(at)),
            Verdict::Ask => (CallState::Asking, Action::AskPerson(at)),
            Verdict::Refuse => (CallState::Done, Action::Settle(at, Unmade::Refused)),
        };
        call.state = state;
        actions.push(action);
    }

    fn decided(&mut self, at: usize, is_allowed: bool, actions: &mut Vec<Action>) {
        let Some(call) = self.call(at, CallState::Asking) else { return };
        let (state, action) = match is_allowed {
            true => (CallState::Running, Action::Run(at)),
            false => (CallState::Done, Action::Settle(at, Unmade::Refused)),
        };
        call.state = state;
        actions.push(action);
    }

    fn ended(&mut self, at: usize, result: u64, actions: &mut Vec<Action>) {
        let Some(call) = self.call(at, CallState::Running) else { return };
        call.state = CallState::Done;
        let seen = (call.wanted.fingerprint, result);
        let times = self.seen.entry(seen).or_default();
        *times += 1;
        let times = *times;
        self.most_seen = self.most_seen.max(times);
        if times >= TOLD_AT {
            actions.push(Action::Remark(at, times));
        }
    }

    /// The next calls, or the next question to the model.
    fn go_on(&mut self, now: Millis, actions: &mut Vec<Action>) {
        let State::Calling(calls) = &mut self.state else { return };
        if calls.iter().all(Open::is_done) {
            let last = self.limit(now);
            self.rounds += 1;
            self.state = State::Asking { last, forms: [None; 2] };
            actions.push(Action::Ask { last });
            return;
        }
        let only_reads = calls.iter().all(|call| call.wanted.reads);
        let is_under_way = calls.iter().any(|call| call.is_under_way());
        let waiting = calls.iter_mut().enumerate().filter(|(_, call)| call.state == CallState::Waiting);
        // What changes something runs by itself, in its order.
        let most = if only_reads { usize::MAX } else { usize::from(!is_under_way) };
        for (at, call) in waiting.take(most) {
            call.state = CallState::Judging;
            actions.push(Action::Judge(at));
        }
    }

    /// The limit that is reached.
    fn limit(&self, now: Millis) -> Option<Why> {
        let reached = [
            (self.most_seen >= ENOUGH_AT, Why::Repeats),
            (now >= self.end_of_time(), Why::Time),
            (self.tokens >= self.limits.tokens, Why::Tokens),
            (self.calls >= self.limits.calls, Why::Calls),
            (self.rounds >= self.limits.rounds, Why::Rounds),
        ];
        reached.into_iter().find_map(|(is_reached, why)| is_reached.then_some(why))
    }

    /// Time in which only the person is waited for is not the turn's.
    fn note_waiting(&mut self, now: Millis) {
        let waits = match &self.state {
            State::Calling(calls) => {
                let mut under_way = calls.iter().filter(|call| call.is_under_way()).peekable();
                under_way.peek().is_some() && under_way.all(|call| call.state == CallState::Asking)
            }
            _ => false,
        };
        match (waits, self.waits_since) {
            (true, None) => self.waits_since = Some(now),
            (false, Some(since)) => {
                self.waited = self.waited.saturating_add(now.saturating_sub(since));
                self.waits_since = None;
            }
            _ => {}
        }
    }
}
