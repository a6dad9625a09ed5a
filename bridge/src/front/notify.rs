//! Messages to a service manager: systemd's protocol of datagrams.
//!
//! ```text
//!  serving ─► READY=1 ─► WATCHDOG=1, WATCHDOG=1 … from the one loop, so that a loop that hangs says nothing ─► STOPPING=1
//! ```
//!
//! Owns the socket. Must never fail because of the manager, nor wait for it, with one short exception: `READY=1` is said
//! only once, and a manager that does not hear it ends us.

use std::ffi::OsStr;
use std::io;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::time::{Duration, Instant};

use harbor_home::dial::left;
use tokio::task::AbortHandle;
use tokio::time::{MissedTickBehavior, interval};

use crate::config::ServiceManager;

/// The shortest time between signs of life, whatever the manager asks for.
const LEAST: Duration = Duration::from_millis(10);

/// How long to wait while the manager has no room for `READY=1`.
const READY_LIMIT: Duration = Duration::from_secs(2);

/// The service manager that gets reports, if there is one.
#[derive(Debug, Default)]
pub struct Notifier {
    socket: Option<UnixDatagram>,
    watchdog: Option<AbortHandle>,
}

impl Notifier {
    /// Tells it that the bridge serves, and from now on that it lives.
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

    /// Reports that the bridge is about to end. Signs of life go on until then.
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
    let watched =
        manager.watchdog.map(|limit| Ok::<_, io::Error>((limit, socket.try_clone()?))).transpose()?;
    send_patiently(&socket, b"READY=1\nSTATUS=serving")?;
    socket.set_nonblocking(true)?;
    let watchdog =
        watched.map(|(limit, socket)| tokio::task::spawn_local(live(socket, limit)).abort_handle());
    Ok(Notifier { socket: Some(socket), watchdog })
}

/// Sends while the manager may have no room. A signal meanwhile (of a child that ended, for one) is no failure, and does
/// not begin the limit anew.
fn send_patiently(socket: &UnixDatagram, text: &[u8]) -> io::Result<usize> {
    let until = Instant::now() + READY_LIMIT;
    loop {
        socket.set_write_timeout(Some(left(until)))?;
        match socket.send(text) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            sent => return sent,
        }
    }
}

fn address(socket: &OsStr) -> io::Result<SocketAddr> {
    match socket.as_bytes().strip_prefix(b"@") {
        Some(name) => SocketAddr::from_abstract_name(name),
        None => SocketAddr::from_pathname(socket),
    }
}

/// Gives signs of life, twice in each period of the manager.
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;
    use std::thread;

    #[test]
    fn a_manager_that_has_no_room_yet_hears_of_readiness_all_the_same() {
        let place = std::env::temp_dir().join(format!("harbor-notify-{}", std::process::id()));
        let heard = UnixDatagram::bind(&place).unwrap();
        heard.set_read_timeout(Some(READY_LIMIT)).unwrap();
        let others = UnixDatagram::unbound().unwrap();
        others.set_nonblocking(true).unwrap();
        while others.send_to(b"of another service", &place).is_ok() {}
        let manager = ServiceManager { socket: place.clone().into(), watchdog: None };
        let (ended, told) = mpsc::channel();
        let telling = thread::spawn(move || {
            let _notifier = Notifier::ready(Some(&manager));
            let _ = ended.send(());
        });
        assert!(told.recv_timeout(READY_LIMIT / 20).is_err(), "it waits for room");
        let mut bytes = [0; 64];
        loop {
            match heard.recv(&mut bytes) {
                Ok(n) if bytes[..n].starts_with(b"READY=1\n") => break,
                Ok(_) => {}
                // Another test's child has ended.
                Err(error) => assert_eq!(error.kind(), io::ErrorKind::Interrupted),
            }
        }
        telling.join().unwrap();
        std::fs::remove_file(place).unwrap();
    }
}
