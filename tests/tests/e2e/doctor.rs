//! `harbor doctor`: it finds what is wrong, says what to do, and mends what it was told to.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use harbor_ipc_proto::check::{Checked, DatabaseCheck, SecretsCheck};
use harbor_tests::{Bridge, Double, Home};
use serde_json::{Value, json};

/// Its exit code, and what it finds.
fn doctor(home: &Home, args: &[&str]) -> (Option<i32>, Value) {
    // What --fix does to browsers is not to be done to the tester's.
    let person = home.scratch("p");
    let output =
        home.command("harbor").args(["doctor", "--json"]).args(args).env("HOME", person).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    (output.status.code(), serde_json::from_str(&text).unwrap_or_else(|_| panic!("{text}")))
}

fn has(found: &Value, state: &str, about: &str, text: &str) -> bool {
    found["findings"].as_array().unwrap().iter().any(|finding| {
        finding["state"] == state
            && finding["about"] == about
            && finding["message"].as_str().unwrap().contains(text)
    })
}

#[test]
fn a_sound_home_is_well_and_warnings_are_no_failure() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    bridge.add_and_connect("sound", &Double::sound(&home));
    let (code, found) = doctor(&home, &[]);
    assert_eq!((code, &found["broken"]), (Some(0), &json!(0)), "{found:#}");
    for (about, text) in [
        ("kernel", "landlock"),
        ("database", "not damaged"),
        ("servers", "1 server, none has failed"),
        ("programs", ""),
        ("runtimes", "servers in containers"),
    ] {
        assert!(has(&found, "ok", about, text), "{about}: {found:#}");
    }

    bridge.add_and_connect("dies", &Double::sound(&home).supervision(&json!({"restart": "never"})));
    assert!(bridge.tool("dies", "die", &json!({})).is_err());
    let open = json!({"server_id": "open", "command": "/bin/true", "sandbox": {"level": "off"}});
    bridge.call("add_server", &open).unwrap();
    let _ = bridge.call("mcp_connect", &json!({"server_id": "open"}));
    let database = home.path().join("harbor.db");
    fs::set_permissions(&database, fs::Permissions::from_mode(0o644)).unwrap();
    let (code, found) = doctor(&home, &[]);
    assert_eq!(code, Some(0), "{found:#}");
    assert!(has(&found, "warning", "servers", "dies has failed"), "{found:#}");
    assert!(has(&found, "warning", "servers", "open has sandbox level off"), "{found:#}");
    assert!(has(&found, "warning", "home", "harbor.db (mode 644)"), "{found:#}");
    assert!(has(&doctor(&home, &["--fix"]).1, "fixed", "home", "harbor.db"));
    assert_eq!(fs::metadata(&database).unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn a_kernel_that_holds_less_is_a_warning() {
    let home = Home::new();
    let bridge = Bridge::start_with(&home, &[("HARBOR_SANDBOX_OFFER", "landlock=3,namespaces=no")]);
    assert!(bridge.is_alive());
    let (code, found) = doctor(&home, &[]);
    assert_eq!(code, Some(0));
    assert!(has(&found, "warning", "kernel", "namespaces do not work here"), "{found:#}");
}

#[test]
fn what_keeps_a_bridge_from_starting_is_broken() {
    let home = Home::new();
    home.configure("[limit]\n");
    let (code, found) = doctor(&home, &[]);
    assert_eq!(code, Some(1));
    assert!(has(&found, "broken", "config", "config.toml:1"), "{found:#}");
    assert_eq!(found["broken"], 1, "it is told once: {found:#}");
    home.configure("");
    fs::write(home.path().join("harbor.db"), "this is no database, though it is as long as one could be")
        .unwrap();
    let (code, found) = doctor(&home, &[]);
    assert_eq!(code, Some(1));
    assert!(has(&found, "broken", "database", "not a database"), "{found:#}");
    // The bridge that it has started sets that aside.
    assert!(has(&found, "warning", "database", "harbor.db was lost"), "{found:#}");
    assert!(has(&found, "ok", "bridge", "runs"), "{found:#}");
    let (code, found) = doctor(&home, &[]);
    assert_eq!(code, Some(0), "{found:#}");
    assert!(has(&found, "ok", "database", "not damaged"), "{found:#}");
    harbor_tests::bridge::shut_down_detached(&home);

    // One that is gone is not whole.
    fs::remove_file(home.path().join("harbor.db")).unwrap();
    let (code, found) = doctor(&home, &[]);
    assert_eq!(code, Some(1), "{found:#}");
    assert!(
        has(&found, "broken", "database", "harbor.db is lost: its file is empty or missing"),
        "{found:#}"
    );
    harbor_tests::bridge::shut_down_detached(&home);
}

#[test]
fn a_journal_that_was_damaged_is_told_until_what_is_kept_of_it_is_gone() {
    let home = Home::new();
    drop(Bridge::start(&home));
    fs::write(home.path().join("definitions.journal"), "no journal\n").unwrap();
    let bridge = Bridge::start(&home);
    assert!(bridge.is_alive());
    bridge.said("definitions.journal is damaged");
    let (code, found) = doctor(&home, &[]);
    assert_eq!(code, Some(0), "{found:#}");
    assert!(has(&found, "warning", "database", "definitions.journal.damaged-"), "{found:#}");
    let entries = fs::read_dir(home.path()).unwrap().map(|entry| entry.unwrap().path());
    let kept: Vec<_> = entries.filter(|path| path.to_string_lossy().contains(".damaged-")).collect();
    assert_eq!(kept.len(), 1);
    assert_eq!(fs::read_to_string(&kept[0]).unwrap(), "no journal\n");
    fs::remove_file(&kept[0]).unwrap();
    let (_, found) = doctor(&home, &[]);
    assert!(!has(&found, "warning", "database", ""), "{found:#}");
}

#[test]
fn a_configuration_that_others_may_write_to_is_mended() {
    let home = Home::new();
    home.configure("");
    fs::set_permissions(home.path().join("config.toml"), fs::Permissions::from_mode(0o666)).unwrap();
    let (code, found) = doctor(&home, &[]);
    assert_eq!((code, &found["broken"]), (Some(1), &json!(1)), "{found:#}");
    assert!(has(&found, "broken", "config", "other users can write to it"), "{found:#}");
    let (code, found) = doctor(&home, &["--fix"]);
    assert!(code == Some(0) && has(&found, "fixed", "home", "config.toml (mode 666)"), "{found:#}");
    harbor_tests::bridge::shut_down_detached(&home);
}

#[test]
fn a_bridge_that_no_program_finds_is_mended() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    assert!(bridge.is_alive());
    fs::remove_file(home.run_file("bridge.sock")).unwrap();
    fs::remove_file(home.run_file("token")).unwrap();
    let (code, found) = doctor(&home, &["--fix"]);
    assert!(
        code == Some(0) && has(&found, "fixed", "socket", "its token and socket are missing"),
        "{found:#}"
    );
    assert!(has(&found, "ok", "bridge", &format!("process {}", bridge.process().pid)), "{found:#}");
}

#[test]
fn the_bridges_program_looks_at_its_files_whether_a_bridge_runs_or_not() {
    let home = Home::new();
    let run = |words: &[&str]| home.command("harbor-bridge").arg("check").args(words).output().unwrap();
    let check = || -> Checked {
        let output = run(&["--json", "config", "database", "secrets", "lost"]);
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        serde_json::from_slice(&output.stdout).unwrap()
    };
    assert_eq!(check().database, Some(DatabaseCheck::New));
    assert!(!home.path().join("harbor.db").exists(), "a look makes nothing");
    let bridge = Bridge::start(&home);
    bridge.add_and_connect("sound", &Double::sound(&home));
    let found = check();
    assert_eq!((found.database, found.lost), (Some(DatabaseCheck::Whole), Some(Vec::new())));
    assert_eq!((found.secrets, found.programs), (Some(SecretsCheck { wrong: None }), None));
    assert!(found.config.is_some_and(|config| config.wrong.is_none()));
    // Its lock and its database are still its own.
    bridge.call("remove_server", &json!({"server_id": "sound"})).unwrap();
    drop(bridge);
    assert_eq!(check().database, Some(DatabaseCheck::Whole));
    assert_eq!((run(&[]).status.code(), run(&["--json", "all"]).status.code()), (Some(2), Some(2)));
}
