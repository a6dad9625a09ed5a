//! On disk and in the environment: who has a secret, who may set one, and when it is gone.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt as _, symlink};

use harbor_tests::{Bridge, Client, Double, Home, LIMIT, Relay, wait_until};
use serde_json::{Value, json};

use super::{VALUE, environment, file, files_with, set};

#[test]
fn its_server_has_it_and_nobody_else_and_with_the_server_it_goes() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    bridge.add("s", &Double::sound(&home));
    let credential = set(&bridge, "s", "API_KEY", VALUE);
    assert_eq!((&credential["key"], &credential["credential_type"]), (&json!("API_KEY"), &json!("api_key")));
    assert_eq!(credential.get("value"), None);
    let password = json!({"server_id": "s", "key": "DB", "value": "open sesame", "credential_type": "password", "username": "ada"});
    let header = json!({"server_id": "s", "key": "X-Key", "value": "Bearer header-value", "credential_type": "header"});
    for request in [&password, &header] {
        assert_eq!(bridge.call("set_credential", request).unwrap()["running"], false);
    }
    bridge.connect("s");
    bridge.add_and_connect("other", &Double::sound(&home));
    let its = environment(&bridge, "s");
    assert_eq!(
        (&its["API_KEY"], &its["DB"], &its["DB_USERNAME"]),
        (&json!(VALUE), &json!("open sesame"), &json!("ada"))
    );
    assert!(!its.to_string().contains("header-value"));
    assert_eq!(environment(&bridge, "other").get("API_KEY"), None);
    let names =
        bridge.call("get_sandbox", &json!({"server_id": "s"})).unwrap()["sandbox"]["env_names"].clone();
    assert!(names.as_array().unwrap().contains(&json!("API_KEY")), "{names}");

    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o7777;
    assert_eq!((mode(&file(&home)), mode(file(&home).parent().unwrap())), (0o600, 0o700));
    assert_eq!(files_with(&home, VALUE), [file(&home)]);

    // The next start has another one; the definition may be another one, too.
    let changed = json!({"server_id": "s", "key": "API_KEY", "value": "a new value"});
    assert_eq!(bridge.call("set_credential", &changed).unwrap()["running"], true);
    assert_eq!(environment(&bridge, "s")["API_KEY"], VALUE);
    bridge.add_and_connect("s", &Double::sound(&home));
    assert_eq!(environment(&bridge, "s")["API_KEY"], "a new value");
    assert!(files_with(&home, VALUE).is_empty());

    let removed = bridge.call("remove_server", &json!({"server_id": "s"})).unwrap();
    assert_eq!((&removed["removed"], &removed["secrets"]), (&json!(true), &json!(3)));
    for value in ["a new value", "open sesame", "header-value"] {
        assert!(files_with(&home, value).is_empty(), "{value}");
    }
    let gone = bridge.call("set_credential", &changed).unwrap_err();
    assert_eq!(gone.code, "not_found");
    assert!(gone.message.contains("`harbor add s -- COMMAND`"), "{}", gone.message);
}

#[test]
fn what_is_needed_is_asked_for_before_the_start() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    let mut definition = Double::sound(&home).definition("s");
    definition["secrets"] = json!(["TOKEN", "API_KEY"]);
    bridge.call("add_server", &definition).unwrap();
    let failed = bridge.fail_to_connect("s");
    assert_eq!(
        (failed.code.as_str(), &failed.details["cause"]),
        ("connection_failed", &json!("missing_secrets"))
    );
    assert_eq!(
        failed.message,
        "s could not be started: it needs API_KEY, TOKEN, which are not set; set them: `harbor secrets set s API_KEY`"
    );
    let waits = " WARN not started: it waits for a person server=s cause=\"missing_secrets\"\n";
    let said = bridge.said(waits);
    assert!(!said.contains(" ERROR "), "nothing is broken: {said}");
    let status = |name: &str| {
        bridge.call("get_credential_status", &json!({"server_id": "s"})).unwrap()["status"][name].clone()
    };
    assert_eq!((status("missing"), status("is_complete")), (json!(["API_KEY", "TOKEN"]), json!(false)));
    let (said, code) = home.refused(&["start", "s"]);
    assert!(code == Some(5) && said.ends_with(&format!("harbor: {}\n", failed.message)), "{said}");

    // With the last of them it is started, so that a call right after that needs nothing more.
    let one = json!({"server_id": "s", "key": "TOKEN", "value": "token-of-s"});
    assert_eq!(bridge.call("set_credential", &one).unwrap()["starts"], false);
    let all = json!({"server_id": "s", "secrets": {"API_KEY": VALUE, "TOKEN": "token-of-s"}});
    let set = bridge.call("set_server_secrets", &all).unwrap();
    assert_eq!((&set["status"]["is_complete"], &set["starts"]), (&json!(true), &json!(true)));
    assert_eq!(home.done(&["call", "s/echo", "a=1"]), "{\"a\":\"1\"}\n");
    let valid = || bridge.call("validate_credentials", &json!({"server_id": "s"})).unwrap();
    assert_eq!((&valid()["valid"], &valid()["errors"]), (&json!(true), &json!([])));
    let delete = json!({"server_id": "s", "key": "TOKEN"});
    let deleted = bridge.call("delete_credential", &delete).unwrap();
    assert_eq!((&deleted["deleted"], &deleted["running"]), (&json!(true), &json!(true)));
    assert_eq!(bridge.call("delete_credential", &delete).unwrap()["deleted"], false);
    assert_eq!(valid()["errors"], json!(["TOKEN is not set"]));
    let of = |field: &str, value: Value| {
        let mut request = json!({"server_id": "s", "key": "K", "value": "v"});
        request[field] = value;
        bridge.call("set_credential", &request).unwrap_err()
    };
    for (field, value) in [
        ("key", json!("a b")),
        ("key", json!("HARBOR_SERVER")),
        ("value", json!("")),
        ("value", json!("hunter2".repeat(10_000))),
        ("credential_type", json!("other")),
        ("expires_at", json!(1)),
    ] {
        let error = of(field, value);
        assert_eq!((error.code.as_str(), &error.details["field"]), ("invalid_params", &json!(field)));
        assert!(!error.message.contains("hunter2"));
    }
}

#[test]
fn only_the_person_sets_reads_names_or_deletes() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    bridge.add("s", &Double::sound(&home));
    set(&bridge, "s", "API_KEY", VALUE);
    let client = Client::attach_ai(&home, "model");
    let about = json!({"server_id": "s", "key": "API_KEY", "value": "mine now", "secrets": {}});
    for tag in [
        "set_credential",
        "set_server_secrets",
        "get_credential_status",
        "validate_credentials",
        "delete_credential",
        "list_credentials",
    ] {
        assert_eq!(client.call(tag, &about).unwrap_err().code, "ERR_PERMISSION_DENIED", "{tag}");
    }
    let browser = Relay::chrome(&home, &[]);
    let listed = browser.call("list_credentials", &json!({})).unwrap();
    assert_eq!(listed["credentials"][0]["key"], "API_KEY", "the extension's own pages are the person's");
    assert!(!listed.text.to_string().contains(VALUE));
    assert_eq!(files_with(&home, VALUE), [file(&home)]);
    let events: Vec<_> =
        bridge.audit(&json!({})).into_iter().filter(|line| line["event"] == "set_credential").collect();
    assert_eq!(events.len(), 1);
    assert_eq!((&events[0]["server"], &events[0]["key"]), (&json!("s"), &json!("API_KEY")));
}

#[test]
fn a_file_that_is_not_safe_is_not_used_and_never_overwritten() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    bridge.add("s", &Double::sound(&home));
    set(&bridge, "s", "API_KEY", VALUE);
    let refused = |why: &str| {
        let before = fs::read(file(&home)).unwrap();
        let request = json!({"server_id": "s", "key": "K", "value": "v"});
        let error = bridge.call("set_credential", &request).unwrap_err();
        assert!(error.message.contains(why), "{}", error.message);
        assert_eq!(fs::read(file(&home)).unwrap(), before);
    };
    fs::set_permissions(file(&home), Permissions::from_mode(0o644)).unwrap();
    refused("`harbor doctor --fix`");
    // It never said that it needs one; who has none is none of this.
    let failed = bridge.fail_to_connect("s");
    assert_eq!(failed.details["cause"], "secrets_unreadable");
    let why = "credentials.json: other users can read or change it; run `chmod 600 ";
    assert!(
        failed.message.contains(why) && failed.message.ends_with("it starts when they can be read"),
        "{}",
        failed.message
    );
    bridge.add_and_connect("other", &Double::sound(&home));
    let reasons = || bridge.call("health", &json!({})).unwrap()["health"]["reasons"].clone();
    let reason = reasons().as_array().unwrap()[0].clone();
    assert_eq!((&reason["state"], &reason["code"]), (&json!("degraded"), &json!("secrets_unreadable")));
    let doctor = |args: &[&str]| {
        let (found, _, code) = home.harbor(&[&["doctor", "--json"], args].concat());
        let found: Value = serde_json::from_str(&found).unwrap();
        let of_secrets = found["findings"].as_array().unwrap().iter().filter(|one| one["about"] == "secrets");
        (of_secrets.map(|one| one["state"].clone()).collect::<Vec<_>>(), code)
    };
    assert_eq!(doctor(&[]), (vec![json!("broken")], Some(1)));
    let (found, code) = doctor(&["--fix"]);
    assert_eq!((&found[0], code), (&json!("fixed"), Some(0)), "{found:?}");
    wait_until("it to start by itself", LIMIT, || bridge.connection("s").is_some());
    assert_eq!(environment(&bridge, "s")["API_KEY"], VALUE);
    assert_eq!((reasons(), doctor(&[])), (json!([]), (vec![json!("ok")], Some(0))));

    let elsewhere = home.scratch("elsewhere");
    fs::rename(file(&home), &elsewhere).unwrap();
    symlink(&elsewhere, file(&home)).unwrap();
    refused("a symbolic link");
    fs::remove_file(file(&home)).unwrap();
    fs::write(file(&home), "{").unwrap();
    fs::set_permissions(file(&home), Permissions::from_mode(0o600)).unwrap();
    refused("nothing was changed");
    let removed = bridge.call("remove_server", &json!({"server_id": "s"})).unwrap();
    assert!(removed["secrets_left"].as_str().unwrap().contains("credentials.json"), "{}", *removed);
}

#[test]
fn a_bridge_that_is_killed_while_it_writes_leaves_a_whole_file() {
    let home = Home::new();
    let value = |round: usize, n: usize| format!("value-{round}-{n}-{}", "x".repeat(20_000));
    for round in 0..8 {
        let mut bridge = Bridge::start(&home);
        bridge.call("add_server", &json!({"server_id": "s", "command": "/bin/true"})).unwrap();
        set(&bridge, "s", "FIRST", &value(round, 0));
        for n in 1..40 {
            let _ = bridge
                .request("set_credential", &json!({"server_id": "s", "key": "K", "value": value(round, n)}));
        }
        // Some of them are under way, whichever.
        set(&bridge, "s", "LAST", &value(round, 99));
        let _ = bridge
            .request("set_credential", &json!({"server_id": "s", "key": "K", "value": value(round, 100)}));
        bridge.kill();
        let read: Value = serde_json::from_str(&fs::read_to_string(file(&home)).unwrap()).unwrap();
        let keys = &read["servers"]["s"];
        assert_eq!(
            (&keys["FIRST"]["value"], &keys["LAST"]["value"]),
            (&json!(value(round, 0)), &json!(value(round, 99)))
        );
    }
    let bridge = Bridge::start(&home);
    assert!(bridge.is_alive());
    let mut left: Vec<_> =
        fs::read_dir(file(&home).parent().unwrap()).unwrap().map(|entry| entry.unwrap().path()).collect();
    left.sort();
    assert_eq!(
        left,
        [file(&home), file(&home).with_file_name("servers")],
        "what was half written is swept away"
    );
}
