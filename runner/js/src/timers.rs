//! The script's timers.
//!
//! Owns when which is due. Pure: the time is an argument. The functions that they call stay with the script.

use std::collections::{BTreeSet, HashMap};

/// The most timers at one time.
pub(crate) const MAX_TIMERS: usize = 1000;

/// The timers that are set. Times are milliseconds since the start.
#[derive(Debug, Default)]
pub(crate) struct Timers {
    last: u32,
    due: BTreeSet<(u64, u32)>,
    of_id: HashMap<u32, u64>,
}

impl Timers {
    /// Sets a timer. Returns its number, or None if there are too many.
    pub(crate) fn set(&mut self, at: u64) -> Option<u32> {
        if self.of_id.len() >= MAX_TIMERS {
            return None;
        }
        self.last = self.last.checked_add(1)?;
        self.due.insert((at, self.last));
        self.of_id.insert(self.last, at);
        Some(self.last)
    }

    /// Sets the timer with this number once more.
    pub(crate) fn again(&mut self, id: u32, at: u64) {
        self.clear(id);
        self.due.insert((at, id));
        self.of_id.insert(id, at);
    }

    /// Clears a timer, if it is set.
    pub(crate) fn clear(&mut self, id: u32) {
        if let Some(at) = self.of_id.remove(&id) {
            self.due.remove(&(at, id));
        }
    }

    /// Takes the timer that is due first, if one is due.
    pub(crate) fn take_due(&mut self, now: u64) -> Option<u32> {
        let (_, id) = *self.due.first().filter(|(at, _)| *at <= now)?;
        self.clear(id);
        Some(id)
    }

    /// When the next one is due.
    pub(crate) fn next(&self) -> Option<u64> {
        self.due.first().map(|(at, _)| *at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_thousand_timers_are_all() {
        let mut timers = Timers::default();
        assert!((0..1000).all(|at| timers.set(at).is_some()));
        assert_eq!(timers.set(0), None);
        timers.clear(7);
        assert_eq!(timers.set(0), Some(1001));
    }

    proptest! {
        /// Against a plain list: due timers come by time, then by number, each once.
        #[test]
        fn they_come_in_their_order(times in prop::collection::vec(0u64..50, 0..60), gone in 0u32..60, now in 0u64..60) {
            let mut timers = Timers::default();
            let mut model: Vec<_> = times.iter().map(|at| (*at, timers.set(*at).unwrap())).collect();
            timers.clear(gone);
            model.retain(|(at, id)| *at <= now && *id != gone);
            model.sort_unstable();
            let taken: Vec<_> = std::iter::from_fn(|| timers.take_due(now)).collect();
            prop_assert_eq!(taken, model.into_iter().map(|(_, id)| id).collect::<Vec<_>>());
            prop_assert!(timers.next().is_none_or(|at| at > now));
        }
    }
}
