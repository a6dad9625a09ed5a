//! A real server of the official SDK for Python, in both generations: what it asks reaches the AI client that has made the
//! call, what changes is told, and it may be killed and come back.

use std::net::TcpStream;
use std::path::Path;
use std::process::Command;

use harbor_tests::programs::installed;
use harbor_tests::{Bridge, DOWN_LIMIT, Direct, Home, LIMIT, Program, wait_until};
use serde_json::{Value, json};

use super::connect;
use super::real::free_port;

const NOTE: &str = "note://one";

fn python(port: u16, generation: &str) -> Program {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("remote/server.py");
    let mut command = Command::new(installed("venv/bin/python"));
    let program = Program::start(command.arg(script).args([&port.to_string(), generation]));
    wait_until("it listens", LIMIT, || TcpStream::connect(("127.0.0.1", port)).is_ok());
    program
}

fn url(port: u16) -> String {
    format!("http://127.0.0.1:{port}/mcp")
}

/// An AI client that can be asked.
fn client(home: &Home) -> Direct {
    let mut mcp = Direct::start(home.command("harbor").args(["mcp", "--client", "ai"]));
    let params = json!({"protocolVersion": "2025-11-25", "clientInfo": {"name": "t", "version": "1"},
        "capabilities": {"sampling": {}, "elicitation": {"form": {}}}});
    assert!(mcp.ask("initialize", &params)["result"].is_object());
    mcp.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}).to_string());
    mcp
}

fn wait_for(mcp: &Direct, found: impl Fn(&Value) -> bool) -> Value {
    loop {
        let message = mcp.next_message();
        if found(&message) {
            return message;
        }
    }
}

fn call(mcp: &mut Direct, tool: &str) -> u64 {
    mcp.send_request("tools/call", &json!({"name": format!("s__{tool}"), "arguments": {}}))
}

fn answered(mcp: &Direct, id: u64) -> String {
    let answer = wait_for(mcp, |message| message["id"] == id && message["method"].is_null());
    answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
}

fn end(mut mcp: Direct) {
    mcp.close();
    assert!(mcp.wait(DOWN_LIMIT).expect("it ends with its stdin").success());
}

#[test]
fn what_it_asks_reaches_the_ai_client_and_the_answer_comes_back() {
    for (generation, revision) in [("modern", "2026-07-28"), ("older", "2025-11-25")] {
        let home = Home::new();
        let bridge = Bridge::start(&home);
        let port = free_port();
        let _server = python(port, generation);
        let connected = connect(&bridge, &url(port), &json!({})).unwrap();
        assert_eq!(connected["server"]["protocol_version"], revision);
        let mut mcp = client(&home);
        let name = json!({"action": "accept", "content": {"name": "Ada"}});
        let thought =
            json!({"role": "assistant", "model": "m", "content": {"type": "text", "text": "thought"}});
        for (tool, method, answer, said) in [
            ("greet", "elicitation/create", name, "Hello, Ada!"),
            ("think", "sampling/createMessage", thought, "It says: thought"),
        ] {
            let id = call(&mut mcp, tool);
            let asked = wait_for(&mcp, |message| message["method"] == method);
            mcp.send(&json!({"jsonrpc": "2.0", "id": asked["id"], "result": answer}).to_string());
            assert_eq!(answered(&mcp, id), said, "{generation}");
        }
        end(mcp);
    }
}

#[test]
fn changes_are_told_also_once_it_was_killed_and_has_come_back() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    let port = free_port();
    let server = python(port, "modern");
    let patient = json!({"supervision": {"restart_delays_ms": [200], "restart_attempts": "unlimited"}});
    connect(&bridge, &url(port), &patient).unwrap();
    let mut mcp = client(&home);
    assert_eq!(mcp.ask("resources/subscribe", &json!({"uri": NOTE}))["result"], json!({}));
    touched(&mut mcp);
    // A tool that the person has not seen is the owner's alone.
    let id = call(&mut mcp, "grow");
    assert_eq!(answered(&mcp, id), "grown");
    let has_new_tool = || {
        let tools = bridge.call("mcp_list_tools", &json!({"server_id": "s"})).unwrap();
        tools["tools"].as_array().unwrap().iter().any(|tool| tool["name"] == "new")
    };
    wait_until("the new tool", LIMIT, has_new_tool);

    bridge.watch();
    drop(server);
    let _ = bridge.wait_for_state("s", "crashed");
    let _server = python(port, "modern");
    let _ = bridge.wait_for_event_within(LIMIT, |event| event["new_state"] == "running");
    assert!(!has_new_tool(), "it has begun anew");
    touched(&mut mcp);
    end(mcp);
}

/// The subscription stands, or will soon: what is touched is told.
fn touched(mcp: &mut Direct) {
    let mut told = false;
    wait_until("what was touched is told", LIMIT, || {
        let id = call(mcp, "touch");
        loop {
            let message = mcp.next_message();
            told |=
                message["method"] == "notifications/resources/updated" && message["params"]["uri"] == NOTE;
            if message["id"] == id {
                return told;
            }
        }
    });
}
