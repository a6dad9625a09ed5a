//! Grants that there are not: refused with the field and what to do, and nothing is changed.

use std::fs;
use std::time::Duration;

use harbor_tests::client::{CALL, wall_clock};
use harbor_tests::{Bridge, Home};
use serde_json::{Value, json};

use super::SITE;

/// What is wrong, which field is named, and what the message says.
fn rows() -> Vec<(Value, &'static str, &'static str)> {
    let past = wall_clock(Duration::ZERO) - 1;
    let many: Vec<_> = (0..1001).map(|n| format!("s/{n}")).collect();
    let soon = wall_clock(Duration::from_secs(60));
    vec![
        (json!({"scope": null}), "scope", "expected a string"),
        (json!({"scope": 7}), "scope", "expected a string"),
        (json!({"scope": ""}), "scope", "expected a scope such as mcp:tools.call"),
        (json!({"scope": "mcp:tools.cal"}), "scope", "did you mean mcp:tools.call?"),
        (json!({"scope": "MCP:tools.call"}), "scope", "expected a scope such as mcp:tools.call"),
        (json!({"scope": "mcp:*"}), "scope", "expected a scope such as mcp:tools.call"),
        (json!({"grant_type": "ALLOW"}), "grant_type", "ALLOW_ONCE, ALLOW_ALWAYS or DENY"),
        (json!({"grant_type": "allow_once"}), "grant_type", "ALLOW_ONCE, ALLOW_ALWAYS or DENY"),
        (json!({"grant_type": ""}), "grant_type", "ALLOW_ONCE, ALLOW_ALWAYS or DENY"),
        (json!({"grant_type": true}), "grant_type", "expected a string"),
        (json!({"allowed_tools": "s/echo"}), "allowed_tools", "expected an array of strings"),
        (json!({"allowed_tools": ["s/echo", 7]}), "allowed_tools", "expected an array of strings"),
        (
            json!({"allowed_tools": ["s/echo", "echo"]}),
            "allowed_tools",
            "entry 2 of the list of tools: a tool is named server/tool",
        ),
        (json!({"allowed_tools": ["s"]}), "allowed_tools", "entry 1"),
        (json!({"allowed_tools": ["*/echo"]}), "allowed_tools", "entry 1"),
        (json!({"allowed_tools": ["s/"]}), "allowed_tools", "entry 1"),
        (json!({"allowed_tools": many}), "allowed_tools", "server/* stands for all tools of a server"),
        (json!({"expires_at": past}), "expires_at", "a time in the future"),
        (json!({"expires_at": 0}), "expires_at", "a time in the future"),
        (json!({"expires_at": -1}), "expires_at", "expected a whole number"),
        (json!({"expires_at": 1.5}), "expires_at", "expected a whole number"),
        (
            json!({"grant_type": "ALLOW_ALWAYS", "expires_at": soon}),
            "expires_at",
            "only ALLOW_ONCE ends after a time",
        ),
        (
            json!({"grant_type": "DENY", "expires_at": soon}),
            "expires_at",
            "only ALLOW_ONCE ends after a time",
        ),
        (
            json!({"grant_type": "ALLOW_ALWAYS", "tab_id": 7}),
            "grant_type",
            "leave both out, or use ALLOW_ONCE",
        ),
        (json!({"grant_type": "DENY", "tab_id": 7}), "grant_type", "leave both out, or use ALLOW_ONCE"),
        (
            json!({"grant_type": "DENY", "allowed_tools": ["s/echo"]}),
            "grant_type",
            "DENY applies to all tools",
        ),
        (json!({"grant_type": "DENY", "allowed_tools": []}), "grant_type", "DENY applies to all tools"),
        (json!({"tab_id": "7"}), "tab_id", "expected a whole number"),
        (json!({"tab_id": -7}), "tab_id", "expected a whole number"),
        (json!({"profile": ""}), "profile", "1 to 128 bytes"),
        (json!({"profile": "x".repeat(129)}), "profile", "1 to 128 bytes"),
        (json!({"profile": "a\nb"}), "profile", "without control characters"),
    ]
}

#[test]
fn a_grant_that_there_is_not_is_refused_with_advice_and_changes_nothing() {
    let home = Home::new();
    let mut bridge = Bridge::start(&home);
    let site = bridge.speaking_for(SITE);
    let lasting = site.grant(CALL, "ALLOW_ALWAYS", &json!({"allowed_tools": ["s/echo"]}));
    let once = site.grant(CALL, "ALLOW_ONCE", &json!({}));
    bridge.watch_host();
    for (more, field, advice) in rows() {
        let mut fields = json!({"scope": CALL});
        fields.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let error = site.ask("host_grant_permission", &fields).unwrap_err();
        let told = (error.code.as_str(), &error.details["field"]);
        assert_eq!(told, ("invalid_params", &json!(field)), "{more}: {error:?}");
        assert!(error.message.contains(advice), "{more}: {}", error.message);
    }
    assert_eq!(site.grants(), [lasting.clone(), once]);
    assert_eq!(bridge.push_now("grant_changed"), None);
    let log = fs::read_to_string(home.path().join("logs/audit.jsonl")).unwrap();
    assert_eq!(log.lines().count(), 2, "{log}");
    bridge.stop();
    assert_eq!(Bridge::start(&home).all_grants(), [lasting]);
}

#[test]
fn a_revoke_that_there_is_not_is_refused_and_takes_nothing() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    let site = bridge.speaking_for(SITE);
    let kept = site.grant(CALL, "ALLOW_ALWAYS", &json!({}));
    for (fields, field) in [
        (json!({}), "scope"),
        (json!({"scope": "mcp:tools"}), "scope"),
        (json!({"scope": CALL, "grant_type": "ALLOW"}), "grant_type"),
        (json!({"scope": CALL, "profile": ""}), "profile"),
        (json!({"scope": CALL, "tab_id": "7"}), "tab_id"),
    ] {
        let error = site.ask("host_revoke_permission", &fields).unwrap_err();
        let told = (error.code.as_str(), &error.details["field"]);
        assert_eq!(told, ("invalid_params", &json!(field)), "{fields}");
    }
    assert_eq!(site.grants(), [kept]);
}
