//! Who may send what, on real connections of each kind. The kind is fixed by how a connection begins, and nothing that
//! is said on it later changes it.

use harbor_ipc_proto::client::{MessageDoc, REQUESTS};
use harbor_tests::client::{CALL, LIST};
use harbor_tests::{Answer, Bridge, Client, Double, ErrorValue, Home, LIMIT, PROMPT, Relay};
use serde_json::{Value, json};

const SITE: &str = "https://site.example";

const NO: &str = "ERR_PERMISSION_DENIED";

/// What an AI client may send: list, call, read, run, cancel, and what concerns itself. All other messages, also those that
/// do not exist yet, are the owner's.
const OF_CLIENTS: &[&str] = &[
    "hello",
    "ping",
    "cancel",
    "host_check_permission",
    "host_get_permissions",
    "host_list_tools",
    "host_list_servers",
    "host_list_offers",
    "host_call_tool",
    "host_run_script",
    "host_create_run",
    "host_end_run",
    "host_get_run",
    "host_get_stats",
    "host_watch",
    "mcp_begin",
    "mcp_follow_messages",
    "mcp_answer",
    "mcp_read_resource",
    "mcp_get_prompt",
    "mcp_complete",
    "mcp_subscribe_resource",
    "mcp_unsubscribe_resource",
    "host_llm_chat",
    "host_llm_list_models",
    "llm_more",
    "run_start",
    "run_more",
    "session_create",
    "session_get",
    "session_list",
    "session_end",
];

/// What nobody else may.
const OF_CLIENTS_ONLY: &[&str] = &["mcp_begin", "mcp_follow_messages"];

/// What the extension alone may.
const OF_THE_EXTENSION: &[&str] =
    &["source_register", "source_unregister", "source_result", "source_event", "source_file"];

/// A request of this type with all that it needs, about a server that nobody has.
fn fields_of(message: &MessageDoc) -> Value {
    let mut fields = json!({});
    for field in message.fields.iter().filter(|field| !field.optional) {
        fields[field.name] = match (field.name, field.kind) {
            ("origin", _) => json!(SITE),
            ("scope", _) => json!(CALL),
            ("server_id" | "source_id", _) => json!("nobody"),
            ("tool_name", _) => json!("nobody/tool"),
            (_, "a string") => json!("x"),
            (_, "an array of strings") => json!(["x"]),
            (_, kind) if kind.starts_with("an array of objects") => json!([]),
            (_, kind) if kind.starts_with("an object") || kind.starts_with("the object") => json!({}),
            (_, kind) if kind.starts_with("a whole number") => json!(7),
            (name, kind) => panic!("{}: what stands in `{name}`, {kind}?", message.tag),
        };
    }
    fields
}

fn with_origin(message: &MessageDoc, origin: &str) -> Value {
    let mut fields = fields_of(message);
    fields["origin"] = json!(origin);
    fields
}

fn has_origin(message: &MessageDoc) -> bool {
    message.fields.iter().any(|field| field.name == "origin")
}

/// The answers to a request in both envelopes, the second also with a dot in its method.
fn asked_in_both(client: &Client, tag: &str, fields: &Value) -> [Result<Answer, ErrorValue>; 3] {
    let rpc = |method: &str| client.rpc(&json!(format!("rpc {method}")), method, fields).wait(LIMIT);
    [client.call(tag, fields), rpc(tag), rpc(&tag.replacen('_', ".", 1))]
}

fn code(answer: &Result<Answer, ErrorValue>) -> &str {
    answer.as_ref().map_or_else(|error| error.code.as_str(), |_| "ok")
}

#[test]
fn each_kind_of_client_may_send_its_messages_and_no_others() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    // Or the relay might be the first to look, and start another one.
    assert!(bridge.is_alive());
    let relay = Relay::firefox(&home, &[]);
    let clients = [
        ("the parent of serve --stdio", bridge.clone(), true, false),
        ("the command line", Client::attach(&home), true, false),
        ("an extension", Client::attach_browser(&home, "one"), true, true),
        ("a browser's native host", relay.clone(), true, true),
        ("an AI client", Client::attach_ai(&home, "ai"), false, false),
    ];
    for (who, client, is_owner, is_extension) in &clients {
        // Ending the bridge is another test's business.
        for message in REQUESTS.iter().filter(|message| !is_owner || message.tag != "shutdown") {
            let mut fields = fields_of(message);
            if *is_owner && has_origin(message) {
                fields["origin"] = json!(SITE);
            }
            let for_owner = !OF_CLIENTS_ONLY.contains(&message.tag)
                && (*is_extension || !OF_THE_EXTENSION.contains(&message.tag));
            let allowed = match is_owner {
                true => message.tag != "attach" && for_owner,
                false => OF_CLIENTS.contains(&message.tag),
            };
            for answer in asked_in_both(client, message.tag, &fields) {
                let found = code(&answer);
                assert_eq!(found == NO, !allowed, "{who}: {} {answer:?}", message.tag);
                assert!(!["unauthorized", "unknown_message_type"].contains(&found), "{who}: {}", message.tag);
            }
        }
        assert!(client.is_alive(), "{who}");
    }
    assert!(OF_CLIENTS.iter().all(|tag| REQUESTS.iter().any(|message| message.tag == *tag)));
}

#[test]
fn an_ai_client_speaks_for_itself_only() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    bridge.add_and_connect("s", &Double::sound(&home));
    for origin in [SITE, "client://other"] {
        bridge.speaking_for(origin).grant(CALL, "ALLOW_ALWAYS", &json!({}));
    }
    let ai = Client::attach_ai(&home, "Some Client");
    let others =
        [SITE, "client://other", "client://some%20client", "client://Some Client", "null", "", "owner"];
    let messages = REQUESTS.iter().filter(|message| OF_CLIENTS.contains(&message.tag) && has_origin(message));
    let mut count = 0;
    for message in messages {
        count += 1;
        for other in others {
            for answer in asked_in_both(&ai, message.tag, &with_origin(message, other)) {
                let error = answer.unwrap_err();
                assert_eq!(error.code, NO, "{} {other}", message.tag);
                assert!(error.message.contains("client://Some%20Client"), "{}", error.message);
            }
        }
        // Its own name, and none, are the same.
        let own = ai.call(message.tag, &with_origin(message, "client://Some%20Client"));
        let none = ai.call(message.tag, &fields_of(message));
        assert_eq!(code(&own), code(&none), "{}", message.tag);
        assert_ne!(code(&own), NO, "{}", message.tag);
    }
    assert!(count >= 9, "{count}");
    assert_eq!(ai.speaking(&json!({})).try_tool("s/echo"), "ERR_SCOPE_REQUIRED");
}

#[test]
fn nothing_makes_an_ai_client_somebody_else() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    bridge.add_and_connect("s", &Double::sound(&home));
    // The longest name that there is, all of it encoded.
    let name = "é".repeat(64);
    let ai = Client::attach_ai(&home, &name);
    let token = harbor_tests::client::attach_fields(&home)["token"].clone();
    for role in [
        json!({"role": "cli"}),
        json!({"role": "mcp", "client": "other"}),
        json!({"role": "relay", "extension_id": "abc"}),
    ] {
        let mut fields = role.clone();
        fields["token"] = token.clone();
        let answers = asked_in_both(&ai, "attach", &fields);
        assert!(answers.iter().all(|answer| code(answer) == NO), "{answers:?}");
        let mut hello = fields;
        hello["client"] = json!("other");
        hello["extension_id"] = json!("abc");
        ai.call("hello", &hello).unwrap();
    }
    // The tab of another one's browser session is none of its own.
    let browser = Client::attach_browser(&home, "one");
    let own = format!("client://{}", "%C3%A9".repeat(64));
    browser.speaking(&json!({"origin": own, "tab_id": 7})).grant(CALL, "ALLOW_ONCE", &json!({}));
    ai.call("hello", &json!({"browser_session": "one"})).unwrap();
    let speaker = ai.speaking(&json!({"tab_id": 7}));
    assert_eq!(speaker.try_tool("s/echo"), "ERR_SCOPE_REQUIRED");
    let permissions = speaker.ask("host_get_permissions", &json!({})).unwrap();
    assert_eq!(permissions["origin"], own);
    let refused = [
        ("list_servers", json!({})),
        ("host_grant_permission", json!({"origin": own, "scope": CALL})),
        ("mcp_call_tool", json!({"server_id": "s", "tool_name": "echo"})),
    ];
    for (tag, fields) in refused {
        assert_eq!(code(&ai.call(tag, &fields)), NO, "{tag}");
    }
}

#[test]
fn an_ai_client_has_to_have_a_name() {
    let home = Home::new();
    let _bridge = Bridge::foreground(&home);
    let wrong = [
        (json!({"role": "mcp"}), "client"),
        (json!({"role": "mcp", "client": ""}), "client"),
        (json!({"role": "mcp", "client": "x".repeat(129)}), "client"),
        (json!({"role": "relay"}), "extension_id"),
        (json!({"role": "relay", "extension_id": ""}), "extension_id"),
    ];
    for (role, field) in wrong {
        let mut fields = harbor_tests::client::attach_fields(&home);
        fields.as_object_mut().unwrap().extend(role.as_object().unwrap().clone());
        let stranger = Client::over_socket(home.dial());
        let error = stranger.call("attach", &fields).unwrap_err();
        assert_eq!(
            (error.code.as_str(), &error.details["field"]),
            ("invalid_params", &json!(field)),
            "{role}"
        );
        assert!(stranger.wait_closed(PROMPT));
    }
}

#[test]
fn an_ai_client_lists_calls_runs_cancels_and_sees_what_is_its_own() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    let double = Double::sound(&home);
    bridge.add_and_connect("s", &double);
    bridge.add_and_connect("hidden", &Double::sound(&home));
    let own = bridge.speaking_for("client://ai");
    let tools = json!({"allowed_tools": ["s/echo", "s/sleep"]});
    let grants = [LIST, CALL].map(|scope| own.grant(scope, "ALLOW_ALWAYS", &tools));
    let site = bridge.speaking_for(SITE);
    site.grant(CALL, "ALLOW_ALWAYS", &json!({}));
    assert_eq!(site.try_tool("hidden/echo"), "ok");

    let client = Client::attach_ai(&home, "ai");
    let ai = client.speaking(&json!({}));
    assert_eq!(ai.tools().unwrap(), ["s/echo", "s/sleep"]);
    let servers = ai.ask("host_list_servers", &json!({})).unwrap()["servers"].clone();
    assert_eq!(servers, json!([{"server_id": "s", "label": "s", "state": "running", "tool_count": 2}]));
    let answer = ai.tool("s/echo", &json!({"n": 1})).unwrap();
    assert_eq!(answer["result"]["structuredContent"], json!({"n": 1}));
    assert_eq!(ai.try_tool("hidden/echo"), "ERR_TOOL_NOT_ALLOWED");

    let run = ai.ask("host_create_run", &json!({"max_calls": 2})).unwrap();
    let in_run = json!({"tool_name": "s/echo", "run_id": run["run_id"]});
    assert_eq!(code(&ai.ask("host_call_tool", &in_run)), "ok");
    let state = ai.ask("host_get_run", &json!({"run_id": run["run_id"]})).unwrap();
    assert_eq!((&state["max_calls"], &state["remaining"]), (&json!(2), &json!(1)));
    let other = Client::attach_ai(&home, "other");
    let theirs = other.speaking(&json!({})).ask("host_get_run", &json!({"run_id": run["run_id"]}));
    assert_eq!(code(&theirs), "not_found");

    let long = ai.send_tool("s/sleep", &json!({"ms": 60_000}));
    let id = double.journal().wait_for("call sleep");
    let cancelled = |client: &Client| {
        client.call("cancel", &json!({"target": long.id})).unwrap()["cancelled"].as_bool().unwrap()
    };
    assert!(
        !cancelled(&other) && !cancelled(&bridge) && long.is_open(),
        "a cancel is for one's own requests"
    );
    assert!(cancelled(&client));
    assert_eq!(long.wait(PROMPT).unwrap_err().code, "cancelled");
    let _ = double.journal().wait_for(&format!("cancelled {id} "));

    let mut seen = ai.grants();
    seen.sort_by_key(|grant| grant["scope"] != LIST);
    assert_eq!(seen, grants);
    let checked = ai.ask("host_check_permission", &json!({"scope": CALL, "tool_name": "s/echo"})).unwrap();
    assert_eq!((&checked["granted"], &checked["grant_type"]), (&json!(true), &json!("ALLOW_ALWAYS")));
    let stats = ai.ask("host_get_stats", &json!({})).unwrap();
    assert_eq!((&stats["stats"]["calls"]["calls"], &stats["stats"]["grants"]), (&json!(3), &json!(2)));
    assert!(!stats.text.contains("hidden") && !stats.text.contains(SITE), "{}", stats.text);
    assert_eq!(other.speaking(&json!({})).grants(), Vec::<Value>::new());
}

#[test]
fn clients_of_different_names_share_no_grants() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    bridge.add_and_connect("s", &Double::sound(&home));
    bridge.speaking_for("client://one").grant(CALL, "ALLOW_ALWAYS", &json!({}));
    let calls = |name: &str| Client::attach_ai(&home, name).speaking(&json!({})).try_tool("s/echo");
    assert_eq!(["one", "two", "One", "one ", "on%65"].map(calls), {
        let no = "ERR_SCOPE_REQUIRED";
        ["ok", no, no, no, no]
    });
    assert_eq!(calls("one"), "ok", "nor does a grant belong to one connection");
}

#[test]
fn the_owner_names_an_origin_and_is_judged_as_that() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    bridge.add_and_connect("s", &Double::sound(&home));
    let browser = Client::attach_browser(&home, "one");
    let cli = Client::attach(&home);
    let owners = [&*bridge, &cli, &browser];
    bridge.speaking_for("https://b.example").grant(CALL, "DENY", &json!({}));
    bridge.speaking_for("client://ai").grant(CALL, "ALLOW_ALWAYS", &json!({}));
    for owner in owners {
        let calls = |origin: &str| {
            (owner.speaking_for(origin).try_tool("s/echo"), owner.tool_text("s", "echo", &json!({})))
        };
        // The person may call it anyway, for themselves.
        let text = "{}".to_owned();
        assert_eq!(calls(SITE), ("ERR_SCOPE_REQUIRED".into(), text.clone()));
        assert_eq!(calls("https://b.example"), (NO.into(), text.clone()));
        assert_eq!(calls("client://ai"), ("ok".into(), text));
        let optional = |message: &&MessageDoc| {
            message.fields.iter().any(|field| field.name == "origin")
                && !["host_get_stats", "host_get_audit"].contains(&message.tag)
                && !OF_THE_EXTENSION.contains(&message.tag)
        };
        for message in REQUESTS.iter().filter(optional) {
            let mut fields = fields_of(message);
            fields.as_object_mut().unwrap().remove("origin");
            for answer in asked_in_both(owner, message.tag, &fields) {
                let error = answer.unwrap_err();
                let told = (error.code.as_str(), &error.details["field"]);
                assert_eq!(told, ("invalid_params", &json!("origin")), "{}", message.tag);
            }
        }
    }
}

#[test]
fn the_owners_own_calls_need_no_grant_and_are_in_the_audit_log() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    let double = Double::sound(&home);
    bridge.add_and_connect("s", &double);
    bridge.speaking_for(SITE).grant(CALL, "DENY", &json!({}));
    let browser = Client::attach_browser(&home, "one");
    for client in [&*bridge, &browser] {
        assert_eq!(client.tool_text("s", "echo", &json!({"n": 1})), "{\"n\":1}");
        assert_eq!(code(&client.tool("s", "fail", &json!({}))), "ERR_TOOL_FAILED");
    }
    let calls = bridge.audit(&json!({})).into_iter().filter(|line| line["event"] == "call");
    let told: Vec<_> = calls
        .map(|line| {
            assert_eq!((&line["origin"], &line["decision"]), (&Value::Null, &json!("allowed")), "{line}");
            json!([line["by"], line["server"], line["tool"], line["code"], line["bytes_in"]])
        })
        .collect();
    let rows = |by: &str| [json!([by, "s", "echo", null, 7]), json!([by, "s", "fail", "ERR_TOOL_FAILED", 2])];
    assert_eq!(told, [rows("owner"), rows("extension:abc")].concat());
    assert_eq!(double.journal().count("call"), 4);
}
