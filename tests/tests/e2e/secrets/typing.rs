//! `harbor secrets`: a value comes by stdin or by a prompt that shows nothing, and is never printed.

use std::io::Write as _;
use std::process::Stdio;

use harbor_tests::{Bridge, Double, Home, Terminal};
use nix::sys::signal::Signal;

use super::{VALUE, environment, file, files_with};

/// Stdout and exit code of `harbor` with this on its stdin.
pub fn given(home: &Home, args: &[&str], input: &str) -> (String, Option<i32>) {
    let mut command = home.command("harbor");
    let mut child = command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    (String::from_utf8(output.stdout).unwrap(), output.status.code())
}

#[test]
fn a_value_comes_by_stdin_and_is_never_shown() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    bridge.add("s", &Double::sound(&home));
    let set = ["secrets", "set", "s", "API_KEY"];
    let (said, code) = given(&home, &set, &format!("{VALUE}\n"));
    assert_eq!((said.as_str(), code), ("API_KEY of s is stored\n", Some(0)));
    bridge.connect("s");
    assert_eq!(environment(&bridge, "s")["API_KEY"], VALUE, "without the newline");
    let lines = ["secrets", "set", "s", "TWO", "--expires", "90d", "--json"];
    assert_eq!(given(&home, &lines, "a line\nanother\n\n").1, Some(0));
    let (said, _) = given(&home, &set, VALUE);
    assert_eq!(said, "API_KEY of s is stored; use it now: `harbor restart s`\n");
    assert!(home.done(&["restart", "s"]).contains("s is running"));
    assert_eq!(environment(&bridge, "s")["TWO"], "a line\nanother\n");

    let shown = home.done(&["secrets"]);
    assert!(
        shown.starts_with("SERVER  KEY      TYPE     USERNAME  SET") && shown.contains("(in 90 days)"),
        "{shown}"
    );
    for args in [
        &["secrets", "list", "s", "--json"][..],
        &["secrets", "check", "s"],
        &["secrets", "check", "s", "--json"],
        &["audit"],
        &["audit", "--json"],
        &["sandbox", "s", "--explain"],
        &["status", "--json"],
        &["list", "--json"],
    ] {
        assert!(!home.done(args).contains("sk-live"), "{args:?}");
    }
    assert!(home.done(&["audit"]).contains("s API_KEY"));
    let keys = home.done(&["complete", "keys", "", "s"]);
    assert_eq!(keys, "API_KEY\nTWO\n");

    assert_eq!(
        home.done(&["secrets", "remove", "s", "TWO"]),
        "TWO of s is removed; the running server keeps it until `harbor restart s`\n"
    );
    assert_eq!(home.refused(&["secrets", "remove", "s", "TWO"]).1, Some(4));
    assert!(home.harbor(&["remove", "s"]).0.contains("removed s and its 1 secret\n"));
    assert!(files_with(&home, VALUE).is_empty());
}

#[test]
fn what_is_wrong_is_said_before_a_bridge_is_started() {
    let home = Home::new();
    for (args, input, why) in [
        (&["secrets", "set", "s", "K", "hunter2"][..], "", "a secret does not belong on the command line"),
        (&["secrets", "set", "s", "K=hunter2"], "", "a secret does not belong on the command line"),
        (&["secrets", "set", "s", "K", "--json"], "", "expected a text that is not empty"),
        (&["secrets", "set", "s", "K", "--json"], "\n", "expected a text that is not empty"),
        (&["secrets", "set", "s", "X-Key", "--type", "header", "--json"], "hunter2\nb", "one line of ASCII"),
    ] {
        let mut args = args.to_vec();
        if !args.contains(&"--json") {
            args.push("--json");
        }
        let (said, code) = given(&home, &args, input);
        assert!(code == Some(2) && said.contains(why) && !said.contains("hunter2"), "{args:?}: {said}");
    }
    assert!(!home.path().join("run").exists());
}

#[test]
fn a_prompt_shows_nothing_and_gives_the_terminal_back() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    bridge.add("s", &Double::sound(&home));
    let ask = || {
        let mut command = home.command("harbor");
        let terminal = Terminal::start(command.args(["secrets", "set", "s", "API_KEY"]));
        terminal.wait_for("API_KEY of s (not shown):");
        terminal
    };
    let mut terminal = ask();
    terminal.press(&format!("{VALUE}\r"));
    terminal.wait_for("API_KEY of s is stored");
    assert_eq!(terminal.end(), (0, true));
    assert!(!terminal.text().contains("sk-live"), "{}", terminal.text());
    bridge.connect("s");
    assert_eq!(environment(&bridge, "s")["API_KEY"], VALUE);

    for signal in [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP] {
        let mut terminal = ask();
        terminal.signal(signal);
        assert_eq!(terminal.end(), (-(signal as i32), true));
    }
    let mut terminal = ask();
    // What is typed and the signal behind it come in this order; a signal from elsewhere may overtake it.
    terminal.press("half of it\x03");
    assert_eq!(terminal.end(), (-(Signal::SIGINT as i32), true));
    assert!(!terminal.text().contains("half"));
    assert_eq!(files_with(&home, VALUE), [file(&home)], "nothing was changed");
    let (_, said, code) = home.harbor(&["add", "n", "--secret", "KEY", "--", "/bin/true"]);
    assert!(code == Some(5) && said.contains("set it: `harbor secrets set n KEY`"), "{said}");
}
