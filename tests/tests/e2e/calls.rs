//! Tool calls that work, and tool calls that fail while their server goes on: what the server wrote reaches the
//! caller as it was written, once, and nothing else.

use std::collections::HashSet;

use harbor_tests::double::echo_result;
use harbor_tests::{Bridge, Double, Fault, Home, LIMIT, PROMPT};
use serde_json::{Value, json};

const MIB: usize = 1024 * 1024;

/// Takes large answers.
fn wide(bridge: &Bridge) {
    bridge.call("hello", &json!({"chunks": true})).unwrap();
}

#[test]
fn payloads_pass_byte_for_byte_in_both_generations() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    bridge.add_and_connect("legacy", &Double::sound(&home));
    bridge.add_and_connect("modern", &Double::sound(&home).modern());
    let rows = [
        "{}",
        r#"{"z":1,"a":2,"m":{"y":[],"b":{}}}"#,
        r#"{"big":12345678901234567890,"bigger":123456789012345678901234567890,"neg":-0,"exp":1e2,"dec":1.50}"#,
        r#"{"\u0041\/":"\u00e9\ud83d\ude00 \"\\\n\t","raw":"é😀","empty":"","id":7,"method":"x"}"#,
        r#"{ "spaced" : [ 1 , 2 ,	3 ] }"#,
        r#"{"__proto__":null,"result":{"id":1},"error":{"code":-1},"nested":"{\"id\":99}"}"#,
    ];
    for (server, modern) in [("legacy", false), ("modern", true)] {
        for arguments in rows {
            let members = format!(r#""server_id":"{server}","tool_name":"echo","arguments":{arguments}"#);
            let answer = bridge.request_text("mcp_call_tool", &members).wait(LIMIT).unwrap();
            assert_eq!(answer.field_text("result"), echo_result(arguments, modern), "{server}");
        }
    }
}

#[test]
fn arguments_over_several_lines_reach_the_server_as_one() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    bridge.add_and_connect("s", &Double::sound(&home));
    let members =
        "\"server_id\":\"s\",\"tool_name\":\"echo\",\"arguments\":{\r\n  \"a\": \"\\n\",\n  \"b\": 2\n}";
    let answer = bridge.request_text("mcp_call_tool", members).wait(LIMIT).unwrap();
    assert_eq!(answer["result"]["structuredContent"], json!({"a": "\n", "b": 2}));
}

#[test]
fn lists_and_contents_pass_with_fields_that_nobody_knows() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    let connected = bridge.add_and_connect("s", &Double::sound(&home));
    assert!(connected.field_text("tools").contains(r#""futureHint":{"z":1,"a":2},"inputSchema":"#));
    assert!(connected.field_text("connection_info").contains(r#""zebra":{"b":1,"a":12345678901234567890}"#));
    let ask = |tag: &str, fields: Value| bridge.call(tag, &fields).unwrap();
    assert_eq!(
        ask("mcp_list_tools", json!({"server_id": "s"})).field_text("tools"),
        connected.field_text("tools")
    );
    let resources = ask("mcp_list_resources", json!({"server_id": "s"})).field_text("resources");
    assert!(resources.contains("\"novel\":[1e2]"), "{resources}");
    let note =
        ask("mcp_read_resource", json!({"server_id": "s", "uri": "double://note"})).field_text("resource");
    assert!(note.contains("\"novel\":1.50,"), "{note}");
    let prompt = json!({"server_id": "s", "prompt_name": "greet", "arguments": {"who": "Ada"}});
    let prompt = ask("mcp_get_prompt", prompt).field_text("prompt");
    assert!(prompt.contains("Hello, Ada!") && prompt.ends_with("\"novel\":0.10}"), "{prompt}");
}

#[test]
fn a_result_of_10_mb_arrives_whole() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    wide(&bridge);
    bridge.add_and_connect("s", &Double::sound(&home));
    for _ in 0..2 {
        let text = bridge.tool_text("s", "big", &json!({"bytes": 10 * MIB}));
        assert!(text.len() == 10 * MIB && text.bytes().all(|byte| byte == b'x'));
    }
    let arguments = json!({"text": "y".repeat(10 * MIB)});
    let answer = bridge.tool("s", "echo", &arguments).unwrap();
    assert_eq!(answer["result"]["structuredContent"], arguments);
}

#[test]
fn a_line_over_64_mib_fails_only_the_call_that_it_answers() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    wide(&bridge);
    let double = Double::new(&home, Fault::HugeLine);
    bridge.add_and_connect("s", &double);
    // One line has its id in front, the other at its end.
    for (tool, arguments) in [("big", json!({"bytes": 64 * MIB + 1})), ("echo", json!({}))] {
        let waiting = bridge.send_tool("s", "sleep", &json!({"ms": 3000}));
        let error = bridge.tool("s", tool, &arguments).unwrap_err();
        assert_eq!(error.code, "ERR_PROTOCOL_ERROR", "{error:?}");
        assert!(error.message.len() < 1000, "the line is not quoted");
        assert_eq!(waiting.wait(LIMIT).unwrap().content_text(), "slept", "{tool}");
    }
    assert_eq!(bridge.tool_text("s", "big", &json!({"bytes": 1})), "x");
    assert_eq!(double.journal().count("start"), 1);
}

#[test]
fn a_thousand_calls_at_once_are_each_answered_once() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    bridge.add_and_connect("s", &Double::sound(&home));
    let calls: Vec<_> = (0..1000)
        .map(|n| match n % 10 {
            0 => bridge.send_tool("s", "sleep", &json!({"ms": 50, "n": n})),
            _ => bridge.send_tool("s", "echo", &json!({"n": n})),
        })
        .collect();
    for (n, call) in calls.iter().enumerate() {
        let answer = call.wait(LIMIT).unwrap();
        match n % 10 {
            0 => assert_eq!(answer.content_text(), "slept"),
            _ => assert_eq!(answer["result"]["structuredContent"]["n"], n),
        }
    }
    // Whatever was sent too often has come by now.
    assert!(bridge.is_alive());
    assert!(calls.iter().all(|call| bridge.answer_count(&call.id) == 1));
    assert_eq!(calls.iter().map(|call| &call.id).collect::<HashSet<_>>().len(), 1000);
}

#[test]
fn progress_goes_to_the_call_that_asked_for_it() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    bridge.add_and_connect("legacy", &Double::sound(&home));
    bridge.add_and_connect("modern", &Double::sound(&home).modern());
    for server in ["legacy", "modern"] {
        let call = |progress: bool| {
            let call = json!({"server_id": server, "tool_name": "progress", "arguments": {"steps": 3}, "progress": progress});
            bridge.request("mcp_call_tool", &call)
        };
        let (quiet, loud) = (call(false), call(true));
        assert_eq!(loud.wait(LIMIT).unwrap().content_text(), "done");
        assert_eq!(quiet.wait(LIMIT).unwrap().content_text(), "done");
        // Progress comes before the answer, so it is all there.
        for step in 1..=3 {
            let push =
                bridge.push_now("progress").unwrap_or_else(|| panic!("{server}: step {step} is missing"));
            let wanted = json!({"type": "progress", "request_id": loud.id, "progress": step, "total": 3.0,
                "message": format!("step {step}")});
            assert_eq!(push, wanted);
        }
        assert_eq!(bridge.push_now("progress"), None);
    }
}

#[test]
fn a_tools_own_failure_is_a_result() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    bridge.add_and_connect("s", &Double::sound(&home));
    let answer = bridge.tool("s", "tool_error", &json!({})).unwrap();
    assert_eq!(
        answer.field_text("result"),
        r#"{"content":[{"type":"text","text":"it did not work"}],"isError":true}"#
    );
}

#[test]
fn a_json_rpc_error_is_passed_on_in_the_details() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    bridge.add_and_connect("s", &Double::sound(&home));
    let call = bridge.send_tool("s", "fail", &json!({}));
    let error = call.wait(LIMIT).unwrap_err();
    assert_eq!(error.code, "ERR_TOOL_FAILED");
    let said = |name: &str| error.details[name].clone();
    assert_eq!((said("code"), said("message")), (json!(-32050), json!("the double refuses")));
    assert_eq!(said("data"), json!({"why": "test", "n": 12_345_678_901_234_567_890_u64}));
    assert!(error.message.contains("the double refuses"), "{}", error.message);
    assert_eq!(bridge.tool("s", "no_such_tool", &json!({})).unwrap_err().code, "ERR_TOOL_NOT_FOUND");
}

#[test]
fn a_server_that_nobody_defined_is_not_found() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    let rows = [
        ("mcp_connect", json!({})),
        ("connect_server", json!({})),
        ("mcp_list_tools", json!({})),
        ("mcp_call_tool", json!({"tool_name": "echo"})),
        ("mcp_read_resource", json!({"uri": "x"})),
        ("mcp_get_prompt", json!({"prompt_name": "x"})),
        ("mcp_get_logs", json!({})),
        ("mcp_ping", json!({})),
    ];
    for (tag, mut fields) in rows {
        fields["server_id"] = json!("nobody");
        let error = bridge.call(tag, &fields).unwrap_err();
        assert_eq!(error.code, "not_found", "{tag}");
        assert!(error.message.contains("nobody"), "{}", error.message);
    }
    assert_eq!(bridge.call("remove_server", &json!({"server_id": "nobody"})).unwrap()["removed"], false);
}

#[test]
fn answers_to_nobody_and_answers_twice_are_dropped() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    bridge.add_and_connect("s", &Double::new(&home, Fault::UnknownIds));
    for n in 0..20 {
        let answer = bridge.tool("s", "echo", &json!({"n": n})).unwrap();
        assert_eq!(answer["result"]["structuredContent"]["n"], n);
    }
    assert_eq!(bridge.server("s")["state"], "running");
}

#[test]
fn an_answer_that_is_not_utf8_fails_its_call() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    let double = Double::new(&home, Fault::InvalidUtf8);
    bridge.add_and_connect("s", &double);
    for _ in 0..2 {
        let error = bridge.send_tool("s", "echo", &json!({})).wait(PROMPT).unwrap_err();
        assert_eq!(error.code, "ERR_PROTOCOL_ERROR", "{error:?}");
    }
    assert_eq!((double.journal().count("start"), &bridge.server("s")["state"]), (1, &json!("running")));
}
