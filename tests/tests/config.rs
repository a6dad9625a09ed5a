//! `config.toml`: a bridge does not start with one that is wrong, and whoever starts it reads why.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "test support")]

use std::fs;
use std::os::unix::fs::PermissionsExt;

use harbor_tests::{Bridge, Home, PROMPT, Program};

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
    let why =
        format!("harbor-bridge: cannot use {}: others may write to it; `chmod go-w` it\n", file.display());
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
