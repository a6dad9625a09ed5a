//! Questions of a server to its client (roots, sampling, elicitation), of both generations.
//!
//! ```text
//!  legacy: request on stdout ─┐                        ┌─► answer on stdin
//!                             ├─► Ask ─► bridge ─► Answer
//!  modern: input_required ────┘                        └─► the request again, with inputResponses
//!                  └─ without a question ─► a pause ─► the request again
//! ```
//!
//! Owns which question belongs to what, and which requests wait to be sent again. Must never decide: only `ping` is answered here.

use std::time::{Duration, Instant};

use harbor_ipc_proto::link::runner::{AskAnswer, CallFailure, FromRunner};

use super::Session;
use super::open::{Again, Call, Open};
use super::open_questions::OpenQuestion;
use super::tasks::AFTER_ANSWERS;
use crate::mcp::rounds::{MAX_ROUNDS, Round, pause_ms};
use crate::mcp::write::put_answer;

/// More open questions than this are refused.
const MAX_OPEN: usize = 64;

/// JSON-RPC's number for "too much at once" in the range left to implementations.
const BUSY: i64 = -32000;

/// The server has asked too often.
struct TooMany;

impl Session {
    /// A legacy server's request.
    pub(super) fn on_request(&self, id: &str, method: &str, params: &str) {
        if method == "ping" {
            self.write(|out| put_answer(out, id, Ok("{}")));
            return;
        }
        if self.asks.borrow().open.len() >= MAX_OPEN {
            self.write(|out| put_answer(out, id, Err((BUSY, "too many requests are open"))));
            return;
        }
        let ask = self.asks.borrow_mut().open(OpenQuestion::Legacy(id.to_owned()));
        self.ask(ask, None, method, params);
    }

    /// A modern server's result that asks for input, by which it has answered the request with this number on the wire.
    pub(super) fn on_input_required(&self, mut call: Call, wire_id: u64, result: &str) {
        let id = call.id;
        let Some(again) = call.again.as_mut() else {
            return self.fail(id, CallFailure::Malformed("a legacy server asked for input".into()));
        };
        let mut task = call.task.as_mut().filter(|task| task.id.is_some());
        let known = task.as_ref().map(|task| task.asked.clone()).unwrap_or_default();
        let (round, questions) = match Round::begin(result, &known) {
            Ok(begun) => begun,
            Err(why) => {
                self.give_up_task_of(&call);
                return self.fail(id, CallFailure::Malformed(why.into()));
            }
        };
        if let Some(task) = &mut task {
            if questions.is_empty() {
                return self.look_later(call, AFTER_ANSWERS);
            }
            task.is_updating = true;
            task.asked.extend(questions.iter().map(|question| question.name.clone()));
        }
        if again.takes(round, !questions.is_empty(), wire_id).is_err() {
            let why = format!("it asked for input {MAX_ROUNDS} times without giving a result");
            self.give_up_task_of(&call);
            return self.fail(id, CallFailure::InputRefused(why.into()));
        }
        self.asks.borrow_mut().rounds.insert(id, call);
        for question in &questions {
            let asked = OpenQuestion::Modern { call: id, name: question.name.clone() };
            let ask = self.asks.borrow_mut().open(asked);
            self.ask(ask, Some(id), &question.method, &question.params);
        }
    }

    /// The time at which a request that was put off is sent again.
    pub(super) fn next_again(&self) -> Option<Instant> {
        self.asks.borrow().put_off().map(|(due, _)| due).min()
    }

    /// Sends what was put off until now.
    pub(super) fn send_put_off(&self, now: Instant) {
        let due: Vec<_> = self.asks.borrow().put_off().filter(|(due, _)| *due <= now).collect();
        due.into_iter().for_each(|(_, id)| self.send_again_if_complete(id));
    }

    fn ask(&self, ask: u64, call: Option<u64>, method: &str, params: &str) {
        self.up.send(&FromRunner::Ask {
            server: self.number,
            ask,
            call,
            method: method.into(),
            params: params.into(),
        });
    }

    /// The bridge's answer to a question. One to a question that is gone is dropped.
    pub fn answer(&self, ask: u64, answer: &AskAnswer<'_>) {
        let asked = self.asks.borrow_mut().open.remove(&ask);
        match (asked, answer) {
            (None, _) => {}
            (Some(OpenQuestion::Legacy(id)), AskAnswer::Result(result)) => {
                self.write(|out| put_answer(out, &id, Ok(result)));
            }
            (Some(OpenQuestion::Legacy(id)), AskAnswer::Refused { code, message }) => {
                self.write(|out| put_answer(out, &id, Err((*code, message))));
            }
            (Some(OpenQuestion::Modern { call, name }), AskAnswer::Result(result)) => {
                if let Some(round) = self.asks.borrow_mut().round(call) {
                    round.answer(&name, result.to_string());
                }
                self.send_again_if_complete(call);
            }
            (Some(OpenQuestion::Modern { call, .. }), AskAnswer::Refused { message, .. }) => {
                if self.forget_round(call) {
                    self.fail(call, CallFailure::InputRefused(message.clone()));
                }
            }
        }
    }

    fn send_again_if_complete(&self, id: u64) {
        let complete = self.asks.borrow_mut().round(id).is_some_and(|round| round.is_complete());
        let Some(mut call) = complete.then(|| self.asks.borrow_mut().rounds.remove(&id)).flatten() else {
            return;
        };
        let request = call.again.as_mut().and_then(|again| {
            again.due = None;
            Some(again.round.as_ref()?.retry(&again.request))
        });
        if let Some(request) = request {
            let progress = call.progress;
            self.send(Open::Call(call), &request, progress);
        }
    }

    /// Drops the round of a call and its questions, and gives its task up; whether there was one.
    pub(super) fn forget_round(&self, id: u64) -> bool {
        let call = {
            let mut asks = self.asks.borrow_mut();
            asks.open.retain(|_, asked| !matches!(asked, OpenQuestion::Modern { call, .. } if *call == id));
            asks.rounds.remove(&id)
        };
        call.iter().for_each(|call| self.give_up_task_of(call));
        call.is_some()
    }
}

impl Again {
    /// Takes a round, which asks or puts the request off.
    fn takes(&mut self, round: Round, asks: bool, wire_id: u64) -> Result<(), TooMany> {
        self.round = Some(round);
        self.token.get_or_insert(wire_id);
        if asks {
            (self.rounds, self.delays) = (self.rounds + 1, 0);
        } else {
            self.delays = self.delays.saturating_add(1);
            self.due = Some(Instant::now() + Duration::from_millis(pause_ms(self.delays)));
        }
        if self.rounds > MAX_ROUNDS { Err(TooMany) } else { Ok(()) }
    }
}
