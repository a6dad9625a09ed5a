//! What is served besides tools, and what servers ask: the same scene.

use super::*;

pub const RESOURCES: &str = r#"{"servers":[{"server_id":"s","items":[{"uri":"a:1"},{"uri":"both:"}]},
    {"server_id":"t","items":[{"uri":"both:"}]}]}"#;
pub const TEMPLATES: &str = r#"{"servers":[{"server_id":"t","items":[{"uriTemplate":"t:{x}"}]}]}"#;
pub const PROMPTS: &str = r#"{"servers":[{"server_id":"s","items":[{"name":"greet","arguments":[]}]}]}"#;

impl Scene {
    /// Answers the lists that a URI is looked for in.
    fn show_resources(&mut self) {
        self.answer("host_list_offers", RESOURCES);
        self.answer("host_list_offers", TEMPLATES);
    }

    fn asked_of(&self, tag: &str) -> &Value {
        &self
            .asked
            .iter()
            .find(|(_, text)| text["type"] == tag)
            .unwrap_or_else(|| panic!("{:?}", self.asked))
            .1
    }
}

#[test]
fn resources_are_read_where_they_are_listed() {
    let mut scene = Scene::up();
    scene.ask(1, "resources/list", &json!({}));
    assert_eq!(scene.asked_of("host_list_offers")["kind"], "resources");
    scene.answer("host_list_offers", RESOURCES);
    let uris = json!([{"uri": "a:1"}, {"uri": "harbor://s/both%3A"}, {"uri": "harbor://t/both%3A"}]);
    assert_eq!(scene.said()["result"]["resources"], uris);
    scene.ask(2, "resources/read", &json!({"uri": "a:1"}));
    let asked = scene.asked_of("mcp_read_resource");
    assert_eq!((&asked["server_id"], &asked["uri"]), (&json!("s"), &json!("a:1")));
    scene.answer("mcp_read_resource", r#"{"resource":{"contents":[{"z":1e2}]}}"#);
    assert_eq!(scene.said()["result"], json!({"contents": [{"z": 1e2}]}));
    // What no list has shown is looked for; a template may fit.
    scene.ask(3, "resources/read", &modern_with(&json!({"uri": "t:9"})));
    scene.show_resources();
    assert_eq!(scene.asked_of("mcp_read_resource")["server_id"], "t");
    scene.answer("mcp_read_resource", r#"{"resource":{"contents":[]}}"#);
    let kept = json!({"contents": [], "resultType": "complete", "ttlMs": 0, "cacheScope": "private"});
    assert_eq!(scene.said()["result"], kept);
    for (uri, params, code) in [
        ("x:", json!({"uri": "x:"}), NO_RESOURCE),
        ("x:", modern_with(&json!({"uri": "x:"})), INVALID_PARAMS),
        ("both:", json!({"uri": "both:"}), NO_RESOURCE),
    ] {
        scene.ask(4, "resources/read", &params);
        scene.show_resources();
        let said = scene.said();
        assert_eq!(said["error"]["code"], code, "{said}");
        let names =
            said["error"]["message"].as_str().unwrap().contains("harbor://s/both%3A or harbor://t/both%3A");
        assert_eq!(names, uri == "both:", "{said}");
    }
    // The server's own error is the client's.
    scene.ask(5, "resources/read", &json!({"uri": "a:1"}));
    let details = json!({"server_id": "s", "code": -32002, "message": "gone", "data": {"uri": "a:1"}});
    scene
        .refuse("mcp_read_resource", &json!({"code": "ERR_TOOL_FAILED", "message": "m", "details": details}));
    assert_eq!(scene.said()["error"], json!({"code": -32002, "message": "gone", "data": {"uri": "a:1"}}));
}

#[test]
fn prompts_have_names_like_tools_and_are_completed() {
    let mut scene = Scene::up();
    scene.ask(1, "prompts/list", &json!({}));
    scene.answer("host_list_offers", PROMPTS);
    assert_eq!(scene.said()["result"]["prompts"], json!([{"name": "s__greet", "arguments": []}]));
    scene.ask(2, "prompts/get", &json!({"name": "s__greet", "arguments": {"who": "me"}}));
    let asked = scene.asked_of("mcp_get_prompt");
    assert_eq!((&asked["prompt_name"], &asked["arguments"]), (&json!("greet"), &json!({"who": "me"})));
    scene.answer("mcp_get_prompt", r#"{"prompt":{"messages":[]}}"#);
    assert_eq!(scene.said()["result"], json!({"messages": []}));
    let argument = json!({"name": "who", "value": "m"});
    scene.ask(
        3,
        "completion/complete",
        &json!({"ref": {"type": "ref/prompt", "name": "s__greet"}, "argument": argument}),
    );
    let asked = scene.asked_of("mcp_complete");
    assert_eq!(
        (&asked["reference"], &asked["argument"]),
        (&json!({"type": "ref/prompt", "name": "greet"}), &argument)
    );
    scene.answer("mcp_complete", r#"{"result":{"completion":{"values":["me"]}}}"#);
    assert_eq!(scene.said()["result"]["completion"]["values"], json!(["me"]));
    scene.ask(
        4,
        "completion/complete",
        &json!({"ref": {"type": "ref/resource", "uri": "t:{x}"}, "argument": argument}),
    );
    scene.show_resources();
    assert_eq!(scene.asked_of("mcp_complete")["reference"], json!({"type": "ref/resource", "uri": "t:{x}"}));
    for params in
        [json!({}), json!({"ref": {"type": "x"}}), json!({"ref": {"type": "ref/prompt", "name": "n"}})]
    {
        scene.ask(5, "completion/complete", &params);
        assert_eq!(scene.lines.pop().unwrap()["error"]["code"], INVALID_PARAMS, "{params}");
    }
}

#[test]
fn a_client_is_told_of_resources_that_it_subscribed_to_also_by_the_next_bridge() {
    let mut scene = Scene::up();
    scene.ask(1, "resources/subscribe", &json!({"uri": "harbor://t/both%3A"}));
    assert_eq!(scene.asked_of("mcp_subscribe_resource")["uri"], "both:");
    scene.answer("mcp_subscribe_resource", r#"{"subscribed":true}"#);
    assert_eq!(scene.said()["result"], json!({}));
    let mut params = modern(MODERN);
    params["notifications"] = json!({"resourceSubscriptions": ["a:1"]});
    scene.ask(2, "subscriptions/listen", &params);
    assert_eq!(scene.said()["params"]["notifications"]["resourceSubscriptions"], json!(["a:1"]));
    scene.show_resources();
    scene.answer("mcp_subscribe_resource", r#"{"subscribed":true}"#);
    let push = |server: &str, uri: &str| json!({"type": "resource_updated", "server_id": server, "uri": uri});
    scene.frame(&push("t", "both:").to_string());
    assert_eq!(scene.said()["params"], json!({"uri": "harbor://t/both%3A"}));
    scene.frame(&push("s", "a:1").to_string());
    let meta = json!({"io.modelcontextprotocol/subscriptionId": 2});
    assert_eq!(scene.said()["params"], json!({"_meta": meta, "uri": "a:1"}));
    scene.frame(&push("s", "both:").to_string());
    assert_eq!(scene.lines.len(), 0, "that is another one");
    scene.lose();
    scene.ask(9, "tools/list", &json!({}));
    scene.connect();
    // One after the other.
    for uri in ["a:1", "both:"] {
        assert_eq!(scene.asked_of("mcp_subscribe_resource")["uri"], uri);
        scene.answer("mcp_subscribe_resource", r#"{"subscribed":true}"#);
    }
    scene.asked.clear();
    scene.ask(3, "resources/unsubscribe", &json!({"uri": "harbor://t/both%3A"}));
    scene.line(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}"#);
    assert_eq!(scene.tags(), ["mcp_unsubscribe_resource", "mcp_unsubscribe_resource"]);
}

#[test]
fn what_a_server_asks_goes_to_the_client_and_its_answer_back() {
    let mut scene = Scene::up();
    scene.listed();
    let capabilities = json!({"sampling": {}, "elicitation": {}});
    scene.ask(1, "initialize", &json!({"protocolVersion": "2025-11-25", "capabilities": capabilities}));
    scene.take_lines();
    scene.call(2, "s__echo");
    assert_eq!(scene.asked_of("host_call_tool")["answers"], capabilities);
    let number = scene.asked[0].0.clone();
    let ask = |id: u64| {
        let push = json!({"type": "ask", "ask_id": id, "request_id": number, "server_id": "s",
            "method": "elicitation/create", "params": {"message": "who?"}});
        push.to_string()
    };
    scene.frame(&ask(7));
    let asked = scene.said();
    assert_eq!(
        (&asked["method"], &asked["params"]["message"]),
        (&json!("elicitation/create"), &json!("who?"))
    );
    scene.line(&json!({"jsonrpc": "2.0", "id": asked["id"], "result": {"action": "decline"}}).to_string());
    let answered = scene.asked_of("mcp_answer");
    assert_eq!((&answered["ask_id"], &answered["result"]), (&json!(7), &json!({"action": "decline"})));
    scene.asked.retain(|(_, text)| text["type"] != "mcp_answer");
    scene.line(&json!({"jsonrpc": "2.0", "id": asked["id"], "result": {}}).to_string());
    assert_eq!(scene.tags(), ["host_call_tool"], "each question is answered once");
    // A question dies with its call.
    scene.frame(&ask(8));
    let asked = scene.said();
    scene.answer("host_call_tool", r#"{"result":{}}"#);
    let lines = scene.take_lines();
    assert_eq!(
        (&lines[0]["method"], &lines[0]["params"]["requestId"]),
        (&json!("notifications/cancelled"), &asked["id"])
    );
    assert_eq!(lines[1]["id"], 2);
    scene.line(
        &json!({"jsonrpc": "2.0", "id": asked["id"], "error": {"code": -1, "message": "no"}}).to_string(),
    );
    assert_eq!(scene.asked.len(), 0);
}

fn modern_with(params: &Value) -> Value {
    let mut whole = modern(MODERN);
    whole.as_object_mut().unwrap().extend(params.as_object().unwrap().clone());
    whole
}

#[test]
fn a_modern_client_is_asked_by_results_and_makes_its_request_again() {
    let mut scene = Scene::up();
    scene.listed();
    let params = modern_with(&json!({"name": "s__echo", "arguments": {"x": 1}}));
    scene.ask(1, "tools/call", &params);
    let number = scene.asked[0].0.clone();
    let ask = |id: u64| {
        let push = json!({"type": "ask", "ask_id": id, "request_id": number, "server_id": "s",
            "method": "elicitation/create", "params": {"n": id}});
        push.to_string()
    };
    scene.frame(&ask(7));
    scene.frame(&ask(8));
    let said = scene.said();
    assert_eq!((&said["id"], &said["result"]["resultType"]), (&json!(1), &json!("input_required")));
    let question = json!({"q7": {"method": "elicitation/create", "params": {"n": 7}}});
    assert_eq!(said["result"]["inputRequests"], question);
    let state = said["result"]["requestState"].clone();
    let again = |params: &Value, responses: Value| {
        let mut params = params.clone();
        params["requestState"] = state.clone();
        params["inputResponses"] = responses;
        params
    };
    // By MCP, another request has another id, and many clients give each request's progress its id.
    let mut params = params;
    params["_meta"]["progressToken"] = json!(3);
    let other = modern_with(&json!({"name": "t__now", "arguments": {}}));
    scene.ask(2, "tools/call", &again(&other, json!({})));
    assert_eq!(
        scene.said()["error"]["code"],
        INVALID_PARAMS,
        "the state of one request is none of another's"
    );
    scene.ask(3, "tools/call", &again(&params, json!({"q7": {"action": "accept"}})));
    assert_eq!(scene.asked_of("mcp_answer")["result"], json!({"action": "accept"}));
    assert_eq!(scene.said()["result"]["inputRequests"]["q8"]["params"], json!({"n": 8}));
    scene.asked.retain(|(_, text)| text["type"] != "mcp_answer");
    scene.ask(4, "tools/call", &again(&params, json!({})));
    let refused = scene.asked_of("mcp_answer");
    assert_eq!((&refused["ask_id"], &refused["result"]), (&json!(8), &Value::Null));
    assert_eq!(scene.tags(), ["host_call_tool", "mcp_answer"], "the call itself is not made again");
    let progress = json!({"type": "progress", "request_id": number, "progress": 1});
    scene.frame(&progress.to_string());
    assert_eq!(scene.said()["params"]["progressToken"], 3);
    scene.answer("host_call_tool", r#"{"result":{"content":[]}}"#);
    assert_eq!(
        scene.said(),
        json!({"jsonrpc": "2.0", "id": 4, "result": {"resultType": "complete", "content": []}})
    );
    scene.ask(5, "tools/call", &again(&params, json!({})));
    assert_eq!(scene.said()["error"]["code"], INVALID_PARAMS, "it is over");
}

#[test]
fn what_ends_before_its_client_has_answered_is_given_when_it_asks_again() {
    let mut scene = Scene::up();
    scene.listed();
    let params = modern_with(&json!({"name": "s__echo"}));
    scene.ask(1, "tools/call", &params);
    let number = scene.asked[0].0.clone();
    scene.frame(&json!({"type": "ask", "ask_id": 1, "request_id": number, "server_id": "s", "method": "m", "params": {}}).to_string());
    let state = scene.said()["result"]["requestState"].clone();
    scene.answer("host_call_tool", r#"{"result":{"isError":true}}"#);
    assert_eq!(scene.lines.len(), 0);
    let mut again = params.clone();
    again["requestState"] = state;
    scene.ask(2, "tools/call", &again);
    assert_eq!(scene.said()["result"]["isError"], true);
}

#[test]
fn messages_of_servers_come_from_the_level_on_that_was_asked_for() {
    let mut scene = Scene::new(&[]);
    scene.ask(1, "logging/setLevel", &json!({"level": "loud"}));
    assert_eq!(scene.said()["error"]["code"], INVALID_PARAMS);
    scene.ask(2, "logging/setLevel", &json!({"level": "warning"}));
    assert_eq!(scene.said()["result"], json!({}));
    scene.connect();
    assert_eq!(scene.asked_of("mcp_follow_messages")["level"], "warning");
    scene.frame(r#"{"type":"server_message","server_id":"s","level":"error","text":"a\nb"}"#);
    let said = scene.said();
    assert_eq!(
        (&said["method"], &said["params"]),
        (&json!("notifications/message"), &json!({"level": "error", "logger": "s", "data": "a\nb"}))
    );
}

#[test]
fn a_lazy_client_finds_describes_and_calls_tools_by_three() {
    let mut scene = Scene::up();
    scene.machine.offering = Offering::Lazy;
    scene.ask(1, "tools/list", &json!({}));
    assert_eq!(scene.said()["result"]["tools"].as_array().unwrap().len(), 3);
    let call = |scene: &mut Scene, name: &str, arguments: Value| {
        scene.ask(2, "tools/call", &json!({"name": name, "arguments": arguments}));
    };
    call(&mut scene, "search_tools", json!({"query": "now"}));
    scene.answer("host_list_tools", TOOLS);
    assert_eq!(scene.said()["result"]["content"][0]["text"], "t__now");
    call(&mut scene, "describe_tool", json!({"name": "s__echo"}));
    scene.answer("host_list_tools", TOOLS);
    let described = r#"{"name":"s__echo","inputSchema":{"a":1,"type":"object"}}"#;
    assert_eq!(scene.said()["result"]["content"][0]["text"], described);
    call(&mut scene, "describe_tool", json!({"name": "nobody"}));
    scene.answer("host_list_tools", TOOLS);
    assert_eq!(scene.said()["error"]["code"], INVALID_PARAMS);
    call(&mut scene, "call_tool", json!({"name": "t__now", "arguments": {"n": 1}}));
    let asked = scene.asked_of("host_call_tool");
    assert_eq!((&asked["tool_name"], &asked["args"]), (&json!("t/now"), &json!({"n": 1})));
    scene.answer("host_call_tool", r#"{"result":{}}"#);
    scene.take_lines();
    call(&mut scene, "call_tool", json!({}));
    assert_eq!(scene.said()["error"]["code"], INVALID_PARAMS);
}

#[test]
fn with_a_choice_of_tools_only_servers_that_are_in_it_whole_offer_more() {
    let mut scene = Scene::new(&["s/*", "t/now"]);
    scene.machine.dial();
    scene.connect();
    scene.asked.clear();
    scene.ask(1, "resources/list", &json!({}));
    scene.answer("host_list_offers", RESOURCES);
    assert_eq!(scene.said()["result"]["resources"], json!([{"uri": "a:1"}, {"uri": "both:"}]));
    scene.ask(2, "resources/read", &json!({"uri": "harbor://t/both%3A"}));
    scene.show_resources();
    let said = scene.said();
    assert!(said["error"]["message"].as_str().unwrap().contains("--only"), "{said}");
    scene.ask(3, "prompts/get", &json!({"name": "t__greet"}));
    scene.answer("host_list_offers", PROMPTS);
    assert!(scene.said()["error"]["message"].as_str().unwrap().contains("--only"));
}

#[test]
fn what_waits_for_answers_is_told_of_a_lost_bridge_and_not_made_again() {
    let mut scene = Scene::up();
    scene.listed();
    let params = modern_with(&json!({"name": "s__echo"}));
    scene.ask(1, "tools/call", &params);
    let number = scene.asked[0].0.clone();
    let ask = json!({"type": "ask", "ask_id": 1, "request_id": number, "server_id": "s", "method": "m", "params": {}});
    scene.frame(&ask.to_string());
    let state = scene.said()["result"]["requestState"].clone();
    scene.lose();
    let mut again = params.clone();
    again["requestState"] = state;
    scene.ask(2, "tools/call", &again);
    assert!(scene.failure().contains("may have run"));
    assert_eq!(scene.asked.len(), 0);
}
