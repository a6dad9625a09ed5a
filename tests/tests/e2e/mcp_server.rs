//! `harbor mcp` as an AI client meets it: an MCP server on two pipes, with the tools of all servers.

use std::io::Write as _;
use std::time::Duration;

use harbor_tests::bridge::shut_down_detached;
use harbor_tests::client::{CALL, LIST};
use harbor_tests::double::echo_result;
use harbor_tests::{
    Bridge, Client, DOWN_LIMIT, Direct, Double, Home, LIMIT, Process, Program, Scripted, scripted, wait_until,
};
use nix::sys::signal::Signal;
use serde_json::{Value, json};

const NAME: &str = "ai";
const ORIGIN: &str = "client://ai";
const CHANGED: &str = "notifications/tools/list_changed";

fn start(home: &Home, args: &[&str]) -> Direct {
    Direct::start(home.command("harbor").args(["mcp", "--client", NAME]).args(args))
}

/// Ends it as clients do, and demands that it goes without a word.
fn end(mut mcp: Direct) {
    mcp.close();
    let status = mcp.wait(DOWN_LIMIT).expect("it ends with its stdin");
    assert!(status.success(), "{status}");
    assert_eq!(mcp.stderr(), "");
}

fn names(mcp: &mut Direct) -> Vec<String> {
    let answer = mcp.ask("tools/list", &json!({}));
    let tools = answer["result"]["tools"].as_array().unwrap_or_else(|| panic!("{answer}"));
    tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

/// The text of a call's result that says that it failed.
fn failure(answer: &Value) -> &str {
    assert_eq!(answer["result"]["isError"], true, "{answer}");
    answer["result"]["content"][0]["text"].as_str().unwrap()
}

fn wait_for(mcp: &Direct, method: &str) -> Value {
    loop {
        let message = mcp.next_message();
        if message["method"] == method {
            return message;
        }
    }
}

#[test]
fn a_new_client_lists_and_calls_the_tools_of_all_servers() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    bridge.add_and_connect("s", &Double::sound(&home));
    let tools = r#"[{"name":"odd name","title":"T","description":"d","inputSchema":{"type":"object","x":[1]},
        "outputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}}]"#;
    bridge.add_and_connect("other", &Double::sound(&home).modern().offering(tools));
    let mut mcp = start(&home, &[]).initialized();
    let listed = mcp.ask("tools/list", &json!({}))["result"]["tools"].take();
    let listed = listed.as_array().unwrap();
    assert!(listed.iter().any(|tool| tool["name"] == "s__echo"), "{listed:?}");
    let mut odd = listed.iter().find(|tool| tool["title"] == "T").unwrap().clone();
    let name = odd["name"].take();
    let mut wanted: Value = serde_json::from_str(tools).unwrap();
    wanted[0]["name"] = Value::Null;
    assert_eq!(odd, wanted[0], "all else is as its server wrote it");

    let id = mcp.send_request("tools/call", &json!({"name": "s__echo", "arguments": {"b": 1, "a": [2]}}));
    let line = String::from_utf8(mcp.next_line(LIMIT).unwrap()).unwrap();
    let result = echo_result(r#"{"a":[2],"b":1}"#, false);
    assert_eq!(line, format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{result}}}\n"));
    let answer = mcp.tool(name.as_str().unwrap(), &json!({"n": 1}));
    assert_eq!(answer["result"]["structuredContent"], json!({"n": 1}));

    let grants = bridge.speaking_for(ORIGIN).grants();
    let shown: Vec<_> = grants.iter().map(|grant| (&grant["scope"], &grant["grant_type"])).collect();
    let always = json!("ALLOW_ALWAYS");
    assert_eq!(shown, [(&json!(LIST), &always), (&json!(CALL), &always)]);
    let audit = bridge.audit(&json!({"origin": ORIGIN}));
    let granted = audit.iter().filter(|line| line["event"] == "grant" && line["by"] == "harbor").count();
    assert_eq!(granted, 2, "{audit:?}");
    end(mcp);
}

/// What a modern client is told with each request.
fn modern(mut params: Value) -> Value {
    params["_meta"] = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {}});
    params
}

/// A server whose tool gives this as its structured content.
fn giving(structured: &[(&'static str, Value)]) -> Scripted {
    let structured = structured.to_vec();
    Scripted::start(move |asked, stream| match asked.method() {
        "tools/list" => {
            let tool = |(name, _): &(&str, Value)| json!({"name": name, "inputSchema": {"type": "object"}, "outputSchema": {"type": ["array", "string", "null"]}});
            let tools: Vec<_> = structured.iter().map(tool).collect();
            scripted::result(asked, stream, &json!({"tools": tools}))
        }
        "tools/call" => {
            let given = structured.iter().find(|(name, _)| asked.calls(name)).map(|(_, given)| given);
            scripted::result(asked, stream, &json!({"content": [], "structuredContent": given}))
        }
        _ => false,
    })
}

#[test]
fn structured_content_may_be_any_json_and_older_clients_get_it_as_text() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    let all = [("list", json!([1, 2])), ("text", json!("x")), ("nothing", Value::Null)];
    let server = giving(&all);
    super::remote::connect(&bridge, &server.url(), &json!({})).unwrap();
    let page = bridge.asking("https://a.example").allowed();
    let (mut older, mut newer) = (start(&home, &[]).initialized(), start(&home, &[]));
    let older_list = older.ask("tools/list", &json!({}))["result"]["tools"].take();
    let newer_list = newer.ask("tools/list", &modern(json!({})))["result"]["tools"].take();
    for (at, (name, given)) in all.iter().enumerate() {
        assert_eq!(
            (&older_list[at]["outputSchema"], &newer_list[at]["outputSchema"]["type"]),
            (&Value::Null, &json!(["array", "string", "null"]))
        );
        let wanted = json!({"content": [{"type": "text", "text": given.to_string()}]});
        assert_eq!(older.tool(&format!("s__{name}"), &json!({}))["result"], wanted, "{name}");
        let call = modern(json!({"name": format!("s__{name}"), "arguments": {}}));
        let result = newer.ask("tools/call", &call)["result"].take();
        assert_eq!(result.get("structuredContent"), Some(given), "{name}: {result}");
        let wanted = json!({"content": [], "structuredContent": given});
        assert_eq!(page.call(&format!("s/{name}"), &json!({})).unwrap()["result"], wanted);
        let typed: Value =
            serde_json::from_str(&home.done(&["call", &format!("s/{name}"), "--json"])).unwrap();
        assert_eq!(typed["result"], wanted, "{name}");
    }
    end(older);
    end(newer);
}

#[test]
fn calls_run_at_the_same_time_and_one_that_is_cancelled_is_not_answered() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    let double = Double::sound(&home);
    bridge.add_and_connect("s", &double);
    let mut mcp = start(&home, &[]).initialized();
    assert_eq!(mcp.tool("s__echo", &json!({}))["result"]["structuredContent"], json!({}));
    let slow = mcp.send_request("tools/call", &json!({"name": "s__sleep", "arguments": {"ms": 60_000}}));
    let _ = double.journal().wait_for("call sleep");
    assert_eq!(mcp.tool("s__echo", &json!({"n": 1}))["result"]["structuredContent"], json!({"n": 1}));
    assert_eq!(mcp.ask("ping", &json!({}))["result"], json!({}));
    let params = json!({"requestId": slow, "reason": "test"});
    mcp.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}).to_string());
    let _ = double.journal().wait_for("cancelled");
    let last = mcp.send_request("ping", &json!({}));
    assert_eq!(mcp.next_message()["id"], last, "nothing was said of the other");
    end(mcp);
}

#[test]
fn a_client_that_goes_in_the_middle_of_a_call_ends_it() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    let double = Double::sound(&home);
    bridge.add_and_connect("s", &double);
    let mut mcp = start(&home, &[]).initialized();
    let _ = mcp.send_request("tools/call", &json!({"name": "s__sleep", "arguments": {"ms": 60_000}}));
    let _ = double.journal().wait_for("call sleep");
    mcp.close();
    assert!(mcp.wait(DOWN_LIMIT).expect("it ends with its stdin").success());
    assert!(mcp.stderr().contains("open requests are cancelled"), "{}", mcp.stderr());
    let _ = double.journal().wait_for("cancelled");
}

#[test]
fn requests_that_are_piped_in_are_answered_after_the_end_of_stdin() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    bridge.add_and_connect("s", &Double::sound(&home));
    let mut mcp = start(&home, &[]);
    let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
    let ids = [
        mcp.send_request("initialize", &params),
        mcp.send_request("tools/list", &json!({})),
        mcp.send_request("tools/call", &json!({"name": "s__echo", "arguments": {}})),
    ];
    mcp.close();
    let mut answered: Vec<_> = ids.iter().map(|_| mcp.next_message()["id"].as_u64().unwrap()).collect();
    answered.sort_unstable();
    assert_eq!(answered, ids);
    assert!(mcp.wait(DOWN_LIMIT).unwrap().success());
    assert_eq!(mcp.stderr(), "");
}

/// It reads nothing: neither a long answer, nor more lines than wait. All that it writes has room in the pipe.
#[test]
fn a_client_that_closes_stdin_and_reads_nothing_keeps_nobody() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    bridge.add_and_connect("s", &Double::sound(&home));
    let long = json!({"name": "s__echo", "arguments": {"t": "x".repeat(1 << 20)}});
    let requests = [("tools/call", long, 3), ("server/discover", json!({}), 700)];
    for (method, params, count) in requests {
        let mut command = home.command("harbor");
        let mut mcp = Program::start(command.args(["mcp", "--client", NAME]));
        let (mut stdin, stdout) = mcp.pipes();
        let greeting = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
        let begin = [("initialize", &greeting)].into_iter();
        for (id, (method, params)) in begin.chain((0..count).map(|_| (method, &params))).enumerate() {
            let line = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
            // It may have gone already.
            if writeln!(stdin, "{line}").is_err() {
                break;
            }
        }
        drop(stdin);
        assert!(mcp.wait(DOWN_LIMIT).is_some(), "{method}");
        drop(stdout);
    }
}

#[test]
fn progress_comes_under_the_clients_own_token() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    bridge.add_and_connect("s", &Double::sound(&home));
    let mut mcp = start(&home, &[]).initialized();
    let params = json!({"name": "s__progress", "arguments": {"steps": 3}, "_meta": {"progressToken": "tok"}});
    let id = mcp.send_request("tools/call", &params);
    for step in 1..=3 {
        let told = mcp.next_message();
        assert_eq!(told["method"], "notifications/progress", "{told}");
        let (token, progress) = (&told["params"]["progressToken"], &told["params"]["progress"]);
        assert_eq!((token, progress), (&json!("tok"), &json!(step)));
    }
    assert_eq!(mcp.next_message()["id"], id);
    end(mcp);
}

#[test]
fn a_server_that_comes_or_goes_and_a_grant_that_ends_change_the_list() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    assert!(bridge.is_alive(), "else another one is started");
    let mut mcp = start(&home, &[]).initialized();
    assert_eq!(names(&mut mcp), [""; 0]);
    bridge.add_and_connect("s", &Double::sound(&home));
    wait_for(&mcp, CHANGED);
    assert!(names(&mut mcp).contains(&"s__echo".to_owned()));
    bridge.call("remove_server", &json!({"server_id": "s"})).unwrap();
    wait_for(&mcp, CHANGED);
    assert_eq!(names(&mut mcp), [""; 0]);
    assert!(bridge.speaking_for(ORIGIN).revoke(LIST, None));
    wait_for(&mcp, CHANGED);
    let error = mcp.ask("tools/list", &json!({}))["error"].take();
    assert!(
        error["message"].as_str().unwrap().contains("harbor grant client://ai mcp:tools.list"),
        "{error}"
    );
    end(mcp);
}

#[test]
fn what_was_revoked_before_the_first_connection_is_not_granted_by_it() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    bridge.add_and_connect("s", &Double::sound(&home));
    let owner = bridge.speaking_for(ORIGIN);
    owner.grant(CALL, "ALLOW_ALWAYS", &json!({}));
    assert!(owner.revoke(CALL, None));
    let mut mcp = start(&home, &[]).initialized();
    assert!(
        failure(&mcp.tool("s__echo", &json!({})))
            .contains("`harbor grant client://ai mcp:tools.call --always`")
    );
    assert_eq!(owner.grants(), [Value::Null; 0]);
    end(mcp);
}

#[test]
fn what_was_revoked_does_not_come_back_with_the_next_connection() {
    let home = Home::new();
    {
        let bridge = Bridge::start(&home);
        bridge.add_and_connect("s", &Double::sound(&home).auto_start());
        let mut mcp = start(&home, &[]).initialized();
        assert_eq!(mcp.tool("s__echo", &json!({}))["result"]["structuredContent"], json!({}));
        let owner = bridge.speaking_for(ORIGIN);
        assert!(owner.revoke(LIST, None) && owner.revoke(CALL, None));
        end(mcp);
    }
    let bridge = Bridge::start(&home);
    assert!(bridge.is_alive(), "else another one is started");
    let mut mcp = start(&home, &[]).initialized();
    let answer = mcp.tool("s__echo", &json!({}));
    let next = "\n`harbor grant client://ai mcp:tools.call --always` allows it";
    assert!(failure(&answer).ends_with(next), "{answer}");
    assert_eq!(bridge.speaking_for(ORIGIN).grants(), [Value::Null; 0]);
    // The person has the last word.
    bridge.speaking_for(ORIGIN).grant(CALL, "ALLOW_ALWAYS", &json!({}));
    assert_eq!(mcp.tool("s__echo", &json!({}))["result"]["structuredContent"], json!({}));
    end(mcp);
}

#[test]
fn a_name_is_new_once_however_many_come_under_it() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    assert!(bridge.is_alive());
    let clients: Vec<_> = (0..4).map(|_| Client::attach_ai(&home, NAME)).collect();
    let wrong = clients[0].call("mcp_begin", &json!({"only": ["s/x", "s"]})).unwrap_err();
    assert_eq!((wrong.code.as_str(), &wrong.details["field"]), ("invalid_params", &json!("only")));
    let begun: Vec<_> = clients.iter().map(|client| client.request("mcp_begin", &json!({}))).collect();
    let granted = begun.iter().filter(|begun| begun.wait(LIMIT).unwrap()["granted"] == true).count();
    assert_eq!((granted, bridge.speaking_for(ORIGIN).grants().len()), (1, 2));
    let other = Client::attach_ai(&home, "other").call("mcp_begin", &json!({"only": []})).unwrap();
    assert_eq!(other["granted"], true);
    let grants = bridge.speaking_for("client://other").grants();
    assert!(grants.iter().all(|grant| grant["allowed_tools"] == json!([])), "{grants:?}");
}

#[test]
fn who_was_denied_or_granted_something_before_gets_nothing_more() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    bridge.add_and_connect("s", &Double::sound(&home));
    bridge.speaking_for(ORIGIN).grant(CALL, "DENY", &json!({}));
    let mut mcp = start(&home, &[]).initialized();
    let answer = mcp.tool("s__echo", &json!({}));
    assert!(failure(&answer).contains("was denied mcp:tools.call"), "{answer}");
    assert_eq!(bridge.speaking_for(ORIGIN).grants().len(), 1);
    end(mcp);
}

#[test]
fn with_first_use_ask_a_call_names_the_command_that_allows_it_and_with_none_it_does_not() {
    for word in ["ask", "none"] {
        let home = Home::new();
        home.configure(&format!("[mcp]\nfirstUse = \"{word}\"\n"));
        let bridge = Bridge::start(&home);
        bridge.add_and_connect("s", &Double::sound(&home));
        let mut mcp = start(&home, &[]).initialized();
        let answer = mcp.tool("s__echo", &json!({}));
        let says = failure(&answer).contains("`harbor grant client://ai mcp:tools.call --always`");
        assert_eq!(says, word == "ask", "{answer}");
        assert!(failure(&answer).contains("needs permission for mcp:tools.call"), "{answer}");
        assert_eq!(bridge.speaking_for(ORIGIN).grants(), [Value::Null; 0]);
        end(mcp);
    }
}

#[test]
fn only_narrows_the_grants_and_what_is_listed() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    bridge.add_and_connect("s", &Double::sound(&home));
    let only = ["--only", "s/echo", "--only=t/*"];
    let mut mcp = start(&home, &only).initialized();
    assert_eq!(names(&mut mcp), ["s__echo"]);
    assert_eq!(mcp.tool("s__pid", &json!({}))["error"]["code"], -32602);
    for grant in bridge.speaking_for(ORIGIN).grants() {
        assert_eq!(grant["allowed_tools"], json!(["s/echo", "t/*"]), "{grant}");
    }
    end(mcp);
    // The grants are what was consented to first; they hold for the same name without --only, too.
    let mut mcp = start(&home, &[]).initialized();
    assert_eq!(names(&mut mcp), ["s__echo"]);
    assert!(failure(&mcp.tool("s__pid", &json!({}))).contains("not among the allowed tools"));
    // And --only holds where the grants allow more.
    bridge.speaking_for(ORIGIN).grant(LIST, "ALLOW_ALWAYS", &json!({}));
    bridge.speaking_for(ORIGIN).grant(CALL, "ALLOW_ALWAYS", &json!({}));
    assert!(names(&mut mcp).len() > 1);
    end(mcp);
    let mut mcp = start(&home, &only).initialized();
    assert_eq!(names(&mut mcp), ["s__echo"]);
    end(mcp);
}

/// A bridge ends when nobody uses it: what was added once is there all the same.
#[test]
fn after_another_start_of_the_bridge_a_client_has_all_tools_and_its_call_starts_their_server() {
    let home = Home::new();
    let double = Double::sound(&home);
    let before = {
        let bridge = Bridge::start(&home);
        bridge.add_and_connect("s", &double);
        let mut mcp = start(&home, &[]).initialized();
        let mut before = names(&mut mcp);
        before.sort();
        end(mcp);
        before
    };
    let bridge = Bridge::start(&home);
    let mut mcp = start(&home, &[]).initialized();
    assert_eq!((names(&mut mcp), double.journal().count("start")), (before, 1), "by name, as they are kept");
    assert_eq!(bridge.server("s")["shown_state"], "ready");
    assert_eq!(home.done(&["tools"]).lines().count(), names(&mut mcp).len() + 1);
    assert_eq!(mcp.tool("s__echo", &json!({"a": 1}))["result"]["content"][0]["text"], r#"{"a":1}"#);
    assert_eq!(
        (bridge.server("s")["shown_state"].as_str(), double.journal().count("start")),
        (Some("running"), 2)
    );
    end(mcp);
}

#[test]
fn what_does_not_work_is_told_apart() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    bridge.add_and_connect("s", &Double::sound(&home));
    bridge.call("add_server", &Double::sound(&home).manual().definition("stopped")).unwrap();
    let mut mcp = start(&home, &[]).initialized();
    for name in ["s__nothing", "nobody__echo", "echo", "s/echo"] {
        let error = mcp.tool(name, &json!({}))["error"].take();
        assert_eq!(error, json!({"code": -32602, "message": format!("unknown tool: {name}")}));
    }
    let answer = mcp.tool("stopped__echo", &json!({}));
    assert!(failure(&answer).ends_with("\nstart it: `harbor start stopped`"), "{answer}");
    assert!(failure(&mcp.tool("s__fail", &json!({}))).contains("the double refuses"));
    assert_eq!(failure(&mcp.tool("s__tool_error", &json!({}))), "it did not work");
    assert!(failure(&mcp.tool("s__die", &json!({}))).contains("s has ended"));
    end(mcp);
}

#[test]
fn a_client_of_the_modern_generation_is_served_without_initialize() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    bridge.add_and_connect("s", &Double::sound(&home));
    let mut mcp = start(&home, &[]);
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let found = mcp.ask("server/discover", &json!({"_meta": meta}));
    assert_eq!(found["result"]["supportedVersions"], json!(["2026-07-28"]));
    let filter = json!({"toolsListChanged": true});
    let listening =
        mcp.send_request("subscriptions/listen", &json!({"_meta": meta, "notifications": filter}));
    let heard = wait_for(&mcp, "notifications/subscriptions/acknowledged");
    assert_eq!(heard["params"]["notifications"], filter);
    let list = mcp.ask("tools/list", &json!({"_meta": meta}))["result"].take();
    assert_eq!((&list["resultType"], &list["cacheScope"]), (&json!("complete"), &json!("private")));
    // What an older server leaves out is said in its place.
    let call = json!({"name": "s__echo", "arguments": {"n": 1}, "_meta": meta});
    let result = mcp.ask("tools/call", &call)["result"].take();
    assert_eq!((&result["resultType"], &result["structuredContent"]), (&json!("complete"), &json!({"n": 1})));
    let call = json!({"name": "s__change_tools", "arguments": {}, "_meta": meta});
    let _ = mcp.send_request("tools/call", &call);
    let told = wait_for(&mcp, CHANGED);
    assert_eq!(told["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], listening);
    end(mcp);
}

#[test]
fn a_bridge_is_started_and_after_its_end_another_one() {
    let home = Home::new();
    {
        let bridge = Bridge::start(&home);
        bridge.add("s", &Double::sound(&home).auto_start());
    }
    let mut mcp = start(&home, &[]).initialized();
    assert!(!names(&mut mcp).is_empty() || wait_for(&mcp, CHANGED).is_object());
    assert_eq!(mcp.tool("s__echo", &json!({}))["result"]["structuredContent"], json!({}));
    shut_down_detached(&home);
    let answer = mcp.tool("s__echo", &json!({"n": 2}));
    assert_eq!(answer["result"]["structuredContent"], json!({"n": 2}), "{answer}");
    // One that is killed in the middle of a call: the call is not made again, the next one is.
    let slow = mcp.send_request("tools/call", &json!({"name": "s__sleep", "arguments": {"ms": 60_000}}));
    let bridge = Process::of(home.locked_by().unwrap()).unwrap();
    let asked = Client::attach(&home);
    wait_until("the call to be under way", LIMIT, || {
        let status = asked.call("status", &json!({})).unwrap()["status"].clone();
        status["servers"][0]["in_flight"] == 1
    });
    bridge.signal(Signal::SIGKILL);
    let answer = loop {
        let message = mcp.next_message();
        if message["id"] == slow {
            break message;
        }
    };
    assert!(failure(&answer).contains("may have run"), "{answer}");
    assert_eq!(mcp.tool("s__echo", &json!({"n": 3}))["result"]["structuredContent"], json!({"n": 3}));
    end(mcp);
    shut_down_detached(&home);
}

#[test]
fn what_is_no_message_is_refused_and_harms_nothing() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    bridge.add_and_connect("s", &Double::sound(&home));
    let mut mcp = start(&home, &[]).initialized();
    mcp.send("{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"ping\"}");
    assert_eq!(mcp.next_message()["result"], json!({}));
    for (line, id, code) in [
        ("hello", Value::Null, -32700),
        ("{\"jsonrpc\":\"2.0\",\"id\":1", Value::Null, -32700),
        ("[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]", Value::Null, -32600),
        ("{\"id\":1,\"method\":\"ping\"}", json!(1), -32600),
        ("{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"method\":\"nothing/like/it\"}", json!("x"), -32601),
        ("{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\",\"params\":7}", json!(2), -32602),
    ] {
        mcp.send(line);
        let answer = mcp.next_message();
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&id, &json!(code)), "{line}");
    }
    mcp.send("");
    let big = "x".repeat(3_000_000);
    assert_eq!(mcp.tool("s__echo", &json!({"t": big}))["result"]["structuredContent"]["t"], big);
    end(mcp);
}

#[test]
fn many_calls_and_a_sudden_end_leave_nothing() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    bridge.add_and_connect("s", &Double::sound(&home));
    let mut mcp = start(&home, &[]).initialized();
    let ids: Vec<_> = (0..16)
        .map(|n| mcp.send_request("tools/call", &json!({"name": "s__echo", "arguments": {"n": n}})))
        .collect();
    let mut answered: Vec<_> = ids
        .iter()
        .map(|_| {
            let answer = mcp.next_message();
            let n = answer["result"]["structuredContent"]["n"].as_u64().unwrap_or_else(|| panic!("{answer}"));
            (answer["id"].as_u64().unwrap(), n)
        })
        .collect();
    answered.sort_unstable();
    let wanted: Vec<_> = ids.iter().copied().zip(0..).collect();
    assert_eq!(answered, wanted);
    assert_eq!(mcp.line_within(Duration::ZERO), None, "each is answered once");
    mcp.signal(Signal::SIGKILL);
    let ai = || bridge.call("status", &json!({})).unwrap()["status"]["bridge"]["clients"]["mcp"].clone();
    wait_until("the bridge to notice", LIMIT, || ai() == 0);
}

#[test]
fn a_wrong_command_line_is_refused_before_anything_is_started() {
    let home = Home::new();
    for (args, why) in [
        (&["--json"][..], "--json does not apply to this command"),
        (&["--only", "s"], "did you mean s/*?"),
        (&["--client", ""], "1 to 128 bytes"),
        (&["x"], "unrecognized subcommand 'x'"),
    ] {
        let output = home.command("harbor").arg("mcp").args(args).output().unwrap();
        let said = [output.stdout, output.stderr].concat();
        let said = String::from_utf8(said).unwrap();
        assert!(said.contains(why), "{args:?}: {said}");
        assert_eq!(output.status.code(), Some(2), "{args:?}");
    }
    assert_eq!(home.locked_by(), None);
}
