//! `harbor top` in a terminal, before a real bridge: it shows what is, does what is asked, and gives the terminal back.

use harbor_tests::{Bridge, Double, Home, LIMIT, Terminal, wait_until};
use nix::sys::signal::Signal;
use serde_json::json;

fn top(home: &Home) -> Terminal {
    let mut command = home.command("harbor");
    let terminal = Terminal::start(command.arg("top"));
    terminal.wait_for("harbor 0.1.0  up");
    assert!(terminal.is_taken());
    terminal
}

#[test]
fn a_server_is_watched_stopped_and_started_and_its_log_is_read() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    bridge.add_and_connect("sound", &Double::sound(&home));
    let mut terminal = top(&home);
    terminal.wait_for(">sound      running");
    bridge.tool("sound", "echo", &json!({"text": "x"})).unwrap();
    terminal.wait_for("0.2    0");

    terminal.press("x");
    terminal.wait_for("sound is stopped");
    assert_eq!(bridge.server("sound")["state"], "stopped");
    terminal.wait_for(">sound      stopped");
    terminal.press("s");
    terminal.wait_for("sound is running");
    assert_eq!(bridge.server("sound")["state"], "running");

    terminal.press("\r");
    terminal.wait_for("state      running since");
    terminal.press("2");
    terminal.wait_for("[2 Log]");
    assert!(bridge.tool("sound", "die", &json!({})).is_err());
    terminal.wait_for("harbor: it exited with code");
    terminal.press("3");
    terminal.wait_for("[3 Tools]");
    terminal.wait_for("echo");
    terminal.press("4");
    terminal.wait_for("level    standard");

    terminal.resize(60, 10);
    terminal.wait_for("1-6 of ");
    terminal.resize(1, 1);
    terminal.resize(120, 40);
    terminal.wait_for("supervision");
    terminal.press("?");
    terminal.wait_for("Ctrl-C");
    terminal.press("q");
    terminal.wait_for("[4 Limits]");
    terminal.press("q");
    terminal.wait_for("MS NOW P50 MS");
    terminal.press("q");
    assert_eq!(terminal.end(), (0, true));
    assert!(terminal.is_given_back());
}

#[test]
fn a_signal_ends_it_and_the_terminal_is_as_it_was() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    assert!(bridge.is_alive(), "the command finds it");
    for signal in [Signal::SIGTERM, Signal::SIGHUP, Signal::SIGINT] {
        let mut terminal = top(&home);
        terminal.signal(signal);
        assert_eq!(terminal.end(), (-(signal as i32), true));
        assert!(terminal.is_given_back(), "{signal}");
    }
    let mut terminal = top(&home);
    terminal.press("\x03");
    assert_eq!(terminal.end(), (0, true));
}

#[test]
fn escape_with_a_key_right_behind_it_is_two_keys() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    bridge.add_and_connect("sound", &Double::sound(&home));
    let mut terminal = top(&home);
    terminal.press("\r");
    terminal.wait_for("[1 Overview]");
    terminal.press("\x1b?");
    terminal.wait_for("keys and columns");
    terminal.press("\x1bo");
    terminal.wait_for("by calls");
    terminal.press("q");
    assert_eq!(terminal.end(), (0, true));
}

#[test]
fn a_terminal_that_vanishes_is_told_of_once() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    assert!(bridge.is_alive(), "the command finds it");
    let mut terminal = top(&home);
    terminal.unplug();
    let said = terminal.last_words();
    assert!(!said.contains("cursor") && said.lines().count() <= 1, "{said}");
}

#[test]
fn suspended_it_gives_the_terminal_back_for_a_while() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    assert!(bridge.is_alive(), "the command finds it");
    let mut terminal = top(&home);
    terminal.press("\x1a");
    wait_until("the terminal to be free", LIMIT, || terminal.is_given_back());
    terminal.signal(Signal::SIGCONT);
    wait_until("the terminal to be taken again", LIMIT, || terminal.is_taken());
    terminal.wait_for("q quit");
    terminal.press("q");
    assert_eq!(terminal.end(), (0, true));
}

#[test]
fn a_bridge_that_goes_is_missed_and_its_successor_is_found() {
    let home = Home::new();
    let mut bridge = Bridge::start(&home);
    bridge.add_and_connect("sound", &Double::sound(&home));
    let mut terminal = top(&home);
    terminal.wait_for(">sound      running");
    bridge.stop();
    terminal.wait_for("the bridge has been gone since");
    assert!(!home.run_file("bridge.sock").exists(), "whoever ended it does not want another one");
    let next = Bridge::start(&home);
    assert!(next.is_alive());
    terminal.wait_for(">sound      stopped");
    terminal.press("q");
    assert_eq!(terminal.end(), (0, true));
}

#[test]
fn without_a_terminal_it_says_what_to_use_instead() {
    let home = Home::new();
    for (args, why) in [(vec!["top"], "needs a terminal"), (vec!["--json", "top"], "has no --json")] {
        let output = home.command("harbor").args(args).output().unwrap();
        let said = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        assert!(said.contains(why) && said.contains("`harbor status -f --json`"), "{said}");
        assert_eq!(output.status.code(), Some(2));
    }
    assert!(!home.run_file("bridge.sock").exists(), "no bridge was started for it");
}
