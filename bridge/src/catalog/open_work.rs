//! The work for the worker, and those who wait for it.
//!
//! ```text
//!  join ─┬─ the same is asked for already: one more waits for that
//!        └─ new: a number ─► sent ─► done, or the worker is lost ─► sent again ─► … ─► given up
//! ```
//!
//! Owns the numbers; pure. Must never let anybody wait for work that nobody does: each waiter gets one answer.

use std::collections::BTreeMap;

/// How often work is tried. If the worker dies each time, the work is the cause.
const MOST_TRIES: u32 = 3;

/// A kind of work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorkKind {
    /// Fetches the sources: everything, or only the changes.
    Refresh {
        /// True if everything is fetched.
        full: bool,
    },
    /// Looks up more about entries.
    Enrich,
}

impl WorkKind {
    /// True if work of this kind also does work of kind `other`.
    fn covers(self, other: Self) -> bool {
        self == other || matches!((self, other), (Self::Refresh { full: true }, Self::Refresh { .. }))
    }
}

#[derive(Debug)]
struct Work<W> {
    kind: WorkKind,
    tries: u32,
    waiting: Vec<W>,
}

/// All open work.
#[derive(Debug)]
pub(super) struct Works<W> {
    last: u32,
    open: BTreeMap<u32, Work<W>>,
}

impl<W> Default for Works<W> {
    fn default() -> Self {
        Self { last: 0, open: BTreeMap::new() }
    }
}

impl<W> Works<W> {
    /// Adds work, and its waiter if there is one. Returns the number of new work that must be sent.
    pub(super) fn join(&mut self, kind: WorkKind, waiter: Option<W>) -> Option<u32> {
        if let Some(work) = self.open.values_mut().find(|work| work.kind.covers(kind)) {
            work.waiting.extend(waiter);
            return None;
        }
        // 0 means something else, so it is skipped even after four billion refreshes.
        self.last = self.last.wrapping_add(1).max(1);
        self.open.insert(self.last, Work { kind, tries: 0, waiting: waiter.into_iter().collect() });
        Some(self.last)
    }

    /// The work for a worker that can be asked now: all of it, or only this number. It counts as a try.
    pub(super) fn dispatch(&mut self, only: Option<u32>) -> Vec<(u32, WorkKind)> {
        let open = self.open.iter_mut().filter(|(id, _)| only.is_none_or(|only| only == **id));
        open.map(|(id, work)| {
            work.tries += 1;
            (*id, work.kind)
        })
        .collect()
    }

    /// Ends work.
    pub(super) fn end(&mut self, id: u32) -> Option<(WorkKind, Vec<W>)> {
        self.open.remove(&id).map(|work| (work.kind, work.waiting))
    }

    /// Handles the loss of a worker that will be replaced. Returns the work that is not tried again.
    pub(super) fn lose(&mut self) -> Vec<(WorkKind, Vec<W>)> {
        self.take(|work| work.tries >= MOST_TRIES)
    }

    /// Handles the loss of a worker that will not be replaced. Returns all work.
    pub(super) fn give_up(&mut self) -> Vec<(WorkKind, Vec<W>)> {
        self.take(|_| true)
    }

    fn take(&mut self, which: impl Fn(&Work<W>) -> bool) -> Vec<(WorkKind, Vec<W>)> {
        self.open.extract_if(.., |_, work| which(work)).map(|(_, work)| (work.kind, work.waiting)).collect()
    }

    /// All waiters.
    pub(super) fn waiting(&self) -> impl Iterator<Item = &W> {
        self.open.values().flat_map(|work| &work.waiting)
    }

    /// The work that is probably done now: the worker does one after the other.
    pub(super) fn first(&self) -> Option<WorkKind> {
        self.open.values().next().map(|work| work.kind)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.open.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const FULL: WorkKind = WorkKind::Refresh { full: true };
    const SOME: WorkKind = WorkKind::Refresh { full: false };

    #[test]
    fn the_same_is_done_once_and_everything_covers_a_part() {
        let mut works = Works::default();
        assert_eq!(works.join(SOME, Some('a')), Some(1));
        assert_eq!(works.join(SOME, Some('b')), None);
        assert_eq!(works.join(FULL, Some('c')), Some(2), "a part does not cover everything");
        assert_eq!(works.join(WorkKind::Enrich, None), Some(3));
        assert_eq!(works.dispatch(Some(2)), [(2, FULL)]);
        assert_eq!(works.end(1), Some((SOME, vec!['a', 'b'])));
        assert_eq!(works.join(SOME, Some('d')), None, "everything covers a part");
        assert_eq!((works.end(2), works.end(2)), (Some((FULL, vec!['c', 'd'])), None));
        assert_eq!(works.give_up(), [(WorkKind::Enrich, vec![])]);
        assert!(works.is_empty());
    }

    #[test]
    fn what_loses_its_worker_again_and_again_is_given_up() {
        let mut works = Works::default();
        let _ = works.join(SOME, Some('a'));
        for _ in 1..MOST_TRIES {
            assert_eq!(works.dispatch(None).len(), 1);
            assert_eq!(works.lose(), []);
        }
        let _ = works.join(FULL, Some('b'));
        assert_eq!(works.dispatch(None).len(), 2);
        assert_eq!(works.lose(), [(SOME, vec!['a'])]);
        assert_eq!(works.waiting().collect::<Vec<_>>(), [&'b']);
    }

    proptest! {
        #[test]
        fn each_waiter_comes_out_once(steps in proptest::collection::vec(0u8..8, 0..60)) {
            let (mut works, mut came, mut went) = (Works::default(), 0u32, Vec::new());
            for step in steps {
                let out = match step {
                    0..3 => {
                        came += 1;
                        works.join([SOME, FULL, WorkKind::Enrich][usize::from(step)], Some(came));
                        Vec::new()
                    }
                    3 => { works.dispatch(None); Vec::new() }
                    4 => works.lose(),
                    5 => works.give_up(),
                    id => works.end(u32::from(id) - 5).into_iter().collect(),
                };
                went.extend(out.into_iter().flat_map(|(_, waiters)| waiters));
            }
            went.extend(works.give_up().into_iter().flat_map(|(_, waiters)| waiters));
            went.sort_unstable();
            prop_assert_eq!(went, (1..=came).collect::<Vec<_>>());
        }
    }
}
