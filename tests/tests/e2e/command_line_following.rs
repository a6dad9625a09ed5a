//! Commands that go on until somebody ends them: what they follow, line by line, and how they end.

use std::time::Duration;

use harbor_tests::{Bridge, DOWN_LIMIT, Direct, Double, Home, LIMIT, wait_until};
use nix::sys::signal::Signal;
use serde_json::{Value, json};

fn follow(home: &Home, args: &[&str]) -> Direct {
    Direct::start(home.command("harbor").args(args))
}

fn next(command: &Direct) -> String {
    let line = command.next_line(LIMIT).expect("a line");
    String::from_utf8(line).unwrap()
}

fn next_json(command: &Direct) -> Value {
    let line = next(command);
    serde_json::from_str(&line).unwrap_or_else(|_| panic!("{line}"))
}

/// Ctrl-C.
fn interrupt(mut command: Direct) {
    command.signal(Signal::SIGINT);
    assert!(command.wait(DOWN_LIMIT).is_some(), "it ends");
    assert_eq!(command.stderr(), "");
}

#[test]
fn events_come_as_they_happen_and_end_with_the_bridge() {
    let home = Home::new();
    let mut events = {
        let bridge = Bridge::start(&home);
        assert!(bridge.is_alive());
        bridge.add_and_connect("s", &Double::sound(&home));
        let (events, lines) = (follow(&home, &["events", "--json"]), follow(&home, &["events"]));
        // Until both have begun to watch.
        let restart = || bridge.call("connect_server", &json!({"server_id": "s", "restart": true})).unwrap();
        for command in [&events, &lines] {
            wait_until("an event", LIMIT, || {
                restart();
                command.line_within(Duration::from_millis(100)).is_some()
            });
        }
        bridge.call("remove_server", &json!({"server_id": "s"})).unwrap();
        let last =
            std::iter::repeat_with(|| next_json(&events)).find(|event| event["new_state"] == "removed");
        assert_eq!(last.unwrap()["server_id"], "s");
        let last = std::iter::repeat_with(|| next(&lines)).find(|line| line.contains(" → removed"));
        assert!(last.unwrap().contains("Z s: "));
        interrupt(lines);
        events
    };
    let status = events.wait(DOWN_LIMIT).expect("it ends with the bridge");
    assert_eq!(status.code(), Some(3), "{}", events.stderr());
}

#[test]
fn logs_go_on_behind_what_was_there() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    assert!(bridge.is_alive());
    bridge.add_and_connect("s", &Double::sound(&home));
    let log = || bridge.tool_text("s", "log", &json!({}));
    log();
    let logs = follow(&home, &["logs", "s", "-f", "--lines", "2"]);
    let is_there =
        |logs: &Direct| std::iter::repeat_with(|| next(logs)).find(|line| line.contains("a log line by MCP"));
    assert!(is_there(&logs).unwrap().contains("Z mcp warning: "));
    log();
    assert!(is_there(&logs).is_some(), "what comes later");
    interrupt(logs);
}

#[test]
fn the_status_is_followed_from_what_it_is() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    assert!(bridge.is_alive());
    bridge.add_and_connect("s", &Double::sound(&home));
    let status = follow(&home, &["status", "-f", "--json"]);
    let first = next_json(&status);
    assert_eq!((&first["version"], &first["servers"][0]["state"]), (&json!(1), &json!("running")));
    bridge.call("disconnect_server", &json!({"server_id": "s"})).unwrap();
    let stopped =
        |update: &Value| update["category"] == "server" && update["servers"][0]["state"] == "stopped";
    assert!(std::iter::repeat_with(|| next_json(&status)).any(|update| stopped(&update)));
    interrupt(status);
}
