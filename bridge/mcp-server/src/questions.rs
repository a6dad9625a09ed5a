//! Questions of servers to the AI client while they work on its requests.
//!
//! ```text
//!  older generation:  ask ─► a request to the client ─► its response ─► mcp_answer
//!
//!  newer generation:  ask ─► the request's result: input_required ─► Parked
//!                     the request again, with inputResponses ◄──────────┘─► mcp_answer; and it goes on
//! ```
//!
//! Owns which question is open, and the state of the request that it is about. Must never look into questions
//! or answers.

use std::collections::BTreeMap;

use harbor_ipc_proto::client::AskPush;
use harbor_ipc_proto::json::Fields;

use super::want::{Want, text};
use super::write;

/// The most requests that may wait to be made again. One more replaces the oldest.
const MOST_PARKED: usize = 64;

/// A question, as the bridge passes it on. The parameters are JSON text.
#[derive(Debug, PartialEq, Eq)]
pub struct Question {
    pub ask_id: u64,
    pub method: String,
    pub params: String,
}

/// The result of a request that waits for being made again.
#[derive(Debug, PartialEq, Eq)]
pub enum Ending {
    /// A result, JSON text.
    Result(String),
    /// An error: its number, its sentence, and its data as JSON text.
    Error(i64, String, Option<String>),
}

/// A request that waits for being made again.
#[derive(Debug)]
struct ParkedRequest {
    want: Want,
    /// The questions that the client was asked.
    told: Vec<Question>,
    /// The questions that it will be asked next.
    next: Vec<Question>,
    ending: Option<Ending>,
}

/// A request that was made again.
#[derive(Debug, PartialEq, Eq)]
pub struct Resumed {
    /// The bridge's number of it.
    pub number: u64,
    /// The answers, each with its question's number. None for a question without an answer.
    pub answers: Vec<(u64, Option<String>)>,
    pub then: Then,
}

/// The next step of a request that was made again.
#[derive(Debug, PartialEq, Eq)]
pub enum Then {
    /// The server goes on.
    Wait,
    /// There are more questions: this is its result, and it is parked again.
    Ask(String),
    /// It has come to its end already.
    End(Ending),
}

/// The open questions.
#[derive(Debug, Default)]
pub struct Questions {
    /// The beginning of the states that clients give back.
    name: String,
    next: u64,
    /// Requests to the client by their number: the bridge's question, and the request that it is about.
    asked: BTreeMap<u64, (u64, u64)>,
    parked: BTreeMap<u64, ParkedRequest>,
}

impl Questions {
    /// The questions of a machine with this name, which goes into JSON unchanged.
    pub fn named(name: &str) -> Self {
        Self { name: name.to_owned(), ..Self::default() }
    }

    /// True if the request `number` waits for the client's answer.
    pub fn are_about(&self, number: u64) -> bool {
        self.parked.contains_key(&number) || self.asked.values().any(|(_, about)| *about == number)
    }

    /// Asks a client of the older generation about the request `number`. Returns the line.
    pub fn ask(&mut self, number: u64, question: &Question) -> Vec<u8> {
        self.next += 1;
        self.asked.insert(self.next, (question.ask_id, number));
        write::request(&id(self.next), &question.method, &question.params)
    }

    /// Takes the client's answer to the request `id`. Returns the number of the question.
    pub fn answered(&mut self, answered: &str) -> Option<u64> {
        let (next, _) = self.asked.iter().find(|(next, _)| id(**next) == answered)?;
        let next = *next;
        self.asked.remove(&next).map(|(ask_id, _)| ask_id)
    }

    /// Handles the end of a request. Returns the lines that take back its questions to the client.
    pub fn end_of(&mut self, number: u64) -> Vec<Vec<u8>> {
        let gone = self.asked.extract_if(.., |_, (_, about)| *about == number);
        let line = |next| {
            let params = format!("{{\"requestId\":{},\"reason\":\"the request has ended\"}}", id(next));
            write::notification("notifications/cancelled", Some(&params))
        };
        gone.map(|(next, _)| line(next)).collect()
    }

    /// Asks a client of the newer generation. Returns the result that asks for input, or nothing if the
    /// client must already repeat its request.
    pub fn park(&mut self, number: u64, want: &Want, question: Question) -> Option<String> {
        if let Some(parked) = self.parked.get_mut(&number) {
            parked.next.push(question);
            return None;
        }
        let result = self.required(number, std::slice::from_ref(&question));
        let parked =
            ParkedRequest { want: want.clone(), told: vec![question], next: Vec::new(), ending: None };
        self.parked.insert(number, parked);
        Some(result)
    }

    /// A request too many waits for being made again: it is given up.
    pub fn take_surplus(&mut self) -> Option<u64> {
        let oldest = *self.parked.keys().next().filter(|_| self.parked.len() > MOST_PARKED)?;
        self.parked.remove(&oldest).map(|_| oldest)
    }

    /// Notes the end of a request that nobody waits for. Its client is told when it makes the request again.
    pub fn end(&mut self, number: u64, ending: Ending) {
        if let Some(parked) = self.parked.get_mut(&number) {
            parked.ending = Some(ending);
        }
    }

    /// Resumes a request that was made again, if its parameters say so.
    ///
    /// # Errors
    /// When no request waits for it.
    pub fn resume(&mut self, want: &Want, fields: &Fields<'_>) -> Result<Option<Resumed>, &'static str> {
        let Some(state) = fields.get("requestState") else { return Ok(None) };
        let state: Option<String> = serde_json::from_str(state).ok();
        let number = state.as_deref().and_then(|state| {
            let (name, number) = state.split_once(' ')?;
            number.parse().ok().filter(|_| name == self.name)
        });
        let is_it = |number: &u64| self.parked.get(number).is_some_and(|parked| want.is_again(&parked.want));
        let number: u64 = number
            .filter(is_it)
            .ok_or("`requestState` belongs to no request that waits for answers; send the request again")?;
        let Some(mut parked) = self.parked.remove(&number) else { return Ok(None) };
        let given = fields.get("inputResponses").and_then(|given| Fields::parse(given.as_bytes()).ok());
        let given = given.unwrap_or_default();
        let answer = |question: &Question| {
            let answer = given.get(&name(question)).filter(|answer| answer.starts_with('{'));
            (question.ask_id, answer.map(str::to_owned))
        };
        let answers = parked.told.iter().map(answer).collect();
        let then = match parked.ending.take() {
            Some(ending) => Then::End(ending),
            None if parked.next.is_empty() => Then::Wait,
            None => {
                parked.told = std::mem::take(&mut parked.next);
                let result = self.required(number, &parked.told);
                self.parked.insert(number, parked);
                Then::Ask(result)
            }
        };
        Ok(Some(Resumed { number, answers, then }))
    }

    fn required(&self, number: u64, questions: &[Question]) -> String {
        let asked =
            |question: &'_ Question| (name(question), question.method.clone(), question.params.clone());
        write::input_required(questions.iter().map(asked), &format!("{} {number}", self.name))
    }

    /// Handles the loss of the bridge. Returns the lines that take back the questions to the client.
    pub fn take_back_all(&mut self) -> Vec<Vec<u8>> {
        let numbers: Vec<_> = self.asked.values().map(|(_, number)| *number).collect();
        numbers.into_iter().flat_map(|number| self.end_of(number)).collect()
    }
}

/// The ids of our requests, JSON text: none of the client's looks like that by accident.
fn id(number: u64) -> String {
    format!("\"harbor-{number}\"")
}

fn name(question: &Question) -> String {
    format!("q{}", question.ask_id)
}

/// The question in a push of the bridge, and the number of the request that it is about.
pub fn read(push: AskPush) -> Option<(u64, Question)> {
    let AskPush { ask_id, method, params, .. } = push;
    Some((push.request_id.parse().ok()?, Question { ask_id, method, params: params.into_string() }))
}

/// The capabilities that a client states, JSON text.
pub fn capabilities(fields: &Fields<'_>, name: &str) -> Option<String> {
    fields.get(name).filter(|capabilities| capabilities.starts_with('{')).map(str::to_owned)
}

/// The level that a client wants to hear of.
pub fn level(fields: &Fields<'_>) -> Option<String> {
    text(fields, "level").filter(|level| harbor_policy::limits::LEVELS.contains(&level.as_str()))
}
