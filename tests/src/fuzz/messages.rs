//! A server's lines as messages: parts are JSON that stays where it is put, ids are those of the line.

use harbor_runner::mcp::message::{Answer, Message, read};
use harbor_runner::mcp::shown::{Shown, id_in_tail};

use super::Target;
use super::json::{Pairs, one_value};

pub(super) const MESSAGE: Target = Target { name: "message", run: message, corpus: CORPUS };

pub(super) const LINE_ENDS: Target = Target { name: "line_ends", run: line_ends, corpus: CORPUS };

const CORPUS: &[&[u8]] = &[
    br#"{"jsonrpc":"2.0","id":7,"result":{"b":1,"a":12345678901234567890}}"#,
    br#"{"jsonrpc":"2.0","result":{"tools":[{"id":1,"name":"a"},{"id":2,"name":"b"}]},"id":77}"#,
    br#"{"id":7,"error":{"code":-32050,"message":"n\u0000o","data":[1]}}"#,
    br#"{"id":"x","method":"ping"}"#,
    br#"{"jsonrpc":"2.0","id":{"a":1},"method":"roots/list","params":{}}"#,
    br#" {"method":"notifications/message","params":{"level":"info","data":"\"id\":9}"}}"#,
    br#"{"id":null,"method":"notifications/progress","params":[1]}"#,
    br#"{"id":7e0,"result":{}}"#,
    br#"{"id":7,"result":1}"#,
    br#"{"id":7,"result":{},"error":{}}"#,
    b"{\"id\":7,\"result\":{\"x\":\"\xff\"}}",
    b"{\"result\":{\"id\":9,\"x\":\"\xff\"},\"id\":7}",
    b"{\"result\":{\"id\":9",
    br#"{"jsonrpc":"2.0","x":"\"","id":7,"result":{"y":"a\\"}}"#,
    b"{\"i\\u0064\":7,\"result\":{}}",
    br#"{"result":{"a":[1],"x":{"id":1},"y":2},"id":7}"#,
    br#"{"id":7,"\"id":1}"#,
    b"listening on stdio",
    b"18446744073709551615",
];

/// What comes here was cut at line ends before.
fn in_one_line(bytes: &[u8]) -> Vec<u8> {
    bytes.iter().map(|byte| if *byte == b'\n' { b' ' } else { *byte }).collect()
}

fn message(bytes: &[u8]) {
    let line = &in_one_line(bytes);
    let found = Shown::of(line).answered();
    match read(line) {
        Err(no_message) => assert!(no_message.answers.is_none_or(|id| Some(id) == found)),
        Ok(message) => {
            let text = std::str::from_utf8(line).expect("a message is text");
            assert!(
                text.trim_start().starts_with('{') && one_value(text).is_some(),
                "a message is an object"
            );
            // Keys that are no text (half a surrogate pair) are beyond the plain reading.
            let Some(pairs) = Pairs::parse(line) else { return };
            check(&message, &pairs);
            if let Message::Response { id, .. } = message {
                // A key with escapes, or a number that is written in another way, is not found; it must not be
                // another one instead.
                let escapes = line.windows(2).any(|two| two == b"\\u");
                let otherwise = pairs.get("id").is_none_or(|id| id.parse::<u64>().is_err());
                // What looks like a question is nobody's answer where only a part of it is seen.
                let asks = pairs.get("params").is_some_and(|params| params != "null");
                let missed = found.is_none() && (escapes || otherwise || asks);
                assert!(found == Some(id) || missed, "found {found:?} instead of {id}");
            }
        }
    }
}

fn check(message: &Message<'_>, pairs: &Pairs<'_>) {
    let params_of =
        |params: &str| assert_eq!(params, pairs.get("params").filter(|p| *p != "null").unwrap_or("{}"));
    match message {
        Message::Request { id, params, .. } => {
            assert_eq!(Some(*id), pairs.get("id"));
            params_of(params);
        }
        Message::Notification { params, .. } => params_of(params),
        Message::Response { id, answer } => {
            // A server may give a number back as a string, or with a fraction of zero.
            let shown = pairs.get("id").map(|shown| shown.trim_matches('"').trim_end_matches(".0"));
            assert_eq!(shown.and_then(|shown| shown.parse().ok()), Some(*id));
            match answer {
                Answer::Result(result) => {
                    assert!(result.starts_with('{') && one_value(result) == Some(result));
                    assert_eq!(Some(*result), pairs.get("result"));
                }
                Answer::Error { data, .. } => {
                    assert!(data.is_none_or(|data| one_value(data) == Some(data)));
                    assert!(pairs.get("error").is_some());
                }
                Answer::Malformed(_) => {}
            }
        }
    }
}

/// Either end of an answer that is too long to be read whole gives the answer's id, or none: with another one,
/// a call fails that has nothing to do with it.
fn line_ends(bytes: &[u8]) {
    let line = &in_one_line(bytes);
    let Ok(Message::Response { id, .. }) = read(line) else { return };
    // All cuts of a long line would take long, and the interesting ones are near the ends.
    let near = 300.min(line.len());
    for cut in (0..near).chain(line.len() - near..line.len()) {
        let (head, tail) = line.split_at(cut);
        for (end, found, name) in
            [(head, Shown::of(head).answered(), "head"), (tail, id_in_tail(tail), "tail")]
        {
            assert!(
                found.is_none_or(|found| found == id),
                "its {name} {} shows {found:?}",
                end.escape_ascii()
            );
        }
    }
}
