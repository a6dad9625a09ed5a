//! The local socket: accepts programs of this user.
//!
//! Owns the listener and the check of the peer's user. The user alone proves nothing, since servers run as the same one:
//! the token in `attach` does. If no descriptor is left, all clients but the owner are told so. The owner is let in to
//! ask about the bridge, and to end it.

use std::collections::VecDeque;
use std::io;
use std::os::fd::AsRawFd as _;
use std::os::unix::net;
use std::rc::{Rc, Weak};
use std::time::{Duration, Instant};

use harbor_child::outbox::Sink as _;
use harbor_child::own;
use harbor_child::socket::{SocketWriter, split};
use harbor_ipc_proto::client::envelope::{Envelope, ErrorBody};
use harbor_ipc_proto::frame::MAX_CLIENT_FRAME;
use harbor_policy::access::Principal;
use nix::errno::Errno;
use nix::sys::socket::{getsockopt, sockopt::PeerCredentials};
use nix::unistd::geteuid;
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::Notify;
use tokio::sync::mpsc::UnboundedReceiver;

use super::connection::{attach, attached, refused, serve, unattached_frames};
use super::descriptor_reserve::DescriptorReserve;
use crate::router::client::Client;
use crate::router::{Router, crowded};

/// The most connected programs that have not attached.
const MAX_UNATTACHED: usize = 64;

/// The same limit while only the descriptors held back are left.
const MAX_IN_CROWD: usize = 2;

/// How long the owner's connection may last in that case, to ask about the bridge or to end it.
const IN_PASSING: Duration = Duration::from_secs(10);

/// Accepts connections for ever, each in a task of its own. `anew` brings a new socket when the old one is gone.
///
/// # Errors
/// When the listener breaks.
pub async fn accept(
    mut listener: UnixListener,
    mut anew: UnboundedReceiver<net::UnixListener>,
    router: Rc<Router>,
    token: Rc<str>,
) -> io::Result<()> {
    let (mut unattached, mut crowd) = (VecDeque::new(), VecDeque::new());
    let (mut room, mut is_given, left) =
        (DescriptorReserve::of(own::files()), false, Rc::<Notify>::default());
    loop {
        // The released descriptors are for the connection that waits.
        if !std::mem::take(&mut is_given) {
            room.fill();
        }
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            // The descriptors of a connection that they let in are held back again.
            () = left.notified() => continue,
            Some(new) = anew.recv() => {
                new.set_nonblocking(true)?;
                listener = UnixListener::from_std(new)?;
                continue;
            }
        };
        let stream = match accepted {
            Ok((stream, _)) => stream,
            Err(error) if is_lack(&error) && room.give() => {
                is_given = true;
                continue;
            }
            Err(error) if is_passing(&error) => {
                note(&mut room, &error.to_string());
                tokio::time::sleep(Duration::from_millis(100)).await;
                continue;
            }
            Err(error) => return Err(error),
        };
        if !is_ours(&stream) {
            continue;
        }
        let is_full = !room.fill();
        let is_crowded = is_full || room.is_past(stream.as_raw_fd());
        if is_crowded {
            note(&mut room, "all descriptors are in use, so it is answered only if it is the owner's");
        }
        if is_full {
            room.give();
        }
        let evicted = match is_crowded {
            true => make_room(&mut crowd, MAX_IN_CROWD),
            false => make_room(&mut unattached, MAX_UNATTACHED),
        };
        let (router, token, left) = (router.clone(), token.clone(), left.clone());
        tokio::task::spawn_local(async move {
            if let Err(error) = greet(stream, &router, &token, evicted, is_crowded).await {
                tracing::debug!(%error, "a connection ended early");
            }
            if is_crowded {
                left.notify_one();
            }
        });
    }
}

fn note(room: &mut DescriptorReserve, why: &str) {
    if let Some(connections) = room.note(Instant::now()) {
        tracing::warn!(connections, why, "there is no room for a connection");
    }
}

/// Gives a place among the connections that have not attached. If there are too many, the longest silent one
/// is closed, since our own programs speak at once.
fn make_room(unattached: &mut VecDeque<Weak<Notify>>, most: usize) -> Rc<Notify> {
    unattached.retain(|waiting| waiting.strong_count() > 0);
    if unattached.len() >= most
        && let Some(oldest) = unattached.pop_front().and_then(|oldest| oldest.upgrade())
    {
        oldest.notify_one();
    }
    let place = Rc::<Notify>::default();
    unattached.push_back(Rc::downgrade(&place));
    place
}

/// True if the error is a lack of descriptors.
fn is_lack(error: &io::Error) -> bool {
    [Errno::EMFILE, Errno::ENFILE].iter().any(|errno| error.raw_os_error() == Some(*errno as i32))
}

/// True for errors of accept(2) after which the next connection may well succeed.
fn is_passing(error: &io::Error) -> bool {
    use Errno::{ECONNABORTED, EMFILE, ENFILE, ENOBUFS, ENOMEM};
    error.raw_os_error().is_some_and(|errno| {
        [ECONNABORTED, EMFILE, ENFILE, ENOBUFS, ENOMEM].iter().any(|e| *e as i32 == errno)
    })
}

fn is_ours(stream: &UnixStream) -> bool {
    getsockopt(stream, PeerCredentials).is_ok_and(|peer| peer.uid() == geteuid().as_raw())
}

async fn greet(
    stream: UnixStream,
    router: &Rc<Router>,
    token: &str,
    evicted: Rc<Notify>,
    is_crowded: bool,
) -> io::Result<()> {
    let (mut reader, writer) = split(stream.into_std()?)?;
    let mut frames = unattached_frames();
    let decided = attach(&mut reader, &mut frames, token, &evicted).await;
    drop(evicted);
    match decided {
        Ok((envelope, principal)) if is_crowded && principal != Principal::Owner => {
            // The log was told already.
            write_small(&writer, &refused(&envelope, &crowded()))
        }
        Ok((envelope, principal)) => {
            write_small(&writer, &attached(&envelope))?;
            log(&principal);
            let frames = frames.with_max(MAX_CLIENT_FRAME);
            let client = match is_crowded {
                true => Client::in_passing(principal),
                false => Client::new(principal),
            };
            let served = serve(router, client, reader, writer, frames);
            match is_crowded {
                true => drop(tokio::time::timeout(IN_PASSING, served).await),
                false => served.await,
            }
            Ok(())
        }
        Err(Some((envelope, error))) => tell(&writer, &envelope, &error),
        Err(None) => Ok(()),
    }
}

fn tell(writer: &SocketWriter, envelope: &Envelope, error: &ErrorBody) -> io::Result<()> {
    tracing::info!(code = error.code.as_str(), "a connection was refused");
    write_small(writer, &refused(envelope, error))
}

/// Writes the first frame of a connection: its buffer is empty, so it always fits at once.
fn write_small(writer: &SocketWriter, frame: &[u8]) -> io::Result<()> {
    match writer.try_write(frame) {
        Ok(n) if n == frame.len() => Ok(()),
        Ok(_) => Err(io::ErrorKind::WriteZero.into()),
        Err(error) => Err(error),
    }
}

fn log(principal: &Principal) {
    match principal {
        Principal::Owner => tracing::debug!("the command line is connected"),
        Principal::Extension { id } => tracing::info!(extension = id, "a browser is connected"),
        Principal::Client { origin, .. } => tracing::info!(%origin, "an AI client is connected"),
    }
}
