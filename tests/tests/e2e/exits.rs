//! How servers end, as it is told: by which cause, with which number, and in which time.

use std::fs;
use std::time::{Duration, Instant};

use harbor_tests::processes::{Process, assert_gone};
use harbor_tests::{Bridge, Double, Fault, Home, PROMPT, programs};
use nix::sys::signal::Signal;
use serde_json::{Value, json};

fn once(home: &Home, fault: Fault) -> Double {
    Double::new(home, fault).supervision(&json!({"restart": "never"}))
}

#[test]
fn a_code_a_signal_and_the_last_words() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    bridge.watch();
    bridge.add_and_connect("s", &once(&home, Fault::None));
    let error = bridge.tool("s", "die", &json!({})).unwrap_err();
    let exit = bridge.exit("s");
    assert_eq!(
        (&exit["cause"], &exit["exit_code"], &exit["signal"]),
        (&json!("exited"), &json!(7), &Value::Null)
    );
    assert_eq!(exit["stderr_tail"], "dying in mid-call");
    assert_eq!(error.details["stderr_tail"], exit["stderr_tail"], "the caller has them too");
    assert!(exit["timestamp"].as_u64().unwrap() > 1_700_000_000_000);

    let server = Process::named_by(&bridge.connect("s")["pid"]);
    assert_eq!(bridge.exit("s"), Value::Null, "a person's start is a fresh beginning");
    server.signal(Signal::SIGTERM);
    let failed =
        bridge.wait_for_event(|event| event["new_state"] == "failed" && event["cause"] == "signalled");
    assert!(failed["message"].as_str().unwrap().contains("SIGTERM (signal 15)"), "{failed}");
    assert_eq!(bridge.exit("s")["signal"], 15);
}

/// Its death is told before the kernel is through with it.
#[test]
fn a_server_that_ends_slowly_has_said_all_and_is_gone_before_the_next_start() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    bridge.add("s", &once(&home, Fault::EndsSlowly));
    for turn in 0..20 {
        let server = Process::named_by(&bridge.connect("s")["pid"]);
        let open = bridge.send_tool("s", "sleep", &json!({"ms": 60_000}));
        let last = bridge.send_tool("s", "echo", &json!({"turn": turn}));
        let (cause, number) = if turn % 2 == 0 {
            let error = bridge.tool("s", "die", &json!({})).unwrap_err();
            assert_eq!(error.details["stderr_tail"], "dying in mid-call");
            assert!(last.wait(PROMPT).is_ok(), "what it wrote right before its end");
            ("exited", "exit_code")
        } else {
            last.wait(PROMPT).unwrap();
            server.signal(Signal::SIGKILL);
            ("signalled", "signal")
        };
        let error = open.wait(PROMPT).unwrap_err();
        assert_eq!(error.details["cause"], cause, "{error:?}");
        assert_eq!(bridge.exit("s")["cause"], cause);
        assert_eq!(bridge.exit("s")[number], if cause == "exited" { 7 } else { 9 });
        bridge.connect("s");
        assert!(server.is_gone(), "the next one never meets it");
        bridge.call("mcp_disconnect", &json!({"server_id": "s"})).unwrap();
    }
}

#[test]
fn a_server_that_leaves_a_flood_behind_is_seen_to_die_and_the_flood_ends() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    bridge.add("s", &once(&home, Fault::LeavesFlood));
    for _ in 0..5 {
        bridge.connect("s");
        let error = bridge.send_tool("s", "echo", &json!({})).wait(PROMPT).unwrap_err();
        assert_eq!(error.details["cause"], "exited", "{error:?}");
        assert_eq!(bridge.server("s")["state"], "failed");
    }
}

#[test]
fn out_of_memory_is_a_cause_of_its_own() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    bridge.add_and_connect("s", &once(&home, Fault::None).memory_kib(400_000));
    let error = bridge.tool("s", "eat_memory", &json!({})).unwrap_err();
    assert_eq!(error.details["cause"], "out_of_memory", "{error:?}");
    assert_eq!(bridge.exit("s")["cause"], "out_of_memory");
}

#[test]
fn a_server_that_exits_right_after_contact_counts_as_one_that_ran() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    bridge.watch();
    let double = Double::new(&home, Fault::ExitsAfterContact)
        .supervision(&json!({"restart_delays_ms": [10], "restart_attempts": 2}));
    bridge.add("s", &double);
    let _ = bridge.call("mcp_connect", &json!({"server_id": "s"}));
    let failed = bridge.wait_for_state("s", "failed");
    assert_eq!(failed["cause"], "exited");
    assert_eq!(double.journal().count("start"), 3);
}

#[test]
fn a_program_that_has_disappeared_meanwhile_is_named() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    bridge.watch();
    let copy = home.scratch("server");
    fs::copy(programs::double("misbehaving-server"), &copy).unwrap();
    let mut definition =
        Double::sound(&home).supervision(&json!({"restart_delays_ms": [10]})).definition("s");
    definition["command"] = json!(copy);
    bridge.call("add_server", &definition).unwrap();
    bridge.connect("s");
    fs::remove_file(&copy).unwrap();
    assert!(bridge.tool("s", "die", &json!({})).is_err());
    let failed = bridge.wait_for_state("s", "failed");
    assert_eq!(failed["cause"], "spawn_failed");
    assert!(failed["message"].as_str().unwrap().contains("/server"), "{failed}");
}

#[test]
fn a_server_that_closes_its_stdin_can_still_be_ended() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    bridge.add_and_connect("s", &Double::new(&home, Fault::ClosesStdin));
    assert!(bridge.tool("s", "echo", &json!({})).is_ok());
    let server = Process::named_by(&bridge.server("s")["pid"]);
    let fields = json!({"server_id": "s", "tool_name": "echo", "timeout_ms": 300});
    assert!(bridge.call("mcp_call_tool", &fields).is_err());
    let _ = bridge.call("mcp_disconnect", &json!({"server_id": "s"}));
    assert_gone(&[server], PROMPT);
}

#[test]
fn the_steps_of_the_ladder_take_as_long_as_the_definition_says() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    let stop = |id: &str, eof: u64, term: u64, fault| {
        let graces = json!({"eof_grace_ms": eof, "term_grace_ms": term});
        bridge.add_and_connect(id, &Double::new(&home, fault).supervision(&graces));
        let begin = Instant::now();
        let stopped = bridge.call("mcp_disconnect", &json!({"server_id": id})).unwrap();
        assert_eq!(stopped["disconnected"], true);
        begin.elapsed()
    };
    assert!(stop("at-once", 0, 0, Fault::IgnoresShutdown) < Duration::from_secs(3), "sooner than by itself");
    let patient = stop("patient", 700, 900, Fault::IgnoresShutdown);
    assert!(patient >= Duration::from_millis(1600) && patient < PROMPT, "{patient:?}");
    assert!(stop("willing", 60_000, 60_000, Fault::None) < PROMPT, "who ends by itself is not waited for");
}
