//! Daemons of the machine and of the person, as far as an attack needs them: they answer with the secret.
//!
//! Each is a thread that lasts as long as the test's process. Must never be asked for anything but that answer.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, TcpListener, UdpSocket};
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixListener};
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

/// At a path.
pub fn stream(path: &Path, answer: &str) {
    answer_on(UnixListener::bind(path).unwrap(), answer);
}

/// Without one.
pub fn abstract_stream(name: &str, answer: &str) {
    let address = SocketAddr::from_abstract_name(name).unwrap();
    answer_on(UnixListener::bind_addr(&address).unwrap(), answer);
}

fn answer_on(listener: UnixListener, answer: &str) {
    let answer = answer.to_owned();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let mut line = String::new();
            let _ = BufReader::new(&stream).read_line(&mut line);
            let _ = (&stream).write_all(answer.as_bytes());
        }
    });
}

/// For datagrams, which it swallows.
pub fn datagrams(path: &Path) {
    swallow(UnixDatagram::bind(path).unwrap());
}

/// Without a path.
pub fn abstract_datagrams(name: &str) {
    swallow(UnixDatagram::bind_addr(&SocketAddr::from_abstract_name(name).unwrap()).unwrap());
}

fn swallow(socket: UnixDatagram) {
    thread::spawn(move || while socket.recv(&mut [0; 64]).is_ok() {});
}

/// On all addresses of this machine, IPv4 and IPv6: its port.
pub fn tcp(answer: &str) -> u16 {
    let listener = TcpListener::bind((Ipv6Addr::UNSPECIFIED, 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let answer = format!("HTTP/1.0 200 OK\r\nConnection: close\r\n\r\n{answer}");
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let mut reader = BufReader::new(&stream);
            let mut line = String::new();
            while reader.read_line(&mut line).is_ok_and(|length| length > 2) {
                line.clear();
            }
            let _ = (&stream).write_all(answer.as_bytes());
        }
    });
    port
}

/// On all IPv4 addresses of this machine: its port.
pub fn udp(answer: &str) -> u16 {
    let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).unwrap();
    let port = socket.local_addr().unwrap().port();
    let answer = answer.to_owned();
    thread::spawn(move || {
        while let Ok((_, from)) = socket.recv_from(&mut [0; 64]) {
            let _ = socket.send_to(answer.as_bytes(), from);
        }
    });
    port
}

/// An address of this machine that is not its loopback's; the loopback's where it has no other.
pub fn address() -> IpAddr {
    let found = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).and_then(|socket| {
        // Nothing is sent: the kernel only looks for the way.
        socket.connect((Ipv4Addr::new(192, 0, 2, 1), 9))?;
        Ok(socket.local_addr()?.ip())
    });
    found.unwrap_or(IpAddr::V4(Ipv4Addr::LOCALHOST))
}

/// A port that nobody has now, neither for connections nor for datagrams, and that the kernel gives to nobody who names none;
/// another one each time.
pub fn free_port() -> u16 {
    static GIVEN: AtomicU32 = AtomicU32::new(0);
    let first = (std::process::id() + 97 * GIVEN.fetch_add(1, Ordering::Relaxed)) % 8_000;
    let is_free = |port: &u16| {
        let place = (Ipv4Addr::UNSPECIFIED, *port);
        TcpListener::bind(place).is_ok() && UdpSocket::bind(place).is_ok()
    };
    let ports = (0..8_000).map(|n| 12_000 + (first + n) % 8_000);
    ports.filter_map(|port| u16::try_from(port).ok()).find(is_free).unwrap()
}
