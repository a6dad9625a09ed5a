//! The echo server and the byte relay of the benchmark.

use std::process::Command;

use harbor_tests::{DOWN_LIMIT, Direct, programs};
use serde_json::json;

use super::text;

#[test]
fn the_echo_server_answers_in_order_also_through_two_relays() {
    let echo = programs::double("echo-server");
    let relay = programs::double("relay");
    let mut relayed = Command::new(&relay);
    relayed.arg(&relay).arg(&echo);
    for command in [&mut Command::new(&echo), &mut relayed] {
        let mut server = Direct::start(command);
        assert_eq!(server.ask("server/discover", &json!({}))["error"]["code"], -32601);
        let mut server = server.initialized();
        assert_eq!(server.ask("tools/list", &json!({}))["result"]["tools"].as_array().unwrap().len(), 3);
        assert_eq!(
            text(&server.tool("echo", &json!({"text": "a \"quoted\" \\ text"}))),
            "a \"quoted\" \\ text"
        );
        assert_eq!(text(&server.tool("text", &json!({"n": 65_536}))).len(), 65_536);
        let rows = server.tool("structured", &json!({"n": 65_536}));
        assert!(rows["result"]["structuredContent"]["rows"].as_array().unwrap().len() > 1000);
        let ids: Vec<_> = (0..100)
            .map(|n| {
                server.send_request(
                    "tools/call",
                    &json!({"name": "echo", "arguments": {"text": n.to_string()}}),
                )
            })
            .collect();
        for (n, id) in ids.into_iter().enumerate() {
            let answer = server.next_message();
            assert_eq!((answer["id"].as_u64(), text(&answer)), (Some(id), n.to_string().as_str()));
        }
        server.close();
        assert_eq!(server.wait(DOWN_LIMIT).unwrap().code(), Some(0));
    }
}

#[test]
fn the_echo_server_lists_as_many_tools_as_it_is_told_to() {
    let server = Direct::start(Command::new(programs::double("echo-server")).args(["--tools", "1000"]));
    let mut server = server.initialized();
    let list = server.ask("tools/list", &json!({}));
    let tools = list["result"]["tools"].as_array().unwrap();
    assert_eq!((tools.len(), &tools[999]["name"]), (1000, &json!("tool_0999")));
    assert!((250..=400).contains(&tools[999]["inputSchema"].to_string().len()));
}
