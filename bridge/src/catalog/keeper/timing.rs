//! The times at which the worker is asked without a request, and the effect of a changed configuration.
//!
//! Owns the one timer. It reads the wall clock once a minute: the machine may have slept.

use std::rc::{Rc, Weak};
use std::time::Duration;

use harbor_home::clock::{wall_clock, wall_clock_nanos};
use harbor_policy::lifecycle::State;

use super::Keeper;
use crate::catalog::open_work::WorkKind;
use crate::catalog::schedule;

/// How long a configuration must stay the same before it is followed.
const SETTLED: Duration = Duration::from_millis(500);

const LOOK: Duration = Duration::from_secs(60);

impl Keeper {
    /// Nothing of an earlier bridge is left: looks into the file, and does the requests that came meanwhile.
    pub(in crate::catalog) async fn begin(self: &Rc<Self>) {
        self.look_now().await;
        self.may_start.set(true);
        self.due_from_start();
        let is_wanted = !self.works.borrow().is_empty() || self.opened.receiver_count() > 0;
        if self.available().is_ok() && is_wanted {
            self.worker.start();
        }
        tokio::task::spawn_local(keep_time(Rc::downgrade(self)));
    }

    fn due_from_start(&self) {
        let summary = self.told.summary.borrow();
        let last = summary.as_ref().and_then(|found| found.as_ref().ok()?.last_attempt);
        drop(summary);
        let interval = self.followed.borrow().interval;
        self.set_due(schedule::at_start(wall_clock(), last, interval, wall_clock_nanos()));
    }

    pub(super) fn next_after(&self, not_before: &[Option<u64>]) {
        let interval = self.followed.borrow().interval;
        self.set_due(schedule::after(wall_clock(), not_before, interval, wall_clock_nanos()));
    }

    fn set_due(&self, due: u64) {
        self.due.set(self.available().is_ok().then_some(due));
        self.rearm.notify_one();
    }

    /// `config.toml` was read again. It is followed only after a moment: somebody may still be writing it,
    /// and the entries of a source that it no longer names are removed.
    pub(in crate::catalog) fn follow_config(self: &Rc<Self>) {
        self.settling.set(self, Some(SETTLED), |keeper| keeper.take_config());
    }

    fn take_config(self: &Rc<Self>) {
        let now = self.config.now().catalog.clone();
        if *self.followed.borrow() == now {
            return;
        }
        let enabled = now.enabled;
        *self.followed.borrow_mut() = now;
        if !enabled {
            self.due.set(None);
            self.worker.stop();
        } else {
            if self.worker.state() == State::Running {
                self.configure();
            }
            // The sources that are configured now were never fetched.
            let interval = self.followed.borrow().interval;
            self.set_due(schedule::at_start(wall_clock(), None, interval, 0));
        }
        self.rearm.notify_one();
        self.tell();
    }

    fn refresh_if_due(self: &Rc<Self>) {
        let now = wall_clock();
        if self.due.get().is_some_and(|due| due <= now) && self.available().is_ok() {
            // Set until the refresh is over, and the next time is known.
            self.next_after(&[]);
            self.ask_for_nobody(WorkKind::Refresh { full: false });
        }
    }
}

async fn keep_time(keeper: Weak<Keeper>) {
    while let Some(keeper) = keeper.upgrade() {
        if keeper.ending.get() {
            return;
        }
        keeper.refresh_if_due();
        let rearmed = keeper.rearm.notified();
        let left = keeper.due.get().map(|due| Duration::from_millis(due.saturating_sub(wall_clock())));
        // Whichever comes first, the time is checked again.
        drop(tokio::time::timeout(left.unwrap_or(LOOK).min(LOOK), rearmed).await);
    }
}
