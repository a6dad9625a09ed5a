//! Under a service manager: what systemd is told, and logs for programs.

use std::fs;
use std::io::ErrorKind;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixStream};
use std::time::Duration;

use harbor_tests::bridge::shut_down_detached;
use harbor_tests::processes::assert_gone;
use harbor_tests::{Bridge, DOWN_LIMIT, Double, Home, LIMIT, Process, said, wait_until};
use nix::sys::signal::Signal;
use serde_json::{Value, json};

/// Plays systemd.
struct Manager(UnixDatagram);

impl Manager {
    fn at(home: &Home) -> (Self, String) {
        let path = home.scratch("notify");
        let socket = UnixDatagram::bind(&path).unwrap();
        socket.set_read_timeout(Some(LIMIT)).unwrap();
        (Self(socket), path.to_str().unwrap().to_owned())
    }

    fn next(&self) -> String {
        self.hear().expect("a datagram within the limit")
    }

    /// A read with a limit is interrupted by every child that ends, though nobody handles its signal.
    fn hear(&self) -> std::io::Result<String> {
        let mut bytes = [0; 4096];
        loop {
            match self.0.recv(&mut bytes) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                heard => return heard.map(|n| String::from_utf8(bytes[..n].to_vec()).unwrap()),
            }
        }
    }

    fn wait_for(&self, line: &str) -> String {
        loop {
            let told = self.next();
            if told.lines().any(|one| one == line) {
                return told;
            }
        }
    }

    /// Takes what is there.
    fn forget(&self) {
        self.0.set_nonblocking(true).unwrap();
        while self.0.recv(&mut [0; 4096]).is_ok() {}
        self.0.set_nonblocking(false).unwrap();
    }

    fn hears_nothing_for(&self, time: Duration) {
        self.0.set_read_timeout(Some(time)).unwrap();
        assert!(self.hear().is_err_and(|error| error.kind() == ErrorKind::WouldBlock));
        self.0.set_read_timeout(Some(LIMIT)).unwrap();
    }
}

#[test]
fn systemd_hears_of_readiness_life_and_the_end() {
    let home = Home::new();
    let (manager, socket) = Manager::at(&home);
    let mut bridge = Bridge::start_with(&home, &[("NOTIFY_SOCKET", &socket), ("WATCHDOG_USEC", "200000")]);
    assert_eq!(manager.next(), "READY=1\nSTATUS=serving", "the first thing");
    let _ = UnixStream::connect(home.run_file("bridge.sock")).expect("the socket is there by then");
    for _ in 0..3 {
        assert_eq!(manager.next(), "WATCHDOG=1");
    }

    bridge.signal(Signal::SIGSTOP);
    let process = bridge.process();
    wait_until("it to be stopped", LIMIT, || process.status("State").starts_with('T'));
    manager.forget();
    manager.hears_nothing_for(Duration::from_secs(1));
    bridge.signal(Signal::SIGCONT);
    manager.wait_for("WATCHDOG=1");

    bridge.signal(Signal::SIGTERM);
    assert_eq!(manager.wait_for("STOPPING=1"), "STOPPING=1\nSTATUS=ending: SIGTERM");
    assert!(bridge.wait(LIMIT).expect("it ends").success());
}

#[test]
fn an_abstract_socket_is_one_too_and_another_process_watchdog_is_not_ours() {
    let home = Home::new();
    let name = format!("harbor-test-{}", home.id());
    let socket = UnixDatagram::bind_addr(&SocketAddr::from_abstract_name(&name).unwrap()).unwrap();
    socket.set_read_timeout(Some(LIMIT)).unwrap();
    let manager = Manager(socket);
    let env = [("NOTIFY_SOCKET", &*format!("@{name}")), ("WATCHDOG_USEC", "20000"), ("WATCHDOG_PID", "1")];
    let mut bridge = Bridge::start_with(&home, &env);
    assert_eq!(manager.next(), "READY=1\nSTATUS=serving");
    assert!(bridge.is_alive());
    assert!(bridge.stop().success());
    assert_eq!(manager.next(), "STOPPING=1\nSTATUS=ending: stdin has ended", "no sign of life in between");
}

#[test]
fn a_manager_that_is_not_there_is_no_reason_to_end() {
    let home = Home::new();
    let bridge = Bridge::start_with(&home, &[("NOTIFY_SOCKET", "/nonexistent/socket")]);
    assert!(bridge.is_alive());
    bridge.said("the service manager cannot be told");
}

#[test]
fn neither_servers_nor_a_bridge_that_a_client_starts_speak_to_it() {
    let home = Home::new();
    let (manager, socket) = Manager::at(&home);
    let ping = home.command("harbor").arg("ping").env("NOTIFY_SOCKET", &socket).output().unwrap();
    assert!(ping.status.success(), "{ping:?}");
    shut_down_detached(&home);
    manager.0.set_nonblocking(true).unwrap();
    assert!(manager.0.recv(&mut [0; 64]).is_err(), "that bridge is no part of the service");

    let bridge = Bridge::start_with(&home, &[("NOTIFY_SOCKET", &socket)]);
    bridge.add_and_connect("s", &Double::sound(&home));
    let own = bridge.process();
    let environments = bridge.tree().into_iter().filter(|process| process.pid != own.pid);
    let environments: Vec<_> =
        environments.filter_map(|process| fs::read(format!("/proc/{}/environ", process.pid)).ok()).collect();
    assert!(!environments.is_empty());
    for environment in environments {
        assert!(!environment.windows(13).any(|window| window == b"NOTIFY_SOCKET"));
    }
}

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap()
}

#[test]
fn each_line_of_the_log_is_an_object_where_that_is_wanted() {
    let home = Home::new();
    let env = [("HARBOR_LOG_FORMAT", "json"), ("HARBOR_LOG", "debug")];
    let mut bridge = Bridge::start_with(&home, &env);
    bridge.add_and_connect("s", &Double::sound(&home));
    assert!(bridge.tool("s", "die", &json!({})).is_err());
    let other = home.command("harbor-bridge").arg("serve").envs(env).output().unwrap();
    assert!(!other.status.success(), "there is one already");
    assert!(bridge.stop().success());
    let wrong =
        home.command("harbor-bridge").arg("serve").envs(env).env("HARBOR_LOG", "loud").output().unwrap();
    assert_eq!(wrong.status.code(), Some(2));
    let said = [bridge.stderr(), text(wrong.stderr), text(other.stderr)].concat();
    let lines: Vec<Value> =
        said.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("{line}"))).collect();
    assert!(lines.iter().all(|line| line["level"].is_string() && line["message"].is_string()), "{said}");
    assert!(
        lines.iter().all(|line| line["timestamp"].as_str().is_some_and(|time| time.ends_with('Z'))),
        "{said}"
    );
    assert!(lines.iter().any(|line| line["message"].as_str().unwrap().starts_with("HARBOR_LOG: ")), "{said}");
    assert!(lines.iter().any(|line| line["message"] == "connected" && line["server"] == "s"), "{said}");
    let last = lines.last().unwrap();
    assert!(last["level"] == "ERROR" && last["message"].as_str().unwrap().contains("another"), "{last}");
}

#[test]
fn a_format_that_is_none_is_refused() {
    let home = Home::new();
    let output = home.command("harbor-bridge").arg("serve").env("HARBOR_LOG_FORMAT", "xml").output().unwrap();
    let said = text(output.stderr);
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(said, "harbor-bridge: HARBOR_LOG_FORMAT: use text, or json (an object per line)\n");
}

/// Stands for systemctl, since there is no systemd here: it notes what it is told, and does what `DOES` says.
const SYSTEMCTL: &str = "#!/bin/sh\necho \"$*\" >>\"$TOLD\"\neval \"$DOES\"\n";

/// `harbor service` in a person's home, where `systemctl` does this; what it printed, and its code.
fn service(home: &Home, does: &str, args: &[&str]) -> (String, String, Option<i32>) {
    let bin = home.scratch("bin");
    fs::create_dir_all(&bin).unwrap();
    for (name, text) in [("systemctl", SYSTEMCTL), ("loginctl", "#!/bin/sh\necho no\n")] {
        let program = bin.join(name);
        fs::write(&program, text).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let mut command = home.command("harbor");
    command.env_remove("XDG_CONFIG_HOME").env("HOME", home.scratch("p")).env("TOLD", home.scratch("told"));
    command
        .env("PATH", format!("{}:/usr/bin:/bin", bin.display()))
        .env("DOES", does)
        .arg("service")
        .args(args);
    said(&mut command)
}

#[test]
fn the_service_is_installed_once_takes_over_from_a_bridge_that_runs_and_goes_again() {
    let home = Home::new();
    let unit = home.scratch("p").join(".config/systemd/user/harbor.service");
    let _ = home.done(&["status"]);
    let bridge = Process::of(home.locked_by().unwrap()).expect("a command has started a bridge");
    let (out, err, code) = service(&home, "[ $2 != is-active ]", &["install"]);
    assert_eq!(
        (code, out.as_str()),
        (Some(0), "Harbor now starts with your session. Undo: `harbor service uninstall`\n"),
        "{err}"
    );
    assert!(
        err.contains(
            "it ends when you log out. To keep it, and to start it at boot: `loginctl enable-linger`"
        ),
        "{err}"
    );
    let written = fs::read_to_string(&unit).unwrap();
    assert!(written.contains(&format!("Environment=\"HARBOR_HOME={}\"", home.path().display())), "{written}");
    // It would have kept the service from starting.
    assert_gone(&[bridge], DOWN_LIMIT);
    let told = fs::read_to_string(home.scratch("told")).unwrap();
    let wanted =
        ["--version", "daemon-reload", "is-active --quiet harbor.service", "enable --now harbor.service"];
    assert_eq!(told.lines().map(|line| line.trim_start_matches("--user ")).collect::<Vec<_>>(), wanted);

    assert_eq!(service(&home, ":", &["uninstall"]).2, Some(0));
    assert!(!unit.exists());
    assert_eq!(service(&home, ":", &["uninstall"]).0, "the service is not installed\n");
}

#[test]
fn what_systemd_does_not_do_is_said_and_a_unit_of_anothers_stays() {
    let home = Home::new();
    let unit = home.scratch("p").join(".config/systemd/user/harbor.service");
    let (_, err, code) = service(&home, "echo no bus >&2; exit 1", &["install"]);
    assert!(code != Some(0) && err.contains("no bus"), "{err}");
    let (_, err, _) =
        service(&home, "echo 'Failed to connect to bus: No medium found' >&2; exit 1", &["install"]);
    assert!(err.contains("log in as this user, not by su or sudo"), "{err}");
    assert!(!unit.exists());
    fs::create_dir_all(unit.parent().unwrap()).unwrap();
    fs::write(&unit, "[Unit]\n").unwrap();
    for verb in ["install", "uninstall"] {
        let (_, err, code) = service(&home, ":", &[verb]);
        assert!(code != Some(0) && err.contains("was not written by Harbor"), "{verb}: {err}");
    }
    assert_eq!(fs::read_to_string(&unit).unwrap(), "[Unit]\n");
}
