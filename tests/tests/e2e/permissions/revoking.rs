//! What is taken away: it ends what runs on it, and holds whatever the disk says.

use harbor_tests::client::{CALL, LIST};
use harbor_tests::rights::is_root;
use harbor_tests::small_disk::SmallDisk;
use harbor_tests::{Bridge, Client, Double, Home, LIMIT, PROMPT, wait_until};
use serde_json::{Value, json};

use super::{SITE, bridge_with_server};

const OTHER: &str = "https://other.example";
const FOR_EVER: u64 = 600_000;

/// Of each grant, its type and how many calls run on it.
fn running(client: &Client, origin: &str) -> Vec<Value> {
    let answer = client.call("host_get_permissions", &json!({"origin": origin})).unwrap();
    let grants = answer["grants"].as_array().unwrap().iter();
    grants.map(|grant| json!([grant["grant_type"], grant["running"]])).collect()
}

#[test]
fn a_revocation_and_a_deny_end_the_calls_that_run_on_what_they_take_away() {
    let home = Home::new();
    let double = Double::sound(&home);
    let bridge = Bridge::start(&home);
    bridge.add_and_connect("s", &double);
    let [site, other] = [SITE, OTHER].map(|origin| bridge.speaking_for(origin));
    let sleep = json!({"ms": FOR_EVER});
    for (round, denies) in [false, true].into_iter().enumerate() {
        site.grant(CALL, "ALLOW_ALWAYS", &json!({"allowed_tools": ["s/sleep", "s/echo"]}));
        other.grant(CALL, "ALLOW_ALWAYS", &json!({}));
        let calls = [(); 2].map(|()| site.send_tool("s/sleep", &sleep));
        let others = other.send_tool("s/sleep", &sleep);
        wait_until("three calls", LIMIT, || double.journal().count("call sleep") == 3 * (round + 1));
        assert_eq!(running(&bridge, SITE), [json!(["ALLOW_ALWAYS", 2])]);
        let shown = home.command("harbor").args(["grants", SITE]).output().unwrap();
        let shown = String::from_utf8(shown.stdout).unwrap();
        assert!(shown.contains("RUNNING") && shown.trim_end().ends_with('2'), "{shown}");
        let (tag, fields, code) = match denies {
            false => ("host_revoke_permission", json!({"scope": CALL}), "ERR_SCOPE_REQUIRED"),
            true => {
                let fields = json!({"scope": CALL, "grant_type": "DENY"});
                ("host_grant_permission", fields, "ERR_PERMISSION_DENIED")
            }
        };
        assert_eq!(site.ask(tag, &fields).unwrap()["ended"], 2);
        for call in calls {
            let error = call.wait(PROMPT).unwrap_err();
            let said = (error.code.as_str(), &error.details["reason"], &error.details["sent"]);
            assert_eq!(said, (code, &json!("revoked"), &json!(true)), "{error:?}");
        }
        wait_until("the server to hear", LIMIT, || double.journal().count("cancelled") == 2 + 3 * round);
        assert!(others.is_open(), "another origin's goes on");
        let _ = bridge.call("cancel", &json!({"target": others.id})).unwrap();
        assert_eq!(others.wait(PROMPT).unwrap_err().code, "cancelled");
        wait_until("the server to hear", LIMIT, || double.journal().count("cancelled") == 3 + 3 * round);
        other.revoke(CALL, None);
    }
}

/// What another grant covers as well goes on, and the command says how many were ended.
#[test]
fn a_call_that_another_grant_covers_goes_on() {
    let home = Home::new();
    let bridge = bridge_with_server(&home);
    let site = bridge.speaking_for(SITE);
    site.grant(CALL, "ALLOW_ALWAYS", &json!({"allowed_tools": ["s/*"]}));
    site.grant(CALL, "ALLOW_ONCE", &json!({"allowed_tools": ["s/sleep"]}));
    let call = site.send_tool("s/sleep", &json!({"ms": FOR_EVER}));
    wait_until("the call", LIMIT, || running(&bridge, SITE)[0] == json!(["ALLOW_ALWAYS", 1]));
    let revoke = |option: &str| {
        let output = home.command("harbor").args(["revoke", SITE, CALL, option]).output().unwrap();
        assert!(output.status.success());
        String::from_utf8(output.stderr).unwrap()
    };
    assert_eq!(revoke("--always"), "");
    assert_eq!(running(&bridge, SITE), [json!(["ALLOW_ONCE", 1])]);
    assert_eq!(revoke("--once"), "harbor: 1 call that used it was ended, and its result is dropped\n");
    assert_eq!(call.wait(PROMPT).unwrap_err().code, "ERR_SCOPE_REQUIRED");
}

fn reasons(client: &Client) -> Vec<Value> {
    let health = client.call("health", &json!({})).unwrap();
    health["health"]["reasons"].as_array().unwrap().iter().map(|reason| reason["code"].clone()).collect()
}

/// What a removal has done before the disk refused it is said.
#[test]
fn a_server_whose_removal_a_full_disk_refuses_is_said_to_have_lost_what_it_was_given() {
    if !is_root("a_server_whose_removal_a_full_disk_refuses_is_said_to_have_lost_what_it_was_given") {
        return;
    }
    let home = Home::new();
    let disk = SmallDisk::below(&home, 12);
    let bridge = bridge_with_server(&home);
    let [site, other] = [SITE, OTHER].map(|origin| bridge.speaking_for(origin));
    site.grant(CALL, "ALLOW_ALWAYS", &json!({"allowed_tools": ["s/*"]}));
    other.grant(CALL, "ALLOW_ALWAYS", &json!({}));
    let remove = || bridge.call("remove_server", &json!({"server_id": "s"}));
    let secret = json!({"server_id": "s", "key": "K"});
    let mut with_value = secret.clone();
    with_value["value"] = json!("v");
    bridge.call("set_credential", &with_value).unwrap();
    disk.fill();
    // Its secrets come first: where they can neither be removed nor be noted, nothing else is touched.
    let message = remove().unwrap_err().message;
    assert!(message.contains("make room on that disk"), "{message}");
    assert_eq!((site.try_tool("s/echo").as_str(), site.grants().len()), ("ok", 1));
    disk.make_room();
    bridge.call("delete_credential", &secret).unwrap();
    // The room that is kept goes with this one.
    disk.fill();
    other.revoke(CALL, None);
    disk.make_room();
    disk.fill();
    let message = remove().unwrap_err().message;
    assert!(
        message.contains(
            "s is still defined, but what it was given is gone (secrets: 0, grants of its tools: 1)"
        ),
        "{message}"
    );
    assert_eq!(bridge.server("s")["state"], "running");
    assert!(site.tool("s/echo", &json!({})).is_err());
    disk.make_room();
    assert_eq!(remove().unwrap()["removed"], true);
}

#[test]
fn a_revocation_on_a_full_disk_holds_and_is_stored_by_the_room_that_is_kept_for_it() {
    if !is_root("a_revocation_on_a_full_disk_holds_and_is_stored_by_the_room_that_is_kept_for_it") {
        return;
    }
    let home = Home::new();
    let disk = SmallDisk::below(&home, 12);
    let mut bridge = Bridge::start(&home);
    let site = bridge.speaking_for(SITE);
    for scope in [CALL, LIST] {
        site.grant(scope, "ALLOW_ALWAYS", &json!({}));
    }
    disk.fill();
    let output = home.command("harbor").args(["revoke", SITE, CALL]).output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    bridge.kill();
    disk.make_room();
    let bridge = Bridge::start(&home);
    let left: Vec<_> =
        bridge.speaking_for(SITE).grants().iter().map(|grant| grant["scope"].clone()).collect();
    assert_eq!(left, [json!(LIST)]);
}

#[test]
fn what_a_full_disk_refuses_of_a_denial_holds_is_named_and_is_stored_later() {
    if !is_root("what_a_full_disk_refuses_of_a_denial_holds_is_named_and_is_stored_later") {
        return;
    }
    let home = Home::new();
    let disk = SmallDisk::below(&home, 12);
    let mut bridge = Bridge::start(&home);
    let (site, other) = (bridge.speaking_for(SITE), bridge.speaking_for(OTHER));
    for scope in [CALL, LIST] {
        site.grant(scope, "ALLOW_ALWAYS", &json!({}));
    }
    disk.fill();
    // The room that is kept goes for the first one, and somebody takes what is left.
    assert!(site.revoke(LIST, None));
    disk.fill();
    let denied = other.ask("host_grant_permission", &json!({"scope": CALL, "grant_type": "DENY"})).unwrap();
    assert_eq!((&denied["granted"], &denied["unstored"]), (&json!(true), &json!(true)));
    let output = home.command("harbor").args(["revoke", SITE, CALL]).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(
        output.status.success() && said.contains("it is in force, but not written to the disk"),
        "{said}"
    );
    assert_eq!(site.try_tool("s/echo"), "ERR_SCOPE_REQUIRED");
    assert_eq!(other.try_tool("s/echo"), "ERR_PERMISSION_DENIED");
    assert!(reasons(&bridge).contains(&json!("grants_unstored")), "{:?}", reasons(&bridge));
    let output = home.command("harbor").arg("grants").output().unwrap();
    let [out, err] = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
    assert!(out.contains("the bridge ends"), "{out}");
    assert!(err.contains(&format!("{CALL} of {SITE} is revoked only until the bridge ends")), "{err}");

    disk.make_room();
    wait_until("the disk to have it", LIMIT, || !reasons(&bridge).contains(&json!("grants_unstored")));
    let unstored = bridge.call("host_list_all_permissions", &json!({})).unwrap()["unstored"].clone();
    assert_eq!(unstored, json!([]));
    bridge.kill();
    let bridge = Bridge::start(&home);
    let (site, other) = (bridge.speaking_for(SITE), bridge.speaking_for(OTHER));
    assert_eq!(site.grants(), Vec::<Value>::new());
    assert_eq!(other.try_tool("s/echo"), "ERR_PERMISSION_DENIED");
}
