//! Lines to servers: built from whatever texts, each is one line of valid JSON that says what it was given.
//!
//! Input: choices, then texts, separated by 0xff.

use std::borrow::Cow;

use harbor_ipc_proto::link::runner::{Era, Operation};
use harbor_runner::mcp::message::{Message, read};
use harbor_runner::mcp::write::{Request, RequestMeta, put_answer, put_cancelled, put_request};

use super::Target;
use super::input::Input;
use super::json::{Pairs, one_value, string};

pub(super) const REQUESTS: Target = Target {
    name: "write_requests",
    run: requests,
    corpus: &[
        b"\x00\x00a\"b\xff{\n\"x\": 1e2}\xff{\"ttl\":1}",
        b"\x00\x07t\xff{}\xff{\"ttl\":1}\xffinfo",
        b"\x01\x03file:///a\n\r\0\xff",
        b"\x02\x05p\xff{\"a\":\"b\"}",
        b"\x03\x01{\"type\":\"ref/prompt\",\"name\":\"p\"}\xff{\"name\":\"n\",\r\n\"value\":\"v\"}\xff{}",
        b"\x04\x02tasks/get\xff {\"taskId\":\"x\"} ",
        b"\x04\x03tasks/list\xff{}",
        b"\x00\x07\xed\xa0\x80\xff{\"a\":{\"b\":[\"}\"]}}\xff\xff\xe2\x80\xa8",
    ],
};

pub(super) const ANSWERS: Target = Target {
    name: "write_answers",
    run: answers,
    corpus: &[
        b"\x00{\"id\":\"q\",\"method\":\"ping\"}\xff{\"roots\":[\r\n]}\xffno",
        b"\x01{\"id\":-7,\"method\":\"roots/list\"}\xff{}\xff\"no\"\n\0",
        b"\x01{\"id\":\"\\ud800\\n\",\"method\":\"x\",\"params\":{}}\xff[]\xff\xe2\x80\xa8",
        b"\x00{\"id\":1.5e3,\"method\":\"m\"}\xffnull",
    ],
};

const TASKS: &[&str] = &["tasks/get", "tasks/update", "tasks/cancel", "tasks/result", "tasks/list"];

/// The params of a request line, which is one line of valid JSON.
pub(super) fn params_of(line: &[u8]) -> &str {
    object_of(line).get("params").expect("a request has params")
}

/// The object that the line is; fails when it is not exactly one line.
fn object_of(line: &[u8]) -> Pairs<'_> {
    let (end, rest) = line.split_last().expect("something is written");
    let breaks = |byte: &u8| matches!(byte, b'\n' | b'\r');
    assert!(*end == b'\n' && !rest.iter().any(breaks), "not one line: {}", line.escape_ascii());
    Pairs::unique(rest).unwrap_or_else(|| panic!("not valid: {}", line.escape_ascii()))
}

/// JSON text as it stands in a line.
pub(super) fn on_one_line(json: &str) -> String {
    json.replace(['\n', '\r'], " ")
}

/// The object that `text` is, as a client's message could carry it; another one when it is none.
fn object(text: &str) -> &str {
    one_value(text).filter(|value| value.starts_with('{')).unwrap_or("{}")
}

/// Texts out of bytes; more of them than any line needs.
fn texts(bytes: &[u8]) -> Vec<Cow<'_, str>> {
    let given = bytes.split(|byte| *byte == 0xff).map(String::from_utf8_lossy);
    given.chain(std::iter::repeat(Cow::Borrowed(""))).take(4).collect()
}

fn requests(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let (which, flags) = (input.byte(), input.byte());
    let texts = texts(input.rest());
    let (operation, wanted) = operation(which, flags & 8 != 0, &texts);
    let era = if flags & 1 == 0 { Era::Legacy } else { Era::Modern };
    let request = Request::of(&operation, era).expect("it is one request");
    let meta = RequestMeta { offers_roots: flags & 4 != 0, log_level: Some(texts[3].to_string()) };
    let meta = (era == Era::Modern).then_some(&meta);
    let progress = flags & 2 != 0;
    let mut line = Vec::new();
    put_request(&mut line, 7, &request, progress.then_some(7), meta);
    let text = params_of(&line);
    // What stands in a client's params of a task is passed on as it is, also keys that we would not write.
    if !matches!(operation, Operation::Task { .. }) {
        let params = Pairs::unique(text.as_bytes()).unwrap_or_else(|| panic!("twins in {text}"));
        for (name, value) in wanted {
            assert_eq!(params.get(name), Some(value.as_str()));
        }
        assert_eq!(params.get("_meta").is_some(), progress || meta.is_some());
    }
    cancelled(&texts[0]);
}

fn cancelled(reason: &str) {
    let mut line = Vec::new();
    put_cancelled(&mut line, 7, reason);
    let params = Pairs::unique(params_of(&line).as_bytes()).expect("no key stands twice");
    assert_eq!(params.get("requestId"), Some("7"));
    assert_eq!(params.get("reason").and_then(string).as_deref(), Some(reason));
}

/// An operation made of `texts`, and what its params must show.
fn operation<'a>(
    which: u8,
    more: bool,
    texts: &'a [Cow<'a, str>],
) -> (Operation<'a>, Vec<(&'static str, String)>) {
    let text = |at: usize| Cow::Borrowed(texts[at].as_ref());
    let json = |at: usize| Cow::Borrowed(object(&texts[at]));
    let quoted = |at: usize| serde_json::to_string(texts[at].as_ref()).unwrap();
    let shown = |at: usize| on_one_line(object(&texts[at]));
    match which % 5 {
        0 => (
            Operation::CallTool { name: text(0), arguments: json(1), task: more.then(|| json(2)) },
            vec![("name", quoted(0)), ("arguments", shown(1))],
        ),
        1 => (Operation::ReadResource { uri: text(0) }, vec![("uri", quoted(0))]),
        2 => (
            Operation::GetPrompt { name: text(0), arguments: json(1) },
            vec![("name", quoted(0)), ("arguments", shown(1))],
        ),
        3 => (
            Operation::Complete { reference: json(0), argument: json(1), context: more.then(|| json(2)) },
            vec![("ref", shown(0)), ("argument", shown(1))],
        ),
        _ => {
            let method = TASKS[texts[0].len() % TASKS.len()];
            (Operation::Task { method: method.into(), params: json(1) }, Vec::new())
        }
    }
}

/// The first text is the server's request: only what was read from it comes back as an id.
fn answers(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let refuse = input.byte() & 1 != 0;
    let texts = texts(input.rest());
    let asked = texts[0].replace('\n', " ");
    let Ok(Message::Request { id, .. }) = read(asked.as_bytes()) else { return };
    // In MCP an id is a string or a number; a carriage return can stand between the tokens of anything else.
    if id.starts_with(['{', '[']) {
        return;
    }
    let result = one_value(&texts[1]).unwrap_or("{}");
    let mut line = Vec::new();
    put_answer(&mut line, id, if refuse { Err((-32601, &texts[2])) } else { Ok(result) });
    let reply = object_of(&line);
    assert_eq!(reply.get("id"), Some(id));
    if refuse {
        let error = Pairs::unique(reply.get("error").expect("an error").as_bytes()).expect("an object");
        assert_eq!(error.get("message").and_then(string).as_deref(), Some(texts[2].as_ref()));
    } else {
        assert_eq!(reply.get("result"), Some(on_one_line(result).as_str()));
    }
}
