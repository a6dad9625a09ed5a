//! The generation with sessions: what goes where, and what ends what.

use std::time::Instant;

use harbor_tests::bridge::shut_down_detached;
use harbor_tests::{Bridge, Double, Home, HttpServer, LIMIT, PROMPT, token, wait_until};
use nix::sys::signal::Signal;
use serde_json::{Value, json};

use super::wire::{Caller, Rig, Speak};

const CHANGED: &str = "notifications/tools/list_changed";

/// How many AI clients are connected to the bridge.
fn connected(bridge: &Bridge) -> Value {
    bridge.call("status", &json!({})).unwrap()["status"]["bridge"]["clients"]["mcp"].clone()
}

#[test]
fn a_session_lists_and_calls_and_ends_for_good() {
    let rig = Rig::new();
    let other = token(&rig.home, "other");
    let caller = Caller::begun(&rig.server, &rig.token);
    let listed = caller.ask(&json!(1), "tools/list", &json!({})).answer();
    let tools = listed["result"]["tools"].as_array().unwrap();
    assert!(tools.iter().any(|tool| tool["name"] == "s__echo"), "{listed}");
    let mut called = caller.tool(&json!(2), "s__echo", &json!({"n": 1}));
    assert_eq!(called.header("content-type").as_deref(), Some("application/json"));
    assert_eq!(called.answer()["result"]["structuredContent"], json!({"n": 1}));
    assert_eq!(rig.bridge.speaking_for("client://ai").grants().len(), 2, "the token's name is the client's");

    let stranger = Caller { server: &rig.server, token: other, session: caller.session.clone() };
    for answer in [stranger.ask(&json!(1), "ping", &json!({})), stranger.listen(), stranger.delete()] {
        assert_eq!(answer.status, 404, "another client's session does not exist");
    }
    let none = Caller::new(&rig.server, &rig.token);
    assert_eq!(none.ask(&json!(1), "ping", &json!({})).status, 400);
    let unknown = Caller { server: &rig.server, token: rig.token.clone(), session: Some("x".into()) };
    assert_eq!(unknown.ask(&json!(1), "ping", &json!({})).status, 404);

    let mut listening = caller.listen();
    assert_eq!((caller.delete().status, caller.delete().status), (204, 404));
    assert_eq!(listening.message(), None, "its stream ends with it");
    assert_eq!(caller.ask(&json!(1), "ping", &json!({})).status, 404);
    wait_until("its connection to end", LIMIT, || connected(&rig.bridge) == 0);
    let said = rig.server.program.stderr();
    assert!(said.contains("a session of ai (t) has begun") && said.contains("its client ended it"), "{said}");
    for secret in [&rig.token, caller.session.as_ref().unwrap(), "s__echo"] {
        assert!(!said.contains(secret), "{said}");
    }
}

#[test]
fn sessions_with_the_same_ids_are_answered_each_for_itself() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    bridge.add_and_connect("s", &Double::sound(&home));
    let (a, b) = (token(&home, "a"), token(&home, "b"));
    let server = HttpServer::start(&home, &[]);
    let callers = [&a, &a, &b].map(|token| Caller::begun(&server, token));
    std::thread::scope(|scope| {
        for (who, caller) in callers.iter().enumerate() {
            for id in 0..8 {
                scope.spawn(move || {
                    let arguments = json!({"who": who, "id": id});
                    let answer = caller.tool(&json!(id), "s__echo", &arguments).answer();
                    assert_eq!(answer["id"], id);
                    assert_eq!(answer["result"]["structuredContent"], arguments, "{answer}");
                });
            }
        }
    });
}

#[test]
fn progress_comes_on_its_requests_stream_and_changes_on_the_listeners() {
    let rig = Rig::new();
    let caller = Caller::begun(&rig.server, &rig.token);
    let mut replaced = caller.listen();
    let mut listening = caller.listen();
    assert_eq!((listening.status, replaced.message()), (200, None), "the later one takes its place");
    let params = json!({"name": "s__progress", "arguments": {"steps": 3}, "_meta": {"progressToken": "tok"}});
    let mut call = caller.ask(&json!(7), "tools/call", &params);
    assert_eq!(call.header("content-type").as_deref(), Some("text/event-stream"));
    for step in 1..=3 {
        let told = call.message().unwrap();
        assert_eq!(told["method"], "notifications/progress", "{told}");
        assert_eq!(
            (&told["params"]["progressToken"], &told["params"]["progress"]),
            (&json!("tok"), &json!(step))
        );
    }
    assert_eq!(call.message().unwrap()["id"], 7);
    assert_eq!(call.message(), None, "an answer ends its stream");
    let _ = caller.ask(&json!(8), "tools/list", &json!({})).answer();
    rig.bridge.add_and_connect("t", &Double::sound(&rig.home));
    assert_eq!(listening.message().unwrap()["method"], CHANGED, "and no progress came here");
    // What happens while nobody listens is told to whoever does next.
    drop(listening);
    let _ = caller.ask(&json!(9), "tools/list", &json!({})).answer();
    rig.bridge.call("remove_server", &json!({"server_id": "t"})).unwrap();
    assert_eq!(caller.listen().message().unwrap()["method"], CHANGED);
}

#[test]
fn a_client_that_drops_its_connection_has_not_cancelled_its_call() {
    let rig = Rig::new();
    let caller = Caller::begun(&rig.server, &rig.token);
    let call = |id: u32, ms: u32| {
        let head = format!(
            "Authorization: Bearer {}\r\nMcp-Session-Id: {}\r\n",
            rig.token,
            caller.session.as_ref().unwrap()
        );
        let usual = "Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n";
        let body = json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": "s__sleep", "arguments": {"ms": ms}}});
        let text = rig.server.text("POST", &format!("{head}{usual}"), &body.to_string());
        let mut stream = std::net::TcpStream::connect(("127.0.0.1", rig.server.port)).unwrap();
        std::io::Write::write_all(&mut stream, text.as_bytes()).unwrap();
        stream
    };
    let dropped = call(1, 60_000);
    let _ = rig.double.journal().wait_for("call sleep");
    drop(dropped);
    assert_eq!(caller.tool(&json!(2), "s__echo", &json!({})).status, 200);
    wait_until("its id to stay taken without a stream", LIMIT, || {
        caller.ask(&json!(1), "ping", &json!({})).status == 400
    });
    assert_eq!(rig.double.journal().count("cancelled"), 0);
    let params = json!({"requestId": 1, "reason": "test"});
    let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params});
    assert_eq!(caller.post(&cancel).status, 202);
    let _ = rig.double.journal().wait_for("cancelled");
    // The end of the session is the end of its calls.
    let _open = call(3, 60_000);
    wait_until("the call to arrive", LIMIT, || rig.double.journal().count("call sleep") == 2);
    assert_eq!(caller.delete().status, 204);
    wait_until("its end", LIMIT, || rig.double.journal().count("cancelled") == 2);
}

#[test]
fn a_call_that_takes_long_shows_that_it_was_heard_before_its_answer() {
    let rig = Rig::new();
    let caller = Caller::begun(&rig.server, &rig.token);
    let mut slow = caller.tool(&json!(1), "s__sleep", &json!({"ms": 6_000}));
    assert_eq!(slow.header("content-type").as_deref(), Some("text/event-stream"));
    assert_eq!(slow.message().unwrap()["id"], 1);
}

#[test]
fn a_bridge_that_is_killed_fails_the_call_and_the_session_goes_on_with_the_next_one() {
    let home = Home::new();
    let mut bridge = Bridge::start(&home);
    let double = Double::sound(&home).auto_start();
    bridge.add_and_connect("s", &double);
    let token = token(&home, "ai");
    let server = HttpServer::start(&home, &[]);
    let caller = Caller::begun(&server, &token);
    std::thread::scope(|scope| {
        let call = scope.spawn(|| caller.tool(&json!(1), "s__sleep", &json!({"ms": 60_000})).answer());
        let _ = double.journal().wait_for("call sleep");
        bridge.kill();
        let answer = call.join().unwrap();
        let text = answer["result"]["content"][0]["text"].as_str().unwrap();
        assert!(text.contains("may have run"), "{answer}");
    });
    let answer = caller.tool(&json!(1), "s__echo", &json!({"n": 2})).answer();
    assert_eq!(answer["result"]["structuredContent"], json!({"n": 2}), "{answer}");
    shut_down_detached(&home);
}

#[test]
fn a_signal_ends_open_streams_and_calls_promptly_and_leaves_nothing() {
    let mut rig = Rig::new();
    let caller = Caller::begun(&rig.server, &rig.token);
    let mut listening = caller.listen();
    let text = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {"name": "s__sleep", "arguments": {"ms": 60_000}, "_meta": {"progressToken": 1}}});
    std::thread::scope(|scope| {
        let call = scope.spawn(|| caller.post(&text).status);
        let _ = rig.double.journal().wait_for("call sleep");
        let begun = Instant::now();
        rig.server.program.signal(Signal::SIGTERM);
        assert_eq!(listening.message(), None);
        assert_eq!(call.join().unwrap(), 404, "its session is gone");
        assert!(begun.elapsed() < PROMPT);
    });
    let status = rig.server.program.wait(PROMPT).expect("it ends");
    assert!(status.success(), "{status}");
    let _ = rig.double.journal().wait_for("cancelled");
    wait_until("the bridge to notice", LIMIT, || connected(&rig.bridge) == 0);
    let (_, mut stdout) = rig.server.program.pipes();
    let mut written = Vec::new();
    std::io::Read::read_to_end(&mut stdout, &mut written).unwrap();
    assert_eq!(written, b"", "stdout belongs to nobody");
}

#[test]
fn what_a_server_asks_comes_on_the_stream_of_the_call_and_is_answered_by_a_post() {
    let rig = Rig::new();
    let caller = Caller::begun_with(&rig.server, &rig.token, &json!({"elicitation": {}}));
    let mut call = caller.tool(&json!(7), "s__ask_elicitation", &json!({}));
    let asked = call.message().unwrap();
    assert_eq!(asked["method"], "elicitation/create", "{asked}");
    let result = json!({"action": "decline"});
    let response = json!({"jsonrpc": "2.0", "id": asked["id"], "result": result});
    assert_eq!(caller.post(&response).status, 202);
    let answered = call.answer();
    let text = answered["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answered}"));
    assert_eq!(serde_json::from_str::<Value>(text).unwrap(), json!({"result": result}));
}

#[test]
fn a_cancelled_request_ends_and_its_id_is_free_again() {
    let rig = Rig::new();
    let caller = Caller::begun(&rig.server, &rig.token);
    std::thread::scope(|scope| {
        let call = scope.spawn(|| caller.tool(&json!(1), "s__sleep", &json!({"ms": 60_000})));
        let _ = rig.double.journal().wait_for("call sleep");
        let params = json!({"requestId": 1});
        let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params});
        assert_eq!(caller.post(&cancel).status, 202);
        assert_eq!(call.join().unwrap().message(), None, "it is not answered");
    });
    let _ = rig.double.journal().wait_for("cancelled");
    assert_eq!(caller.ask(&json!(1), "ping", &json!({})).answer()["result"], json!({}));
    let long = "x".repeat(300);
    assert_eq!(caller.ask(&json!(long), "ping", &json!({})).status, 400, "such an id is not kept");
    let asked = json!({"_meta": {"progressToken": long}});
    assert_eq!(caller.ask(&json!(2), "ping", &asked).status, 400, "nor such a token");
}
