//! Sessions that a server forgets, streams that it does not have, revisions that it refuses.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use harbor_tests::scripted::{Asked, answer, result, text};
use harbor_tests::{Bridge, Home, LIMIT, Scripted, wait_until};
use serde_json::json;

use super::connect;

/// A server that is restarted after each call of `last`: from then on the session before is refused like this.
fn forgetful(refusal: &'static str, body: &'static str) -> Scripted {
    let restarts = AtomicUsize::new(1);
    Scripted::start(move |asked, stream| {
        let known = format!("s{}", restarts.load(Ordering::SeqCst));
        match asked.method() {
            "server/discover" => return false,
            "initialize" => {
                let said = json!({"jsonrpc": "2.0", "id": asked.body["id"], "result": {"protocolVersion": "2025-06-18",
                    "capabilities": {"tools": {}}, "serverInfo": {"name": "scripted", "version": "1"}}});
                let session = format!("mcp-session-id: {known}\r\n");
                return answer(stream, "200 OK", "application/json", &session, &said.to_string());
            }
            _ => {}
        }
        if asked.verb == "POST" && asked.header("mcp-session-id") != known {
            return answer(stream, refusal, "application/json", "", body);
        }
        if asked.calls("other") {
            restarts.fetch_add(1, Ordering::SeqCst);
            return result(asked, stream, &text("the last one"));
        }
        false
    })
}

const UNKNOWN: &str = r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"Session not found"}}"#;

fn calls(server: &Scripted, tool: &str) -> usize {
    server.count(|asked| asked.calls(tool))
}

fn greetings(server: &Scripted) -> usize {
    server.count(|asked| asked.method() == "initialize")
}

#[test]
fn a_session_that_is_forgotten_is_begun_anew_and_what_was_refused_for_it_is_sent_once_more() {
    let plain = "Bad Request: session not found";
    let rows = [
        ("404 Not Found", ""),
        ("400 Bad Request", UNKNOWN),
        ("401 Unauthorized", UNKNOWN),
        ("503 Unavailable", UNKNOWN),
        ("400 Bad Request", plain),
    ];
    for (refusal, body) in rows {
        let home = Home::new();
        let bridge = Bridge::start(&home);
        let server = forgetful(refusal, body);
        connect(&bridge, &server.url(), &json!({})).unwrap();
        assert_eq!(bridge.tool_text("s", "other", &json!({})), "the last one", "{refusal}");
        assert_eq!(bridge.tool_text("s", "t", &json!({})), "done", "{refusal}");
        assert_eq!((greetings(&server), calls(&server, "t")), (2, 2), "{refusal}");
        assert_eq!(bridge.tool_text("s", "t", &json!({})), "done", "{refusal}");
        assert_eq!((greetings(&server), calls(&server, "t")), (2, 3), "{refusal}");
        assert_eq!(bridge.server("s")["restarts"], 0, "{refusal}");
        let again: Vec<_> = server.asked().into_iter().filter(|asked| asked.calls("t")).collect();
        assert_eq!(again[1].header("mcp-session-id"), "s2", "{refusal}");
        assert_eq!(again[1].header("mcp-protocol-version"), "2025-06-18", "{refusal}");
        let initialized = |asked: &Asked| {
            asked.method() == "notifications/initialized" && asked.header("mcp-session-id") == "s2"
        };
        assert_eq!(server.count(initialized), 1, "{refusal}");
    }
}

#[test]
fn a_refusal_that_does_not_speak_of_the_session_has_nothing_sent_again() {
    for refusal in ["401 Unauthorized", "400 Bad Request", "503 Unavailable"] {
        let home = Home::new();
        let bridge = Bridge::start(&home);
        let server = forgetful(refusal, "no");
        connect(&bridge, &server.url(), &json!({})).unwrap();
        assert_eq!(bridge.tool_text("s", "other", &json!({})), "the last one");
        assert!(bridge.send_tool("s", "t", &json!({})).wait(LIMIT).is_err());
        assert_eq!(calls(&server, "t"), 1, "{refusal}");
        assert_eq!(bridge.server("s")["state"], "running", "{refusal}: it may well be asked again");
        if refusal.starts_with("401") {
            // What ended may have been the session: the next call has another one.
            assert_eq!(bridge.tool_text("s", "t", &json!({})), "done");
            assert_eq!(greetings(&server), 2);
        }
    }
}

#[test]
fn a_server_without_a_stream_of_its_own_is_not_restarted_whatever_it_answers() {
    let rows = [
        ("404 Not Found", ""),
        ("303 See Other", "location: /elsewhere\r\n"),
        ("307 Go", "location: http://127.0.0.1:1/\r\n"),
        ("400 No", ""),
    ];
    for (status, more) in rows {
        let home = Home::new();
        let bridge = Bridge::start(&home);
        let server = Scripted::start(move |asked, stream| {
            asked.verb == "GET" && answer(stream, status, "text/plain", more, "")
        });
        connect(&bridge, &server.url(), &json!({})).unwrap();
        wait_until("the stream is asked for", LIMIT, || server.count(|asked| asked.verb == "GET") == 1);
        assert_eq!(bridge.tool_text("s", "t", &json!({})), "done", "{status}");
        assert_eq!((greetings(&server), &bridge.server("s")["restarts"]), (1, &json!(0)), "{status}");
    }
}

#[test]
fn a_server_that_refuses_a_revision_is_asked_by_the_newest_that_both_have_and_that_is_remembered() {
    let error = r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":
        "Bad Request: Unsupported protocol version (supported versions: 2024-11-05, 2025-06-18, 2025-03-26)"}}"#;
    let plain = "unsupported protocol version: 2025-11-25, this server has 2025-06-18 and 2024-11-05";
    for body in [error, plain] {
        let home = Home::new();
        let asked_by = Arc::<std::sync::Mutex<Vec<String>>>::default();
        let noted = asked_by.clone();
        let server = Scripted::start(move |asked, stream| {
            let in_body = asked.body["params"]["protocolVersion"].as_str().unwrap_or_default();
            let revision = [asked.header("mcp-protocol-version"), in_body].concat();
            if asked.method() == "initialize" {
                noted.lock().unwrap().push(revision.clone());
            }
            if matches!(revision.as_str(), "" | "2025-06-18" | "2024-11-05") {
                return asked.method() == "initialize" && {
                    let said = json!({"protocolVersion": revision, "capabilities": {"tools": {}},
                        "serverInfo": {"name": "scripted", "version": "1"}});
                    result(asked, stream, &said)
                };
            }
            answer(stream, "400 Bad Request", "application/json", "", body)
        });
        let bridge = Bridge::start(&home);
        let connected = connect(&bridge, &server.url(), &json!({})).unwrap();
        assert_eq!(connected["server"]["protocol_version"], "2025-06-18");
        assert_eq!(bridge.tool_text("s", "t", &json!({})), "done");
        bridge.call("connect_server", &json!({"server_id": "s", "restart": true})).unwrap();
        drop(bridge);
        let bridge = Bridge::start(&home);
        bridge.call("connect_server", &json!({"server_id": "s"})).unwrap();
        assert_eq!(bridge.server("s")["protocol_version"], "2025-06-18");
        let asked_by = asked_by.lock().unwrap().clone();
        assert_eq!(asked_by, ["2025-11-25", "2025-06-18", "2025-06-18", "2025-06-18"], "{body}");
    }
}
