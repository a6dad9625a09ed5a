//! A place among the calls of an origin comes back, however the call ends.

use harbor_tests::{Asker, Bridge, Client, Double, Home, LIMIT, PROMPT, wait_until};
use serde_json::json;

use super::{FOR_EVER, cancel, hold, queue, quick, scene, under_way, waiting};

const CONFIG: &str = "[limits]\nmaxCallsPerRun = 1\ncallsPerMinutePerOrigin = 0\n\
                      [limits.server.scarce]\ncallsPerMinutePerServer = 1\n";

struct Stage {
    home: Home,
    double: Double,
    bridge: Bridge,
    page: Asker,
}

/// A call of a tool with these arguments ends with this code; none: with a result.
fn ends(page: &Asker, tool: &str, args: &serde_json::Value, code: Option<&str>) {
    let ended = page.call(tool, args).err().map(|error| error.code);
    assert_eq!(ended.as_deref(), code, "{tool}");
}

/// Two calls are made at once, and a third one waits: as many places as there ever were.
fn all_places_are_there(stage: &Stage, after: &str) {
    let Stage { double, bridge, page, .. } = stage;
    wait_until(after, PROMPT, || (under_way(page), waiting(page)) == (0, 0));
    let held = [hold(page, double), hold(page, double)];
    let third = queue(page, "s/echo", &json!({}));
    assert_eq!((under_way(page), waiting(page)), (2, 1), "{after}");
    cancel(bridge, &third);
    held.iter().for_each(|call| cancel(bridge, call));
    wait_until(after, PROMPT, || (under_way(page), waiting(page)) == (0, 0));
}

type Ending = (&'static str, fn(&Stage));

const ENDINGS: &[Ending] = &[
    ("a result", |stage| ends(&stage.page, "s/echo", &json!({}), None)),
    ("a failure of the tool", |stage| ends(&stage.page, "s/tool_error", &json!({}), None)),
    ("an error of the server", |stage| ends(&stage.page, "s/fail", &json!({}), Some("ERR_TOOL_FAILED"))),
    ("a tool that is not there", |stage| {
        ends(&stage.page, "s/nothing", &json!({}), Some("ERR_TOOL_NOT_FOUND"));
        ends(&stage.page, "nobody/nothing", &json!({}), Some("ERR_TOOL_NOT_FOUND"));
    }),
    ("wrong arguments", |stage| ends(&stage.page, "strict/t", &json!({}), Some("invalid_params"))),
    ("a server that is stopped", |stage| {
        ends(&stage.page, "off/echo", &json!({}), Some("ERR_SERVER_UNAVAILABLE"));
    }),
    ("a server that has had too many", |stage| {
        let _ = stage.page.call("scarce/echo", &json!({}));
        ends(&stage.page, "scarce/echo", &json!({}), Some("ERR_RATE_LIMITED"));
    }),
    ("a tool that is not allowed", |stage| {
        let guest = stage.bridge.asking("https://guest.example");
        guest.granted("mcp:tools.call", "ALLOW_ONCE", &json!({"allowed_tools": ["s/echo"]}));
        ends(&guest, "s/sleep", &json!({}), Some("ERR_TOOL_NOT_ALLOWED"));
        assert_eq!(under_way(&guest), 0);
    }),
    ("a timeout", |stage| {
        let args = json!({"ms": FOR_EVER});
        let error = stage.page.call_with("s/sleep", &args, &json!({"timeout_ms": 100})).unwrap_err();
        assert_eq!(error.code, "ERR_TOOL_TIMEOUT");
    }),
    ("a cancel", |stage| cancel(&stage.bridge, &hold(&stage.page, &stage.double))),
    ("a cancel of one that waits, and a timeout of another", |stage| {
        let held = [hold(&stage.page, &stage.double), hold(&stage.page, &stage.double)];
        cancel(&stage.bridge, &queue(&stage.page, "s/echo", &json!({})));
        let late = stage.page.call_with("s/echo", &json!({}), &json!({"timeout_ms": 50})).unwrap_err();
        assert_eq!(late.code, "ERR_RATE_LIMITED");
        held.iter().for_each(|call| cancel(&stage.bridge, call));
    }),
    ("a client that vanishes", |stage| {
        let client = Client::attach(&stage.home);
        let _held = hold(&stage.page.over(&client), &stage.double);
        let _other = hold(&stage.page.over(&client), &stage.double);
        let _waits = queue(&stage.page.over(&client), "s/echo", &json!({}));
        client.close();
    }),
    ("a client that vanishes while its call waits", |stage| {
        let held = [hold(&stage.page, &stage.double), hold(&stage.page, &stage.double)];
        let client = Client::attach(&stage.home);
        let _waits = queue(&stage.page.over(&client), "s/echo", &json!({}));
        client.close();
        wait_until("the call to be given up", PROMPT, || waiting(&stage.page) == 0);
        held.iter().for_each(|call| cancel(&stage.bridge, call));
    }),
    ("a permission that is taken back meanwhile", |stage| {
        let guest = stage.bridge.asking("https://guest.example");
        guest.granted("mcp:tools.call", "ALLOW_ONCE", &json!({}));
        let held = [hold(&guest, &stage.double), hold(&guest, &stage.double)];
        let waits = queue(&guest, "s/echo", &json!({}));
        guest.ask("host_revoke_permission", &json!({"scope": "mcp:tools.call"})).unwrap();
        for call in held.iter().chain([&waits]) {
            assert_eq!(call.wait(LIMIT).unwrap_err().code, "ERR_SCOPE_REQUIRED");
        }
        wait_until("its place to be free", PROMPT, || under_way(&guest) == 0);
    }),
    ("a run that has made its calls", |stage| {
        let run = json!({"run_id": stage.page.run(1)});
        assert!(stage.page.call_with("s/echo", &json!({}), &run).is_ok());
        let error = stage.page.call_with("s/echo", &json!({}), &run).unwrap_err();
        assert_eq!(error.code, "ERR_BUDGET_EXCEEDED");
        stage.page.ask("host_end_run", &run).unwrap();
    }),
    ("a crash of the server", |stage| {
        let held = hold(&stage.page, &stage.double);
        ends(&stage.page, "s/die", &json!({}), Some("ERR_SERVER_UNAVAILABLE"));
        assert_eq!(held.wait(PROMPT).unwrap_err().code, "ERR_SERVER_UNAVAILABLE");
    }),
    ("a crash of the runner", |stage| {
        let held = [hold(&stage.page, &stage.double), hold(&stage.page, &stage.double)];
        let runner = harbor_tests::Process::named_by(&stage.bridge.server("s")["runner_pid"]);
        runner.signal(nix::sys::signal::Signal::SIGKILL);
        for call in held {
            assert_eq!(call.wait(PROMPT).unwrap_err().code, "ERR_SERVER_UNAVAILABLE");
        }
    }),
    ("a server that is stopped under its calls", |stage| {
        let held = [hold(&stage.page, &stage.double), hold(&stage.page, &stage.double)];
        let waits = queue(&stage.page, "s/echo", &json!({}));
        stage.bridge.call("mcp_disconnect", &json!({"server_id": "s"})).unwrap();
        for call in [&held[0], &held[1], &waits] {
            assert_eq!(call.wait(PROMPT).unwrap_err().code, "ERR_SERVER_UNAVAILABLE");
        }
        stage.bridge.connect("s");
    }),
    ("a call that waits for a server that is removed", |stage| {
        stage.bridge.add_and_connect("brief", &Double::sound(&stage.home));
        let held = [hold(&stage.page, &stage.double), hold(&stage.page, &stage.double)];
        let waits = queue(&stage.page, "brief/echo", &json!({}));
        stage.bridge.call("remove_server", &json!({"server_id": "brief"})).unwrap();
        held.iter().for_each(|call| cancel(&stage.bridge, call));
        assert!(waits.wait(PROMPT).is_err());
    }),
];

#[test]
fn places_come_back_after_every_ending() {
    let home = Home::new();
    let double = Double::sound(&home).quick_restarts();
    let (bridge, page) = scene(&home, CONFIG, &double);
    bridge.add("off", &Double::sound(&home).manual());
    bridge.add_and_connect("scarce", &Double::sound(&home));
    let strict = r#"[{"name": "t", "inputSchema": {"type": "object", "required": ["n"]}}]"#;
    bridge.add_and_connect("strict", &Double::sound(&home).offering(strict));
    let stage = Stage { home, double, bridge, page };
    for (after, end) in ENDINGS {
        end(&stage);
        all_places_are_there(&stage, after);
    }
    quick(&stage.page).unwrap();
    let Stage { bridge, home, .. } = stage;
    drop((bridge, home));
}
