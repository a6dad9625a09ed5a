//! The machine between a client and a bridge that the test plays: who is asked what, and who is told what.

mod offers;

use super::super::line::{INVALID_PARAMS, NO_METHOD, NO_RESOURCE, REFUSED};
use super::super::names::Names;
use super::super::offering::Offering;
use super::super::write::MODERN;
use super::requests::VERSION;
use super::*;
use crate::rig::{complete, complete_tools};
use harbor_ipc_proto::client::envelope::Incoming;
use harbor_ipc_proto::client::{ConnectionRequest, Request};
use proptest::prelude::*;
use serde_json::{Value, json};

use offers::{PROMPTS, RESOURCES, TEMPLATES};

/// A machine, and what its other ends see.
struct Scene {
    machine: Machine,
    lines: Vec<Value>,
    /// Requests that the bridge has not answered: id and text.
    asked: Vec<(String, Value)>,
    dials: usize,
    remarks: Vec<String>,
}

/// The identity of its Harbor.
const ME: &str = "aaaaaaaaaaaaaaaa";

const CHANGED: &str = "notifications/tools/list_changed";

const TOOLS: &str = r#"{"tools":[{"serverId":"s","originalName":"echo","inputSchema":{"a":1}},
    {"serverId":"s","originalName":"odd name"},{"serverId":"t","originalName":"now"}]}"#;

impl Scene {
    fn new(only: &[&str]) -> Self {
        let only: Vec<_> = only.iter().map(ToString::to_string).collect();
        let only = (!only.is_empty()).then(|| Allowlist::parse(&only).unwrap());
        let machine = Machine { greeted: true, ..Machine::new(only, Offering::All) };
        Self { machine, lines: Vec::new(), asked: Vec::new(), dials: 0, remarks: Vec::new() }
    }

    /// One that has its bridge, which has nothing to answer.
    fn up() -> Self {
        let mut scene = Self::new(&[]);
        scene.machine.dial();
        scene.connect();
        scene.asked.clear();
        scene
    }

    fn connect(&mut self) {
        self.machine.on_connected(ME.into());
        self.collect();
        self.frame(r#"{"type":"mcp_begin_result","request_id":"begin","granted":true}"#);
    }

    fn collect(&mut self) {
        for out in self.machine.take_out() {
            match out {
                Out::Line(line) => {
                    assert_eq!(line.iter().filter(|byte| **byte == b'\n').count(), 1);
                    self.lines.push(serde_json::from_slice(&line).unwrap());
                }
                Out::Frame(frame, _) => {
                    let incoming = Incoming::parse(&frame[HEADER..]).unwrap();
                    assert!(!matches!(incoming.request, Request::Connection(ConnectionRequest::Attach(_))));
                    let text = serde_json::from_slice(&frame[HEADER..]).unwrap();
                    let id = incoming.envelope.id().into_owned();
                    assert!(self.asked.iter().all(|(open, _)| *open != id), "the bridge would refuse {text}");
                    self.asked.push((id, text));
                }
                Out::Dial => self.dials += 1,
                Out::Remark(text) => self.remarks.push(text),
            }
        }
    }

    fn line(&mut self, line: &str) {
        self.machine.on_line(line.as_bytes());
        self.collect();
    }

    fn ask(&mut self, id: u32, method: &str, params: &Value) {
        self.line(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string());
    }

    fn call(&mut self, id: u32, name: &str) {
        self.ask(id, "tools/call", &json!({"name": name, "arguments": {"x": id}}));
    }

    fn frame(&mut self, frame: &str) {
        self.machine.on_frame(complete(&complete_tools(frame)).as_bytes());
        self.collect();
    }

    fn lose(&mut self) {
        self.asked.clear();
        self.machine.on_lost(&[]);
        self.collect();
    }

    /// Answers the oldest request of this type with these members.
    fn answer(&mut self, tag: &str, members: &str) {
        let id = self.take(tag);
        let rest = members.strip_prefix('{').unwrap();
        self.frame(&format!(r#"{{"type":"{tag}_result","request_id":"{id}",{rest}"#));
    }

    fn refuse(&mut self, tag: &str, error: &Value) {
        let id = self.take(tag);
        self.frame(&json!({"type": "error", "request_id": id, "error": error}).to_string());
    }

    fn take(&mut self, tag: &str) -> String {
        let at = self.asked.iter().position(|(_, text)| text["type"] == tag);
        self.asked.remove(at.unwrap_or_else(|| panic!("{tag} in {:?}", self.asked))).0
    }

    fn tags(&self) -> Vec<&str> {
        self.asked.iter().map(|(_, text)| text["type"].as_str().unwrap()).collect()
    }

    fn take_lines(&mut self) -> Vec<Value> {
        std::mem::take(&mut self.lines)
    }

    /// The only line since the last.
    fn said(&mut self) -> Value {
        let lines = self.take_lines();
        assert_eq!(lines.len(), 1, "{lines:?}");
        lines[0].clone()
    }

    /// A failed call's text.
    fn failure(&mut self) -> String {
        let said = self.said();
        assert_eq!(said["result"]["isError"], true, "{said}");
        said["result"]["content"][0]["text"].as_str().unwrap().to_owned()
    }

    /// Asks for the list and gets it.
    fn listed(&mut self) -> Vec<String> {
        self.ask(900, "tools/list", &json!({}));
        self.answer("host_list_tools", TOOLS);
        let tools = self.said()["result"]["tools"].take();
        tools.as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    }
}

fn modern(version: &str) -> Value {
    json!({"_meta": {VERSION: version, "io.modelcontextprotocol/clientCapabilities": {}}})
}

#[test]
fn what_needs_no_bridge_is_answered_without_one() {
    let mut scene = Scene::new(&[]);
    scene.ask(1, "initialize", &json!({"protocolVersion": "2025-06-18"}));
    assert_eq!(scene.said()["result"]["protocolVersion"], "2025-06-18");
    scene.ask(2, "ping", &json!({}));
    assert_eq!(scene.said(), json!({"jsonrpc": "2.0", "id": 2, "result": {}}));
    scene.ask(3, "server/discover", &modern(MODERN));
    assert_eq!(scene.said()["result"]["supportedVersions"], json!([MODERN]));
    scene.ask(4, "tools/list", &modern("2030-01-01"));
    let error = json!({"supported": [MODERN], "requested": "2030-01-01"});
    let said = scene.said();
    assert_eq!((&said["error"]["code"], &said["error"]["data"]), (&json!(-32022), &error));
    scene.ask(5, "roots/list", &json!({}));
    assert_eq!(scene.said()["error"]["code"], NO_METHOD);
    for params in [json!([]), json!({"name": 7}), json!({"name": "s__x", "arguments": []})] {
        scene.ask(6, "tools/call", &params);
        assert_eq!(scene.said()["error"]["code"], INVALID_PARAMS, "{params}");
    }
    scene.line("garbage");
    assert_eq!(scene.said()["error"]["code"], line::PARSE_ERROR);
    scene.machine.on_overlong_line();
    scene.collect();
    assert_eq!((&scene.lines[0]["id"], &scene.lines[0]["error"]["code"]), (&Value::Null, &json!(-32600)));
    assert_eq!(scene.dials, 0);
}

#[test]
fn nothing_is_asked_before_the_bridge_knows_the_client() {
    let mut scene = Scene::new(&["s/*", "t/x"]);
    scene.machine = scene.machine.going_on_with(Some("b-1"));
    scene.ask(1, "tools/list", &json!({}));
    scene.call(2, "s__echo");
    assert_eq!((scene.dials, scene.tags()), (1, vec![]));
    scene.machine.on_connected(ME.into());
    scene.collect();
    assert_eq!(scene.tags(), ["hello", "mcp_begin", "host_watch"]);
    assert_eq!(scene.asked[1].1["only"], json!(["s/*", "t/x"]));
    assert_eq!(scene.asked[0].1["browser_session"], "b-1");
    scene.frame(r#"{"type":"hello_result","request_id":"hello","joined":false}"#);
    assert_eq!((scene.asked.len(), scene.remarks.len()), (3, 1));
    scene.frame(r#"{"type":"mcp_begin_result","request_id":"begin","granted":true}"#);
    assert_eq!(scene.tags()[3..], ["host_list_tools", "host_call_tool"]);
    assert_eq!(scene.lines, [Value::Null; 0]);
}

#[test]
fn a_bridge_that_refuses_to_begin_is_asked_all_the_same() {
    let mut scene = Scene::new(&[]);
    scene.call(1, "s__echo");
    scene.machine.on_connected(ME.into());
    scene.collect();
    scene.refuse("mcp_begin", &json!({"code": "internal", "message": "the disk is full"}));
    assert_eq!(scene.remarks, ["the disk is full"]);
    assert!(scene.tags().contains(&"host_call_tool"));
}

#[test]
fn tools_are_listed_and_called_under_names_that_clients_take() {
    let mut scene = Scene::up();
    let names = scene.listed();
    assert_eq!((names[0].as_str(), names[2].as_str(), names.len()), ("s__echo", "t__now", 3));
    scene.call(1, &names[1]);
    let (_, asked) = &scene.asked[0];
    assert_eq!((&asked["tool_name"], &asked["args"]), (&json!("s/odd name"), &json!({"x": 1})));
    assert_eq!(asked["progress"], false);
    scene.answer("host_call_tool", r#"{"provenance":{},"result":{"z":1e2,"content":[],"a":7}}"#);
    assert_eq!(scene.said(), json!({"jsonrpc": "2.0", "id": 1, "result": {"z": 1e2, "content": [], "a": 7}}));
}

#[test]
fn payloads_are_not_rewritten() {
    let mut scene = Scene::up();
    scene.listed();
    let arguments = r#"{"b":12345678901234567890,"a":1e2,"a":"\u0061"}"#;
    let params = format!(r#"{{"name":"s__echo","arguments":{arguments}}}"#);
    let line = format!(r#"{{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{params}}}"#);
    scene.machine.on_line(line.as_bytes());
    let out = scene.machine.take_out();
    let Out::Frame(frame, _) = &out[0] else { panic!("{out:?}") };
    assert!(String::from_utf8_lossy(frame).contains(arguments), "{out:?}");
    let id = serde_json::from_slice::<Value>(&frame[HEADER..]).unwrap()["request_id"].clone();
    let answer = format!(r#"{{"type":"host_call_tool_result","request_id":{id},"result":{arguments}}}"#);
    scene.machine.on_frame(complete(&answer).as_bytes());
    let whole = format!("{{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"result\":{arguments}}}\n");
    assert_eq!(scene.machine.take_out(), [Out::Line(whole.into_bytes())]);
}

#[test]
fn a_tool_whose_name_does_not_say_enough_is_looked_up_first() {
    let mut scene = Scene::up();
    // This one does.
    scene.call(1, "s__echo");
    assert_eq!(scene.asked[0].1["tool_name"], "s/echo");
    scene.answer("host_call_tool", r#"{"result":{}}"#);
    assert_eq!(scene.said()["id"], 1);
    scene.call(2, "s__stopped");
    assert_eq!(scene.asked[0].1["tool_name"], "s/stopped");
    scene.refuse("host_call_tool", &json!({"code": "ERR_TOOL_NOT_FOUND", "message": "no"}));
    assert_eq!(scene.said()["error"], json!({"code": INVALID_PARAMS, "message": "unknown tool: s__stopped"}));
    let odd = Names::default().add("s", "odd name");
    scene.call(3, &odd);
    scene.answer("host_list_tools", TOOLS);
    assert_eq!(scene.asked[0].1["tool_name"], "s/odd name");
    scene.answer("host_call_tool", r#"{"result":{}}"#);
    scene.take_lines();
    scene.call(4, "nonsense");
    scene.answer("host_list_tools", TOOLS);
    assert_eq!(scene.said()["error"]["code"], INVALID_PARAMS);
}

#[test]
fn a_harbor_is_told_whom_tools_have_come_through_and_nobody_else() {
    let meta = |scene: &mut Scene, params: Value| {
        scene.ask(7, "tools/list", &params);
        scene.answer("host_list_tools", TOOLS);
        scene.lines.pop().unwrap()["result"]["tools"][0]["_meta"].clone()
    };
    let info = |name: &str| json!({"protocolVersion": "2025-11-25", "clientInfo": {"name": name}});
    let via_me = json!({"harbor/via": [ME]});
    for (name, told) in [("harbor", &via_me), ("Claude", &Value::Null)] {
        let mut scene = Scene::up();
        scene.ask(1, "initialize", &info(name));
        assert_eq!(meta(&mut scene, json!({})), *told, "{name}");
        let modern =
            json!({"_meta": {VERSION: MODERN, "io.modelcontextprotocol/clientInfo": {"name": name}}});
        assert_eq!(meta(&mut Scene::up(), modern), *told, "{name}");
    }
}

#[test]
fn only_what_the_command_line_names_is_listed_and_let_through() {
    let mut scene = Scene::new(&["t/*"]);
    scene.machine.dial();
    scene.connect();
    assert_eq!(scene.listed(), ["t__now"]);
    scene.call(1, "s__echo");
    scene.answer("host_list_tools", TOOLS);
    assert_eq!(scene.said()["error"]["code"], INVALID_PARAMS);
}

#[test]
fn a_refusal_is_a_result_that_says_the_next_step() {
    let mut scene = Scene::up();
    let refusal = |scope: &str| {
        let details = json!({"origin": "client://x", "scope": scope});
        json!({"code": "ERR_SCOPE_REQUIRED", "message": "no permission", "details": details})
    };
    scene.ask(1, "tools/list", &json!({}));
    scene.refuse("host_list_tools", &refusal("mcp:tools.list"));
    let said = scene.said();
    assert_eq!(said["error"]["code"], REFUSED);
    assert!(said["error"]["message"].as_str().unwrap().contains("client://x mcp:tools.list --always"));
    scene.call(2, "s__echo");
    scene.refuse("host_call_tool", &refusal("mcp:tools.call"));
    let text = "no permission\n`harbor grant client://x mcp:tools.call --always` allows it";
    assert_eq!(scene.failure(), text);
}

#[test]
fn answers_come_as_they_are_ready_and_each_once() {
    let mut scene = Scene::up();
    scene.listed();
    scene.call(1, "s__echo");
    scene.call(2, "t__now");
    let ids: Vec<_> = scene.asked.iter().map(|(id, _)| id.clone()).collect();
    for (id, answer) in [(&ids[1], "2"), (&ids[0], "1"), (&ids[0], "again")] {
        scene.frame(
            &json!({"type": "host_call_tool_result", "request_id": id, "result": {"n": answer}}).to_string(),
        );
    }
    let said: Vec<_> = scene.lines.iter().map(|line| (&line["id"], &line["result"]["n"])).collect();
    assert_eq!(said, [(&json!(2), &json!("2")), (&json!(1), &json!("1"))]);
    scene.take_lines();
    scene.asked.clear();
    scene.call(3, "s__echo");
    scene.call(3, "s__echo");
    assert_eq!((scene.said()["id"].clone(), scene.asked.len()), (Value::Null, 1));
}

#[test]
fn a_cancelled_request_is_not_answered() {
    let mut scene = Scene::up();
    scene.listed();
    scene.call(1, "s__echo");
    let id = scene.asked[0].0.clone();
    let cancelled =
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}});
    scene.line(&cancelled.to_string());
    assert_eq!(scene.asked[1].1["target"], json!(id));
    scene.refuse("host_call_tool", &json!({"code": "cancelled", "message": "x"}));
    scene.line(&cancelled.to_string());
    assert_eq!((scene.lines.len(), scene.asked.len()), (0, 1));
    scene.call(1, "s__echo");
    assert_eq!(scene.tags(), ["cancel", "host_call_tool"], "the id is free again");
}

#[test]
fn who_says_nothing_more_waits_for_answers_and_for_none_that_waits_for_his_word() {
    let mut scene = Scene::up();
    scene.listed();
    assert!(scene.machine.is_settled());
    scene.call(1, "s__echo");
    scene.call(2, "t__now");
    let question = json!({"type": "ask", "request_id": scene.asked[0].0, "ask_id": 1, "method": "roots/list", "params": {}});
    scene.frame(&question.to_string());
    assert_eq!(scene.said()["method"], "roots/list");
    assert!(!scene.machine.is_settled(), "the other one is not asked");
    let answer = json!({"type": "host_call_tool_result", "request_id": scene.asked[1].0, "result": {}});
    scene.frame(&answer.to_string());
    assert!(scene.machine.is_settled());
}

#[test]
fn progress_goes_where_it_was_asked_for() {
    let mut scene = Scene::up();
    scene.listed();
    let params = json!({"name": "s__echo", "_meta": {"progressToken": "p"}});
    scene.ask(1, "tools/call", &params);
    assert_eq!(scene.asked[0].1["progress"], true);
    let id = scene.asked[0].0.clone();
    let push =
        json!({"type": "progress", "request_id": id, "progress": 1, "total": 3, "message": "a"}).to_string();
    scene.frame(&push);
    let params = json!({"progressToken": "p", "progress": 1, "total": 3, "message": "a"});
    let told = json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": params});
    assert_eq!(scene.said(), told);
    scene.answer("host_call_tool", r#"{"result":{}}"#);
    scene.take_lines();
    scene.frame(&push);
    assert_eq!(scene.lines.len(), 0, "the call is over");
}

#[test]
fn a_change_is_told_once_until_the_list_is_asked_for() {
    let mut scene = Scene::up();
    let pushes = [r#"{"type":"tools_changed"}"#, r#"{"type":"grant_changed","change":"revoked","grant":{}}"#];
    let change = |scene: &mut Scene| pushes.iter().for_each(|push| scene.frame(push));
    change(&mut scene);
    scene.line(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    change(&mut scene);
    assert_eq!(scene.lines.len(), 0, "it has no list that could have changed");
    scene.listed();
    change(&mut scene);
    assert_eq!(scene.said(), json!({"jsonrpc": "2.0", "method": CHANGED}));
    scene.listed();
    change(&mut scene);
    assert_eq!(scene.take_lines().len(), 1);
}

#[test]
fn a_modern_client_is_told_in_its_subscription() {
    let mut scene = Scene::up();
    let mut params = modern(MODERN);
    params["notifications"] = json!({"toolsListChanged": true, "promptsListChanged": true});
    scene.ask(5, "subscriptions/listen", &params);
    let meta = json!({"io.modelcontextprotocol/subscriptionId": 5});
    let heard =
        json!({"_meta": meta, "notifications": {"toolsListChanged": true, "promptsListChanged": true}});
    assert_eq!(scene.said()["params"], heard);
    scene.ask(6, "tools/list", &modern(MODERN));
    scene.answer("host_list_tools", r#"{"tools":[]}"#);
    assert_eq!(scene.said()["result"]["resultType"], "complete");
    scene.frame(r#"{"type":"tools_changed"}"#);
    assert_eq!(scene.said()["params"], json!({"_meta": meta}));
    scene.line(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":5}}"#);
    scene.ask(6, "tools/list", &modern(MODERN));
    scene.answer("host_list_tools", r#"{"tools":[]}"#);
    scene.take_lines();
    scene.frame(r#"{"type":"tools_changed"}"#);
    assert_eq!(scene.lines.len(), 0);
}

#[test]
fn a_call_that_the_bridge_has_not_seen_is_sent_to_the_next_one() {
    let mut scene = Scene::up();
    scene.listed();
    scene.call(1, "s__echo");
    let number: u64 = scene.take("host_call_tool").parse().unwrap();
    scene.machine.on_lost(&[number, 99]);
    scene.collect();
    assert_eq!(scene.take_lines(), [Value::Null; 0]);
    scene.connect();
    scene.answer("host_call_tool", r#"{"result":{"content":[]},"provenance":{}}"#);
    assert_eq!(scene.said()["id"], 1);
}

#[test]
fn lists_are_asked_for_again_after_a_restart_and_calls_are_not() {
    let mut scene = Scene::up();
    scene.listed();
    scene.line(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    scene.call(1, "s__echo");
    scene.ask(2, "tools/list", &json!({}));
    let dials = scene.dials;
    scene.lose();
    assert!(scene.failure().contains("may have run"));
    assert_eq!(scene.dials, dials + 1);
    scene.connect();
    assert_eq!(scene.tags()[3..], ["host_list_tools"]);
    let said = scene.said();
    assert_eq!(said["method"], CHANGED, "what was listed is of another bridge");
    scene.lose();
    let lines = scene.take_lines();
    let lost = lines.iter().filter(|line| line.to_string().contains("lost twice")).count();
    assert_eq!((lines.len(), lost, scene.dials), (1, 1, dials + 1));
    scene.call(4, "s__echo");
    assert_eq!(scene.dials, dials + 2, "the next request looks for a bridge again");
}

#[test]
fn a_bridge_on_its_way_out_is_not_asked_any_more() {
    let mut scene = Scene::up();
    scene.listed();
    scene.ask(1, "tools/list", &json!({}));
    scene.refuse("host_list_tools", &json!({"code": "shutting_down", "message": "it ends"}));
    scene.call(2, "s__echo");
    assert_eq!((scene.asked.len(), scene.lines.len(), scene.dials), (0, 0, 1));
    scene.lose();
    assert_eq!(scene.dials, 2);
    scene.connect();
    assert_eq!(scene.tags()[3..], ["host_list_tools", "host_call_tool"]);
}

#[test]
fn without_a_bridge_everybody_is_told_why() {
    let mut scene = Scene::new(&[]);
    scene.ask(1, "tools/list", &json!({}));
    scene.call(2, "s__echo");
    scene.machine.on_no_bridge(&Failure::Usage("no bridge here".into()));
    scene.collect();
    let lines = scene.take_lines();
    assert_eq!(lines[0]["error"], json!({"code": REFUSED, "message": "no bridge here"}));
    assert_eq!(lines[1]["result"]["content"][0]["text"], "no bridge here");
    scene.call(3, "s__echo");
    assert_eq!(scene.dials, 2);
}

#[test]
fn an_answer_in_pieces_is_put_together() {
    use base64::Engine as _;
    let mut scene = Scene::up();
    scene.listed();
    scene.call(1, "s__echo");
    let id = scene.asked[0].0.clone();
    let whole = format!(r#"{{"type":"host_call_tool_result","request_id":"{id}","result":{{"x":1}}}}"#);
    let whole = complete(&whole);
    for (seq, piece) in [&whole[..20], &whole[20..]].into_iter().enumerate() {
        let data = base64::engine::general_purpose::STANDARD.encode(piece);
        let chunk = json!({"type": "chunk", "request_id": id, "seq": seq, "last": seq == 1, "data": data});
        scene.frame(&chunk.to_string());
    }
    assert_eq!(scene.said()["result"], json!({"x": 1}));
}

proptest! {
    /// However requests, cancels, answers and losses are mixed: at the end each request that was not cancelled has
    /// exactly one answer.
    #[test]
    fn each_request_is_answered_exactly_once(steps in prop::collection::vec((0u8..8, 0u32..4), 0..60)) {
        let mut scene = Scene::new(&[]);
        let (mut next, mut cancelled) = (0, Vec::new());
        let mut connected = false;
        for (step, which) in steps {
            match step {
                0 | 1 => { next += 1; scene.call(next, ["s__echo", "t__now", "x__y", "?"][which as usize]); }
                2 => {
                    next += 1;
                    let (method, params) = [
                        ("tools/list", json!({})),
                        ("resources/read", json!({"uri": "t:1"})),
                        ("prompts/get", json!({"name": "s__greet"})),
                        ("resources/read", json!({"uri": "none:"})),
                    ][which as usize].clone();
                    scene.ask(next, method, &params);
                }
                3 => {
                    let id = next.saturating_sub(which);
                    let answered = scene.lines.iter().any(|line| line["id"] == id);
                    if id > 0 && !answered { cancelled.push(id); }
                    let params = json!({"requestId": id});
                    scene.line(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}).to_string());
                }
                4 if !connected && scene.dials > 0 => { scene.connect(); connected = true; }
                5 if connected => { connected = false; scene.dials = 0; scene.lose(); }
                6 if !connected && scene.dials > 0 => {
                    scene.dials = 0;
                    scene.machine.on_no_bridge(&Failure::Usage("none".into()));
                    scene.collect();
                }
                _ => settle(&mut scene, 1),
            }
        }
        if !connected && scene.dials > 0 { scene.connect(); }
        settle(&mut scene, usize::MAX);
        for id in 1..=next {
            let answers = scene.lines.iter().filter(|line| line["id"] == id).count();
            prop_assert_eq!(answers, usize::from(!cancelled.contains(&id)), "{}", id);
        }
    }
}

/// Answers so many requests, or as many as there are.
fn settle(scene: &mut Scene, most: usize) {
    for _ in 0..most {
        let answer = scene.asked.iter().find_map(|(_, text)| {
            Some(match (text["type"].as_str()?, text["kind"].as_str()) {
                ("host_list_tools", _) => ("host_list_tools", TOOLS),
                ("host_list_offers", Some("resources")) => ("host_list_offers", RESOURCES),
                ("host_list_offers", Some("prompts")) => ("host_list_offers", PROMPTS),
                ("host_list_offers", _) => ("host_list_offers", TEMPLATES),
                ("host_call_tool", _) => ("host_call_tool", r#"{"result":{}}"#),
                ("mcp_read_resource", _) => ("mcp_read_resource", r#"{"resource":{}}"#),
                ("mcp_get_prompt", _) => ("mcp_get_prompt", r#"{"prompt":{}}"#),
                _ => return None,
            })
        });
        let Some((tag, members)) = answer else { return };
        scene.answer(tag, members);
    }
}

#[test]
fn before_initialize_only_its_greeting_and_pings_are_answered() {
    let mut scene = Scene::new(&[]);
    scene.machine.greeted = false;
    let ask = |scene: &mut Scene, method: &str, params: Value| {
        let line = json!({"jsonrpc": "2.0", "id": method, "method": method, "params": params}).to_string();
        scene.machine.on_line(line.as_bytes());
        scene.collect();
        scene.lines.pop()
    };
    assert_eq!(ask(&mut scene, "ping", json!({})).unwrap()["result"], json!({}));
    for method in ["tools/list", "tools/call", "logging/setLevel", "no/such"] {
        let said = ask(&mut scene, method, json!({"name": "s__echo"})).unwrap();
        assert_eq!(said["error"]["code"], -32600, "{said}");
    }
    let modern = json!({"_meta": {VERSION: MODERN}});
    assert!(ask(&mut scene, "server/discover", modern.clone()).unwrap()["result"].is_object());
    assert_eq!(ask(&mut scene, "tools/list", modern), None, "the newer generation has no greeting");
    assert!(ask(&mut scene, "initialize", json!({})).unwrap()["result"].is_object());
    assert_eq!(ask(&mut scene, "prompts/list", json!({})), None, "it waits for its bridge");
}
