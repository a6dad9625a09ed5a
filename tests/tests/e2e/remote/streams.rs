//! Streams of events: what the server says unasked, and what is taken up again where it broke off.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use harbor_tests::scripted::{answer, begin_events, event, text};
use harbor_tests::{Bridge, Home, LIMIT, Scripted, wait_until};
use serde_json::json;

use super::connect;

fn data(message: &serde_json::Value) -> String {
    format!("data: {message}\n\n")
}

#[test]
fn an_answer_that_breaks_off_is_taken_up_again_by_its_id() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    let server = Scripted::start(|asked, stream| {
        if asked.calls("bad") {
            begin_events(stream);
            let progress = json!({"jsonrpc": "2.0", "method": "notifications/progress",
                "params": {"progressToken": asked.body["id"], "progress": 1}});
            return event(stream, &format!("retry: 10\nid: at-{}\n{}", asked.body["id"], data(&progress)));
        }
        let Some(id) =
            asked.header("last-event-id").strip_prefix("at-").and_then(|id| id.parse::<u64>().ok())
        else {
            return false;
        };
        begin_events(stream);
        event(stream, &data(&json!({"jsonrpc": "2.0", "id": id, "result": text("whole")})))
    });
    connect(&bridge, &server.url(), &json!({})).unwrap();
    assert_eq!(bridge.tool_text("s", "bad", &json!({})), "whole");
    let resumed = server.asked().into_iter().find(|asked| !asked.header("last-event-id").is_empty()).unwrap();
    assert_eq!((resumed.verb.as_str(), resumed.header("mcp-session-id")), ("GET", "s1"));
}

#[test]
fn the_sessions_own_stream_comes_back_and_tells_of_changes() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    let opened = AtomicUsize::new(0);
    let server = Scripted::start(move |asked, stream| {
        if asked.verb != "GET" {
            return false;
        }
        begin_events(stream);
        match opened.fetch_add(1, Ordering::SeqCst) {
            0 => event(stream, "id: 7\nretry: 20\ndata:\n\n"),
            _ => {
                let changed = json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"});
                let told = event(stream, &data(&changed));
                while event(stream, ": \n\n") {
                    std::thread::sleep(Duration::from_millis(50));
                }
                told
            }
        }
    });
    connect(&bridge, &server.url(), &json!({})).unwrap();
    wait_until("the list is fetched again", LIMIT, || {
        server.count(|asked| asked.method() == "tools/list") >= 2
    });
    let again = server.asked().into_iter().filter(|asked| asked.verb == "GET").nth(1).unwrap();
    assert_eq!(again.header("last-event-id"), "7");
    bridge.call("disconnect_server", &json!({"server_id": "s"})).unwrap();
}

#[test]
fn by_sse_messages_go_nowhere_else() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    let other = Scripted::start(|_, _| false);
    let there = other.url();
    let server = Scripted::start(move |asked, stream| {
        if asked.verb != "GET" {
            return answer(stream, "405 No", "text/plain", "", "");
        }
        begin_events(stream);
        event(stream, &format!("event: endpoint\ndata: {there}\n\n"))
    });
    let (cause, said) = super::failure(&bridge, &server.url(), &json!({}));
    assert_eq!(cause, "forbidden", "{said}");
    assert!(other.asked().is_empty());
}
