//! Doubles without a fault, of both generations.

use harbor_tests::double::echo_result;
use harbor_tests::{Fault, LIMIT};
use serde_json::{Value, json};

use super::{Scene, meta, start, start_modern, text};

#[test]
fn every_tool_of_a_sound_legacy_server_works() {
    let scene = Scene::new(Fault::None);
    let mut server = scene.start();
    assert_eq!(server.ask("server/discover", &json!({}))["error"]["code"], -32601);
    let mut server = server.initialized();
    let tools = server.ask("tools/list", &json!({}))["result"]["tools"].as_array().unwrap().len();
    assert_eq!(text(&server.tool("change_tools", &json!({}))), "changed");
    assert_eq!(server.ask("tools/list", &json!({}))["result"]["tools"].as_array().unwrap().len(), tools + 1);
    assert_eq!(server.tool("fail", &json!({}))["error"]["code"], -32050);
    assert_eq!(server.tool("tool_error", &json!({}))["result"]["isError"], true);
    assert_eq!(text(&server.tool("big", &json!({"bytes": 5}))), "xxxxx");
    assert_eq!(text(&server.tool("pid", &json!({}))), server.process().pid.to_string());
    assert_eq!(text(&server.tool("log", &json!({}))), "logged");
    assert!(text(&server.tool("env", &json!({}))).contains("PATH"));
    assert_eq!(
        server.ask("resources/read", &json!({"uri": "double://note"}))["result"]["contents"][0]["text"],
        "a note"
    );
    let prompt = server.ask("prompts/get", &json!({"name": "greet", "arguments": {"who": "Ada"}}));
    assert_eq!(prompt["result"]["messages"][0]["content"]["text"], "Hello, Ada!");
    let argument = json!({"argument": {"name": "who", "value": "A"}});
    assert_eq!(
        server.ask("completion/complete", &argument)["result"]["completion"]["values"],
        json!(["Ada", "Alan"])
    );
    server.send_request("tools/call", &json!({"name": "die", "arguments": {}}));
    assert_eq!((server.next_line(LIMIT), server.wait(LIMIT).unwrap().code()), (None, Some(7)));
}

#[test]
fn echo_repeats_its_arguments_byte_for_byte() {
    let mut server = start(Fault::None).initialized();
    let arguments = r#"{ "b":1.50,"a":12345678901234567890,"\u0041":[1e2 ,null]}"#;
    server.send(&format!(
        r#"{{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{{"name":"echo","arguments":{arguments}}}}}"#
    ));
    let line = server.next_line(LIMIT).unwrap();
    let wanted = format!("{{\"jsonrpc\":\"2.0\",\"id\":9,\"result\":{}}}\n", echo_result(arguments, false));
    assert_eq!(String::from_utf8(line).unwrap(), wanted);
}

#[test]
fn a_sleeping_call_can_be_cancelled_while_others_are_answered() {
    let scene = Scene::new(Fault::None);
    let mut server = scene.start().initialized();
    let sleeping = server.send_request("tools/call", &json!({"name": "sleep", "arguments": {"ms": 60_000}}));
    assert_eq!(text(&server.tool("cancelled_ids", &json!({}))), "[]");
    let cancelled = json!({"requestId": sleeping, "reason": "enough"});
    server.send(
        &json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancelled}).to_string(),
    );
    assert_eq!(text(&server.tool("cancelled_ids", &json!({}))), format!("[{sleeping}]"));
    assert_eq!(scene.journal().wait_for(&format!("cancelled {sleeping}")), "enough");
    assert_eq!(text(&server.tool("sleep", &json!({"ms": 1}))), "slept");
}

#[test]
fn asks_bring_back_what_the_client_says() {
    let mut server = start(Fault::None).initialized();
    let id = server.send_request("tools/call", &json!({"name": "ask_roots", "arguments": {}}));
    let asked = server.next_message();
    assert_eq!(asked["method"], "roots/list");
    server.send(&json!({"jsonrpc": "2.0", "id": asked["id"], "result": {"roots": []}}).to_string());
    let answer = server.next_message();
    assert_eq!((answer["id"].as_u64(), text(&answer)), (Some(id), "{\"result\":{\"roots\":[]}}"));
}

#[test]
fn progress_and_resource_updates_go_to_whoever_wants_them() {
    let mut server = start(Fault::None).initialized();
    let call = json!({"name": "progress", "arguments": {"steps": 2}, "_meta": {"progressToken": "p"}});
    server.send_request("tools/call", &call);
    for step in 1..=2 {
        let message = server.next_message();
        assert_eq!(
            (&message["params"]["progressToken"], &message["params"]["progress"]),
            (&json!("p"), &json!(step))
        );
    }
    assert_eq!(text(&server.next_message()), "done");
    let touch = json!({"name": "touch", "arguments": {"uri": "double://note"}});
    server.send_request("tools/call", &touch);
    assert_eq!(text(&server.next_message()), "touched");
    assert!(server.ask("resources/subscribe", &json!({"uri": "double://note"}))["result"].is_object());
    server.send_request("tools/call", &touch);
    assert_eq!(server.next_message()["method"], "notifications/resources/updated");
}

#[test]
fn lists_come_in_three_pages_when_told_so() {
    let mut scene = Scene::new(Fault::None);
    scene.settings.paged = true;
    let mut server = scene.start().initialized();
    for (method, name) in
        [("tools/list", "tools"), ("resources/list", "resources"), ("prompts/list", "prompts")]
    {
        let (mut cursor, mut sizes) = (Value::Null, Vec::new());
        while sizes.is_empty() || cursor.is_string() {
            let params = if cursor.is_string() { json!({"cursor": cursor}) } else { json!({}) };
            let answer = server.ask(method, &params);
            sizes.push(answer["result"][name].as_array().unwrap().len());
            cursor = answer["result"]["nextCursor"].clone();
        }
        assert_eq!(sizes.len(), 3, "{method} {sizes:?}");
        assert!(sizes.iter().all(|size| *size > 0), "{method} {sizes:?}");
    }
    assert_eq!(server.ask("tools/list", &json!({"cursor": "x"}))["error"]["code"], -32602);
}

#[test]
fn a_modern_server_wants_its_metadata_and_says_so() {
    let scene = Scene::modern();
    let mut server = scene.start();
    let refused = server.ask("initialize", &json!({}));
    assert_eq!(refused["error"]["data"]["supported"], json!(["2026-07-28"]));
    assert_eq!(server.ask("tools/list", &json!({}))["error"]["code"], -32602);
    assert_eq!(scene.journal().lines().last().unwrap(), "bad-meta tools/list");
    let old = json!({"_meta": {"io.modelcontextprotocol/protocolVersion": "2024-01-01",
        "io.modelcontextprotocol/clientCapabilities": {}}});
    assert_eq!(server.ask("server/discover", &old)["error"]["code"], -32022);
    let found = server.ask("server/discover", &json!({"_meta": meta()}));
    assert_eq!(found["result"]["supportedVersions"], json!(["2026-07-28"]));
    let echo = json!({"name": "echo", "arguments": {"x": 1}, "_meta": meta()});
    assert_eq!(server.ask("tools/call", &echo)["result"]["resultType"], "complete");
    assert_eq!(server.ask("ping", &json!({"_meta": meta()}))["error"]["code"], -32601);
}

#[test]
fn a_modern_server_asks_by_its_results_and_listens_by_a_request() {
    let mut server = start_modern();
    let mut call = json!({"name": "ask_roots", "arguments": {}, "_meta": meta()});
    let result = server.ask("tools/call", &call)["result"].clone();
    assert_eq!(
        (&result["resultType"], &result["inputRequests"]["q"]["method"]),
        (&json!("input_required"), &json!("roots/list"))
    );
    call["inputResponses"] = json!({"q": {"roots": []}});
    assert_eq!(server.ask("tools/call", &call)["error"]["code"], -32602);
    call["requestState"] = result["requestState"].clone();
    assert_eq!(text(&server.ask("tools/call", &call)), "{\"q\":{\"roots\":[]}}");
    call["name"] = json!("ask_forever");
    assert_eq!(server.ask("tools/call", &call)["result"]["resultType"], "input_required");

    let wanted = json!({"toolsListChanged": true, "resourceSubscriptions": ["double://note"]});
    let listen =
        server.send_request("subscriptions/listen", &json!({"notifications": wanted, "_meta": meta()}));
    assert_eq!(server.next_message()["method"], "notifications/subscriptions/acknowledged");
    for (tool, method) in
        [("change_tools", "notifications/tools/list_changed"), ("touch", "notifications/resources/updated")]
    {
        server.send_request(
            "tools/call",
            &json!({"name": tool, "arguments": {"uri": "double://note"}, "_meta": meta()}),
        );
        let told = server.next_message();
        assert_eq!(told["method"], method);
        assert_eq!(told["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], listen);
        server.next_line(LIMIT).unwrap();
    }
}
