//! The PID namespace of a runner: nothing that a server starts gets out of it, and nothing in it outlives bridge and
//! runner, even when both are killed at once. For root and for an ordinary user; and what there is without it.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use harbor_tests::processes::{Process, assert_gone, by_own_id, descendants};
use harbor_tests::rights::is_root;
use harbor_tests::small_disk::own_mounts;
use harbor_tests::{
    Attacker, Attempt, Bridge, DOWN_LIMIT, Double, Fault, Home, PROMPT, programs, wait_until,
};
use nix::mount::{MntFlags, MsFlags, mount, umount2};
use nix::sys::signal::Signal;
use nix::unistd::geteuid;
use serde_json::{Value, json};

/// Nobody.
const ORDINARY: u32 = 65534;

/// Within this time all is over.
const AT_ONCE: Duration = Duration::from_secs(1);

/// Who runs the bridge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum User {
    /// Who runs the tests.
    Tester,
    /// Nobody, where root runs the tests.
    Ordinary,
}

/// Everybody as whom the tests can run a bridge.
fn users() -> &'static [User] {
    if geteuid().is_root() { &[User::Tester, User::Ordinary] } else { &[User::Tester] }
}

/// A copy of an executable where every user can reach it.
fn reachable(home: &Home, path: PathBuf) -> PathBuf {
    let copy = home.scratch("bin").join(path.file_name().unwrap());
    fs::create_dir_all(copy.parent().unwrap()).unwrap();
    if !copy.exists() {
        fs::hard_link(&path, &copy).or_else(|_| fs::copy(&path, &copy).map(drop)).unwrap();
    }
    copy
}

/// What starts a bridge for this user: `wrapper`, followed by the command line of the bridge.
fn command(home: &Home, user: User, wrapper: &[&str]) -> Command {
    let bridge = reachable(home, programs::product("harbor-bridge"));
    for beside in ["harbor-runner", "harbor-runner-http"] {
        let _ = reachable(home, programs::product(beside));
    }
    let mut words: Vec<OsString> = wrapper.iter().map(Into::into).collect();
    words.extend([bridge.into(), "serve".into(), "--stdio".into()]);
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]).env("HOME", home.scratch("")).current_dir("/");
    programs::take_environment(&mut command, &home.command("harbor-bridge"));
    command.env("HARBOR_LOG", "debug");
    if user == User::Ordinary {
        home.hand_to(ORDINARY, ORDINARY);
        command.uid(ORDINARY).gid(ORDINARY);
    }
    command
}

fn start(home: &Home, user: User) -> Bridge {
    Bridge::start_as(home, &mut command(home, user, &[]))
}

/// Defines a double that every user can start.
fn add(home: &Home, bridge: &Bridge, id: &str, double: &Double) {
    let mut definition = double.definition(id);
    definition["command"] = json!(reachable(home, programs::double("misbehaving-server")));
    bridge.call("add_server", &definition).unwrap();
}

/// A running server, its runner, and the init of its namespace.
struct Cell {
    server: Process,
    runner: Process,
    init: Process,
}

fn connect(bridge: &Bridge, id: &str) -> Cell {
    bridge.connect(id);
    let listed = bridge.server(id);
    let (server, runner) = (Process::named_by(&listed["pid"]), Process::named_by(&listed["runner_pid"]));
    let init = by_own_id("1", &descendants(runner.pid));
    assert_eq!(listed["containment"], "pid_namespace");
    assert_ne!(server.own_id(), Some(server.pid), "it has a number of its own inside");
    Cell { server, runner, init }
}

fn text(bridge: &Bridge, tool: &str, arguments: &Value) -> String {
    bridge.tool_text("s", tool, arguments)
}

#[test]
fn nothing_outlives_bridge_and_runner_killed_at_once() {
    for (user, stopped) in users().iter().flat_map(|user| [(*user, false), (*user, true)]) {
        for fault in [Fault::DetachedGrandchild, Fault::NamelessDaemon] {
            let home = Home::new();
            let mut bridge = start(&home, user);
            let double = Double::new(&home, fault);
            add(&home, &bridge, "s", &double);
            let cell = connect(&bridge, "s");
            let grandchild = double.journal().wait_for("grandchild");
            let all = bridge.tree();
            let grandchild = by_own_id(&grandchild, &all);
            if stopped {
                cell.runner.signal(Signal::SIGSTOP);
            }
            for process in [bridge.process(), cell.runner] {
                process.signal(Signal::SIGKILL);
            }
            assert_gone(&[grandchild, cell.init, cell.server], AT_ONCE);
            assert_gone(&all, AT_ONCE);
            assert!(bridge.wait(DOWN_LIMIT).is_some());
        }
    }
}

#[test]
fn a_server_sees_its_own_proc_and_has_no_more_rights_than_its_user() {
    for &user in users() {
        let home = Home::new();
        let bridge = start(&home, user);
        add(&home, &bridge, "s", &Double::sound(&home));
        let Cell { server, init, .. } = connect(&bridge, "s");
        let own_id = text(&bridge, "pid", &json!({}));
        assert_eq!(server.own_id().unwrap().to_string(), own_id);
        // The same place as the server sees it, through its root directory.
        let proc = PathBuf::from(format!("/proc/{}/root/proc", server.pid));
        let status = fs::read_to_string(proc.join(&own_id).join("status")).unwrap();
        let lines = ["Name:\tmisbehaving-ser".to_owned(), format!("Pid:\t{own_id}"), "PPid:\t0".to_owned()];
        assert!(lines.iter().all(|wanted| status.lines().any(|line| line == *wanted)), "{status}");
        let there = fs::read_dir(proc).unwrap().map(|entry| entry.unwrap().file_name());
        let pids: Vec<_> = there.filter_map(|name| name.to_str()?.parse::<u32>().ok()).collect();
        assert_eq!(pids, [1, server.own_id().unwrap()], "init and the server, and nobody else's processes");
        if user == User::Ordinary {
            let none = format!("{:016x}", 0);
            for set in ["CapInh", "CapPrm", "CapEff", "CapAmb"] {
                assert_eq!((server.status(set), init.status(set)), (none.clone(), none.clone()), "{set}");
            }
            // What cannot be dumped cannot be traced either.
            let environ = fs::metadata(format!("/proc/{}/environ", init.pid)).unwrap();
            assert_eq!(environ.uid(), 0, "no server can reach into its init");
        }
    }
}

#[test]
fn signals_from_outside_mean_what_they_mean_without_it() {
    let home = Home::new();
    let bridge = start(&home, User::Tester);
    add(&home, &bridge, "s", &Double::sound(&home));
    let Cell { server, .. } = connect(&bridge, "s");
    server.signal(Signal::SIGSTOP);
    wait_until("the server to be stopped", PROMPT, || server.status("State").starts_with('T'));
    let call = bridge.send_tool("s", "sleep", &json!({"ms": 1}));
    server.signal(Signal::SIGCONT);
    assert_eq!(call.wait(PROMPT).unwrap().content_text(), "slept");
    server.signal(Signal::SIGTERM);
    assert_gone(&[server], PROMPT);
    wait_until("the bridge to notice", PROMPT, || bridge.server("s")["state"] != "running");
    let Cell { server, .. } = connect(&bridge, "s");
    server.signal(Signal::SIGKILL);
    assert_gone(&[server], PROMPT);
    wait_until("the bridge to notice", PROMPT, || bridge.server("s")["state"] != "running");
}

#[test]
fn a_server_goes_with_its_init_and_can_be_started_again() {
    for &user in users() {
        let home = Home::new();
        let bridge = start(&home, user);
        add(&home, &bridge, "s", &Double::sound(&home));
        let Cell { server, init, .. } = connect(&bridge, "s");
        init.signal(Signal::SIGKILL);
        assert_gone(&[server, init], PROMPT);
        wait_until("the bridge to notice", PROMPT, || bridge.server("s")["state"] != "running");
        let _ = connect(&bridge, "s");
        assert_eq!(text(&bridge, "sleep", &json!({"ms": 1})), "slept");
    }
}

#[test]
fn what_a_start_leaves_behind_is_gone_before_the_next_one() {
    let home = Home::new();
    let bridge = start(&home, User::Tester);
    let double = Double::new(&home, Fault::ExitsOnProbe);
    let mut definition = double.definition("s");
    let mut args =
        vec![json!("-c"), json!("setsid sleep 97 & exec \"$0\" \"$@\""), definition["command"].take()];
    args.extend(definition["args"].as_array().unwrap().iter().cloned());
    (definition["command"], definition["args"]) = (json!("sh"), json!(args));
    bridge.call("add_server", &definition).unwrap();
    let Cell { runner, .. } = connect(&bridge, "s");
    assert_eq!(double.journal().count("start"), 2, "the probe killed it once");
    wait_until("the second start's child only", PROMPT, || {
        descendants(runner.pid).iter().filter(|process| process.command_line() == "sleep 97").count() == 1
    });
}

/// The bridge works, says why there is no namespace, and ends all that it can.
fn works_without(home: &Home, mut bridge: Bridge, why: &str) {
    let double = Double::new(home, Fault::DetachedGrandchild);
    add(home, &bridge, "s", &double);
    bridge.connect("s");
    let server = Process::named_by(&bridge.server("s")["pid"]);
    let _ = double.journal().wait_for("grandchild");
    assert_eq!(text(&bridge, "sleep", &json!({"ms": 1})), "slept");
    let all = bridge.tree();
    assert_eq!(
        all.len(),
        4,
        "bridge, runner, server and its child:{}",
        harbor_tests::processes::describe(&all)
    );
    assert!(
        all.iter()
            .all(|one| one.status("NSpid") == bridge.process().status("NSpid") || one.own_id() > Some(1))
    );
    assert_eq!(server.status("CapAmb"), bridge.process().status("CapAmb"));
    let shown = bridge.server("s");
    assert_eq!(shown["containment"], "process_group", "{shown}");
    assert!(shown["containment_reason"].as_str().unwrap().starts_with(why), "{shown}");
    let _ = bridge.stop();
    assert_gone(&all, DOWN_LIMIT);
}

#[test]
fn where_the_kernel_has_none_there_are_process_groups() {
    for &user in users() {
        let home = Home::new();
        let none = "echo 0 > /proc/sys/user/max_pid_namespaces && exec \"$0\" \"$@\"";
        let wrapper = ["unshare", "--user", "--map-root-user", "sh", "-c", none];
        let bridge = Bridge::start_as(&home, &mut command(&home, user, &wrapper));
        works_without(&home, bridge, "make the namespaces: ");
    }
}

/// As in containers: parts of /proc are covered, and a new one would show them.
#[test]
fn where_proc_is_masked_there_are_process_groups() {
    let home = Home::new();
    let masked =
        "mount -t tmpfs none /proc/fs && exec setpriv --inh-caps=-all --ambient-caps=-all -- \"$0\" \"$@\"";
    let user = if geteuid().is_root() { User::Ordinary } else { User::Tester };
    let wrapper = ["unshare", "--user", "--map-current-user", "--keep-caps", "--mount", "sh", "-c", masked];
    let bridge = Bridge::start_as(&home, &mut command(&home, user, &wrapper));
    works_without(&home, bridge, "mount /proc: ");
}

/// The kernel writes a disk back with its last mount: one that a server kept would lack what was written on it.
#[test]
fn what_the_person_unmounts_is_unmounted_for_servers_too() {
    if !is_root("what_the_person_unmounts_is_unmounted_for_servers_too") {
        return;
    }
    own_mounts(MsFlags::MS_SHARED).unwrap();
    let home = Home::new();
    let stick = home.scratch("stick");
    fs::create_dir(&stick).unwrap();
    mount(Some("none"), &stick, Some("tmpfs"), MsFlags::empty(), None::<&str>).unwrap();
    let bridge = Bridge::start(&home);
    bridge.add_and_connect("s", &Double::sound(&home));
    assert!(with(&bridge, &stick) > 1, "it was there when the server started");
    umount2(&stick, MntFlags::empty()).unwrap();
    assert_eq!(with(&bridge, &stick), 0);
}

/// How many processes of the bridge have this mounted.
fn with(bridge: &Bridge, stick: &Path) -> usize {
    let lists =
        bridge.tree().into_iter().map(|one| fs::read_to_string(format!("/proc/{}/mountinfo", one.pid)));
    lists.filter(|list| list.as_ref().is_ok_and(|list| list.contains(stick.to_str().unwrap()))).count()
}

fn mount_memory(place: &Path) {
    fs::create_dir_all(place).unwrap();
    mount(Some("none"), place, Some("tmpfs"), MsFlags::empty(), None::<&str>).unwrap();
}

/// Grants of a disk, of a directory on it, and of all that is beside it, where others' disks are hidden and where they are seen.
#[test]
fn a_granted_disk_goes_with_the_persons_and_is_back_after_a_restart() {
    if !is_root("a_granted_disk_goes_with_the_persons_and_is_back_after_a_restart") {
        return;
    }
    own_mounts(MsFlags::MS_SHARED).unwrap();
    let sticks = ["/mnt", "/opt"].map(|place| {
        mount_memory(Path::new(place));
        Path::new(place).join("stick")
    });
    for (&user, stick) in users().iter().flat_map(|user| sticks.iter().map(move |stick| (user, stick))) {
        let home = Home::new();
        let attacker = Attacker::pack(&home);
        let plug_in = || {
            mount_memory(stick);
            fs::create_dir(stick.join("sub")).unwrap();
            fs::set_permissions(stick.join("sub"), fs::Permissions::from_mode(0o777)).unwrap();
        };
        plug_in();
        let bridge = start(&home, user);
        let (sub, beside) = (stick.join("sub"), stick.parent().unwrap());
        let writers = [
            ("whole", json!({"write": [stick]})),
            ("part", json!({"write": [sub]})),
            ("both", json!({"write": [stick, sub]})),
            ("above", json!({"write": [beside]})),
        ];
        let readers = [("looks", json!({"read": [stick]})), ("peeps", json!({"read": [sub]}))];
        for (id, sandbox) in writers.iter().chain(&readers) {
            bridge.call("add_server", &attacker.definition(id, "secret", sandbox)).unwrap();
            bridge.connect(id);
        }
        let writes = |id: &str| {
            let arguments = json!({"path": sub.join(id)});
            Attempt::by(&bridge, id, "write", &arguments).unwrap().done && sub.join(id).exists()
        };
        let can_write = || writers.iter().chain(&readers).map(|(id, _)| writes(id)).collect::<Vec<_>>();
        // The kernel lets nobody write to a disk that lies below what is granted: its mount stays read-only.
        let as_granted = [true, true, true, false, false, false];
        assert_eq!(can_write(), as_granted, "{user:?} {stick:?}");
        umount2(stick, MntFlags::empty()).unwrap();
        wait_until("servers without it", PROMPT, || with(&bridge, stick) == 0);
        assert_eq!(can_write(), [false; 6], "{user:?} {stick:?}: into nothing");
        let told = "was unmounted, also in its sandbox; run `harbor restart whole`";
        let logged =
            || bridge.call("mcp_get_logs", &json!({"server_id": "whole"})).unwrap().into_value().to_string();
        wait_until("the log to say so", PROMPT, || logged().contains(told));
        plug_in();
        // Where all beside it was granted, the next disk comes in by itself, and what is written is on it.
        let mut granted = can_write();
        granted.remove(3);
        assert_eq!(granted, [false; 5], "{user:?} {stick:?}: into another one");
        for (id, _) in writers.iter().chain(&readers) {
            bridge.call("connect_server", &json!({"server_id": id, "restart": true})).unwrap();
            bridge.connect(id);
        }
        assert_eq!(can_write(), as_granted, "{user:?} {stick:?}: again");
        drop(bridge);
        umount2(stick, MntFlags::empty()).unwrap();
    }
}
