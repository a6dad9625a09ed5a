//! When which call has waited long enough.
//!
//! Owns the order of deadlines for one link, behind a single timer. Arming a timer that is earlier than all others wakes the
//! runtime by a system call. So the timer stays armed when its call has ended: of a thousand calls in a row, one arms it. Time is
//! an argument.

use std::collections::BTreeSet;
use std::time::Instant;

/// The open deadlines.
#[derive(Debug, Default)]
pub(super) struct Deadlines {
    open: BTreeSet<(Instant, u64)>,
    armed: Option<Instant>,
}

impl Deadlines {
    /// Adds the deadline of call `id`; returns whether the timer must be armed anew.
    pub(super) fn add(&mut self, at: Instant, id: u64) -> bool {
        self.open.insert((at, id));
        self.armed.is_none_or(|armed| at < armed)
    }

    /// The call has ended.
    pub(super) fn remove(&mut self, at: Instant, id: u64) {
        self.open.remove(&(at, id));
    }

    /// Takes the calls whose time has come.
    pub(super) fn take_due(&mut self, now: Instant) -> Vec<u64> {
        let mut due = Vec::new();
        while let Some((at, id)) = self.open.first().copied().filter(|(at, _)| *at <= now) {
            self.open.remove(&(at, id));
            due.push(id);
        }
        due
    }

    /// The next time at which the timer must fire. It then counts as armed for it.
    pub(super) fn arm(&mut self) -> Option<Instant> {
        self.armed = self.open.first().map(|(at, _)| *at);
        self.armed
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::time::Duration;

    proptest! {
        /// With the timer armed as told, every call is due exactly at its deadline, and only once.
        #[test]
        fn every_deadline_is_met(calls in prop::collection::vec((0u64..50, 0u64..50, any::<bool>()), 0..60)) {
            let start = Instant::now();
            let at = |ms| start + Duration::from_millis(ms);
            let (mut deadlines, mut armed) = (Deadlines::default(), None);
            let mut waiting = BTreeSet::new();
            for now in 0..120 {
                for (id, (begin, limit, ends)) in calls.iter().enumerate() {
                    if *begin == now && deadlines.add(at(begin + limit), id as u64) {
                        armed = deadlines.arm();
                    }
                    if *begin == now { waiting.insert((begin + limit, id as u64)); }
                    if *ends && begin + limit / 2 == now && limit / 2 > 0 {
                        deadlines.remove(at(begin + limit), id as u64);
                        waiting.remove(&(begin + limit, id as u64));
                    }
                }
                if armed.is_some_and(|armed| armed <= at(now)) {
                    for id in deadlines.take_due(at(now)) {
                        let found = waiting.iter().find(|(_, waits)| *waits == id).copied();
                        prop_assert_eq!(found.map(|(when, _)| when), Some(now));
                        waiting.remove(&found.unwrap());
                    }
                    armed = deadlines.arm();
                }
                prop_assert!(waiting.iter().all(|(when, _)| *when > now));
            }
        }
    }
}
