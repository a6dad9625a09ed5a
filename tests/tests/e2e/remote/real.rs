//! Real servers over HTTP: server-everything in both of its modes, and Harbor itself, in both generations.

use std::net::{TcpListener, TcpStream};
use std::process::Command;

use harbor_tests::programs::installed;
use harbor_tests::{Bridge, Double, Home, HttpServer, LIMIT, Program, token, wait_until};
use serde_json::{Value, json};

use super::connect;

pub fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

fn everything(mode: &str, port: u16) -> Program {
    let script = installed("npm/node_modules/@modelcontextprotocol/server-everything/dist/index.js");
    let program = Program::start(Command::new("node").arg(script).arg(mode).env("PORT", port.to_string()));
    wait_until("it listens", LIMIT, || TcpStream::connect(("127.0.0.1", port)).is_ok());
    program
}

fn works(bridge: &Bridge) {
    assert_eq!(bridge.tool_text("s", "echo", &json!({"message": "hi"})), "Echo: hi");
    let long = json!({"server_id": "s", "tool_name": "trigger-long-running-operation",
        "arguments": {"duration": 1, "steps": 3}, "progress": true});
    let call = bridge.request("mcp_call_tool", &long);
    let progress = bridge.next_push("progress", LIMIT);
    assert_eq!(progress["total"], 3, "{progress}");
    call.wait(LIMIT).unwrap();
}

#[test]
fn everything_by_streamable_http_is_killed_and_comes_back() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    let port = free_port();
    let server = everything("streamableHttp", port);
    let url = format!("http://localhost:{port}/mcp");
    let patient = json!({"supervision": {"restart_delays_ms": [200], "restart_attempts": "unlimited"}});
    let shown = connect(&bridge, &url, &patient).unwrap();
    assert_eq!(shown["server"]["remote"], json!({"url": url, "transport_type": "auto", "header_names": []}));
    assert_eq!(shown["server"]["pid"], Value::Null);
    works(&bridge);
    bridge.watch();
    drop(server);
    let _ = bridge.wait_for_state("s", "crashed");
    let _server = everything("streamableHttp", port);
    let _ = bridge.wait_for_event_within(LIMIT, |event| event["new_state"] == "running");
    works(&bridge);
}

#[test]
fn everything_by_sse_is_found_out_and_remembered() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    let port = free_port();
    let _server = everything("sse", port);
    let url = format!("http://127.0.0.1:{port}/sse");
    for transport in ["auto", "sse"] {
        connect(&bridge, &url, &json!({"transport_type": transport})).unwrap();
        works(&bridge);
    }
    bridge.call("connect_server", &json!({"server_id": "s", "restart": true})).unwrap();
    works(&bridge);
}

#[test]
fn another_harbor_is_a_modern_server() {
    let (home, other) = (Home::new(), Home::new());
    let (bridge, theirs) = (Bridge::start(&home), Bridge::start(&other));
    theirs.add_and_connect("echo", &Double::sound(&other));
    let key = token(&other, "me");
    let _ = other.done(&["grant", "client://me", "mcp:tools.list"]);
    let server = HttpServer::start(&other, &[]);
    let with = json!({"headers": {"Authorization": "Bearer ${KEY}"}, "env": {"KEY": key}});
    let connected = connect(&bridge, &server.url(), &with).unwrap();
    assert_eq!(connected["server"]["protocol_version"], "2026-07-28", "{connected:?}");
    let tools = bridge.call("mcp_list_tools", &json!({"server_id": "s"})).unwrap();
    assert!(tools["tools"].is_array());
    bridge.call("disconnect_server", &json!({"server_id": "s"})).unwrap();
}

#[test]
fn remote_servers_may_share_a_runner_as_others_do() {
    let home = Home::new();
    let bridge = Bridge::start_with(&home, &[("HARBOR_MCP_ISOLATION", "0")]);
    let server = harbor_tests::Scripted::start(|_, _| false);
    let add = |id: &str| {
        let fields = json!({"server_id": id, "url": server.url(), "allow_private": true});
        bridge.call("add_remote_server", &fields).unwrap();
        bridge.call("connect_server", &json!({"server_id": id})).unwrap()["server"]["runner_pid"].clone()
    };
    let (first, second) = (add("a"), add("b"));
    bridge.add_and_connect("c", &Double::sound(&home));
    assert!(first == second && first != bridge.server("c")["runner_pid"]);
}

#[test]
fn the_command_line_knows_them() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    assert!(bridge.is_alive());
    let server = harbor_tests::Scripted::start(|_, _| false);
    let url = format!("{}?key=s3cret", server.url());
    let added = home.done(&["add", "s", "--url", &url, "--header", "X-Key: v4lue", "--transport", "http"]);
    assert_eq!(added, "added s\ns is running: 3 tools (`harbor tools s`)\n");
    assert_eq!(home.done(&["call", "s/t"]), "done\n");
    let status = home.done(&["status", "s"]);
    assert!(status.contains(&format!("remote     {}?…\n", server.url())), "{status}");
    assert!(
        server
            .asked()
            .iter()
            .all(|asked| asked.header("x-key") == "v4lue" && asked.path == "/mcp?key=s3cret")
    );
    let listed = home.done(&["list", "--json"]) + &home.done(&["list"]) + &home.harbor(&["logs", "s"]).0;
    assert!(listed.contains("/mcp?…") && !listed.contains("s3cret") && !listed.contains("v4lue"), "{listed}");
    let held = home.done(&["sandbox", "s"]);
    assert!(held.contains("it is a remote server"), "{held}");
    let (said, code) = home.refused(&["sandbox", "s", "--write", "/tmp"]);
    assert!(code != Some(0) && said.contains("it is a remote server"), "{said}");

    let file = home.scratch("clients.json");
    let entry = json!({"mcpServers": {"far": {"type": "http", "url": url, "headers": {"X-Key": "v4lue"}}}});
    std::fs::write(&file, entry.to_string()).unwrap();
    let (out, _, _) = home.harbor(&["import", file.to_str().unwrap(), "--yes"]);
    assert!(out.contains("far: skipped: its address 127.0.0.1:") && out.contains("--allow-private"), "{out}");
    let (out, _, code) = home.harbor(&["import", file.to_str().unwrap(), "--allow-private", "--yes"]);
    assert_eq!(code, Some(0), "{out}");
    assert!(out.contains("far: imported") && out.contains("X-Key") && !out.contains("v4lue"), "{out}");
    assert_eq!(home.done(&["call", "far/t"]), "done\n");
    let (again, _, _) = home.harbor(&["import", file.to_str().unwrap()]);
    assert!(again.contains("already here"), "{again}");
}
