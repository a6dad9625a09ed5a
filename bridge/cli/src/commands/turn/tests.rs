//! A turn as the person sees it, against a bridge of prepared frames.

use std::fs::File;
use std::io::Write;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::thread;

use super::super::rig::{complete_object, serve};
use super::*;
use crate::screen::tests::Paper;

struct Seen {
    printed: String,
    noted: String,
    asked: Vec<String>,
    answered: Result<Answer<ChatSendMessageResult>, Failure>,
}

/// A turn of these frames; `typed` is what the person types, if there is one. Each later text of `answers` comes after another request.
fn turn(answers: &[Vec<String>], typed: Option<&str>) -> Seen {
    let (ours, theirs) = UnixStream::pair().unwrap();
    let answers: Vec<_> = answers.iter().map(|frames| frames.join("\n")).collect();
    let bridge = thread::spawn(move || serve(theirs, &answers));
    let person = typed.map(|typed| {
        let (keys, input) = UnixStream::pair().unwrap();
        (&keys).write_all(typed.as_bytes()).unwrap();
        (keys, File::from(OwnedFd::from(input)))
    });
    let (keys, input) = person.unzip();
    let (paper, notes, mut client) = (Paper::default(), Paper::default(), Client::over(ours));
    let mut screen = paper.screen(false, true);
    let mut console = Console::new(&mut screen, Box::new(notes.clone()), input);
    let message = message("s", "hi".into());
    let answered = say(&mut client, &message, &mut console, &Stopper::default());
    drop((client, console, keys));
    let noted = notes.read();
    Seen { printed: paper.read(), noted, asked: bridge.join().unwrap(), answered }
}

fn event(seq: u64, event: &str) -> String {
    format!(r#"{{"type":"chat_event","session_id":"s","turn_id":"t","seq":{seq},"event":{event}}}"#)
}

fn answer(response: &str) -> String {
    format!(
        r#"{{"type":"chat_send_message_result","request_id":"1","response":"{response}","ended":"done","turn_id":"t"}}"#
    )
}

const CALL: &str =
    r#"{"type":"tool_call","call_id":"c","tool":"time/now","arguments":{"zone":"Asia/Tokyo"}}"#;
const RESULT: &str =
    r#"{"type":"tool_result","call_id":"c","tool":"time/now","is_error":false,"duration_ms":12,"text":"9"}"#;
const ASKED: &str = r#"{"type":"approval","call_id":"c","waits":true,"approval":Q}"#;
const QUESTION: &str = r#"{"id":"q","who":"chat","tool":"time/set","why":"it may change something","reason":"writes","fields":[{"key":"to","text":"9"}],"answers":["once","chat_tool","no"]}"#;
const CHOICES: &str =
    "  y: this call\n  a: this tool in this chat\n  n: no; you can add a reason for the model\n";

fn asked() -> String {
    ASKED.replace('Q', &complete_object("Approval", QUESTION))
}

#[test]
fn text_is_printed_as_it_comes_and_each_call_is_a_line_beside_it() {
    let frames = vec![
        event(0, r#"{"type":"reasoning","text":"hm"}"#),
        event(1, r#"{"type":"text","text":"Let me"}"#),
        event(2, r#"{"type":"text","text":" look."}"#),
        event(3, CALL),
        event(4, RESULT),
        event(5, r#"{"type":"text","text":"It is 9."}"#),
        answer("It is 9."),
    ];
    let seen = turn(&[frames], None);
    assert_eq!(seen.printed, "Let me look.\nIt is 9.\n");
    assert_eq!(seen.noted, "· time/now {\"zone\":\"Asia/Tokyo\"} … ok, 12 ms\n");
    assert_eq!(
        seen.asked,
        [r#"{"type":"chat_send_message","request_id":"1","session_id":"s","message":"hi","stream":true}"#]
    );
    assert_eq!(seen.answered.unwrap().response, "It is 9.");
}

#[test]
fn what_stood_before_a_call_is_not_printed_again_where_the_turn_ends_with_the_call() {
    let said = event(0, r#"{"type":"text","text":"partial words"}"#);
    let seen = turn(&[vec![said, event(1, CALL), event(2, RESULT), answer("partial words")]], None);
    assert_eq!(seen.printed, "partial words\n");
}

#[test]
fn an_answer_that_was_not_streamed_is_printed_once_it_is_there() {
    let seen = turn(&[vec![event(0, CALL), event(1, RESULT), answer("9")]], None);
    assert_eq!(seen.printed, "9\n");
}

#[test]
fn a_terminal_gets_nothing_that_it_would_obey() {
    let result = r#"{"type":"tool_result","call_id":"c","tool":"a/b\u001b[2J","is_error":true,"duration_ms":1,"text":"\u001b]52;c;eA==\u0007\nmore"}"#;
    let frames = vec![
        event(0, r#"{"type":"text","text":"\u001b]0;t\u0007x\r"}"#),
        event(1, r#"{"type":"tool_call","call_id":"c","tool":"a/b","arguments":{"x":"\u009b31m"}}"#),
        event(2, result),
        event(3, r#"{"type":"status","text":"one\ntwo\u001b"}"#),
        answer(""),
    ];
    let seen = turn(&[frames], None);
    assert_eq!(seen.printed, "\\u{1b}]0;t\\u{7}x\\u{d}\n");
    assert_eq!(
        seen.noted,
        "· a/b\\u{1b}[2J {\"x\":\"\\u009b31m\"} … failed, 1 ms: \\u{1b}]52;c;eA==\\u{7}\nharbor: one two\\u{1b}\n"
    );
}

#[test]
fn the_person_is_asked_and_what_is_no_answer_is_asked_again() {
    let frames = vec![event(0, CALL), event(1, &asked())];
    let more = vec![event(2, RESULT), answer("ok")];
    let seen = turn(&[frames, more], Some("\nwell\nalways\na\n"));
    assert_eq!(seen.asked.len(), 2);
    assert_eq!(
        seen.asked[1],
        r#"{"type":"approvals_answer","request_id":"2","approval_id":"q","answer":"chat_tool"}"#
    );
    let question = "\n? your model wants to call time/set: it may change something\n    to: 9\n";
    assert!(seen.noted.starts_with(&format!("{question}{CHOICES}")), "{}", seen.noted);
    assert_eq!(seen.noted.matches(CHOICES).count(), 4, "{}", seen.noted);
}

#[test]
fn questions_are_asked_one_after_the_other_each_with_its_own_answer() {
    let second = asked().replace("\"q\"", "\"r\"").replace("time/set", "time/stop");
    let frames = vec![event(0, &asked()), event(1, &second)];
    let seen = turn(&[frames, vec![], vec![answer("ok")]], Some("n, not now\ny\n"));
    assert_eq!(
        seen.asked[1..],
        [
            r#"{"type":"approvals_answer","request_id":"2","approval_id":"q","answer":"no","reason":"not now"}"#,
            r#"{"type":"approvals_answer","request_id":"3","approval_id":"r","answer":"once"}"#,
        ]
    );
}

#[test]
fn a_question_that_was_answered_elsewhere_is_not_asked_any_more() {
    let gone = asked().replace("\"waits\":true", "\"waits\":false");
    let seen = turn(&[vec![event(0, &asked()), event(1, &gone), answer("ok")]], Some(""));
    assert_eq!(seen.asked.len(), 1);
    assert!(seen.noted.ends_with("\nharbor: the question is no longer open\n"), "{}", seen.noted);
}

#[test]
fn where_nobody_is_a_question_is_a_no() {
    let seen = turn(&[vec![event(0, &asked())], vec![answer("ok")]], None);
    assert!(
        seen.asked[1].ends_with(r#""answer":"no","reason":"nobody is here to approve it"}"#),
        "{:?}",
        seen.asked
    );
    assert_eq!(seen.noted, "harbor: time/set was refused: nobody is here to approve it\n");
}

#[test]
fn what_a_server_asks_is_filled_in_here_or_declined_where_nobody_is() {
    let params = r#"{"message":"Your name?","requestedSchema":{"properties":{"name":{"type":"string"}}}}"#;
    let ask = format!(
        r#"{{"type":"ask","ask_id":3,"request_id":"1","server_id":"time","method":"elicitation/create","params":{params}}}"#
    );
    let seen =
        turn(&[vec![event(0, CALL), ask.clone()], vec![event(1, RESULT), answer("ok")]], Some("y\nAda\n"));
    assert!(seen.asked[0].ends_with(r#""answers":{"elicitation":{"form":{}}}}"#), "{:?}", seen.asked);
    let answered = r#"{"type":"mcp_answer","request_id":"2","ask_id":3,"result":{"action":"accept","content":{"name":"Ada"}}}"#;
    assert_eq!(seen.asked[1], answered);
    assert!(seen.noted.contains("? the server time asks you:\n    Your name?\n"), "{}", seen.noted);
    let seen = turn(&[vec![event(0, CALL), ask.clone()], vec![answer("ok")]], None);
    assert!(seen.asked[1].ends_with(r#""result":{"action":"decline"}}"#), "{:?}", seen.asked);
    // With its call the question is over.
    let seen = turn(&[vec![event(0, CALL), ask, event(1, RESULT), answer("ok")]], Some(""));
    assert_eq!(seen.asked.len(), 1);
    assert!(seen.noted.contains("the question is no longer open"), "{}", seen.noted);
}

#[test]
fn a_bridge_that_ends_in_a_turn_may_have_made_a_call() {
    let seen = turn(&[vec![event(0, r#"{"type":"text","text":"a"}"#)]], None);
    assert!(matches!(seen.answered, Err(Failure::CallLost)));
    assert_eq!(seen.printed, "a\n");
}
