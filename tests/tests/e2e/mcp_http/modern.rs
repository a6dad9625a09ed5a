//! The generation without sessions: every request for itself.

use harbor_tests::{Double, Home, HttpServer, LIMIT, token, wait_until};
use serde_json::{Value, json};

use super::wire::{Caller, Rig, Speak, modern};

#[test]
fn each_request_is_answered_without_a_session() {
    let rig = Rig::new();
    let caller = Caller::new(&rig.server, &rig.token);
    let mut found = caller.ask_modern(&json!(1), "server/discover", &json!({}));
    assert_eq!((found.status, found.header("mcp-session-id")), (200, None));
    assert_eq!(found.answer()["result"]["supportedVersions"], json!(["2026-07-28"]));
    let listed = caller.ask_modern(&json!(1), "tools/list", &json!({})).answer();
    assert_eq!(listed["result"]["resultType"], "complete", "{listed}");
    std::thread::scope(|scope| {
        for n in 0..16 {
            let caller = &caller;
            scope.spawn(move || {
                // All have the same id: they are clients that know nothing of each other.
                let params = json!({"name": "s__echo", "arguments": {"n": n}});
                let answer = caller.ask_modern(&json!(1), "tools/call", &params).answer();
                assert_eq!(answer["result"]["structuredContent"], json!({"n": n}), "{answer}");
            });
        }
    });
    let params = json!({"name": "s__progress", "arguments": {"steps": 2}, "_meta": {"progressToken": 5}});
    let mut call = caller.ask_modern(&json!("x"), "tools/call", &params);
    assert_eq!(call.header("content-type").as_deref(), Some("text/event-stream"));
    assert_eq!(call.message().unwrap()["params"]["progressToken"], 5);
    assert_eq!(call.answer()["id"], "x");
}

#[test]
fn headers_that_say_something_else_are_refused_by_their_own_number() {
    let home = Home::new();
    let token = token(&home, "ai");
    let server = HttpServer::start(&home, &[]);
    let caller = Caller::new(&server, &token);
    let version = "MCP-Protocol-Version: 2026-07-28\r\n";
    let list = modern(&json!(1), "tools/list", &json!({})).to_string();
    let call = modern(&json!(1), "tools/call", &json!({"name": "s__echo"})).to_string();
    let newer = list.replace("2026-07-28", "2030-01-01");
    let unknown = modern(&json!(1), "nothing/like/it", &json!({})).to_string();
    for (head, body, status, code) in [
        ("Mcp-Method: tools/list\r\n".to_owned(), &list, 400, -32020),
        (version.to_owned(), &list, 400, -32020),
        (format!("{version}Mcp-Method: tools/call\r\n"), &list, 400, -32020),
        (format!("{version}Mcp-Method: tools/call\r\n"), &call, 400, -32020),
        (format!("{version}Mcp-Method: tools/call\r\nMcp-Name: s__pid\r\n"), &call, 400, -32020),
        (
            format!("{version}Mcp-Method: tools/call\r\nMcp-Name: s__echo\r\nMcp-Param-Region: eu\r\n"),
            &call,
            400,
            -32020,
        ),
        ("MCP-Protocol-Version: 2025-11-25\r\nMcp-Method: tools/list\r\n".into(), &list, 400, -32020),
        ("MCP-Protocol-Version: 2030-01-01\r\nMcp-Method: tools/list\r\n".into(), &newer, 400, -32022),
        (format!("{version}Mcp-Method: nothing/like/it\r\n"), &unknown, 404, -32601),
    ] {
        let mut answer = caller.post_with(&head, body);
        let (message, said) = (answer.status, answer.answer());
        assert_eq!(
            (message, &said["error"]["code"], &said["id"]),
            (status, &json!(code), &json!(1)),
            "{head} {body}"
        );
    }
    let response = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;
    assert_eq!(caller.post_with(version, response).status, 400);
}

#[test]
fn a_subscription_is_a_stream_and_leaving_it_or_a_call_ends_its_work() {
    let rig = Rig::new();
    let caller = Caller::new(&rig.server, &rig.token);
    let filter = json!({"notifications": {"toolsListChanged": true}});
    let mut listening = caller.ask_modern(&json!("sub"), "subscriptions/listen", &filter);
    let heard = listening.message().unwrap();
    assert_eq!(heard["method"], "notifications/subscriptions/acknowledged", "{heard}");
    let connected =
        || rig.bridge.call("status", &json!({})).unwrap()["status"]["bridge"]["clients"]["mcp"].clone();
    wait_until("it to watch", LIMIT, || connected() == 1);
    for server in ["t", "u"] {
        rig.bridge.add_and_connect(server, &Double::sound(&rig.home));
        let told = listening.message().unwrap();
        assert_eq!(told["method"], "notifications/tools/list_changed", "{told}");
        assert_eq!(told["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], "sub");
    }
    drop(listening);
    wait_until("its end", LIMIT, || connected() == 0);

    let params = json!({"name": "s__sleep", "arguments": {"ms": 60_000}});
    let body = modern(&json!(1), "tools/call", &params).to_string();
    let token = &rig.token;
    let head = format!(
        "Authorization: Bearer {token}\r\nContent-Type: application/json\r\nAccept: */*\r\n\
         MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: s__sleep\r\n"
    );
    let mut call = std::net::TcpStream::connect(("127.0.0.1", rig.server.port)).unwrap();
    std::io::Write::write_all(&mut call, rig.server.text("POST", &head, &body).as_bytes()).unwrap();
    let _ = rig.double.journal().wait_for("call sleep");
    drop(call);
    let _ = rig.double.journal().wait_for("cancelled");
}

#[test]
fn a_request_is_made_again_with_answers_and_meets_the_call_that_asked() {
    let rig = Rig::new();
    let other = token(&rig.home, "other");
    let (caller, other) = (Caller::new(&rig.server, &rig.token), Caller::new(&rig.server, &other));
    let call = || {
        let meta = json!({"io.modelcontextprotocol/clientCapabilities": {"elicitation": {}}});
        json!({"name": "s__ask_elicitation", "arguments": {}, "_meta": meta})
    };
    let required = caller.ask_modern(&json!(1), "tools/call", &call()).answer()["result"].take();
    assert_eq!(required["resultType"], "input_required", "{required}");
    let question = required["inputRequests"].as_object().unwrap().keys().next().unwrap().clone();
    let answer = json!({"action": "accept", "content": {"name": "Ada"}});
    let mut again = call();
    again["requestState"] = required["requestState"].clone();
    again["inputResponses"] = json!({question: answer});
    let refused = other.ask_modern(&json!(2), "tools/call", &again).answer();
    assert_eq!(refused["error"]["code"], -32602, "another client's state: {refused}");
    let answered = caller.ask_modern(&json!(3), "tools/call", &again).answer();
    let text = answered["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answered}"));
    assert_eq!(serde_json::from_str::<Value>(text).unwrap(), json!({"result": answer}));
    let over = caller.ask_modern(&json!(4), "tools/call", &again).answer();
    assert_eq!(over["error"]["code"], -32602, "{over}");
}
