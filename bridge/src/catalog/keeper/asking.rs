//! The requests to the worker, and the answers.
//!
//! Owns when each request is answered, and the progress on the way. An answer comes after a look into the file, so that
//! it has the file's present contents.

use std::rc::Rc;
use std::time::{Duration, Instant};

use harbor_ipc_proto::link::worker::ToWorker;
use harbor_policy::lifecycle::State;
use tokio::sync::oneshot;

use super::waiting::{CatalogReply, CatalogReportResult, CatalogWaiter, ProgressListener};
use super::{CatalogReadiness, Keeper};
use crate::catalog::errors::CatalogError;
use crate::catalog::open_work::WorkKind;
use crate::link::worker::catalog::{CatalogOutcome, CatalogStep, Reason};

/// How long the worker may take to make a file that can be read.
const OPENING: Duration = Duration::from_secs(10);

impl Keeper {
    /// Has the worker do something, and waits for it. The worker finishes even if the caller leaves.
    pub(in crate::catalog) async fn ask(
        self: &Rc<Self>,
        kind: WorkKind,
        note: Option<ProgressListener>,
    ) -> CatalogReportResult {
        self.available()?;
        let (done, answer) = oneshot::channel();
        self.begin_work(kind, Some(CatalogWaiter { done, note }));
        answer.await.unwrap_or(Err(CatalogError::Ending))
    }

    /// Has the worker do something without a waiter.
    pub(super) fn ask_for_nobody(self: &Rc<Self>, kind: WorkKind) {
        self.begin_work(kind, None);
        if self.worker.state() == State::Failed {
            let lost = self.works.borrow_mut().give_up();
            self.refuse(lost);
        }
    }

    fn begin_work(self: &Rc<Self>, kind: WorkKind, waiter: Option<CatalogWaiter>) {
        let is_awaited = waiter.is_some();
        let new = self.works.borrow_mut().join(kind, waiter);
        if !self.may_start.get() {
            return;
        }
        if let (Some(id), State::Running) = (new, self.worker.state()) {
            self.send_works(Some(id));
        }
        match is_awaited {
            true => self.worker.start(),
            false => self.worker.start_by_itself(),
        }
        self.tell();
    }

    /// Has a worker make a file that can be read, and waits for it. False if that fails, or if the file
    /// counted as readable before.
    pub(in crate::catalog) async fn make_readable(self: &Rc<Self>) -> bool {
        if self.available().is_err() || *self.opened.borrow() == CatalogReadiness::Yes {
            return false;
        }
        let mut opened = self.opened.subscribe();
        if self.may_start.get() {
            self.worker.start();
        } else {
            self.opened.send_replace(CatalogReadiness::NotYet);
        }
        let opened = opened.wait_for(|opened| *opened != CatalogReadiness::NotYet);
        tokio::time::timeout(OPENING, opened)
            .await
            .is_ok_and(|opened| opened.is_ok_and(|found| *found == CatalogReadiness::Yes))
    }

    pub(super) fn send_works(self: &Rc<Self>, only: Option<u32>) {
        for (id, kind) in self.works.borrow_mut().dispatch(only) {
            self.worker.send(&match kind {
                WorkKind::Refresh { full } => ToWorker::Refresh { id, full },
                WorkKind::Enrich => ToWorker::Enrich { id },
            });
        }
        self.worker.look();
    }

    pub(super) fn on_step(&self, step: CatalogStep) {
        let (mut sources, mut furthest) = self.progress.get();
        let config = self.followed.borrow();
        let all = [&config.registry, &config.awesome].iter().filter(|url| url.is_some()).count();
        let lookups = [&config.github_api, &config.npm_downloads, &config.pypi_downloads];
        let total = u32::try_from(all).unwrap_or(0) + u32::from(lookups.iter().any(|url| url.is_some()));
        drop(config);
        let (within, text) = match step {
            CatalogStep::Refreshing => {
                self.refreshing.set(Some(Instant::now()));
                (sources, furthest) = (0, 0.0);
                (0.0, "begins".to_owned())
            }
            CatalogStep::Fetching { source, page, entries } => {
                // The number of pages is not known: each page counts as
                // half of the rest.
                (
                    1.0 - 1.0 / f64::from(page.saturating_add(1)),
                    format!("{source}: page {page}, {entries} entries"),
                )
            }
            CatalogStep::SourceDone(source, error) => {
                sources += 1;
                (0.0, format!("{source}: {}", error.as_deref().unwrap_or("done")))
            }
            CatalogStep::Enriching(count) => (0.0, format!("looking up {count} entries")),
        };
        furthest = furthest.max(f64::from(sources) + within).min(f64::from(total));
        self.progress.set((sources, furthest));
        *self.told.step.borrow_mut() = Some(text.clone());
        // A waiter that has left hears nothing more: its request is answered.
        let works = self.works.borrow();
        let waiting = works.waiting().filter(|waiter| !waiter.done.is_closed());
        let notes: Vec<_> = waiting.filter_map(|waiter| waiter.note.clone()).collect();
        drop(works);
        notes.iter().for_each(|note| note(furthest, total, &text));
        self.tell();
    }

    pub(super) fn on_done(self: &Rc<Self>, id: u32, outcome: CatalogOutcome) {
        let ended = self.works.borrow_mut().end(id);
        let Some((kind, waiting)) = ended else { return };
        *self.told.step.borrow_mut() = None;
        if matches!(kind, WorkKind::Refresh { .. }) {
            let first = outcome.failed.iter().next().map(|(source, (why, _))| format!("{source}: {why}"));
            self.worker.note_error(first);
            let took = self.refreshing.take().map(|began| began.elapsed().as_millis());
            self.told.refresh_ms.set(took.and_then(|ms| u64::try_from(ms).ok()));
            let not_before: Vec<_> = outcome.failed.values().map(|(_, at)| *at).collect();
            self.next_after(&not_before);
        }
        self.worker.look();
        self.look(
            waiting.into_iter().map(|waiter| CatalogReply { waiter, outcome: outcome.clone() }).collect(),
        );
    }

    pub(super) fn on_failed(self: &Rc<Self>, id: u32, reason: Reason) {
        let error = match reason {
            Reason::Nothing => CatalogError::NothingToDo,
            Reason::Because(why) => CatalogError::WorkerFailed(why),
        };
        if let CatalogError::WorkerFailed(why) = &error {
            tracing::warn!(why, "the catalog worker could not perform the request");
            self.worker.note_error(Some(why.clone()));
        }
        if id == 0 {
            self.opened.send_replace(CatalogReadiness::No);
        }
        let ended = self.works.borrow_mut().end(id);
        self.refuse_because(ended.into_iter().collect(), &error);
        self.worker.look();
        self.tell();
    }

    /// Refuses requests that no worker will do.
    pub(super) fn refuse(&self, lost: Vec<(WorkKind, Vec<CatalogWaiter>)>) {
        let why = || self.worker.last_error().unwrap_or_else(|| "it has ended".into());
        let error = self.available().err().unwrap_or_else(|| CatalogError::WorkerFailed(why()));
        self.refuse_because(lost, &error);
    }

    fn refuse_because(&self, lost: Vec<(WorkKind, Vec<CatalogWaiter>)>, error: &CatalogError) {
        for (kind, waiting) in lost {
            if matches!(kind, WorkKind::Refresh { .. }) {
                self.refreshing.set(None);
                self.next_after(&[]);
            }
            for waiter in waiting {
                // The one who asked may have left.
                let _ = waiter.done.send(Err(error.clone()));
            }
        }
    }
}
