//! Harbors that are servers of Harbors, of each other, and of themselves.

use harbor_tests::{Bridge, Home, LIMIT, wait_until};
use serde_json::{Value, json};

use super::wire::Rig;

/// Makes the Harbor of `rig` a server of the one of `bridge`, and connects it.
fn connect(bridge: &Bridge, id: &str, rig: &Rig) -> Result<(), String> {
    let url = format!("http://localhost:{}/mcp", rig.server.port);
    let (headers, env) = (json!({"Authorization": "Bearer ${KEY}"}), json!({"KEY": rig.token}));
    let fields = json!({"server_id": id, "url": url, "allow_private": true, "headers": headers, "env": env});
    bridge.call("add_remote_server", &fields).unwrap();
    let connected = bridge.call("connect_server", &json!({"server_id": id}));
    connected.map(drop).map_err(|refused| refused.message)
}

/// The names of what a server has of a kind, in order.
fn names(bridge: &Bridge, id: &str, kind: &str) -> Vec<String> {
    let answer = bridge.call(&format!("mcp_list_{kind}"), &json!({"server_id": id})).unwrap();
    let name = |item: &Value| item["name"].as_str().unwrap().to_owned();
    let mut names: Vec<_> = answer[kind].as_array().unwrap().iter().map(name).collect();
    names.sort();
    names
}

fn has_logged(bridge: &Bridge, id: &str, text: &str) -> bool {
    let logs = bridge.call("mcp_get_logs", &json!({"server_id": id})).unwrap();
    logs.text.contains(text)
}

/// It would list its own tools again, under a longer name, with each of its lists.
#[test]
fn harbor_is_no_server_of_its_own_but_one_of_another_harbor() {
    let rig = Rig::new();
    let refused = connect(&rig.bridge, "it", &rig).unwrap_err();
    assert!(refused.contains("Harbor cannot be its own server"), "{refused}");
    let home = Home::new();
    let other = Bridge::start(&home);
    connect(&other, "it", &rig).unwrap();
    assert!(!names(&other, "it", "tools").is_empty());
}

/// As a program it cannot be told so; without a sandbox it gets through to its own bridge.
#[test]
fn of_itself_as_a_program_it_has_nothing() {
    let rig = Rig::new();
    let command = rig.home.command("harbor");
    let definition = json!({"server_id": "it", "command": command.get_program().to_str(), "args": ["mcp"],
        "env": {"HARBOR_HOME": rig.home.path()}, "sandbox": {"level": "off"}});
    rig.bridge.call("add_server", &definition).unwrap();
    rig.bridge.call("connect_server", &json!({"server_id": "it"})).unwrap();
    assert_eq!(names(&rig.bridge, "it", "tools"), [""; 0]);
    assert!(has_logged(&rig.bridge, "it", "come from this Harbor itself"));
}

#[test]
fn harbors_that_are_each_others_servers_have_of_each_other_what_is_not_their_own() {
    let [one, two] = [Rig::new(), Rig::new()];
    let own = |rig: &Rig, kind| -> Vec<String> {
        names(&rig.bridge, "s", kind).iter().map(|name| format!("s__{name}")).collect()
    };
    connect(&one.bridge, "two", &two).unwrap();
    connect(&two.bridge, "one", &one).unwrap();
    // By then each has been told what the other one has of it.
    for (rig, id) in [(&one, "two"), (&two, "one")] {
        for kind in ["tools", "prompts"] {
            let told = format!("items of {kind}/list are left out");
            wait_until(&told, LIMIT, || has_logged(&rig.bridge, id, &told));
        }
    }
    for kind in ["tools", "prompts"] {
        assert_eq!(names(&one.bridge, "two", kind), own(&two, kind));
        assert_eq!(names(&two.bridge, "one", kind), own(&one, kind));
    }
    let args = json!({"server_id": "two", "tool_name": "s__echo", "arguments": {"message": "hi"}});
    let answer = one.bridge.call("mcp_call_tool", &args).unwrap();
    assert!(answer.text.contains("hi"), "{}", answer.text);
}

/// In a row it is as long as it is: what has come through others is nobody's own.
#[test]
fn a_harbor_behind_another_one_is_reached_through_that() {
    let [far, near] = [Rig::new(), Rig::new()];
    connect(&near.bridge, "far", &far).unwrap();
    let home = Home::new();
    let bridge = Bridge::start(&home);
    connect(&bridge, "near", &near).unwrap();
    let reached = || names(&bridge, "near", "tools");
    wait_until("tools of both", LIMIT, || reached().contains(&"far__s__echo".to_owned()));
    assert!(reached().contains(&"s__echo".to_owned()));
}
