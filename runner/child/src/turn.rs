//! How much one task does before the others have their turn.
//!
//! ```text
//!  a piece read, a message handled, a piece written ─► counted ─► over a share? ─► behind all that wait, and what has come
//! ```
//!
//! All of a process's connections share one thread: whoever has much to move must not keep those waiting that have
//! little. Owns the measure of a turn. Must never wait for anything but the others.

use std::io;

use tokio::io::AsyncRead;

use crate::outbox::read_some;

/// What is moved at a time, in bytes: some microseconds of work.
pub const SHARE: usize = 16 * 1024;

/// What a message costs beside its bytes, in bytes.
const MESSAGE: usize = 1024;

/// What one task has done since the others had their turn.
#[derive(Debug, Default)]
pub struct Turn {
    done: usize,
}

impl Turn {
    /// Reads at most a share of what is there into `buf`, waiting until something is; 0 at the end of the stream.
    ///
    /// # Errors
    /// As read(2).
    pub async fn read(&mut self, source: &mut (impl AsyncRead + Unpin), buf: &mut [u8]) -> io::Result<usize> {
        let share = buf.len().min(SHARE);
        let n = read_some(source, &mut buf[..share]).await?;
        if n < share {
            // All was read: the next read waits, and so does this task.
            self.done = 0;
        } else {
            self.moved(n).await;
        }
        Ok(n)
    }

    /// A message of so many bytes was handled.
    pub async fn handled(&mut self, bytes: usize) {
        self.moved(bytes + MESSAGE).await;
    }

    /// So many bytes were read or written.
    pub async fn moved(&mut self, bytes: usize) {
        self.done += bytes;
        if self.done >= SHARE {
            self.done = 0;
            tokio::task::yield_now().await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;
    use std::rc::Rc;

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
            while turn.read(&mut source, &mut buf).await.unwrap() > 0 {}
        });
        assert!(turns.await >= MUCH / SHARE);
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

    #[tokio::test(flavor = "local")]
    async fn a_small_message_at_a_time_costs_nobody_a_turn() {
        let turns = turns_of_others(async {
            let mut turn = Turn::default();
            for _ in 0..1000 {
                let mut source = &[7; 100][..];
                turn.read(&mut source, &mut [0; 4096]).await.unwrap();
                turn.handled(100).await;
            }
        });
        assert_eq!(turns.await, 0);
    }
}
