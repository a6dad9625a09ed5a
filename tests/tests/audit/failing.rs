//! A log that cannot be written: nothing is done without it, or it is counted, as the configuration says.

use std::fs;
use std::os::unix::fs::symlink;

use harbor_tests::client::CALL;
use harbor_tests::{Bridge, Client, Double, ErrorValue, Home, LIMIT, wait_until};
use serde_json::{Value, json};

use crate::{SITE, lines, path};

fn health(client: &Client) -> Value {
    client.call("host_get_stats", &json!({})).unwrap()["stats"]["audit"].clone()
}

/// A call that nobody could write down shows that the disk refuses.
fn wait_for_health(client: &Client, failing: bool) {
    wait_until("the log to fail, or to be well again", LIMIT, || health(client)["failing"] == failing);
}

fn assert_refused<T: std::fmt::Debug>(result: Result<T, ErrorValue>) {
    let error = result.unwrap_err();
    assert_eq!(
        (error.code.as_str(), &error.details["cause"]),
        ("ERR_INTERNAL", &json!("audit")),
        "{error:?}"
    );
    assert!(error.message.contains("`auditRequired`") && error.message.contains("nothing was done"));
}

/// In place of the file there is a directory, which even root cannot write to.
#[test]
fn where_the_log_is_required_nothing_is_done_without_it() {
    let home = Home::new();
    home.configure("[host]\nauditRequired = true\n");
    let bridge = Bridge::start(&home);
    let double = Double::sound(&home);
    bridge.add_and_connect("s", &double);
    let (site, other) = (bridge.speaking_for(SITE), bridge.speaking_for("https://other.example"));
    site.grant(CALL, "ALLOW_ALWAYS", &json!({}));
    assert_eq!(site.try_tool("s/echo"), "ok");
    let aside = home.path().join("logs/aside");
    // Whatever is still on its way is written before.
    assert_eq!(bridge.audit(&json!({})).len(), 3);
    fs::rename(path(&home), &aside).unwrap();
    fs::create_dir(path(&home)).unwrap();

    // The grant is the first that has to wait for the disk.
    let before = bridge.all_grants();
    let fields = |grant_type: &str| json!({"scope": CALL, "grant_type": grant_type});
    for grant_type in ["ALLOW_ONCE", "ALLOW_ALWAYS"] {
        assert_refused(other.ask("host_grant_permission", &fields(grant_type)));
    }
    assert_refused(site.ask("host_revoke_permission", &json!({"scope": CALL})));
    assert_eq!(bridge.all_grants(), before);
    assert_refused(site.tool("s/echo", &json!({})));
    assert_refused(bridge.tool("s", "echo", &json!({})));
    assert_eq!(double.journal().count("call"), 1);
    assert_eq!(other.try_tool("s/echo"), "ERR_SCOPE_REQUIRED", "a refusal stands");
    // Less may always be allowed.
    other.grant(CALL, "DENY", &json!({}));
    site.revoke(CALL, Some("ALLOW_ONCE"));
    assert_eq!(other.try_tool("s/echo"), "ERR_PERMISSION_DENIED");
    let failing = health(&bridge);
    assert_eq!(failing["failing"], true);
    let lost = failing["unaudited"].as_u64().unwrap();
    assert!(lost >= 7, "{lost}");

    fs::remove_dir(path(&home)).unwrap();
    fs::rename(&aside, path(&home)).unwrap();
    wait_for_health(&bridge, false);
    assert_eq!(site.try_tool("s/echo"), "ok");
    other.grant(CALL, "ALLOW_ONCE", &json!({}));
    let told: Vec<_> = lines(&home).iter().map(|line| line["event"].clone()).collect();
    assert_eq!(told, ["add_server", "grant", "call", "unaudited", "call", "grant"]);
    assert_eq!(lines(&home)[3]["count"], lost, "the log says what it lacks");
    assert_eq!(health(&bridge)["unaudited"], lost);
}

#[test]
fn a_call_that_nobody_can_write_down_stops_those_after_it() {
    let home = Home::new();
    home.configure("[host]\nauditRequired = true\n");
    let bridge = Bridge::start(&home);
    bridge.add_and_connect("s", &Double::sound(&home));
    let site = bridge.speaking_for(SITE);
    site.grant(CALL, "ALLOW_ALWAYS", &json!({}));
    fs::remove_file(path(&home)).unwrap();
    fs::create_dir(path(&home)).unwrap();
    // Its line is written 100 ms later: only then is the trouble known.
    assert_eq!(site.try_tool("s/echo"), "ok");
    wait_for_health(&bridge, true);
    assert_refused(site.tool("s/echo", &json!({})));
    fs::remove_dir(path(&home)).unwrap();
    wait_for_health(&bridge, false);
    assert_eq!(site.try_tool("s/echo"), "ok");
}

/// In place of the directory there is a link to nowhere: nothing can be written there, and nothing be read.
#[test]
fn where_it_is_not_required_all_goes_on_and_what_is_missing_is_counted() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    let double = Double::sound(&home);
    bridge.add_and_connect("s", &double);
    let site = bridge.speaking_for(SITE);
    site.grant(CALL, "ALLOW_ALWAYS", &json!({"allowed_tools": ["s/echo"]}));
    let (logs, aside) = (home.path().join("logs"), home.path().join("aside"));
    fs::rename(&logs, &aside).unwrap();
    symlink(home.path().join("nowhere"), &logs).unwrap();

    assert_eq!(site.try_tool("s/sleep"), "ERR_TOOL_NOT_ALLOWED");
    site.grant(CALL, "ALLOW_ONCE", &json!({}));
    assert_eq!([(); 3].map(|()| site.try_tool("s/sleep")), ["ok", "ok", "ok"]);
    bridge.speaking_for("https://other.example").grant(CALL, "DENY", &json!({}));
    let said = bridge.call("host_get_audit", &json!({})).unwrap();
    assert_eq!((&said["failing"], &said["records"]), (&json!(true), &json!([])), "{}", said.text);
    let unaudited = json!({"failing": true, "unaudited": 6});
    assert_eq!((&health(&bridge), &said["unaudited"]), (&unaudited, &json!(6)));

    fs::remove_file(&logs).unwrap();
    fs::rename(&aside, &logs).unwrap();
    wait_for_health(&bridge, false);
    assert_eq!(site.try_tool("s/echo"), "ok");
    let told: Vec<_> = bridge
        .audit(&json!({}))
        .iter()
        .map(|line| json!([line["event"], line["tool"], line["count"]]))
        .collect();
    let added = json!(["add_server", null, null]);
    let wanted =
        [added, json!(["grant", null, null]), json!(["unaudited", null, 6]), json!(["call", "echo", null])];
    assert_eq!(told, wanted);
    assert_eq!(health(&bridge), json!({"failing": false, "unaudited": 6}));
}
