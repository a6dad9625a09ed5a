//! Servers that end against the person's will: when they are started again, how often, and who hears of it.

use std::time::Instant;

use harbor_tests::faults::EXIT_IN_CALL;
use harbor_tests::processes::{Process, assert_gone};
use harbor_tests::{Bridge, Client, Double, Fault, Home, PROMPT, wait_until};
use nix::sys::signal::Signal;
use serde_json::{Value, json};

/// Three restarts, as by default, but soon.
fn soon(home: &Home, fault: Fault) -> Double {
    Double::new(home, fault).supervision(&json!({"restart_delays_ms": [50, 100, 150]}))
}

fn works(bridge: &Bridge, id: &str) {
    assert_eq!(bridge.tool_text(id, "sleep", &json!({"ms": 1})), "slept");
}

#[test]
fn a_killed_server_comes_back_with_its_lists_and_everybody_hears_of_it() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    bridge.watch();
    let double = soon(&home, Fault::None);
    let server = Process::named_by(&bridge.add_and_connect("s", &double)["pid"]);
    let before = bridge.wait_for_state("s", "running");
    assert_eq!(before["pid"], server.pid);
    server.signal(Signal::SIGKILL);

    let crashed = bridge.wait_for_state("s", "crashed");
    assert_eq!((&crashed["old_state"], &crashed["cause"]), (&json!("running"), &json!("signalled")));
    assert_eq!(crashed["attempt"], 1);
    let delay = crashed["next_retry"].as_u64().unwrap() - crashed["timestamp"].as_u64().unwrap();
    assert!((40..=60).contains(&delay), "{crashed}");
    assert!(crashed["message"].as_str().unwrap().contains("SIGKILL"), "{crashed}");
    assert_eq!(bridge.wait_for_state("s", "starting")["attempt"], 1);
    let running = bridge.wait_for_state("s", "running");
    assert_ne!(running["pid"], server.pid);

    works(&bridge, "s");
    let shown = bridge.server("s");
    assert_eq!((&shown["restarts"], &shown["attempt"]), (&json!(1), &json!(1)));
    assert_eq!(
        (&shown["last_exit"]["cause"], &shown["last_exit"]["signal"]),
        (&json!("signalled"), &json!(9))
    );
    assert!(shown["last_error"].as_str().unwrap().contains("SIGKILL"), "{shown}");
    assert!(shown["tool_count"].as_u64().unwrap() > 1, "the lists are fetched again: {shown}");
    assert_eq!(double.journal().count("request initialize"), 2, "contact is made anew");
}

#[test]
fn a_server_that_dies_on_each_call_is_given_up_after_three_restarts() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    bridge.watch();
    let double = soon(&home, Fault::DiesOnEachCall);
    bridge.add_and_connect("s", &double);
    for _ in 0..4 {
        let error = bridge.tool("s", "echo", &json!({})).unwrap_err();
        assert_eq!((error.code.as_str(), &error.details["sent"]), ("ERR_SERVER_UNAVAILABLE", &json!(true)));
        assert_eq!(error.details["cause"], "exited", "{error:?}");
    }
    let failed = bridge.wait_for_state("s", "failed");
    assert_eq!(failed["cause"], "exited");
    let shown = bridge.server("s");
    assert_eq!((&shown["state"], &shown["restarts"]), (&json!("failed"), &json!(3)));
    assert_eq!(shown["last_exit"]["exit_code"], EXIT_IN_CALL);
    assert_eq!(double.journal().count("start"), 4);
    assert_eq!(double.journal().count("call echo"), 4, "no call is sent twice");
    let said = bridge.said(" ERROR ");
    let of = |level: &str| said.lines().filter(|line| line.contains(level)).collect::<Vec<_>>();
    let crashes = of(" WARN crashed");
    assert_eq!((crashes.len(), of(" ERROR ").len()), (3, 1), "{said}");
    let exit = format!("server=s cause=\"exited\" exit_code={EXIT_IN_CALL} restart=1 retry_in_ms=");
    assert!(crashes[0].contains(&exit), "{said}");
    let gone = format!(
        "failed: Harbor does not restart it server=s cause=\"exited\" exit_code={EXIT_IN_CALL} restarts=3"
    );
    assert!(of(" ERROR ")[0].ends_with(&gone), "{said}");

    // It is refused at once now, and the refusal says when a call may try again.
    let begin = Instant::now();
    let error = bridge.tool("s", "echo", &json!({})).unwrap_err();
    assert!(begin.elapsed() < PROMPT);
    assert_eq!(
        (&error.details["state"], &error.details["sent"]),
        (&json!("failed"), &json!(false)),
        "{error:?}"
    );
    let in_ms = error.details["next_retry"].as_u64().unwrap() - failed["timestamp"].as_u64().unwrap();
    assert!((59_000..=61_000).contains(&in_ms), "once a minute: {error:?}");

    // A person's start is a fresh beginning.
    bridge.connect("s");
    let shown = bridge.server("s");
    assert_eq!(
        (&shown["state"], &shown["restarts"], &shown["attempt"]),
        (&json!("running"), &json!(0), &json!(0))
    );
}

#[test]
fn a_server_that_never_connected_is_failed_at_once() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    let double = soon(&home, Fault::ExitsAtOnce);
    bridge.add("s", &double);
    let error = bridge.fail_to_connect("s");
    assert_eq!(error.details["cause"], "exited");
    let starts = double.journal().count("start");
    assert_eq!(bridge.server("s")["state"], "failed");
    let error = bridge.tool("s", "echo", &json!({})).unwrap_err();
    assert_eq!(error.details["next_retry"], Value::Null, "only a person can start it: {error:?}");
    assert_eq!(double.journal().count("start"), starts);
}

#[test]
fn always_means_also_one_that_never_connected() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    bridge.watch();
    let double =
        soon(&home, Fault::ExitsAtOnce).supervision(&json!({"restart": "always", "restart_attempts": 2}));
    bridge.add("s", &double);
    let error = bridge.fail_to_connect("s");
    assert_eq!(error.details["cause"], "exited", "the start is answered without waiting for more");
    let _ = bridge.wait_for_state("s", "failed");
    assert_eq!(bridge.server("s")["restarts"], 2);
}

#[test]
fn never_means_never() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    let double = soon(&home, Fault::None).supervision(&json!({"restart": "never"}));
    bridge.add_and_connect("s", &double);
    assert!(bridge.tool("s", "die", &json!({})).is_err());
    let shown = bridge.server("s");
    assert_eq!(
        (&shown["state"], &shown["next_retry"]),
        (&json!("failed"), &Value::Null),
        "nor on demand: {shown}"
    );
    assert_eq!(double.journal().count("start"), 1);
}

#[test]
fn an_end_with_code_zero_is_one_that_nobody_asked_for_too() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    bridge.add_and_connect("s", &soon(&home, Fault::None));
    let error = bridge.tool("s", "exit", &json!({"code": 0})).unwrap_err();
    assert_eq!(error.details["cause"], "exited");
    works(&bridge, "s");
    assert_eq!(bridge.exit("s")["exit_code"], 0);
}

#[test]
fn a_stop_wins_over_a_restart() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    bridge.watch();
    let double = Double::sound(&home).supervision(&json!({"restart_delays_ms": [3_600_000]}));
    bridge.add_and_connect("s", &double);
    assert!(bridge.tool("s", "die", &json!({})).is_err());
    assert_eq!(bridge.server("s")["state"], "crashed");
    let waits = bridge.send_tool("s", "sleep", &json!({"ms": 1}));
    let stopped = bridge.call("mcp_disconnect", &json!({"server_id": "s"})).unwrap();
    assert_eq!(stopped["disconnected"], true);
    assert_eq!(waits.wait(PROMPT).unwrap_err().details["state"], "stopped");
    // A stop holds: no call starts it.
    let error = bridge.tool("s", "sleep", &json!({"ms": 1})).unwrap_err();
    assert_eq!((&error.details["cause"], &error.details["sent"]), (&json!("stopped"), &json!(false)));
    assert_eq!(double.journal().count("start"), 1);
    bridge.connect("s");
    works(&bridge, "s");
}

#[test]
fn a_person_need_not_wait_for_a_restart() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    bridge
        .add_and_connect("s", &Double::sound(&home).supervision(&json!({"restart_delays_ms": [3_600_000]})));
    assert!(bridge.tool("s", "die", &json!({})).is_err());
    bridge.connect("s");
    works(&bridge, "s");
    assert_eq!(bridge.server("s")["attempt"], 0);
}

#[test]
fn a_killed_runner_is_replaced_for_every_server_that_it_had() {
    for isolation in ["1", "0"] {
        let home = Home::new();
        let bridge = Bridge::start_with(&home, &[("HARBOR_MCP_ISOLATION", isolation)]);
        bridge.watch();
        for id in ["a", "b"] {
            bridge.add_and_connect(id, &soon(&home, Fault::IgnoresShutdown));
        }
        let [a, b] = ["a", "b"].map(|id| bridge.server(id));
        let old = [Process::named_by(&a["runner_pid"]), Process::named_by(&a["pid"])];
        old[0].signal(Signal::SIGKILL);
        let crashed = bridge.wait_for_state("a", "crashed");
        assert_eq!(crashed["cause"], "runner_lost", "{crashed}");
        assert_gone(&old, PROMPT);
        for id in ["a", "b"] {
            works(&bridge, id);
        }
        let now = bridge.server("b");
        assert_eq!(now["pid"] == b["pid"], isolation == "1", "the other one is not concerned");
        assert_ne!(bridge.server("a")["runner_pid"], a["runner_pid"]);
    }
}

#[test]
fn restarts_leave_nothing_behind() {
    for isolation in ["1", "0"] {
        let home = Home::new();
        let bridge = Bridge::start_with(&home, &[("HARBOR_MCP_ISOLATION", isolation)]);
        bridge.add_and_connect("other", &Double::new(&home, Fault::DetachedGrandchild));
        bridge.add_and_connect("s", &Double::new(&home, Fault::Daemon).quick_restarts());
        for _ in 0..20 {
            assert!(bridge.tool("s", "die", &json!({})).is_err());
            works(&bridge, "s");
        }
        assert_eq!(bridge.server("s")["restarts"], 20);
        assert_eq!(bridge.server("other")["restarts"], 0);
        // The bridge; for each server its runner, the namespace's init where there is one, it itself and its child.
        let tree = bridge.tree();
        assert!(tree.len() <= 9, "{}", harbor_tests::processes::describe(&tree));
        let doubles = tree.iter().filter(|one| one.command_line().contains("misbehaving-server")).count();
        assert_eq!(doubles, 4, "{}", harbor_tests::processes::describe(&tree));
    }
}

#[test]
fn settings_that_make_no_sense_are_refused_by_name() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    for (settings, field) in [
        (json!({"restart": "sometimes"}), "restart"),
        (json!({"restart_attempts": -1}), "restart_attempts"),
        (json!({"restart_delays_ms": []}), "restart_delays_ms"),
        (json!({"queue_wait_ms": 600_001}), "queue_wait_ms"),
        (json!({"idle_stop_ms": 5}), "idle_stop_ms"),
        (json!({"lasy": true}), "supervision"),
        (json!([]), "supervision"),
    ] {
        let mut definition = Double::sound(&home).definition("s");
        definition["supervision"] = settings;
        let error = bridge.call("add_server", &definition).unwrap_err();
        assert_eq!(
            (error.code.as_str(), &error.details["field"]),
            ("invalid_params", &json!(field)),
            "{error:?}"
        );
    }
}

#[test]
fn subscriptions_survive_a_restart_and_end_with_their_client() {
    for modern in [false, true] {
        let home = Home::new();
        let bridge = Bridge::foreground(&home);
        let double = soon(&home, Fault::None);
        let double = if modern { double.modern() } else { double };
        bridge.add_and_connect("s", &double);
        let listed = bridge.call("mcp_list_resources", &json!({"server_id": "s"})).unwrap();
        let uri = listed["resources"][0]["uri"].clone();
        let about = json!({"server_id": "s", "uri": uri});
        let other = Client::attach(&home);
        other.call("mcp_subscribe_resource", &about).unwrap();
        assert!(bridge.tool("s", "die", &json!({})).is_err());
        works(&bridge, "s");
        let asked = if modern { "request subscriptions/listen" } else { "request resources/subscribe" };
        wait_until("the new start to be asked", PROMPT, || double.journal().count(asked) >= 2);
        works(&bridge, "s");
        bridge.tool("s", "touch", &json!({"uri": uri})).unwrap();
        assert_eq!(other.next_push("resource_updated", PROMPT)["uri"], uri, "it is still subscribed");
        let before = double.journal().count(asked);
        other.close();
        let given_up = || match modern {
            true => double.journal().count(asked) > before,
            false => double.journal().count("request resources/unsubscribe") == 1,
        };
        wait_until("the server to be told that nobody is interested", PROMPT, given_up);
    }
}

#[test]
fn a_stop_is_answered_although_somebody_starts_the_server_meanwhile() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    bridge.watch();
    bridge.add_and_connect("s", &soon(&home, Fault::IgnoresShutdown));
    let before = bridge.server("s")["pid"].clone();
    let stop = bridge.request("mcp_disconnect", &json!({"server_id": "s"}));
    let _ = bridge.wait_for_state("s", "stopping");
    let start = bridge.request("mcp_connect", &json!({"server_id": "s"}));
    assert_eq!(stop.wait(PROMPT).unwrap()["disconnected"], true);
    start.wait(PROMPT).unwrap();
    assert_ne!(bridge.server("s")["pid"], before);
}

/// However often a definition is replaced, no two processes of one name live at the same time: they share a directory.
#[test]
fn a_replaced_server_is_gone_before_its_successors_successor_starts() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    bridge.watch();
    let deaf = soon(&home, Fault::IgnoresShutdown);
    let first = Process::named_by(&bridge.add_and_connect("s", &deaf)["pid"]);
    let second = bridge.request("add_server", &soon(&home, Fault::None).definition("s"));
    let _ = bridge.wait_for_state("s", "removed");
    // Its own start may take no longer than it needs: the time of others is not counted.
    let third = soon(&home, Fault::None).start_timeout_ms(1000);
    bridge.call("add_server", &third.definition("s")).unwrap();
    assert!(!first.is_gone(), "it takes its time");
    bridge.request("mcp_connect", &json!({"server_id": "s"})).wait(PROMPT).unwrap();
    assert!(first.is_gone(), "two processes at once");
    second.wait(PROMPT).unwrap();
    assert_eq!(third.journal().count("start"), 1);
}
