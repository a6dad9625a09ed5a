//! Arguments and results against a tool's schemas: what does not fit never reaches the server, and a schema that cannot
//! be used stands in nobody's way.

use std::io::ErrorKind;
use std::net::TcpListener;

use harbor_tests::{Bridge, Double, Home};
use serde_json::{Value, json};

use super::{PAGE, scene};

const TOOLS: &str = r#"[
    {"name": "strict", "inputSchema": {"type": "object", "required": ["n"], "additionalProperties": false,
        "properties": {"n": {"type": "integer"}, "deep": {"type": "array", "items": {"type": "string"}}}}},
    {"name": "open"},
    {"name": "nonsense", "inputSchema": {"type": "object", "properties": {"n": {"type": "a word that is no type"}}}},
    {"name": "counted", "inputSchema": {"type": "object"},
        "outputSchema": {"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}}},
    {"name": "tool_error", "inputSchema": {"type": "object"},
        "outputSchema": {"type": "object", "required": ["n"]}}
]"#;

#[test]
fn arguments_that_break_the_schema_never_reach_the_server() {
    let home = Home::new();
    let double = Double::sound(&home).offering(TOOLS);
    let (bridge, page) = scene(&home, &double);
    let rows = [
        (json!({}), ""),
        (json!({"n": "sesame"}), "/n"),
        (json!({"n": 1, "deep": ["a", {"sesame": "sesame"}]}), "/deep/1"),
        (json!({"n": 1, "deep": "sesame"}), "/deep"),
        (json!({"n": 1, "more": "sesame"}), ""),
    ];
    for (arguments, path) in rows {
        let by_page = page.call("s/strict", &arguments);
        let by_owner = bridge.tool("s", "strict", &arguments);
        for (error, field) in [(by_page.unwrap_err(), "args"), (by_owner.unwrap_err(), "arguments")] {
            assert_eq!(error.code, "invalid_params", "{arguments}");
            let reason = error.details["reason"].as_str().unwrap().to_owned();
            let details = json!({"field": field, "path": path, "reason": reason, "server_id": "s",
                "sent": false});
            assert_eq!(error.details, details, "{arguments}");
            assert!(!reason.is_empty() && !error.message.contains("sesame"), "{error:?}");
        }
    }
    assert_eq!(double.journal().count("request tools/call"), 0);
    for fitting in [json!({"n": 1}), json!({"n": 1.0, "deep": []}), json!({"n": -7, "deep": ["a", "b"]})] {
        assert!(page.call("s/strict", &fitting).is_ok(), "{fitting}");
        assert!(bridge.tool("s", "strict", &fitting).is_ok(), "{fitting}");
    }
    assert!(page.call("s/open", &json!({"whatever": [1]})).is_ok(), "a tool without a schema");
}

#[test]
fn a_new_schema_counts_from_the_list_on_that_brings_it() {
    let home = Home::new();
    let double = Double::sound(&home).offering(r#"[{"name": "t"}, {"name": "change_tools"}]"#);
    let (bridge, _) = scene(&home, &double);
    assert!(bridge.tool("s", "t", &json!({})).is_ok());
    double.offer(
        r#"[{"name": "t", "inputSchema": {"type": "object", "required": ["n"]}}, {"name": "change_tools"}]"#,
    );
    bridge.call("host_watch", &json!({})).unwrap();
    assert_eq!(bridge.tool_text("s", "change_tools", &json!({})), "changed");
    let _ = bridge.next_push("tool_changed", harbor_tests::PROMPT);
    assert_eq!(bridge.tool("s", "t", &json!({})).unwrap_err().code, "invalid_params");
    assert!(bridge.tool("s", "t", &json!({"n": 1})).is_ok());
}

#[test]
fn a_schema_that_does_not_compile_is_a_warning_and_blocks_nothing() {
    let home = Home::new();
    let double = Double::sound(&home).offering(TOOLS);
    let (bridge, page) = scene(&home, &double);
    for _ in 0..3 {
        assert!(page.call("s/nonsense", &json!({"n": "anything"})).is_ok());
    }
    let logs = bridge.logs("s");
    let warnings: Vec<_> = logs
        .iter()
        .filter_map(|line| line["text"].as_str())
        .filter(|text| text.contains("not checked"))
        .collect();
    assert!(warnings.len() == 1 && warnings[0].contains("\"nonsense\""), "{logs:?}");
}

#[test]
fn a_schema_fetches_nothing() {
    let home = Home::new();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let tools = json!([
        {"name": "web", "inputSchema": {"$ref": format!("http://{}/schema.json", listener.local_addr().unwrap())}},
        {"name": "disk", "inputSchema": {"$ref": "file:///etc/passwd"}},
    ]);
    let (bridge, page) = scene(&home, &Double::sound(&home).offering(&tools.to_string()));
    for tool in ["web", "disk"] {
        assert!(page.call(&format!("s/{tool}"), &json!({"n": 1})).is_ok());
        let quoted = format!("\"{tool}\"");
        let told = |line: &Value| line["text"].as_str().is_some_and(|text| text.contains(&quoted));
        assert!(bridge.logs("s").iter().any(told), "{tool}: {:?}", bridge.logs("s"));
    }
    assert_eq!(listener.accept().unwrap_err().kind(), ErrorKind::WouldBlock, "nobody came");
}

/// A result that came is never refused: the server has done its work by then.
#[test]
fn results_are_checked_where_the_person_wants_that_and_passed_on_in_any_case() {
    for check in [false, true] {
        let home = Home::new();
        home.configure(&format!("[host]\ncheckOutput = {check}\n"));
        let (bridge, page) = scene(&home, &Double::sound(&home).offering(TOOLS));
        bridge.call("hello", &json!({"chunks": true})).unwrap();
        assert!(page.call("s/counted", &json!({"n": 1})).is_ok());
        assert!(page.call("s/open", &json!({"n": "x"})).is_ok(), "there is no schema for it");
        let failed = page.call("s/tool_error", &json!({})).unwrap();
        assert_eq!(failed["result"]["isError"], true, "a failure needs no structured content");
        let long = json!({"n": "x".repeat(64 * 1024)});
        assert!(page.call("s/counted", &long).is_ok(), "what is longer is not checked");
        let wrong = json!({"n": "sesame"});
        for answer in [page.call("s/counted", &wrong), bridge.tool("s", "counted", &wrong)] {
            assert_eq!(answer.unwrap()["result"]["structuredContent"], wrong);
        }
        let logs = bridge.logs("s");
        let said = "a result of tool \"counted\" does not fit its outputSchema: the rule /properties/n/type is broken; \
                    Harbor passes it on";
        let told = logs.iter().filter(|line| line["text"] == said).count();
        assert_eq!(told, usize::from(check), "{logs:#?}");
        assert!(!logs.iter().any(|line| line.to_string().contains("sesame")), "{logs:#?}");
    }
}

#[test]
fn arguments_are_an_object_or_absent() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    let double = Double::sound(&home);
    bridge.add_and_connect("s", &double);
    let page = bridge.asking(PAGE).allowed();
    let absent = page.ask("host_call_tool", &json!({"tool_name": "s/echo"})).unwrap();
    assert_eq!(absent["result"]["structuredContent"], json!({}));
    for wrong in [json!([]), json!("{}"), json!(7)] {
        let error = page.call("s/echo", &wrong).unwrap_err();
        assert_eq!(
            (error.code.as_str(), &error.details["field"]),
            ("invalid_params", &json!("args")),
            "{wrong}"
        );
    }
    for name in ["echo", "", "/echo", "s/", "a b/echo", "../x", "a__b/echo"] {
        let error = page.call(name, &json!({})).unwrap_err();
        let said = (error.code.as_str(), &error.details["field"]);
        assert_eq!(said, ("invalid_params", &json!("tool_name")), "{name}: {error:?}");
    }
    assert_eq!(double.journal().count("call"), 1);
}
