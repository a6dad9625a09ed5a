//! Calls that have no answer of the server's: it is too slow, dies, is stopped, or nobody waits any more. Each
//! ends at once with an error that says why, and the server hears of it where it still can.

use std::time::{Duration, Instant};

use harbor_tests::processes::{Process, assert_gone, by_own_id, describe};
use harbor_tests::{Bridge, Client, Double, Fault, Home, LIMIT, PROMPT, Pending, wait_until};
use nix::sys::signal::Signal;
use serde_json::json;

const LONG_MS: u64 = 60_000;

fn long_call(client: &Client, double: &Double) -> Pending {
    let call = client.send_tool("s", "sleep", &json!({"ms": LONG_MS, "timeout_ms": LONG_MS}));
    let _ = double.journal().wait_for("call sleep");
    call
}

/// The call ended because its server is not there any more.
fn assert_unavailable(call: &Pending) {
    let error = call.wait(PROMPT).unwrap_err();
    assert_eq!(error.code, "ERR_SERVER_UNAVAILABLE", "{error:?}");
    assert!(error.details["cause"].is_string(), "{error:?}");
}

#[test]
fn a_timeout_ends_the_call_and_tells_the_server() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    for (id, double) in [("legacy", Double::sound(&home)), ("modern", Double::sound(&home).modern())] {
        bridge.add_and_connect(id, &double);
        let fields =
            json!({"server_id": id, "tool_name": "sleep", "arguments": {"ms": LONG_MS}, "timeout_ms": 300});
        let begin = Instant::now();
        let error = bridge.call("mcp_call_tool", &fields).unwrap_err();
        assert_eq!(error.code, "ERR_TOOL_TIMEOUT", "{error:?}");
        assert!(begin.elapsed() >= Duration::from_millis(300) && begin.elapsed() < PROMPT);
        let call = double.journal().wait_for("call sleep");
        let _ = double.journal().wait_for(&format!("cancelled {call} "));
        assert_eq!(bridge.tool_text(id, "cancelled_ids", &json!({})), format!("[{call}]"));
    }
}

#[test]
fn a_client_that_is_gone_in_mid_call_cancels_it() {
    let home = Home::new();
    let bridge = Bridge::foreground(&home);
    let double = Double::sound(&home);
    bridge.add_and_connect("s", &double);
    let other = Client::attach(&home);
    let call = other.send_tool("s", "sleep", &json!({"ms": LONG_MS}));
    let id = double.journal().wait_for("call sleep");
    other.close();
    let _ = double.journal().wait_for(&format!("cancelled {id} "));
    assert_eq!(call.wait(LIMIT).unwrap_err().code, "closed");
    assert_eq!(bridge.tool_text("s", "sleep", &json!({"ms": 1})), "slept");
    assert_eq!(double.journal().count("start"), 1);
}

#[test]
fn a_server_that_dies_in_mid_call_ends_the_call() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    let double = Double::sound(&home);
    bridge.add_and_connect("s", &double);
    let bystander = long_call(&bridge, &double);
    let call = bridge.send_tool("s", "die", &json!({}));
    assert_unavailable(&call);
    assert_unavailable(&bystander);
    let logs = bridge.logs("s");
    assert!(logs.iter().any(|line| line["text"] == "dying in mid-call"), "{logs:?}");
    assert_ne!(bridge.server("s")["state"], "running");
}

#[test]
fn a_killed_server_ends_the_call() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    let double = Double::sound(&home);
    let server = Process::named_by(&bridge.add_and_connect("s", &double)["pid"]);
    let call = long_call(&bridge, &double);
    server.signal(Signal::SIGKILL);
    assert_unavailable(&call);
}

#[test]
fn a_server_whose_grandchild_holds_its_pipes_is_seen_to_die() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    let double = Double::new(&home, Fault::Grandchild);
    bridge.add_and_connect("s", &double);
    let grandchild = by_own_id(&double.journal().wait_for("grandchild"), &bridge.tree());
    let call = bridge.send_tool("s", "die", &json!({}));
    assert_unavailable(&call);
    assert_gone(&[grandchild], PROMPT);
}

#[test]
fn a_server_that_closes_stdout_is_ended() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    let server =
        Process::named_by(&bridge.add_and_connect("s", &Double::new(&home, Fault::ClosesStdout))["pid"]);
    let call = bridge.send_tool("s", "echo", &json!({}));
    assert_unavailable(&call);
    assert_gone(&[server], PROMPT);
}

#[test]
fn a_server_that_stops_reading_delays_nobody_else() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    let double = Double::new(&home, Fault::StopsReading);
    bridge.add_and_connect("deaf", &double);
    bridge.add_and_connect("s", &Double::sound(&home));
    // Far more than a pipe holds, so that writing to it blocks.
    let calls: Vec<_> = (0..8)
        .map(|_| {
            let arguments = json!({"text": "x".repeat(200_000)});
            let fields =
                json!({"server_id": "deaf", "tool_name": "echo", "arguments": arguments, "timeout_ms": 1000});
            bridge.request("mcp_call_tool", &fields)
        })
        .collect();
    assert_eq!(bridge.send_tool("s", "big", &json!({"bytes": 1})).wait(PROMPT).unwrap().content_text(), "x");
    for call in calls {
        assert_eq!(call.wait(PROMPT).unwrap_err().code, "ERR_TOOL_TIMEOUT");
    }
    assert_eq!(bridge.call("mcp_disconnect", &json!({"server_id": "deaf"})).unwrap()["disconnected"], true);
}

#[test]
fn a_disconnect_in_mid_call_ends_the_call_and_later_ones_are_refused() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    let double = Double::sound(&home);
    let server = Process::named_by(&bridge.add_and_connect("s", &double)["pid"]);
    let call = long_call(&bridge, &double);
    let answer = bridge.call("mcp_disconnect", &json!({"server_id": "s"})).unwrap();
    assert_eq!(answer["disconnected"], true);
    assert_unavailable(&call);
    assert_gone(&[server], PROMPT);
    assert_unavailable(&bridge.send_tool("s", "echo", &json!({})));
    assert_eq!((bridge.server("s")["state"].clone(), bridge.connection("s")), (json!("stopped"), None));
    let again = bridge.call("mcp_disconnect", &json!({"server_id": "s"})).unwrap();
    assert_eq!(again["disconnected"], false);
    bridge.connect("s");
    assert_eq!(bridge.tool_text("s", "sleep", &json!({"ms": 1})), "slept");
}

#[test]
fn a_removed_or_replaced_server_is_stopped_first() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    let first = Process::named_by(&bridge.add_and_connect("s", &Double::sound(&home))["pid"]);
    let replaced = bridge.call("add_server", &Double::sound(&home).definition("s")).unwrap();
    assert_eq!((&replaced["replaced"], &replaced["server"]["state"]), (&json!(true), &json!("stopped")));
    assert_gone(&[first], PROMPT);
    let second = Process::named_by(&bridge.connect("s")["pid"]);
    assert_eq!(bridge.call("remove_server", &json!({"server_id": "s"})).unwrap()["removed"], true);
    assert_gone(&[second], PROMPT);
    assert_eq!(bridge.call("mcp_connect", &json!({"server_id": "s"})).unwrap_err().code, "not_found");
}

/// It would still answer while it is asked to end.
#[test]
fn a_call_ends_with_the_definition_of_its_server_and_its_answer_is_nobodys() {
    for replaces in [false, true] {
        let home = Home::new();
        let bridge = Bridge::start(&home);
        let double = Double::new(&home, Fault::IgnoresShutdown);
        bridge.add_and_connect("s", &double);
        let call = bridge.send_tool("s", "sleep", &json!({"ms": 300}));
        wait_until("the call", LIMIT, || double.journal().count("call sleep") == 1);
        match replaces {
            true => bridge.call("add_server", &double.definition("s")).unwrap(),
            false => bridge.call("remove_server", &json!({"server_id": "s"})).unwrap(),
        };
        let error = call.wait(PROMPT).unwrap_err();
        let said = (error.code.as_str(), &error.details["cause"], &error.details["sent"]);
        assert_eq!(said, ("ERR_SERVER_UNAVAILABLE", &json!("server_removed"), &json!(true)), "{error:?}");
    }
}

/// The second comes before the first has seen the old process end: the server of the first is nobody's before it ever ran.
#[test]
fn a_server_that_is_changed_twice_at_once_runs_once_with_the_later_settings() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    let first =
        Process::named_by(&bridge.add_and_connect("s", &Double::new(&home, Fault::IgnoresShutdown))["pid"]);
    let held =
        || bridge.call("get_sandbox", &json!({"server_id": "s"})).unwrap()["sandbox"]["settings"].clone();
    let changes = [6, 7].map(|nice| {
        let change = bridge.request("set_sandbox", &json!({"server_id": "s", "sandbox": {"nice": nice}}));
        wait_until("the change to be there", LIMIT, || held()["nice"] == nice);
        assert!(!first.is_gone(), "it takes its time to end");
        change
    });
    for change in changes {
        assert_eq!(change.wait(LIMIT).unwrap()["restarting"], true);
    }
    wait_until("the last one to run", LIMIT, || bridge.server("s")["state"] == "running");
    assert_gone(&[first], PROMPT);
    let running = Process::named_by(&bridge.server("s")["pid"]);
    let tree = bridge.tree();
    let servers = tree.iter().filter(|process| process.command_line() == running.command_line());
    assert_eq!(servers.collect::<Vec<_>>(), [&running], "{}", describe(&tree));
}

#[test]
fn a_killed_runner_takes_its_server_along_and_ends_the_calls() {
    for isolation in ["1", "0"] {
        let home = Home::new();
        let bridge = Bridge::start_with(&home, &[("HARBOR_MCP_ISOLATION", isolation)]);
        let (double, deaf) = (Double::sound(&home), Double::new(&home, Fault::IgnoresShutdown));
        bridge.add_and_connect("s", &double);
        bridge.add_and_connect("deaf", &deaf);
        let listed = bridge.server("deaf");
        let (runner, server) = (Process::named_by(&listed["runner_pid"]), Process::named_by(&listed["pid"]));
        let own = bridge.server("s")["runner_pid"] == listed["runner_pid"];
        assert_eq!(own, isolation == "0", "one runner for each, or one for all");
        let call = bridge.send_tool("deaf", "sleep", &json!({"ms": LONG_MS}));
        let _ = deaf.journal().wait_for("call sleep");
        runner.signal(Signal::SIGKILL);
        assert_unavailable(&call);
        assert_gone(&[runner, server], PROMPT);
        assert_eq!(
            bridge.server("s")["state"] == "running",
            isolation == "1",
            "the other one is not concerned"
        );
        // A user's start works at once.
        wait_until("the dead server not to be running", PROMPT, || {
            bridge.server("deaf")["state"] != "running"
        });
        bridge.connect("deaf");
        assert_eq!(bridge.tool_text("deaf", "sleep", &json!({"ms": 1})), "slept");
    }
}
