//! Servers that are busy, hung, or late: who is left alone, who is replaced, and what becomes of the callers.

use std::time::{Duration, Instant};

use harbor_tests::processes::{Process, assert_gone};
use harbor_tests::{Bridge, Double, ErrorValue, Fault, Home, LIMIT, PROMPT, wait_until};
use nix::sys::signal::Signal;
use serde_json::{Value, json};

fn watched(home: &Home, fault: Fault) -> Double {
    Double::new(home, fault).supervision(&json!({"hung_grace_ms": 500, "restart_delays_ms": [50]}))
}

fn call_within(bridge: &Bridge, ms: u64, tool: &str, arguments: &Value) -> Result<(), ErrorValue> {
    let fields = json!({"server_id": "s", "tool_name": tool, "arguments": arguments, "timeout_ms": ms});
    bridge.call("mcp_call_tool", &fields).map(drop)
}

fn assert_replaced(bridge: &Bridge, before: Process) {
    let crashed = bridge.wait_for_state("s", "crashed");
    assert_eq!(crashed["cause"], "hung", "{crashed}");
    let _ = bridge.wait_for_state("s", "running");
    assert_eq!(bridge.tool_text("s", "sleep", &json!({"ms": 1})), "slept");
    assert_eq!(bridge.exit("s")["cause"], "hung");
    assert_gone(&[before], PROMPT);
}

#[test]
fn a_stopped_process_is_found_hung_and_replaced() {
    for stopped in ["pid", "runner_pid"] {
        let home = Home::new();
        let bridge = Bridge::start(&home);
        bridge.watch();
        bridge.add_and_connect("s", &watched(&home, Fault::None));
        let before = bridge.server("s");
        let _ = bridge.tree();
        let (server, runner) = (Process::named_by(&before["pid"]), Process::named_by(&before["runner_pid"]));
        if stopped == "pid" { server } else { runner }.signal(Signal::SIGSTOP);
        let error = call_within(&bridge, 300, "sleep", &json!({"ms": 1})).unwrap_err();
        assert_eq!(error.code, "ERR_TOOL_TIMEOUT");
        let other = bridge.send_tool("s", "sleep", &json!({"ms": 1}));
        let error = other.wait(PROMPT).unwrap_err();
        assert_eq!(error.code, "ERR_SERVER_UNAVAILABLE", "open calls end with the server");
        assert_replaced(&bridge, server);
        assert_gone(&[runner], PROMPT);
    }
}

#[test]
fn a_server_that_answers_nothing_any_more_is_hung() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    bridge.watch();
    for modern in [false, true] {
        let double = watched(&home, Fault::None);
        bridge.add_and_connect("s", &if modern { double.modern() } else { double });
        let before = Process::named_by(&bridge.server("s")["pid"]);
        assert_eq!(call_within(&bridge, 300, "hang", &json!({})).unwrap_err().code, "ERR_TOOL_TIMEOUT");
        assert_replaced(&bridge, before);
    }
}

#[test]
fn a_call_that_never_ends_hurts_nobody_while_the_server_answers_probes() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    let double = watched(&home, Fault::NeverAnswersCalls);
    bridge.add_and_connect("s", &double);
    let before = bridge.server("s")["pid"].clone();
    let begin = Instant::now();
    while begin.elapsed() < Duration::from_secs(3) {
        assert_eq!(call_within(&bridge, 300, "echo", &json!({})).unwrap_err().code, "ERR_TOOL_TIMEOUT");
    }
    let shown = bridge.server("s");
    assert_eq!((&shown["state"], &shown["pid"]), (&json!("running"), &before), "{shown}");
    assert!(double.journal().count("request ping") > 0, "it was asked");
}

/// Many servers do one thing at a time and read nothing meanwhile.
#[test]
fn a_server_that_works_is_busy_and_is_left_alone() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    bridge.watch();
    bridge.add_and_connect("s", &watched(&home, Fault::None));
    let before = bridge.server("s")["pid"].clone();
    let call = bridge.send_tool("s", "block", &json!({"ms": 13_000}));
    let busy = bridge.wait_for_event(|event| event["busy"] == true);
    assert_eq!((&busy["old_state"], &busy["new_state"]), (&json!("running"), &json!("running")));
    assert_eq!(bridge.server("s")["busy"], true);
    call.wait(LIMIT).unwrap();
    let _ = bridge.wait_for_event(|event| event["busy"] == false);
    let shown = bridge.server("s");
    assert_eq!((&shown["pid"], &shown["restarts"]), (&before, &json!(0)));
}

#[test]
fn a_server_that_finds_its_voice_within_the_grace_lives_on() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    let double = Double::sound(&home).supervision(&json!({"hung_grace_ms": 3000}));
    bridge.add_and_connect("s", &double);
    let before = bridge.server("s")["pid"].clone();
    assert_eq!(
        call_within(&bridge, 200, "block", &json!({"ms": 1500})).unwrap_err().code,
        "ERR_TOOL_TIMEOUT"
    );
    assert_eq!(bridge.tool_text("s", "sleep", &json!({"ms": 3500})), "slept", "past the grace");
    assert_eq!(bridge.server("s")["pid"], before);
    wait_until("the late answer to be counted", PROMPT, || bridge.server("s")["late_answers"] == 1);
}

#[test]
fn late_and_double_answers_are_dropped_and_counted() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    bridge.add_and_connect("s", &Double::new(&home, Fault::AnswersTwice));
    for n in 0..5 {
        let answer = bridge.tool("s", "echo", &json!({"n": n})).unwrap();
        assert_eq!(answer.content_text(), format!("{{\"n\":{n}}}"), "the first answer counts");
    }
    // Contact and the lists were answered twice, too.
    wait_until("the second answers to be counted", PROMPT, || {
        bridge.server("s")["late_answers"].as_u64().unwrap() >= 5
    });
    bridge.add_and_connect("late", &Double::sound(&home));
    let fields = json!({"server_id": "late", "tool_name": "late", "arguments": {}, "timeout_ms": 200});
    assert_eq!(bridge.call("mcp_call_tool", &fields).unwrap_err().code, "ERR_TOOL_TIMEOUT");
    wait_until("the late answer to be counted", PROMPT, || bridge.server("late")["late_answers"] == 1);
}

#[test]
fn answers_find_their_calls_in_whatever_order() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    bridge.add_and_connect("s", &Double::new(&home, Fault::AnswersOutOfOrder));
    let calls: Vec<_> = (0..3).map(|n| (n, bridge.send_tool("s", "echo", &json!({"n": n})))).collect();
    for (n, call) in calls {
        assert_eq!(call.wait(LIMIT).unwrap().content_text(), format!("{{\"n\":{n}}}"));
    }
}

#[test]
fn progress_gives_a_call_more_time_up_to_its_bound() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    bridge.add_and_connect("s", &Double::sound(&home));
    let call = |most: u64, ms: u64| {
        let fields = json!({
            "server_id": "s", "tool_name": "progress", "arguments": {"ms": ms, "every_ms": 100},
            "timeout_ms": 1000, "max_timeout_ms": most, "progress": true,
        });
        let begin = Instant::now();
        (bridge.call("mcp_call_tool", &fields), begin.elapsed())
    };
    let (answer, took) = call(60_000, 2500);
    assert!(answer.is_ok() && took >= Duration::from_millis(2500), "{answer:?} {took:?}");
    let (answer, took) = call(1500, 30_000);
    assert_eq!(answer.unwrap_err().code, "ERR_TOOL_TIMEOUT");
    assert!(took >= Duration::from_millis(1500) && took < PROMPT, "{took:?}");
    let fields = json!({"server_id": "s", "tool_name": "echo", "timeout_ms": 600, "max_timeout_ms": 599});
    assert_eq!(bridge.call("mcp_call_tool", &fields).unwrap_err().details["field"], "max_timeout_ms");
}

#[test]
fn floods_drown_nobody() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    for (id, fault) in [("out", Fault::FloodsStdout), ("err", Fault::FloodsStderr), ("s", Fault::None)] {
        bridge.add_and_connect(id, &Double::new(&home, fault));
    }
    for _ in 0..20 {
        for id in ["s", "out", "err"] {
            assert_eq!(
                bridge.send_tool(id, "sleep", &json!({"ms": 1})).wait(PROMPT).unwrap().content_text(),
                "slept"
            );
        }
    }
    assert!(bridge.logs("err").len() <= 1000);
}

/// Some servers say on stderr how far they are.
#[test]
fn a_server_that_speaks_on_stderr_is_alive() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    bridge.add_and_connect("s", &watched(&home, Fault::FloodsStderr));
    let before = bridge.server("s")["pid"].clone();
    assert_eq!(
        call_within(&bridge, 200, "block", &json!({"ms": 2500})).unwrap_err().code,
        "ERR_TOOL_TIMEOUT"
    );
    assert_eq!(bridge.tool_text("s", "sleep", &json!({"ms": 1})), "slept");
    assert_eq!(bridge.server("s")["pid"], before);
}

/// It takes its runner a while to read so much; then nobody reads it any more, and it shows nothing.
#[test]
fn a_server_that_writes_a_line_without_end_is_hung() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    bridge.watch();
    bridge.add_and_connect("s", &watched(&home, Fault::EndlessLine));
    let before = bridge.server("s");
    let process = Process::named_by(&before["pid"]);
    let niceness = |pid: &Value| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
        stat.rsplit_once(')').unwrap().1.split_whitespace().nth(16).unwrap().to_owned()
    };
    assert_eq!([niceness(&before["pid"]), niceness(&before["runner_pid"])], ["5", "5"], "both are its doing");
    wait_until("it to be found hung", LIMIT, || {
        let _ = call_within(&bridge, 300, "sleep", &json!({"ms": 1}));
        bridge.exit("s")["cause"] == "hung"
    });
    assert_gone(&[process], PROMPT);
}

/// What servers said while the bridge itself was stopped lies ready, and comes before any deadline.
#[test]
fn a_bridge_that_was_stopped_reads_before_it_judges() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    let double = Double::sound(&home).delay_ms(1500).start_timeout_ms(2000);
    bridge.add("slow", &double);
    bridge.add_and_connect("s", &Double::sound(&home));
    let start = bridge.request("mcp_connect", &json!({"server_id": "slow"}));
    let fields =
        json!({"server_id": "s", "tool_name": "sleep", "arguments": {"ms": 700}, "timeout_ms": 1500});
    let call = bridge.request("mcp_call_tool", &fields);
    let _ = double.journal().wait_for("start");
    bridge.process().signal(Signal::SIGSTOP);
    // Longer than every limit: the call's, and the start's with what is added to it.
    std::thread::sleep(Duration::from_secs(8));
    bridge.process().signal(Signal::SIGCONT);
    assert_eq!(call.wait(LIMIT).unwrap().content_text(), "slept");
    start.wait(LIMIT).unwrap();
    assert_eq!(bridge.server("slow")["restarts"], 0);
}
