//! What a server asks of its client (roots, sampling, elicitation), of both generations.
//!
//! ```text
//!  legacy: request on stdout ─┐                        ┌─► answer on stdin
//!                             ├─► Ask ─► bridge ─► Answer
//!  modern: input_required ────┘                        └─► the request again, with inputResponses
//! ```
//!
//! Owns which question belongs to what. Must never decide: only `ping` is answered here.

use std::collections::HashMap;

use harbor_ipc_proto::link::runner::{AskAnswer, CallFailure, FromRunner};

use super::Session;
use super::calls::{Call, Open};
use crate::mcp::rounds::{MAX_ROUNDS, Round};
use crate::mcp::write::put_answer;

/// More open questions than this are refused.
const MAX_OPEN: usize = 64;

/// JSON-RPC's number for "too much at once" in the range left to implementations.
const BUSY: i64 = -32000;

/// Open questions by number.
#[derive(Debug, Default)]
pub(super) struct Asks {
    next: u64,
    open: HashMap<u64, Asked>,
    /// Calls that wait for answers to their server's questions, by the bridge's id.
    rounds: HashMap<u64, Call>,
}

#[derive(Debug)]
enum Asked {
    /// A request with this id, JSON text.
    Legacy(String),
    /// The question `name` about a call.
    Modern { call: u64, name: String },
}

impl Asks {
    fn open(&mut self, asked: Asked) -> u64 {
        self.next += 1;
        self.open.insert(self.next, asked);
        self.next
    }
}

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
        let ask = self.asks.borrow_mut().open(Asked::Legacy(id.to_owned()));
        self.ask(ask, None, method, params);
    }

    /// A modern server's result that asks for input.
    pub(super) fn on_input_required(&self, mut call: Call, result: &str) {
        let id = call.id;
        let Some(again) = call.again.as_mut() else {
            return self.fail(id, CallFailure::Malformed("a legacy server asked for input".into()));
        };
        again.rounds += 1;
        if again.rounds > MAX_ROUNDS {
            let why = format!("it asked for input {MAX_ROUNDS} times without coming to a result");
            return self.fail(id, CallFailure::InputRefused(why.into()));
        }
        let (round, questions) = match Round::begin(result) {
            Ok(begun) => begun,
            Err(why) => return self.fail(id, CallFailure::Malformed(why.into())),
        };
        again.round = Some(round);
        self.asks.borrow_mut().rounds.insert(id, call);
        for question in &questions {
            let asked = Asked::Modern { call: id, name: question.name.clone() };
            let ask = self.asks.borrow_mut().open(asked);
            self.ask(ask, Some(id), &question.method, &question.params);
        }
        self.send_again_if_complete(id);
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
            (Some(Asked::Legacy(id)), AskAnswer::Result(result)) => {
                self.write(|out| put_answer(out, &id, Ok(result)));
            }
            (Some(Asked::Legacy(id)), AskAnswer::Refused { code, message }) => {
                self.write(|out| put_answer(out, &id, Err((*code, message))));
            }
            (Some(Asked::Modern { call, name }), AskAnswer::Result(result)) => {
                if let Some(round) = self.asks.borrow_mut().round(call) {
                    round.answer(&name, result.to_string());
                }
                self.send_again_if_complete(call);
            }
            (Some(Asked::Modern { call, .. }), AskAnswer::Refused { message, .. }) => {
                if self.forget_round(call) {
                    self.fail(call, CallFailure::InputRefused(message.clone()));
                }
            }
        }
    }

    fn send_again_if_complete(&self, id: u64) {
        let complete = self.asks.borrow_mut().round(id).is_some_and(|round| round.is_complete());
        let Some(call) = complete.then(|| self.asks.borrow_mut().rounds.remove(&id)).flatten() else {
            return;
        };
        let request = call.again.as_ref().and_then(|again| Some(again.round.as_ref()?.retry(&again.request)));
        if let Some(request) = request {
            let progress = call.progress;
            self.send(Open::Call(call), &request, progress);
        }
    }

    /// Drops the round of a call and its questions; whether there was one.
    pub(super) fn forget_round(&self, id: u64) -> bool {
        let mut asks = self.asks.borrow_mut();
        asks.open.retain(|_, asked| !matches!(asked, Asked::Modern { call, .. } if *call == id));
        asks.rounds.remove(&id).is_some()
    }
}

impl Asks {
    fn round(&mut self, call: u64) -> Option<&mut Round> {
        self.rounds.get_mut(&call)?.again.as_mut()?.round.as_mut()
    }
}
