//! The status: what it says of a bridge and its servers, what subscribers are told, and that it fits its schema.

use std::io::Write as _;

use harbor_ipc_proto::client::status_schema;
use harbor_ipc_proto::frame::put_frame;
use harbor_tests::{Bridge, Client, Double, Fault, Home, LIMIT, wait_until};
use serde_json::{Value, json};

fn status(client: &Client, fresh: bool) -> Value {
    client.call("status", &json!({"fresh": fresh})).unwrap()["status"].clone()
}

fn server<'a>(status: &'a Value, id: &str) -> &'a Value {
    let servers = status["servers"].as_array().unwrap();
    servers.iter().find(|server| server["id"] == id).unwrap()
}

/// Waits for a push that says this of a server.
fn wait_for(client: &Client, id: &str, field: &str, wanted: &str) -> Value {
    client.wait_for_push("status_update", LIMIT, |push| {
        push["category"] == "server" && push["servers"][0]["id"] == id && push["servers"][0][field] == wanted
    })
}

#[test]
fn the_status_fits_its_schema_and_says_what_happens() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    bridge.add_and_connect("sound", &Double::sound(&home));
    bridge.add_and_connect("dies", &Double::sound(&home).supervision(&json!({"restart": "never"})));
    bridge.tool("sound", "echo", &json!({"text": "x"})).unwrap();
    assert!(bridge.tool("dies", "die", &json!({})).is_err());
    let never = json!({"server_id": "never", "command": "/bin/true"});
    bridge.call("add_server", &never).unwrap();

    let remembered = status(&bridge, false);
    let measured = status(&bridge, true);
    let schema = jsonschema::validator_for(&status_schema()).unwrap();
    for status in [&remembered, &measured] {
        let errors: Vec<_> = schema.iter_errors(status).map(|error| error.to_string()).collect();
        assert_eq!(errors, [""; 0], "{status:#}");
    }

    assert_eq!(server(&remembered, "sound")["usage"], Value::Null, "nobody has wanted to know");
    let sound = server(&measured, "sound");
    let (state, calls) = (sound["state"].as_str(), sound["calls"]["calls"].as_u64());
    assert_eq!((state, calls, &sound["calls"]["failures"]), (Some("running"), Some(1), &json!(0)));
    assert_eq!(bridge.tool("sound", "tool_error", &json!({})).unwrap()["result"]["isError"], true);
    let counts = server(&status(&bridge, false), "sound")["calls"].clone();
    assert_eq!([&counts["calls"], &counts["failures"], &counts["toolErrors"]], [2, 0, 1]);
    assert_eq!(
        (&sound["sandbox"], &sound["in_flight"], &sound["queued"]),
        (&json!("standard"), &json!(0), &json!(0))
    );
    let usage = &sound["usage"];
    assert!(usage["memory"].as_u64().unwrap() > 100_000, "{usage}");
    // The runner, its init, and the server.
    assert!(
        usage["processes"].as_u64().unwrap() >= 2 && usage["open_files"].as_u64().unwrap() > 5,
        "{usage}"
    );
    wait_until("the runner to answer", LIMIT, || server(&status(&bridge, false), "sound")["ipc_us"].is_u64());

    let _ = bridge.call("mcp_disconnect", &json!({"server_id": "sound"}));
    bridge.connect("sound");
    assert_eq!(
        server(&status(&bridge, false), "sound")["usage"],
        Value::Null,
        "nothing of this process is known"
    );

    let dies = server(&measured, "dies");
    assert_eq!((&dies["state"], &dies["last_cause"]), (&json!("failed"), &json!("exited")));
    assert_eq!((&dies["usage"], dies["log_lines"].as_u64()), (&Value::Null, Some(2)));
    assert_eq!(server(&measured, "never")["calls"], Value::Null);
    let health = &measured["health"];
    assert_eq!((&health["state"], &health["reasons"][0]["server"]), (&json!("degraded"), &json!("dies")));
    assert_eq!(bridge.call("health", &json!({})).unwrap()["health"], *health);

    let of_bridge = &measured["bridge"];
    assert_eq!(of_bridge["clients"], json!({"owner": 1, "extension": 0, "mcp": 0}));
    assert_eq!((&of_bridge["open_requests"], &of_bridge["calls"]["calls"]), (&json!(1), &json!(2)));
    assert_eq!(of_bridge["pid"], bridge.process().pid);
    assert!(measured["stores"]["database"].as_u64().unwrap() > 0, "{measured:#}");
}

#[test]
fn a_subscriber_is_told_of_servers_clients_and_numbers() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    let watcher = Client::attach(&home);
    let begun = watcher.call("subscribe_status", &json!({"interval_ms": 500})).unwrap();
    assert_eq!((&begun["subscribed"], &begun["status"]["servers"]), (&json!(true), &json!([])));
    let double = Double::new(&home, Fault::None).quick_restarts();
    bridge.add_and_connect("s", &double);
    wait_for(&watcher, "s", "state", "running");
    // Measured at once, and not when it would be time for it.
    assert_eq!(server(&status(&bridge, true), "s")["state"], "running");
    let numbers = watcher.wait_for_push("status_update", LIMIT, |push| {
        push["category"] == "numbers" && push["servers"][0]["usage"]["memory"].as_u64().is_some()
    });
    assert!(numbers["stores"]["database"].is_u64(), "{numbers}");
    assert!(bridge.tool("s", "die", &json!({})).is_err());
    let crashed = wait_for(&watcher, "s", "last_cause", "exited");
    assert!(crashed["health"]["state"].is_string());
    let another = Client::attach(&home);
    let clients = |number: u64| {
        watcher.wait_for_push("status_update", LIMIT, |push| push["bridge"]["clients"]["owner"] == number)
    };
    clients(3);
    another.close();
    clients(2);
    bridge.call("remove_server", &json!({"server_id": "s"})).unwrap();
    let _ = watcher.wait_for_push("status_update", LIMIT, |push| push["removed"] == "s");

    let wrong = watcher.call("subscribe_status", &json!({"interval_ms": 1})).unwrap_err();
    assert_eq!((wrong.code.as_str(), &wrong.details["field"]), ("invalid_params", &json!("interval_ms")));
    let ended = watcher.call("subscribe_status", &json!({"subscribe": false})).unwrap();
    assert_eq!(ended["subscribed"], false);
}

#[test]
fn a_subscriber_that_does_not_read_is_cut_off_and_delays_nobody() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    let mut deaf = home.dial();
    let token = std::fs::read_to_string(home.run_file("token")).unwrap();
    let attach = json!({"type": "attach", "request_id": "1", "token": token.trim(), "role": "cli"});
    let subscribe = json!({"type": "subscribe_status", "request_id": "2", "interval_ms": 500});
    let mut frames = Vec::new();
    for request in [attach, subscribe] {
        put_frame(&mut frames, |out| out.extend_from_slice(request.to_string().as_bytes()));
    }
    deaf.write_all(&frames).unwrap();
    let owners = || status(&bridge, false)["bridge"]["clients"]["owner"].as_u64().unwrap();
    wait_until("the subscriber to be there", LIMIT, || owners() == 2);
    // A long label makes long pushes.
    let definition = json!({"server_id": "s", "command": "/bin/true", "label": "x".repeat(100_000)});
    wait_until("it to be cut off", LIMIT, || {
        bridge.call("add_server", &definition).unwrap();
        owners() == 1
    });
}

#[test]
fn only_the_owner_sees_the_status() {
    let home = Home::new();
    let _bridge = Bridge::start(&home);
    let client = Client::attach_ai(&home, "curious");
    for message in ["status", "subscribe_status", "health"] {
        assert_eq!(client.call(message, &json!({})).unwrap_err().code, "ERR_PERMISSION_DENIED", "{message}");
    }
}
