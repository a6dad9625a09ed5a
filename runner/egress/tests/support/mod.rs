//! The real proxy with a socket of the test's own, real clients and real targets. Everything ends with its test.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "test support")]
#![allow(dead_code, reason = "each test program uses a part")]

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use harbor_ipc_proto::BUILD;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

/// After so long a test has failed.
pub const PATIENCE: Duration = Duration::from_secs(20);

/// A proxy that is running; killed when dropped.
pub struct Proxy {
    pub child: Child,
    pub address: SocketAddr,
}

/// The program, with a fresh listening socket as its stdin.
pub fn program(program: &str) -> (Command, SocketAddr) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let mut command = Command::new(program);
    command.env_clear().stdin(OwnedFd::from(listener)).stdout(Stdio::piped()).stderr(Stdio::piped());
    (command, address)
}

impl Proxy {
    pub fn start(rules: &[&str]) -> Self {
        let (mut command, address) = program(env!("CARGO_BIN_EXE_harbor-egress"));
        let child = command.args([BUILD, &std::process::id().to_string()]).args(rules).spawn().unwrap();
        Self { child, address }
    }

    /// A proxy that allows exactly this.
    pub fn to(target: &TcpListener) -> Self {
        Self::start(&[&target.local_addr().unwrap().to_string()])
    }

    pub fn connect(&self) -> TcpStream {
        patient(TcpStream::connect(self.address).unwrap())
    }

    /// Sends a head, and hears the answer to its end.
    pub fn ask(&self, head: &str) -> String {
        let mut client = self.connect();
        client.write_all(head.as_bytes()).unwrap();
        heard(&mut client)
    }

    /// A tunnel that stands.
    pub fn tunnel(&self, target: SocketAddr) -> TcpStream {
        let mut client = self.connect();
        write!(client, "CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n\r\n").unwrap();
        assert_eq!(head(&mut client), "HTTP/1.1 200 Connection established\r\n\r\n");
        client
    }

    /// Ends it, and gives what it wrote into the log.
    pub fn end(mut self) -> String {
        kill(Pid::from_raw(self.child.id().cast_signed()), Signal::SIGTERM).unwrap();
        self.child.wait().unwrap();
        let mut log = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut log).unwrap();
        log
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A target on this machine.
pub fn target() -> (TcpListener, SocketAddr) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    (listener, address)
}

pub fn accept(target: &TcpListener) -> TcpStream {
    patient(target.accept().unwrap().0)
}

/// Whether nobody has connected.
pub fn is_alone(target: &TcpListener) -> bool {
    target.set_nonblocking(true).unwrap();
    target.accept().is_err_and(|error| error.kind() == ErrorKind::WouldBlock)
}

pub fn patient(stream: TcpStream) -> TcpStream {
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream
}

pub fn heard(stream: &mut TcpStream) -> String {
    let mut heard = String::new();
    stream.read_to_string(&mut heard).unwrap();
    heard
}

/// A head, byte by byte, so that nothing behind it is taken.
pub fn head(stream: &mut TcpStream) -> String {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte).unwrap();
        head.push(byte[0]);
    }
    String::from_utf8(head).unwrap()
}

/// Waits until the peer has ended, in whatever way.
pub fn wait_for_the_end(stream: &mut TcpStream) {
    let mut ignored = [0; 1024];
    loop {
        match stream.read(&mut ignored) {
            Ok(0) => return,
            Ok(_) => {}
            // A child of another test that ends does this to every read with a limit, though nobody handles SIGCHLD.
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) if error.kind() == ErrorKind::ConnectionReset => return,
            Err(error) => panic!("{error}"),
        }
    }
}
