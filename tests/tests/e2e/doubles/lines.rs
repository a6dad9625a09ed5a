//! Faults of beginnings, lines and pipes.

use std::time::Duration;

use harbor_tests::faults::{BANNER, EXIT_AFTER_CONTACT, EXIT_AT_ONCE, FLOOD, LAST_WORDS, OVER_THE_BOUND};
use harbor_tests::{DOWN_LIMIT, Direct, Fault, LIMIT, PROMPT, wait_until};
use nix::sys::signal::Signal;
use serde_json::{Value, json};

use super::{MOMENT, Scene, meta, start, text};

#[test]
fn faults_of_the_beginning() {
    let mut server = start(Fault::ExitsAtOnce);
    assert_eq!(server.wait(LIMIT).unwrap().code(), Some(EXIT_AT_ONCE));
    wait_until("its last words", LIMIT, || server.stderr().contains(LAST_WORDS));

    let mut server = start(Fault::ExitsOnProbe);
    server.send_request("server/discover", &json!({}));
    assert_eq!(server.wait(LIMIT).unwrap().code(), Some(1));

    let mut server = start(Fault::SilentOnProbe);
    server.send_request("server/discover", &json!({}));
    let mut server = server.initialized();
    assert_eq!(text(&server.tool("big", &json!({"bytes": 1}))), "x");

    let scene = Scene::new(Fault::NeverAnswersInitialize);
    let mut server = scene.start();
    assert!(server.ask("server/discover", &json!({}))["error"].is_object());
    server.send_request("initialize", &json!({}));
    assert_eq!(scene.journal().wait_for("request initialize"), "");
    assert!(
        server.ask("ping", &json!({}))["result"].is_object(),
        "it answers other requests, but not that one"
    );

    for (fault, pointer) in [
        (Fault::RefusesInitialize, "/error/message"),
        (Fault::MalformedInitialize, "/result/protocolVersion"),
        (Fault::UnknownVersion, "/result/protocolVersion"),
    ] {
        let answer = start(fault).ask("initialize", &json!({}));
        assert_ne!(answer.pointer(pointer), None, "{answer}");
        assert_ne!(answer.pointer(pointer), Some(&json!("2025-11-25")), "{answer}");
    }
}

#[test]
fn faults_of_lines() {
    let server = start(Fault::GarbageOnStdout);
    assert_eq!(server.next_line(LIMIT).unwrap(), format!("{BANNER}\n").into_bytes());

    let mut server = start(Fault::InvalidUtf8).initialized();
    server.send_request("tools/call", &json!({"name": "echo", "arguments": {}}));
    assert!(String::from_utf8(server.next_line(LIMIT).unwrap()).is_err());

    let mut server = start(Fault::NoFinalNewline).initialized();
    server.send_request("tools/call", &json!({"name": "echo", "arguments": {}}));
    assert_eq!(server.next_line(LIMIT).unwrap().last(), Some(&b'}'));
    assert_eq!(server.wait(LIMIT).unwrap().code(), Some(0));

    let mut server = start(Fault::UnknownIds);
    let id = server.send_request("initialize", &json!({}));
    let ids: Vec<_> = (0..5).map(|_| server.next_message()["id"].clone()).collect();
    assert_eq!(ids, [json!(987_654_321), json!("nobody"), Value::Null, json!(id), json!(id)]);

    let mut server = start(Fault::HugeLine).initialized();
    let id = server.send_request("tools/call", &json!({"name": "echo", "arguments": {}}));
    let line = server.next_line(LIMIT).unwrap();
    assert!(line.len() > OVER_THE_BOUND && line.ends_with(format!(",\"id\":{id}}}\n").as_bytes()));
}

#[test]
fn faults_of_pipes() {
    let mut server = start(Fault::ClosesStdout).initialized();
    server.send_request("tools/call", &json!({"name": "echo", "arguments": {}}));
    assert_eq!(server.next_line(LIMIT), None);
    assert!(server.wait(MOMENT).is_none(), "it lives on");

    let scene = Scene::new(Fault::StopsReading);
    let mut server = scene.start().initialized();
    server.send_request("tools/call", &json!({"name": "echo", "arguments": {}}));
    assert_eq!(scene.journal().wait_for("call echo"), "2");
    server.close();
    assert!(server.wait(MOMENT).is_none(), "it does not see the end of its stdin");
    server.signal(Signal::SIGTERM);
    assert!(server.wait(DOWN_LIMIT).is_some());
}

#[test]
fn one_exits_as_soon_as_contact_is_made() {
    let mut server = start(Fault::ExitsAfterContact).initialized();
    assert_eq!(server.wait(LIMIT).unwrap().code(), Some(EXIT_AFTER_CONTACT));

    let mut scene = Scene::modern();
    scene.settings.fault = Fault::ExitsAfterContact;
    let mut server = scene.start();
    assert!(server.ask("server/discover", &json!({"_meta": meta()}))["result"].is_object());
    assert_eq!(server.wait(LIMIT).unwrap().code(), Some(EXIT_AFTER_CONTACT));
}

#[test]
fn one_answers_everything_twice() {
    let mut server = start(Fault::AnswersTwice);
    let id = server.send_request("initialize", &json!({}));
    let answers = [server.next_message(), server.next_message()];
    assert!(answers.iter().all(|answer| answer["id"] == id), "{answers:?}");
    assert_eq!(answers[1]["result"], json!({"duplicate": true}));
    assert_ne!(answers[0], answers[1]);
}

/// What floods is never read to its end; an answer in the middle of it is.
#[test]
fn one_floods_stdout_and_still_answers() {
    for modern in [false, true] {
        let mut scene = Scene::new(Fault::FloodsStdout);
        scene.settings.modern = modern;
        let mut server = scene.start();
        let mut call = json!({"name": "big", "arguments": {"bytes": 3}});
        if modern {
            call["_meta"] = meta();
            let _ = server.ask("server/discover", &json!({"_meta": meta()}));
        } else {
            server = server.initialized();
        }
        let (mut messages, mut garbage) = (0, 0);
        for _ in 0..20_000 {
            match serde_json::from_slice::<Value>(&server.next_line(LIMIT).unwrap()) {
                Ok(_) => messages += 1,
                Err(_) => garbage += 1,
            }
        }
        assert!(messages > 0 && garbage > 0, "{messages} {garbage}");
        let id = server.send_request("tools/call", &call);
        assert_eq!(text(&answer_in_a_flood(&server, id)), "xxx");
        server.close();
        assert!(ends_while_it_is_read(&mut server), "it ends with its stdin");
    }
}

fn answer_in_a_flood(server: &Direct, id: u64) -> Value {
    loop {
        match serde_json::from_slice::<Value>(&server.next_line(LIMIT).unwrap()) {
            Ok(message) if message["id"] == id => return message,
            _ => {}
        }
    }
}

fn ends_while_it_is_read(server: &mut Direct) -> bool {
    while server.next_line(LIMIT).is_some() {}
    server.wait(DOWN_LIMIT).is_some()
}

#[test]
fn one_floods_stderr_and_still_answers() {
    let mut server = start(Fault::FloodsStderr).initialized();
    wait_until("a flood", LIMIT, || server.stderr().len() > 100_000);
    assert!(server.stderr().lines().next().is_some_and(|line| line == FLOOD));
    assert_eq!(text(&server.tool("big", &json!({"bytes": 1}))), "x");
    server.close();
    assert!(server.wait(DOWN_LIMIT).is_some());
}

#[test]
fn one_closes_its_stdin_and_lives_on() {
    let mut server = start(Fault::ClosesStdin).initialized();
    assert_eq!(text(&server.tool("echo", &json!({"a": 1}))), "{\"a\":1}");
    let begun = std::time::Instant::now();
    while server.try_send("{}") {
        assert!(begun.elapsed() < PROMPT, "the pipe has a reader still");
        std::thread::sleep(Duration::from_millis(1));
    }
    assert!(server.wait(MOMENT).is_none(), "it lives on");
    server.signal(Signal::SIGTERM);
    assert!(server.wait(DOWN_LIMIT).is_some());
}
