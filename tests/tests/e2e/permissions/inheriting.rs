//! A name that another program has now: it takes over nothing of what the one before was given, unless the person says so.

use std::fs;
use std::path::PathBuf;

use harbor_tests::client::{CALL, LIST};
use harbor_tests::home::TEST_ID;
use harbor_tests::{Bridge, Client, Double, Home, Speaker, programs};
use serde_json::{Value, json};

use super::{SITE, bridge_with_server};

/// The double, as a program of its own.
fn another(home: &Home) -> PathBuf {
    let (double, copy) = (programs::double("misbehaving-server"), home.scratch("another-server"));
    fs::copy(double, &copy).unwrap();
    copy
}

fn harbor(home: &Home, args: &[&str]) -> String {
    let output = home.command("harbor").args(args).output().unwrap();
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap()).concat()
}

/// Why a call of a page is refused: code and reason.
fn refused(site: &Speaker) -> (String, Value) {
    let error = site.tool("s/echo", &json!({})).unwrap_err();
    (error.code, error.details["reason"].clone())
}

fn server_changed() -> (String, Value) {
    ("ERR_TOOL_NOT_ALLOWED".into(), json!("server_changed"))
}

#[test]
fn what_was_given_to_a_server_ends_with_it_and_is_named() {
    let home = Home::new();
    home.configure("[mcp]\nfirstUse = \"all\"\n");
    let mut bridge = bridge_with_server(&home);
    let site = bridge.speaking_for(SITE);
    site.grant(CALL, "ALLOW_ALWAYS", &json!({"allowed_tools": ["s/*", "t/*"]}));
    site.grant(LIST, "ALLOW_ONCE", &json!({"allowed_tools": ["s/echo"]}));
    let client = Client::attach_ai(&home, "ai");
    assert_eq!(client.call("mcp_begin", &json!({"only": ["s/*"]})).unwrap()["granted"], true);
    let call = |client: &Client| client.call("host_call_tool", &json!({"tool_name": "s/echo"}));
    assert_eq!((call(&client).map(drop), site.try_tool("s/echo").as_str()), (Ok(()), "ok"));
    let secret = json!({"server_id": "s", "key": "TOKEN", "value": "for the first one"});
    bridge.call("set_credential", &secret).unwrap();

    let removed = bridge.call("remove_server", &json!({"server_id": "s"})).unwrap();
    let ended = removed["grants"].as_array().unwrap().iter();
    let ended: Vec<_> =
        ended.map(|grant| json!([grant["origin"], grant["scope"], grant["allowed_tools"]])).collect();
    let wanted = [
        json!(["client://ai", CALL, ["s/*"]]),
        json!(["client://ai", LIST, ["s/*"]]),
        json!([SITE, CALL, ["s/*"]]),
        json!([SITE, LIST, ["s/echo"]]),
    ];
    let sorted = |mut all: Vec<Value>| {
        all.sort_by_key(ToString::to_string);
        all
    };
    assert_eq!(sorted(ended), sorted(wanted.into()));
    assert!(removed["pins"].as_u64().unwrap() > 0 && removed["secrets"] == 1, "{}", removed.text);

    for round in 0..2 {
        bridge.add("s", &Double::sound(&home));
        bridge.connect("s");
        let site = bridge.speaking_for(SITE);
        assert_eq!(refused(&site), ("ERR_TOOL_NOT_ALLOWED".into(), json!("allowlist")), "round {round}");
        let left: Vec<_> = site.grants().iter().map(|grant| grant["allowed_tools"].clone()).collect();
        assert_eq!(left, [json!(["t/*"])]);
        let client = Client::attach_ai(&home, "ai");
        assert_eq!(client.call("mcp_begin", &json!({"only": ["s/*"]})).unwrap()["granted"], false);
        assert_eq!(call(&client).unwrap_err().code, "ERR_SCOPE_REQUIRED");
        let secrets = bridge.call("list_credentials", &json!({})).unwrap();
        assert_eq!(secrets["credentials"], json!([]));
        bridge.stop();
        bridge = Bridge::start(&home);
    }
    assert_eq!(harbor(&home, &["remove", "s"]).lines().count(), 2, "what it was pinned by is named");
}

#[test]
fn another_program_under_a_name_waits_for_the_person() {
    let home = Home::new();
    let mut bridge = bridge_with_server(&home);
    let double = Double::sound(&home);
    for (origin, tools) in [(SITE, json!({"allowed_tools": ["s/*"]})), ("https://all.example", json!({}))] {
        let site = bridge.speaking_for(origin);
        site.grant(CALL, "ALLOW_ALWAYS", &tools);
        site.grant(LIST, "ALLOW_ALWAYS", &json!({}));
        assert_eq!(site.try_tool("s/echo"), "ok");
    }
    bridge.call("set_credential", &json!({"server_id": "s", "key": "OLD", "value": "x"})).unwrap();
    let replace = |bridge: &Bridge, more: &Value| {
        let mut definition = double.definition("s");
        for (name, value) in more.as_object().unwrap() {
            definition[name] = value.clone();
        }
        bridge.call("add_server", &definition).unwrap()["program_change"].clone()
    };
    // Arguments, variables and names are no other program.
    let mut args = double.definition("s")["args"].clone();
    args.as_array_mut().unwrap().extend([json!("--delay-ms"), json!("0")]);
    let env = json!({"MORE": "1", TEST_ID: home.id()});
    assert_eq!(replace(&bridge, &json!({"label": "S", "args": args, "env": env})), Value::Null);
    bridge.connect("s");
    assert_eq!(bridge.speaking_for(SITE).try_tool("s/echo"), "ok");

    let other = another(&home);
    let change = replace(&bridge, &json!({"command": other, "secrets": ["OLD"]}));
    assert_eq!((&change["server_id"], &change["after"]), (&json!("s"), &json!(other)));
    for round in 0..2 {
        let [site, all] = [SITE, "https://all.example"].map(|origin| bridge.speaking_for(origin));
        assert_eq!((refused(&site), refused(&all)), (server_changed(), server_changed()), "round {round}");
        assert_eq!(site.tools().unwrap(), Vec::<String>::new());
        // Nor does it get what was set for the other one.
        let status = bridge.call("get_server_status", &json!({"server_id": "s"})).unwrap();
        assert_eq!((&status["can_start"], &status["missing_secrets"]), (&json!(false), &json!(["OLD"])));
        assert!(status["why_not"].as_str().unwrap().contains("`harbor accept s`"), "{}", status.text);
        bridge.stop();
        bridge = Bridge::start(&home);
    }
    let shown = harbor(&home, &["tools", "--changed"]);
    assert!(shown.contains("s: is a different program") && shown.contains("harbor accept s"), "{shown}");
    let stale = json!({"server_id": "s", "program": double.definition("s")["command"]});
    assert_eq!(bridge.call("host_accept_server_change", &stale).unwrap_err().code, "invalid_params");
    assert!(harbor(&home, &["accept", "s"]).ends_with("accepted s\n"));
    bridge.connect("s");
    assert_eq!(bridge.speaking_for(SITE).try_tool("s/echo"), "ok");
    // What looks like a secret in its arguments is shown nowhere, and accepted all the same.
    let secret = json!({"command": "/usr/bin/env", "args": ["--api-key", "s3cret-of-mine", other]});
    assert!(replace(&bridge, &secret).is_object());
    let shown = [&["tools", "--changed"][..], &["tools", "--changed", "--json"], &["accept", "s", "--json"]]
        .map(|line| harbor(&home, line));
    for text in shown {
        assert!(text.contains("--api-key …") && !text.contains("s3cret"), "{text}");
    }
    assert!(replace(&bridge, &json!({"command": other})).is_object());
    assert!(harbor(&home, &["accept", "s"]).ends_with("accepted s\n"));
    // The other way round as well, and what was accepted is the one that comes back.
    assert!(replace(&bridge, &json!({})).is_object());
    assert_eq!(refused(&bridge.speaking_for(SITE)), server_changed());
    assert_eq!(replace(&bridge, &json!({"command": other})), Value::Null);
    bridge.connect("s");
    assert_eq!(bridge.speaking_for(SITE).try_tool("s/echo"), "ok");
}

#[test]
fn where_nothing_was_given_to_a_program_another_one_takes_its_place() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    bridge.add("s", &Double::sound(&home));
    let mut definition = Double::sound(&home).definition("s");
    definition["command"] = json!(another(&home));
    let added = bridge.call("add_server", &definition).unwrap();
    assert_eq!(added["program_change"], Value::Null);
    bridge.connect("s");
    let site = bridge.speaking_for(SITE);
    site.grant(CALL, "ALLOW_ALWAYS", &json!({"allowed_tools": ["s/echo"]}));
    assert_eq!(site.try_tool("s/echo"), "ok");
}

#[test]
fn files_of_another_program_are_set_aside_unless_the_person_wants_them() {
    let home = Home::new();
    let bridge = bridge_with_server(&home);
    let data = home.path().join("servers/s/data");
    fs::write(data.join("notes"), "of the first").unwrap();
    let mut definition = Double::sound(&home).definition("s");
    definition["command"] = json!(another(&home));
    let aside = bridge.call("add_server", &definition).unwrap()["old_data"].as_str().unwrap().to_owned();
    assert_eq!(fs::read_to_string(PathBuf::from(&aside).join("notes")).unwrap(), "of the first");
    bridge.connect("s");
    assert!(!data.join("notes").exists());
    fs::write(data.join("notes"), "of the second").unwrap();
    bridge.call("remove_server", &json!({"server_id": "s"})).unwrap();
    definition["keep_data"] = json!(true);
    let kept = bridge.call("add_server", &definition).unwrap()["old_data"].clone();
    assert_eq!(kept, json!(data));
    assert_eq!(fs::read_to_string(data.join("notes")).unwrap(), "of the second");
    bridge.call("remove_server", &json!({"server_id": "s", "data": true})).unwrap();
    assert!(!data.parent().unwrap().exists(), "what was set aside goes, too");
}

/// What an AI client was configured with is not known before it comes.
#[test]
fn an_ai_client_that_comes_first_gets_no_name_that_was_another_program_before() {
    let home = Home::new();
    home.configure("[mcp]\nfirstUse = \"all\"\n");
    let mut bridge = bridge_with_server(&home);
    let first = Double::sound(&home);
    let mut other = first.definition("s");
    other["command"] = json!(another(&home));
    let remove = |bridge: &Bridge| bridge.call("remove_server", &json!({"server_id": "s"})).unwrap();
    let add = |bridge: &Bridge, definition: &Value| {
        let added = bridge.call("add_server", definition).unwrap();
        added["program_change"].is_object()
    };
    let come = |name: &str| {
        let client = Client::attach_ai(&home, name);
        assert_eq!(client.call("mcp_begin", &json!({"only": ["s/*"]})).unwrap()["granted"], true, "{name}");
        client
    };
    let call = |client: &Client| match client.call("host_call_tool", &json!({"tool_name": "s/echo"})) {
        Ok(_) => "ok".to_owned(),
        Err(error) => error.details["reason"].as_str().unwrap_or(&error.code).to_owned(),
    };
    let accept = || harbor(&home, &["accept", "s"]);

    // Removed, and another one added; also where the bridge was another one then.
    remove(&bridge);
    assert!(!add(&bridge, &other), "nothing was given to the one before");
    bridge.connect("s");
    bridge.stop();
    bridge = Bridge::start(&home);
    let client = come("removed");
    bridge.connect("s");
    assert_eq!(call(&client), "server_changed");
    let shown = harbor(&home, &["tools", "--changed"]);
    assert!(shown.contains("s: is a different program") && shown.contains("an earlier program"), "{shown}");
    accept();
    assert_eq!((call(&client), call(&come("later"))), ("ok".into(), "ok".into()), "that holds for all");

    // Replaced, with nothing given to the one before.
    remove(&bridge);
    assert!(!add(&bridge, &other), "it was the last that was accepted");
    assert!(!add(&bridge, &first.definition("s")));
    bridge.connect("s");
    assert_eq!(call(&come("replaced")), "server_changed");
    accept();

    // It comes while nobody has the name.
    remove(&bridge);
    let client = come("between");
    assert!(add(&bridge, &other), "its grant was for the name's earlier program");
    bridge.connect("s");
    assert_eq!(call(&client), "server_changed");
    accept();
    assert_eq!(call(&client), "ok");

    // The same program is the same one.
    remove(&bridge);
    assert!(!add(&bridge, &other));
    bridge.connect("s");
    assert_eq!(call(&come("same")), "ok");
}
