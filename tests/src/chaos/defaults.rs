//! The second run: as many restarts as there are by default, only sooner. Which servers end as Failed is known then.

use harbor_ipc_proto::client::DisconnectServer;
use harbor_tests::client::server_id;
use harbor_tests::{Bridge, Double, Fault, Home, LIMIT, PROMPT, Process, wait_until};
use nix::sys::signal::Signal;
use serde_json::json;

/// So many by default.
const RESTARTS: u32 = 3;

/// Panics with what is not as it should be.
pub fn run() {
    let home = Home::new();
    let bridge = Bridge::foreground(&home);
    bridge.add_and_connect("stopped", &soon(Double::sound(&home)));
    bridge.reply(&DisconnectServer { server_id: server_id("stopped") }).expect("it can be stopped");
    never_connected(&home, &bridge);
    dies_on_each_call(&home, &bridge);
    killed_once(&home, &bridge);
    assert_state(&bridge, "stopped", "stopped");
    let refused = bridge.tool("stopped", "echo", &json!({})).expect_err("nothing starts it");
    assert_eq!(refused.code, "ERR_SERVER_UNAVAILABLE", "{refused:?}");
    assert_state(&bridge, "hopeless", "failed");
}

fn soon(double: Double) -> Double {
    double.supervision(&json!({"restart_delays_ms": [50, 100, 150]}))
}

fn assert_state(bridge: &Bridge, id: &str, wanted: &str) {
    let server = bridge.server_view(id);
    assert_eq!(server.state, wanted, "{server:?}");
}

fn never_connected(home: &Home, bridge: &Bridge) {
    let double = soon(Double::new(home, Fault::ExitsAtOnce));
    bridge.add("hopeless", &double);
    assert_eq!(bridge.fail_to_connect("hopeless").code, "connection_failed");
    let server = bridge.server_view("hopeless");
    assert_eq!((&*server.state, server.restarts), ("failed", 0), "{server:?}");
}

/// No call comes once it has failed: that one would be let through as a new try.
fn dies_on_each_call(home: &Home, bridge: &Bridge) {
    let double = soon(Double::new(home, Fault::DiesOnEachCall));
    bridge.add_and_connect("doomed", &double);
    wait_until("a server that dies on each call to be given up", LIMIT, || {
        if bridge.server_view("doomed").state == "failed" {
            return true;
        }
        let error = bridge.tool("doomed", "echo", &json!({})).expect_err("it dies");
        assert_eq!(error.code, "ERR_SERVER_UNAVAILABLE", "{error:?}");
        false
    });
    let server = bridge.server_view("doomed");
    assert_eq!(server.restarts, RESTARTS, "{server:?}");
    assert_eq!(
        double.journal().count("call"),
        usize::try_from(RESTARTS).unwrap_or_default() + 1,
        "{server:?}"
    );
}

fn killed_once(home: &Home, bridge: &Bridge) {
    bridge.add_and_connect("victim", &soon(Double::sound(home)));
    let first = bridge.server_view("victim").pid.and_then(Process::of).expect("it runs");
    first.signal(Signal::SIGKILL);
    wait_until("a killed server to run again", PROMPT, || {
        let server = bridge.server_view("victim");
        server.state == "running" && server.pid != Some(first.pid)
    });
    assert_eq!(bridge.tool_text("victim", "sleep", &json!({"ms": 1})), "slept");
    assert_eq!(bridge.server_view("victim").restarts, 1);
}
