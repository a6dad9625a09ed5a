//! Calls that find their server not running: they wait where that helps, start it where the person wants that, and
//! are refused at once otherwise.

use std::time::{Duration, Instant};

use harbor_tests::{Bridge, Client, Double, Fault, Home, LIMIT, PROMPT, Pending};
use serde_json::{Value, json};

const LONG_AWAY: u64 = 3_600_000;

fn quick_call(client: &Client, id: &str) -> Pending {
    client.send_tool(id, "sleep", &json!({"ms": 1}))
}

/// A server that has crashed and is not coming back soon.
fn crashed(bridge: &Bridge, double: &Double, queue_wait: Option<u64>) {
    let mut settings = json!({"restart_delays_ms": [LONG_AWAY]});
    if let Some(wait) = queue_wait {
        settings["queue_wait_ms"] = json!(wait);
    }
    bridge.add_and_connect("s", &double.clone().supervision(&settings));
    assert!(bridge.tool("s", "die", &json!({})).is_err());
}

#[test]
fn calls_wait_for_a_server_that_is_starting() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    bridge.watch();
    let double = Double::sound(&home).delay_ms(500);
    bridge.add("s", &double);
    let start = bridge.request("mcp_connect", &json!({"server_id": "s"}));
    let _ = bridge.wait_for_state("s", "starting");
    let calls: Vec<_> = (0..50).map(|_| quick_call(&bridge, "s")).collect();
    assert_eq!(bridge.server("s")["queued"], 50);
    for call in calls {
        assert_eq!(call.wait(LIMIT).unwrap().content_text(), "slept");
    }
    start.wait(LIMIT).unwrap();
    assert_eq!((double.journal().count("start"), &bridge.server("s")["queued"]), (1, &json!(0)));
}

#[test]
fn calls_wait_for_a_restart_and_those_that_were_open_are_not_sent_again() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    let double = Double::sound(&home).supervision(&json!({"restart_delays_ms": [300]}));
    bridge.add_and_connect("s", &double);
    let open = bridge.send_tool("s", "sleep", &json!({"ms": 60_000}));
    let _ = double.journal().wait_for("call sleep");
    let dying = bridge.send_tool("s", "die", &json!({}));
    for call in [open, dying] {
        let error = call.wait(PROMPT).unwrap_err();
        assert_eq!((error.code.as_str(), &error.details["sent"]), ("ERR_SERVER_UNAVAILABLE", &json!(true)));
    }
    assert_eq!(quick_call(&bridge, "s").wait(PROMPT).unwrap().content_text(), "slept");
    assert_eq!(double.journal().count("call sleep"), 2);
}

#[test]
fn nobody_waits_longer_than_agreed() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    crashed(&bridge, &Double::sound(&home), Some(2000));
    let begin = Instant::now();
    let error = quick_call(&bridge, "s").wait(PROMPT).unwrap_err();
    assert!(begin.elapsed() >= Duration::from_secs(2) && begin.elapsed() < PROMPT);
    assert_eq!((error.code.as_str(), &error.details["cause"]), ("ERR_SERVER_UNAVAILABLE", &json!("exited")));
    assert_eq!(
        (&error.details["state"], &error.details["sent"]),
        (&json!("crashed"), &json!(false)),
        "{error:?}"
    );
    assert!(error.details["next_retry"].as_u64().unwrap() > 0);

    // A call's own limit is shorter here.
    let fields = json!({"server_id": "s", "tool_name": "sleep", "arguments": {"ms": 1}, "timeout_ms": 50});
    let begin = Instant::now();
    let error = bridge.call("mcp_call_tool", &fields).unwrap_err();
    assert_eq!(error.code, "ERR_SERVER_UNAVAILABLE");
    assert!(begin.elapsed() < Duration::from_secs(2));
}

#[test]
fn no_wait_means_refused_at_once() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    crashed(&bridge, &Double::sound(&home), Some(0));
    let begin = Instant::now();
    let error = quick_call(&bridge, "s").wait(PROMPT).unwrap_err();
    assert!(begin.elapsed() < PROMPT);
    assert_eq!(error.details["state"], "crashed");
}

#[test]
fn the_queue_is_bounded_and_one_who_waits_can_leave() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    crashed(&bridge, &Double::sound(&home), None);
    let calls: Vec<_> = (0..1024).map(|_| quick_call(&bridge, "s")).collect();
    let error = quick_call(&bridge, "s").wait(PROMPT).unwrap_err();
    assert_eq!(
        (error.code.as_str(), &error.details["cause"]),
        ("ERR_SERVER_UNAVAILABLE", &json!("queue_full"))
    );
    let cancelled = bridge.call("cancel", &json!({"target": calls[7].id})).unwrap();
    assert_eq!(cancelled["cancelled"], true);
    assert_eq!(calls[7].wait(PROMPT).unwrap_err().code, "cancelled");
    assert_eq!(bridge.server("s")["queued"], 1023);
    bridge.connect("s");
    for (_, call) in calls.iter().enumerate().filter(|(at, _)| *at != 7) {
        assert_eq!(call.wait(LIMIT).unwrap().content_text(), "slept");
    }
}

#[test]
fn a_server_that_only_a_person_starts_is_not_waited_for() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    bridge.add("s", &Double::sound(&home).manual());
    let begin = Instant::now();
    let error = quick_call(&bridge, "s").wait(PROMPT).unwrap_err();
    assert!(begin.elapsed() < PROMPT);
    assert_eq!((&error.details["cause"], &error.details["next_retry"]), (&json!("stopped"), &Value::Null));
}

#[test]
fn a_server_is_started_by_its_first_call_and_stopped_when_nobody_calls() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    bridge.watch();
    let double = Double::sound(&home).supervision(&json!({"idle_stop_ms": 1000}));
    bridge.add("s", &double);
    assert_eq!(bridge.server("s")["state"], "stopped");
    for starts in 1..=2 {
        let calls: Vec<_> = (0..10).map(|_| quick_call(&bridge, "s")).collect();
        for call in calls {
            assert_eq!(call.wait(LIMIT).unwrap().content_text(), "slept");
        }
        assert_eq!(double.journal().count("start"), starts);
        // One that takes longer than the idle time keeps it running.
        assert_eq!(bridge.tool_text("s", "sleep", &json!({"ms": 1500})), "slept");
        let _ = bridge
            .wait_for_event(|event| event["old_state"] == "stopping" && event["new_state"] == "stopped");
        assert_eq!(bridge.server("s")["last_error"], Value::Null, "that is no failure");
    }
}

#[test]
fn a_server_that_a_call_cannot_start_says_why() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    bridge.add("s", &Double::new(&home, Fault::ExitsAtOnce));
    let error = quick_call(&bridge, "s").wait(PROMPT).unwrap_err();
    assert_eq!((error.code.as_str(), &error.details["cause"]), ("ERR_SERVER_UNAVAILABLE", &json!("exited")));
    assert!(error.details["stderr_tail"].as_str().is_some(), "{error:?}");
}

#[test]
fn servers_that_start_with_the_bridge_do() {
    let home = Home::new();
    let doubles: Vec<_> = (0..6).map(|_| Double::sound(&home).auto_start()).collect();
    {
        let bridge = Bridge::start(&home);
        for (at, double) in doubles.iter().enumerate() {
            bridge.add(&format!("s{at}"), double);
        }
        bridge.add(
            "bad",
            &Double::new(&home, Fault::NeverAnswersInitialize).auto_start().start_timeout_ms(1000),
        );
        bridge.add("other", &Double::sound(&home));
        assert_eq!(bridge.server("s0")["state"], "stopped", "an added server is started by whoever adds it");
    }
    let bridge = Bridge::start(&home);
    for at in 0..doubles.len() {
        let id = format!("s{at}");
        // A call that comes before its turn waits for it.
        assert_eq!(bridge.tool_text(&id, "sleep", &json!({"ms": 1})), "slept");
    }
    harbor_tests::wait_until("the bad one to fail", LIMIT, || bridge.server("bad")["state"] == "failed");
    assert_eq!(bridge.server("other")["state"], "stopped");
}

#[test]
fn the_time_of_a_call_begins_when_it_is_asked_for() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    bridge.add("s", &Double::sound(&home).delay_ms(1500));
    let fields =
        json!({"server_id": "s", "tool_name": "sleep", "arguments": {"ms": 60_000}, "timeout_ms": 3000});
    let begin = Instant::now();
    let error = bridge.call("mcp_call_tool", &fields).unwrap_err();
    let took = begin.elapsed();
    assert_eq!(error.code, "ERR_TOOL_TIMEOUT", "{error:?}");
    assert!(took >= Duration::from_secs(3) && took < Duration::from_millis(4500), "{took:?}");
}

/// Servers that hang at their start hold up nobody who is called.
#[test]
fn a_call_brings_a_server_forward_whose_turn_has_not_come() {
    let home = Home::new();
    {
        let bridge = Bridge::start(&home);
        for at in 0..4 {
            let hangs =
                Double::new(&home, Fault::NeverAnswersInitialize).auto_start().start_timeout_ms(20_000);
            bridge.add(&format!("a{at}"), &hangs);
        }
        bridge.add("z", &Double::sound(&home).auto_start());
    }
    let bridge = Bridge::start(&home);
    assert_eq!(quick_call(&bridge, "z").wait(PROMPT).unwrap().content_text(), "slept");
}

#[test]
fn a_restart_lets_calls_wait_and_a_later_stop_wins() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    bridge.watch();
    let double = Double::new(&home, Fault::IgnoresShutdown)
        .supervision(&json!({"eof_grace_ms": 300, "term_grace_ms": 300}));
    bridge.add_and_connect("s", &double);
    let restart = || bridge.request("connect_server", &json!({"server_id": "s", "restart": true}));
    let first = restart();
    let _ = bridge.wait_for_state("s", "stopping");
    assert_eq!(quick_call(&bridge, "s").wait(PROMPT).unwrap().content_text(), "slept");
    first.wait(PROMPT).unwrap();
    assert_eq!(double.journal().count("start"), 2);
    let second = restart();
    let _ = bridge.wait_for_state("s", "stopping");
    bridge.call("mcp_disconnect", &json!({"server_id": "s"})).unwrap();
    assert_eq!(second.wait(PROMPT).unwrap_err().details["cause"], "stopped");
    assert_eq!((&bridge.server("s")["state"], double.journal().count("start")), (&json!("stopped"), 2));
}
