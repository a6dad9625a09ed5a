//! What `harbor mcp` serves besides tools: resources, prompts, completions, messages; and what servers ask its client.

use std::time::Duration;

use harbor_tests::bridge::shut_down_detached;
use harbor_tests::client::{CALL, LIST};
use harbor_tests::{Bridge, Client, DOWN_LIMIT, Direct, Double, Home, LIMIT, wait_until};
use serde_json::{Value, json};

const ORIGIN: &str = "client://ai";
const NOTE: &str = "double://note";
const UPDATED: &str = "notifications/resources/updated";

fn start(home: &Home, args: &[&str]) -> Direct {
    Direct::start(home.command("harbor").args(["mcp", "--client", "ai"]).args(args))
}

/// A client of the older generation that can answer questions.
fn greeted(home: &Home, capabilities: &Value) -> Direct {
    let mut mcp = start(home, &[]);
    let info = json!({"name": "t", "version": "1"});
    let params = json!({"protocolVersion": "2025-11-25", "capabilities": capabilities, "clientInfo": info});
    let offered = mcp.ask("initialize", &params)["result"]["capabilities"].take();
    let offers: Vec<_> = offered.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(offers, ["completions", "logging", "prompts", "resources", "tools"]);
    mcp.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}).to_string());
    mcp
}

fn modern(params: &Value, capabilities: &Value) -> Value {
    let mut params = params.clone();
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": capabilities,
    });
    params
}

fn end(mut mcp: Direct) {
    mcp.close();
    let status = mcp.wait(DOWN_LIMIT).expect("it ends with its stdin");
    assert!(status.success(), "{status}");
    assert_eq!(mcp.stderr(), "");
}

fn wait_for(mcp: &Direct, method: &str) -> Value {
    loop {
        let message = mcp.next_message();
        if message["method"] == method {
            return message;
        }
    }
}

/// What a list has.
/// A list of servers' offers, without Harbor's own prompts.
fn list(mcp: &mut Direct, kind: &str) -> Value {
    let method = if kind == "resourceTemplates" { "resources/templates" } else { kind };
    let listed = mcp.ask(&format!("{method}/list"), &json!({}))["result"][kind].take();
    let of_servers = |item: &&Value| !item["name"].as_str().is_some_and(|name| name.starts_with("harbor__"));
    listed
        .as_array()
        .unwrap_or_else(|| panic!("{kind}: {listed}"))
        .iter()
        .filter(of_servers)
        .cloned()
        .collect()
}

fn text(answer: &Value) -> Value {
    let text = answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}"));
    serde_json::from_str(text).unwrap_or_else(|_| panic!("{answer}"))
}

#[test]
fn resources_and_prompts_of_all_servers_are_listed_read_and_completed() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    bridge.add_and_connect("s", &Double::sound(&home));
    let mut mcp = greeted(&home, &json!({}));
    let resource = &list(&mut mcp, "resources")[0];
    assert_eq!((&resource["uri"], &resource["novel"]), (&json!(NOTE), &json!([1e2])));
    assert_eq!(list(&mut mcp, "resourceTemplates")[0]["uriTemplate"], format!("{NOTE}/{{name}}"));
    assert_eq!(list(&mut mcp, "prompts")[0]["name"], "s__greet");

    let own = mcp.ask("prompts/list", &json!({}))["result"]["prompts"].take();
    assert!(own.to_string().contains("harbor__compare-prices"), "{own}");
    let asked = json!({"name": "harbor__search", "arguments": {"question": "Do herons migrate?"}});
    let got = mcp.ask("prompts/get", &asked)["result"]["messages"][0]["content"]["text"].take();
    assert!(got.as_str().unwrap().starts_with("Find out on the web: Do herons migrate?\n"), "{got}");
    let error = mcp.ask("prompts/get", &json!({"name": "harbor__search"}))["error"].take();
    assert_eq!(error["code"], -32602, "{error}");
    assert!(error["message"].as_str().unwrap().contains("the prompt needs `question`"), "{error}");

    for uri in [NOTE, "double://note/ada", "harbor://s/double%3A%2F%2Fnote"] {
        let read = mcp.ask("resources/read", &json!({"uri": uri}));
        assert_eq!(read["result"]["contents"][0]["text"], "a note", "{read}");
    }
    let got = mcp.ask("prompts/get", &json!({"name": "s__greet", "arguments": {"who": "Ada"}}));
    assert_eq!(got["result"]["messages"][0]["content"]["text"], "Hello, Ada!");
    let reference = json!({"type": "ref/prompt", "name": "s__greet"});
    let params = json!({"ref": reference, "argument": {"name": "who", "value": "A"}});
    let completion = mcp.ask("completion/complete", &params)["result"]["completion"].take();
    assert_eq!(completion["values"], json!(["Ada", "Alan"]));
    let error = mcp.ask("prompts/get", &json!({"name": "s__greet"}))["error"].take();
    assert_eq!(
        (&error["code"], &error["message"]),
        (&json!(-32602), &json!("the double greets somebody, or nobody"))
    );
    assert_eq!(mcp.ask("resources/read", &json!({"uri": "other:"}))["error"]["code"], -32002);
    assert_eq!(mcp.ask("prompts/get", &json!({"name": "nobody"}))["error"]["code"], -32602);

    // Two servers with the same URI: each is read where it is meant, and nobody guesses.
    bridge.add_and_connect("t", &Double::sound(&home));
    wait_for(&mcp, "notifications/resources/list_changed");
    let uris: Vec<_> = list(&mut mcp, "resources")
        .as_array()
        .unwrap()
        .iter()
        .map(|resource| resource["uri"].clone())
        .collect();
    assert_eq!(uris, ["harbor://s/double%3A%2F%2Fnote", "harbor://t/double%3A%2F%2Fnote"]);
    let read = mcp.ask("resources/read", &json!({"uri": uris[1]}));
    assert_eq!(read["result"]["contents"][0]["text"], "a note", "{read}");
    let error = mcp.ask("resources/read", &json!({"uri": NOTE}))["error"]["message"].take();
    assert!(error.as_str().unwrap().contains(uris[1].as_str().unwrap()), "{error}");

    let audit = bridge.audit(&json!({"origin": ORIGIN}));
    let events =
        |event: &str| audit.iter().filter(|line| line["event"] == event && line["by"] == ORIGIN).count();
    assert_eq!((events("read_resource"), events("get_prompt"), events("complete")), (4, 2, 1), "{audit:?}");
    end(mcp);
}

/// As tools are: a request starts the server.
#[test]
fn what_a_server_offered_is_remembered_while_it_does_not_run_and_by_the_next_bridge() {
    let home = Home::new();
    let mut bridge = Bridge::start(&home);
    bridge.add_and_connect("s", &Double::sound(&home));
    let mut mcp = greeted(&home, &json!({}));
    assert_eq!(list(&mut mcp, "prompts")[0]["name"], "s__greet");
    end(mcp);
    assert!(bridge.stop().success());
    let bridge = Bridge::start(&home);
    let mut mcp = greeted(&home, &json!({}));
    assert_eq!(list(&mut mcp, "resources")[0]["uri"], NOTE);
    assert_eq!(list(&mut mcp, "resourceTemplates")[0]["uriTemplate"], format!("{NOTE}/{{name}}"));
    assert_eq!(
        (list(&mut mcp, "prompts")[0]["name"].take(), bridge.server("s")["state"].take()),
        (json!("s__greet"), json!("stopped"))
    );
    let read = mcp.ask("resources/read", &json!({"uri": NOTE}));
    assert_eq!(read["result"]["contents"][0]["text"], "a note", "{read}");
    // The person has stopped it: no request starts it.
    bridge.call("disconnect_server", &json!({"server_id": "s"})).unwrap();
    assert_eq!(list(&mut mcp, "prompts"), json!([]));
    end(mcp);
}

#[test]
fn what_else_a_server_offers_goes_with_all_of_its_tools() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    bridge.add_and_connect("s", &Double::sound(&home));
    let owner = bridge.speaking_for(ORIGIN);
    owner.grant(LIST, "ALLOW_ALWAYS", &json!({}));
    owner.grant(CALL, "ALLOW_ALWAYS", &json!({"allowed_tools": ["s/echo"]}));
    let mut mcp = greeted(&home, &json!({}));
    for kind in ["resources", "resourceTemplates", "prompts"] {
        assert_eq!(list(&mut mcp, kind), json!([]), "{kind}");
    }
    for (method, params) in [
        ("resources/read", json!({"uri": "harbor://s/double%3A%2F%2Fnote"})),
        ("resources/subscribe", json!({"uri": "harbor://s/double%3A%2F%2Fnote"})),
        ("prompts/get", json!({"name": "s__greet", "arguments": {"who": "Ada"}})),
    ] {
        let error = mcp.ask(method, &params)["error"]["message"].take();
        assert!(error.as_str().unwrap().contains("require all tools (`s/*`)"), "{method}: {error}");
    }
    let refused = bridge.audit(&json!({"origin": ORIGIN}));
    assert_eq!(refused.iter().filter(|line| line["event"] == "refused").count(), 3, "{refused:?}");
    owner.grant(CALL, "ALLOW_ALWAYS", &json!({"allowed_tools": ["s/*"]}));
    wait_for(&mcp, "notifications/resources/list_changed");
    let read = mcp.ask("resources/read", &json!({"uri": NOTE}));
    assert_eq!(read["result"]["contents"][0]["text"], "a note", "{read}");
    end(mcp);
}

#[test]
fn subscriptions_tell_of_changes_until_they_or_the_grants_end() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    bridge.add_and_connect("s", &Double::sound(&home));
    let mut mcp = greeted(&home, &json!({}));
    assert_eq!(mcp.ask("resources/subscribe", &json!({"uri": NOTE}))["result"], json!({}));
    let touch = || bridge.tool_text("s", "touch", &json!({"uri": NOTE}));
    touch();
    assert_eq!(wait_for(&mcp, UPDATED)["params"], json!({"uri": NOTE}));
    assert!(bridge.speaking_for(ORIGIN).revoke(CALL, None));
    touch();
    nothing_more(&mut mcp, UPDATED);
    bridge.speaking_for(ORIGIN).grant(CALL, "ALLOW_ALWAYS", &json!({}));
    touch();
    assert_eq!(wait_for(&mcp, UPDATED)["params"], json!({"uri": NOTE}));
    assert_eq!(mcp.ask("resources/unsubscribe", &json!({"uri": NOTE}))["result"], json!({}));
    touch();
    nothing_more(&mut mcp, UPDATED);
    let long = format!("double://{}", "x".repeat(9000));
    let error = mcp.ask("resources/subscribe", &json!({"uri": format!("harbor://s/{long}")}))["error"].take();
    assert!(error["message"].as_str().unwrap().contains("8 KiB"), "{error}");
    end(mcp);
}

/// Asks for something behind which nothing of what was told before can be.
fn nothing_more(mcp: &mut Direct, method: &str) {
    let last = mcp.send_request("prompts/list", &json!({}));
    loop {
        let message = mcp.next_message();
        if message["id"] == last {
            return;
        }
        assert_ne!(message["method"], method, "{message}");
    }
}

#[test]
fn one_stream_of_a_modern_server_has_what_all_its_subscribers_want() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    let double = Double::sound(&home).modern().paged();
    bridge.add_and_connect("s", &double);
    let mut mcp = greeted(&home, &json!({}));
    // Both at once: neither may cost the other its answer.
    let uris = [NOTE.to_owned(), format!("{NOTE}-2")];
    let ids = uris.clone().map(|uri| mcp.send_request("resources/subscribe", &json!({"uri": uri})));
    let mut answered = [mcp.next_message(), mcp.next_message()].map(|answer| {
        assert_eq!(answer["result"], json!({}), "{answer}");
        answer["id"].as_u64().unwrap()
    });
    answered.sort_unstable();
    assert_eq!(answered, ids);
    let touch = |uri: &str| bridge.tool_text("s", "touch", &json!({"uri": uri}));
    for uri in &uris {
        touch(uri);
        assert_eq!(wait_for(&mcp, UPDATED)["params"], json!({"uri": uri}));
    }
    // The newer generation's way.
    let params = modern(&json!({"notifications": {"resourceSubscriptions": [NOTE, "other:"]}}), &json!({}));
    let listening = mcp.send_request("subscriptions/listen", &params);
    let heard = wait_for(&mcp, "notifications/subscriptions/acknowledged");
    assert_eq!(heard["params"]["notifications"], json!({"resourceSubscriptions": [NOTE, "other:"]}));
    nothing_more(&mut mcp, UPDATED);
    touch(NOTE);
    let told = [wait_for(&mcp, UPDATED), wait_for(&mcp, UPDATED)];
    let meta = json!({"io.modelcontextprotocol/subscriptionId": listening});
    assert_eq!((&told[0]["params"], &told[1]["params"]["_meta"]), (&json!({"uri": NOTE}), &meta));
    // A subscription that is cancelled while it is under way takes nothing from the others.
    let id = mcp.send_request("resources/subscribe", &json!({"uri": format!("{NOTE}-3")}));
    let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}});
    mcp.send(&cancel.to_string());
    nothing_more(&mut mcp, UPDATED);
    touch(&uris[1]);
    assert_eq!(wait_for(&mcp, UPDATED)["params"], json!({"uri": uris[1]}));
    let _ = bridge.tool_text("s", "change_tools", &json!({}));
    wait_until("the new tool", LIMIT, || {
        bridge.call("mcp_list_tools", &json!({"server_id": "s"})).unwrap().text.contains("added_0")
    });
    end(mcp);
}

#[test]
fn what_a_client_wants_to_be_told_is_told_by_the_next_bridge_too() {
    let home = Home::new();
    {
        let bridge = Bridge::start(&home);
        bridge.add("s", &Double::sound(&home).paged().auto_start());
    }
    let mut mcp = greeted(&home, &json!({}));
    assert!(!list_once_there(&mut mcp, "resources").is_empty());
    let uris = [NOTE.to_owned(), format!("{NOTE}-2"), format!("{NOTE}-3")];
    for uri in &uris {
        assert_eq!(mcp.ask("resources/subscribe", &json!({"uri": uri}))["result"], json!({}), "{uri}");
    }
    assert_eq!(mcp.ask("logging/setLevel", &json!({"level": "info"}))["result"], json!({}));
    shut_down_detached(&home);
    assert!(!list_once_there(&mut mcp, "resources").is_empty());
    let owner = Client::attach(&home);
    for uri in &uris {
        // Its turn to be asked for again may not have come.
        wait_until("the subscription", LIMIT, || {
            let _ = owner.tool_text("s", "touch", &json!({"uri": uri}));
            std::iter::from_fn(|| mcp.line_within(Duration::from_millis(50)))
                .any(|line| String::from_utf8_lossy(&line).contains(&format!("\"uri\":\"{uri}\"")))
        });
    }
    let _ = owner.tool_text("s", "log", &json!({}));
    assert_eq!(wait_for(&mcp, "notifications/message")["params"]["logger"], "s");
    end(mcp);
    shut_down_detached(&home);
}

/// A list of a server that is on its way up.
fn list_once_there(mcp: &mut Direct, kind: &str) -> Vec<Value> {
    loop {
        let listed = list(mcp, kind);
        if listed != json!([]) {
            return listed.as_array().unwrap().clone();
        }
        let _ = wait_for(mcp, &format!("notifications/{kind}/list_changed"));
    }
}

#[test]
fn what_servers_of_both_generations_ask_is_answered_by_clients_of_both() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    bridge.add_and_connect("old", &Double::sound(&home));
    bridge.add_and_connect("new", &Double::sound(&home).modern());
    let capabilities = json!({"sampling": {}, "elicitation": {"form": {}}});
    let result = json!({"action": "accept", "content": {"name": "Ada"}});
    // What the double says that it got: as a response, or among the answers of a second request.
    let got = |server: &str| match server {
        "old" => json!({"result": result}),
        _ => json!({"q": result}),
    };
    let mut mcp = greeted(&home, &capabilities);
    for server in ["old", "new"] {
        for (tool, method) in
            [("ask_elicitation", "elicitation/create"), ("ask_sampling", "sampling/createMessage")]
        {
            let call = json!({"name": format!("{server}__{tool}"), "arguments": {}});
            let id = mcp.send_request("tools/call", &call);
            let asked = wait_for(&mcp, method);
            let answer = json!({"jsonrpc": "2.0", "id": asked["id"], "result": result});
            mcp.send(&answer.to_string());
            let answered = mcp.next_message();
            assert_eq!((&answered["id"], text(&answered)), (&json!(id), got(server)), "{server} {tool}");
        }
        let call = |arguments: Value| {
            modern(
                &json!({"name": format!("{server}__ask_elicitation"), "arguments": arguments}),
                &capabilities,
            )
        };
        let required = mcp.ask("tools/call", &call(json!({})))["result"].take();
        assert_eq!(required["resultType"], "input_required", "{server}: {required}");
        let (name, asked) = required["inputRequests"].as_object().unwrap().iter().next().unwrap();
        assert_eq!(
            (&asked["method"], &asked["params"]["message"]),
            (&json!("elicitation/create"), &json!("Your name?"))
        );
        let mut again = call(json!({}));
        again["requestState"] = required["requestState"].clone();
        again["inputResponses"] = json!({name: result});
        let answered = mcp.ask("tools/call", &again);
        assert_eq!(text(&answered), got(server), "{server}");
        assert_eq!(answered["result"]["resultType"], "complete");
    }
    let asked = bridge.audit(&json!({})).into_iter().filter(|line| line["event"] == "question").count();
    assert_eq!(asked, 6);
    end(mcp);
}

#[test]
fn a_question_goes_to_nobody_but_whoever_has_made_the_call() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    let double = Double::sound(&home);
    bridge.add_and_connect("s", &double);
    bridge.add_and_connect("new", &Double::sound(&home).modern());
    let mut mcp = greeted(&home, &json!({"sampling": {}, "elicitation": {}}));
    // Somebody else's call is open, too: it cannot be told whose this is about.
    let other = bridge.send_tool("s", "sleep", &json!({"ms": 60_000}));
    let _ = double.journal().wait_for("call sleep");
    let answered = mcp.tool("s__ask_sampling", &json!({}));
    assert_eq!(text(&answered)["error"]["code"], -1, "{answered}");
    drop(other);
    // Nor is anybody asked about the call of somebody who cannot answer.
    let slow = mcp.send_request("tools/call", &json!({"name": "new__sleep", "arguments": {"ms": 60_000}}));
    assert!(bridge.tool("new", "ask_sampling", &json!({})).is_err());
    let cancel =
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": slow}});
    mcp.send(&cancel.to_string());
    nothing_more(&mut mcp, "sampling/createMessage");
    end(mcp);
}

#[test]
fn a_client_that_leaves_with_a_question_open_keeps_no_server_waiting() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    let double = Double::sound(&home);
    bridge.add_and_connect("s", &double);
    let mut mcp = greeted(&home, &json!({"elicitation": {}}));
    let _ = mcp.send_request("tools/call", &json!({"name": "s__ask_elicitation", "arguments": {}}));
    let _ = wait_for(&mcp, "elicitation/create");
    end(mcp);
    // What is refused after the end of its call is nobody's answer.
    let _ = double.journal().wait_for("answered");
    assert_eq!(double.journal().count("cancelled"), 1);
    assert_eq!(bridge.tool_text("s", "sleep", &json!({"ms": 1})), "slept");
}

#[test]
fn messages_of_servers_reach_a_client_that_sets_a_level() {
    for is_modern in [false, true] {
        let home = Home::new();
        let bridge = Bridge::start(&home);
        let double = Double::sound(&home);
        let double = if is_modern { double.modern() } else { double };
        bridge.add_and_connect("s", &double);
        let mut mcp = greeted(&home, &json!({}));
        assert_eq!(list(&mut mcp, "prompts")[0]["name"], "s__greet");
        let set = |mcp: &mut Direct, level: &str| {
            assert_eq!(mcp.ask("logging/setLevel", &json!({"level": level}))["result"], json!({}), "{level}");
        };
        set(&mut mcp, "info");
        let call = json!({"name": "s__log", "arguments": {}});
        let message = json!({"level": "warning", "logger": "s", "data": "a log line by MCP"});
        for _ in 0..50 {
            let id = mcp.send_request("tools/call", &call);
            let told = wait_for(&mcp, "notifications/message");
            assert_eq!(told["params"], message);
            assert_eq!(
                mcp.next_message()["id"],
                id,
                "no answer overtakes what its server has told before it"
            );
        }
        set(&mut mcp, "error");
        let _ = mcp.ask("tools/call", &call);
        nothing_more(&mut mcp, "notifications/message");
        assert_eq!(mcp.ask("logging/setLevel", &json!({"level": "loud"}))["error"]["code"], -32602);
        end(mcp);
    }
}

#[test]
fn a_lazy_client_finds_its_tools_by_three() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    bridge.add_and_connect("s", &Double::sound(&home));
    let mut mcp = start(&home, &["--lazy"]).initialized();
    let tools = list(&mut mcp, "tools");
    let names: Vec<_> = tools.as_array().unwrap().iter().map(|tool| tool["name"].clone()).collect();
    assert_eq!(names, ["search_tools", "describe_tool", "call_tool"]);
    let said = |answer: Value| answer["result"]["content"][0]["text"].as_str().unwrap().to_owned();
    let found = said(mcp.tool("search_tools", &json!({"query": "echo"})));
    assert_eq!(found, "s__echo: The tool echo.");
    let described = said(mcp.tool("describe_tool", &json!({"name": "s__echo"})));
    assert_eq!(serde_json::from_str::<Value>(&described).unwrap()["inputSchema"], json!({"type": "object"}));
    let called = mcp.tool("call_tool", &json!({"name": "s__echo", "arguments": {"n": 1}}));
    assert_eq!(called["result"]["structuredContent"], json!({"n": 1}));
    end(mcp);
}
