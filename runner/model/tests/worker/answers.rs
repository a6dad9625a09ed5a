//! Answers of each dialect, over the real wire.

use harbor_ipc_proto::link::model::{Event, FromModel, ToModel};
use harbor_ipc_proto::model::{Dialect, Finish, ToolChoice};

use super::driven::{Driven, chat, text, tool};
use super::server::{EVENTS, HALF, STOP, Server, Step, answer, events, good, head, json};

const CHAT: &str = include_str!("../../fixtures/chat-tools.sse");
const ANTHROPIC: &str = include_str!("../../fixtures/anthropic-tools.sse");
const RESPONSES: &str = include_str!("../../fixtures/responses-tools.sse");
const GEMINI: &str = include_str!("../../fixtures/gemini-tools.sse");
const OLLAMA: &str = include_str!("../../fixtures/ollama-tools.ndjson");

fn end(finish: Finish, raw: &str) -> Event {
    Event::End { finish, raw: Some(raw.into()) }
}

#[test]
fn a_chat_streams_and_the_key_goes_with_it() {
    let server = Server::says(good());
    let mut worker = Driven::start();
    worker.send(&ToModel::Chat(chat(Dialect::Chat, server.port)));
    let start = Event::Start { model: Some("m-1".into()), dropped_tools: vec![] };
    assert_eq!(worker.event(), start);
    assert_eq!([worker.event(), worker.event()], [text("half"), end(Finish::Stop, "stop")]);
    let requests = server.requests();
    assert_eq!(requests[0].line, "POST /v1/chat/completions");
    assert_eq!(requests[0].header("authorization"), Some("Bearer k-secret"));
    assert_eq!(requests[0].header("accept-encoding"), None);
    assert!(requests[0].body.contains("\"stream\":true"));
}

#[test]
fn each_dialect_asks_and_hears_in_its_own_way() {
    let rows = [
        (Dialect::Chat, EVENTS, CHAT, "POST /v1/chat/completions", "tool_calls"),
        (Dialect::Anthropic, EVENTS, ANTHROPIC, "POST /v1/messages", "tool_use"),
        (Dialect::Ollama, "Content-Type: application/x-ndjson", OLLAMA, "POST /api/chat", "stop"),
        (Dialect::Responses, EVENTS, RESPONSES, "POST /v1/responses", "completed"),
        (Dialect::Gemini, EVENTS, GEMINI, "POST /v1beta/models/m:streamGenerateContent?alt=sse", "STOP"),
    ];
    for (dialect, kind, stream, line, raw) in rows {
        // Whole, and byte by byte.
        let dripping = vec![Step::Say(head("200 OK", &[kind])), Step::Drip(stream.into())];
        for steps in [answer("200 OK", &[kind], stream), dripping] {
            let server = Server::says(steps);
            let mut asked = chat(dialect, server.port);
            asked.tools = vec![tool("time/get")];
            let (events, failure) = Driven::start().ask(asked);
            assert_eq!(failure, None);
            assert_eq!(events.last(), Some(&end(Finish::ToolCalls, raw)), "{dialect:?}");
            let request = server.requests().remove(0);
            assert_eq!(request.line, line);
            let key = match dialect {
                Dialect::Anthropic => "x-api-key",
                Dialect::Gemini => "x-goog-api-key",
                _ => "authorization",
            };
            assert!(request.header(key).is_some_and(|key| key.ends_with("k-secret")));
            assert_eq!(request.header("anthropic-version").is_some(), dialect == Dialect::Anthropic);
        }
    }
}

#[test]
fn an_answer_that_comes_whole_is_the_same() {
    let whole = r#"{"model":"m-1","choices":[{"message":{"content":"half"},"finish_reason":"stop"}]}"#;
    let server = Server::says(json("200 OK", whole));
    let asked = harbor_ipc_proto::link::model::Chat { stream: false, ..chat(Dialect::Chat, server.port) };
    let (events, failure) = Driven::start().ask(asked);
    assert_eq!((events, failure), (vec![text("half"), end(Finish::Stop, "stop")], None));
}

/// What was refused by number is left out once, and the person is told.
#[test]
fn a_refused_tool_is_left_out_once() {
    let refusal = r#"{"error":{"message":"Invalid schema","param":"tools[1].function.parameters"}}"#;
    let server = Server::start(move |_, number| match number {
        0 => json("400 Bad Request", refusal),
        _ => good(),
    });
    let mut worker = Driven::start();
    let mut asked = chat(Dialect::Chat, server.port);
    asked.tools = vec![tool("good"), tool("bad/one")];
    asked.tool_choice = ToolChoice::Required;
    worker.send(&ToModel::Chat(asked));
    let start = Event::Start { model: Some("m-1".into()), dropped_tools: vec!["bad/one".into()] };
    assert_eq!(worker.event(), start);
    let bodies: Vec<String> = server.requests().into_iter().map(|request| request.body).collect();
    assert!(bodies[0].contains("bad_one_") && !bodies[1].contains("bad_one_") && bodies[1].contains("good"));
}

/// Without credit the provider is not read: it waits, and so does its answer.
#[test]
fn credit_holds_the_answer_up() {
    let server = Server::start(|_, _| {
        let first = events(&[HALF, r#"{"choices":[{"delta":{"reasoning_content":"r"}}]}"#, HALF]);
        vec![Step::Say([head("200 OK", &[EVENTS]), first, events(&[STOP, "[DONE]"])].concat())]
    });
    let mut worker = Driven::start();
    let mut asked = chat(Dialect::Chat, server.port);
    asked.credit = Some(1);
    worker.send(&ToModel::Chat(asked));
    assert!(matches!(worker.event(), Event::Start { .. }));
    assert_eq!(worker.event(), text("half"));
    // What is asked next is answered first: the chat waits.
    worker.send(&ToModel::Detect { id: 2, places: vec![] });
    assert_eq!(worker.heard(), FromModel::Detected { id: 2, found: vec![] });
    worker.send(&ToModel::More { id: 1, deltas: 9 });
    assert_eq!(worker.event(), Event::Reasoning("r".into()));
    assert_eq!([worker.event(), worker.event()], [text("half"), end(Finish::Stop, "stop")]);
}

#[test]
fn two_callers_at_once_have_each_their_answer() {
    let server = Server::says(good());
    let mut worker = Driven::start();
    for id in [1, 2] {
        let asked = harbor_ipc_proto::link::model::Chat { id, ..chat(Dialect::Chat, server.port) };
        worker.send(&ToModel::Chat(asked));
    }
    let mut ended = Vec::new();
    while ended.len() < 2 {
        if let FromModel::Event { id, event: Event::End { .. } } = worker.heard() {
            ended.push(id);
        }
    }
    ended.sort_unstable();
    assert_eq!(ended, [1, 2]);
}
