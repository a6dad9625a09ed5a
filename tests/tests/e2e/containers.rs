//! Servers that are container images: pinned, held by the engine, gone when they end. With podman, in a storage of each
//! test's own.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::Command;

use harbor_tests::home::TEST_ID;
use harbor_tests::processes::{Process, assert_gone};
use harbor_tests::{Bridge, DOWN_LIMIT, ErrorValue, Home, LIMIT, Pending, Podman, wait_until};
use nix::sys::signal::Signal;
use nix::sys::stat::Mode;
use nix::unistd::mkfifo;
use serde_json::{Value, json};

const IMAGE: &str = "localhost/contained:1";

fn start(home: &Home, podman: &Podman) -> Bridge {
    let env = podman.env();
    let env: Vec<_> = env.iter().map(|(name, value)| (*name, value.as_str())).collect();
    Bridge::start_with(home, &env)
}

fn definition(home: &Home, id: &str, image: &str, more: &Value) -> Value {
    let mut definition = json!({"server_id": id, "image": image, "env": {TEST_ID: home.id()}});
    for (name, value) in more.as_object().unwrap() {
        definition[name] = value.clone();
    }
    definition
}

fn add(bridge: &Bridge, home: &Home, id: &str, more: &Value) {
    bridge.call("add_server", &definition(home, id, IMAGE, more)).unwrap();
    bridge.request("mcp_connect", &json!({"server_id": id})).wait(LIMIT).unwrap_or_else(|error| {
        panic!("{error:?}; {:?}", bridge.logs(id));
    });
}

fn refused(bridge: &Bridge, definition: &Value) -> ErrorValue {
    bridge.call("add_server", definition).unwrap_err()
}

fn call(bridge: &Bridge, tool: &str, arguments: &Value) -> String {
    bridge.tool_text("s", tool, arguments)
}

#[test]
fn an_image_runs_held_by_its_engine() {
    let home = Home::new();
    let podman = Podman::new(&home);
    let id = podman.image(IMAGE, "one");
    let granted = home.scratch("granted");
    fs::create_dir(&granted).unwrap();
    fs::write(granted.join("note"), "from outside").unwrap();
    let bridge = start(&home, &podman);
    let secret = "s3cr3t-that-nobody-may-see";
    let mut more =
        json!({"sandbox": {"network": "none", "read": [granted], "memory_mb": 128, "processes": 32}});
    more["env"] = json!({TEST_ID: home.id(), "TOKEN": secret});
    add(&bridge, &home, "s", &more);

    let shown = bridge.server("s");
    let image = json!({"reference": IMAGE, "engine": "podman", "id": id, "digest": shown["image"]["digest"]});
    assert_eq!((&shown["image"], &shown["containment"]), (&image, &json!("container")));
    assert_eq!(shown["sandbox"]["held_by"], "container (podman)");

    // A variable by its name; its value is in no argument, and in nothing that the engine shows but to its owner.
    assert_eq!(call(&bridge, "env", &json!({"name": "TOKEN"})), secret);
    let lines: Vec<_> = home.processes().iter().map(|process| process.command_line()).collect();
    assert!(lines.iter().any(|line| line.contains("--env=TOKEN")), "{lines:?}");
    assert!(!lines.iter().any(|line| line.contains(secret)), "{lines:?}");
    let containers = podman.containers();
    let labels = podman.says(&[
        "inspect",
        "--format",
        "{{json .Config.Labels}} {{.Config.CreateCommand}}",
        &containers[0],
    ]);
    assert!(labels.contains("harbor.instance") && !labels.contains(secret), "{labels}");

    // The network is none, the root cannot be written, the data directory can, what was granted can be read.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let to = listener.local_addr().unwrap().to_string();
    assert!(call(&bridge, "connect", &json!({"to": to})).starts_with("failed"));
    let write = |path: &str| call(&bridge, "write", &json!({"path": path, "text": "kept"}));
    assert!(write("/new").contains("Read-only"), "{}", write("/new"));
    assert_eq!((write("/tmp/new"), write("/data/new")), ("written".into(), "written".into()));
    assert_eq!(fs::read_to_string(home.path().join("servers/s/data/new")).unwrap(), "kept");
    let note = granted.join("note").to_string_lossy().into_owned();
    assert_eq!(call(&bridge, "read", &json!({"path": note})), "from outside");
    assert!(write(&note).contains("Read-only"));
    assert!(call(&bridge, "read", &json!({"path": "/etc/shadow"})).starts_with("failed"));
    let user = call(&bridge, "user", &json!({}));
    assert!(user.contains("CapEff: 0000000000000000") && user.contains("NoNewPrivs: 1"), "{user}");

    // What a person sees of it.
    let listed = home.done(&["list"]);
    assert!(listed.contains(&format!("podman {IMAGE}")), "{listed}");
    let explained = home.done(&["sandbox", "s", "--explain"]);
    for part in ["container (podman)", "network  none", "128 MiB of memory", "32 processes", "TOKEN"] {
        assert!(explained.contains(part), "{part}: {explained}");
    }

    // Data stay from start to start; containers do not.
    bridge.call("mcp_disconnect", &json!({"server_id": "s"})).unwrap();
    assert_eq!(podman.containers(), [""; 0]);

    // What `harbor secrets` keeps goes the same way as a variable, and by the same rules.
    let secret_of = |key: &str| json!({"server_id": "s", "key": key, "value": secret});
    bridge.call("set_credential", &secret_of("DOCKER_HOST")).unwrap();
    let error = bridge.fail_to_connect("s");
    assert!(error.message.contains("DOCKER_HOST cannot be given to a container"), "{error:?}");
    bridge.call("delete_credential", &json!({"server_id": "s", "key": "DOCKER_HOST"})).unwrap();
    bridge.call("set_credential", &secret_of("KEPT")).unwrap();
    bridge.connect("s");
    assert_eq!(call(&bridge, "env", &json!({"name": "KEPT"})), secret);
    assert!(!home.processes().iter().any(|process| process.command_line().contains(secret)));
    bridge.call("mcp_disconnect", &json!({"server_id": "s"})).unwrap();
    bridge.connect("s");
    assert_eq!(call(&bridge, "read", &json!({"path": "/data/new"})), "kept");
    let removed = bridge.call("remove_server", &json!({"server_id": "s"})).unwrap();
    assert_eq!(removed["image"], image);
    assert_eq!(podman.containers(), [""; 0]);
    assert!(!home.path().join("servers/s/image").exists());
    let _ = podman.says(&["image", "exists", IMAGE]);
}

#[test]
fn a_name_that_moves_changes_nothing_and_a_lost_image_is_told() {
    let home = Home::new();
    let podman = Podman::new(&home);
    let first = podman.image(IMAGE, "one");
    let bridge = start(&home, &podman);
    add(&bridge, &home, "s", &json!({}));
    let second = podman.image(IMAGE, "two");
    assert_ne!(first, second);
    bridge.call("connect_server", &json!({"server_id": "s", "restart": true})).unwrap();
    assert_eq!(
        (call(&bridge, "version", &json!({})).as_str(), &bridge.server("s")["image"]["id"]),
        ("one", &json!(first))
    );

    // Whoever removes and adds it gets what the name means now.
    bridge.call("remove_server", &json!({"server_id": "s"})).unwrap();
    add(&bridge, &home, "s", &json!({}));
    assert_eq!(call(&bridge, "version", &json!({})), "two");
    bridge.call("mcp_disconnect", &json!({"server_id": "s"})).unwrap();
    let _ = podman.says(&["image", "rm", "--force", &second]);
    let error = bridge.fail_to_connect("s");
    assert_eq!(error.details["cause"], "spawn_failed", "{error:?}");
    assert!(error.message.contains("podman could not run the image"), "{error:?}");
    // The next start looks for the image, and says what is wrong.
    let error = bridge.request("mcp_connect", &json!({"server_id": "s"})).wait(LIMIT).unwrap_err();
    assert_eq!(error.details["cause"], "install_failed", "{error:?}");
    assert_eq!(bridge.server("s")["state"], "failed");
    assert_eq!(podman.containers(), [""; 0]);
}

#[test]
fn no_end_leaves_a_container() {
    let home = Home::new();
    let podman = Podman::new(&home);
    let _ = podman.image(IMAGE, "one");
    let bridge = start(&home, &podman);
    bridge.watch();
    let quick = json!({"eof_grace_ms": 100, "term_grace_ms": 100, "restart_delays_ms": [100], "restart_attempts": "unlimited"});
    add(
        &bridge,
        &home,
        "s",
        &json!({"args": ["--deaf"], "supervision": quick, "sandbox": {"memory_mb": 64}}),
    );

    // A crash, and a restart after it.
    let crash = bridge.tool("s", "exit", &json!({"code": 3}));
    assert!(crash.is_err());
    let _ = bridge.wait_for_state("s", "crashed");
    let _ = bridge.wait_for_state("s", "running");
    assert_eq!(podman.containers().len(), 1);

    // More memory than it may have.
    assert!(bridge.tool("s", "eat", &json!({"mib": 500})).is_err());
    let _ = bridge.wait_for_state("s", "crashed");
    let _ = bridge.wait_for_state("s", "running");
    let exit = bridge.exit("s");
    assert_eq!(exit["cause"], "out_of_memory", "{exit}");
    assert!(exit["message"].as_str().unwrap().contains("--memory 128"), "{exit}");

    // The engine's program is killed.
    Process::named_by(&bridge.server("s")["pid"]).signal(Signal::SIGKILL);
    let _ = bridge.wait_for_state("s", "crashed");
    let _ = bridge.wait_for_state("s", "running");
    assert_eq!(podman.containers().len(), 1);

    // The runner is killed.
    Process::named_by(&bridge.server("s")["runner_pid"]).signal(Signal::SIGKILL);
    let _ = bridge.wait_for_state("s", "crashed");
    let _ = bridge.wait_for_state("s", "running");
    assert_eq!(podman.containers().len(), 1);

    // It ignores all but the last signal.
    bridge.call("mcp_disconnect", &json!({"server_id": "s"})).unwrap();
    assert_eq!(podman.containers(), [""; 0]);
    bridge.connect("s");
    drop(bridge);
    assert_eq!(podman.containers(), [""; 0]);
}

/// A podman that removes nothing as long as its gate is there and nobody has opened it, and that writes down what it does.
struct SlowPodman {
    bridge: Bridge,
    gate: PathBuf,
    done: PathBuf,
}

impl SlowPodman {
    /// A bridge that uses it, and a server `s` that is started again at once.
    fn start(home: &Home, podman: &Podman) -> Self {
        let (dir, gate, done) = (home.scratch("slow"), home.scratch("gate"), home.scratch("done"));
        fs::create_dir(&dir).unwrap();
        mkfifo(&gate, Mode::S_IRWXU).unwrap();
        let real = Command::new("sh").args(["-c", "command -v podman"]).output().unwrap().stdout;
        let script = format!(
            "#!/bin/sh
echo $1 >>{done}
[ $1 = rm ] || exec {real} \"$@\"
[ ! -p {gate} ] || read -r _ <{gate}
{real} \"$@\"
echo removed >>{done}
",
            real = String::from_utf8(real).unwrap().trim(),
            gate = gate.display(),
            done = done.display(),
        );
        fs::write(dir.join("podman"), script).unwrap();
        fs::set_permissions(dir.join("podman"), fs::Permissions::from_mode(0o755)).unwrap();
        let path = format!("{}:{}", dir.display(), std::env::var("PATH").unwrap());
        let [conf, storage] = podman.env();
        let env = [(conf.0, conf.1.as_str()), (storage.0, &storage.1), ("PATH", &path)];
        let bridge = Bridge::start_with(home, &env);
        let quick = json!({"restart_delays_ms": [100], "restart_attempts": "unlimited"});
        add(&bridge, home, "s", &json!({"supervision": quick}));
        Self { bridge, gate, done }
    }

    /// Has the server end, whose call fails; gives a call that waits for the next start, which is due.
    fn crash(&self) -> Pending {
        let gone = self.bridge.tool("s", "exit", &json!({"code": 3})).unwrap_err();
        assert_eq!(gone.details["cause"], "exited", "{gone:?}");
        let call = json!({"server_id": "s", "tool_name": "version", "arguments": {}});
        let next = self.bridge.request("mcp_call_tool", &call);
        wait_until("its removal to begin", LIMIT, || self.done().contains(&"rm".into()));
        wait_until("its next start to be due", LIMIT, || self.bridge.server("s")["state"] == "starting");
        next
    }

    /// Lets it remove what it shall.
    fn open(&self) {
        // Who writes waits until the removal reads.
        let opened = fs::OpenOptions::new().write(true).open(&self.gate).unwrap();
        fs::remove_file(&self.gate).unwrap();
        drop(opened);
    }

    fn done(&self) -> Vec<String> {
        let done = fs::read_to_string(&self.done).unwrap();
        let of_interest = |done: &&str| ["run", "rm", "removed"].contains(done);
        done.lines().filter(of_interest).map(ToOwned::to_owned).collect()
    }
}

#[test]
fn a_call_does_not_wait_for_the_removal_of_its_container_but_the_next_one_does() {
    let home = Home::new();
    let podman = Podman::new(&home);
    let _ = podman.image(IMAGE, "one");
    let slow = SlowPodman::start(&home, &podman);
    let next = slow.crash();
    slow.open();
    assert_eq!(next.wait(LIMIT).unwrap()["result"]["content"][0]["text"], "one");
    assert_eq!(slow.done(), ["run", "rm", "removed", "run"]);
    assert_eq!(slow.bridge.server("s")["restarts"], 1);
    assert_eq!(podman.containers().len(), 1);
}

#[test]
fn who_stops_it_meanwhile_waits_for_the_removal_and_for_no_later_start() {
    let home = Home::new();
    let podman = Podman::new(&home);
    let _ = podman.image(IMAGE, "one");
    let slow = SlowPodman::start(&home, &podman);
    drop(slow.crash());
    let of = json!({"server_id": "s"});
    let stop = slow.bridge.request("mcp_disconnect", &of);
    wait_until("its stop", LIMIT, || slow.bridge.server("s")["state"] == "stopped");
    let start = slow.bridge.request("mcp_connect", &of);
    wait_until("its start", LIMIT, || slow.bridge.server("s")["state"] == "starting");
    slow.open();
    stop.wait(LIMIT).unwrap();
    start.wait(LIMIT).unwrap();
    assert_eq!(slow.done(), ["run", "rm", "removed", "run"]);
}

#[test]
fn a_runner_that_does_not_clear_up_does_not_keep_the_next_start_for_ever() {
    let home = Home::new();
    let podman = Podman::new(&home);
    let _ = podman.image(IMAGE, "one");
    let slow = SlowPodman::start(&home, &podman);
    let runner = Process::named_by(&slow.bridge.server("s")["runner_pid"]);
    drop(slow.crash());
    slow.bridge.watch();
    runner.signal(Signal::SIGSTOP);
    fs::remove_file(&slow.gate).unwrap();
    let _ = slow.bridge.wait_for_state("s", "running");
    assert_gone(&[runner], DOWN_LIMIT);
    assert_eq!(podman.containers().len(), 1);
}

#[test]
fn the_next_bridge_removes_what_a_killed_bridge_and_runner_left() {
    let home = Home::new();
    let podman = Podman::new(&home);
    let _ = podman.image(IMAGE, "one");
    let mut bridge = start(&home, &podman);
    add(&bridge, &home, "s", &json!({"args": ["--deaf"]}));
    let runner = Process::named_by(&bridge.server("s")["runner_pid"]);
    for process in [runner, bridge.process()] {
        process.signal(Signal::SIGSTOP);
    }
    runner.signal(Signal::SIGKILL);
    bridge.kill();
    assert_gone(&[runner], DOWN_LIMIT);
    let left = podman.containers();
    assert_eq!(left.len(), 1, "nobody is there to end it");

    // Nobody starts the server.
    let bridge = start(&home, &podman);
    wait_until("the container to be removed", DOWN_LIMIT, || podman.containers().is_empty());
    assert_eq!(bridge.server("s")["state"], "stopped");
    bridge.connect("s");
    assert!(!left.contains(&podman.containers()[0]));
}

#[test]
fn what_cannot_be_is_told_in_a_sentence() {
    let home = Home::new();
    let podman = Podman::new(&home);
    let _ = podman.image(IMAGE, "one");
    {
        let bridge = start(&home, &podman);
        let said = |image: &str, more: Value| refused(&bridge, &definition(&home, "s", image, &more)).message;
        for image in ["--privileged", "dir:x", "A/B", "a b", ""] {
            assert!(said(image, json!({})).contains("image"), "{image}");
        }
        assert!(said(IMAGE, json!({"command": "x"})).contains("command"));
        assert!(said(IMAGE, json!({"engine": "runc"})).contains("podman or docker"));
        assert!(said(IMAGE, json!({"cwd": "/x"})).contains("cwd"));
        assert!(said(IMAGE, json!({"env": {"LD_PRELOAD": "/x"}})).contains("LD_PRELOAD"));
        let hosts = json!({"sandbox": {"network": "hosts", "hosts": ["example.com"]}});
        assert!(said(IMAGE, hosts).contains("cannot limit a container to some hosts"));
        assert!(said(IMAGE, json!({"sandbox": {"read": [home.path()]}})).contains("never granted"));
        let neither = bridge.call("add_server", &json!({"server_id": "s"})).unwrap_err();
        assert!(neither.message.contains("command"), "{neither:?}");

        bridge.call("add_server", &definition(&home, "s", "127.0.0.1:1/no/such:1", &json!({}))).unwrap();
        let error = bridge.request("mcp_connect", &json!({"server_id": "s"})).wait(LIMIT).unwrap_err();
        assert_eq!(error.details["cause"], "install_failed", "{error:?}");
        assert!(error.message.contains("podman could not pull it"), "{error:?}");
        assert!(!bridge.logs("s").is_empty(), "the engine's words are in the log");
    }
    // Docker without its daemon, or no docker at all.
    let nowhere = format!("unix://{}", home.scratch("no-daemon").display());
    let bridge = Bridge::start_with(&home, &[("DOCKER_HOST", &nowhere)]);
    bridge.call("add_server", &definition(&home, "s", IMAGE, &json!({"engine": "docker"}))).unwrap();
    let error = bridge.request("mcp_connect", &json!({"server_id": "s"})).wait(LIMIT).unwrap_err();
    assert_eq!(error.details["cause"], "install_failed", "{error:?}");
    assert!(error.message.contains("docker"), "{error:?}");
}

#[test]
fn an_image_is_added_and_removed_on_the_command_line() {
    let home = Home::new();
    let podman = Podman::new(&home);
    let id = podman.image(IMAGE, "one");
    let _bridge = start(&home, &podman);
    let mark = format!("{TEST_ID}={}", home.id());
    let add = ["add", "s", "--image", IMAGE, "--engine", "podman", "--env", &mark, "--", "stdio"];
    let (out, err, code) = home.harbor(&add);
    assert_eq!(
        (out.as_str(), code),
        ("added s\ns is running: 8 tools (`harbor tools s`)\n", Some(0)),
        "{err}{}",
        home.harbor(&["logs", "s"]).0
    );
    assert!(err.contains(&format!("s: podman runs {IMAGE}, locked to ")), "{err}");
    assert_eq!(home.done(&["call", "s/version"]).trim(), "one");
    let (_, err, _) = home.harbor(&["remove", "s"]);
    assert!(err.contains(&format!("`podman image rm {id}` deletes it")), "{err}");
    let (said, _) = home.refused(&["add", "s", "--engine", "podman", "--", "x"]);
    assert!(said.contains("were not provided: --image <IMAGE>"), "{said}");
}
