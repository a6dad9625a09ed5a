//! Answers a server that wants to be reached, on the machine's network.
//!
//! ```text
//!  server: bind(…), listen(…) ─► it waits ─► policy: listening ─┬─► done here, at its socket
//!                                                               └─► refused, and the bridge is told of the port
//! ```
//!
//! Owns looking at the socket and doing what is allowed. Must never have a socket be bound or listen because of a value in
//! the server's memory, or of its number of a socket: both can be others by then. So the kernel goes on with no `bind` that
//! could be one to a port. The exception are servers that may make Unix sockets: only the kernel can look at the paths of
//! these as the server does.

use std::collections::VecDeque;
use std::io;
use std::net::{Shutdown, SocketAddr};
use std::os::fd::OwnedFd;
use std::rc::Rc;
use std::time::Duration;

use harbor_child::sandbox::calls::{Call, Calls, SocketKind, Wish};
use harbor_ipc_proto::link::runner::Lack;
use harbor_ipc_proto::link::sandbox::{Listening, Sandbox};
use harbor_policy::sandbox::hint::Said;
use harbor_policy::sandbox::listening::{Bind, address, bind, may_listen};
use socket2::{Domain, Protocol, SockAddr, SockRef, Type};
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::Session;

/// The rules for a server's calls.
#[derive(Debug, Clone, Copy)]
pub(super) struct Allowed {
    listening: Listening,
    /// True if it can make Unix sockets, other than pairs.
    has_unix_sockets: bool,
}

impl Allowed {
    /// None where no call is answered.
    pub(super) fn of(sandbox: &Sandbox<'_>) -> Option<Self> {
        let has_unix_sockets = sandbox.filter.as_ref().is_some_and(|filter| filter.unix_sockets);
        sandbox.listening.map(|listening| Self { listening, has_unix_sockets })
    }
}

/// Answers the calls of one process of a server and of what it starts. Nobody answers them once this is dropped.
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
            let (mut known, mut pace) = (Known::default(), Pace::begin());
            while let Some(call) = calls.next().await {
                if let Some(port) = answer(call, allowed, &mut known).filter(|_| known.is_told()) {
                    session.on_port_refused(port);
                }
                pace.keep().await;
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

/// The most calls that are answered in a window; further calls wait. A server that asks without end must not
/// keep its runner from other work.
const MOST_CALLS: u32 = 256;
const WINDOW: Duration = Duration::from_millis(100);

/// The number of calls that were answered lately.
struct Pace {
    began: Instant,
    calls: u32,
}

impl Pace {
    fn begin() -> Self {
        Self { began: Instant::now(), calls: 0 }
    }

    async fn keep(&mut self) {
        if self.began.elapsed() >= WINDOW {
            *self = Self::begin();
        }
        self.calls += 1;
        if self.calls >= MOST_CALLS {
            tokio::time::sleep_until(self.began + WINDOW).await;
        }
    }
}

/// The bridge is told of this many refused ports. If a server tries one port after the other, it means the first ones.
const MOST_PORTS: usize = 8;

/// The most sockets that are bound and do not listen yet. Beyond that, the first ones may not listen.
const MOST_BOUND: usize = 1024;

/// Facts about a server's sockets.
#[derive(Debug, Default)]
struct Known {
    refused: usize,
    /// The requested port of the last bind; 0 if the kernel was to choose it.
    asked: u16,
    /// Sockets that were bound here, by SO_COOKIE. Only these keep their address whatever the server does: another can be at the
    /// granted port by a connection, and anywhere else a moment later.
    bound: VecDeque<u64>,
}

impl Known {
    fn note_bound(&mut self, socket: u64) {
        self.bound.truncate(MOST_BOUND - 1);
        self.bound.push_front(socket);
    }

    /// True if the bridge should be told of a refused port.
    fn is_told(&mut self) -> bool {
        self.refused = self.refused.saturating_add(1);
        self.refused <= MOST_PORTS
    }
}

/// Answers a call. Returns the port of a refused call.
fn answer(call: Call<'_>, allowed: Allowed, known: &mut Known) -> Option<u16> {
    let Listening { port, unix_sockets } = allowed.listening;
    match (call.wish, call.kind()) {
        (Wish::Bind, SocketKind::Tcp | SocketKind::Udp) => bound(call, port, known),
        (Wish::Bind, kind)
            if !call.has_room_for_port() || allowed.has_unix_sockets && kind == SocketKind::Unix =>
        {
            call.go_on();
            None
        }
        (Wish::Bind, _) => refuse(call, None),
        (Wish::Listen(_), SocketKind::Tcp) if port.is_none() => refuse(call, Some(known.asked)),
        (Wish::Listen(backlog), kind)
            if kind == SocketKind::Tcp || unix_sockets && kind == SocketKind::Unix =>
        {
            with_socket(call, |socket| listen(socket, backlog, allowed.listening, known))
        }
        (Wish::Listen(_), _) => refuse(call, None),
    }
}

fn refuse(call: Call<'_>, port: Option<u16>) -> Option<u16> {
    call.answer(Err(io::ErrorKind::PermissionDenied.into()));
    port
}

/// Does something with the socket of a call, and answers with what comes of it; where it is refused, the port is told.
fn with_socket(
    call: Call<'_>,
    act: impl FnOnce(&SockRef<'_>) -> Result<io::Result<()>, Option<u16>>,
) -> Option<u16> {
    let got = match call.socket() {
        Ok(got) => got,
        Err(error) => {
            call.answer(Err(error));
            return None;
        }
    };
    let socket = SockRef::from(&got);
    let refused = match act(&socket) {
        Ok(done) => {
            call.answer(done);
            None
        }
        Err(port) => refuse(call, port),
    };
    // It may be the last end by now, and nobody is to wait for it.
    let _ = socket.set_linger(None);
    refused
}

/// Has a socket listen.
///
/// # Errors
/// The TCP port, when the socket may not listen there.
fn listen(
    socket: &SockRef<'_>,
    backlog: i32,
    listening: Listening,
    known: &Known,
) -> Result<io::Result<()>, Option<u16>> {
    let is_allowed = || may(socket, listening, known);
    if !is_allowed() {
        return Err(is_tcp(socket).then_some(known.asked));
    }
    let done = socket.listen(backlog);
    if done.is_ok() && !is_allowed() {
        let _ = socket.shutdown(Shutdown::Both);
        return Err(None);
    }
    Ok(done)
}

fn at(socket: &SockRef<'_>) -> Option<SocketAddr> {
    socket.local_addr().ok()?.as_socket()
}

fn may(socket: &SockRef<'_>, listening: Listening, known: &Known) -> bool {
    match at(socket) {
        Some(at) => {
            let is_bound_here = || socket.cookie().is_ok_and(|cookie| known.bound.contains(&cookie));
            is_tcp(socket) && may_listen(listening.port, at) && is_bound_here()
        }
        None => listening.unix_sockets && socket.domain().is_ok_and(|domain| domain == Domain::UNIX),
    }
}

/// True if it is a socket for TCP, by IPv4 or IPv6.
fn is_tcp(socket: &SockRef<'_>) -> bool {
    is(socket, Type::STREAM, Protocol::TCP)
}

fn is(socket: &SockRef<'_>, kind: Type, protocol: Protocol) -> bool {
    socket.domain().is_ok_and(|domain| domain == Domain::IPV4 || domain == Domain::IPV6)
        && socket.r#type().is_ok_and(|own| own == kind)
        && socket.protocol().is_ok_and(|own| own == Some(protocol))
}

fn bound(call: Call<'_>, granted: Option<u16>, known: &mut Known) -> Option<u16> {
    let read = call.address().and_then(|bytes| address(&bytes).ok_or(io::ErrorKind::InvalidInput.into()));
    match read {
        // Nothing is opened for what is refused for any socket.
        Ok(wanted) if bind(granted, wanted, false) == Bind::Refuse => {
            if call.kind() == SocketKind::Tcp {
                known.asked = wanted.port();
            }
            refuse(call, Some(wanted.port()))
        }
        Ok(wanted) => with_socket(call, |socket| bind_to(socket, wanted, granted, known)),
        Err(error) => {
            call.answer(Err(error));
            None
        }
    }
}

/// Binds a socket to an address.
///
/// # Errors
/// The port, when the socket may not be bound there.
fn bind_to(
    socket: &SockRef<'_>,
    wanted: SocketAddr,
    granted: Option<u16>,
    known: &mut Known,
) -> Result<io::Result<()>, Option<u16>> {
    let is_tcp = is_tcp(socket);
    if is_tcp {
        known.asked = wanted.port();
    } else if !is(socket, Type::DGRAM, Protocol::UDP) {
        return Err(None);
    }
    let is_v6 = socket.domain().is_ok_and(|domain| domain == Domain::IPV6);
    match bind(granted, wanted, is_v6 && socket.only_v6().unwrap_or(true)) {
        Bind::To(at) => Ok(bind_once(socket, at, is_tcp.then_some(known))),
        Bind::Refuse => Err(Some(wanted.port())),
    }
}

/// A signal has a server ask once more for what it has by then.
fn bind_once(socket: &SockRef<'_>, wanted: SocketAddr, known: Option<&mut Known>) -> io::Result<()> {
    let has =
        |at: SocketAddr| at.ip() == wanted.ip() && at.port() != 0 && [0, at.port()].contains(&wanted.port());
    match (socket.bind(&SockAddr::from(wanted)), known) {
        (Ok(()), Some(known)) if wanted.port() != 0 => known.note_bound(socket.cookie()?),
        (Ok(()), _) => {}
        (Err(_), _) if at(socket).is_some_and(has) => {}
        (Err(error), _) => return Err(error),
    }
    Ok(())
}
