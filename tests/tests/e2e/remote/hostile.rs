//! Servers that answer as none should: each costs its own call at most, and never the bridge.

use std::io::Write as _;
use std::time::Duration;

use harbor_tests::scripted::{answer, begin_events, event, text};
use harbor_tests::{Bridge, Home, LIMIT, Scripted, wait_until};
use serde_json::json;

use super::{connect, failure};

/// The cause and sentence of a call that fails, on a server that is sound otherwise; then one that does not.
fn call_fails(
    home: &Home,
    script: impl Fn(&mut std::net::TcpStream, &harbor_tests::scripted::Asked) -> bool + Send + Sync + 'static,
) -> (String, String) {
    let bridge = Bridge::start(home);
    let server = Scripted::start(move |asked, stream| asked.calls("bad") && script(stream, asked));
    connect(&bridge, &server.url(), &json!({})).unwrap();
    let error = bridge.send_tool("s", "bad", &json!({})).wait(LIMIT).unwrap_err();
    assert_eq!(bridge.tool_text("s", "t", &json!({})), "done", "the next call works");
    assert_eq!(bridge.server("s")["restarts"], 0);
    (error.details["cause"].as_str().unwrap_or_default().to_owned(), error.message)
}

#[test]
fn errors_of_http_fail_the_call() {
    let said = call_fails(&Home::new(), |stream, _| answer(stream, "500 No", "text/html", "", "<html>"));
    assert_eq!(said.0, "connection_lost");
    assert!(said.1.contains("HTTP 500"), "{}", said.1);
}

#[test]
fn a_page_is_no_answer() {
    let said = call_fails(&Home::new(), |stream, _| answer(stream, "200 OK", "text/html", "", "<html>"));
    assert!(said.1.contains("text/html"), "{}", said.1);
}

#[test]
fn json_that_is_none_fails_the_call() {
    let said =
        call_fails(&Home::new(), |stream, _| answer(stream, "200 OK", "application/json", "", "{\"a\":"));
    assert_eq!(said.0, "connection_lost", "{}", said.1);
}

#[test]
fn a_packed_answer_is_not_unpacked() {
    let said = call_fails(&Home::new(), |stream, _| {
        answer(stream, "200 OK", "application/json", "content-encoding: gzip\r\n", "\x1f\u{8b}")
    });
    assert!(said.1.contains("encoding"), "{}", said.1);
}

#[test]
fn an_answer_that_breaks_off_fails_the_call() {
    let said = call_fails(&Home::new(), |stream, _| {
        let head =
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n\r\n{\"jsonrpc\"";
        stream.write_all(head.as_bytes()).is_ok()
    });
    assert_eq!(said.0, "connection_lost", "{}", said.1);
}

#[test]
fn an_event_without_an_end_is_given_up() {
    let said = call_fails(&Home::new(), |stream, _| {
        begin_events(stream);
        let piece = "x".repeat(1024 * 1024);
        event(stream, "data: ") && (0..200).all(|_| event(stream, &piece))
    });
    assert_eq!(said.0, "too_large", "{}", said.1);
}

#[test]
fn headers_without_an_end_are_given_up() {
    let said = call_fails(&Home::new(), |stream, _| {
        let line = format!("x: {}\r\n", "y".repeat(8000));
        event(stream, "HTTP/1.1 200 OK\r\n") && (0..10_000).all(|_| event(stream, &line))
    });
    assert_eq!(said.0, "connection_lost", "{}", said.1);
}

#[test]
fn a_call_that_is_never_answered_ends_at_its_timeout_and_its_connection_with_it() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    let (closed, seen) = std::sync::mpsc::channel();
    let server = Scripted::start(move |asked, stream| {
        asked.calls("bad") && {
            begin_events(stream);
            while event(stream, ": still here\n\n") {
                std::thread::sleep(Duration::from_millis(20));
            }
            closed.send(()).is_ok()
        }
    });
    connect(&bridge, &server.url(), &json!({})).unwrap();
    let call = json!({"server_id": "s", "tool_name": "bad", "arguments": {}, "timeout_ms": 300});
    let error = bridge.call("mcp_call_tool", &call).unwrap_err();
    assert_eq!(error.code, "ERR_TOOL_TIMEOUT");
    seen.recv_timeout(LIMIT).expect("the connection was closed");
    wait_until("the server is told", LIMIT, || {
        server.count(|asked| asked.method() == "notifications/cancelled") == 1
    });
}

#[test]
fn a_redirect_to_another_place_takes_no_header_along() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    let other = Scripted::start(|_, _| false);
    let there = format!("location: {}\r\n", other.url());
    let server = Scripted::start(move |_, stream| answer(stream, "307 Go", "text/plain", &there, ""));
    let headers = json!({"headers": {"Authorization": "Bearer s3cret"}});
    let (cause, said) = failure(&bridge, &server.url(), &headers);
    assert_eq!(cause, "forbidden");
    assert!(said.contains("redirects to") && !said.contains("s3cret"), "{said}");
    assert!(other.asked().is_empty(), "nobody went there");
}

#[test]
fn a_redirect_at_the_same_place_is_followed_if_it_keeps_the_method() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    let moved = |status: &'static str| {
        Scripted::start(move |asked, stream| {
            asked.path == "/mcp"
                && asked.verb == "POST"
                && answer(stream, status, "text/plain", "location: /new\r\n", "")
        })
    };
    connect(&bridge, &moved("308 Moved").url(), &json!({})).unwrap();
    let (cause, said) = failure(&bridge, &moved("302 Found").url(), &json!({}));
    assert_eq!(cause, "forbidden", "{said}");
}

/// As `sessions` has it; and what is refused in the new session, too, is lost by itself.
#[test]
fn a_session_that_is_lost_again_and_again_costs_one_request() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    let server = Scripted::start(|asked, stream| {
        asked.calls("bad") && answer(stream, "404 Not Found", "text/plain", "", "")
    });
    connect(&bridge, &server.url(), &json!({})).unwrap();
    let error = bridge.send_tool("s", "bad", &json!({})).wait(LIMIT).unwrap_err();
    assert!(error.message.contains("HTTP 404"), "{error:?}");
    assert_eq!(bridge.server("s")["restarts"], 0);
    assert_eq!(bridge.tool_text("s", "t", &json!({})), "done");
    assert_eq!(server.count(|asked| asked.method() == "initialize"), 2);
    let with_session = |asked: &harbor_tests::scripted::Asked| {
        asked.header("mcp-session-id") == "s1" && asked.header("mcp-protocol-version") == "2025-11-25"
    };
    assert!(server.asked().iter().filter(|asked| asked.method() == "tools/call").all(with_session));
}

#[test]
fn a_stopped_server_is_told_that_its_session_is_over() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    let server = Scripted::start(|_, _| false);
    connect(&bridge, &server.url(), &json!({})).unwrap();
    bridge.call("disconnect_server", &json!({"server_id": "s"})).unwrap();
    assert_eq!(server.count(|asked| asked.verb == "DELETE" && asked.header("mcp-session-id") == "s1"), 1);
}

#[test]
fn answers_may_be_pretty_and_in_batches() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    let server = Scripted::start(|asked, stream| match asked.method() {
        "tools/call" if asked.calls("bad") => {
            let body = json!({"jsonrpc": "2.0", "id": asked.body["id"], "result": text("pretty")});
            answer(
                stream,
                "200 OK",
                "application/json; charset=utf-8",
                "",
                &serde_json::to_string_pretty(&body).unwrap(),
            )
        }
        "tools/call" if asked.calls("other") => {
            let body = json!([{"jsonrpc": "2.0", "method": "x"}, {"jsonrpc": "2.0", "id": asked.body["id"], "result": text("batch")}]);
            answer(stream, "200 OK", "application/json", "", &body.to_string())
        }
        _ => false,
    });
    connect(&bridge, &server.url(), &json!({})).unwrap();
    assert_eq!(bridge.tool_text("s", "bad", &json!({})), "pretty");
    assert_eq!(bridge.tool_text("s", "other", &json!({})), "batch");
}
