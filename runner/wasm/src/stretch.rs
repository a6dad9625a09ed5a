//! The time of one stretch: what a module computes between two waits.
//!
//! Owns the measure: the processor's time of this thread. A wait costs none, whether for input, for a reader of the output
//! or for a clock; and another busy program on the machine is not the module's fault.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use nix::time::{ClockId, clock_gettime};

/// The stretch that is going on. Copies are the same one.
#[derive(Debug, Clone)]
pub(crate) struct Stretch {
    limit: Duration,
    /// The thread's time at its begin, in nanoseconds.
    began: Arc<AtomicU64>,
}

impl Stretch {
    /// One that begins now.
    pub(crate) fn new(limit: Duration) -> Self {
        let stretch = Self { limit, began: Arc::default() };
        stretch.begin();
        stretch
    }

    /// The longest stretch.
    pub(crate) fn limit(&self) -> Duration {
        self.limit
    }

    /// Begins the next one: the module has waited.
    pub(crate) fn begin(&self) {
        self.began.store(nanoseconds(now()), Ordering::Relaxed);
    }

    /// True once the stretch has been too long.
    pub(crate) fn is_too_long(&self) -> bool {
        let began = self.began.load(Ordering::Relaxed);
        nanoseconds(now()).saturating_sub(began) > nanoseconds(self.limit)
    }
}

/// The processor's time that this thread has had.
fn now() -> Duration {
    // This clock is there on every Linux; without it the stretch would only be longer.
    clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).map_or(Duration::MAX, Duration::from)
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
