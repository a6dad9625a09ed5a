//! What is on disk: grants that survive restarts and crashes, and rows that nobody wrote.

use harbor_tests::client::{CALL, LIST};
use harbor_tests::{Bridge, Client, Home, LIMIT};
use serde_json::{Value, json};

use super::{SITE, bridge_with_server, restarted};

const OTHER: &str = "https://other.example";

#[test]
fn what_is_allowed_always_and_denied_survives_a_restart() {
    let home = Home::new();
    let before = {
        let bridge = bridge_with_server(&home);
        bridge.speaking_for(SITE).grant(CALL, "ALLOW_ALWAYS", &json!({"allowed_tools": ["s/echo", "t/*"]}));
        bridge.speaking_for(SITE).grant(LIST, "ALLOW_ALWAYS", &json!({"allowed_tools": []}));
        bridge.speaking_for(OTHER).grant(CALL, "ALLOW_ALWAYS", &json!({"profile": "work"}));
        bridge.speaking_for(OTHER).grant(CALL, "DENY", &json!({"profile": "work"}));
        bridge.speaking_for("client://ai").grant(CALL, "DENY", &json!({}));
        bridge.all_grants()
    };
    let mut bridge = restarted(&home);
    assert_eq!(bridge.all_grants(), before);
    let site = bridge.speaking_for(SITE);
    assert_eq!(["s/echo", "s/sleep"].map(|tool| site.try_tool(tool)), ["ok", "ERR_TOOL_NOT_ALLOWED"]);
    assert_eq!(site.tools().unwrap(), Vec::<String>::new());
    let other = bridge.speaking(&json!({"origin": OTHER, "profile": "work"}));
    assert_eq!(other.try_tool("s/echo"), "ERR_PERMISSION_DENIED");
    assert!(other.revoke(CALL, Some("DENY")));
    bridge.stop();
    let bridge = restarted(&home);
    let other = bridge.speaking(&json!({"origin": OTHER, "profile": "work"}));
    assert_eq!(other.try_tool("s/echo"), "ok", "what was revoked does not come back");
}

#[test]
fn what_was_confirmed_survives_a_bridge_that_is_killed_right_after() {
    let home = Home::new();
    let mut bridge = bridge_with_server(&home);
    let codes = |bridge: &Bridge| [SITE, OTHER].map(|origin| bridge.speaking_for(origin).try_tool("s/echo"));
    let mut crash = |change: &dyn Fn(&Bridge)| {
        change(&bridge);
        bridge.kill();
        bridge = restarted(&home);
        codes(&bridge)
    };
    let grant = |origin: &'static str, grant_type: &'static str| {
        move |bridge: &Bridge| drop(bridge.speaking_for(origin).grant(CALL, grant_type, &json!({})))
    };
    let revoke = |grant_type: Option<&'static str>| {
        move |bridge: &Bridge| assert!(bridge.speaking_for(SITE).revoke(CALL, grant_type))
    };
    assert_eq!(crash(&grant(SITE, "ALLOW_ALWAYS")), ["ok", "ERR_SCOPE_REQUIRED"]);
    assert_eq!(crash(&grant(OTHER, "DENY")), ["ok", "ERR_PERMISSION_DENIED"]);
    assert_eq!(crash(&grant(SITE, "DENY")), ["ERR_PERMISSION_DENIED"; 2]);
    assert_eq!(crash(&revoke(Some("DENY"))), ["ok", "ERR_PERMISSION_DENIED"]);
    assert_eq!(crash(&revoke(None)), ["ERR_SCOPE_REQUIRED", "ERR_PERMISSION_DENIED"]);
}

/// Changes of the same grant that overtake each other must do so on disk and in memory alike.
#[test]
fn after_many_changes_at_once_the_disk_has_what_the_bridge_has() {
    let home = Home::new();
    let mut bridge = Bridge::start(&home);
    let clients = [bridge.clone(), Client::attach(&home)];
    let changes: Vec<_> = (0..200)
        .map(|n| {
            let site = clients[n % 2].speaking_for(SITE);
            let fields = |grant_type: &str| json!({"scope": CALL, "grant_type": grant_type});
            match n % 7 {
                0 | 4 => site.send("host_revoke_permission", &fields("ALLOW_ALWAYS")),
                2 => site.send("host_grant_permission", &fields("DENY")),
                5 => site.send("host_revoke_permission", &json!({"scope": CALL})),
                _ => {
                    let site = site.with(&json!({"allowed_tools": [format!("s/{n}")]}));
                    site.send("host_grant_permission", &fields("ALLOW_ALWAYS"))
                }
            }
        })
        .collect();
    changes.iter().for_each(|change| drop(change.wait(LIMIT).unwrap()));
    let before = bridge.all_grants();
    bridge.kill();
    assert_eq!(Bridge::start(&home).all_grants(), before);
}

/// Whatever stood in a row once, it may have been a denial.
#[test]
fn a_row_that_makes_no_sense_counts_as_a_deny() {
    let home = Home::new();
    let spoilt = [
        "grant_type = 'ALLOW_SOMETIMES'",
        "grant_type = 'ALLOW_ONCE'",
        "grant_type = ''",
        "allowed_tools = '{'",
        "allowed_tools = '[\"no slash\"]'",
        "allowed_tools = '\"s/echo\"'",
        "created_at = -1",
        "grant_type = 'DENY', allowed_tools = '[\"s/sleep\"]'",
    ];
    let origin = |n: usize| format!("https://spoilt-{n}.example");
    let mut bridge = bridge_with_server(&home);
    bridge.speaking_for(SITE).grant(CALL, "ALLOW_ALWAYS", &json!({}));
    for n in 0..spoilt.len() {
        bridge.speaking_for(&origin(n)).grant(CALL, "ALLOW_ALWAYS", &json!({}));
    }
    bridge.stop();
    let database = rusqlite::Connection::open(home.path().join("harbor.db")).unwrap();
    for (n, change) in spoilt.iter().enumerate() {
        let changed = database
            .execute(&format!("UPDATE grants SET {change}, sum = NULL WHERE origin = ?1"), [origin(n)])
            .unwrap();
        assert_eq!(changed, 1);
    }
    // One for nothing that exists stops nobody.
    let nonsense = "INSERT INTO grants VALUES ('null', '', 'mcp:everything', 'ALLOW_ALWAYS', NULL, 1, NULL)";
    assert_eq!(database.execute(nonsense, []).unwrap(), 1);
    drop(database);
    let mut bridge = restarted(&home);
    for (n, change) in spoilt.iter().enumerate() {
        let speaker = bridge.speaking_for(&origin(n));
        assert_eq!(speaker.try_tool("s/echo"), "ERR_PERMISSION_DENIED", "{change}");
        assert_eq!(speaker.try_tool("s/sleep"), "ERR_PERMISSION_DENIED", "{change}");
        let grants: Vec<Value> = speaker
            .grants()
            .iter()
            .map(|grant| json!([grant["grant_type"], grant["allowed_tools"]]))
            .collect();
        assert_eq!(grants, [json!(["DENY", null])], "{change}: it is shown as what it counts as");
        assert!(speaker.revoke(CALL, [None, Some("DENY")][n % 2]), "{change}");
    }
    assert_eq!(bridge.speaking_for(SITE).try_tool("s/echo"), "ok");
    bridge.stop();
    let bridge = restarted(&home);
    for (n, change) in spoilt.iter().enumerate() {
        assert_eq!(bridge.speaking_for(&origin(n)).try_tool("s/echo"), "ERR_SCOPE_REQUIRED", "{change}");
    }
}
