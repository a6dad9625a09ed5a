//! A conversation of prepared lines against a bridge of prepared frames.

use std::collections::VecDeque;
use std::os::unix::net::UnixStream;
use std::thread;

use super::super::super::rig::serve;
use super::*;
use crate::screen::tests::Paper;

struct Prepared(VecDeque<Typed>);

impl Lines for Prepared {
    fn next(&mut self) -> Result<Typed, Failure> {
        Ok(self.0.pop_front().unwrap_or(Typed::End))
    }
}

struct Seen {
    printed: String,
    noted: String,
    /// Without their ids.
    asked: Vec<String>,
    ended: Result<(), Failure>,
}

fn line(text: &str) -> Typed {
    Typed::Line(text.into())
}

/// What comes of these lines. `N` in an answer is the number of its request.
fn chat(wanted: &Chat, lines: Vec<Typed>, answers: &[&str]) -> Seen {
    let (ours, theirs) = UnixStream::pair().unwrap();
    let numbered = |(at, answer): (usize, &&str)| answer.replace("\"N\"", &format!("\"{}\"", at + 1));
    let answers: Vec<_> = answers.iter().enumerate().map(numbered).collect();
    let bridge = thread::spawn(move || serve(theirs, &answers));
    let (paper, notes, mut client) = (Paper::default(), Paper::default(), Client::over(ours));
    let mut screen = paper.screen(false, false);
    let mut console = Console::new(&mut screen, Box::new(notes.clone()), None);
    let ended = Talk::begin(&mut client, wanted, &mut console, &Stopper::default()).and_then(|mut talk| {
        let ended = talk.converse(&mut Prepared(lines.into()));
        let left = talk.leave();
        ended.and(left)
    });
    drop((client, console));
    let noted = notes.read();
    let asked = bridge.join().unwrap();
    let without_id =
        |(at, text): (usize, String)| text.replace(&format!(r#","request_id":"{}""#, at + 1), "");
    let asked = asked.into_iter().enumerate().map(without_id).collect();
    Seen { printed: paper.read(), noted, asked, ended }
}

const CREATED: &str =
    r#"{"type":"chat_create_session_result","request_id":"N","session":{"id":"0123456789"}}"#;
const ANSWER: &str = r#"{"type":"chat_send_message_result","request_id":"N","response":"It is 9.","ended":"done","provider":"p","model":"m","usage":{"exactness":"exact"}}"#;
const UPDATED: &str = r#"{"type":"chat_update_session_result","request_id":"N"}"#;
const DELETED: &str = r#"{"type":"chat_delete_session_result","request_id":"N","deleted":true}"#;

#[test]
fn a_session_begins_with_the_first_message_and_is_named_at_the_end() {
    let wanted = Chat { tools: vec!["time".into()], ..Chat::default() };
    let lines = vec![line("/help"), line("now?"), line("again"), line("/quit"), line("not sent")];
    let seen = chat(&wanted, lines, &[CREATED, ANSWER, ANSWER]);
    assert!(seen.ended.is_ok());
    assert_eq!(seen.printed, "It is 9.\nIt is 9.\n");
    assert_eq!(
        seen.asked,
        [
            r#"{"type":"chat_create_session","enabled_servers":["time"]}"#,
            r#"{"type":"chat_send_message","session_id":"0123456789","message":"now?","stream":true}"#,
            r#"{"type":"chat_send_message","session_id":"0123456789","message":"again","stream":true}"#,
        ]
    );
    assert_eq!(
        seen.noted,
        format!(
            "the default model · tools: time · /help\n{HELP}\n\
             p:m: 0 tokens in, 0 out, price unknown\np:m: 0 tokens in, 0 out, price unknown\n\
             `harbor chat 01234567` continues this conversation\n"
        )
    );
}

#[test]
fn looking_around_leaves_nothing_behind() {
    let seen =
        chat(&Chat::default(), vec![line("/retry"), line("/nope"), Typed::Interrupt, Typed::Interrupt], &[]);
    assert!(seen.ended.is_ok() && seen.asked.is_empty(), "{:?}", seen.asked);
    assert!(seen.noted.contains("harbor: you have not sent a message yet\n"), "{}", seen.noted);
    assert!(seen.noted.ends_with("harbor: press Ctrl-C again to leave\n"), "{}", seen.noted);
}

#[test]
fn a_private_conversation_is_deleted() {
    let wanted = Chat { private: true, model: Some("p:m".into()), ..Chat::default() };
    let seen = chat(&wanted, vec![line("hi")], &[CREATED, ANSWER, DELETED]);
    assert_eq!(seen.asked[0], r#"{"type":"chat_create_session","model":"p:m","private":true}"#);
    assert_eq!(seen.asked[2], r#"{"type":"chat_delete_session","session_id":"0123456789"}"#);
    assert!(seen.noted.ends_with("Harbor keeps nothing of this conversation\n"), "{}", seen.noted);
}

#[test]
fn model_and_tools_can_change_before_and_after_the_first_message() {
    let lines =
        vec![line("/model p:a"), line("hi"), line("/model p:b"), line("/tools a,b"), line("/tools all")];
    let seen = chat(&Chat::default(), lines, &[CREATED, ANSWER, UPDATED, UPDATED, UPDATED]);
    assert!(seen.ended.is_ok());
    assert_eq!(seen.asked[0], r#"{"type":"chat_create_session","model":"p:a"}"#);
    assert_eq!(
        seen.asked[2..],
        [r#"{"model":"p:b"}"#, r#"{"enabledServers":["a","b"]}"#, r#"{"enabledServers":["*"]}"#].map(
            |updates| format!(
                r#"{{"type":"chat_update_session","session_id":"0123456789","updates":{updates}}}"#
            )
        )
    );
    assert!(
        seen.noted.contains("p:b answers from now on\ntools from now on: a, b\ntools from now on: all\n")
    );
}

#[test]
fn what_is_refused_is_said_and_the_conversation_goes_on() {
    let refused = r#"{"type":"error","request_id":"N","error":{"code":"ERR_MODEL_FAILED","message":"overloaded\u001b[2J"}}"#;
    let seen = chat(&Chat::default(), vec![line("hi"), line("/retry")], &[CREATED, refused, ANSWER]);
    assert!(seen.ended.is_ok());
    assert_eq!(seen.asked[1], seen.asked[2]);
    assert!(
        seen.noted.contains("harbor: overloaded\\u{1b}[2J\nyour last message is sent again"),
        "{}",
        seen.noted
    );
    assert_eq!(seen.printed, "It is 9.\n");
}

#[test]
fn a_session_is_gone_on_with_where_it_was() {
    let listed = r#"{"type":"chat_list_sessions_result","request_id":"N","sessions":[{"id":"abcd"}]}"#;
    let got = r#"{"type":"chat_get_session_result","request_id":"N","session":{"id":"abcd","model":"p:old","enabledServers":["a"]},"messages":[{"role":"user","content":"now?"},{"role":"assistant","content":"9"}]}"#;
    let wanted = Chat { session: Some("ab".into()), model: Some("p:new".into()), ..Chat::default() };
    let seen = chat(&wanted, vec![line("/retry")], &[listed, got, UPDATED, ANSWER]);
    assert!(seen.ended.is_ok());
    assert_eq!(seen.printed, "> now?\n\n9\nIt is 9.\n");
    assert!(seen.noted.starts_with("p:new · tools: a · /help\n"), "{}", seen.noted);
    assert_eq!(
        seen.asked[2],
        r#"{"type":"chat_update_session","session_id":"abcd","updates":{"model":"p:new"}}"#
    );
    assert!(seen.asked[3].contains(r#""message":"now?""#), "{}", seen.asked[3]);
}

#[test]
fn what_is_attached_goes_with_the_next_message_only() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("notes");
    std::fs::write(&path, "12345").unwrap();
    let lines = vec![line(&format!("/attach {}", path.display())), line("hi"), line("and?")];
    let seen = chat(&Chat::default(), lines, &[CREATED, ANSWER, ANSWER]);
    assert!(
        seen.asked[1].contains(r#""attachments":[{"type":"text","text":"12345","title":"#),
        "{}",
        seen.asked[1]
    );
    assert!(!seen.asked[2].contains("attachments"), "{}", seen.asked[2]);
    assert!(seen.noted.contains("about 2 tokens; it goes with your next message\n"), "{}", seen.noted);
}

#[test]
fn a_page_is_fetched_and_goes_with_the_next_message() {
    let page = r#"{"type":"chat_fetch_page_result","request_id":"N","part":{"type":"text","text":"herons","title":"https://a.example/b"}}"#;
    let wanted = Chat { pages: PageRules { allow_http: false, allow_private: true }, ..Chat::default() };
    let lines = vec![line("/attach https://a.example/b"), line("hi")];
    let seen = chat(&wanted, lines, &[page, CREATED, ANSWER]);
    assert_eq!(
        seen.asked[0],
        r#"{"type":"chat_fetch_page","url":"https://a.example/b","allow_private":true}"#
    );
    let attached = r#""attachments":[{"type":"text","text":"herons","title":"https://a.example/b"}]"#;
    assert!(seen.asked[2].contains(attached), "{}", seen.asked[2]);
}

#[test]
fn a_bridge_that_has_gone_ends_it() {
    let seen = chat(&Chat::default(), vec![line("hi"), line("more")], &[CREATED, ""]);
    assert!(matches!(seen.ended, Err(Failure::CallLost)), "{:?}", seen.ended);
}
