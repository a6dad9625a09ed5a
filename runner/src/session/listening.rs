//! Answers a server that wants to listen, on the machine's network.
//!
//! ```text
//!  server: bind(…), listen(…) ─► it waits ─► policy: listening ─┬─► done here, at its socket
//!                                                               └─► refused, and the bridge is told of the port
//! ```
//!
//! Owns looking at the socket and doing what is allowed. Must never have a socket listen because of what rests on the server's
//! memory or on its number of a socket: both can be others by then. Where the kernel goes on with `bind`, Landlock and the
//! answer to `listen` hold it.

use std::collections::VecDeque;
use std::io;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::rc::Rc;

use harbor_child::sandbox::calls::{Call, Calls, Wish};
use harbor_ipc_proto::link::runner::Lack;
use harbor_ipc_proto::link::sandbox::{Listening, Network, Sandbox};
use harbor_policy::sandbox::hint::Said;
use harbor_policy::sandbox::listening::{Bind, address, bind, may_listen};
use socket2::{Domain, Protocol, SockAddr, SockRef, Type};
use tokio::task::JoinHandle;

use super::Session;

/// What a server is allowed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Allowed {
    listening: Listening,
    /// Whether the kernel refuses every port.
    is_held: bool,
}

impl Allowed {
    /// None where nobody is asked.
    pub(super) fn of(sandbox: &Sandbox<'_>) -> Option<Self> {
        let is_held = sandbox.network == Network::Outgoing;
        sandbox.listening.map(|listening| Self { listening, is_held })
    }
}

/// Answers one process of a server and what it starts; nobody does once this is gone.
#[derive(Debug)]
pub(super) struct Answering(JoinHandle<()>);

impl Answering {
    /// Begins to answer the calls that are heard of here.
    ///
    /// # Errors
    /// When they cannot be waited for.
    pub(super) fn start(session: &Rc<Session>, heard: OwnedFd, allowed: Allowed) -> io::Result<Self> {
        let (calls, session) = (Calls::new(heard)?, session.clone());
        Ok(Self(tokio::task::spawn_local(async move {
            let mut ports = Ports::default();
            while let Some(call) = calls.next().await {
                if let Some(port) = answer(call, allowed, &mut ports).and_then(|port| ports.refused(port)) {
                    session.on_port_refused(port);
                }
            }
        })))
    }
}

impl Drop for Answering {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Session {
    /// It is told of as of a server's words.
    fn on_port_refused(&self, port: u16) {
        if self.listens_to_words() {
            self.tell_refusal(Said::Lacks(Lack::Listen(port)));
        }
    }
}

/// Of whoever tries one port after the other, the first are meant.
const MOST_PORTS: usize = 8;

/// The last ports that the kernel chose; of more it is not known.
const MOST_CHOSEN: usize = 256;

/// What is known of a server's ports.
#[derive(Debug, Default)]
struct Ports {
    refused: usize,
    chosen: VecDeque<u16>,
}

impl Ports {
    /// The kernel has chosen the port of this socket.
    fn choose(&mut self, socket: &SockRef<'_>) {
        if let Some(at) = socket.local_addr().ok().and_then(|at| at.as_socket()) {
            self.chosen.truncate(MOST_CHOSEN - 1);
            self.chosen.push_front(at.port());
        }
    }

    /// The port that is to be told of, where one is: 0 if the kernel chose it.
    fn refused(&mut self, port: u16) -> Option<u16> {
        self.refused = self.refused.saturating_add(1);
        let told = if self.chosen.contains(&port) { 0 } else { port };
        (self.refused <= MOST_PORTS).then_some(told)
    }
}

/// Answers a call. Gives the port of one that was refused.
fn answer(call: Call<'_>, allowed: Allowed, ports: &mut Ports) -> Option<u16> {
    let got = match call.socket() {
        Ok(got) => got,
        Err(error) => {
            call.answer(Err(error));
            return None;
        }
    };
    let refused = answer_of(call, &SockRef::from(&got), allowed, ports);
    close(got);
    refused
}

/// The server may have closed it meanwhile, and have made its last end wait (SO_LINGER): nobody else is to wait for that.
fn close(socket: OwnedFd) {
    if SockRef::from(&socket).linger().is_ok_and(|waits| waits.is_some()) {
        tokio::task::spawn_blocking(move || drop(socket));
    }
}

fn answer_of(call: Call<'_>, socket: &SockRef<'_>, allowed: Allowed, ports: &mut Ports) -> Option<u16> {
    match call.wish {
        // What the kernel does then is held by Landlock, and by the answer to listening.
        Wish::Bind if !is_tcp(socket) => call.go_on(),
        Wish::Bind => return bound(call, socket, allowed, ports),
        Wish::Listen(backlog) => {
            let at = socket.local_addr().ok().and_then(|at| at.as_socket());
            if !may(socket, at, allowed.listening) {
                call.answer(Err(io::ErrorKind::PermissionDenied.into()));
                return is_tcp(socket).then(|| at.map_or(0, |at| at.port()));
            }
            call.answer(socket.listen(backlog));
        }
    }
    None
}

fn may(socket: &SockRef<'_>, at: Option<SocketAddr>, listening: Listening) -> bool {
    match at {
        Some(at) => is_tcp(socket) && may_listen(listening.port, at),
        None => listening.unix_sockets && socket.domain().is_ok_and(|domain| domain == Domain::UNIX),
    }
}

/// Whether it is a socket for TCP, by IPv4 or IPv6.
fn is_tcp(socket: &SockRef<'_>) -> bool {
    socket.domain().is_ok_and(|domain| domain == Domain::IPV4 || domain == Domain::IPV6)
        && socket.r#type().is_ok_and(|kind| kind == Type::STREAM)
        && socket.protocol().is_ok_and(|protocol| protocol == Some(Protocol::TCP))
}

fn bound(call: Call<'_>, socket: &SockRef<'_>, allowed: Allowed, ports: &mut Ports) -> Option<u16> {
    let only_v6 =
        socket.domain().is_ok_and(|domain| domain == Domain::IPV6) && socket.only_v6().unwrap_or(true);
    let wanted = match call.address() {
        Ok(bytes) => address(&bytes),
        Err(error) => {
            call.answer(Err(error));
            return None;
        }
    };
    // What is no such address the kernel refuses itself.
    let Some(wanted) = wanted else {
        call.go_on();
        return None;
    };
    match bind(allowed.listening.port, wanted, only_v6, allowed.is_held) {
        Bind::GoOn => call.go_on(),
        Bind::To(at) => {
            let done = bind_once(socket, at);
            if done.is_ok() && at.port() == 0 {
                ports.choose(socket);
            }
            call.answer(done);
        }
        Bind::Refuse => {
            call.answer(Err(io::ErrorKind::PermissionDenied.into()));
            return Some(wanted.port());
        }
    }
    None
}

/// A signal has a server ask once more for what it has by then.
fn bind_once(socket: &SockRef<'_>, at: SocketAddr) -> io::Result<()> {
    let has = || socket.local_addr().ok().and_then(|has| has.as_socket());
    let is_it =
        |has: SocketAddr| has.ip() == at.ip() && has.port() != 0 && [has.port(), 0].contains(&at.port());
    socket
        .bind(&SockAddr::from(at))
        .or_else(|error| if has().is_some_and(is_it) { Ok(()) } else { Err(error) })
}
