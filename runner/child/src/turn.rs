//! How much one task does before the others have their turn.
//!
//! ```text
//!  a piece read, a message handled, a piece written ─► counted ─► over a share? ─► behind all that wait, and what has come
//!  a message over LARGE ─► Aside: read in a thread of its own, a few at a time
//! ```
//!
//! All of a process's connections share one thread: a task with much to move must not keep the others waiting. Owns the
//! measure of a turn. Must never wait for anything but the others.

use std::io;

use tokio::io::AsyncRead;
use tokio::sync::Semaphore;

use crate::reading::read_some;

/// Bytes that are moved at a time: some microseconds of work.
pub const SHARE: usize = 16 * 1024;

/// The missing bytes of a message, or queued bytes, are moved as one up to this number: 64 KiB and what is around it. Pieces
/// would cost more, and a message is handled as one anyway.
pub const AS_ONE: usize = 72 * 1024;

/// Bytes that a message counts for beside its own.
const MESSAGE: usize = 1024;

/// The work of one task since the others had their turn.
#[derive(Debug, Default)]
pub struct Turn {
    done: usize,
}

impl Turn {
    /// Reads at most one share of the waiting bytes into `buf`, and waits for the first ones. Returns 0 at the end
    /// of the stream. If the message in progress lacks only a few bytes (`lacking`), the share is all of them.
    ///
    /// # Errors
    /// As read(2).
    pub async fn read(
        &mut self,
        source: &mut (impl AsyncRead + Unpin),
        buf: &mut [u8],
        lacking: usize,
    ) -> io::Result<usize> {
        let lacking = if lacking <= AS_ONE { lacking } else { 0 };
        let share = buf.len().min(lacking.max(SHARE));
        let n = read_some(source, &mut buf[..share]).await?;
        if n < share {
            // All was read: the next read waits, and so does this task.
            self.done = 0;
        } else {
            self.moved(n).await;
        }
        Ok(n)
    }

    /// Notes that a message with this many bytes was handled.
    pub async fn handled(&mut self, bytes: usize) {
        self.moved(bytes + MESSAGE).await;
    }

    /// Counts bytes that were read or written.
    pub async fn moved(&mut self, bytes: usize) {
        self.done += bytes;
        if self.done >= SHARE {
            self.done = 0;
            tokio::task::yield_now().await;
        }
    }
}

/// The most bytes of a message that is handled between two others: parsing 64 MiB takes a quarter of a second.
pub const LARGE: usize = 256 * 1024;

/// A message above this size also waits until no other of this size is read, so that merely large messages have a place.
const HUGE: usize = 4 * 1024 * 1024;

/// Large messages that are read at once; the others wait for their turn.
const AT_ONCE: usize = 2;

/// Reads large messages in threads of their own.
#[derive(Debug)]
pub struct Aside {
    places: Semaphore,
    huge: Semaphore,
}

impl Aside {
    /// Room for a few messages.
    #[must_use]
    #[allow(clippy::new_without_default, reason = "it is for statics: what is asked for there must be const")]
    pub const fn new() -> Self {
        Self { places: Semaphore::const_new(AT_ONCE), huge: Semaphore::const_new(1) }
    }

    /// Does `work` for a message of `bytes` bytes in another thread, while this thread handles other
    /// messages. The work is finished even if nobody waits for it any more.
    ///
    /// # Errors
    /// When the runtime ends.
    pub async fn run<T: Send + 'static>(
        &'static self,
        bytes: usize,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> io::Result<T> {
        let alone = match bytes > HUGE {
            true => Some(self.huge.acquire().await.map_err(io::Error::other)?),
            false => None,
        };
        let room = (alone, self.places.acquire().await.map_err(io::Error::other)?);
        let done = tokio::task::spawn_blocking(move || {
            let _room = room;
            work()
        });
        done.await.map_err(io::Error::other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;
    use std::rc::Rc;
    use std::sync::{Arc, Mutex, mpsc};
    use tokio::task::JoinHandle;

    const MUCH: usize = 1024 * 1024;

    /// How often another task of this thread ran while `work` was done.
    async fn turns_of_others(work: impl Future<Output = ()>) -> usize {
        let turns = Rc::new(Cell::new(0));
        let other = tokio::task::spawn_local({
            let turns = turns.clone();
            async move {
                loop {
                    turns.set(turns.get() + 1);
                    tokio::task::yield_now().await;
                }
            }
        });
        work.await;
        other.abort();
        turns.get()
    }

    #[tokio::test(flavor = "local")]
    async fn whoever_reads_much_lets_others_run_after_each_share() {
        let (bytes, mut buf) = (vec![7; MUCH], vec![0; MUCH]);
        let mut source = &bytes[..];
        let turns = turns_of_others(async {
            let mut turn = Turn::default();
            while turn.read(&mut source, &mut buf, 0).await.unwrap() > 0 {}
        });
        assert!(turns.await >= MUCH / SHARE);
    }

    #[tokio::test(flavor = "local")]
    async fn what_a_message_lacks_is_read_at_once_unless_it_is_long() {
        let (bytes, mut buf) = (vec![7; MUCH], vec![0; MUCH]);
        for (lacking, read) in [(1, SHARE), (SHARE + 1, SHARE + 1), (AS_ONE, AS_ONE), (AS_ONE + 1, SHARE)] {
            let turn = &mut Turn::default();
            assert_eq!(turn.read(&mut &bytes[..], &mut buf, lacking).await.unwrap(), read);
        }
    }

    #[tokio::test(flavor = "local")]
    async fn whoever_handles_many_messages_does_too_however_small_they_are() {
        let turns = turns_of_others(async {
            let mut turn = Turn::default();
            for _ in 0..1000 {
                turn.handled(1).await;
            }
        });
        assert!(turns.await >= 1000 * MESSAGE / SHARE);
    }

    /// Works that say when they begin, and end when they are told to; the numbers are bytes.
    fn works(
        aside: &'static Aside,
        sizes: &[usize],
    ) -> (mpsc::Receiver<usize>, mpsc::Sender<()>, Vec<JoinHandle<()>>) {
        let (started, starts) = mpsc::channel();
        let (end, ends) = mpsc::channel();
        let ends = Arc::new(Mutex::new(ends));
        let work = |bytes: &usize| {
            let (bytes, started, ends) = (*bytes, started.clone(), ends.clone());
            tokio::task::spawn_local(async move {
                let work = move || {
                    started.send(bytes).unwrap();
                    ends.lock().unwrap().recv().unwrap();
                };
                aside.run(bytes, work).await.unwrap();
            })
        };
        (starts, end, sizes.iter().map(work).collect())
    }

    #[tokio::test(flavor = "local")]
    async fn large_work_is_done_beside_and_no_more_than_a_few_at_once() {
        static ASIDE: Aside = Aside::new();
        let (starts, end, works) = works(&ASIDE, &[LARGE; AT_ONCE + 1]);
        // This thread goes on meanwhile, and sees that there is no room for the last one.
        while ASIDE.places.available_permits() > 0 {
            tokio::task::yield_now().await;
        }
        (0..AT_ONCE).for_each(|_| assert_eq!(starts.recv(), Ok(LARGE)));
        assert!(starts.try_recv().is_err());
        (0..=AT_ONCE).for_each(|_| end.send(()).unwrap());
        for work in works {
            work.await.unwrap();
        }
        assert_eq!(starts.recv(), Ok(LARGE));
    }

    #[tokio::test(flavor = "local")]
    async fn huge_ones_leave_a_place() {
        static ASIDE: Aside = Aside::new();
        let (starts, end, works) = works(&ASIDE, &[HUGE + 1, HUGE + 2, HUGE + 3, HUGE]);
        while ASIDE.places.available_permits() > 0 {
            tokio::task::yield_now().await;
        }
        let mut first = [starts.recv().unwrap(), starts.recv().unwrap()];
        first.sort_unstable();
        assert_eq!(first, [HUGE, HUGE + 1]);
        works.iter().for_each(|_| end.send(()).unwrap());
        for work in works {
            work.await.unwrap();
        }
        assert_eq!(starts.try_iter().collect::<Vec<_>>(), [HUGE + 2, HUGE + 3]);
    }

    #[tokio::test(flavor = "local")]
    async fn a_small_message_at_a_time_costs_nobody_a_turn() {
        let turns = turns_of_others(async {
            let mut turn = Turn::default();
            for _ in 0..1000 {
                let mut source = &[7; 100][..];
                turn.read(&mut source, &mut [0; 4096], 0).await.unwrap();
                turn.handled(100).await;
            }
        });
        assert_eq!(turns.await, 0);
    }
}
