//! Tools that take time or take the server along, and the faults that show on calls.

use std::process::Command;
use std::time::{Duration, Instant};

use harbor_tests::faults::{EXIT_IN_CALL, KEPT_CALLS, LAST_CALL};
use harbor_tests::{Direct, Double, Fault, Home, LIMIT, PROMPT, wait_until};
use nix::sys::signal::Signal;
use serde_json::{Value, json};

use super::{MOMENT, Scene, start, text};

fn send_tool(server: &mut Direct, name: &str, arguments: &Value) -> u64 {
    server.send_request("tools/call", &json!({"name": name, "arguments": arguments}))
}

fn cancel(server: &mut Direct, id: u64) {
    let params = json!({"requestId": id, "reason": "enough"});
    server
        .send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}).to_string());
}

/// The server says nothing for a moment.
fn is_silent(server: &Direct) -> bool {
    server.line_within(MOMENT).is_none()
}

#[test]
fn a_hung_server_answers_nothing_but_reads_on_and_ends_with_its_stdin() {
    for (fault, tool) in [(Fault::None, "hang"), (Fault::Hangs, "echo")] {
        let scene = Scene::new(fault);
        let mut server = scene.start().initialized();
        assert!(server.ask("ping", &json!({}))["result"].is_object());
        send_tool(&mut server, tool, &json!({}));
        server.send_request("ping", &json!({}));
        send_tool(&mut server, "sleep", &json!({"ms": 1}));
        let _ = scene.journal().wait_for("call sleep");
        assert!(is_silent(&server));
        server.close();
        assert!(server.wait(PROMPT).unwrap().success());
    }
}

#[test]
fn a_blocked_server_reads_nothing_meanwhile_and_answers_then() {
    let scene = Scene::new(Fault::None);
    let mut server = scene.start().initialized();
    let begun = Instant::now();
    let blocked = send_tool(&mut server, "block", &json!({"ms": 300}));
    let ping = server.send_request("ping", &json!({}));
    let _ = scene.journal().wait_for("call block");
    assert_eq!(scene.journal().count("request ping"), 0);
    let (first, second) = (server.next_message(), server.next_message());
    assert!(begun.elapsed() >= Duration::from_millis(300));
    assert_eq!((first["id"].as_u64(), text(&first)), (Some(blocked), "blocked"));
    assert_eq!(second["id"], ping);
}

#[test]
fn a_late_answer_comes_after_the_cancel() {
    let scene = Scene::new(Fault::None);
    let mut server = scene.start().initialized();
    let id = send_tool(&mut server, "late", &json!({"after_ms": 1}));
    assert!(is_silent(&server));
    cancel(&mut server, id);
    let answer = server.next_message();
    assert_eq!((answer["id"].as_u64(), text(&answer)), (Some(id), "late"));
    assert_eq!(scene.journal().wait_for("late"), id.to_string());
}

#[test]
fn steady_progress_takes_its_time_and_ends_with_a_cancel() {
    let mut server = start(Fault::None).initialized();
    let begun = Instant::now();
    let mut call = json!({"name": "progress", "arguments": {"ms": 200, "every_ms": 50},
        "_meta": {"progressToken": 8}});
    server.send_request("tools/call", &call);
    for step in 1..=4 {
        let params = server.next_message()["params"].clone();
        assert_eq!((&params["progressToken"], &params["progress"]), (&json!(8), &json!(step)));
    }
    assert_eq!(text(&server.next_message()), "done");
    assert!(begun.elapsed() >= Duration::from_millis(200));
    call["arguments"]["ms"] = json!(60_000);
    let id = server.send_request("tools/call", &call);
    assert_eq!(server.next_message()["params"]["progress"], 1);
    cancel(&mut server, id);
    while server.line_within(MOMENT).is_some() {
        assert!(begun.elapsed() < PROMPT, "progress goes on");
    }
}

#[test]
fn an_exit_has_the_code_that_was_asked_for() {
    for code in [0, 5] {
        let mut server = start(Fault::None).initialized();
        send_tool(&mut server, "exit", &json!({"code": code}));
        assert_eq!((server.next_line(LIMIT), server.wait(LIMIT).unwrap().code()), (None, Some(code)));
    }
}

#[test]
fn eaten_memory_ends_a_limited_server_at_once_with_the_allocators_words() {
    let home = Home::new();
    let double = Double::sound(&home).memory_kib(400_000);
    let command = double.command();
    let begun = Instant::now();
    let mut server = Direct::start(Command::new(&command[0]).args(&command[1..])).initialized();
    assert_eq!(text(&server.tool("sleep", &json!({"ms": 1}))), "slept", "it works until then");
    send_tool(&mut server, "eat_memory", &json!({}));
    assert!(server.wait(PROMPT).is_some_and(|status| !status.success()));
    wait_until("its last words", LIMIT, || server.stderr().contains("memory allocation of"));
    assert!(begun.elapsed() < PROMPT);
    assert_eq!(double.journal().count("start"), 1);
}

#[test]
fn calls_are_answered_the_last_one_first() {
    let mut server = start(Fault::AnswersOutOfOrder).initialized();
    for _ in 0..2 {
        let mut ids: Vec<_> =
            (0..KEPT_CALLS).map(|n| (send_tool(&mut server, "echo", &json!({"n": n})), n)).collect();
        while let Some((id, n)) = ids.pop() {
            let answer = server.next_message();
            assert_eq!(
                (answer["id"].as_u64(), &answer["result"]["structuredContent"]["n"]),
                (Some(id), &json!(n))
            );
        }
    }
    send_tool(&mut server, "echo", &json!({}));
    assert_eq!(text(&server.tool("big", &json!({"bytes": 1}))), "x", "other tools are not kept");
    assert!(is_silent(&server), "one call alone is");
}

#[test]
fn calls_are_never_answered_but_pings_are() {
    let mut server = start(Fault::NeverAnswersCalls).initialized();
    send_tool(&mut server, "echo", &json!({}));
    let ping = server.send_request("ping", &json!({}));
    assert_eq!(server.next_message()["id"], ping);
    assert!(is_silent(&server));
    server.signal(Signal::SIGTERM);
    assert!(server.wait(PROMPT).is_some());
}

#[test]
fn each_call_or_the_twentieth_is_the_last() {
    for (fault, calls) in [(Fault::DiesOnEachCall, 1), (Fault::DiesOnTwentiethCall, LAST_CALL)] {
        let scene = Scene::new(fault);
        let mut server = scene.start().initialized();
        for _ in 1..calls {
            assert_eq!(text(&server.tool("big", &json!({"bytes": 1}))), "x");
        }
        send_tool(&mut server, "big", &json!({"bytes": 1}));
        assert_eq!((server.next_line(LIMIT), server.wait(LIMIT).unwrap().code()), (None, Some(EXIT_IN_CALL)));
        let _second = scene.start();
        wait_until("both starts to be counted", LIMIT, || scene.journal().count("start") == 2);
    }
}
