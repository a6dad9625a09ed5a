//! Servers whose lists are not what MCP says, and what of them reaches people and AI clients all the same.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use harbor_tests::scripted::{Asked, answer, begin_events, event, result};
use harbor_tests::{Bridge, Direct, Home, LIMIT, Scripted, wait_until};
use serde_json::{Value, json};

use super::remote::{add, connect};

/// A tool that nothing is wrong with.
fn good(name: &str) -> Value {
    json!({"name": name, "description": "fine", "inputSchema": {"type": "object", "properties": {}}})
}

/// A server that answers `method` with what `made` makes of it.
fn with_list(method: &'static str, made: impl Fn(&Asked) -> Value + Send + Sync + 'static) -> Scripted {
    Scripted::start(move |asked, stream| asked.method() == method && result(asked, stream, &made(asked)))
}

/// A JSON-RPC error.
fn refuse(asked: &Asked, stream: &mut std::net::TcpStream, code: i64, message: &str) -> bool {
    let error =
        json!({"jsonrpc": "2.0", "id": asked.body["id"], "error": {"code": code, "message": message}});
    answer(stream, "200 OK", "application/json", "", &error.to_string())
}

fn names(tools: &Value) -> Vec<&str> {
    tools.as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect()
}

/// What is wrong with the server `s`, by the code, and its sentence.
fn reason(bridge: &Bridge) -> (String, String) {
    let health = bridge.call("health", &json!({})).unwrap()["health"].clone();
    let reason = &health["reasons"][0];
    assert_eq!((&health["state"], &reason["server"]), (&json!("degraded"), &json!("s")), "{health}");
    let text = |member: &str| reason[member].as_str().unwrap().to_owned();
    (text("code"), text("message"))
}

/// What `harbor` prints, on both streams.
fn said(home: &Home, words: &[&str]) -> String {
    let output = home.command("harbor").args(words).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap()).concat()
}

/// `harbor mcp`, greeted by a client of this revision.
fn client(home: &Home, revision: &str) -> Direct {
    let mut mcp = Direct::start(home.command("harbor").args(["mcp", "--client", "ai"]));
    let info = json!({"name": "t", "version": "1"});
    let params = json!({"protocolVersion": revision, "capabilities": {}, "clientInfo": info});
    assert_eq!(mcp.ask("initialize", &params)["result"]["protocolVersion"], revision);
    mcp.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}).to_string());
    mcp
}

#[test]
fn of_a_list_without_an_end_what_came_is_kept_each_name_once() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    let server = with_list("tools/list", |_| json!({"tools": [good("ok"), good("too")], "nextCursor": "0"}));
    let connected = connect(&bridge, &server.url(), &json!({})).unwrap();
    assert_eq!(connected["server"]["tool_count"], 2);
    let problem = connected["server"]["list_problems"][0].as_str().unwrap().to_owned();
    assert!(problem.contains("pages in a circle"), "{problem}");
    assert_eq!(reason(&bridge), ("list_incomplete".into(), format!("s: {problem}")));
    let tools = bridge.call("mcp_list_tools", &json!({"server_id": "s"})).unwrap();
    assert_eq!(names(&tools["tools"]), ["ok", "too"]);
    assert_eq!(server.count(|asked| asked.method() == "tools/list"), 4, "two pages for each list");
    assert!(said(&home, &["tools", "s"]).contains(&problem));
    assert!(said(&home, &["restart", "s"]).contains(&problem), "as at add");
    assert_eq!(bridge.tool_text("s", "ok", &json!({})), "done");
}

#[test]
fn a_list_that_answers_an_error_is_no_empty_list() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    let server = Scripted::start(|asked, stream| {
        asked.method() == "tools/list" && refuse(asked, stream, -32603, "the database is locked")
    });
    add(&bridge, &server.url(), &json!({})).unwrap();
    let started = said(&home, &["start", "s"]);
    assert!(
        started.contains("s is running; its tools could not be listed")
            && started.contains("the database is locked (-32603)")
    );
    let shown = bridge.server("s");
    assert_eq!((&shown["state"], &shown["tool_count"]), (&json!("running"), &Value::Null));
    let (code, message) = reason(&bridge);
    assert_eq!(code, "list_failed");
    assert_eq!(message, "s: its tools could not be listed: the database is locked (-32603)");
    let listed = said(&home, &["list"]);
    let row = listed.lines().find(|line| line.starts_with("s ")).unwrap();
    assert_eq!(row.split_whitespace().nth(2), Some("?"), "{listed}");
    assert!(listed.contains(&message), "{listed}");
}

#[test]
fn lists_are_asked_for_that_no_capability_announces() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    let server = Scripted::start(|asked, stream| match asked.method() {
        "initialize" => result(
            asked,
            stream,
            &json!({"protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": {"name": "n", "version": "1"}}),
        ),
        "prompts/list" => result(asked, stream, &json!({"prompts": [{"name": "p"}]})),
        "resources/list" | "resources/templates/list" => refuse(asked, stream, -32601, "Method not found"),
        _ => false,
    });
    let connected = connect(&bridge, &server.url(), &json!({})).unwrap();
    assert_eq!(
        (&connected["server"]["tool_count"], &connected["server"]["list_problems"]),
        (&json!(3), &Value::Null)
    );
    assert_eq!(bridge.tool_text("s", "t", &json!({})), "done");
    let list = |message: &str, member: &str| {
        bridge.call(message, &json!({"server_id": "s"})).unwrap()[member].clone()
    };
    assert_eq!(list("mcp_list_prompts", "prompts"), json!([{"name": "p"}]));
    assert_eq!(list("mcp_list_resources", "resources"), json!([]), "it knows no such request");
    assert_eq!(bridge.call("health", &json!({})).unwrap()["health"]["state"], "ok");
}

/// Each list has it say at once that its tools have changed.
#[test]
fn a_server_that_speaks_of_changes_without_end_is_asked_ever_more_seldom_and_nobody_is_told() {
    const ROUNDS: u32 = 5;
    let home = Home::new();
    let bridge = Bridge::start(&home);
    let listed = Arc::new(AtomicUsize::new(0));
    let counted = listed.clone();
    let server = Scripted::start(move |asked, stream| match (asked.verb.as_str(), asked.method()) {
        (_, "tools/list") => {
            listed.fetch_add(1, Ordering::SeqCst);
            false
        }
        ("GET", _) => {
            begin_events(stream);
            let changed = json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"});
            let mut told = 0;
            loop {
                let now = listed.load(Ordering::SeqCst);
                let goes_on = match now > told {
                    true => event(stream, &format!("data: {changed}\n\n")),
                    false => event(stream, ": \n\n"),
                };
                told = now;
                if !goes_on {
                    return true;
                }
                std::thread::sleep(Duration::from_millis(10));
            }
        }
        _ => false,
    });
    bridge.call("host_watch", &json!({})).unwrap();
    connect(&bridge, &server.url(), &json!({})).unwrap();
    let _ = bridge.next_push("tools_changed", LIMIT);
    let (began, before) = (Instant::now(), counted.load(Ordering::SeqCst));
    wait_until("more rounds", LIMIT, || counted.load(Ordering::SeqCst) >= before + ROUNDS as usize);
    // The first of them may have been about to begin: 100, 200, 400 ms and so on lie between the others.
    let least = Duration::from_millis(100) * (2_u32.pow(ROUNDS - 2) - 1);
    assert!(began.elapsed() >= least, "{:?}", began.elapsed());
    // Had anything been told meanwhile, this would be that.
    bridge.call("remove_server", &json!({"server_id": "s"})).unwrap();
    assert_eq!(bridge.next_push("tools_changed", LIMIT)["server_id"], "s");
}

#[test]
fn a_schema_that_is_none_of_an_object_is_completed_or_its_tool_alone_left_out() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    let server = with_list("tools/list", |_| {
        let with = |name: &str, schema: Value| json!({"name": name, "inputSchema": schema, "icons": [1]});
        json!({"tools": [good("ok"), with("any", json!({"anyOf": [{"type": "object"}]})), with("empty", json!({})),
            with("list", json!({"type": "array"}))]})
    });
    let connected = connect(&bridge, &server.url(), &json!({})).unwrap();
    let problem = connected["server"]["list_problems"][0].as_str().unwrap().to_owned();
    assert!(problem.ends_with(r#": "list""#), "{problem}");
    assert_eq!(reason(&bridge), ("list_incomplete".into(), format!("s: {problem}")));
    assert!(said(&home, &["tools", "s"]).contains(&problem));
    assert!(said(&home, &["logs", "s"]).contains(&problem));

    let mut mcp = client(&home, "2025-11-25");
    let by_client = mcp.ask("tools/list", &json!({}))["result"]["tools"].take();
    let by_bridge = bridge.call("mcp_list_tools", &json!({"server_id": "s"})).unwrap()["tools"].clone();
    assert_eq!(
        (names(&by_client), names(&by_bridge)),
        (vec!["s__ok", "s__any", "s__empty"], vec!["ok", "any", "empty"])
    );
    for tools in [&by_client, &by_bridge, &connected_tools(&bridge)] {
        assert_eq!(tools[1]["inputSchema"], json!({"anyOf": [{"type": "object"}], "type": "object"}));
        assert_eq!(tools[2]["inputSchema"], json!({"type": "object"}));
    }
    assert_eq!(bridge.tool_text("s", "empty", &json!({})), "done");
}

/// The tools as `mcp_connect` gives them.
fn connected_tools(bridge: &Bridge) -> Value {
    bridge.call("mcp_connect", &json!({"server_id": "s"})).unwrap()["tools"].clone()
}

#[test]
fn what_nobody_knows_of_a_tool_reaches_clients_and_is_part_of_what_is_pinned() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    let more = json!({"icons": [{"src": "data:image/png;base64,AA=="}], "_meta": {"ui": {"resourceUri": "ui://x"}},
        "execution": {"taskSupport": "optional"}});
    let shown = more.clone();
    let changed = Arc::new(AtomicUsize::new(0));
    let look = changed.clone();
    let server = Scripted::start(move |asked, stream| match asked.method() {
        "tools/list" => {
            let mut tool = good("ok");
            for (name, value) in shown.as_object().unwrap() {
                tool[name] = value.clone();
            }
            if look.load(Ordering::SeqCst) > 0 {
                tool["execution"]["taskSupport"] = json!("required");
            }
            result(asked, stream, &json!({"tools": [tool]}))
        }
        "resources/read" => {
            let uri = &asked.body["params"]["uri"];
            result(
                asked,
                stream,
                &json!({"contents": [{"uri": uri, "mimeType": "text/html", "text": "an app"}]}),
            )
        }
        _ => false,
    });
    // Another server beside it: whose resource it is has to be known.
    let other = with_list("resources/list", |_| json!({"resources": []}));
    connect(&bridge, &server.url(), &json!({})).unwrap();
    bridge
        .call("add_remote_server", &json!({"server_id": "other", "url": other.url(), "allow_private": true}))
        .unwrap();
    bridge.call("connect_server", &json!({"server_id": "other"})).unwrap();
    let mut mcp = client(&home, "2025-11-25");
    let read = mcp.ask("resources/read", &json!({"uri": "ui://x"}));
    assert_eq!(read["result"]["contents"][0]["text"], "an app", "{read}");
    assert_eq!(other.count(|asked| asked.method() == "resources/read"), 0);
    let tools = mcp.ask("tools/list", &json!({}))["result"]["tools"].take();
    let tool = tools.as_array().unwrap().iter().find(|tool| tool["name"] == "s__ok").unwrap();
    for (name, value) in more.as_object().unwrap() {
        assert_eq!(&tool[name], value, "{name}");
    }
    let members: BTreeSet<_> = tool.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(members, ["_meta", "description", "execution", "icons", "inputSchema", "name"].into());

    changed.store(1, Ordering::SeqCst);
    bridge.call("connect_server", &json!({"server_id": "s", "restart": true})).unwrap();
    let changes =
        bridge.call("host_list_tool_changes", &json!({"server_id": "s"})).unwrap()["changes"].clone();
    assert_eq!(changes[0]["after"]["execution"]["taskSupport"], "required", "{changes}");
    assert_eq!(changes[0]["before"]["execution"]["taskSupport"], "optional");
    let listed = said(&home, &["tools", "--changed", "s"]);
    assert!(listed.contains("execution") && listed.contains("required"), "{listed}");
}

#[test]
fn results_are_as_old_and_new_clients_need_them() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    let image = json!({"content": [{"type": "image", "mimeType": "image/png", "data": "AA=="}], "structuredContent": {"n": 1}});
    let shown = image.clone();
    let server = Scripted::start(move |asked, stream| match asked.calls("t") {
        true => result(asked, stream, &json!({"content": [], "structuredContent": {"n": [1, "two"]}})),
        false => asked.calls("other") && result(asked, stream, &shown),
    });
    connect(&bridge, &server.url(), &json!({})).unwrap();
    for revision in ["2024-11-05", "2025-11-25"] {
        let mut mcp = client(&home, revision);
        let structured = mcp.tool("s__t", &json!({}))["result"].take();
        assert_eq!(structured["structuredContent"], json!({"n": [1, "two"]}));
        let text = structured["content"][0]["text"].as_str().unwrap();
        assert_eq!(serde_json::from_str::<Value>(text).unwrap(), structured["structuredContent"]);
        assert_eq!(mcp.tool("s__other", &json!({}))["result"], image, "nothing is added");
    }
    let mut lazy =
        Direct::start(home.command("harbor").args(["mcp", "--client", "ai", "--lazy"])).initialized();
    let called = lazy.tool("call_tool", &json!({"name": "s__other"}));
    assert_eq!(called["result"], image);
    let own = bridge.tool("s", "other", &json!({})).unwrap();
    assert_eq!(own["result"], image);
}
