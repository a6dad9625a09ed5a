//! Decides which job runs next, and which requests are answered when it ends.
//!
//! ```text
//!  refresh(id, full) ─┬─ one runs that is full, or neither is: joins it
//!                     └─ otherwise: waits, and goes in one with all others that wait
//!  begin ─► Refresh before Enrich, one at a time        done ─► the ids that are answered
//! ```
//!
//! Owns which requests wait and which one runs. Must never lose an id, nor answer one twice.

/// Requests of one kind that may wait.
pub const MAX_WAITING: usize = 256;

/// Something to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Job {
    /// Fetch from the sources.
    Refresh {
        /// Everything.
        full: bool,
        /// True for a refresh that nobody asked for. It leaves out sources that are not due.
        due_only: bool,
    },
    /// Look up more about entries.
    Enrich,
}

/// The jobs that wait, and the one that runs.
#[derive(Debug, Default)]
pub struct Agenda {
    refreshes: Vec<u32>,
    full: bool,
    due: bool,
    enrichments: Vec<u32>,
    enrich: bool,
    running: Option<(Job, Vec<u32>)>,
}

impl Agenda {
    /// Notes a request for a refresh. False if too many requests wait.
    pub fn refresh(&mut self, id: u32, full: bool) -> bool {
        if let Some((Job::Refresh { full: running, due_only: false }, ids)) = &mut self.running
            && (*running || !full)
        {
            return push(ids, id);
        }
        let taken = push(&mut self.refreshes, id);
        self.full |= full && taken;
        taken
    }

    /// Notes a request for an enrichment. False if too many requests wait.
    pub fn enrich(&mut self, id: u32) -> bool {
        match &mut self.running {
            Some((Job::Enrich, ids)) => push(ids, id),
            _ => push(&mut self.enrichments, id),
        }
    }

    /// Notes that a refresh has ended: the entries that it found are looked up next, whoever asked for it.
    pub fn enrich_then(&mut self) {
        self.enrich = true;
    }

    /// The interval has passed for some source.
    pub fn due(&mut self) {
        self.due = self.running.is_none();
    }

    /// Takes the job that begins now; nothing while one runs.
    pub fn begin(&mut self) -> Option<Job> {
        if self.running.is_some() {
            return None;
        }
        let (job, ids) = if !self.refreshes.is_empty() {
            let full = std::mem::take(&mut self.full);
            (Job::Refresh { full, due_only: false }, std::mem::take(&mut self.refreshes))
        } else if self.enrich || !self.enrichments.is_empty() {
            self.enrich = false;
            (Job::Enrich, std::mem::take(&mut self.enrichments))
        } else if self.due {
            (Job::Refresh { full: false, due_only: true }, Vec::new())
        } else {
            return None;
        };
        self.due = false;
        self.running = Some((job, ids));
        Some(job)
    }

    /// The job that runs.
    #[must_use]
    pub fn running(&self) -> Option<Job> {
        self.running.as_ref().map(|(job, _)| *job)
    }

    /// Notes that the job has ended. Returns the ids to answer, or 0 if nobody asked.
    pub fn done(&mut self) -> Vec<u32> {
        let ids = self.running.take().map(|(_, ids)| ids).unwrap_or_default();
        if ids.is_empty() { vec![0] } else { ids }
    }
}

fn push(ids: &mut Vec<u32>, id: u32) -> bool {
    let room = ids.len() < MAX_WAITING;
    if room {
        ids.push(id);
    }
    room
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const fn refresh(full: bool) -> Job {
        Job::Refresh { full, due_only: false }
    }

    #[test]
    fn requests_join_what_runs_unless_they_want_more() {
        let mut agenda = Agenda::default();
        assert!(agenda.refresh(1, false));
        assert_eq!(agenda.begin(), Some(refresh(false)));
        assert!(
            agenda.refresh(2, false)
                && agenda.refresh(3, true)
                && agenda.enrich(4)
                && agenda.refresh(5, true)
        );
        assert_eq!(agenda.begin(), None);
        assert_eq!(agenda.done(), [1, 2]);
        assert_eq!(agenda.begin(), Some(refresh(true)));
        assert!(agenda.refresh(6, false));
        assert_eq!(agenda.done(), [3, 5, 6]);
        assert_eq!((agenda.begin(), agenda.done()), (Some(Job::Enrich), vec![4]));
        assert_eq!(agenda.begin(), None);
    }

    #[test]
    fn one_that_is_due_is_nobody_s_and_nobody_joins_it() {
        let mut agenda = Agenda::default();
        agenda.due();
        assert_eq!(agenda.begin(), Some(Job::Refresh { full: false, due_only: true }));
        agenda.due();
        assert!(agenda.refresh(1, false));
        assert_eq!(agenda.done(), [0]);
        assert_eq!((agenda.begin(), agenda.done()), (Some(refresh(false)), vec![1]));
        assert_eq!(agenda.begin(), None);
    }

    proptest! {
        #[test]
        fn every_id_is_answered_exactly_once(steps in proptest::collection::vec(0u8..6, 0..200)) {
            let (mut agenda, mut asked, mut answered) = (Agenda::default(), 0, Vec::new());
            for step in steps {
                match step {
                    0 | 1 => { asked += 1; prop_assert!(agenda.refresh(asked, step == 1)); }
                    2 => { asked += 1; prop_assert!(agenda.enrich(asked)); }
                    3 => agenda.due(),
                    4 => { let _ = agenda.begin(); }
                    _ if agenda.running().is_some() => answered.extend(agenda.done()),
                    _ => {}
                }
            }
            if agenda.running().is_some() { answered.extend(agenda.done()); }
            while agenda.begin().is_some() { answered.extend(agenda.done()); }
            answered.retain(|id| *id != 0);
            answered.sort_unstable();
            prop_assert_eq!(answered, (1..=asked).collect::<Vec<_>>());
        }
    }
}
