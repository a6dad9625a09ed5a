//! Changes that a server reports: of its lists, and of resources.
//!
//! ```text
//!  said ─► not told for PAUSE? ─► told at once
//!            └─ just told ─► kept, each once ─► told together, PAUSE after the last time, or before an answer
//! ```
//!
//! Owns how often the bridge is told. Whoever is told asks again, and a server may report changes a hundred thousand times a
//! second. Pure: no clock, no I/O.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use harbor_ipc_proto::link::runner::List;

/// The shortest time between two tellings.
const PAUSE: Duration = Duration::from_millis(50);

/// The bytes of resources' URIs that are kept between reports.
const MOST: usize = 256 * 1024;

/// Bytes that each resource takes besides its text.
const EACH: usize = 64;

/// The changes that the bridge has not been told of.
#[derive(Debug, Default)]
pub(super) struct News {
    lists: BTreeSet<List>,
    resources: BTreeSet<String>,
    /// Bytes that their URIs take.
    length: usize,
    told: Option<Instant>,
    due: Option<Instant>,
}

impl News {
    /// A list has changed.
    pub(super) fn note_list(&mut self, list: List, now: Instant) {
        self.lists.insert(list);
        self.is_due(now);
    }

    /// A resource has changed; false where there were too many of them, and it is not kept.
    pub(super) fn note_resource(&mut self, uri: &str, now: Instant) -> bool {
        if self.resources.contains(uri) {
            return true;
        }
        let length = self.length + EACH + uri.len();
        if length > MOST {
            return false;
        }
        self.length = length;
        self.resources.insert(uri.to_owned());
        self.is_due(now);
        true
    }

    fn is_due(&mut self, now: Instant) {
        let told = self.told;
        self.due.get_or_insert_with(|| told.map_or(now, |told| now.max(told + PAUSE)));
    }

    /// The time of the next report.
    pub(super) fn due(&self) -> Option<Instant> {
        self.due
    }

    /// The changes that are due now: lists, and URIs of resources.
    pub(super) fn take_due(&mut self, now: Instant) -> Option<(BTreeSet<List>, BTreeSet<String>)> {
        self.due.filter(|due| *due <= now)?;
        self.take(now)
    }

    /// Takes all news, even before its time, because an answer comes behind it.
    pub(super) fn take(&mut self, now: Instant) -> Option<(BTreeSet<List>, BTreeSet<String>)> {
        self.due.take()?;
        self.told = Some(now);
        self.length = 0;
        Some((std::mem::take(&mut self.lists), std::mem::take(&mut self.resources)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_first_is_told_at_once_and_a_flood_together_later() {
        let (mut news, begun) = (News::default(), Instant::now());
        news.note_list(List::Tools, begun);
        let told = news.take_due(begun).unwrap();
        assert_eq!(told, ([List::Tools].into(), BTreeSet::new()));
        for _ in 0..1000 {
            news.note_list(List::Tools, begun);
            assert!(news.note_resource("file:///x", begun));
            assert!(news.take_due(begun).is_none());
        }
        assert_eq!(news.due(), Some(begun + PAUSE));
        assert_eq!(news.take(begun).unwrap().1.len(), 1, "an answer does not overtake it");
        assert!(news.take(begun).is_none());
        news.note_list(List::Tools, begun);
        assert!(news.note_resource("file:///x", begun));
        let told = news.take_due(begun + PAUSE).unwrap();
        assert_eq!(told, ([List::Tools].into(), ["file:///x".to_owned()].into()));
        assert_eq!(news.due(), None);
    }

    #[test]
    fn so_many_resources_are_kept() {
        let (mut news, now) = (News::default(), Instant::now());
        let long = "x".repeat(MOST - EACH);
        assert!(news.note_resource(&long, now) && !news.note_resource("y", now));
        assert!(news.note_resource(&long, now), "it is kept already");
        assert_eq!(news.take_due(now).unwrap().1.len(), 1);
        assert!(news.note_resource("y", now));
    }

    proptest! {
        /// Each noted change is told at most PAUSE later, and never twice within PAUSE.
        #[test]
        fn nothing_is_lost_and_nothing_is_told_too_often(steps in prop::collection::vec((0u64..80, 0u8..3), 1..100)) {
            let (mut news, mut now) = (News::default(), Instant::now());
            let (mut wanted, mut last) = (BTreeSet::new(), None::<Instant>);
            for (wait, what) in steps {
                let next = now + Duration::from_millis(wait);
                if let Some(due) = news.due().filter(|due| *due <= next) {
                    prop_assert!(last.is_none_or(|last| due >= last + PAUSE));
                    prop_assert_eq!(news.take_due(due).unwrap().1, std::mem::take(&mut wanted));
                    last = Some(due);
                }
                now = next;
                let uri = what.to_string();
                prop_assert!(news.note_resource(&uri, now));
                wanted.insert(uri);
                prop_assert!(news.due().is_some_and(|due| due <= now + PAUSE));
            }
        }
    }
}
