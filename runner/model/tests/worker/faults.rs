//! What providers do that they should not.

use std::time::{Duration, Instant};

use harbor_ipc_proto::link::model::{Cause, Chat, ChatLimits, Event, Failure, FromModel, ToModel};
use harbor_ipc_proto::model::{Dialect, Kind};

use super::driven::{Driven, PATIENCE, chat, text, tool};
use super::server::{EVENTS, HALF, STOP, Server, Step, answer, events, good, head, json};

fn stream(data: &[&str]) -> Vec<u8> {
    [head("200 OK", &[EVENTS]), events(data)].concat()
}

fn ask(steps: Vec<Step>) -> (Vec<Event>, Failure) {
    let server = Server::says(steps);
    let (events, failure) = Driven::start().ask(chat(Dialect::Chat, server.port));
    (events, failure.expect("it failed"))
}

/// Nothing of an answer is run, and its text is kept, whatever breaks it off.
#[test]
fn what_breaks_in_a_stream_keeps_its_text() {
    let call = r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"one","arguments":"{}"}}]}}]}"#;
    let error = r#"{"error":{"type":"overloaded_error","message":"busy"}}"#;
    let chunked = [
        head("200 OK", &[EVENTS, "Transfer-Encoding: chunked"]),
        format!("{:x}\r\n", events(&[HALF]).len()).into_bytes(),
        events(&[HALF]),
        b"\r\n".to_vec(),
    ];
    let rows = [
        ("cut", vec![Step::Say(stream(&[HALF, call]))], Cause::Cut),
        (
            "cut within an event",
            vec![Step::Say([stream(&[HALF]), b"data: {\"cho".to_vec()].concat())],
            Cause::Cut,
        ),
        ("cut within a chunk", vec![Step::Say(chunked.concat())], Cause::Cut),
        ("error in mid-stream", vec![Step::Say(stream(&[HALF, call, error]))], Cause::Overloaded),
        ("no JSON", vec![Step::Say(stream(&[HALF, "{]", "[DONE]"]))], Cause::Protocol),
        (
            "endless line",
            vec![Step::Say(stream(&[HALF])), Step::Endless(vec![b'x'; 1 << 20])],
            Cause::Protocol,
        ),
        (
            "endless stream",
            vec![
                Step::Say(stream(&[HALF])),
                Step::Endless([b": ", vec![b'x'; 1 << 20].as_slice(), b"\n"].concat()),
            ],
            Cause::Protocol,
        ),
    ];
    for (name, steps, cause) in rows {
        let (events, failure) = ask(steps);
        assert_eq!((failure.cause, events.first()), (cause, Some(&text("half"))), "{name}: {failure:?}");
        assert!(!events.iter().any(|event| matches!(event, Event::ToolCallEnd { .. })), "{name}");
    }
}

#[test]
fn answers_that_are_none_are_told_apart() {
    let rows = [
        (answer("200 OK", &["Content-Type: text/html"], "<html>"), Cause::Protocol, Some("dialect")),
        (answer("200 OK", &[EVENTS, "Content-Encoding: gzip"], "x"), Cause::Protocol, Some("encoding")),
        (
            answer("307 Temporary Redirect", &["Location: http://127.0.0.1:9/"], ""),
            Cause::Refused,
            Some("does not send the key there"),
        ),
        (answer("302 Found", &["Location: /v1/other"], ""), Cause::Refused, None),
        (
            json("401 Unauthorized", r#"{"error":{"message":"no: k-secret"}}"#),
            Cause::Unauthorized,
            Some("no: …"),
        ),
        (json("402 Payment Required", r#"{"error":{"message":"pay"}}"#), Cause::Quota, Some("pay")),
        (json("404 Not Found", r#"{"error":"model 'm' not found"}"#), Cause::NoModel, None),
        (json("429 Too Many Requests", r#"{"error":{"code":"insufficient_quota"}}"#), Cause::Quota, None),
        (
            json("400 Bad Request", r#"{"error":{"type":"exceed_context_size_error","message":"m"}}"#),
            Cause::ContextFull,
            None,
        ),
        (json("413 Payload Too Large", "{}"), Cause::Refused, Some("HTTP 413")),
    ];
    for (steps, cause, says) in rows {
        let server = Server::says(steps);
        let (events, failure) = Driven::start().ask(chat(Dialect::Chat, server.port));
        let failure = failure.unwrap();
        assert_eq!((events, failure.cause), (vec![], cause), "{failure:?}");
        assert!(says.is_none_or(|says| failure.message.contains(says)), "{failure:?}");
        assert!(!failure.message.contains("k-secret"));
        assert_eq!(server.requests().len(), 1, "asked once: {failure:?}");
    }
}

#[test]
fn what_passes_is_tried_again_and_nothing_else() {
    let busy = |n: usize, then: fn() -> Vec<Step>| {
        Server::start(move |_, number| match number < n {
            true => answer("529 Overloaded", &["retry-after-ms: 1", "Content-Type: application/json"], "{}"),
            false => then(),
        })
    };
    let server = busy(2, good);
    let (events, failure) = Driven::start().ask(chat(Dialect::Chat, server.port));
    let told = [Event::Waiting(1), Event::Waiting(1), text("half")];
    assert_eq!((events.get(..3), failure, server.requests().len()), (Some(&told[..]), None, 3));
    let server = busy(9, good);
    let failure = Driven::start().ask(chat(Dialect::Chat, server.port)).1.unwrap();
    assert_eq!((failure.cause, failure.status, server.requests().len()), (Cause::Overloaded, Some(529), 3));
    assert_eq!(failure.retry_after_ms, Some(1));
    // Too long a wait is the person's to decide about.
    let server = Server::says(answer("429 Too Many Requests", &["retry-after: 60"], ""));
    let failure = Driven::start().ask(chat(Dialect::Chat, server.port)).1.unwrap();
    assert_eq!((failure.cause, failure.retry_after_ms), (Cause::RateLimited, Some(60_000)));
    assert_eq!(server.requests().len(), 1);
    // Google says it in the body.
    let body = r#"{"error":{"code":429,"message":"slow","details":[{"retryDelay":"34.4s"}]}}"#;
    let server = Server::says(json("429 Too Many Requests", body));
    let failure = Driven::start().ask(chat(Dialect::Gemini, server.port)).1.unwrap();
    assert_eq!((failure.cause, failure.retry_after_ms), (Cause::RateLimited, Some(34_400)));
    assert_eq!(server.requests().len(), 1);
    // A date is by the clock of whoever says it.
    let date = ["Date: Wed, 21 Oct 2015 07:27:00 GMT", "Retry-After: Wed, 21 Oct 2015 07:28:00 GMT"];
    let server = Server::says(answer("503 Service Unavailable", &date, ""));
    let failure = Driven::start().ask(chat(Dialect::Chat, server.port)).1.unwrap();
    assert_eq!((failure.cause, failure.retry_after_ms), (Cause::Overloaded, Some(60_000)));
    let broken = || answer("500 Internal Server Error", &["retry-after-ms: 1"], "<html>");
    let server = Server::start(move |_, number| if number == 0 { broken() } else { good() });
    assert_eq!(Driven::start().ask(chat(Dialect::Chat, server.port)).1, None);
    // Once a byte of an answer has come, never.
    let server = Server::says(vec![Step::Say(stream(&[HALF]))]);
    let failure = Driven::start().ask(chat(Dialect::Chat, server.port)).1.unwrap();
    assert_eq!((failure.cause, server.requests().len()), (Cause::Cut, 1));
}

#[test]
fn who_hangs_is_given_up_before_and_within_a_stream() {
    let rows = [
        (vec![Step::Hang], ChatLimits { idle_ms: 50, total_ms: 0 }, 0),
        (vec![Step::Say(stream(&[HALF])), Step::Hang], ChatLimits { idle_ms: 300, total_ms: 0 }, 1),
        (vec![Step::Say(stream(&[HALF])), Step::Hang], ChatLimits { idle_ms: 0, total_ms: 300 }, 1),
    ];
    for (steps, limits, events) in rows {
        let server = Server::says(steps);
        let (came, failure) = Driven::start().ask(Chat { limits, ..chat(Dialect::Chat, server.port) });
        assert_eq!((came.len(), failure.unwrap().cause), (events, Cause::Timeout));
        server.is_left();
    }
}

/// A cancel drops the connection, before the answer's head and within it.
#[test]
fn a_cancel_has_left_at_once() {
    for steps in [vec![Step::Hang], vec![Step::Say(stream(&[HALF])), Step::Hang]] {
        let streams = steps.len() > 1;
        let server = Server::says(steps);
        let mut worker = Driven::start();
        worker.send(&ToModel::Chat(chat(Dialect::Chat, server.port)));
        if streams {
            assert!(matches!(worker.event(), Event::Start { .. }));
            assert_eq!(worker.event(), text("half"));
        } else {
            let deadline = Instant::now() + PATIENCE;
            while server.requests().is_empty() {
                assert!(Instant::now() < deadline);
                std::thread::yield_now();
            }
        }
        let cancelled = Instant::now();
        worker.send(&ToModel::Cancel { id: 1 });
        server.is_left();
        assert!(cancelled.elapsed() < Duration::from_secs(2), "{:?}", cancelled.elapsed());
        // Nothing more is said of it.
        worker.send(&ToModel::Detect { id: 2, places: vec![] });
        assert_eq!(worker.heard(), FromModel::Detected { id: 2, found: vec![] });
    }
}

#[test]
fn private_addresses_and_names_that_mean_them_are_refused() {
    let rows = [
        ("https://10.0.0.1/", false, Cause::Refused),
        ("https://169.254.169.254/", false, Cause::Refused),
        ("http://example.com/", false, Cause::Refused),
        ("ftp://example.com/", true, Cause::Refused),
        ("https://u:p@example.com/", true, Cause::Refused),
        ("https://no-such-host.invalid/", false, Cause::Unreachable),
    ];
    let mut worker = Driven::start();
    for (base_url, allow_private, cause) in rows {
        let mut asked = chat(Dialect::Chat, 1);
        asked.target.base_url = base_url.into();
        asked.target.allow_private = allow_private;
        // Looking for a name that does not exist is tried again, and never for long.
        asked.limits.total_ms = 5_000;
        let failure = worker.ask(asked).1.unwrap();
        let late = failure.cause == Cause::Timeout && cause == Cause::Unreachable;
        assert!(failure.cause == cause || late, "{base_url}: {failure:?}");
    }
}

#[test]
fn many_tools_and_long_names_reach_whoever_takes_them() {
    let server = Server::says(good());
    let mut worker = Driven::start();
    let mut asked = chat(Dialect::Chat, server.port);
    asked.tools = (0..200).map(|n| tool(&format!("server/{n}-{}", "x".repeat(100)))).collect();
    assert_eq!(worker.ask(asked.clone()).1, None);
    let body: serde_json::Value = serde_json::from_str(&server.requests()[0].body).unwrap();
    let names: Vec<&str> =
        body["tools"].as_array().unwrap().iter().map(|it| it["function"]["name"].as_str().unwrap()).collect();
    assert_eq!(names.len(), 200);
    assert!(names.iter().all(|name| name.len() <= 64 && !name.contains('/')));
    asked.target.kind = Kind::OpenAi;
    let failure = worker.ask(asked).1.unwrap();
    assert_eq!((failure.cause, server.requests().len()), (Cause::Refused, 1));
}

#[test]
fn nobody_there_is_told_at_last() {
    // A port that nobody listens at: it was just given back.
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let failure = Driven::start().ask(chat(Dialect::Chat, port)).1.unwrap();
    assert_eq!((failure.cause, failure.status), (Cause::Unreachable, None));
    assert!(failure.message.contains("nothing listens"), "{failure:?}");
}

/// A finish word and a clean end are an end, although the last word is missing.
#[test]
fn an_end_without_its_last_word_is_good() {
    let server = Server::says(vec![Step::Say(stream(&[HALF, STOP]))]);
    assert_eq!(Driven::start().ask(chat(Dialect::Chat, server.port)).1, None);
}
