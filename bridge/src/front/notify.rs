//! What a service manager is told: systemd's protocol of datagrams.
//!
//! ```text
//!  serving ─► READY=1 ─► WATCHDOG=1, WATCHDOG=1 … from the one loop, so that a loop that hangs says nothing ─► STOPPING=1
//! ```
//!
//! Owns the socket. Must never wait for the manager, nor fail because of it.

use std::ffi::OsStr;
use std::io;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::time::Duration;

use tokio::task::AbortHandle;
use tokio::time::{MissedTickBehavior, interval};

use crate::config::ServiceManager;

/// Signs of life come no more often than this, whatever the manager says.
const LEAST: Duration = Duration::from_millis(10);

/// A manager that is told; nobody where there is none.
#[derive(Debug, Default)]
pub struct Notifier {
    socket: Option<UnixDatagram>,
    watchdog: Option<AbortHandle>,
}

impl Notifier {
    /// Tells it that we serve, and from now on that we live.
    #[must_use]
    pub fn ready(manager: Option<&ServiceManager>) -> Self {
        let Some(manager) = manager else { return Self::default() };
        match begin(manager) {
            Ok(notifier) => notifier,
            Err(error) => {
                tracing::warn!(%error, "the service manager cannot be told (NOTIFY_SOCKET)");
                Self::default()
            }
        }
    }

    /// Tells it that we are about to end. Signs of life go on until then.
    pub fn stopping(&self, why: &str) {
        if let Some(socket) = &self.socket {
            tell(socket, &format!("STOPPING=1\nSTATUS=ending: {why}"));
        }
    }
}

impl Drop for Notifier {
    fn drop(&mut self) {
        self.watchdog.take().inspect(AbortHandle::abort);
    }
}

fn begin(manager: &ServiceManager) -> io::Result<Notifier> {
    let socket = UnixDatagram::unbound()?;
    socket.connect_addr(&address(&manager.socket)?)?;
    socket.set_nonblocking(true)?;
    let watched =
        manager.watchdog.map(|limit| Ok::<_, io::Error>((limit, socket.try_clone()?))).transpose()?;
    tell(&socket, "READY=1\nSTATUS=serving");
    let watchdog =
        watched.map(|(limit, socket)| tokio::task::spawn_local(live(socket, limit)).abort_handle());
    Ok(Notifier { socket: Some(socket), watchdog })
}

fn address(socket: &OsStr) -> io::Result<SocketAddr> {
    match socket.as_bytes().strip_prefix(b"@") {
        Some(name) => SocketAddr::from_abstract_name(name),
        None => SocketAddr::from_pathname(socket),
    }
}

/// Twice in each time that the manager waits.
async fn live(socket: UnixDatagram, limit: Duration) {
    let mut due = interval((limit / 2).max(LEAST));
    due.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        due.tick().await;
        tell(&socket, "WATCHDOG=1");
    }
}

fn tell(socket: &UnixDatagram, text: &str) {
    if let Err(error) = socket.send(text.as_bytes()) {
        tracing::debug!(%error, "the service manager was not told");
    }
}
