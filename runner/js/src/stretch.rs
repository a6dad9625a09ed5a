//! The time of one stretch: from an event until all that it caused has been done.
//!
//! Owns the deadline, and the kernel's alarm behind it: work that the engine does in one step, such as a huge power, asks no
//! deadline. Time in which a reader of the output makes the script wait does not count.

use std::cell::Cell;
use std::time::{Duration, Instant};

use nix::unistd::alarm;

/// The stretch that is going on.
#[derive(Debug)]
pub(crate) struct Stretch {
    limit: Duration,
    deadline: Cell<Option<Instant>>,
    is_over: Cell<bool>,
}

impl Stretch {
    /// None yet.
    pub(crate) fn new(limit: Duration) -> Self {
        Self { limit, deadline: Cell::new(None), is_over: Cell::new(false) }
    }

    /// The longest stretch.
    pub(crate) fn limit(&self) -> Duration {
        self.limit
    }

    /// Begins a stretch.
    pub(crate) fn begin(&self) {
        self.deadline.set(Instant::now().checked_add(self.limit));
        self.arm();
    }

    /// Ends it: nothing runs until the next.
    pub(crate) fn end(&self) {
        self.deadline.set(None);
        alarm::cancel();
    }

    /// True once the stretch has been too long; it stays so.
    pub(crate) fn is_too_long(&self) -> bool {
        let passed = self.deadline.get().is_some_and(|deadline| Instant::now() >= deadline);
        self.is_over.set(self.is_over.get() || passed);
        self.is_over.get()
    }

    /// Does something whose time does not count.
    pub(crate) fn apart<T>(&self, work: impl FnOnce() -> T) -> T {
        alarm::cancel();
        let began = Instant::now();
        let done = work();
        self.deadline.set(self.deadline.get().and_then(|deadline| deadline.checked_add(began.elapsed())));
        self.arm();
        done
    }

    /// The alarm ends the process by a signal, one to two seconds after the deadline.
    fn arm(&self) {
        let seconds = self.limit.as_secs().saturating_add(2);
        alarm::set(u32::try_from(seconds).unwrap_or(u32::MAX));
    }
}
