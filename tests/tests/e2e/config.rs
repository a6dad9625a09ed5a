//! `config.toml`: a bridge does not start with one that is wrong, and whoever starts it reads why.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use harbor_tests::{Bridge, Client, Double, Home, LIMIT, PROMPT, Program, wait_until};
use serde_json::json;

const WRONG: &str = "[limits]\nmaxCallsPerRun = 5\nqueueLength = 1025\n";
const WHY: &str =
    "harbor-bridge: config.toml:3: limits.queueLength: expected a whole number from 0 to 1024\n";

fn configured(text: &str) -> Home {
    let home = Home::new();
    fs::create_dir(home.path()).unwrap();
    fs::set_permissions(home.path(), fs::Permissions::from_mode(0o700)).unwrap();
    let file = home.path().join("config.toml");
    fs::write(&file, text).unwrap();
    fs::set_permissions(file, fs::Permissions::from_mode(0o600)).unwrap();
    home
}

/// Its exit code, and all that it says on stderr.
fn failed(home: &Home, program: &str, args: &[&str]) -> (Option<i32>, String) {
    let output = home.command(program).args(args).output().unwrap();
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}

#[test]
fn a_wrong_file_stops_the_start_and_everybody_is_told_why() {
    let home = configured(WRONG);
    for args in [&["serve"][..], &["serve", "--stdio"], &["serve", "--detached"]] {
        assert_eq!(failed(&home, "harbor-bridge", args), (Some(2), WHY.to_owned()), "{args:?}");
    }
    assert_eq!(home.locked_by(), None, "it is read before anything else happens");
    let (code, said) = failed(&home, "harbor", &["ping"]);
    let log = home.path().join("logs/bridge.log");
    let wanted = format!(
        "harbor: the bridge ended while it started (exit status: 2):\n{WHY}Its log: {}\n",
        log.display()
    );
    assert_eq!((code, said), (Some(3), wanted), "3: there is no bridge");
}

#[test]
fn a_file_that_others_may_write_to_is_not_obeyed() {
    let home = configured("");
    let file = home.path().join("config.toml");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o666)).unwrap();
    let why = format!(
        "harbor-bridge: cannot use {}: other users can write to it; run `chmod go-w` on it\n",
        file.display()
    );
    assert_eq!(failed(&home, "harbor-bridge", &["serve"]), (Some(2), why));
}

#[test]
fn a_file_that_was_corrected_is_read_by_the_next_bridge() {
    let home = configured(WRONG);
    let mut first = Program::start(home.command("harbor-bridge").arg("serve"));
    assert_eq!(first.wait(PROMPT).and_then(|status| status.code()), Some(2));
    fs::write(home.path().join("config.toml"), WRONG.replace("1025", "1024")).unwrap();
    assert!(Bridge::start(&home).is_alive());
}

/// What is in force, as the bridge shows it.
fn in_force(bridge: &Client, line: &str) -> bool {
    let answer = bridge.call("get_config", &json!({})).unwrap();
    answer["config"].as_str().unwrap().lines().any(|shown| shown == line)
}

#[test]
fn a_file_that_changes_is_read_again_and_servers_go_on() {
    let home = configured("[grants]\nonceSeconds = 30\n");
    let bridge = Bridge::start(&home);
    let pid = bridge.add_and_connect("s", &Double::sound(&home))["pid"].clone();
    assert!(in_force(&bridge, "onceSeconds = 30"));
    let watcher = Client::attach(&home);
    watcher.call("subscribe_status", &json!({})).unwrap();
    let health = |wanted: &str| {
        let _ = watcher.wait_for_push("status_update", LIMIT, |push| {
            push["category"] == "bridge" && push["health"]["state"] == wanted
        });
    };
    let file = home.path().join("config.toml");
    // As editors do.
    let new = home.path().join("config.toml.new");
    fs::write(&new, "[grants]\nonceSeconds = 40\n[limits]\nmaxCallsPerRun = 2\n").unwrap();
    fs::rename(&new, &file).unwrap();
    wait_until("it to be in force", LIMIT, || in_force(&bridge, "onceSeconds = 40"));
    assert!(in_force(&bridge, "maxCallsPerRun = 2"));

    fs::write(&file, WRONG).unwrap();
    health("degraded");
    let answer = bridge.call("get_config", &json!({})).unwrap();
    assert_eq!(answer["refused"], WHY.trim_start_matches("harbor-bridge: ").trim_end());
    assert!(in_force(&bridge, "onceSeconds = 40"), "what was in force stays");
    let reason = bridge.call("health", &json!({})).unwrap()["health"]["reasons"][0].clone();
    assert_eq!((&reason["code"], &reason["state"]), (&json!("config_refused"), &json!("degraded")));

    let kept = home.scratch("kept.toml");
    fs::write(&file, "[grants]\nonceSeconds = 50\n").unwrap();
    health("ok");
    fs::rename(&file, &kept).unwrap();
    health("degraded");
    let answer = bridge.call("get_config", &json!({})).unwrap();
    assert!(
        answer["refused"].as_str().unwrap().starts_with("config.toml is missing; restore it"),
        "{answer:?}"
    );
    assert!(in_force(&bridge, "onceSeconds = 50"), "nobody has decided for the defaults");

    // A link, and what changes behind it.
    std::os::unix::fs::symlink(&kept, &file).unwrap();
    health("ok");
    fs::write(&kept, "[grants]\nonceSeconds = 60\n").unwrap();
    wait_until("what is behind the link to be in force", LIMIT, || in_force(&bridge, "onceSeconds = 60"));
    fs::write(&kept, "").unwrap();
    wait_until("the defaults to be in force", LIMIT, || in_force(&bridge, "onceSeconds = 600"));
    assert_eq!(bridge.server("s")["pid"], pid);
}

#[test]
fn a_file_can_be_checked_and_what_holds_be_shown() {
    let home = configured(WRONG);
    let nothing = Home::new();
    let output = nothing.command("harbor").args(["config", "check"]).output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(
        said.ends_with("config.toml; a bridge starts with the defaults\n") && output.status.success(),
        "{said}"
    );
    let why = WHY.trim_start_matches("harbor-bridge: ");
    let harbor = |args: &[&str]| {
        let output = home.command("harbor").args(args).output().unwrap();
        (output.status.code(), String::from_utf8(output.stdout).unwrap())
    };
    assert_eq!(harbor(&["config", "check"]), (Some(1), why.to_owned()));
    assert_eq!(home.locked_by(), None, "no bridge is needed");
    fs::write(home.path().join("config.toml"), "[limits]\nqueueLength = 7\n").unwrap();
    assert_eq!(harbor(&["config", "check"]).0, Some(0));
    let bridge = Bridge::start_with(&home, &[("HARBOR_LOG", "warn")]);
    assert!(bridge.is_alive());
    let (code, shown) = harbor(&["config"]);
    assert!(code == Some(0) && shown.contains("\nqueueLength = 7\n"), "{shown}");
    let copy = home.path().join("copy.toml");
    fs::write(&copy, &shown).unwrap();
    assert_eq!(harbor(&["config", "check", copy.to_str().unwrap()]).0, Some(0), "it can be put in place");
    assert!(shown.starts_with("# HARBOR_CATALOG_WORKER=0\n# HARBOR_HOME="), "{shown}");
    assert!(shown.contains("# HARBOR_LOG=warn\n"), "{shown}");
}
