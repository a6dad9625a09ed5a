//! Reaching what a profile does not name, under every name that an address has; and being reached.
//!
//! The services listen on this machine: from a network namespace of its own a server must not reach them.

use serde_json::json;

use super::Server::{Hosts, Listening, Loopback, Offline};
use super::{Attack, Call, plain};
use crate::rows::Guard::{self, Filter, Landlock, Network};
use crate::scene::Scene;

const NETWORK: &[Guard] = &[Network];

const DATAGRAMS: &[Guard] = &[Network, Filter];

const LISTENING: &[Guard] = &[Filter];

pub const ATTACKS: &[Attack] = &[
    Attack::new("bind a TCP port", |_| plain("bind_port"), &[Landlock(4), Filter]),
    Attack::new("listen on a TCP port", |_| plain("listen"), LISTENING),
    Attack::new("listen over IPv6", |_| ("listen", json!({"family": "AF_INET6"})), LISTENING),
    Attack::new("listen without binding", |_| ("listen", json!({"bound": false})), LISTENING),
    Attack::new("listen by multipath TCP, which is another protocol", |_| ("listen", json!({"protocol": MPTCP})), LISTENING),
    Attack::new("hear datagrams at a UDP port that it names", |_| plain("hear_datagram"), LISTENING),
    Attack::new(
        "have such a port by changing socket and address meanwhile",
        |_| plain("bind_datagrams_meanwhile"),
        LISTENING,
    ),
    Attack::new("steer datagrams of a UDP port that programs share", |_| plain("steer_datagrams"), LISTENING),
    Attack::new(
        "with a port granted: hear datagrams there at all addresses",
        |s| ("hear_datagram", json!({"port": s.granted_port(), "reached": "127.0.0.2"})),
        LISTENING,
    )
    .by(Listening),
    Attack::new("with a port granted: listen on another one", |_| plain("listen"), LISTENING).by(Listening),
    Attack::new(
        "with a port granted: be reached there at all addresses",
        |s| ("listen_at", json!({"port": s.granted_port(), "host": "0.0.0.0", "reached": "127.0.0.2"})),
        LISTENING,
    )
    .by(Listening),
    Attack::new(
        "with a port granted: change which socket it is meanwhile",
        |s| ("listen_meanwhile", json!({"port": s.granted_port()})),
        LISTENING,
    )
    .by(Listening),
    Attack::new(
        "with a port granted: listen with a connection's socket, elsewhere a moment later",
        |s| ("listen_by_connection", json!({"port": s.granted_port()})),
        LISTENING,
    )
    .by(Listening),
    Attack::new(
        "with a port granted: change which address it is meanwhile",
        |s| ("bind_meanwhile", json!({"port": s.granted_port()})),
        LISTENING,
    )
    .by(Listening),
    Attack::new("network `none`: reach a service on 127.0.0.1", |s| connect(s, "127.0.0.1"), NETWORK).by(Offline),
    Attack::new("network `none`: reach one on ::1", |s| connect(s, "::1"), NETWORK).by(Offline),
    Attack::new("network `none`: reach one at the machine's address", |s| connect(s, &s.address()), NETWORK).by(Offline),
    Attack::new("network `none`: reach one by the name localhost", |s| connect(s, "localhost"), NETWORK).by(Offline),
    Attack::new("network `none`: send a datagram", |s| datagram(s, "127.0.0.1"), DATAGRAMS).by(Offline),
    Attack::new(
        "network `none`: connect to an abstract Unix socket",
        |s| ("connect_unix", json!({"path": s.abstract_name("x11"), "answer": s.secret})),
        &[Network, Filter],
    )
    .by(Offline),
    Attack::new("network `loopback`: reach the machine's 127.0.0.1", |s| connect(s, "127.0.0.1"), NETWORK).by(Loopback),
    Attack::new("network `loopback`: reach the machine's address", |s| connect(s, &s.address()), NETWORK).by(Loopback),
    Attack::new("network `loopback`: send a datagram to that address", |s| datagram(s, &s.address()), DATAGRAMS).by(Loopback),
    Attack::new("network `hosts`: reach 127.0.0.1 past the proxy", |s| connect(s, "127.0.0.1"), NETWORK).by(Hosts),
    Attack::new("network `hosts`: reach the machine's address past the proxy", |s| connect(s, &s.address()), NETWORK).by(Hosts),
    Attack::new("network `hosts`: reach 127.0.0.1 as 2130706433 past the proxy", |s| number(s, "2130706433"), NETWORK).by(Hosts),
    Attack::new("network `hosts`: send a datagram past the proxy", |s| datagram(s, &s.address()), DATAGRAMS).by(Hosts),
    Attack::new("network `hosts`: reach, by the proxy, a host that is not listed", |s| tunnel(s, &s.address()), NETWORK).by(Hosts),
    Attack::new("network `hosts`: reach it as 127.0.0.1", |s| tunnel(s, "127.0.0.1"), NETWORK).by(Hosts),
    Attack::new("network `hosts`: reach it as the name localhost", |s| tunnel(s, "localhost"), NETWORK).by(Hosts),
    Attack::new("network `hosts`: reach it as 2130706433", |s| tunnel(s, "2130706433"), NETWORK).by(Hosts),
    Attack::new("network `hosts`: reach it as 0x7f.1", |s| tunnel(s, "0x7f.1"), NETWORK).by(Hosts),
    Attack::new("network `hosts`: reach it as 0177.0.0.1", |s| tunnel(s, "0177.0.0.1"), NETWORK).by(Hosts),
    Attack::new("network `hosts`: reach it as 0.0.0.0", |s| tunnel(s, "0.0.0.0"), NETWORK).by(Hosts),
    Attack::new("network `hosts`: reach it as ::1", |s| tunnel_to(s, "[::1]", "::1"), NETWORK).by(Hosts),
    Attack::new("network `hosts`: reach it mapped into IPv6", |s| tunnel_to(s, "[::ffff:127.0.0.1]", "::ffff:127.0.0.1"), NETWORK).by(Hosts),
    Attack::new(
        "network `hosts`: fetch from a host that is not listed",
        |s| ("fetch", json!({"url": format!("http://127.0.0.1:{}/", s.tcp_port()), "answer": s.secret})),
        NETWORK,
    )
    .by(Hosts),
    Attack::new(
        "network `hosts`: fetch with the address in the place of a user's name",
        |s| ("fetch", json!({"url": format!("http://allowed.example@127.0.0.1:{}/", s.tcp_port()), "answer": s.secret})),
        NETWORK,
    )
    .by(Hosts),
];

/// IPPROTO_MPTCP.
const MPTCP: u32 = 262;

fn connect(s: &Scene, host: &str) -> Call {
    ("connect", json!({"host": host, "port": s.tcp_port(), "answer": s.secret}))
}

fn number(s: &Scene, address: &str) -> Call {
    ("connect_number", json!({"address": address, "port": s.tcp_port(), "answer": s.secret}))
}

fn datagram(s: &Scene, host: &str) -> Call {
    ("send_datagram", json!({"host": host, "port": s.udp_port(), "answer": s.secret}))
}

fn tunnel(s: &Scene, host: &str) -> Call {
    tunnel_to(s, host, host)
}

/// A proxy is asked for `host`; where there is none, `address` is the same for the system.
fn tunnel_to(s: &Scene, host: &str, address: &str) -> Call {
    ("tunnel", json!({"host": host, "address": address, "port": s.tcp_port(), "answer": s.secret}))
}
