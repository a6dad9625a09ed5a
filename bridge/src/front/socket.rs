//! The local socket: accepts programs of this user.
//!
//! Owns the listener and the check of the peer's user. The user alone proves nothing, since servers run as the
//! same one: the token in `attach` does.

use std::collections::VecDeque;
use std::io;
use std::rc::{Rc, Weak};

use harbor_child::outbox::Sink as _;
use harbor_child::socket::{Writer, split};
use harbor_ipc_proto::client::envelope::{Envelope, ErrorBody};
use harbor_ipc_proto::frame::MAX_CLIENT_FRAME;
use harbor_policy::access::Principal;
use nix::sys::socket::{getsockopt, sockopt::PeerCredentials};
use nix::unistd::geteuid;
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::Notify;

use super::connection::{attach, attached, refused, serve, unattached_frames};
use crate::router::Router;

/// Programs that may be connected at once without having said who they are.
const MAX_UNATTACHED: usize = 64;

/// Accepts connections for ever; each is served by a task of its own.
///
/// # Errors
/// When the listener breaks.
pub async fn accept(listener: UnixListener, router: Rc<Router>, token: Rc<str>) -> io::Result<()> {
    let mut unattached = VecDeque::new();
    loop {
        let (stream, _) = match listener.accept().await {
            Ok(accepted) => accepted,
            Err(error) if is_passing(&error) => {
                tracing::warn!(%error, "a connection could not be accepted");
                tokio::time::sleep(std::time::Duration::from_millis(100)).await;
                continue;
            }
            Err(error) => return Err(error),
        };
        if !is_ours(&stream) {
            continue;
        }
        let evicted = make_room(&mut unattached);
        let (router, token) = (router.clone(), token.clone());
        tokio::task::spawn_local(async move {
            if let Err(error) = greet(stream, &router, &token, evicted).await {
                tracing::debug!(%error, "a connection ended early");
            }
        });
    }
}

/// A place among the connections that have not said who they are. When there are too many, the one that has been
/// silent the longest goes: our own programs speak at once.
fn make_room(unattached: &mut VecDeque<Weak<Notify>>) -> Rc<Notify> {
    unattached.retain(|waiting| waiting.strong_count() > 0);
    if unattached.len() >= MAX_UNATTACHED
        && let Some(oldest) = unattached.pop_front().and_then(|oldest| oldest.upgrade())
    {
        oldest.notify_one();
    }
    let place = Rc::<Notify>::default();
    unattached.push_back(Rc::downgrade(&place));
    place
}

/// Errors of accept(2) after which the next connection may well succeed.
fn is_passing(error: &io::Error) -> bool {
    use nix::errno::Errno::{ECONNABORTED, EMFILE, ENFILE, ENOBUFS, ENOMEM};
    error.raw_os_error().is_some_and(|errno| {
        [ECONNABORTED, EMFILE, ENFILE, ENOBUFS, ENOMEM].iter().any(|e| *e as i32 == errno)
    })
}

fn is_ours(stream: &UnixStream) -> bool {
    getsockopt(stream, PeerCredentials).is_ok_and(|peer| peer.uid() == geteuid().as_raw())
}

async fn greet(stream: UnixStream, router: &Rc<Router>, token: &str, evicted: Rc<Notify>) -> io::Result<()> {
    let (mut reader, writer) = split(stream.into_std()?)?;
    let mut frames = unattached_frames();
    let decided = attach(&mut reader, &mut frames, token, &evicted).await;
    drop(evicted);
    match decided {
        Ok((envelope, principal)) => {
            write_small(&writer, &attached(&envelope))?;
            log(&principal);
            let frames = frames.with_max(MAX_CLIENT_FRAME);
            serve(router, principal, reader, writer, frames).await;
            Ok(())
        }
        Err(Some((envelope, error))) => tell(&writer, &envelope, &error),
        Err(None) => Ok(()),
    }
}

fn tell(writer: &Writer, envelope: &Envelope, error: &ErrorBody) -> io::Result<()> {
    tracing::info!(code = error.code.as_str(), "a connection was refused");
    write_small(writer, &refused(envelope, error))
}

/// Writes the first frame of a connection: its buffer is empty, so it always fits at once.
fn write_small(writer: &Writer, frame: &[u8]) -> io::Result<()> {
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
        Principal::Client { origin } => tracing::info!(%origin, "an AI client is connected"),
    }
}
