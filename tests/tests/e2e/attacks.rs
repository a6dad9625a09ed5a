//! What clients and servers do on purpose: one of them must not reach the others through the bridge.

use std::io::{Read as _, Write as _};
use std::time::Instant;

use harbor_tests::client::attach_fields;
use harbor_tests::processes::assert_gone;
use harbor_tests::{Bridge, Client, DOWN_LIMIT, Double, Fault, Home, LIMIT, PROMPT};
use nix::sys::signal::Signal;
use serde_json::json;

/// A frame as the socket takes it.
fn framed(body: &str) -> Vec<u8> {
    [&u32::try_from(body.len()).unwrap().to_le_bytes()[..], body.as_bytes()].concat()
}

#[test]
fn a_client_that_leaves_while_its_answer_is_written_harms_nobody() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    bridge.add_and_connect("s", &Double::sound(&home));
    for _ in 0..20 {
        let mut socket = home.dial();
        let mut attach = attach_fields(&home);
        attach["type"] = json!("attach");
        attach["request_id"] = json!("a");
        let hello = r#"{"type":"hello","request_id":"h","max_frame":67108864}"#;
        let call = r#"{"type":"mcp_call_tool","request_id":"c","server_id":"s","tool_name":"big","arguments":{"bytes":4000000}}"#;
        for frame in [attach.to_string().as_str(), hello, call] {
            socket.write_all(&framed(frame)).unwrap();
        }
        // Past the two small answers, into the large one.
        let mut some = vec![0; 2000];
        socket.read_exact(&mut some).unwrap();
    }
    assert!(bridge.is_alive());
    assert_eq!(bridge.tool_text("s", "big", &json!({"bytes": 3})), "xxx");
}

#[test]
fn a_small_frame_costs_little() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    bridge.call("hello", &json!({"chunks": true, "max_frame": 4096})).unwrap();
    let long = "i".repeat(300);
    bridge
        .send(json!({"type": "ping", "request_id": long, "echo": "x".repeat(10_000)}).to_string().as_bytes());
    assert_eq!(bridge.next_stray(PROMPT).code, "invalid_message");
    let keys: Vec<_> = (0..200_000).map(|n| format!("\"k{n}\":0")).collect();
    let crowded = bridge.expect("crowded", "a frame of many keys");
    let begun = Instant::now();
    bridge.send(format!("{{\"type\":\"ping\",\"request_id\":\"crowded\",{}}}", keys.join(",")).as_bytes());
    assert_eq!(crowded.wait(PROMPT).unwrap_err().code, "invalid_message");
    assert!(bridge.is_alive());
    assert!(begun.elapsed() < PROMPT, "it took {:?}", begun.elapsed());
}

#[test]
fn silent_connections_lock_nobody_out() {
    let home = Home::new();
    let _bridge = Bridge::foreground(&home);
    let silent: Vec<_> = (0..300).map(|_| home.dial()).collect();
    let client = Client::attach(&home);
    assert!(client.is_alive());
    drop(silent);
}

#[test]
fn nothing_starts_while_the_bridge_ends() {
    let home = Home::new();
    let mut bridge = Bridge::start(&home);
    let ids: Vec<_> = (0..6).map(|n| format!("s{n}")).collect();
    for id in &ids {
        bridge.add_and_connect(id, &Double::new(&home, Fault::IgnoresShutdown));
    }
    let restless = Client::attach(&home);
    let all = bridge.tree();
    bridge.signal(Signal::SIGTERM);
    // While the servers take their three seconds to end.
    let starts: Vec<_> = ids
        .iter()
        .cycle()
        .take(60)
        .flat_map(|id| {
            let about = json!({"server_id": id});
            [bridge.request("connect_server", &about), restless.request("connect_server", &about)]
        })
        .collect();
    assert_gone(&all, DOWN_LIMIT);
    assert_eq!(home.processes(), []);
    assert!(bridge.wait(DOWN_LIMIT).unwrap().success());
    drop(starts);
}

#[test]
fn one_clients_unsubscribe_leaves_the_others_subscribed() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    for (id, double) in [("old", Double::sound(&home)), ("new", Double::sound(&home).modern())] {
        bridge.add_and_connect(id, &double);
        let uri =
            bridge.call("mcp_list_resources", &json!({"server_id": id})).unwrap()["resources"][0]["uri"]
                .clone();
        let about = json!({"server_id": id, "uri": uri});
        let other = Client::attach(&home);
        bridge.call("mcp_subscribe_resource", &about).unwrap();
        other.call("mcp_subscribe_resource", &about).unwrap();
        other.call("mcp_unsubscribe_resource", &about).unwrap();
        bridge.tool(id, "touch", &json!({"uri": uri})).unwrap();
        assert_eq!(bridge.next_push("resource_updated", LIMIT)["uri"], uri, "{id}");
        assert!(other.push_now("resource_updated").is_none(), "{id}");
    }
}

/// It is looked for among the known ones, which must not take its length into account.
#[test]
fn a_scope_without_end_delays_nobody() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    let fields = json!({"origin": "https://page.example", "scope": "a".repeat(16 << 20)});
    let error = bridge.call("host_check_permission", &fields).unwrap_err();
    assert_eq!((error.code.as_str(), &error.details["field"]), ("invalid_params", &json!("scope")));
    assert!(bridge.is_alive());
}
