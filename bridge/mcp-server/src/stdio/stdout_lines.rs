//! Lines on their way to stdout.
//!
//! ```text
//!  a driver ─┬─► stdout                      a short line, where it has room and no other waits
//!            └─► queue ─► thread ─► stdout
//!                  └─ full: it waits for room, while somebody may still read
//! ```
//!
//! Owns stdout. It is written to as a file: a thread that waits must not hold the lock of std's stdout. Must
//! never wait for a client that has closed our stdin and does not read.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Write as _};
use std::os::fd::AsFd;
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use harbor_child::capacity::{TO_CLIENT, widen_if_full};
use nix::libc::{PIPE_BUF, POLLRDHUP};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::stat::{SFlag, fstat};

use crate::driver::Lines;

/// The number of lines that may wait for a slower client.
const QUEUE: usize = 64;

/// The most bytes of a line that are written at once: a large answer whole. Smaller pieces show if a slow
/// client reads.
const PIECE: usize = 128 * 1024;

/// The time that a client which has closed our stdin may read nothing before it is given up.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// The pause between two looks for a client that is waited for.
pub const LOOK: Duration = Duration::from_millis(100);

/// Says that it is over.
#[derive(Clone)]
pub struct Over(pub SyncSender<()>);

impl Over {
    pub fn tell(&self) {
        // Where there is no room for it, it was said before.
        let _ = self.0.try_send(());
    }
}

/// Lines for stdout.
pub struct Written {
    stdout: File,
    queue: Arc<Queue>,
    /// True if stdout can say how much it takes.
    tells_room: bool,
    over: Over,
}

impl Written {
    /// The lines of this process, and their queue, which tells when they are written.
    pub fn begin(over: Over) -> io::Result<(Self, Arc<Queue>)> {
        let own = || io::stdout().as_fd().try_clone_to_owned().map(File::from);
        let (stdout, mut queued) = (own()?, own()?);
        let queue = Arc::<Queue>::default();
        let (writing, ends) = (Arc::clone(&queue), over.clone());
        thread::Builder::new().name("stdout".into()).spawn(move || {
            if writing.write_all(&mut queued).is_err() {
                ends.tell();
            }
        })?;
        Ok((Self { tells_room: tells_room(&stdout), stdout, queue: Arc::clone(&queue), over }, queue))
    }
}

impl Lines for Written {
    fn pass(&mut self, line: Vec<u8>) -> Option<Vec<u8>> {
        // Only the driver adds to them, so that none stay none.
        let at_once = self.tells_room && self.queue.is_empty() && takes_at_once(&self.stdout, line.len());
        let passed =
            if at_once { self.stdout.write_all(&line).is_ok() } else { self.queue.push(line, is_gone) };
        if !passed {
            self.over.tell();
        }
        None
    }
}

impl Drop for Written {
    fn drop(&mut self) {
        self.queue.state().closed = true;
        self.queue.changed.notify_all();
    }
}

/// Lines that wait.
#[derive(Debug, Default)]
pub struct Queue {
    state: Mutex<LineQueue>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct LineQueue {
    lines: VecDeque<Vec<u8>>,
    /// True if a line is being written.
    writing: bool,
    /// The number of pieces of lines that were ever written.
    written: u64,
    /// True if a thread waits for that number to grow.
    is_watched: bool,
    /// True if no more lines will come, or if they have no reader.
    closed: bool,
}

impl Queue {
    fn state(&self) -> MutexGuard<'_, LineQueue> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_empty(&self) -> bool {
        let state = self.state();
        state.lines.is_empty() && !state.writing
    }

    /// Adds a line once there is room. False if it will not be read, since the client `is_gone` and reads nothing.
    fn push(&self, line: Vec<u8>, is_gone: impl Fn() -> bool) -> bool {
        let is_full = |state: &LineQueue| state.lines.len() >= QUEUE && !state.closed;
        let mut state = self.wait_while(self.state(), is_full, is_gone);
        if state.closed || is_full(&state) {
            return false;
        }
        state.lines.push_back(line);
        self.changed.notify_all();
        true
    }

    /// Waits as long as `is_so`, except for a client that is gone and has read nothing for [`LAST_WORDS`].
    fn wait_while<'a>(
        &self,
        mut state: MutexGuard<'a, LineQueue>,
        is_so: impl Fn(&LineQueue) -> bool,
        is_gone: impl Fn() -> bool,
    ) -> MutexGuard<'a, LineQueue> {
        let (mut since, mut written) = (Instant::now(), state.written);
        if is_so(&state) {
            state.is_watched = is_gone();
        }
        while is_so(&state) {
            state = self.changed.wait_timeout(state, LOOK).unwrap_or_else(PoisonError::into_inner).0;
            state.is_watched = is_gone();
            if state.written != written {
                (since, written) = (Instant::now(), state.written);
            } else if since.elapsed() >= LAST_WORDS && state.is_watched {
                break;
            }
        }
        state
    }

    /// Writes lines until no more come, or until they have no reader.
    fn write_all(&self, to: &mut File) -> io::Result<()> {
        let mut state = self.state();
        loop {
            while let Some(line) = state.lines.pop_front() {
                state.writing = true;
                drop(state);
                let written = self.write(&line, to);
                state = self.state();
                state.writing = false;
                if written.is_err() {
                    state.closed = true;
                    state.lines.clear();
                }
                self.changed.notify_all();
                written?;
            }
            if state.closed {
                return Ok(());
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn write(&self, mut line: &[u8], to: &mut File) -> io::Result<()> {
        widen_if_full(&*to, line.len(), TO_CLIENT);
        while !line.is_empty() {
            let most = if self.state().is_watched { PIPE_BUF } else { PIECE };
            let (piece, rest) = line.split_at(most.min(line.len()));
            to.write_all(piece)?;
            line = rest;
            self.state().written += 1;
            self.changed.notify_all();
        }
        Ok(())
    }

    /// Waits until all are written, as long as the client reads; whether they are.
    pub fn drain(&self) -> bool {
        let is_busy = |state: &LineQueue| !state.lines.is_empty() || state.writing;
        !is_busy(&self.wait_while(self.state(), is_busy, || true))
    }
}

/// True if the client has closed our stdin. A socket may be closed in one direction. A file never counts as
/// closed.
fn is_gone() -> bool {
    is_ready(io::stdin(), PollFlags::from_bits_retain(POLLRDHUP))
}

/// True if the other end of the stream has closed it.
pub fn has_hung_up(stream: impl AsFd) -> bool {
    is_ready(stream, PollFlags::empty())
}

/// True if `stream` is ready for this, or the other end has hung up.
fn is_ready(stream: impl AsFd, what: PollFlags) -> bool {
    let mut stream = [PollFd::new(stream.as_fd(), what)];
    poll(&mut stream, PollTimeout::ZERO).is_ok_and(|ready| ready > 0)
}

/// True if this is a pipe or a socket. A terminal counts as writable as soon as it takes one byte.
fn tells_room(stdout: impl AsFd) -> bool {
    let kind = fstat(stdout).map(|stat| SFlag::from_bits_truncate(stat.st_mode) & SFlag::S_IFMT);
    matches!(kind, Ok(SFlag::S_IFIFO | SFlag::S_IFSOCK))
}

/// True if a write of this many bytes would not wait. A writable pipe has room for [`PIPE_BUF`], a socket for
/// more.
fn takes_at_once(stdout: impl AsFd, bytes: usize) -> bool {
    bytes <= PIPE_BUF && is_ready(stdout, PollFlags::POLLOUT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{PipeReader, Read as _};
    use std::os::unix::net::UnixStream;
    use std::sync::mpsc::sync_channel;

    #[test]
    fn the_driver_writes_only_what_does_not_have_to_wait() {
        let (mut reader, writer) = io::pipe().unwrap();
        // It may have less room than that.
        assert!(!takes_at_once(&writer, PIPE_BUF + 1));
        fill(&writer);
        reader.read_exact(&mut [0; PIPE_BUF]).unwrap();
        assert!(takes_at_once(&writer, PIPE_BUF) && !has_hung_up(&writer));
        drop(reader);
        assert!(takes_at_once(&writer, 1), "whoever writes finds out that nobody reads");
        assert!(has_hung_up(&writer));
        // What node gives to those that it starts.
        let (_reader, writer) = UnixStream::pair().unwrap();
        fill(&writer);
        assert!(!tells_room(File::open("/dev/null").unwrap()));
    }

    /// Writes as long as it may, from another thread, since a write that waits would do so for ever.
    fn fill(writer: &(impl AsFd + Sync)) {
        assert!(tells_room(writer));
        let (tell, full) = sync_channel(0);
        let mut writing = File::from(writer.as_fd().try_clone_to_owned().unwrap());
        thread::spawn(move || {
            while takes_at_once(&writing, PIPE_BUF) {
                writing.write_all(&[b'x'; PIPE_BUF]).unwrap();
            }
            tell.send(()).unwrap();
        });
        full.recv_timeout(Duration::from_secs(20)).expect("no write has to wait");
    }

    /// A queue whose lines go into a pipe.
    fn piped() -> (Arc<Queue>, PipeReader, thread::JoinHandle<io::Result<()>>) {
        let (reader, writer) = io::pipe().unwrap();
        let queue = Arc::<Queue>::default();
        let writing = Arc::clone(&queue);
        let thread =
            thread::spawn(move || writing.write_all(&mut File::from(std::os::fd::OwnedFd::from(writer))));
        (queue, reader, thread)
    }

    fn close(queue: &Queue) {
        queue.state().closed = true;
        queue.changed.notify_all();
    }

    #[test]
    fn lines_wait_for_a_slow_client_and_all_are_written_in_their_order() {
        let (queue, mut reader, thread) = piped();
        let lines = 4 * QUEUE;
        let pushing = Arc::clone(&queue);
        let pusher = thread::spawn(move || {
            (0..lines).all(|at| pushing.push(vec![u8::try_from(at % 251).unwrap(); 8192], || false))
        });
        let mut line = [0; 8192];
        for at in 0..lines {
            reader.read_exact(&mut line).unwrap();
            assert_eq!(usize::from(line[0]), at % 251);
        }
        assert!(pusher.join().unwrap());
        assert!(queue.drain() && queue.is_empty());
        close(&queue);
        thread.join().unwrap().unwrap();
    }

    #[test]
    fn nobody_waits_for_a_client_that_is_gone_or_does_not_read_any_more() {
        let (queue, reader, thread) = piped();
        let line = || vec![b'x'; 1 << 20];
        // One is being written, and does not fit.
        (0..=QUEUE).for_each(|_| assert!(queue.push(line(), || false)));
        let begun = Instant::now();
        assert!(!queue.push(line(), || true));
        assert!(begun.elapsed() >= LAST_WORDS);
        assert!(!queue.drain());
        drop(reader);
        assert!(thread.join().unwrap().is_err());
        assert!(queue.is_empty() && !queue.push(line(), || false));
    }
}
