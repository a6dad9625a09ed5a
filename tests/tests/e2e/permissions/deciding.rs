//! Who may call what: no grant, several grants, lists of tools, a DENY.

use harbor_tests::client::{CALL, LIST};
use harbor_tests::{Bridge, Double, Home, Speaker};
use serde_json::{Value, json};

use super::{SITE, bridge_with_server, said};

const ONCE: &str = "ALLOW_ONCE";
const ALWAYS: &str = "ALLOW_ALWAYS";
const DENY: &str = "DENY";

/// Of a running server and of one that was never started: with tools, without, and no server at all.
const NAMES: &[&str] = &["s/echo", "s/no_such_tool", "off/echo", "nobody/echo"];

/// What it is told about each of [`NAMES`]: the code, if it is told the same about all of them.
fn told_about_all(speaker: &Speaker) -> String {
    let answers: Vec<_> =
        NAMES.iter().map(|name| said(speaker.tool(name, &json!({})).expect_err(name))).collect();
    for (name, answer) in NAMES.iter().zip(&answers) {
        assert_eq!(answer, &answers[0], "{name}");
        let asked = speaker.ask("host_check_permission", &json!({"scope": CALL, "tool_name": name})).unwrap();
        assert_eq!((&asked["granted"], &asked["code"]), (&json!(false), &json!(answer.code)), "{name}");
    }
    answers[0].code.clone()
}

#[test]
fn who_may_not_call_a_tool_does_not_learn_whether_it_exists() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    let double = Double::sound(&home);
    bridge.add_and_connect("s", &double);
    bridge.add("off", &Double::sound(&home));
    let site = bridge.speaking_for(SITE);
    assert_eq!(told_about_all(&site), "ERR_SCOPE_REQUIRED");
    site.grant(CALL, ALWAYS, &json!({"allowed_tools": ["s/sleep"]}));
    assert_eq!(told_about_all(&site), "ERR_TOOL_NOT_ALLOWED");
    site.grant(CALL, DENY, &json!({}));
    assert_eq!(told_about_all(&site), "ERR_PERMISSION_DENIED");
    assert_eq!(double.journal().count("call"), 0);
}

#[test]
fn who_may_not_list_tools_learns_no_names() {
    let home = Home::new();
    let bridge = bridge_with_server(&home);
    let site = bridge.speaking_for(SITE);
    site.grant(CALL, ALWAYS, &json!({}));
    let refused = |site: &Speaker, code: &str| {
        let asked = [json!({}), json!({"server_ids": ["s"]}), json!({"server_ids": ["nobody"]})];
        let told: Vec<_> =
            asked.iter().map(|fields| said(site.ask("host_list_tools", fields).unwrap_err())).collect();
        assert!(told.iter().all(|error| *error == told[0] && error.code == code), "{told:#?}");
        assert_eq!(site.ask("host_list_servers", &json!({})).unwrap_err().code, code);
    };
    refused(&site, "ERR_SCOPE_REQUIRED");
    site.grant(LIST, ALWAYS, &json!({}));
    assert!(site.tools().unwrap().contains(&"s/echo".to_owned()));
    site.grant(LIST, DENY, &json!({}));
    refused(&site, "ERR_PERMISSION_DENIED");
}

#[test]
fn the_error_says_what_is_missing() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    let error = bridge.speaking_for(SITE).tool("s/echo", &json!({})).unwrap_err();
    assert_eq!(error.details, json!({"expired": false, "scope": CALL, "origin": SITE}));
    assert_eq!(error.message, format!("{SITE} needs permission for {CALL}; ask the person for it"));
}

#[test]
fn each_grant_is_for_its_scope_only() {
    let home = Home::new();
    let bridge = bridge_with_server(&home);
    let site = bridge.speaking_for(SITE);
    site.grant(LIST, ALWAYS, &json!({}));
    site.grant("mcp:server.connect", ALWAYS, &json!({}));
    assert_eq!(site.try_tool("s/echo"), "ERR_SCOPE_REQUIRED");
    site.grant(CALL, ONCE, &json!({}));
    assert_eq!(site.try_tool("s/echo"), "ok");
}

#[test]
fn a_scope_that_allows_nothing_is_not_granted() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    let site = bridge.speaking_for(SITE);
    for scope in ["chat:open", "web:fetch", "agents:invoke", "mcp:servers.register"] {
        for grant_type in [ONCE, ALWAYS, DENY] {
            let fields = json!({"scope": scope, "grant_type": grant_type});
            let error = site.ask("host_grant_permission", &fields).unwrap_err();
            let told = (error.code.as_str(), &error.details["reason"]);
            assert_eq!(told, ("invalid_params", &json!("no_effect")), "{scope}");
        }
    }
    let client = bridge.speaking_for("client://ai");
    let browser = json!({"scope": "browser:navigate", "grant_type": ALWAYS});
    assert_eq!(client.ask("host_grant_permission", &browser).unwrap_err().details["reason"], "no_effect");
    for tools in [json!([]), json!(["s/echo"])] {
        let fields = json!({"scope": "model:prompt", "grant_type": ALWAYS, "allowed_tools": tools});
        let error = site.ask("host_grant_permission", &fields).unwrap_err();
        assert_eq!(error.details["field"], "allowed_tools", "it would hold for everything: {error:?}");
    }
    assert!(site.grants().is_empty() && client.grants().is_empty());
}

#[test]
fn what_a_page_does_in_tabs_needs_its_grant_and_the_switch_and_is_written_down() {
    let home = Home::new();
    home.configure("[pages]\nscreenshots = false\n");
    let bridge = Bridge::start(&home);
    let site = bridge.speaking_for(SITE);
    let act = |scope: &str, act: &str| {
        let begun = site.ask("host_begin_page_act", &json!({"scope": scope, "act": act}));
        begun.map_or_else(|error| error.code, |_| "ok".to_owned())
    };
    const READ: &str = "browser:activeTab.read";
    assert_eq!(act(READ, "readability"), "ERR_SCOPE_REQUIRED");
    site.grant(READ, ALWAYS, &json!({}));
    site.grant("browser:tabs.create", ALWAYS, &json!({}));
    assert_eq!(act(READ, "readability"), "ok");
    assert_eq!(act("browser:tabs.create", "getHtml"), "ok");
    assert_eq!(act("browser:tabs.create", "screenshot"), "ERR_FEATURE_DISABLED");
    assert_eq!(act("browser:activeTab.interact", "click"), "ERR_SCOPE_REQUIRED", "another scope");
    for wrong in ["", "a b", "x/y", &"x".repeat(33)] {
        assert_eq!(act(READ, wrong), "invalid_params", "{wrong:?}");
    }
    assert_eq!(act(CALL, "click"), "invalid_params", "no scope of tabs");
    let lines = bridge.audit(&json!({"origin": SITE})).into_iter();
    let acts: Vec<_> = lines.filter(|line| line["event"] == "page_act").collect();
    assert_eq!((acts.len(), &acts[0]["tool"]), (2, &json!("readability")), "{acts:?}");
    site.grant(READ, DENY, &json!({}));
    assert_eq!(act(READ, "readability"), "ERR_PERMISSION_DENIED");
}

#[test]
fn a_deny_wins_over_what_is_allowed_before_and_after_it() {
    let home = Home::new();
    let bridge = bridge_with_server(&home);
    for (n, order) in [[ONCE, ALWAYS, DENY], [DENY, ONCE, ALWAYS], [ALWAYS, DENY, ONCE]].iter().enumerate() {
        let site = bridge.speaking_for(&format!("https://{n}.example"));
        let mut denied = false;
        for grant_type in order {
            denied |= *grant_type == DENY;
            let fields = json!({"scope": CALL, "grant_type": grant_type});
            let answer = site.ask("host_grant_permission", &fields).unwrap();
            assert_eq!((&answer["granted"], &answer["denied"]), (&json!(true), &json!(denied)), "{order:?}");
            let wanted = if denied { "ERR_PERMISSION_DENIED" } else { "ok" };
            assert_eq!(site.try_tool("s/echo"), wanted, "{order:?}");
        }
        // Nor is anything allowed by a tab, or by one tool.
        site.grant(CALL, ONCE, &json!({"tab_id": 7}));
        site.grant(CALL, ONCE, &json!({"allowed_tools": ["s/echo"]}));
        assert_eq!(site.with(&json!({"tab_id": 7})).try_tool("s/echo"), "ERR_PERMISSION_DENIED");
        assert_eq!(bridge.speaking_for("https://other.example").try_tool("s/echo"), "ERR_SCOPE_REQUIRED");
        assert!(site.revoke(CALL, Some(DENY)));
        assert_eq!(site.try_tool("s/echo"), "ok", "{order:?}: what was allowed is so again");
    }
}

#[test]
fn a_revoke_takes_grants_of_one_type_or_all() {
    let home = Home::new();
    let bridge = bridge_with_server(&home);
    let site = bridge.speaking_for(SITE);
    let types = || site.grants().iter().map(|grant| grant["grant_type"].clone()).collect::<Vec<_>>();
    let all = || {
        site.grant(CALL, ALWAYS, &json!({}));
        site.grant(CALL, ONCE, &json!({}));
        site.grant(CALL, DENY, &json!({}));
    };
    all();
    assert_eq!(types(), [DENY, ALWAYS, ONCE]);
    assert!(site.revoke(CALL, Some(DENY)) && !site.revoke(CALL, Some(DENY)));
    assert_eq!((types(), site.try_tool("s/echo").as_str()), (vec![json!(ALWAYS), json!(ONCE)], "ok"));
    assert!(site.revoke(CALL, Some(ALWAYS)));
    assert_eq!((types(), site.try_tool("s/echo").as_str()), (vec![json!(ONCE)], "ok"));
    assert!(!site.revoke(LIST, None), "another scope");
    assert!(site.revoke(CALL, Some(ONCE)));
    assert_eq!((types(), site.try_tool("s/echo").as_str()), (Vec::new(), "ERR_SCOPE_REQUIRED"));
    all();
    assert!(site.revoke(CALL, None) && !site.revoke(CALL, None));
    assert_eq!((types(), site.try_tool("s/echo").as_str()), (Vec::new(), "ERR_SCOPE_REQUIRED"));
}

#[test]
fn a_list_of_tools_is_all_when_absent_and_none_when_empty() {
    let home = Home::new();
    let bridge = bridge_with_server(&home);
    bridge.add_and_connect("t", &Double::sound(&home));
    let site = bridge.speaking_for(SITE);
    let no = "ERR_TOOL_NOT_ALLOWED";
    // What is called: s/echo, s/sleep, t/echo.
    let rows = [
        (Value::Null, ["ok", "ok", "ok"]),
        (json!([]), [no, no, no]),
        (json!(["s/echo"]), ["ok", no, no]),
        (json!(["s/*"]), ["ok", "ok", no]),
        (json!(["t/*", "s/sleep"]), [no, "ok", "ok"]),
        (json!(["s/ech", "s/echo2", "S/echo", "s/ec*"]), [no, no, no]),
        (json!(["nobody/*"]), [no, no, no]),
    ];
    for (tools, wanted) in rows {
        let list = if tools.is_null() { json!({}) } else { json!({"allowed_tools": tools}) };
        let made = site.grant(CALL, ALWAYS, &list);
        let mut sorted = tools.clone();
        sorted.as_array_mut().into_iter().for_each(|tools| tools.sort_by_key(Value::to_string));
        assert_eq!(made["allowed_tools"], sorted);
        assert_eq!(["s/echo", "s/sleep", "t/echo"].map(|tool| site.try_tool(tool)), wanted, "{tools}");
        // The same list for what may be seen.
        assert!(site.revoke(CALL, None));
        site.grant(LIST, ALWAYS, &list);
        let seen = site.tools().unwrap();
        let is_seen = ["s/echo", "s/sleep", "t/echo"].map(|tool| seen.contains(&tool.to_owned()));
        assert_eq!(is_seen, wanted.map(|wanted| wanted == "ok"), "{tools}");
        let servers = site.ask("host_list_servers", &json!({})).unwrap()["servers"].clone();
        let servers: Vec<_> = servers.as_array().unwrap().iter().map(|s| s["server_id"].clone()).collect();
        let has = |id: &str| seen.iter().any(|tool| tool.starts_with(id));
        assert_eq!((servers.contains(&json!("s")), servers.contains(&json!("t"))), (has("s/"), has("t/")));
    }
}

#[test]
fn a_call_passes_when_one_of_several_grants_covers_it() {
    let home = Home::new();
    let bridge = bridge_with_server(&home);
    let site = bridge.speaking_for(SITE);
    site.grant(CALL, ALWAYS, &json!({"allowed_tools": ["s/echo"]}));
    site.grant(CALL, ONCE, &json!({"allowed_tools": ["s/sleep"]}));
    site.grant(CALL, ONCE, &json!({"allowed_tools": ["s/pid"], "tab_id": 7}));
    let in_tab = site.with(&json!({"tab_id": 7}));
    let calls =
        |speaker: &Speaker| ["s/echo", "s/sleep", "s/pid", "s/env"].map(|tool| speaker.try_tool(tool));
    let no = "ERR_TOOL_NOT_ALLOWED";
    assert_eq!(calls(&site), ["ok", "ok", no, no]);
    assert_eq!(calls(&in_tab), ["ok", "ok", "ok", no]);
    let by = |speaker: &Speaker, tool: &str| {
        let fields = json!({"scope": CALL, "tool_name": tool});
        speaker.ask("host_check_permission", &fields).unwrap()["grant_type"].clone()
    };
    assert_eq!((by(&site, "s/echo"), by(&site, "s/sleep")), (json!(ALWAYS), json!(ONCE)));
    // A list of tools to see, and lists of tools to call: what is seen is in both.
    site.grant(LIST, ALWAYS, &json!({}));
    let mut seen = in_tab.tools().unwrap();
    seen.sort();
    assert_eq!(seen, ["s/echo", "s/pid", "s/sleep"]);
    // One that covers everything, beside them.
    site.grant(CALL, ONCE, &json!({}));
    assert_eq!(calls(&site), ["ok"; 4]);
    assert_eq!(site.try_tool("s/no_such_tool"), "ERR_TOOL_NOT_FOUND", "now it may be known");
}

#[test]
fn profiles_of_an_origin_are_apart() {
    let home = Home::new();
    let bridge = bridge_with_server(&home);
    let site = bridge.speaking_for(SITE);
    let [work, play, default] =
        ["work", "play", "default"].map(|profile| site.with(&json!({"profile": profile})));
    assert_eq!(work.grant(CALL, ALWAYS, &json!({}))["profile"], "work");
    assert_eq!(site.grant(CALL, ONCE, &json!({}))["profile"], "default");
    let all = || [&site, &default, &work, &play].map(|speaker| speaker.try_tool("s/echo"));
    assert_eq!(all(), ["ok", "ok", "ok", "ERR_SCOPE_REQUIRED"]);
    play.grant(CALL, DENY, &json!({}));
    assert_eq!(all(), ["ok", "ok", "ok", "ERR_PERMISSION_DENIED"]);
    assert!(site.revoke(CALL, None));
    assert_eq!(all(), ["ERR_SCOPE_REQUIRED", "ERR_SCOPE_REQUIRED", "ok", "ERR_PERMISSION_DENIED"]);
    let profiles =
        |speaker: &Speaker| speaker.grants().iter().map(|grant| grant["profile"].clone()).collect::<Vec<_>>();
    assert_eq!((profiles(&site), profiles(&work)), (vec![json!("play"), json!("work")], vec![json!("work")]));
    let of_play = bridge.call("host_list_all_permissions", &json!({"profile": "play"})).unwrap();
    assert_eq!(of_play["grants"].as_array().unwrap().len(), 1);
}
