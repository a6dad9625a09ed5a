//! Servers as people use them, at pinned versions: each is listed and called through its isolated runner.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "test support")]

use std::env;
use std::path::{Path, PathBuf};

use harbor_tests::home::TEST_ID;
use harbor_tests::{Answer, Bridge, Home};
use serde_json::{Value, json};

fn installed(path: &str) -> PathBuf {
    let dir = env::var_os("HARBOR_TEST_SERVERS").filter(|dir| !dir.is_empty());
    let dir = dir
        .expect("HARBOR_TEST_SERVERS is not set: run scripts/test, which installs the servers and sets it");
    let path = Path::new(&dir).join(path);
    assert!(path.exists(), "{} is missing: run scripts/test, which installs it", path.display());
    path
}

/// A server of the npm packages, by its entry point: `npx` would stay beside it.
fn node(name: &str) -> (Value, Value) {
    let script = installed(&format!("npm/node_modules/@modelcontextprotocol/{name}/dist/index.js"));
    (json!("node"), json!([script]))
}

fn connect(bridge: &Bridge, home: &Home, (command, args): (Value, Value)) -> Answer {
    let definition = json!({"server_id": "s", "command": command, "args": args, "env": {TEST_ID: home.id()}});
    bridge.call("add_server", &definition).unwrap();
    bridge.connect("s")
}

fn tools(connected: &Answer) -> Vec<&str> {
    connected["tools"].as_array().unwrap().iter().filter_map(|tool| tool["name"].as_str()).collect()
}

#[test]
fn everything() {
    let server = node("server-everything");
    let home = Home::new();
    let bridge = Bridge::start(&home);
    let connected = connect(&bridge, &home, server);
    assert!(tools(&connected).contains(&"echo"), "{:?}", tools(&connected));
    assert!(!connected["resources"].as_array().unwrap().is_empty());
    assert!(!connected["prompts"].as_array().unwrap().is_empty());
    assert!(bridge.tool_text("s", "echo", &json!({"message": "ahoy"})).contains("ahoy"));
}

#[test]
fn filesystem() {
    let (command, mut args) = node("server-filesystem");
    let home = Home::new();
    let bridge = Bridge::start(&home);
    let dir = home.scratch("files");
    std::fs::create_dir(&dir).unwrap();
    std::fs::write(dir.join("hello.txt"), "ahoy").unwrap();
    args.as_array_mut().unwrap().push(json!(dir));
    let connected = connect(&bridge, &home, (command, args));
    assert!(tools(&connected).contains(&"read_text_file"), "{:?}", tools(&connected));
    assert_eq!(bridge.tool_text("s", "read_text_file", &json!({"path": dir.join("hello.txt")})), "ahoy");
    let outside = bridge.tool("s", "read_text_file", &json!({"path": "/etc/hostname"})).unwrap();
    assert_eq!(outside["result"]["isError"], true, "the server itself refuses");
}

#[test]
fn time() {
    let server = (json!(installed("venv/bin/mcp-server-time")), json!([]));
    let home = Home::new();
    let bridge = Bridge::start(&home);
    let connected = connect(&bridge, &home, server);
    assert!(tools(&connected).contains(&"get_current_time"), "{:?}", tools(&connected));
    let time: Value =
        serde_json::from_str(&bridge.tool_text("s", "get_current_time", &json!({"timezone": "UTC"})))
            .unwrap();
    assert_eq!(time["timezone"], "UTC");
    assert!(time["datetime"].is_string(), "{time}");
}
