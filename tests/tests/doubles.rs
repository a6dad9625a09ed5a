//! The test doubles alone, without Harbor: what they are said to do, they do. Otherwise a test that passes means
//! nothing.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "test support")]

use std::process::Command;
use std::time::Duration;

use harbor_tests::double::echo_result;
use harbor_tests::faults::{BANNER, EXIT_AT_ONCE, LAST_WORDS, OVER_THE_BOUND, Settings};
use harbor_tests::processes::{Process, assert_gone, descendants};
use harbor_tests::{DOWN_LIMIT, Direct, Fault, Journal, LIMIT, programs, wait_until};
use nix::sys::signal::Signal;
use serde_json::{Value, json};
use tempfile::TempDir;

/// Long enough to see that something does not happen, short enough to wait for.
const MOMENT: Duration = Duration::from_millis(300);

struct Scene {
    dir: TempDir,
    settings: Settings,
}

impl Scene {
    fn new(fault: Fault) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let settings = Settings { journal: Some(dir.path().join("journal")), ..Settings::new(fault) };
        Self { dir, settings }
    }

    fn modern() -> Self {
        let mut scene = Self::new(Fault::None);
        scene.settings.modern = true;
        scene
    }

    fn start(&self) -> Direct {
        start_as(&self.settings)
    }

    fn journal(&self) -> Journal {
        Journal::at(self.dir.path().join("journal"))
    }
}

/// One that writes no journal.
fn start(fault: Fault) -> Direct {
    start_as(&Settings::new(fault))
}

fn start_modern() -> Direct {
    start_as(&Settings { modern: true, ..Settings::new(Fault::None) })
}

fn start_as(settings: &Settings) -> Direct {
    Direct::start(Command::new(programs::double("misbehaving-server")).args(settings.to_args()))
}

fn text(answer: &Value) -> &str {
    answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("no text in {answer}"))
}

fn meta() -> Value {
    json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {}, "progressToken": 5})
}

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

#[test]
fn faults_of_the_beginning() {
    let mut server = start(Fault::ExitsAtOnce);
    assert_eq!(server.wait(LIMIT).unwrap().code(), Some(EXIT_AT_ONCE));
    wait_until("its last words", LIMIT, || server.stderr().contains(LAST_WORDS));

    let mut server = start(Fault::ExitsOnProbe);
    server.send_request("server/discover", &json!({}));
    assert_eq!(server.wait(LIMIT).unwrap().code(), Some(1));

    let mut server = start(Fault::SilentOnProbe);
    server.send_request("server/discover", &json!({}));
    let mut server = server.initialized();
    assert_eq!(text(&server.tool("big", &json!({"bytes": 1}))), "x");

    let scene = Scene::new(Fault::NeverAnswersInitialize);
    let mut server = scene.start();
    assert!(server.ask("server/discover", &json!({}))["error"].is_object());
    server.send_request("initialize", &json!({}));
    assert_eq!(scene.journal().wait_for("request initialize"), "");
    assert!(
        server.ask("ping", &json!({}))["result"].is_object(),
        "it answers other requests, but not that one"
    );

    for (fault, pointer) in [
        (Fault::RefusesInitialize, "/error/message"),
        (Fault::MalformedInitialize, "/result/protocolVersion"),
        (Fault::UnknownVersion, "/result/protocolVersion"),
    ] {
        let answer = start(fault).ask("initialize", &json!({}));
        assert_ne!(answer.pointer(pointer), None, "{answer}");
        assert_ne!(answer.pointer(pointer), Some(&json!("2025-11-25")), "{answer}");
    }
}

#[test]
fn faults_of_lines() {
    let server = start(Fault::GarbageOnStdout);
    assert_eq!(server.next_line(LIMIT).unwrap(), format!("{BANNER}\n").into_bytes());

    let mut server = start(Fault::InvalidUtf8).initialized();
    server.send_request("tools/call", &json!({"name": "echo", "arguments": {}}));
    assert!(String::from_utf8(server.next_line(LIMIT).unwrap()).is_err());

    let mut server = start(Fault::NoFinalNewline).initialized();
    server.send_request("tools/call", &json!({"name": "echo", "arguments": {}}));
    assert_eq!(server.next_line(LIMIT).unwrap().last(), Some(&b'}'));
    assert_eq!(server.wait(LIMIT).unwrap().code(), Some(0));

    let mut server = start(Fault::UnknownIds);
    let id = server.send_request("initialize", &json!({}));
    let ids: Vec<_> = (0..5).map(|_| server.next_message()["id"].clone()).collect();
    assert_eq!(ids, [json!(987_654_321), json!("nobody"), Value::Null, json!(id), json!(id)]);

    let mut server = start(Fault::HugeLine).initialized();
    let id = server.send_request("tools/call", &json!({"name": "echo", "arguments": {}}));
    let line = server.next_line(LIMIT).unwrap();
    assert!(line.len() > OVER_THE_BOUND && line.ends_with(format!(",\"id\":{id}}}\n").as_bytes()));
}

#[test]
fn faults_of_pipes() {
    let mut server = start(Fault::ClosesStdout).initialized();
    server.send_request("tools/call", &json!({"name": "echo", "arguments": {}}));
    assert_eq!(server.next_line(LIMIT), None);
    assert!(server.wait(MOMENT).is_none(), "it lives on");

    let scene = Scene::new(Fault::StopsReading);
    let mut server = scene.start().initialized();
    server.send_request("tools/call", &json!({"name": "echo", "arguments": {}}));
    assert_eq!(scene.journal().wait_for("call echo"), "2");
    server.close();
    assert!(server.wait(MOMENT).is_none(), "it does not see the end of its stdin");
    server.signal(Signal::SIGTERM);
    assert!(server.wait(DOWN_LIMIT).is_some());
}

#[test]
fn faults_of_ending() {
    let scene = Scene::new(Fault::IgnoresShutdown);
    let mut server = scene.start().initialized();
    server.close();
    assert_eq!(scene.journal().wait_for("eof"), "");
    server.signal(Signal::SIGTERM);
    assert!(server.wait(MOMENT).is_none(), "neither EOF nor SIGTERM ends it");

    let mut wrapper = start(Fault::Wrapper).initialized();
    let inner: u32 = text(&wrapper.tool("pid", &json!({}))).parse().unwrap();
    assert_eq!(descendants(wrapper.process().pid), Process::of(inner).into_iter().collect::<Vec<_>>());
    wrapper.close();
    assert_eq!(wrapper.wait(DOWN_LIMIT).unwrap().code(), Some(0));

    for fault in [Fault::Grandchild, Fault::DetachedGrandchild] {
        let scene = Scene::new(fault);
        let mut server = scene.start().initialized();
        let grandchild = Process::of(scene.journal().wait_for("grandchild").parse().unwrap()).unwrap();
        server.close();
        assert!(server.wait(DOWN_LIMIT).is_some());
        grandchild.signal(Signal::SIGTERM);
        assert!(!grandchild.is_gone(), "{fault:?}: it outlives its parent and SIGTERM");
        grandchild.signal(Signal::SIGKILL);
        assert_gone(&[grandchild], DOWN_LIMIT);
    }
}

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
