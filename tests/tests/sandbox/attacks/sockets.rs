//! Ways to somebody who does more than the server may: sockets of daemons, and what points to them.

use serde_json::json;

use super::Server::Socket;
use super::{Attack, Call};
use crate::rows::Guard::{self, Filter, Landlock, Launcher, Mounts, OnlyRoot, Rights};
use crate::scene::Scene;

/// They lead to daemons, or are secrets themselves.
pub const VARIABLES: &[&str] =
    &["DBUS_SESSION_BUS_ADDRESS", "SSH_AUTH_SOCK", "DISPLAY", "AWS_SECRET_ACCESS_KEY"];

/// Those with a path.
const BY_PATH: &[Guard] = &[Filter, Mounts];

/// Those with a name only.
const BY_NAME: &[Guard] = &[Filter, Landlock(6)];

const KINDS: &[Guard] = &[Filter];

const KINDS_OF_ROOT: &[Guard] = &[Filter, Rights, OnlyRoot];

pub const ATTACKS: &[Attack] = &[
    Attack::new("connect to the bridge's socket", |s| ("connect_unix", json!({"path": s.socket()})), BY_PATH),
    Attack::new("connect to the session's D-Bus", |s| stream(s, "bus"), BY_PATH),
    Attack::new("start a service by systemd-run: its own socket", |s| stream(s, "systemd/private"), BY_PATH),
    Attack::new("connect to docker.sock", |s| stream(s, "docker.sock"), BY_PATH),
    Attack::new(
        "connect to an ssh-agent in /tmp",
        |s| ("connect_unix", json!({"path": s.machine_tmp("agent.1"), "answer": s.secret})),
        BY_PATH,
    ),
    Attack::new(
        "connect to X11's abstract socket",
        |s| ("connect_unix", json!({"path": s.abstract_name("x11"), "answer": s.secret})),
        BY_NAME,
    ),
    Attack::new(
        "connect a datagram socket to a daemon's datagram socket",
        |s| ("connect_unix", json!({"path": s.run("notify"), "kind": "datagram"})),
        BY_PATH,
    ),
    Attack::new(
        "connect one end of a pair of datagram sockets to a daemon's",
        |s| ("connect_pair", json!({"path": s.run("notify")})),
        BY_PATH,
    ),
    Attack::new(
        "send a datagram to a daemon from one end of a pair",
        |s| ("send_from_pair", json!({"path": s.run("notify")})),
        BY_PATH,
    ),
    Attack::new(
        "connect one end of a pair to an abstract datagram socket",
        |s| ("connect_pair", json!({"path": s.abstract_name("notify")})),
        BY_NAME,
    ),
    Attack::new(
        "send a datagram to an abstract socket from one end of a pair",
        |s| ("send_from_pair", json!({"path": s.abstract_name("notify")})),
        BY_NAME,
    ),
    Attack::new(
        "granted one socket: connect to the bridge's",
        |s| ("connect_unix", json!({"path": s.socket()})),
        &[Mounts],
    )
    .by(Socket),
    Attack::new("granted one socket: connect to docker.sock", |s| stream(s, "docker.sock"), &[Mounts])
        .by(Socket),
    Attack::new(
        "granted one socket: connect to an abstract one",
        |s| ("connect_unix", json!({"path": s.abstract_name("x11"), "answer": s.secret})),
        &[Landlock(6)],
    )
    .by(Socket),
    Attack::new(
        "granted one socket: listen on one of its own",
        |s| ("listen_unix", json!({"own": s.data(Socket)})),
        KINDS,
    )
    .by(Socket),
    Attack::new("listen on a Unix socket", |s| ("listen_unix", json!({"own": s.own()})), KINDS),
    Attack::new("find the session's D-Bus in its environment", |_| variable(0), &[Launcher]),
    Attack::new("find the ssh-agent in its environment", |_| variable(1), &[Launcher]),
    Attack::new("find the display in its environment", |_| variable(2), &[Launcher]),
    Attack::new("find a secret of the person in its environment", |_| variable(3), &[Launcher]),
    Attack::new("make a packet socket", |_| socket("AF_PACKET", "SOCK_RAW", 0), KINDS_OF_ROOT),
    Attack::new("make a raw socket", |_| socket("AF_INET", "SOCK_RAW", 1), KINDS_OF_ROOT),
    Attack::new("make a socket to the hypervisor (vsock)", |_| socket("AF_VSOCK", "SOCK_STREAM", 0), KINDS),
    Attack::new("make a socket to the kernel's ciphers", |_| socket("AF_ALG", "SOCK_SEQPACKET", 0), KINDS),
];

fn stream(s: &Scene, name: &str) -> Call {
    ("connect_unix", json!({"path": s.run(name), "answer": s.secret}))
}

fn variable(number: usize) -> Call {
    ("read_variable", json!({"name": VARIABLES[number]}))
}

fn socket(family: &str, kind: &str, protocol: u32) -> Call {
    ("make_socket", json!({"family": family, "kind": kind, "protocol": protocol}))
}
