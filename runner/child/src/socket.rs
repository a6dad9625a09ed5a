//! A local stream socket as two halves, each of which wakes its task for its own direction only.
//!
//! A socket that is watched for writing wakes its owner whenever the peer has read something: for a request and
//! its answer that is one wake-up too many in each process. So the reading half is watched for reading, and the
//! writing half is watched only while a write has to wait. Owns the socket; the last write ends with a shutdown,
//! so that the peer sees the end of the stream.

use std::cell::RefCell;
use std::io::{self, Read as _, Write as _};
use std::net::Shutdown;
use std::os::fd::AsFd as _;
use std::os::unix::net::UnixStream;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use tokio::io::unix::AsyncFd;
use tokio::io::{AsyncRead, Interest, ReadBuf};

use crate::outbox::Sink;
use crate::turn::{AS_ONE, SHARE};

/// The half that is read from.
#[derive(Debug)]
pub struct SocketReader(AsyncFd<UnixStream>);

/// The half that is read from, for a thread that blocks. A plain read(2) would be woken up for nothing
/// whenever the peer takes written bytes. poll(2) names the event that it waits for.
#[derive(Debug)]
pub struct BlockingReader(pub UnixStream);

impl io::Read for BlockingReader {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        poll(&mut [PollFd::new(self.0.as_fd(), PollFlags::POLLIN)], PollTimeout::NONE)?;
        self.0.read(buf)
    }
}

/// The half that is written to.
#[derive(Debug)]
pub struct SocketWriter {
    socket: Rc<UnixStream>,
    /// Watches the socket while a write has to wait.
    waiting: RefCell<Option<AsyncFd<UnixStream>>>,
}

/// Splits a socket.
///
/// # Errors
/// When the runtime or the system takes no more descriptors.
pub fn split(socket: UnixStream) -> io::Result<(SocketReader, SocketWriter)> {
    socket.set_nonblocking(true)?;
    let reader = watch(&socket, Interest::READABLE)?;
    Ok((SocketReader(reader), SocketWriter { socket: Rc::new(socket), waiting: RefCell::default() }))
}

/// Has the runtime watch a descriptor of its own for one direction.
fn watch(socket: &UnixStream, interest: Interest) -> io::Result<AsyncFd<UnixStream>> {
    let own = socket.try_clone()?;
    // SAFETY: the AsyncFd owns this clone. Its descriptor is the same for its whole life and is closed only when
    // the AsyncFd is dropped, which takes it out of the runtime first; nothing here gives it away.
    #[allow(unsafe_code)]
    let watched = unsafe { AsyncFd::register_with_interest(own, interest) };
    Ok(watched?)
}

impl AsyncRead for SocketReader {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        loop {
            let mut guard = ready!(self.0.poll_read_ready(context))?;
            let room = buf.initialize_unfilled();
            let wanted = room.len();
            match guard.try_io(|socket| socket.get_ref().read(room)) {
                Ok(Ok(n)) => {
                    if 0 < n && n < wanted {
                        // All was read: the next read would only find that out.
                        guard.clear_ready();
                    }
                    buf.advance(n);
                    return Poll::Ready(Ok(()));
                }
                Ok(Err(error)) if error.kind() == io::ErrorKind::Interrupted => {}
                Ok(Err(error)) => return Poll::Ready(Err(error)),
                Err(_would_block) => {}
            }
        }
    }
}

impl Sink for SocketWriter {
    fn try_write(&self, bytes: &[u8]) -> io::Result<usize> {
        // One answer wakes its client up once; of more, as a flood queues it, a share is written.
        let most = if bytes.len() <= AS_ONE { bytes.len() } else { SHARE };
        let written = (&*self.socket).write(&bytes[..most]);
        if written.as_ref().is_ok_and(|n| *n == bytes.len()) {
            *self.waiting.borrow_mut() = None;
        }
        written
    }

    fn poll_writable(&self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut waiting = self.waiting.borrow_mut();
        let watched = match &mut *waiting {
            Some(watched) => watched,
            None => waiting.insert(watch(&self.socket, Interest::WRITABLE)?),
        };
        // The write that follows tells whether it is writable; if it is not, the next edge comes after it.
        ready!(watched.poll_write_ready(context))?.clear_ready();
        Poll::Ready(Ok(()))
    }
}

impl Drop for SocketWriter {
    fn drop(&mut self) {
        // A peer that is gone already needs no end of the stream.
        let _ = self.socket.shutdown(Shutdown::Write);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(flavor = "local")]
    async fn one_answer_is_one_write_and_of_more_a_share_is() {
        for (queued, written) in [(1, 1), (AS_ONE, AS_ONE), (AS_ONE + 1, SHARE)] {
            let (socket, _peer) = UnixStream::pair().unwrap();
            let (_reader, writer) = split(socket).unwrap();
            assert_eq!(writer.try_write(&vec![7; queued]).unwrap(), written);
        }
    }
}
