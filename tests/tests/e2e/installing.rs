//! Servers that are packages: installed before their first start, then run without npx or uvx. With the real
//! installers and real packages.

use std::fs;
use std::time::Instant;

use harbor_tests::home::TEST_ID;
use harbor_tests::npm_registry::NpmRegistry;
use harbor_tests::processes::{Process, assert_gone, descendants};
use harbor_tests::programs::path_with_uv;
use harbor_tests::{Bridge, DOWN_LIMIT, Home, wait_until};
use nix::sys::signal::Signal;
use serde_json::{Value, json};

/// What a download may take.
const INSTALL: std::time::Duration = std::time::Duration::from_secs(300);

fn definition(home: &Home, id: &str, words: &[&str]) -> Value {
    json!({"server_id": id, "command": words[0], "args": words[1..], "env": {TEST_ID: home.id()}})
}

/// Adds and starts a package; its states on the way, and how often its server was asked for.
fn install(bridge: &Bridge, definition: &Value) -> Vec<String> {
    let id = definition["server_id"].as_str().unwrap().to_owned();
    let added = bridge.call("add_server", definition).unwrap();
    assert!(added["server"]["package"].is_string(), "{:?}", added["server"]);
    let start = bridge.request("mcp_connect", &json!({"server_id": id}));
    let mut states = Vec::new();
    while states.last().is_none_or(|state| state != "running" && state != "failed") {
        let event = bridge.wait_for_event_within(INSTALL, |event| event["server_id"] == id);
        states.push(event["new_state"].as_str().unwrap().to_owned());
    }
    start.wait(INSTALL).unwrap_or_else(|error| panic!("{error:?}; {:?}", bridge.logs(&id)));
    states
}

fn command_lines(server: &Value) -> Vec<String> {
    let below = descendants(u32::try_from(server["runner_pid"].as_u64().unwrap()).unwrap());
    below.iter().map(|process| process.command_line()).collect()
}

#[test]
fn packages_of_npm_and_pypi() {
    let home = Home::new();
    let words: [(&str, &[&str], &str, &str); 2] = [
        ("npm", &["npx", "-y", "@modelcontextprotocol/server-everything@2026.8.31"], "echo", "npx"),
        (
            "pypi",
            &["uvx", "mcp-server-time==2026.10.19", "--local-timezone", "UTC"],
            "get_current_time",
            "uvx",
        ),
    ];
    {
        let bridge = Bridge::start_with(&home, &[("PATH", &path_with_uv())]);
        bridge.watch();
        for (id, words, tool, wrapper) in words {
            let states = install(&bridge, &definition(&home, id, words));
            assert_eq!(states, ["stopped", "installing", "starting", "running"]);
            let arguments = json!({"message": "hello", "timezone": "UTC"});
            assert!(!bridge.tool_text(id, tool, &arguments).is_empty());
            let lines = command_lines(&bridge.server(id));
            let resident =
                lines.iter().any(|line| line.contains(&format!("{wrapper} ")) || line.contains("npm exec"));
            assert!(!resident, "{lines:?}");
            assert!(!bridge.logs(id).is_empty(), "the installer's words are in the log");
        }
    }
    // The next bridge finds them installed.
    let bridge = Bridge::start(&home);
    bridge.watch();
    for (id, ..) in words {
        bridge.connect(id);
        let _ = bridge.wait_for_state(id, "running");
        let package = home.path().join("servers").join(id).join("package");
        assert!(package.is_dir());
        bridge.call("remove_server", &json!({"server_id": id})).unwrap();
        wait_until("its package to be removed", DOWN_LIMIT, || !package.exists());
    }
}

#[test]
fn a_package_that_is_not_there_fails_with_the_installers_words() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    let words = ["npx", "-y", "@modelcontextprotocol/server-that-nobody-ever-wrote"];
    bridge.call("add_server", &definition(&home, "s", &words)).unwrap();
    let error = bridge.request("mcp_connect", &json!({"server_id": "s"})).wait(INSTALL).unwrap_err();
    assert_eq!(error.details["cause"], "install_failed", "{error:?}");
    assert!(error.details["stderr_tail"].as_str().unwrap().contains("404"), "{error:?}");
    let said = bridge.said("cause=\"install_failed\"");
    assert!(!said.contains("E404"), "{said}");
    assert_eq!(bridge.server("s")["state"], "failed");
}

#[test]
fn a_stop_wins_over_an_installation() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    bridge.watch();
    let words = ["npx", "-y", "@modelcontextprotocol/server-filesystem@2026.8.31", "/"];
    bridge.call("add_server", &definition(&home, "s", &words)).unwrap();
    let start = bridge.request("mcp_connect", &json!({"server_id": "s"}));
    let _ = bridge.wait_for_state("s", "installing");
    wait_until("the installer to run", DOWN_LIMIT, || bridge.server("s")["pid"].is_u64());
    let waits = bridge.send_tool("s", "read_file", &json!({}));
    let installer = Process::named_by(&bridge.server("s")["pid"]);
    let below = bridge.tree();
    let begin = Instant::now();
    bridge.call("mcp_disconnect", &json!({"server_id": "s"})).unwrap();
    assert!(begin.elapsed() < DOWN_LIMIT);
    assert_eq!(start.wait(DOWN_LIMIT).unwrap_err().details["cause"], "stopped");
    assert_eq!(waits.wait(DOWN_LIMIT).unwrap_err().details["sent"], false);
    assert_eq!(bridge.server("s")["state"], "stopped");
    assert_gone(&[installer], DOWN_LIMIT);
    assert_gone(&below.into_iter().filter(|one| *one != bridge.process()).collect::<Vec<_>>(), DOWN_LIMIT);
}

/// As it is: through the wrapper, which stays.
#[test]
fn as_it_is_means_as_it_is() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    let mut definition =
        definition(&home, "s", &["npx", "-y", "@modelcontextprotocol/server-everything@2026.8.31"]);
    definition["as_is"] = json!(true);
    let added = bridge.call("add_server", &definition).unwrap();
    assert_eq!(added["server"]["package"], Value::Null);
    bridge.request("mcp_connect", &json!({"server_id": "s"})).wait(INSTALL).unwrap();
    assert!(fs::metadata(home.path().join("servers/s/package")).is_err());
    assert!(!bridge.tool_text("s", "echo", &json!({"message": "hello"})).is_empty());
}

/// The old one takes its time to end; what is removed with it must not be the new one's.
#[test]
fn a_package_that_is_removed_and_added_again_is_there() {
    let (home, registry) = (Home::new(), NpmRegistry::start());
    registry.publish(&home, "1.0.0", &["a"], "first");
    let bridge = registry.bridge(&home);
    let definition = definition(&home, "s", &["npx", "-y", "tiny"]);
    bridge.call("add_server", &definition).unwrap();
    let start = || bridge.request("mcp_connect", &json!({"server_id": "s"})).wait(INSTALL).unwrap();
    start();
    Process::named_by(&bridge.server("s")["pid"]).signal(Signal::SIGSTOP);
    let removal = bridge.request("remove_server", &json!({"server_id": "s"}));
    bridge.call("add_server", &definition).unwrap();
    assert_eq!(removal.wait(DOWN_LIMIT).unwrap()["removed"], true);
    start();
    // A package that somebody deleted is installed anew.
    bridge.call("mcp_disconnect", &json!({"server_id": "s"})).unwrap();
    fs::remove_dir_all(home.path().join("servers/s/package/1/node_modules")).unwrap();
    assert_eq!(bridge.fail_to_connect("s").details["cause"], "package_lost");
    start();
}
