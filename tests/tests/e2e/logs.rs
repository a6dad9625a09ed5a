//! Logs of servers: kept in memory, on disk, and told to those who follow them.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use harbor_tests::{Bridge, Client, Double, Fault, Home, LIMIT, wait_until};
use serde_json::{Value, json};

fn texts(lines: &[Value]) -> Vec<&str> {
    lines.iter().map(|line| line["text"].as_str().unwrap()).collect()
}

/// Two lines: one on stderr, one by MCP.
fn speak(bridge: &Bridge) {
    bridge.tool("s", "log", &json!({})).unwrap();
}

#[test]
fn an_answer_over_several_lines_is_in_no_log() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    bridge.add_and_connect("s", &Double::new(&home, Fault::PrintedAnswers));
    let call =
        json!({"server_id": "s", "tool_name": "echo", "arguments": {"t": "PRIVATE"}, "timeout_ms": 200});
    let error = bridge.call("mcp_call_tool", &call).unwrap_err();
    assert_eq!(error.code, "ERR_TOOL_TIMEOUT", "{error:?}");
    let logs = bridge.logs("s");
    let said = texts(&logs);
    assert!(said.contains(&"a message was dropped: it is not on one line"), "{said:?}");
    assert!(!said.concat().contains("PRIVATE"), "{said:?}");
}

#[test]
fn what_a_server_said_before_a_restart_of_the_bridge_is_still_there() {
    let home = Home::new();
    let double = Double::sound(&home).supervision(&json!({"restart": "never"}));
    {
        let bridge = Bridge::start(&home);
        bridge.add_and_connect("s", &double);
        assert!(bridge.tool("s", "die", &json!({})).is_err());
        assert_eq!(texts(&bridge.logs("s")), ["dying in mid-call", "it exited with code 7"]);
    }
    let mut bridge = Bridge::start(&home);
    assert_eq!(texts(&bridge.logs("s")), ["dying in mid-call", "it exited with code 7"]);
    bridge.connect("s");
    assert!(bridge.tool("s", "die", &json!({})).is_err());
    let both = ["dying in mid-call", "it exited with code 7"].repeat(2);
    let logs = bridge.logs("s");
    assert_eq!(texts(&logs), both);
    assert_eq!((&logs[0]["source"], &logs[1]["source"]), (&json!("stderr"), &json!("harbor")));
    let newest = bridge.call("mcp_get_logs", &json!({"server_id": "s", "limit": 1})).unwrap();
    assert_eq!(texts(newest["logs"].as_array().unwrap()), ["it exited with code 7"]);

    // Also when it is killed: what was on disk stays, and whole lines follow.
    wait_until("the lines to be on disk", LIMIT, || file(&home).matches("mid-call").count() == 2);
    bridge.kill();
    let path = home.path().join("logs/servers/s.log");
    let mut torn = fs::read_to_string(&path).unwrap();
    torn.push_str("{\"t\":1,\"s\":\"std");
    fs::write(&path, torn).unwrap();
    let bridge = Bridge::start(&home);
    assert_eq!(texts(&bridge.logs("s")), both);
    bridge.connect("s");
    assert!(bridge.tool("s", "die", &json!({})).is_err());
    assert_eq!(bridge.logs("s").len(), 6);
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    let removed = bridge.call("remove_server", &json!({"server_id": "s"})).unwrap();
    assert_eq!(removed["removed"], true);
    wait_until("the file to be removed", LIMIT, || !path.exists());
}

fn file(home: &Home) -> String {
    fs::read_to_string(home.path().join("logs/servers/s.log")).unwrap_or_default()
}

#[test]
fn who_follows_has_every_line_once() {
    let home = Home::new();
    let bridge = Bridge::foreground(&home);
    bridge.add_and_connect("s", &Double::sound(&home));
    (0..20).for_each(|_| speak(&bridge));
    let follower = Client::attach(&home);
    let mut seen = follower.follow("s").len();
    (0..20).for_each(|_| speak(&bridge));
    while seen < 80 {
        let line = follower.wait_for_log(|_| true);
        assert_eq!(line["server_id"], "s");
        assert!(["stderr", "mcp"].contains(&line["source"].as_str().unwrap()), "{line}");
        seen += 1;
    }
    assert_eq!(bridge.logs("s").len(), 80);

    follower.call("mcp_get_logs", &json!({"server_id": "s", "follow": false})).unwrap();
    speak(&bridge);
    assert!(follower.is_alive(), "nothing comes in between: the harness would find it");
}

#[test]
fn a_flood_is_bounded_in_memory_and_on_disk() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    bridge.add_and_connect("s", &Double::new(&home, Fault::FloodsStderr));
    wait_until("many lines", LIMIT, || file(&home).len() > 20_000);
    let most = bridge.call("mcp_get_logs", &json!({"server_id": "s", "limit": 1_000_000})).unwrap();
    assert!(most["logs"].as_array().unwrap().len() <= 1000);
    assert!(bridge.is_alive());
    let own = |line: &&Value| line["text"].as_str().unwrap().contains("lines were dropped");
    wait_until("a remark on what was dropped", LIMIT, || {
        bridge.logs("s").iter().find(own).is_some_and(|line| line["source"] == "harbor")
    });
}

/// A burst that a reader could well take is not its fault.
#[test]
fn who_follows_and_reads_misses_nothing_of_a_burst() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    bridge.add_and_connect("s", &Double::sound(&home));
    let burst = "for n in $(seq 400); do printf '%08000d\\n' $n; done >&2; exec \"$0\" \"$@\"";
    let mut definition = Double::sound(&home).definition("b");
    let program = definition["command"].clone();
    let mut args = vec![json!("-c"), json!(burst), program];
    args.extend(definition["args"].as_array().unwrap().clone());
    (definition["command"], definition["args"]) = (json!("/bin/sh"), json!(args));
    bridge.call("add_server", &definition).unwrap();
    let _ = bridge.follow("b");
    bridge.connect("b");
    for n in 1..=400 {
        let line = bridge.wait_for_log(|line| line["source"] == "stderr");
        assert_eq!(line["text"], format!("{n:08000}"));
    }
}

#[test]
fn a_clock_that_was_set_back_hides_nothing() {
    let home = Home::new();
    let double = Double::sound(&home).supervision(&json!({"restart": "never"}));
    {
        let bridge = Bridge::start(&home);
        bridge.add_and_connect("s", &double);
        assert!(bridge.tool("s", "die", &json!({})).is_err());
    }
    let path = home.path().join("logs/servers/s.log");
    let of_the_future = fs::read_to_string(&path).unwrap().replace("{\"t\":1", "{\"t\":9");
    fs::write(&path, of_the_future).unwrap();
    let bridge = Bridge::start(&home);
    assert_eq!(bridge.logs("s").len(), 2);
    bridge.connect("s");
    assert!(bridge.tool("s", "die", &json!({})).is_err());
    assert_eq!(bridge.logs("s").len(), 4);
}
