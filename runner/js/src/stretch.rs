//! The time of one stretch: from an event until all that it caused has been done.
//!
//! ```text
//!  begin ─► deadline ─┬─ the engine asks, every few thousand steps ─► is_too_long
//!                     └─ GRACE later: the watch, a thread of its own ─► the process ends
//! ```
//!
//! Owns the deadline, and the watch behind it: work that the engine does in one step, such as a huge power, asks no deadline. Time
//! in which a reader of the output makes the script wait does not count. The watch sleeps while there is no deadline.

use std::cell::Cell;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

/// How long the engine has to notice by itself.
const GRACE: Duration = Duration::from_millis(50);

/// Bytes of the watch's stack.
const STACK: usize = 64 * 1024;

/// No deadline.
const NONE: u64 = 0;

/// The stretch that is going on.
#[derive(Debug)]
pub(crate) struct Stretch {
    limit: Duration,
    shared: Arc<Shared>,
    watch: Thread,
    is_over: Cell<bool>,
}

/// The state that the watch sees.
#[derive(Debug)]
struct Shared {
    began: Instant,
    /// In microseconds since `began`.
    deadline: AtomicU64,
    /// True while the watch sleeps until it is woken.
    rests: AtomicBool,
}

impl Stretch {
    /// None yet. `on_over` ends the process.
    ///
    /// # Errors
    /// When there can be no further thread.
    pub(crate) fn new(limit: Duration, on_over: impl FnOnce() + Send + 'static) -> io::Result<Self> {
        let shared = Arc::new(Shared {
            began: Instant::now(),
            deadline: AtomicU64::new(NONE),
            rests: AtomicBool::new(false),
        });
        let seen = shared.clone();
        let watch = thread::Builder::new().stack_size(STACK).spawn(move || {
            seen.watch();
            on_over();
        })?;
        Ok(Self { limit, shared, watch: watch.thread().clone(), is_over: Cell::new(false) })
    }

    /// The longest stretch.
    pub(crate) fn limit(&self) -> Duration {
        self.limit
    }

    /// Begins a stretch.
    pub(crate) fn begin(&self) {
        self.until(self.shared.now().saturating_add(micros(self.limit)));
    }

    /// Ends it: nothing runs until the next.
    pub(crate) fn end(&self) {
        self.shared.deadline.store(NONE, Ordering::SeqCst);
    }

    /// True once the stretch has been too long; it stays so.
    pub(crate) fn is_too_long(&self) -> bool {
        let deadline = self.shared.deadline.load(Ordering::SeqCst);
        let passed = deadline != NONE && self.shared.now() >= deadline;
        self.is_over.set(self.is_over.get() || passed);
        self.is_over.get()
    }

    /// Does something whose time does not count.
    pub(crate) fn apart<T>(&self, work: impl FnOnce() -> T) -> T {
        let deadline = self.shared.deadline.swap(NONE, Ordering::SeqCst);
        let began = self.shared.now();
        let done = work();
        if deadline != NONE {
            self.until(deadline.saturating_add(self.shared.now().saturating_sub(began)));
        }
        done
    }

    fn until(&self, deadline: u64) {
        self.shared.deadline.store(deadline, Ordering::SeqCst);
        if self.shared.rests.swap(false, Ordering::SeqCst) {
            self.watch.unpark();
        }
    }
}

impl Shared {
    fn now(&self) -> u64 {
        micros(self.began.elapsed())
    }

    /// Returns once a deadline has passed and the engine has not noticed.
    fn watch(&self) {
        loop {
            let deadline = self.deadline.load(Ordering::SeqCst);
            if deadline == NONE {
                self.rests.store(true, Ordering::SeqCst);
                if self.deadline.load(Ordering::SeqCst) == NONE {
                    thread::park();
                }
                continue;
            }
            let left = deadline.saturating_add(micros(GRACE)).saturating_sub(self.now());
            let is_same =
                || self.deadline.compare_exchange(deadline, NONE, Ordering::SeqCst, Ordering::SeqCst).is_ok();
            match left {
                0 if is_same() => return,
                0 => {}
                left => thread::park_timeout(Duration::from_micros(left)),
            }
        }
    }
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[test]
    fn the_watch_comes_when_nobody_asks_and_only_then() {
        let (over, is_over) = mpsc::channel();
        let stretch =
            Stretch::new(Duration::from_millis(20), move || over.send(Instant::now()).unwrap()).unwrap();
        // Ends in time, and time apart: no reason to come.
        for _ in 0..20 {
            stretch.begin();
            stretch.apart(|| while stretch.shared.now() % 5000 < 4900 {});
            stretch.end();
        }
        assert!(is_over.recv_timeout(Duration::from_millis(100)).is_err());
        let began = Instant::now();
        stretch.begin();
        let came = is_over.recv().unwrap() - began;
        assert!(came >= Duration::from_millis(20) + GRACE, "{came:?}");
    }
}
