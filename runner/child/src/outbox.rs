//! The write queue in front of a pipe or socket.
//!
//! ```text
//!  push ─► queue ─► drive (one task per pipe) ─► write(2)
//! ```
//!
//! Pushing never waits, so a reader can answer without ever being blocked by a peer that does not read: no task both reads
//! and writes. All that is pushed while one task runs goes out in one write, in its order. A long message is made piece by
//! piece when it is its turn. Owns the bytes until they are written. Must never grow past its limit.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::fmt;
use std::future::poll_fn;
use std::io;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use tokio::net::unix::pipe;
use tokio::sync::Notify;

use crate::capacity::{WIDE, widen};
use crate::turn::{SHARE, Turn};

/// A buffer larger than this is given back once it is written.
const KEEP: usize = 256 * 1024;

/// [`Outbox::room`] waits while more than this many bytes are queued.
const LOW_WATER: usize = 1024 * 1024;

/// A place that an outbox writes to.
pub trait Sink {
    /// Writes what fits without waiting.
    ///
    /// # Errors
    /// `WouldBlock`, or an error if the peer is gone.
    fn try_write(&self, bytes: &[u8]) -> io::Result<usize>;

    /// Waits until a write may succeed.
    ///
    /// # Errors
    /// When the runtime is shutting down.
    fn poll_writable(&self, context: &mut Context<'_>) -> Poll<io::Result<()>>;
}

impl Sink for pipe::Sender {
    fn try_write(&self, bytes: &[u8]) -> io::Result<usize> {
        let n = Self::try_write(self, bytes)?;
        if n < bytes.len() {
            widen(self, WIDE);
        }
        Ok(n)
    }

    fn poll_writable(&self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll_write_ready(context)
    }
}

/// The reason why nothing was queued.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refused {
    /// The peer does not read, and the limit is reached.
    Full,
    /// The pipe is closed, or about to be.
    Closed,
}

/// A message that is made piece by piece, as it is written.
pub trait Long: fmt::Debug {
    /// Appends the next piece; whether there is a further one.
    fn put_piece(&mut self, out: &mut Vec<u8>) -> bool;
}

/// A long message that waits.
#[derive(Debug)]
struct Waiting {
    /// The bytes that were queued before it, behind the long message before.
    before: Vec<u8>,
    message: Box<dyn Long>,
    /// Bytes that it holds until its last piece is made.
    bytes: usize,
}

/// A bounded queue of bytes for one pipe. Used from one thread.
#[derive(Debug)]
pub struct Outbox {
    /// The bytes that were queued behind the last long message.
    queue: RefCell<Vec<u8>>,
    long: RefCell<VecDeque<Waiting>>,
    /// Bytes that all long messages hold, and bytes that were queued before each.
    long_bytes: Cell<usize>,
    /// The bytes that were taken and are being written: how many there were, and how many are left.
    taken: Cell<usize>,
    writing: Cell<usize>,
    closed: Cell<bool>,
    /// The time since which the peer has taken nothing, although something is queued.
    stuck: Cell<Option<Instant>>,
    limit: usize,
    filled: Notify,
    drained: Notify,
    is_cut: Cell<bool>,
    cut: Notify,
}

impl Outbox {
    /// An outbox that refuses more once `limit` bytes wait.
    #[must_use]
    pub fn new(limit: usize) -> Self {
        Self {
            queue: RefCell::new(Vec::new()),
            long: RefCell::new(VecDeque::new()),
            long_bytes: Cell::new(0),
            taken: Cell::new(0),
            writing: Cell::new(0),
            closed: Cell::new(false),
            stuck: Cell::new(None),
            limit,
            filled: Notify::new(),
            drained: Notify::new(),
            is_cut: Cell::new(false),
            cut: Notify::new(),
        }
    }

    /// Queues the bytes that `fill` appends, and returns the value of `fill`. A single message may exceed the
    /// limit, so one message is always possible.
    ///
    /// # Errors
    /// When the peer does not read or is gone; nothing was queued then.
    pub fn push<T>(&self, fill: impl FnOnce(&mut Vec<u8>) -> T) -> Result<T, Refused> {
        self.admit()?;
        let mut queue = self.queue.borrow_mut();
        let was_empty = queue.is_empty();
        let filled = fill(&mut queue);
        if was_empty {
            self.filled.notify_one();
        }
        Ok(filled)
    }

    /// Queues a message that holds `bytes` bytes in memory until its last piece is made.
    ///
    /// # Errors
    /// As for [`push`](Self::push).
    pub fn push_long(&self, message: Box<dyn Long>, bytes: usize) -> Result<(), Refused> {
        self.admit()?;
        let mut before = self.queue.take();
        before.shrink_to_fit();
        self.long_bytes.update(|all| all + before.len() + bytes);
        self.long.borrow_mut().push_back(Waiting { before, message, bytes });
        self.filled.notify_one();
        Ok(())
    }

    fn admit(&self) -> Result<(), Refused> {
        match self.closed.get() {
            true => Err(Refused::Closed),
            false if self.pending() >= self.limit => Err(Refused::Full),
            false => Ok(()),
        }
    }

    /// Bytes that are not written yet; those of a long message until its last piece is made.
    #[must_use]
    pub fn pending(&self) -> usize {
        self.queue.borrow().len() + self.long_bytes.get() + self.writing.get()
    }

    /// Bytes that are in memory for it, those included that are written already and not given back yet.
    #[must_use]
    pub fn held(&self) -> usize {
        self.queue.borrow().len() + self.long_bytes.get() + self.taken.get()
    }

    /// For how long the peer has taken nothing of the queue. Zero while it takes some.
    #[must_use]
    pub fn stuck_for(&self) -> Duration {
        self.stuck.get().map(|since| since.elapsed()).unwrap_or_default()
    }

    /// Refuses further messages; [`drive`](Self::drive) ends once what is queued has been written.
    pub fn close(&self) {
        self.closed.set(true);
        self.filled.notify_one();
        self.drained.notify_waiters();
    }

    /// Refuses further messages, and has [`drive`](Self::drive) end at once, also while it waits for a peer that does not
    /// read: what is queued is lost.
    pub fn cut(&self) {
        self.close();
        self.is_cut.set(true);
        self.cut.notify_one();
    }

    /// True if further messages are refused.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.closed.get()
    }

    /// Waits until little is queued (or the pipe is closed): for readers that must not run ahead of a writer.
    pub async fn room(&self) {
        while self.pending() > LOW_WATER && !self.closed.get() {
            self.drained.notified().await;
        }
    }

    /// Waits until all is written, or will never be.
    pub async fn written(&self) {
        while self.pending() > 0 {
            self.drained.notified().await;
        }
    }

    /// Takes all that is queued, once there is something. None once the outbox is closed and empty. For peers that are no pipe.
    pub async fn take(&self) -> Option<Vec<u8>> {
        loop {
            let mut queued = Vec::new();
            self.take_into(&mut queued);
            if !queued.is_empty() {
                self.drained.notify_waiters();
                return Some(queued);
            }
            if self.closed.get() {
                return None;
            }
            self.filled.notified().await;
        }
    }

    /// Takes what is next into `batch`, which is empty.
    fn take_into(&self, batch: &mut Vec<u8>) {
        let mut long = self.long.borrow_mut();
        let Some(first) = long.front_mut() else {
            // The empty buffer changes places with the full one, so two allocations serve for ever.
            return std::mem::swap(&mut *self.queue.borrow_mut(), batch);
        };
        if !first.before.is_empty() {
            *batch = std::mem::take(&mut first.before);
            self.long_bytes.update(|all| all - batch.len());
            return;
        }
        while batch.len() < SHARE {
            if !first.message.put_piece(batch) {
                self.long_bytes.update(|all| all - first.bytes);
                long.pop_front();
                return;
            }
        }
    }

    /// Writes what is queued to `sink` until [`close`](Self::close) or an error; returns when all is written.
    ///
    /// # Errors
    /// When the peer is gone. The outbox is closed then.
    pub async fn drive(&self, sink: &impl Sink) -> io::Result<()> {
        let (mut turn, mut batch) = (Turn::default(), Vec::new());
        let result = loop {
            if self.is_cut.get() {
                break Err(io::ErrorKind::ConnectionAborted.into());
            }
            self.take_into(&mut batch);
            if batch.is_empty() {
                if self.closed.get() {
                    break Ok(());
                }
                self.filled.notified().await;
                continue;
            }
            self.taken.set(batch.len());
            if let Err(error) = self.write_all(sink, &batch).await {
                break Err(error);
            }
            // To make pieces is work, also for a peer that takes them all at once.
            let made = if self.long.borrow().is_empty() { 0 } else { batch.len() };
            batch.clear();
            self.taken.set(0);
            if batch.capacity() > KEEP {
                batch = Vec::new();
            }
            turn.moved(made).await;
        };
        // After an error nobody is left for the rest.
        drop((self.queue.take(), self.long.take()));
        self.long_bytes.set(0);
        self.writing.set(0);
        self.taken.set(0);
        self.closed.set(true);
        self.drained.notify_waiters();
        result
    }

    async fn write_all(&self, sink: &impl Sink, batch: &[u8]) -> io::Result<()> {
        let (mut turn, mut at) = (Turn::default(), 0);
        while at < batch.len() {
            self.writing.set(batch.len() - at);
            match sink.try_write(&batch[at..]) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(n) => {
                    at += n;
                    self.stuck.set(None);
                    if at < batch.len() {
                        turn.moved(n).await;
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    if self.stuck.get().is_none() {
                        self.stuck.set(Some(Instant::now()));
                    }
                    tokio::select! {
                        writable = poll_fn(|context| sink.poll_writable(context)) => writable?,
                        () = self.cut.notified() => return Err(io::ErrorKind::ConnectionAborted.into()),
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
            if self.pending() <= LOW_WATER {
                self.drained.notify_waiters();
            }
        }
        self.writing.set(0);
        self.drained.notify_waiters();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nix::fcntl::{FcntlArg, fcntl};
    use std::io::Read as _;
    use std::rc::Rc;

    /// A peer that takes everything at once.
    struct Greedy(Cell<usize>);

    impl Sink for Greedy {
        fn try_write(&self, bytes: &[u8]) -> io::Result<usize> {
            self.0.update(|all| all + bytes.len());
            Ok(bytes.len())
        }

        fn poll_writable(&self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }
    }

    /// This many pieces of one byte less than a share.
    #[derive(Debug)]
    struct Pieces(usize);

    impl Long for Pieces {
        fn put_piece(&mut self, out: &mut Vec<u8>) -> bool {
            out.resize(out.len() + SHARE - 1, 7);
            self.0 -= 1;
            self.0 > 0
        }
    }

    #[tokio::test(flavor = "local")]
    async fn others_have_their_turn_between_the_pieces_of_a_long_message() {
        let (outbox, sink) = (Rc::new(Outbox::new(1 << 30)), Greedy(Cell::default()));
        outbox.push(|out| out.push(7)).unwrap();
        outbox.push_long(Box::new(Pieces(100)), 100).unwrap();
        outbox.push(|out| out.push(7)).unwrap();
        let turns = Rc::new(Cell::new(0));
        let other = tokio::task::spawn_local({
            let (outbox, turns) = (outbox.clone(), turns.clone());
            async move {
                while outbox.pending() > 0 {
                    turns.update(|turns| turns + 1);
                    tokio::task::yield_now().await;
                }
                outbox.close();
            }
        });
        outbox.drive(&sink).await.unwrap();
        other.await.unwrap();
        assert_eq!(sink.0.get(), 100 * (SHARE - 1) + 2);
        assert!(turns.get() >= 45, "{}", turns.get());
    }

    #[tokio::test(flavor = "local")]
    async fn what_is_cut_off_ends_at_once_and_keeps_nothing() {
        let (outbox, sink) = (Outbox::new(1 << 30), Greedy(Cell::default()));
        outbox.push(|out| out.push(7)).unwrap();
        outbox.push_long(Box::new(Pieces(100)), 100).unwrap();
        outbox.cut();
        assert_eq!(outbox.drive(&sink).await.unwrap_err().kind(), io::ErrorKind::ConnectionAborted);
        assert_eq!((sink.0.get(), outbox.pending(), outbox.held()), (0, 0, 0));
        outbox.written().await;
    }

    #[tokio::test(flavor = "local")]
    async fn a_pipe_that_a_message_does_not_fit_in_is_widened_for_it() {
        let (_reader, writer) = io::pipe().unwrap();
        let writer = pipe::Sender::from_owned_fd(writer.into()).unwrap();
        writer.writable().await.unwrap();
        // As much as a new pipe takes, and a little more.
        let takes = fcntl(&writer, FcntlArg::F_GETPIPE_SZ).unwrap();
        let message = vec![7; usize::try_from(takes).unwrap() + 100];
        let n = Sink::try_write(&writer, &message).unwrap();
        if takes >= WIDE {
            return assert!(n < message.len(), "pages are large here, and so are new pipes");
        }
        // Nobody has read anything meanwhile.
        assert_eq!(Sink::try_write(&writer, &message[n..]).unwrap(), message.len() - n);
    }

    #[test]
    fn what_is_pushed_arrives_in_order_and_a_peer_that_does_not_read_blocks_nobody() {
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_all().build_local(Default::default());
        runtime.unwrap().block_on(async {
            let (mut peer, mine) = std::os::unix::net::UnixStream::pair().unwrap();
            let (_, mine) = crate::socket::split(mine).unwrap();
            let outbox = Rc::new(Outbox::new(4 * 1024 * 1024));
            let driver = tokio::task::spawn_local({
                let outbox = outbox.clone();
                async move { outbox.drive(&mine).await }
            });
            let mut pushed = 0u64;
            while outbox.push(|out| out.extend_from_slice(&[7; 1000])).is_ok() {
                pushed += 1;
                tokio::task::yield_now().await;
            }
            assert_eq!(outbox.push(|_| ()), Err(Refused::Full));
            outbox.close();
            assert_eq!(outbox.push(|_| ()), Err(Refused::Closed));
            let read = std::thread::spawn(move || {
                let mut all = Vec::new();
                peer.read_to_end(&mut all).unwrap();
                all
            });
            driver.await.unwrap().unwrap();
            assert_eq!(read.join().unwrap().len() as u64, pushed * 1000);
        });
    }

    #[test]
    fn a_peer_that_does_not_read_is_cut_off() {
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_all().build_local(Default::default());
        runtime.unwrap().block_on(async {
            let (_peer, mine) = std::os::unix::net::UnixStream::pair().unwrap();
            let (_, mine) = crate::socket::split(mine).unwrap();
            let outbox = Outbox::new(4 * 1024 * 1024);
            outbox.push(|out| out.resize(4 * 1024 * 1024, 7)).unwrap();
            let cut = async {
                while outbox.stuck_for().is_zero() {
                    tokio::task::yield_now().await;
                }
                assert!(outbox.pending() < 4 * 1024 * 1024);
                outbox.cut();
            };
            let (ended, ()) = tokio::join!(outbox.drive(&mine), cut);
            assert_eq!(ended.unwrap_err().kind(), io::ErrorKind::ConnectionAborted);
            assert_eq!(outbox.push(|_| ()), Err(Refused::Closed));
        });
    }
}
