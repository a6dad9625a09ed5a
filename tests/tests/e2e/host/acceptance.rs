//! The acceptance list of the host, line by line.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use harbor_tests::processes::{Process, assert_gone};
use harbor_tests::{Bridge, DOWN_LIMIT, Double, Fault, Home, LIMIT, PROMPT};
use serde_json::{Value, json};

use super::{PAGE, scene};

const NOTHING: Value = Value::Null;

fn soon() -> Value {
    json!({"restart_delays_ms": [50]})
}

fn in_ms(ms: u64) -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap() + Duration::from_millis(ms);
    u64::try_from(now.as_millis()).unwrap()
}

// Server lifecycle.

#[test]
fn starting_the_host_spawns_configured_servers() {
    let home = Home::new();
    let double = Double::sound(&home).auto_start();
    {
        let bridge = Bridge::start(&home);
        bridge.add("s", &double);
        let _page = bridge.asking(PAGE).allowed();
        assert_eq!(double.journal().count("start"), 0);
    }
    let bridge = Bridge::start(&home);
    let _ = double.journal().wait_for("notification notifications/initialized");
    assert_eq!(bridge.asking(PAGE).call("s/sleep", &json!({"ms": 1})).unwrap().content_text(), "slept");
    assert_eq!((double.journal().count("start"), &bridge.server("s")["state"]), (1, &json!("running")));
}

#[test]
fn a_server_crash_triggers_a_restart_up_to_n_times() {
    let home = Home::new();
    for n in [0, 2] {
        let double = Double::new(&home, Fault::DiesOnEachCall)
            .supervision(&soon())
            .supervision(&json!({"restart_attempts": n}));
        let bridge = Bridge::start(&home);
        let id = format!("dies-{n}");
        bridge.watch();
        bridge.add_and_connect(&id, &double);
        let page = bridge.asking(PAGE).allowed();
        for crash in 1..=n + 1 {
            // The call waits for the restart before it.
            let error = page.call(&format!("{id}/echo"), &json!({})).unwrap_err();
            let said = (error.code.as_str(), &error.details["sent"], &error.details["cause"]);
            assert_eq!(said, ("ERR_SERVER_UNAVAILABLE", &json!(true), &json!("exited")), "{error:?}");
            assert_eq!(double.journal().count("start"), crash);
        }
        let _ = bridge.wait_for_state(&id, "failed");
        let error = page.call(&format!("{id}/echo"), &json!({})).unwrap_err();
        let said = (&error.details["state"], &error.details["sent"]);
        assert_eq!(said, (&json!("failed"), &json!(false)), "{error:?}");
        assert_eq!(double.journal().count("start"), n + 1);
    }
}

#[test]
fn a_server_that_stops_leaves_no_process() {
    let home = Home::new();
    let double = Double::new(&home, Fault::Grandchildren);
    let (bridge, _) = scene(&home, &double);
    let _ = double.journal().wait_for("grandchild");
    let shown = bridge.server("s");
    let (server, runner) = (Process::named_by(&shown["pid"]), Process::named_by(&shown["runner_pid"]));
    let all: Vec<_> = bridge.tree().into_iter().filter(|process| *process != bridge.process()).collect();
    assert!(all.contains(&server) && all.contains(&runner) && all.len() >= 4, "{all:?}");
    bridge.call("mcp_disconnect", &json!({"server_id": "s"})).unwrap();
    assert_gone(&all, DOWN_LIMIT);
}

// Tool discovery.

#[test]
fn tools_are_listed_and_named_server_slash_tool() {
    let home = Home::new();
    let double = Double::sound(&home).offering(r#"[{"name":"read","inputSchema":{"type":"object"}}]"#);
    let (bridge, page) = scene(&home, &double);
    bridge.add_and_connect("other", &double.clone());
    assert_eq!(page.tool_names(), ["other/read", "s/read"]);
    for name in page.tool_names() {
        let answer = page.call(&name, &json!({"n": 1})).unwrap();
        let server = name.split_once('/').unwrap().0;
        assert_eq!(answer["provenance"]["serverId"], server);
    }
}

// Permission gating.

#[test]
fn without_permission_listing_and_calling_fail() {
    let home = Home::new();
    let double = Double::sound(&home);
    let (bridge, _) = scene(&home, &double);
    let stranger = bridge.asking("https://stranger.example");
    let rows = [
        ("host_list_tools", json!({}), "mcp:tools.list"),
        ("host_list_servers", json!({}), "mcp:tools.list"),
        ("host_call_tool", json!({"tool_name": "s/echo"}), "mcp:tools.call"),
        // A name that nobody has cannot be told from one that exists.
        ("host_call_tool", json!({"tool_name": "s/nothing"}), "mcp:tools.call"),
        ("host_call_tool", json!({"tool_name": "nobody/nothing"}), "mcp:tools.call"),
    ];
    for (tag, fields, scope) in rows {
        let error = stranger.ask(tag, &fields).unwrap_err();
        let said = (error.code.as_str(), &error.details["scope"], &error.details["server_id"]);
        assert_eq!(said, ("ERR_SCOPE_REQUIRED", &json!(scope), &NOTHING), "{tag} {fields}: {error:?}");
    }
    assert_eq!(double.journal().count("call"), 0);
}

#[test]
fn allow_once_works_and_expires() {
    let home = Home::new();
    let (bridge, _) = scene(&home, &Double::sound(&home));
    bridge.call("host_watch", &json!({})).unwrap();
    let page = bridge.asking("https://guest.example");
    let ends = json!({"expires_at": in_ms(2500)});
    page.granted("mcp:tools.list", "ALLOW_ONCE", &ends).granted("mcp:tools.call", "ALLOW_ONCE", &ends);
    assert!(page.tool_names().contains(&"s/echo".to_owned()));
    assert_eq!(page.call("s/sleep", &json!({"ms": 1})).unwrap().content_text(), "slept");
    for _ in 0..2 {
        let _ = bridge.wait_for_push("grant_changed", PROMPT, |push| push["change"] == "expired");
    }
    for (tag, fields) in [("host_list_tools", json!({})), ("host_call_tool", json!({"tool_name": "s/echo"}))]
    {
        let error = page.ask(tag, &fields).unwrap_err();
        assert_eq!(error.code, "ERR_SCOPE_REQUIRED", "{tag}: {error:?}");
    }
}

#[test]
fn allow_always_persists_across_restarts_and_allow_once_does_not() {
    let home = Home::new();
    let double = Double::sound(&home).auto_start();
    let guest = "https://guest.example";
    {
        let (mut bridge, page) = scene(&home, &double);
        bridge.asking(guest).granted("mcp:tools.call", "ALLOW_ONCE", &json!({}));
        for who in [&page, &bridge.asking(guest)] {
            assert!(who.call("s/sleep", &json!({"ms": 1})).is_ok());
        }
        bridge.kill();
    }
    for _ in 0..2 {
        let bridge = Bridge::start(&home);
        let page = bridge.asking(PAGE);
        assert_eq!(page.call("s/sleep", &json!({"ms": 1})).unwrap().content_text(), "slept");
        assert!(!page.tools().is_empty());
        let error = bridge.asking(guest).call("s/sleep", &json!({"ms": 1})).unwrap_err();
        assert_eq!(error.code, "ERR_SCOPE_REQUIRED");
    }
}

// Tool call correctness. The errors in detail: `codes`.

#[test]
fn a_known_tool_works_and_an_unknown_one_a_slow_one_and_a_stopped_server_have_their_codes() {
    let home = Home::new();
    let double = Double::sound(&home);
    let (bridge, page) = scene(&home, &double);
    assert_eq!(page.call("s/sleep", &json!({"ms": 1})).unwrap().content_text(), "slept");
    assert_eq!(page.call("s/nothing", &json!({})).unwrap_err().code, "ERR_TOOL_NOT_FOUND");
    let late = page.send_call_with("s/sleep", &json!({"ms": 60_000}), &json!({"timeout_ms": 100}));
    assert_eq!(late.wait(LIMIT).unwrap_err().code, "ERR_TOOL_TIMEOUT");
    bridge.call("mcp_disconnect", &json!({"server_id": "s"})).unwrap();
    let error = page.call("s/sleep", &json!({"ms": 1})).unwrap_err();
    assert_eq!(error.code, "ERR_SERVER_UNAVAILABLE");
}
