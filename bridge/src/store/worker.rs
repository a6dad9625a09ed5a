//! A thread that writes for the loop, and is waited for at the end, but not for ever.
//!
//! Owns how such a thread begins and how its end is seen. Must never be what holds up the bridge: a disk may hang.

use std::convert::Infallible;
use std::sync::OnceLock;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread::Builder;
use std::time::{Duration, Instant};

use super::StoreError;

/// The time at which all worker threads must be done, once this process ends.
static END: OnceLock<Instant> = OnceLock::new();

/// The time that each one gets even then: most have nothing left to do.
const LEAST: Duration = Duration::from_millis(50);

/// Notes that this process ends: from then on nobody waits for a worker thread longer than until this time.
pub fn end_by(until: Instant) {
    // Only the first end counts.
    let _ = END.set(until);
}

/// A thread at work.
#[derive(Debug)]
pub(super) struct WriterThread {
    /// Says nothing; it is closed when the work is done.
    done: mpsc::Receiver<Infallible>,
}

impl WriterThread {
    /// Starts it.
    pub(super) fn start(name: &str, work: impl FnOnce() + Send + 'static) -> Result<Self, StoreError> {
        let (ending, done) = mpsc::channel();
        let failed = |source| StoreError::File { what: format!("start the thread {name}"), source };
        Builder::new()
            .name(name.into())
            .spawn(move || {
                work();
                drop(ending);
            })
            .map_err(failed)?;
        Ok(Self { done })
    }

    /// True if the work is done within `limit`.
    pub(super) fn ends_within(&self, limit: Duration) -> bool {
        let left = END.get().map(|until| until.saturating_duration_since(Instant::now()).max(LEAST));
        let limit = left.map_or(limit, |left| left.min(limit));
        self.done.recv_timeout(limit) != Err(RecvTimeoutError::Timeout)
    }
}
