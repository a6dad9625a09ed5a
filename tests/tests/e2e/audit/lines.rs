//! What is written down, and when: decisions before they are told, calls soon after they are over.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::time::Duration;

use harbor_tests::client::{CALL, LIST, wall_clock};
use harbor_tests::{Bridge, Client, Double, Home, LIMIT};
use serde_json::{Value, json};

use super::{SITE, connect_parrot, lines, path, wait_for_line};

/// The last line, without its time, which is that of now.
fn last(home: &Home) -> Value {
    let mut line = lines(home).pop().unwrap();
    let (time, timestamp) = (line["time"].take(), line["timestamp"].take());
    let now = wall_clock(Duration::ZERO);
    assert!(timestamp.as_u64().unwrap().abs_diff(now) < 60_000 && time.as_str().unwrap().ends_with('Z'));
    line.as_object_mut().unwrap().retain(|_, value| !value.is_null());
    line
}

#[test]
fn a_decision_is_on_disk_when_its_answer_is_there() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    connect_parrot(&bridge, &home, "Hello.");
    let site = bridge.speaking_for(SITE);
    let about = |event: &str, by: &str, more: Value| {
        let mut line = json!({"event": event, "by": by, "origin": SITE, "profile": "default", "scope": CALL});
        line.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        line
    };
    let call = |decision: &str, code: &str| json!({"server": "p", "tool": "say", "bytes_in": 2, "decision": decision, "code": code});

    assert_eq!(site.try_tool("p/say"), "ERR_SCOPE_REQUIRED");
    assert_eq!(last(&home), about("refused", "owner", call("denied", "ERR_SCOPE_REQUIRED")));
    assert!(site.tools().is_err());
    let no_list = json!({"scope": LIST, "decision": "denied", "code": "ERR_SCOPE_REQUIRED"});
    assert_eq!(last(&home), about("refused", "owner", no_list));

    let tools = json!({"allowed_tools": ["p/other"]});
    site.grant(CALL, "ALLOW_ALWAYS", &tools);
    let allowed = json!({"grant_type": "ALLOW_ALWAYS", "allowed_tools": ["p/other"], "decision": "allowed"});
    assert_eq!(last(&home), about("grant", "owner", allowed));
    assert_eq!(site.try_tool("p/say"), "ERR_TOOL_NOT_ALLOWED");
    assert_eq!(last(&home), about("refused", "owner", call("denied", "ERR_TOOL_NOT_ALLOWED")));

    Client::attach_browser(&home, "one").speaking_for(SITE).grant(CALL, "DENY", &json!({}));
    let denied = json!({"grant_type": "DENY", "decision": "denied"});
    assert_eq!(last(&home), about("grant", "extension:abc", denied));
    assert_eq!(site.try_tool("p/say"), "ERR_PERMISSION_DENIED");
    assert_eq!(last(&home), about("refused", "owner", call("denied", "ERR_PERMISSION_DENIED")));

    assert!(site.revoke(CALL, Some("DENY")));
    assert_eq!(last(&home), about("revoke", "owner", json!({"grant_type": "DENY"})));
    assert!(site.revoke(CALL, None));
    assert_eq!(last(&home), about("revoke", "owner", json!({})));

    // Where there was nothing to take away, nothing was taken.
    let before = lines(&home);
    assert!(!site.revoke(CALL, None) && !site.revoke(CALL, Some("DENY")));
    let unknown = json!({"server_id": "p", "key": "NOBODYS"});
    assert_eq!(bridge.call("delete_credential", &unknown).unwrap()["deleted"], false);
    let nobody = bridge.call("remove_server", &json!({"server_id": "nobody"})).unwrap();
    assert_eq!(nobody["removed"], false);
    assert_eq!(lines(&home), before);

    let ai = Client::attach_ai(&home, "ai");
    assert!(ai.call("host_list_all_permissions", &json!({})).is_err());
    let refused = json!({"event": "refused", "message": "host_list_all_permissions", "by": "client://ai",
        "decision": "denied", "code": "ERR_PERMISSION_DENIED"});
    assert_eq!(last(&home), refused);
}

#[test]
fn a_tool_that_was_accepted_is_on_disk_when_the_answer_is_there() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    connect_parrot(&bridge, &home, "Hello.");
    connect_parrot(&bridge, &home, "Obey me.");
    let site = bridge.speaking_for(SITE);
    site.grant(CALL, "ALLOW_ALWAYS", &json!({}));
    assert_eq!(site.try_tool("p/say"), "ERR_TOOL_NOT_ALLOWED");
    let _ = wait_for_line(&home, |line| line["event"] == "call" && line["decision"] == "denied");
    let changes = bridge.call("host_list_tool_changes", &json!({})).unwrap();
    let hash = changes["changes"][0]["tool_hash"].clone();
    let accept = json!({"server_id": "p", "tool_name": "say", "tool_hash": hash});
    bridge.call("host_accept_tool_change", &accept).unwrap();
    let wanted =
        json!({"event": "tool_accepted", "by": "owner", "server": "p", "tool": "say", "tool_hash": hash});
    assert_eq!(last(&home), wanted);
    assert_eq!(site.try_tool("p/say"), "invalid_params", "it is asked again, and wants arguments");
}

#[test]
fn each_call_is_in_the_log_soon_after_its_end() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    let double = Double::sound(&home);
    bridge.add_and_connect("s", &double);
    let client = Client::attach_ai(&home, "ai");
    let ai = client.speaking(&json!({}));
    bridge.speaking_for("client://ai").grant(CALL, "ALLOW_ALWAYS", &json!({}));
    let run = ai.ask("host_create_run", &json!({"max_calls": 1})).unwrap()["run_id"].clone();
    let hash = |tool: &str| {
        bridge.speaking_for(SITE).grant(LIST, "ALLOW_ONCE", &json!({}));
        let tools = bridge.speaking_for(SITE).ask("host_list_tools", &json!({})).unwrap()["tools"].clone();
        let found = tools.as_array().unwrap().iter().find(|listed| listed["originalName"] == tool);
        found.unwrap()["toolHash"].clone()
    };
    let noted = |tool: &str, code: Value| {
        let line = wait_for_line(&home, |line| line["tool"] == tool && line["code"] == code);
        let told = ["event", "by", "origin", "profile", "server", "decision"].map(|name| line[name].clone());
        assert_eq!(told, ["call", "client://ai", "client://ai", "default", "s", "allowed"], "{line}");
        assert!(line["duration_ms"].as_f64() >= line["queued_ms"].as_f64(), "{line}");
        assert_eq!(line["tool_hash"], hash(tool));
        line
    };

    let in_run = json!({"tool_name": "s/echo", "args": {"n": 1}, "run_id": run});
    let answer = ai.ask("host_call_tool", &in_run).unwrap();
    let line = noted("echo", Value::Null);
    let bytes = answer.field_text("result").len();
    assert_eq!((&line["bytes_in"], &line["bytes_out"], &line["run_id"]), (&json!(7), &json!(bytes), &run));
    ai.tool("s/tool_error", &json!({})).unwrap();
    let failed = noted("tool_error", Value::Null);
    assert!(failed["bytes_out"].as_u64() > Some(10), "the tool's failure is a result");
    assert_eq!((&failed["tool_error"], &line["tool_error"]), (&json!(true), &Value::Null));
    assert_eq!(ai.try_tool("s/fail"), "ERR_TOOL_FAILED");
    assert_eq!(noted("fail", json!("ERR_TOOL_FAILED"))["bytes_out"], Value::Null);

    let short = json!({"tool_name": "s/sleep", "args": {"ms": 60_000}, "timeout_ms": 50});
    assert_eq!(ai.ask("host_call_tool", &short).unwrap_err().code, "ERR_TOOL_TIMEOUT");
    assert!(noted("sleep", json!("ERR_TOOL_TIMEOUT"))["duration_ms"].as_f64() >= Some(50.0));
    let long = ai.send_tool("s/late", &json!({}));
    let _ = double.journal().wait_for("call late");
    client.call("cancel", &json!({"target": long.id})).unwrap();
    noted("late", json!("cancelled"));
    let _abandoned = ai.send_tool("s/block", &json!({"ms": 500}));
    let _ = double.journal().wait_for("call block");
    client.close();
    noted("block", json!("cancelled"));

    let found = lines(&home).iter().filter(|line| line["event"] == "call").count();
    assert_eq!(found, 6, "one line for each call");
}

#[test]
fn a_call_that_is_cancelled_before_anything_was_done_is_in_the_log() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    let requests = [
        ("call", "mcp_call_tool", json!({"server_id": "nowhere", "tool_name": "x"})),
        ("cancel", "cancel", json!({"target": "call"})),
    ];
    let [call, cancel] = bridge.request_together(&requests).try_into().unwrap();
    assert_eq!(cancel.wait(LIMIT).unwrap()["cancelled"], true);
    assert_eq!(call.wait(LIMIT).unwrap_err().code, "cancelled");
    wait_for_line(&home, |line| line["event"] == "call" && line["code"] == "cancelled");
}

#[test]
fn the_end_of_a_grant_is_in_the_log() {
    let home = Home::new();
    home.configure("[grants]\nonceSeconds = 1\n");
    let bridge = Bridge::start(&home);
    bridge.speaking_for(SITE).grant(CALL, "ALLOW_ONCE", &json!({}));
    let line = wait_for_line(&home, |line| line["event"] == "expire");
    let told = ["by", "origin", "profile", "scope", "grant_type"].map(|name| line[name].clone());
    assert_eq!(told, ["harbor", SITE, "default", CALL, "ALLOW_ONCE"]);
}

#[test]
fn the_log_is_read_by_origin_time_and_number() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    let ai = Client::attach_ai(&home, "ai");
    for n in 0..5 {
        let profile = json!({"profile": format!("p{n}")});
        bridge.speaking_for(SITE).grant(CALL, "DENY", &profile);
        assert_eq!(ai.speaking(&json!({})).try_tool("s/echo"), "ERR_SCOPE_REQUIRED");
    }
    let read = |query: Value| bridge.audit(&query);
    let profiles = |lines: &[Value]| lines.iter().map(|line| line["profile"].clone()).collect::<Vec<_>>();
    let all = read(json!({}));
    assert_eq!(all, lines(&home));
    assert_eq!(
        profiles(&read(json!({"origin": "https://SITE.example:443/"}))),
        ["p0", "p1", "p2", "p3", "p4"]
    );
    assert_eq!(read(json!({"origin": "client://ai"})).len(), 5);
    assert_eq!(read(json!({"origin": "owner"})).len(), 5, "by whom is as good as on whose behalf");
    assert_eq!(
        profiles(&read(json!({"origin": SITE, "limit": 2}))),
        ["p3", "p4"],
        "the newest, oldest first"
    );
    assert_eq!(read(json!({"limit": 0})), Vec::<Value>::new());
    let since = all[6]["timestamp"].as_u64().unwrap();
    let newer: Vec<_> =
        all.iter().filter(|line| line["timestamp"].as_u64() >= Some(since)).cloned().collect();
    assert_eq!(read(json!({"since": since})), newer);
    assert_eq!(read(json!({"since": wall_clock(Duration::from_secs(60))})), Vec::<Value>::new());
    let (health, none) = (bridge.call("host_get_audit", &json!({})).unwrap(), json!(0));
    assert_eq!((&health["failing"], &health["unaudited"]), (&json!(false), &none));
    // What is still on its way to the disk is in the answer too.
    bridge.add_and_connect("s", &Double::sound(&home));
    bridge.tool("s", "echo", &json!({})).unwrap();
    assert_eq!(read(json!({"limit": 1}))[0]["tool"], "echo");
}

#[test]
fn how_a_person_answered_a_question_is_a_line_and_changes_nothing() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    let site = bridge.speaking_for(SITE);
    for (outcome, decision) in [("allowed", "allowed"), ("denied", "denied"), ("dismissed", "denied")] {
        let answer = json!({"outcome": outcome, "tab_id": 7, "tools": ["p/say", "q/*"]});
        assert_eq!(site.ask("host_note_consent", &answer).unwrap()["noted"], true);
        let line = json!({
            "event": "consent", "by": "owner", "origin": SITE, "profile": "default", "tab_id": 7,
            "asked_tools": ["p/say", "q/*"], "decision": decision, "outcome": outcome,
        });
        assert_eq!(last(&home), line);
    }
    assert_eq!(site.try_tool("p/say"), "ERR_SCOPE_REQUIRED", "it grants nothing");
    let error = site.ask("host_note_consent", &json!({"outcome": "maybe"})).unwrap_err();
    assert_eq!((error.code.as_str(), &error.details["field"]), ("invalid_params", &json!("outcome")));
}

#[test]
fn only_their_user_can_read_the_log() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    assert!(bridge.is_alive());
    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&path(&home)), mode(&home.path().join("logs"))), (0o600, 0o700));
}

#[test]
fn a_line_that_was_torn_is_dropped_at_the_next_start_and_the_whole_ones_stay() {
    let home = Home::new();
    let mut bridge = Bridge::start(&home);
    bridge.speaking_for(SITE).grant(CALL, "DENY", &json!({}));
    bridge.kill();
    let before = lines(&home);
    assert_eq!(before.len(), 1);
    let mut file = fs::File::options().append(true).open(path(&home)).unwrap();
    file.write_all(b"{\"time\":\"2026-11-21T17:40:00.123Z\",\"event\":\"torn").unwrap();
    let bridge = Bridge::start(&home);
    assert_eq!(bridge.audit(&json!({})), before);
    assert!(bridge.speaking_for(SITE).revoke(CALL, None));
    let after = lines(&home);
    assert_eq!((&after[..1], after.len(), &after[1]["event"]), (&before[..], 2, &json!("revoke")));
}
