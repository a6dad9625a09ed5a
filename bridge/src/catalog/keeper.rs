//! The keeper of the catalog worker: when the worker is asked, and the status of the catalog.
//!
//! ```text
//!  a person asks, it is time ─► works ─► a kept worker ─► Configure, then what is asked
//!          ▲                      ▲             │
//!          └─ the answer ◄────────┴─────────────┘ its messages
//! ```
//!
//! Owns the requests to the worker, and their answers. Without readers, a catalog has no worker between two refreshes. A
//! request survives its worker's end: the next worker gets it again. Must never hold up the bridge, nor start before the
//! processes of an earlier bridge have ended: a file has one writer.

pub(super) mod asking;
mod shown;
mod timing;
pub(super) mod waiting;

use std::cell::{Cell, RefCell};
use std::path::PathBuf;
use std::rc::{Rc, Weak};
use std::time::{Duration, Instant};

use harbor_ipc_proto::link::worker::{CatalogSourceKind, Enrichment, ToWorker, WorkerSettings, WorkerSource};
use harbor_policy::lifecycle::State;
use tokio::sync::{Notify, watch};

use super::errors::CatalogError;
use super::open_work::Works;
use super::query::{Summary, summary};
use super::reader::CatalogReader;
use crate::alarm::Alarm;
use crate::config::{CatalogConfig, LiveConfig};
use crate::keeper::{WorkerKeeper, WorkerOwner, WorkerTimeouts};
use crate::link::worker::catalog::{CatalogLink, Said};
use waiting::{CatalogReply, CatalogWaiter};

/// How long the worker may take to finish its writing, and stays when it is idle. A busy worker that says
/// nothing for `quiet` is hung, since its longest request takes 30 s.
const TIMES: WorkerTimeouts = WorkerTimeouts {
    stop: Duration::from_secs(3),
    idle: Duration::from_secs(10),
    quiet: Duration::from_secs(120),
};

/// The parts that a keeper is made of.
#[derive(Debug)]
pub struct CatalogParts {
    /// The worker.
    pub worker: crate::keeper::WorkerParts,
    /// The path of catalog.db.
    pub database: PathBuf,
    /// The contents of `config.toml`.
    pub config: Rc<LiveConfig>,
}

/// Says if the database can be read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum CatalogReadiness {
    #[default]
    NotYet,
    Yes,
    No,
}

/// The last reported status.
#[derive(Debug, Default)]
struct CatalogProgress {
    step: RefCell<Option<String>>,
    refresh_ms: Cell<Option<u64>>,
    /// The contents of the file in short, as of the last look.
    summary: RefCell<Option<Result<Summary, CatalogError>>>,
}

/// The keeper.
pub(super) struct Keeper {
    database: PathBuf,
    config: Rc<LiveConfig>,
    reader: Rc<CatalogReader>,
    worker: Rc<WorkerKeeper<CatalogLink>>,
    works: RefCell<Works<CatalogWaiter>>,
    told: CatalogProgress,
    listener: RefCell<Option<Rc<dyn Fn()>>>,
    opened: watch::Sender<CatalogReadiness>,
    /// True if nothing of an earlier bridge is left.
    may_start: Cell<bool>,
    ending: Cell<bool>,
    /// The configuration that was in force at the last look.
    followed: RefCell<CatalogConfig>,
    /// The time of the next refresh, in milliseconds since 1970.
    due: Cell<Option<u64>>,
    rearm: Notify,
    /// When the current refresh began.
    refreshing: Cell<Option<Instant>>,
    /// The number of sources that are done, and the largest progress that was told.
    progress: Cell<(u32, f64)>,
    settling: Alarm,
}

impl std::fmt::Debug for Keeper {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Keeper").field("worker", &self.worker).finish_non_exhaustive()
    }
}

impl Keeper {
    pub(super) fn new(parts: CatalogParts, reader: Rc<CatalogReader>) -> Rc<Self> {
        let CatalogParts { worker, database, config } = parts;
        Rc::new_cyclic(|this: &Weak<Self>| Self {
            followed: RefCell::new(config.now().catalog.clone()),
            database,
            config,
            reader,
            worker: WorkerKeeper::new(worker, TIMES, this.clone()),
            works: RefCell::default(),
            told: CatalogProgress::default(),
            listener: RefCell::default(),
            opened: watch::Sender::default(),
            may_start: Cell::default(),
            ending: Cell::default(),
            due: Cell::default(),
            rearm: Notify::new(),
            refreshing: Cell::default(),
            progress: Cell::default(),
            settling: Alarm::default(),
        })
    }

    /// Has `listener` called whenever the status has changed.
    pub(super) fn listen(&self, listener: Rc<dyn Fn()>) {
        *self.listener.borrow_mut() = Some(listener);
    }

    fn tell(&self) {
        let listener = self.listener.borrow().clone();
        listener.iter().for_each(|listener| listener());
    }

    /// Checks that a worker may be started at all.
    pub(super) fn available(&self) -> Result<(), CatalogError> {
        if self.ending.get() {
            return Err(CatalogError::Ending);
        }
        match self.worker.is_off() {
            true => Err(CatalogError::WorkerOff),
            false if !self.followed.borrow().enabled => Err(CatalogError::Disabled),
            false => Ok(()),
        }
    }

    /// Sends the configuration to the worker.
    fn configure(&self) {
        let config = self.followed.borrow();
        let source = |id: &'static str, kind, url: &Option<String>| {
            Some(WorkerSource { id: id.into(), kind, url: url.clone()?.into() })
        };
        let sources = [
            source("registry", CatalogSourceKind::Registry, &config.registry),
            source("awesome", CatalogSourceKind::Awesome, &config.awesome),
        ];
        let lookups = [&config.github_api, &config.npm_downloads, &config.pypi_downloads];
        let url = |url: &Option<String>| url.clone().map(Into::into);
        let enrichment = lookups.iter().any(|url| url.is_some()).then(|| Enrichment {
            github: url(&config.github_api),
            npm_downloads: url(&config.npm_downloads),
            pypi_downloads: url(&config.pypi_downloads),
        });
        let settings = WorkerSettings {
            database: self.database.to_string_lossy(),
            sources: sources.into_iter().flatten().collect(),
            // The bridge keeps the time: between two refreshes there is no worker.
            interval_ms: 0,
            request_timeout_ms: 0,
            enrichment,
        };
        self.worker.send(&ToWorker::Configure(settings));
    }

    /// Ends the worker: politely until `limit`, then by force.
    pub(super) async fn end(&self, limit: Duration) {
        self.ending.set(true);
        self.rearm.notify_one();
        self.worker.end(limit).await;
    }

    /// Reads the file and notes its contents. Then gives the answers in `then`.
    fn look(self: &Rc<Self>, then: Vec<CatalogReply>) {
        let keeper = self.clone();
        tokio::task::spawn_local(async move {
            keeper.look_now().await;
            let found = keeper.told.summary.borrow().clone();
            then.into_iter().for_each(|answer| answer.give(found.as_ref()));
        });
    }

    pub(super) async fn look_now(&self) {
        let found = self.reader.run(summary).await;
        *self.told.summary.borrow_mut() = Some(found);
        self.tell();
    }
}

impl WorkerOwner<CatalogLink> for Keeper {
    fn is_busy(&self) -> bool {
        !self.works.borrow().is_empty()
    }

    fn ready(self: Rc<Self>) {
        self.configure();
        self.send_works(None);
    }

    fn heard(self: Rc<Self>, said: Said) {
        match said {
            Said::Opened(set_aside) => {
                if let Some(what) = set_aside {
                    tracing::warn!(what, "catalog.db was made anew");
                }
                self.opened.send_replace(CatalogReadiness::Yes);
                self.look(Vec::new());
                self.worker.look();
            }
            Said::Status { .. } => {}
            Said::Step(step) => self.on_step(step),
            Said::Done(id, outcome) => self.on_done(id, outcome),
            Said::Failed(id, reason) => self.on_failed(id, reason),
        }
    }

    fn lost(self: Rc<Self>) {
        let lost = self.works.borrow_mut().lose();
        self.refuse(lost);
    }

    fn given_up(self: Rc<Self>) {
        let lost = self.works.borrow_mut().give_up();
        self.refuse(lost);
    }

    fn changed(self: Rc<Self>, state: State) {
        match state {
            State::Starting => drop(self.opened.send_replace(CatalogReadiness::NotYet)),
            State::Stopped | State::Failed => drop(self.opened.send_replace(CatalogReadiness::No)),
            _ => {}
        }
        if state != State::Running {
            *self.told.step.borrow_mut() = None;
        }
        self.tell();
    }
}
