//! What a bridge that was killed leaves behind, and what the next one makes of it.

use std::fs;
use std::path::Path;

use harbor_tests::processes::{Process, assert_gone, by_own_id, descendants};
use harbor_tests::{Bridge, Double, Fault, Home, LIMIT, PROMPT, wait_until};
use nix::sys::signal::Signal;
use serde_json::json;

const SHARED: &[(&str, &str)] = &[("HARBOR_MCP_ISOLATION", "0")];

fn works(bridge: &Bridge, id: &str) {
    wait_until("the server to run", LIMIT, || bridge.server(id)["state"] == "running");
    assert_eq!(bridge.tool_text(id, "sleep", &json!({"ms": 1})), "slept");
}

/// Kills bridge and runner so that neither can do anything about the other's end.
fn kill_both(bridge: &mut Bridge, runner: Process) {
    for process in [runner, bridge.process()] {
        process.signal(Signal::SIGSTOP);
    }
    runner.signal(Signal::SIGKILL);
    bridge.kill();
    assert_gone(&[runner], PROMPT);
}

#[test]
fn after_a_killed_bridge_all_is_as_it_was() {
    let home = Home::new();
    let mut bridge = Bridge::start(&home);
    bridge.add_and_connect("auto", &Double::sound(&home).auto_start());
    bridge.add_and_connect("deaf", &Double::new(&home, Fault::IgnoresShutdown).auto_start());
    bridge.add_and_connect("other", &Double::sound(&home));
    let before = bridge.tree();
    bridge.kill();

    let bridge = Bridge::start(&home);
    assert_eq!(bridge.server("other")["state"], "stopped");
    works(&bridge, "auto");
    works(&bridge, "deaf");
    let left: Vec<_> = before.iter().filter(|process| !process.is_gone()).collect();
    assert!(left.is_empty(), "no server starts before the old ones are gone: {left:?}");
    bridge.connect("other");
}

/// The one case that no process of ours can prevent where there is no PID namespace.
#[test]
fn the_next_bridge_ends_what_a_killed_bridge_and_runner_left() {
    let home = Home::new();
    let mut bridge = Bridge::start_with(&home, SHARED);
    let double = Double::new(&home, Fault::Daemon).auto_start();
    bridge.add_and_connect("s", &double);
    let daemon = by_own_id(&double.journal().wait_for("grandchild"), &home.processes());
    let runner = Process::named_by(&bridge.server("s")["runner_pid"]);
    kill_both(&mut bridge, runner);
    assert!(!daemon.is_gone(), "nobody is there to end it");

    let bridge = Bridge::start_with(&home, SHARED);
    works(&bridge, "s");
    assert!(daemon.is_gone(), "it is ended before its server starts again");
}

/// With a namespace the kernel ends it, and nobody has to find it: not even one that has hidden its environment.
#[test]
fn a_namespace_leaves_nothing_to_the_next_bridge() {
    let home = Home::new();
    let mut bridge = Bridge::start(&home);
    let double = Double::new(&home, Fault::NamelessDaemon);
    bridge.add_and_connect("s", &double);
    let shown = bridge.server("s");
    if shown["containment"] != "pid_namespace" {
        assert!(!shown["containment_reason"].as_str().unwrap().is_empty(), "{shown}");
        return;
    }
    let daemon = by_own_id(&double.journal().wait_for("grandchild"), &bridge.tree());
    kill_both(&mut bridge, Process::named_by(&shown["runner_pid"]));
    assert_gone(&[daemon], PROMPT);
}

/// Its data only where that was wanted.
#[test]
fn what_a_bridge_was_removing_is_removed_by_the_next() {
    let home = Home::new();
    let of = |id: &str| home.path().join("servers").join(id);
    {
        let bridge = Bridge::start(&home);
        bridge.add_and_connect("s", &Double::sound(&home));
    }
    let removed = [
        "tmp/a",
        "tmp.old/a",
        "tmp.older/a",
        "data.old/a",
        "package.old/1/a",
        "trial.old/a",
        "installer/a",
        "image/a",
    ];
    let files = removed.map(|file| ("removed", file)).into_iter();
    for (id, file) in
        files.chain([("removed", "data/kept"), ("s", "tmp.old/a"), ("s", "tmp.older/a"), ("s", "tmp/a")])
    {
        let file = of(id).join(file);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, "").unwrap();
    }
    let bridge = Bridge::start(&home);
    wait_until("what was removed to be gone", LIMIT, || names(&of("removed")) == ["data"]);
    assert_eq!(names(&of("removed").join("data")), ["kept"]);
    bridge.connect("s");
    assert!(!of("s").join("tmp/a").exists());
    wait_until("what earlier starts have left to be gone", LIMIT, || names(&of("s")) == ["data", "tmp"]);
}

fn names(dir: &Path) -> Vec<String> {
    let entries = dir.read_dir().unwrap();
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// Whoever runs Harbor from inside a server carries the server's mark, and must survive it.
#[test]
fn a_bridge_that_carries_the_mark_itself_does_not_end_itself() {
    let home = Home::new();
    let mark = {
        let bridge = Bridge::start(&home);
        let server = Process::named_by(&bridge.add_and_connect("s", &Double::sound(&home))["pid"]);
        let environment = fs::read_to_string(format!("/proc/{}/environ", server.pid)).unwrap();
        let mark = environment.split('\0').find_map(|pair| pair.strip_prefix("HARBOR_INSTANCE=")).unwrap();
        mark.to_owned()
    };
    let bridge = Bridge::start_with(&home, &[("HARBOR_INSTANCE", &mark)]);
    bridge.connect("s");
    works(&bridge, "s");
    assert!(!descendants(bridge.process().pid).is_empty());
}
