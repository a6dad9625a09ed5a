//! Entries that are remembered by name, and forgotten again.
//!
//! Owns the bound on memory. Must never forget an entry that has something under way.

use std::collections::HashMap;
use std::sync::Arc;

use crate::lifecycle::Millis;

/// Idle entries that are kept, for the tokens that they lack.
const MAX_IDLE: usize = 10_000;

/// An entry that can be forgotten.
pub(super) trait ForgettableEntry {
    fn new(now: Millis) -> Self;
    /// The time of its last use. None while something is under way.
    fn idle_since(&self) -> Option<Millis>;
    /// True if a new entry would be no different.
    fn is_as_new(&mut self, now: Millis) -> bool;
}

#[derive(Debug)]
pub(super) struct Entries<E> {
    of: HashMap<Arc<str>, E>,
    /// How many there may be before some are forgotten.
    most: usize,
}

impl<E> Default for Entries<E> {
    fn default() -> Self {
        Self { of: HashMap::new(), most: MAX_IDLE }
    }
}

impl<E: ForgettableEntry> Entries<E> {
    pub(super) fn get(&self, name: &str) -> Option<&E> {
        self.of.get(name)
    }

    pub(super) fn get_mut(&mut self, name: &str) -> Option<&mut E> {
        self.of.get_mut(name)
    }

    /// The entry of this name, which is new if there was none.
    pub(super) fn entry(&mut self, name: &str, now: Millis) -> (Arc<str>, &mut E) {
        let known = self.of.get_key_value(name).map(|(key, _)| key.clone());
        let key = known.unwrap_or_else(|| {
            self.make_room(now);
            Arc::from(name)
        });
        (key.clone(), self.of.entry(key).or_insert_with(|| E::new(now)))
    }

    pub(super) fn purge(&mut self, now: Millis) {
        self.of.retain(|_, entry| !entry.is_as_new(now));
    }

    /// Forgets those that are as new, and if that is too little, the half that has been idle longest: they lack the
    /// fewest tokens. The next time is far enough away that a new name costs little on average.
    fn make_room(&mut self, now: Millis) {
        if self.of.len() < self.most {
            return;
        }
        self.purge(now);
        let mut idle: Vec<_> = self.of.values().filter_map(ForgettableEntry::idle_since).collect();
        if idle.len() > MAX_IDLE / 2 {
            let middle = idle.len() / 2;
            let middle = *idle.select_nth_unstable(middle).1;
            self.of.retain(|_, entry| entry.idle_since().is_none_or(|since| since > middle));
        }
        self.most = self.of.len().saturating_mul(2).max(MAX_IDLE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Under way, or lacking something since then.
    struct Double(Option<Millis>);

    impl ForgettableEntry for Double {
        fn new(now: Millis) -> Self {
            Self(Some(now))
        }

        fn idle_since(&self) -> Option<Millis> {
            self.0
        }

        fn is_as_new(&mut self, now: Millis) -> bool {
            self.0.is_some_and(|since| since + 60_000 <= now)
        }
    }

    #[test]
    fn who_lacks_nothing_is_forgotten_first() {
        let mut entries = Entries::<Double>::default();
        for i in 0..MAX_IDLE as u64 {
            let _ = entries.entry(&i.to_string(), if i < 6000 { 0 } else { 50_000 });
        }
        let _ = entries.entry("new", 60_000);
        assert_eq!((entries.of.len(), entries.most), (4001, MAX_IDLE));
    }

    #[test]
    fn the_longest_idle_half_is_forgotten_when_nobody_is_as_new() {
        let mut entries = Entries::<Double>::default();
        for i in 0..100_000u64 {
            let _ = entries.entry(&i.to_string(), i % 7);
            assert!(entries.of.len() <= MAX_IDLE);
        }
        let mut entries = Entries::<Double>::default();
        for i in 0..=MAX_IDLE as u64 {
            let _ = entries.entry(&i.to_string(), i);
        }
        let oldest = entries.of.values().filter_map(ForgettableEntry::idle_since).min();
        assert_eq!((entries.of.len(), oldest), (MAX_IDLE / 2, Some(MAX_IDLE as u64 / 2 + 1)));
    }

    #[test]
    fn what_is_under_way_is_never_forgotten() {
        let mut entries = Entries::<Double>::default();
        for i in 0..25_000u64 {
            entries.entry(&i.to_string(), 0).1.0 = None;
        }
        assert_eq!(entries.of.len(), 25_000);
        entries.of.values_mut().for_each(|entry| entry.0 = Some(0));
        for i in 25_000..60_000u64 {
            let _ = entries.entry(&i.to_string(), 60_000);
        }
        assert!(entries.of.len() <= 20_000, "they are idle now, and gone: {}", entries.of.len());
    }
}
