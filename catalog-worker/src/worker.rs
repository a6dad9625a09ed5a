//! The worker: it does what it was told and what is due, one job at a time.
//!
//! ```text
//!  orders ──┐
//!           ├─► agenda ─► refresh or enrichment, while orders are heard ─► answers, the next time
//!  timer ───┘
//! ```
//!
//! Owns the open database and the settings. New settings wait for the end of the job that runs.

use std::hash::{BuildHasher as _, RandomState};
use std::pin::pin;
use std::rc::Rc;
use std::time::Duration;

use harbor_ipc_proto::link::worker::{
    Activity, Changes, FromWorker, SourceOutcome, WorkerFailure, WorkerSettings, WorkerStatus,
};
use tokio::sync::mpsc::Receiver;

use crate::agenda::{Agenda, Job};
use crate::clock::now;
use crate::db::{Db, DbError};
use crate::enrich::{self, Pause};
use crate::refresh::Refresh;
use crate::schedule;
use crate::settings::Settings;
use crate::to_bridge::Up;

/// How often the clock is read: a machine that slept must not wait for the rest of an hour.
const LOOK: Duration = Duration::from_secs(300);
/// How long nothing begins by itself after a failure of catalog.db, such as a full disk.
const REST: u64 = 5 * 60_000;

/// An order of the bridge.
#[derive(Debug)]
pub enum Order {
    /// Other settings, or what is wrong with them.
    Configure(Result<Box<Settings>, String>),
    /// A refresh.
    Refresh {
        /// Whom to answer.
        id: u32,
        /// Everything.
        full: bool,
    },
    /// An enrichment.
    Enrich {
        /// Whom to answer.
        id: u32,
    },
}

impl Order {
    /// Checks the settings.
    #[must_use]
    pub fn configure(wire: &WorkerSettings<'_>) -> Self {
        Self::Configure(Settings::of(wire).map(Box::new))
    }
}

/// The outcome of a job.
#[derive(Debug, Default)]
struct Report {
    sources: Vec<SourceOutcome<'static>>,
    enriched: u32,
    not_enriched: u32,
}

/// The worker.
#[derive(Debug)]
pub struct Worker {
    up: Rc<Up>,
    agenda: Agenda,
    /// Away while a job has it.
    db: Option<Db>,
    /// The settings in force. None before catalog.db was opened.
    settings: Option<Rc<Settings>>,
    /// New settings that wait for the end of a job.
    configure: Option<Result<Box<Settings>, String>>,
    pause: Rc<Pause>,
    /// After a failure of catalog.db nothing is due before this.
    rest_until: u64,
    /// Decides the jitter of this process.
    roll: u64,
}

impl Worker {
    /// Without settings.
    #[must_use]
    pub fn new(up: Rc<Up>) -> Self {
        let roll = RandomState::new().hash_one(std::process::id());
        Self {
            up,
            agenda: Agenda::default(),
            db: None,
            settings: None,
            configure: None,
            pause: Rc::default(),
            rest_until: 0,
            roll,
        }
    }

    /// Works until no more orders can come.
    pub async fn run(mut self, mut orders: Receiver<Order>) {
        loop {
            let wait = self.next_at().map(|at| Duration::from_millis(at.saturating_sub(now())).min(LOOK));
            tokio::select! {
                order = orders.recv() => match order {
                    Some(order) => self.take(order),
                    None => return,
                },
                () = tokio::time::sleep(wait.unwrap_or(LOOK)), if wait.is_some() => self.look(),
            }
            loop {
                self.configure_now();
                let Some(job) = self.agenda.begin() else { break };
                if !self.work(job, &mut orders).await {
                    return;
                }
            }
            self.tell(Activity::Idle);
        }
    }

    fn look(&mut self) {
        if self.next_at().is_some_and(|at| at <= now()) {
            self.agenda.due();
        }
    }

    fn take(&mut self, order: Order) {
        match order {
            Order::Configure(settings) => self.configure = Some(settings),
            Order::Refresh { id, full } => {
                let lacking = self.lacks(|settings| settings.sources.is_empty());
                self.enter(id, lacking, |agenda| agenda.refresh(id, full));
            }
            Order::Enrich { id } => {
                let lacking = self.lacks(|settings| settings.lookups.are_none());
                self.enter(id, lacking, |agenda| agenda.enrich(id));
            }
        }
    }

    fn lacks(&self, nothing: impl Fn(&Settings) -> bool) -> Option<WorkerFailure<'static>> {
        // Settings that wait come before what was asked after them.
        let waiting = self.configure.as_ref().and_then(|settings| settings.as_deref().ok());
        match waiting.or(self.settings.as_deref()) {
            None => Some(WorkerFailure::NotConfigured),
            Some(settings) if nothing(settings) => Some(WorkerFailure::Nothing),
            Some(_) => None,
        }
    }

    fn enter(
        &mut self,
        id: u32,
        lacking: Option<WorkerFailure<'static>>,
        enter: impl FnOnce(&mut Agenda) -> bool,
    ) {
        let refused = lacking.or_else(|| {
            let full = || WorkerFailure::Settings("too many requests wait for the catalog worker".into());
            (!enter(&mut self.agenda)).then(full)
        });
        if let Some(why) = refused {
            self.up.send(&FromWorker::Failed { id, why });
        }
    }

    /// Follows the settings that came last.
    fn configure_now(&mut self) {
        let Some(wanted) = self.configure.take() else { return };
        let settings = match wanted {
            Ok(settings) => *settings,
            Err(why) => return self.fail(&[0], &WorkerFailure::Settings(why.into())),
        };
        let opened = match self.db.take() {
            Some(db) => Ok((db, None, false)),
            None => Db::open(&settings.database, now()).map(|(db, set_aside)| (db, set_aside, true)),
        };
        self.settings = None;
        self.opened(settings, opened);
    }

    fn opened(&mut self, settings: Settings, opened: Result<(Db, Option<String>, bool), DbError>) {
        let configured = opened.and_then(|(mut db, set_aside, new)| {
            db.configure(&settings.origins())?;
            Ok((db, set_aside, new))
        });
        match configured {
            Ok((db, set_aside, new)) => {
                (self.db, self.settings) = (Some(db), Some(settings.into()));
                if new {
                    self.up.send(&FromWorker::Opened { set_aside: set_aside.map(Into::into) });
                    self.up.forget_status();
                }
                self.tell(Activity::Idle);
                self.look();
            }
            Err(error) => self.fail(&[0], &WorkerFailure::Database(error.to_string().into())),
        }
    }

    /// Does a job while it takes orders. False when no more can come.
    async fn work(&mut self, job: Job, orders: &mut Receiver<Order>) -> bool {
        self.tell(if job == Job::Enrich { Activity::Enriching } else { Activity::Refreshing });
        let (Some(mut db), Some(settings)) = (self.db.take(), self.settings.clone()) else {
            let ids = self.agenda.done();
            self.fail(&ids, &WorkerFailure::NotConfigured);
            return true;
        };
        let (up, pause) = (self.up.clone(), self.pause.clone());
        let ended = {
            let mut working = pin!(run(job, &mut db, &settings, &up, &pause, self.roll));
            loop {
                tokio::select! {
                    ended = &mut working => break ended,
                    order = orders.recv() => match order {
                        Some(order) => self.take(order),
                        None => return false,
                    },
                }
            }
        };
        self.finish(job, db, &settings, ended);
        true
    }

    fn finish(&mut self, job: Job, db: Db, settings: &Rc<Settings>, ended: Result<Report, DbError>) {
        let ids = self.agenda.done();
        match ended {
            Ok(report) => {
                self.db = Some(db);
                if job != Job::Enrich && !settings.lookups.are_none() {
                    self.agenda.enrich_then();
                }
                ids.iter().for_each(|id| self.done(*id, &report));
            }
            Err(error) => {
                self.rest_until = now().saturating_add(REST);
                self.fail(&ids, &WorkerFailure::Database(error.to_string().into()));
                if error.is_lost() {
                    drop(db);
                    let rebuilt = Db::rebuild(&settings.database, now());
                    self.opened((**settings).clone(), rebuilt.map(|(db, set_aside)| (db, set_aside, true)));
                } else {
                    self.db = Some(db);
                }
            }
        }
        self.tell(Activity::Idle);
    }

    fn done(&self, id: u32, report: &Report) {
        let mut changes = Changes::default();
        for outcome in &report.sources {
            changes.added += outcome.changes.added;
            changes.updated += outcome.changes.updated;
            changes.removed += outcome.changes.removed;
            changes.restored += outcome.changes.restored;
        }
        let (sources, enriched, not_enriched) =
            (report.sources.clone(), report.enriched, report.not_enriched);
        self.up.send(&FromWorker::Done { id, changes, sources, enriched, not_enriched });
    }

    fn fail(&self, ids: &[u32], why: &WorkerFailure<'static>) {
        ids.iter().for_each(|id| self.up.send(&FromWorker::Failed { id: *id, why: why.clone() }));
    }

    /// When the next source is due. None if refreshes come only on request, or if there is no source.
    fn next_at(&self) -> Option<u64> {
        let (db, settings) = (self.db.as_ref()?, self.settings.as_ref()?);
        let due = |id: &str| {
            let source = db.source(id).ok()?;
            schedule::due(&source.history, settings.interval, now(), self.roll)
        };
        let first = settings.sources.iter().filter_map(|(origin, _)| due(&origin.id)).min();
        first.map(|at| at.max(self.rest_until))
    }

    fn tell(&self, activity: Activity) {
        let Some(db) = &self.db else { return };
        let (Ok(entries), Ok(snapshot)) = (db.entries(), db.snapshot()) else { return };
        let snapshot = snapshot.map(Into::into);
        self.up.status(WorkerStatus { activity, entries, snapshot, next_at: self.next_at() });
    }
}

async fn run(
    job: Job,
    db: &mut Db,
    settings: &Settings,
    up: &Up,
    pause: &Pause,
    roll: u64,
) -> Result<Report, DbError> {
    match job {
        Job::Refresh { full, due_only } => {
            let due_only = due_only.then_some(roll);
            let sources = Refresh { db, settings, up, full, due_only }.run().await?;
            Ok(Report { sources, ..Report::default() })
        }
        Job::Enrich => {
            let (enriched, not_enriched) = enrich::run(db, settings, up, pause).await?;
            Ok(Report { enriched, not_enriched, ..Report::default() })
        }
    }
}
