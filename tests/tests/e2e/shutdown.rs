//! However the bridge ends, everything that it started is gone within 5 seconds: servers that ignore what they
//! are told, and grandchildren, included.

use std::process::ExitStatus;

use harbor_tests::processes::{Process, assert_gone};
use harbor_tests::{Bridge, DOWN_LIMIT, Double, Fault, Home};
use nix::sys::signal::Signal;
use serde_json::json;

/// How a bridge is told to end.
#[derive(Debug, Clone, Copy)]
enum End {
    StdinEof,
    Request,
    Signal(Signal),
}

/// Servers of every kind that is hard to end, with a call in flight on each.
fn start_all(home: &Home, isolation: &str, faults: &[Fault]) -> Bridge {
    let bridge = Bridge::start_with(home, &[("HARBOR_MCP_ISOLATION", isolation)]);
    let doubles: Vec<_> = faults.iter().map(|fault| (fault.as_str(), Double::new(home, *fault))).collect();
    let starts: Vec<_> = doubles
        .iter()
        .map(|(id, double)| {
            bridge.add(id, double);
            bridge.request("mcp_connect", &json!({"server_id": id}))
        })
        .collect();
    for start in starts {
        start.wait(harbor_tests::LIMIT).unwrap();
    }
    for (id, double) in &doubles {
        let _ = bridge.send_tool(id, "sleep", &json!({"ms": 60_000}));
        let _ = double.journal().wait_for("call sleep");
        if matches!(*id, "grandchild" | "detached-grandchild") {
            let _ = double.journal().wait_for("grandchild");
        }
    }
    bridge
}

/// Ends the bridge and demands that all of its processes are gone in time; returns how it ended.
fn end(home: &Home, mut bridge: Bridge, end: End) -> ExitStatus {
    let mut all = bridge.tree();
    all.extend(home.processes());
    assert!(all.len() > 3, "bridge, runner and servers: {all:?}");
    match end {
        End::StdinEof => bridge.close(),
        End::Request => {
            let answer = bridge.call("shutdown", &json!({})).unwrap();
            assert_eq!(answer["stopping"], true);
        }
        End::Signal(signal) => bridge.signal(signal),
    }
    assert_gone(&all, DOWN_LIMIT);
    assert_eq!(home.processes(), Vec::<Process>::new());
    let status = bridge.wait(DOWN_LIMIT).unwrap();
    bridge.assert_sound();
    status
}

const HARD: &[Fault] = &[Fault::None, Fault::IgnoresShutdown, Fault::Wrapper, Fault::Grandchild];

fn everything_goes(isolation: &str, how: End) {
    let home = Home::new();
    let bridge = start_all(&home, isolation, HARD);
    let status = end(&home, bridge, how);
    assert!(status.success(), "{how:?}: {status}");
}

#[test]
fn at_the_end_of_stdin() {
    everything_goes("1", End::StdinEof);
}

#[test]
fn at_the_end_of_stdin_with_one_runner_for_all() {
    everything_goes("0", End::StdinEof);
}

#[test]
fn on_sigterm() {
    everything_goes("1", End::Signal(Signal::SIGTERM));
}

#[test]
fn on_sigterm_with_one_runner_for_all() {
    everything_goes("0", End::Signal(Signal::SIGTERM));
}

#[test]
fn on_sigint() {
    everything_goes("1", End::Signal(Signal::SIGINT));
}

#[test]
fn on_sigint_with_one_runner_for_all() {
    everything_goes("0", End::Signal(Signal::SIGINT));
}

#[test]
fn on_request() {
    everything_goes("1", End::Request);
}

/// Whoever is told so may take its directory away.
#[test]
fn a_command_says_that_the_bridge_has_ended_when_its_process_is_gone() {
    let home = Home::new();
    for _ in 0..10 {
        let _ = home.harbor(&["list"]);
        let bridge = Process::of(home.locked_by().unwrap()).unwrap();
        assert_eq!(home.done(&["shutdown"]), "the bridge has ended\n");
        assert!(bridge.is_gone(), "{bridge:?}");
    }
}

#[test]
fn when_the_bridge_is_killed() {
    for isolation in ["1", "0"] {
        let home = Home::new();
        let bridge = start_all(&home, isolation, HARD);
        end(&home, bridge, End::Signal(Signal::SIGKILL));
    }
}

#[test]
fn with_a_grandchild_in_a_session_of_its_own() {
    for isolation in ["1", "0"] {
        let home = Home::new();
        let bridge = start_all(&home, isolation, &[Fault::None, Fault::DetachedGrandchild]);
        end(&home, bridge, End::StdinEof);
    }
}

#[test]
fn while_a_server_is_starting() {
    let home = Home::new();
    let mut bridge = Bridge::start(&home);
    let double = Double::new(&home, Fault::NeverAnswersInitialize);
    bridge.add("s", &double);
    let start = bridge.request("mcp_connect", &json!({"server_id": "s"}));
    let _ = double.journal().wait_for("request initialize");
    bridge.signal(Signal::SIGTERM);
    assert!(bridge.wait(DOWN_LIMIT).unwrap().success());
    // Answered on the way out, or cut off with the connection; never left hanging.
    let code = start.wait(DOWN_LIMIT).unwrap_err().code;
    assert!(["shutting_down", "connection_failed", "closed"].contains(&code.as_str()), "{code}");
}

#[test]
fn open_calls_are_answered_on_the_way_out() {
    let home = Home::new();
    let mut bridge = Bridge::start(&home);
    let double = Double::sound(&home);
    bridge.add_and_connect("s", &double);
    let call = bridge.send_tool("s", "sleep", &json!({"ms": 60_000}));
    let _ = double.journal().wait_for("call sleep");
    bridge.call("shutdown", &json!({})).unwrap();
    let error = call.wait(DOWN_LIMIT).unwrap_err();
    assert!(["shutting_down", "ERR_SERVER_UNAVAILABLE"].contains(&error.code.as_str()), "{error:?}");
    assert!(bridge.wait(DOWN_LIMIT).unwrap().success());
}
