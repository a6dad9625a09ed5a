//! Changing what a server may do: what cannot be followed is refused when it is asked for, and a server that runs goes on
//! running with what it has.

use std::fs;
use std::path::PathBuf;

use harbor_tests::{Bridge, Double, ErrorValue, Home, LIMIT, wait_until};
use serde_json::{Value, json};

/// A bridge of a person with a key, and the server `s` of theirs, running. The home stays the tester's to drop.
fn running(home: &Home) -> Bridge {
    let person = person(home);
    fs::create_dir_all(person.join(".ssh")).unwrap();
    fs::create_dir_all(person.join("notes")).unwrap();
    let bridge = Bridge::start_with(home, &[("HOME", person.to_str().unwrap())]);
    bridge.add_and_connect("s", &Double::sound(home));
    bridge
}

fn person(home: &Home) -> PathBuf {
    home.scratch("person")
}

/// Asks for a change of the server `s`, with the fields of `set_sandbox` but for its name.
fn change(bridge: &Bridge, mut fields: Value) -> Result<Value, ErrorValue> {
    fields["server_id"] = json!("s");
    bridge.call("set_sandbox", &fields).map(|answer| (*answer).clone())
}

/// Its process, and what it is held to.
fn seen(bridge: &Bridge) -> (Value, Value) {
    let shown = bridge.call("get_sandbox", &json!({"server_id": "s"})).unwrap();
    let server = bridge.server("s");
    (json!([server["state"], server["pid"], server["restarts"]]), shown["sandbox"].clone())
}

/// How many changes of a sandbox are in the audit log.
fn audited(home: &Home) -> usize {
    let lines = fs::read_to_string(home.path().join("logs/audit.jsonl")).unwrap();
    lines.matches("\"set_sandbox\"").count()
}

#[test]
fn what_cannot_be_followed_is_refused_and_harms_no_server() {
    let home = Home::new();
    let bridge = running(&home);
    let before = seen(&bridge);
    let key = person(&home).join(".ssh");
    let cases = [
        (json!({"sandbox": {"level": "tight"}}), "level", "off, basic, standard or strict"),
        (json!({"sandbox": {"read": [key]}}), "sandbox", "is never granted: it holds secrets"),
        (json!({"sandbox": {"write": ["/etc/cron.d"]}}), "sandbox", "is never granted for writing"),
        (json!({"sandbox": {"read": ["notes"]}}), "read", "absolute paths"),
        (json!({"sandbox": {"memory_mb": 0}}), "memory_mb", "64 to 1048576 MiB"),
        (json!({"sandbox": {"hosts": ["example.com"]}}), "hosts", "empty unless the network is hosts"),
        (json!({"sandbox": {"network": "all", "hosts": ["example.com"]}}), "hosts", "choose that network"),
        (json!({"sandbox": {}, "reset": ["memory"]}), "reset", "memory_mb"),
        (json!({"sandbox": {"memory": 64}}), "sandbox", "only these fields"),
    ];
    for (fields, field, says) in cases {
        let error = change(&bridge, fields.clone()).unwrap_err();
        let told = (error.code.as_str(), &error.details["field"]);
        assert_eq!(told, ("invalid_params", &json!(field)), "{fields}: {error:?}");
        assert!(error.message.contains(says), "{fields}: {error:?}");
    }
    assert_eq!(seen(&bridge), before);
    assert_eq!(audited(&home), 0);
    assert_eq!(bridge.tool_text("s", "echo", &json!({"a": 1})), r#"{"a":1}"#, "it is well");
}

/// The levels `off` and `basic` hold no paths: what they are given is meant for a later level.
#[test]
fn what_a_later_level_would_refuse_is_refused_at_every_level() {
    let home = Home::new();
    let bridge = running(&home);
    let key = person(&home).join(".ssh");
    for level in ["off", "basic", "standard"] {
        for sandbox in [json!({"read": ["/etc"]}), json!({"write": [key]}), json!({"sockets": ["/dev/null"]})]
        {
            let mut sandbox = sandbox;
            sandbox["level"] = json!(level);
            let set = change(&bridge, json!({"sandbox": sandbox})).unwrap_err();
            let mut definition = Double::sound(&home).definition("new");
            definition["sandbox"] = sandbox.clone();
            let added = bridge.call("add_server", &definition).unwrap_err();
            for error in [set, added] {
                let told = (error.code.as_str(), &error.details["field"]);
                assert_eq!(told, ("invalid_params", &json!("sandbox")), "{sandbox}: {error:?}");
            }
        }
    }
    let servers = bridge.call("list_servers", &json!({})).unwrap();
    assert_eq!(servers["servers"].as_array().unwrap().len(), 1, "nothing was stored");
}

#[test]
fn a_change_that_changes_nothing_leaves_the_server_alone() {
    let home = Home::new();
    let bridge = running(&home);
    let notes = person(&home).join("notes");
    let wanted = json!({"sandbox": {"read": [notes], "memory_mb": 1024}});
    assert_eq!(change(&bridge, wanted.clone()).unwrap()["restarting"], true);
    wait_until("the server to run again", LIMIT, || bridge.server("s")["state"] == "running");
    let before = seen(&bridge);
    for fields in [
        wanted,
        json!({"sandbox": {}}),
        json!({"sandbox": {"sockets": [], "hosts": [], "required": false}}),
        json!({"sandbox": {}, "reset": ["level", "network", "hosts", "disk_mb"]}),
        json!({"sandbox": {"memory_mb": 1024}, "reset": ["memory_mb"]}),
    ] {
        let answer = change(&bridge, fields.clone()).unwrap();
        assert_eq!((&answer["restarting"], &answer["sandbox"]), (&json!(false), &before.1), "{fields}");
        assert_eq!(seen(&bridge), before, "{fields}");
    }
    assert_eq!(audited(&home), 1);
    assert_eq!(change(&bridge, json!({"sandbox": {}, "reset": ["memory_mb"]})).unwrap()["restarting"], true);
    assert_eq!(audited(&home), 2);
}
