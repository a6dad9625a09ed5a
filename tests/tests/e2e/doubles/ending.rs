//! Doubles that are hard to end, or leave something behind.

use std::fs;

use harbor_tests::processes::{assert_gone, descendants};
use harbor_tests::{DOWN_LIMIT, Direct, Fault, LIMIT, Process, wait_until};
use nix::sys::signal::Signal;
use serde_json::json;

use super::{MOMENT, Scene, start, text};

/// What the server's journal calls its grandchildren, so many of them.
fn grandchildren(scene: &Scene, count: usize) -> Vec<Process> {
    wait_until("the grandchildren", LIMIT, || scene.journal().count("grandchild ") == count);
    let lines = scene.journal().lines();
    let pids = lines.iter().filter_map(|line| line.strip_prefix("grandchild ")?.parse().ok());
    pids.map(|pid| Process::of(pid).expect("it is alive")).collect()
}

/// The session that a process belongs to.
fn session(process: Process) -> u32 {
    let stat = fs::read_to_string(format!("/proc/{}/stat", process.pid)).unwrap();
    stat.rsplit_once(')').unwrap().1.split_ascii_whitespace().nth(3).unwrap().parse().unwrap()
}

/// They outlive their server and SIGTERM, and are then ended for good.
fn outlive(mut server: Direct, grandchildren: &[Process]) {
    server.close();
    assert!(server.wait(DOWN_LIMIT).is_some());
    for grandchild in grandchildren {
        grandchild.signal(Signal::SIGTERM);
        assert!(!grandchild.is_gone(), "it outlives its parent and SIGTERM");
        grandchild.signal(Signal::SIGKILL);
    }
    assert_gone(grandchildren, DOWN_LIMIT);
}

#[test]
fn neither_the_end_of_stdin_nor_sigterm_ends_one() {
    let scene = Scene::new(Fault::IgnoresShutdown);
    let mut server = scene.start().initialized();
    server.close();
    assert_eq!(scene.journal().wait_for("eof"), "");
    server.signal(Signal::SIGTERM);
    assert!(server.wait(MOMENT).is_none());
}

#[test]
fn a_wrapper_runs_the_real_server_below_it() {
    let mut wrapper = start(Fault::Wrapper).initialized();
    let inner: u32 = text(&wrapper.tool("pid", &json!({}))).parse().unwrap();
    assert_eq!(descendants(wrapper.process().pid), Process::of(inner).into_iter().collect::<Vec<_>>());
    wrapper.close();
    assert_eq!(wrapper.wait(DOWN_LIMIT).unwrap().code(), Some(0));
}

#[test]
fn a_wrapped_server_has_a_child_below_it() {
    let scene = Scene::new(Fault::WrappedGrandchild);
    let mut wrapper = scene.start().initialized();
    let inner: u32 = text(&wrapper.tool("pid", &json!({}))).parse().unwrap();
    let found = grandchildren(&scene, 1);
    assert_eq!(descendants(inner), found);
    assert_eq!(descendants(wrapper.process().pid).len(), 2);
    outlive(wrapper, &found);
}

#[test]
fn children_stay_in_the_group_or_leave_it() {
    for (fault, count) in [(Fault::Grandchild, 1), (Fault::DetachedGrandchild, 1), (Fault::Grandchildren, 2)]
    {
        let scene = Scene::new(fault);
        let server = scene.start().initialized();
        let found = grandchildren(&scene, count);
        let mut below = descendants(server.process().pid);
        below.sort_unstable();
        let mut wanted = found.clone();
        wanted.sort_unstable();
        assert_eq!(below, wanted, "{fault:?}");
        let own = fault == Fault::DetachedGrandchild;
        assert_eq!(session(found[0]) == found[0].pid, own, "{fault:?}");
        outlive(server, &found);
    }
}

#[test]
fn daemons_leave_the_family_and_one_of_them_its_environment() {
    for fault in [Fault::Daemon, Fault::NamelessDaemon] {
        let scene = Scene::new(fault);
        let server = scene.start().initialized();
        let found = grandchildren(&scene, 1);
        assert_eq!(descendants(server.process().pid), [], "{fault:?}");
        assert_ne!(session(found[0]), session(server.process()), "{fault:?}");
        assert_ne!(session(found[0]), found[0].pid, "{fault:?}: it cannot get a terminal any more");
        let environment = fs::read(format!("/proc/{}/environ", found[0].pid)).unwrap();
        assert_eq!(environment.is_empty(), fault == Fault::NamelessDaemon);
        outlive(server, &found);
    }
}
