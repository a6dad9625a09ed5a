//! The local socket: who may speak there, and that all clients share one bridge.

use std::fs;
use std::io::{Read as _, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

use harbor_tests::client::attach_fields;
use harbor_tests::rights::is_root;
use harbor_tests::{Bridge, Client, DOWN_LIMIT, Double, Home, LIMIT, PROMPT, Program};
use nix::sys::signal::Signal;
use serde_json::{Value, json};

fn mode(path: &std::path::Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

/// As a bridge would have left them.
fn make_directories(home: &Home) {
    fs::create_dir_all(home.run_file("")).unwrap();
    for path in [home.path(), home.run_file("")] {
        fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).unwrap();
    }
}

#[test]
fn nothing_is_answered_before_attach() {
    let home = Home::new();
    let bridge = Bridge::foreground(&home);
    for (tag, fields) in
        [("ping", json!({})), ("hello", json!({})), ("list_servers", json!({})), ("shutdown", json!({}))]
    {
        let stranger = Client::over_socket(home.dial());
        let error = stranger.call(tag, &fields).unwrap_err();
        assert_eq!(error.code, "unauthorized", "{tag}");
        assert!(stranger.wait_closed(PROMPT), "the bridge hangs up after {tag}");
    }
    let stranger = Client::over_socket(home.dial());
    stranger.send(b"no JSON");
    assert!(stranger.wait_closed(PROMPT));
    assert!(bridge.is_alive());
}

#[test]
fn a_wrong_token_is_refused() {
    let home = Home::new();
    let bridge = Bridge::foreground(&home);
    let right = attach_fields(&home);
    let token = right["token"].as_str().unwrap().to_owned();
    assert!(token.len() >= 32, "long enough that nobody guesses it");
    for wrong in [String::new(), "x".repeat(token.len()), token[1..].to_owned(), format!("{token}x")] {
        let stranger = Client::over_socket(home.dial());
        let mut fields = right.clone();
        fields["token"] = json!(wrong);
        let error = stranger.call("attach", &fields).unwrap_err();
        assert_eq!(error.code, "unauthorized");
        assert!(!error.message.contains(&token));
        assert!(stranger.wait_closed(PROMPT));
    }
    assert!(bridge.is_alive());
}

#[test]
fn the_role_is_stated_once() {
    let home = Home::new();
    let bridge = Bridge::foreground(&home);
    let client = Client::attach(&home);
    assert_eq!(client.call("attach", &attach_fields(&home)).unwrap_err().code, "ERR_PERMISSION_DENIED");
    assert!(client.is_alive() && bridge.is_alive());
    let mut fields = attach_fields(&home);
    fields["role"] = json!("emperor");
    let stranger = Client::over_socket(home.dial());
    let error = stranger.call("attach", &fields).unwrap_err();
    assert_eq!((error.code.as_str(), &error.details["field"]), ("invalid_params", &json!("role")));
}

#[test]
fn attach_says_who_the_bridge_is() {
    let home = Home::new();
    let bridge = Bridge::foreground(&home);
    let client = Client::over_socket(home.dial());
    let answer = client.call("attach", &attach_fields(&home)).unwrap();
    assert_eq!(
        (&answer["protocol"], &answer["pid"]),
        (&json!(harbor_ipc_proto::CLIENT_PROTOCOL), &json!(bridge.process().pid))
    );
    assert!(answer["build"].is_string());
}

#[test]
fn a_client_of_another_protocol_is_told_so() {
    let home = Home::new();
    let bridge = Bridge::foreground(&home);
    let mut fields = attach_fields(&home);
    fields["protocol"] = json!(harbor_ipc_proto::CLIENT_PROTOCOL - 1);
    let old = Client::over_socket(home.dial());
    assert_eq!(old.call("attach", &fields).unwrap_err().code, "version_mismatch");
    assert!(bridge.is_alive());
}

#[test]
fn only_their_user_can_reach_the_files() {
    let home = Home::new();
    let _bridge = Bridge::foreground(&home);
    for (name, wanted) in
        [("bridge.sock", 0o600), ("token", 0o600), ("bridge.lock", 0o600), (".", 0o700), ("..", 0o700)]
    {
        assert_eq!(mode(&home.run_file(name)), wanted, "{name}");
    }
    assert_eq!(mode(&home.path().join("harbor.db")), 0o600);
}

/// The user that an ordinary program of somebody else would run as.
const STRANGER: u32 = 65534;

/// Connects as somebody else, who has the token; says what came of it.
const INTRUDE: &str = "
import json, socket, struct, sys
s = socket.socket(socket.AF_UNIX); s.settimeout(10); s.connect(sys.argv[1])
body = json.dumps({'type': 'attach', 'request_id': '1', 'token': sys.argv[2], 'role': 'cli'}).encode()
try:
    s.sendall(struct.pack('<I', len(body)) + body)
    print('answered' if s.recv(1) else 'closed')
except (BrokenPipeError, ConnectionResetError):
    print('closed')
";

/// Needs root, who alone can be somebody else too.
#[test]
fn another_user_is_refused_even_with_the_token_and_rights_to_the_socket() {
    if !is_root("another_user_is_refused_even_with_the_token_and_rights_to_the_socket") {
        return;
    }
    let home = Home::new();
    let bridge = Bridge::foreground(&home);
    let token = attach_fields(&home)["token"].as_str().unwrap().to_owned();
    let open =
        |path: &std::path::Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    for path in [home.scratch("."), home.path(), home.run_file(".")] {
        open(&path, 0o755);
    }
    open(&home.run_file("bridge.sock"), 0o666);
    let intrude = |user: u32| {
        let mut command = Command::new("python3");
        command.args(["-c", INTRUDE]).arg(home.run_file("bridge.sock")).arg(&token).uid(user).gid(user);
        String::from_utf8(command.output().unwrap().stdout).unwrap()
    };
    assert_eq!(intrude(0).trim(), "answered", "whoever it is the bridge of");
    assert_eq!(intrude(STRANGER).trim(), "closed");
    // Our own program does not even try.
    let output = home.command("harbor").arg("ping").output().unwrap();
    assert!(output.status.success());
    open(&home.run_file("."), 0o777);
    let output = home.command("harbor").arg("ping").output().unwrap();
    assert!(
        !output.status.success()
            && String::from_utf8_lossy(&output.stderr).contains("another user can change it")
    );
    assert!(bridge.is_alive());
}

/// A socket of another user at the place of ours does not hear our token.
#[test]
fn no_token_is_said_to_another_users_socket() {
    if !is_root("no_token_is_said_to_another_users_socket") {
        return;
    }
    let home = Home::new();
    make_directories(&home);
    fs::write(home.run_file("token"), "secret").unwrap();
    let (socket, elsewhere) = (home.run_file("bridge.sock"), home.scratch("elsewhere"));
    let refused = |what: &str| {
        let output = home.command("harbor").arg("ping").output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && said.contains("another user"), "{what}: {said}");
    };
    let listener = UnixListener::bind(&socket).unwrap();
    listener.set_nonblocking(true).unwrap();
    std::os::unix::fs::chown(&socket, Some(STRANGER), Some(STRANGER)).unwrap();
    refused("its owner");
    fs::remove_file(&socket).unwrap();
    std::os::unix::fs::symlink(&elsewhere, &socket).unwrap();
    refused("a link");
    assert!(listener.accept().is_err(), "nobody came");
    // The file is made ours, and the listener is not.
    fs::remove_file(&socket).unwrap();
    let script = "import os, socket, sys\nos.setgroups([])\ns = socket.socket(socket.AF_UNIX); s.bind(sys.argv[1])\n\
        os.setresuid(65534, 65534, 65534); s.listen(); print('up', flush=True)\n\
        c = s.accept()[0]; print(c.recv(9), flush=True)";
    let mut command = Command::new("python3");
    let mut other = Program::start(command.args(["-c", script]).arg(&socket));
    let (_stdin, mut stdout) = other.pipes();
    let mut said = [0; 3];
    stdout.read_exact(&mut said).unwrap();
    refused("the listener");
    let mut rest = String::new();
    stdout.read_to_string(&mut rest).unwrap();
    assert_eq!(rest.trim(), "b''", "it heard nothing");
}

/// What a link at the place of one of our files leads to is neither used nor changed.
#[test]
fn links_in_the_way_are_not_followed() {
    let refused = |home: &Home, name: &str| {
        let mut program = Program::start(home.command("harbor-bridge").arg("serve"));
        let status = program.wait(DOWN_LIMIT).expect("it does not stay");
        let said = || program.stderr();
        harbor_tests::wait_until("the error on stderr", PROMPT, || said().contains(name));
        assert!(!status.success());
    };
    let home = Home::new();
    let target = home.scratch("target");
    fs::create_dir_all(home.path()).unwrap();
    fs::set_permissions(home.path(), fs::Permissions::from_mode(0o700)).unwrap();
    fs::create_dir(&target).unwrap();
    fs::set_permissions(&target, fs::Permissions::from_mode(0o755)).unwrap();
    std::os::unix::fs::symlink(&target, home.path().join("run")).unwrap();
    refused(&home, "run");
    assert_eq!((mode(&target), fs::read_dir(&target).unwrap().count()), (0o755, 0));
    let output = home.command("harbor").args(["status"]).output().unwrap();
    assert!(!output.status.success(), "nor does a client follow it");
    fs::remove_file(home.path().join("run")).unwrap();

    fs::create_dir(home.path().join("run")).unwrap();
    let file = home.scratch("file");
    fs::write(&file, "precious").unwrap();
    std::os::unix::fs::symlink(&file, home.run_file("bridge.lock")).unwrap();
    refused(&home, "bridge.lock");
    fs::remove_file(home.run_file("bridge.lock")).unwrap();
    // Token and socket are made anew, in the place of whatever is there.
    for name in ["token", "bridge.sock"] {
        std::os::unix::fs::symlink(&file, home.run_file(name)).unwrap();
    }
    let bridge = Bridge::foreground(&home);
    assert!(bridge.is_alive());
    for name in ["token", "bridge.sock"] {
        assert!(!home.run_file(name).is_symlink(), "{name}");
    }
    assert_eq!((fs::read_to_string(&file).unwrap().as_str(), mode(&file) & 0o600), ("precious", 0o600));
}

/// Root can give the directory away, which is how it looks when somebody else was there first.
#[test]
fn a_directory_of_another_user_is_refused() {
    if !is_root("a_directory_of_another_user_is_refused") {
        return;
    }
    for whose in [".", ".."] {
        let home = Home::new();
        make_directories(&home);
        std::os::unix::fs::chown(home.run_file(whose), Some(STRANGER), Some(STRANGER)).unwrap();
        let mut program = Program::start(home.command("harbor-bridge").arg("serve"));
        assert!(!program.wait(DOWN_LIMIT).expect("it does not stay").success(), "{whose}");
        assert!(!home.run_file("token").exists());
    }
}

#[test]
fn two_clients_share_a_server() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    let double = Double::sound(&home);
    let connected = bridge.add_and_connect("s", &double);
    let other = Client::attach(&home);
    assert_eq!(other.connect("s")["pid"], connected["pid"]);
    // Ids are each client's own.
    let call = json!({"server_id": "s", "tool_name": "sleep", "arguments": {"ms": 300}});
    let calls =
        [bridge.request_as("same", "mcp_call_tool", &call), other.request_as("same", "mcp_call_tool", &call)];
    for call in calls {
        assert_eq!(call.wait(LIMIT).unwrap().content_text(), "slept");
    }
    assert_eq!(double.journal().count("start"), 1);
    other.close();
    assert_eq!(bridge.tool_text("s", "sleep", &json!({"ms": 1})), "slept");
    other.assert_sound();
}

#[test]
fn a_client_that_does_not_read_delays_nobody_else() {
    let home = Home::new();
    let bridge = Bridge::foreground(&home);
    let double = Double::sound(&home);
    bridge.add_and_connect("s", &double);
    let mut deaf = home.dial();
    let mut send = |frame: Value| {
        let body = frame.to_string();
        let mut bytes = u32::try_from(body.len()).unwrap().to_le_bytes().to_vec();
        bytes.extend_from_slice(body.as_bytes());
        deaf.write_all(&bytes).unwrap();
    };
    let mut attach = attach_fields(&home);
    attach["type"] = json!("attach");
    attach["request_id"] = json!("a");
    send(attach);
    for n in 0..40 {
        send(
            json!({"type": "mcp_call_tool", "request_id": n.to_string(), "server_id": "s", "tool_name": "big",
            "arguments": {"bytes": 500_000}}),
        );
    }
    harbor_tests::wait_until("its calls to be made", LIMIT, || double.journal().count("call big") > 10);
    for _ in 0..20 {
        let text = bridge.send_tool("s", "big", &json!({"bytes": 100_000})).wait(PROMPT).unwrap();
        assert_eq!(text.content_text().len(), 100_000);
    }
}

#[test]
fn a_second_bridge_ends_with_an_error_that_names_the_first() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    assert!(bridge.is_alive());
    for args in [&["serve"][..], &["serve", "--stdio"]] {
        let mut second = Program::start(home.command("harbor-bridge").args(args));
        let status = second.wait(DOWN_LIMIT).expect("it does not stay");
        assert!(!status.success(), "{args:?}");
        let pid = bridge.process().pid.to_string();
        harbor_tests::wait_until("the error on stderr", PROMPT, || second.stderr().contains(&pid));
    }
    assert!(bridge.is_alive());
    assert_eq!(home.locked_by(), Some(bridge.process().pid));
}

#[test]
fn a_socket_that_a_killed_bridge_left_is_taken_over() {
    let home = Home::new();
    let mut first = Bridge::foreground(&home);
    first.add_and_connect("s", &Double::sound(&home));
    let token = attach_fields(&home)["token"].clone();
    first.signal(Signal::SIGKILL);
    assert!(first.wait(DOWN_LIMIT).is_some());
    assert!(
        home.run_file("bridge.sock").exists() && home.run_file("bridge.lock").exists(),
        "nobody tidied up"
    );
    let second = Bridge::start(&home);
    assert!(second.is_alive());
    assert_ne!(attach_fields(&home)["token"], token, "each start has a token of its own");
    assert!(Client::attach(&home).is_alive());
    assert_eq!(home.locked_by(), Some(second.process().pid));
}

#[test]
fn definitions_survive_a_restart() {
    let home = Home::new();
    let definition = json!({"server_id": "kept", "command": "/bin/kept", "args": ["a b", "é"], "env": {"SECRET": "hush"},
        "cwd": "/tmp", "label": "The kept one"});
    {
        let bridge = Bridge::start(&home);
        let added = bridge.call("add_server", &definition).unwrap();
        assert_eq!((&added["replaced"], &added["server"]["server_id"]), (&json!(false), &json!("kept")));
        bridge.call("add_server", &json!({"server_id": "gone", "command": "/bin/gone"})).unwrap();
        bridge.call("remove_server", &json!({"server_id": "gone"})).unwrap();
    }
    let bridge = Bridge::start(&home);
    let listed = bridge.call("list_servers", &json!({})).unwrap();
    let servers = listed["servers"].as_array().unwrap();
    assert_eq!(servers.len(), 1, "{servers:?}");
    for (field, wanted) in [
        ("server_id", json!("kept")),
        ("command", json!("/bin/kept")),
        ("args", json!(["a b", "é"])),
        ("env_names", json!(["SECRET"])),
        ("cwd", json!("/tmp")),
        ("label", json!("The kept one")),
        ("state", json!("stopped")),
    ] {
        assert_eq!(servers[0][field], wanted, "{field}");
    }
    assert!(!listed.text.contains("hush"), "values are never shown");
}

#[test]
fn a_server_gets_its_own_environment_and_not_the_bridges() {
    let home = Home::new();
    let bridge = Bridge::start_with(&home, &[("OF_THE_BRIDGE", "secret")]);
    let mut definition = Double::sound(&home).definition("s");
    definition["env"]["OWN"] = json!("mine");
    bridge.call("add_server", &definition).unwrap();
    bridge.connect("s");
    let env: Value = serde_json::from_str(&bridge.tool_text("s", "env", &json!({}))).unwrap();
    assert_eq!(env["OWN"], "mine");
    assert!(env["PATH"].is_string());
    for name in ["OF_THE_BRIDGE", "HARBOR_HOME", "HARBOR_LOG"] {
        assert_eq!(env[name], Value::Null, "{name}");
    }
}

/// What a caller has open is none of the business of the bridge that it starts, nor of the servers.
#[test]
fn a_bridge_that_a_command_starts_inherits_no_open_files() {
    let home = Home::new();
    let secret = home.scratch("secret");
    std::fs::write(&secret, "s").unwrap();
    let script = format!("exec 7<'{}'; exec \"$0\" ping", secret.display());
    let status = Command::new("sh")
        .arg("-c")
        .arg(script)
        .arg(harbor_tests::programs::product("harbor"))
        .envs(home.command("harbor").get_envs().filter_map(|(name, value)| Some((name, value?))))
        .stdout(Stdio::null())
        .status();
    assert!(status.unwrap().success());
    let bridge = home.locked_by().unwrap();
    let open = std::fs::read_dir(format!("/proc/{bridge}/fd")).unwrap();
    let targets: Vec<_> = open.filter_map(|entry| std::fs::read_link(entry.unwrap().path()).ok()).collect();
    assert!(!targets.is_empty() && !targets.contains(&secret), "{targets:?}");
    harbor_tests::bridge::shut_down_detached(&home);
}

/// Whatever tidies up temporary directories must not cut a person off from their bridge.
#[test]
fn what_lets_programs_in_is_made_anew_when_it_is_gone() {
    let home = Home::new();
    let mut bridge = Bridge::foreground(&home);
    let pid = bridge.process().pid.to_string();
    let remove = |name: &str| fs::remove_file(home.run_file(name)).unwrap();
    for names in [&["bridge.sock"][..], &["token"], &["token", "bridge.sock"]] {
        names.iter().for_each(|name| remove(name));
        // It is no bridge of its own that answers.
        assert!(home.done(&["status", "--json"]).contains(&format!("\"pid\":{pid},")), "{names:?}");
        let modes = [mode(&home.run_file("token")), mode(&home.run_file("bridge.sock"))];
        assert_eq!(modes.map(|mode| mode & 0o777), [0o600; 2]);
    }
    fs::remove_dir_all(home.run_file("")).unwrap();
    harbor_tests::wait_until("all to be there again", LIMIT, || home.run_file("bridge.sock").exists());
    assert_eq!(home.locked_by(), Some(bridge.process().pid));
    assert!(bridge.is_alive(), "who was connected still is");
    bridge.signal(Signal::SIGTERM);
    assert!(bridge.wait(DOWN_LIMIT).unwrap().success());
    assert!(!home.run_file("token").exists() && !home.run_file("bridge.sock").exists());
}

#[test]
fn a_bridge_that_cannot_be_asked_is_ended_by_its_lock() {
    let home = Home::new();
    let mut bridge = Bridge::foreground(&home);
    bridge.signal(Signal::SIGSTOP);
    fs::remove_file(home.run_file("bridge.sock")).unwrap();
    let pid = bridge.process().pid;
    let mut shutdown = Program::start(home.command("harbor").arg("shutdown"));
    let pending = || u64::from_str_radix(&bridge.process().status("ShdPnd"), 16).unwrap();
    let sigterm = 1 << (Signal::SIGTERM as i32 - 1);
    harbor_tests::wait_until("SIGTERM to be sent", LIMIT, || pending() & sigterm != 0);
    bridge.signal(Signal::SIGCONT);
    assert!(shutdown.wait(LIMIT).unwrap().success() && bridge.wait(DOWN_LIMIT).unwrap().success());
    let (_, mut stdout) = shutdown.pipes();
    let mut said = String::new();
    stdout.read_to_string(&mut said).unwrap();
    assert_eq!(said, format!("the bridge (process {pid}) was told to end, and has\n"));
}

/// Whoever may write a directory above may move what is there away.
#[test]
fn nothing_begins_where_others_could_put_something_in_its_place() {
    let place = Home::new();
    let open = place.scratch("open");
    fs::create_dir_all(open.join("run")).unwrap();
    fs::set_permissions(&open, fs::Permissions::from_mode(0o777)).unwrap();
    let refused = |home: &Path, runtime: &Path| {
        let mut bridge = place.command("harbor-bridge");
        let output =
            bridge.arg("serve").env("HARBOR_HOME", home).env("XDG_RUNTIME_DIR", runtime).output().unwrap();
        assert!(!output.status.success());
        String::from_utf8(output.stderr).unwrap()
    };
    let why = format!("use {}: others may write to it (its mode is 777)", open.display());
    let said = refused(&open.join("h"), &place.scratch("run"));
    assert!(said.contains(&why) && said.contains("set HARBOR_HOME to"), "{said}");
    assert!(!open.join("h").exists());
    // A home whose path is too long for a socket has it elsewhere.
    let said = refused(&place.scratch(&"h".repeat(100)), &open.join("run"));
    assert!(said.contains(&why) && said.contains("set XDG_RUNTIME_DIR to"), "{said}");
}
