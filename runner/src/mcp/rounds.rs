//! Results of the modern generation that ask for input first.
//!
//! ```text
//!  request ─► result input_required {inputRequests, requestState} ─► ask above ─► request again with answers
//!                                   └ {requestState} only: not yet ─► a pause ──► request again
//! ```
//!
//! Owns one such round, the bound on the number of those that ask, and the pauses of those that do not. Servers put off what
//! takes long, and the time of the call is the bound for that. The state that the server gives is passed back unread.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use serde_json::value::RawValue;

use super::write::{Request, put_json_member};

/// A server that still asks after this many rounds is refused.
pub const MAX_ROUNDS: u32 = 8;

/// The pauses before a request that was put off is sent again grow from the first to the longest, in milliseconds.
const FIRST_PAUSE: u64 = 100;
const LONGEST_PAUSE: u64 = 5000;

/// More questions than this in one round are refused.
const MAX_QUESTIONS: usize = 16;

/// One round: what was asked, and the answers so far.
#[derive(Debug)]
pub struct Round {
    /// Names of questions without an answer.
    open: Vec<String>,
    answers: BTreeMap<String, String>,
    state: Option<String>,
}

/// A question of a server.
#[derive(Debug, PartialEq, Eq)]
pub struct Question {
    /// The server's name for it.
    pub name: String,
    /// MCP's method.
    pub method: String,
    /// JSON text of an object.
    pub params: String,
}

#[derive(Deserialize)]
struct InputRequired<'a> {
    #[serde(rename = "inputRequests", borrow)]
    requests: Option<BTreeMap<String, ServerInputRequest<'a>>>,
    #[serde(rename = "requestState", borrow)]
    state: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct ServerInputRequest<'a> {
    method: String,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
}

/// How many milliseconds to wait before a request is sent again that was put off `delays` times in a row.
pub fn pause_ms(delays: u32) -> u64 {
    let factor = 2u64.saturating_pow(delays.saturating_sub(1));
    FIRST_PAUSE.saturating_mul(factor).min(LONGEST_PAUSE)
}

/// True if `result` asks for input. All other results cost only the search for the word.
pub fn asks_for_input(result: &str) -> bool {
    #[derive(Deserialize)]
    struct Type<'a> {
        #[serde(rename = "resultType", borrow)]
        result_type: Option<&'a str>,
    }
    memchr::memmem::find(result.as_bytes(), b"\"input_required\"").is_some()
        && serde_json::from_str::<Type<'_>>(result).is_ok_and(|t| t.result_type == Some("input_required"))
}

impl Round {
    /// Reads the questions of a result that [asks for input](asks_for_input), or of a task that does. Those of the `known` names were
    /// asked before: a task tells them until its server has taken the answers.
    ///
    /// # Errors
    /// When the server is wrong.
    pub fn begin(result: &str, known: &BTreeSet<String>) -> Result<(Self, Vec<Question>), &'static str> {
        let required: InputRequired<'_> =
            serde_json::from_str(result).map_err(|_| "its request for input is malformed")?;
        let requests = required.requests.unwrap_or_default();
        if requests.is_empty() && required.state.is_none() {
            return Err("it asks for input without a question or a state");
        }
        if requests.len() > MAX_QUESTIONS {
            return Err("it asks more than 16 questions at once");
        }
        let questions: Vec<_> = requests
            .into_iter()
            .filter(|(name, _)| !known.contains(name))
            .map(|(name, asked)| Question {
                name,
                method: asked.method,
                params: asked.params.map_or("{}", RawValue::get).to_owned(),
            })
            .collect();
        let open = questions.iter().map(|question| question.name.clone()).collect();
        let state = required.state.map(|state| state.get().to_owned());
        Ok((Self { open, answers: BTreeMap::new(), state }, questions))
    }

    /// Takes the answer to one question; returns whether all are answered.
    pub fn answer(&mut self, name: &str, result: String) -> bool {
        self.open.retain(|open| open != name);
        self.answers.insert(name.to_owned(), result);
        self.is_complete()
    }

    /// True if the request can be sent again.
    pub fn is_complete(&self) -> bool {
        self.open.is_empty()
    }

    /// The request to send again.
    pub fn retry(&self, first: &Request) -> Request {
        let mut request = first.clone();
        if !self.answers.is_empty() {
            let mut answers = Vec::new();
            for (name, result) in &self.answers {
                put_json_member(&mut answers, name, result);
            }
            let answers = format!("{{{}}}", String::from_utf8_lossy(&answers));
            put_json_member(&mut request.members, "inputResponses", &answers);
        }
        if let Some(state) = &self.state {
            put_json_member(&mut request.members, "requestState", state);
        }
        request
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_round_echoes_the_state_and_answers_every_question() {
        let result = r#"{"resultType":"input_required","requestState":"s\u0041",
            "inputRequests":{"b":{"method":"roots/list"},"a":{"method":"x","params":{"y":1}}}}"#;
        assert!(asks_for_input(result));
        let (mut round, questions) = Round::begin(result, &BTreeSet::new()).unwrap();
        let asked = |name: &str, method: &str, params: &str| Question {
            name: name.into(),
            method: method.into(),
            params: params.into(),
        };
        assert_eq!(questions, [asked("a", "x", "{\"y\":1}"), asked("b", "roots/list", "{}")]);
        assert!(!round.answer("a", "{\"n\":1}".into()));
        assert!(round.answer("b", "{}".into()));
        let retry = round.retry(&Request::new("tools/call", b"\"name\":\"t\"".to_vec()));
        assert_eq!(
            String::from_utf8(retry.members).unwrap(),
            r#""name":"t","inputResponses":{"a":{"n":1},"b":{}},"requestState":"s\u0041""#
        );
    }

    #[test]
    fn a_state_without_a_question_puts_the_request_off_longer_and_longer() {
        let (round, questions) =
            Round::begin(r#"{"resultType":"input_required","requestState":"s"}"#, &BTreeSet::new()).unwrap();
        assert!(questions.is_empty() && round.is_complete());
        let retry = round.retry(&Request::new("tools/call", b"\"name\":\"t\"".to_vec()));
        assert_eq!(String::from_utf8(retry.members).unwrap(), r#""name":"t","requestState":"s""#);
        let pauses = [1, 2, 3, 6, 7, 30, u32::MAX].map(pause_ms);
        assert_eq!(pauses, [100, 200, 400, 3200, 5000, 5000, 5000]);
    }

    #[test]
    fn the_word_alone_does_not_ask() {
        assert!(!asks_for_input(r#"{"content":[{"text":"\"input_required\""}]}"#));
        assert!(!asks_for_input(r#"{"x":{"resultType":"input_required"}}"#));
        assert!(Round::begin(r#"{"resultType":"input_required"}"#, &BTreeSet::new()).is_err());
    }
}
