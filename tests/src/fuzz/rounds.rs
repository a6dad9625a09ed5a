//! Results that ask for input: what is sent again carries every answer and the state as the server wrote it.

use std::collections::BTreeSet;

use harbor_runner::mcp::rounds::{Round, asks_for_input};
use harbor_runner::mcp::write::{Request, RequestMeta, put_request};

use super::Target;
use super::json::{Pairs, one_value};
use super::writes::{on_one_line, params_of};

pub(super) const ROUNDS: Target = Target {
    name: "rounds",
    run: rounds,
    corpus: &[
        br#"{"resultType":"input_required","requestState":"s\u0041","inputRequests":{"b":{"method":"roots/list"},"a":{"method":"x","params":{"y":1}}}}"#,
        br#"{"resultType":"input_required","requestState":{"a":[1, 2]}}"#,
        br#"{"inputRequests":{"\u0000\"":{"method":"elicitation/create","params":null}},"resultType":"input_required"}"#,
        br#"{"resultType":"input_required","inputRequests":{"a":{"method":"m"},"a":{"method":"n"}}}"#,
        br#"{"resultType":"input_required","inputRequests":null,"requestState":null}"#,
        br#"{"resultType":"input_required","inputRequests":{},"requestState":""}"#,
        br#"{"content":[{"text":"\"input_required\""}]}"#,
        br#"{"x":{"resultType":"input_required"}}"#,
        b"{\"resultType\":\"input_required\",\"requestState\":[1,\r\n2]}",
    ],
};

fn rounds(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let kind = Pairs::unique(bytes).and_then(|pairs| pairs.get("resultType"));
    if !asks_for_input(text) {
        assert_ne!(kind, Some("\"input_required\""), "a question that is not seen");
        return;
    }
    // That the rest is in order is for `begin` to find out.
    let Ok((mut round, questions)) = Round::begin(text, &BTreeSet::new()) else { return };
    assert!(questions.len() <= 16);
    let mut left = questions.len();
    assert_eq!(round.is_complete(), left == 0);
    for question in &questions {
        assert_eq!(one_value(&question.params), Some(question.params.as_str()));
        left -= 1;
        assert_eq!(round.answer(&question.name, format!("{{\"n\":{left}}}")), left == 0);
    }
    let mut line = Vec::new();
    let again = round.retry(&Request::new("tools/call", b"\"name\":\"t\"".to_vec()));
    put_request(&mut line, 9, &again, Some(9), Some(&RequestMeta::default()));
    let params = params_of(&line);
    let params = Pairs::unique(params.as_bytes()).expect("no key stands twice");
    let asked = Pairs::parse(bytes).expect("a result is an object");
    let state = asked.get("requestState").filter(|state| *state != "null");
    assert_eq!(params.get("requestState"), state.map(on_one_line).as_deref());
    let answers = Pairs::parse(params.get("inputResponses").unwrap_or("{}").as_bytes()).expect("an object");
    let names: Vec<_> = questions.iter().map(|question| question.name.as_str()).collect();
    assert_eq!(answers.keys(), names);
}
