//! Keeps the catalog worker: starts it when there is something to do, restarts it, ends it.
//!
//! ```text
//!  a person asks, it is time ─► works ─► lifecycle machine ─► process ─► Configure, then what is asked
//!          ▲                      ▲             │                │
//!          └─ the answer ◄────────┴─────────────┴── its events ◄─┘     nothing to do for a while: it ends
//! ```
//!
//! Owns the worker's life: the same machine as the servers', with its default restarts. The worker is there only
//! while it is needed, so that a catalog that nobody looks at costs no memory between two refreshes. A request survives
//! its worker's end: the next one is asked again. Must never hold up the bridge, nor start before what an earlier bridge left
//! behind has ended: a file has one writer.

pub(super) mod asking;
mod shown;
mod timing;

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::rc::{Rc, Weak};
use std::time::{Duration, Instant};

use harbor_child::reaper::Reaper;
use harbor_ipc_proto::link::worker::{Enrichment, SourceKind, ToWorker, WorkerSettings, WorkerSource};
use harbor_policy::lifecycle::{Action, Event, Lifecycle, Limits, Rules, State};
use harbor_policy::settings;
use tokio::sync::{Notify, mpsc, watch};

use super::errors::CatalogError;
use super::query::{Summary, summary};
use super::reader::Reader;
use super::works::Works;
use crate::config::{CatalogConfig, LiveConfig};
use crate::link::runner::Executable;
use crate::link::worker::{Worker, WorkerEvent};
use crate::supervisor::Alarm;
use asking::Waiter;

/// How long it may take to finish what it writes.
const STOP: Duration = Duration::from_secs(3);

/// How long it stays when there is nothing to do.
const IDLE: Duration = Duration::from_secs(10);

/// One that works and says nothing for so long is hung: the longest request of its own takes 30 s.
const QUIET: Duration = Duration::from_secs(120);

/// What a keeper is made of.
#[derive(Debug)]
pub struct Parts {
    /// The worker's program, or why there is none; absent where the environment wants none.
    pub executable: Option<Result<Executable, String>>,
    /// What it sees of the environment.
    pub environment: BTreeMap<String, String>,
    /// Where catalog.db is.
    pub database: PathBuf,
    /// Who waits for processes.
    pub reaper: Rc<Reaper>,
    /// What `config.toml` says.
    pub config: Rc<LiveConfig>,
    /// For what has to be random, and no secret.
    pub seed: u64,
}

/// Whether the database can be read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Opened {
    #[default]
    NotYet,
    Yes,
    No,
}

/// What is told of it.
#[derive(Debug, Default)]
struct Told {
    restarts: Cell<u32>,
    step: RefCell<Option<String>>,
    last_error: RefCell<Option<String>>,
    refresh_ms: Cell<Option<u64>>,
    /// What is in the file, as it was last looked at.
    summary: RefCell<Option<Result<Summary, CatalogError>>>,
}

/// The keeper.
pub(super) struct Keeper {
    parts: Parts,
    reader: Rc<Reader>,
    machine: RefCell<Lifecycle>,
    began: Instant,
    worker: RefCell<Option<Worker>>,
    works: RefCell<Works<Waiter>>,
    told: Told,
    listener: RefCell<Option<Rc<dyn Fn()>>>,
    opened: watch::Sender<Opened>,
    /// Whether nothing of an earlier bridge is left.
    may_start: Cell<bool>,
    ending: Cell<bool>,
    /// What held when it was last looked at.
    followed: RefCell<CatalogConfig>,
    /// When it is next refreshed, in milliseconds since 1970.
    due: Cell<Option<u64>>,
    rearm: Notify,
    /// Set off when a worker has ended.
    gone: Notify,
    /// When the refresh began that is under way.
    refreshing: Cell<Option<Instant>>,
    /// Sources that are done, and the furthest that was told.
    progress: Cell<(u32, f64)>,
    life: Alarm,
    idle: Alarm,
    quiet: Alarm,
    settling: Alarm,
}

impl std::fmt::Debug for Keeper {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Keeper").field("state", &self.state()).finish_non_exhaustive()
    }
}

impl Keeper {
    pub(super) fn new(parts: Parts, reader: Rc<Reader>) -> Rc<Self> {
        let settings = settings::Settings::default();
        let limits = Limits { install: settings.start_timeout, start: settings.start_timeout, stop: STOP };
        let rules = Rules { limits, restart: settings.restart, lazy: true };
        let followed = RefCell::new(parts.config.now().catalog.clone());
        Rc::new(Self {
            machine: RefCell::new(Lifecycle::new(rules, false, parts.seed, 0)),
            parts,
            reader,
            began: Instant::now(),
            worker: RefCell::default(),
            works: RefCell::default(),
            told: Told::default(),
            listener: RefCell::default(),
            opened: watch::Sender::default(),
            may_start: Cell::default(),
            ending: Cell::default(),
            followed,
            due: Cell::default(),
            rearm: Notify::new(),
            gone: Notify::new(),
            refreshing: Cell::default(),
            progress: Cell::default(),
            life: Alarm::default(),
            idle: Alarm::default(),
            quiet: Alarm::default(),
            settling: Alarm::default(),
        })
    }

    /// Has `listener` called whenever what is told has changed.
    pub(super) fn listen(&self, listener: Rc<dyn Fn()>) {
        *self.listener.borrow_mut() = Some(listener);
    }

    fn tell(&self) {
        let listener = self.listener.borrow().clone();
        listener.iter().for_each(|listener| listener());
    }

    fn state(&self) -> State {
        self.machine.borrow().state()
    }

    fn now(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    /// Whether a worker may be started at all.
    pub(super) fn available(&self) -> Result<(), CatalogError> {
        if self.ending.get() {
            return Err(CatalogError::Ending);
        }
        match &self.parts.executable {
            None => Err(CatalogError::WorkerOff),
            _ if !self.followed.borrow().enabled => Err(CatalogError::Disabled),
            _ => Ok(()),
        }
    }

    /// The only way by which its life changes.
    fn apply(self: &Rc<Self>, event: Event) {
        let before = self.state();
        let actions = self.machine.borrow_mut().on(event, self.now());
        if actions.contains(&Action::Launch) && matches!(before, State::Crashed | State::Failed) {
            self.told.restarts.set(self.told.restarts.get() + 1);
        }
        let deadline = self.machine.borrow().deadline();
        let wait = deadline.map(|at| Duration::from_millis(at.saturating_sub(self.now())));
        self.life.set(self, wait, |keeper| keeper.apply(Event::Tick));
        for action in actions {
            self.perform(*action);
        }
        if self.state() != before {
            tracing::debug!(state = self.state().as_str(), "the catalog worker");
            if matches!(self.state(), State::Stopped | State::Failed) {
                self.opened.send_replace(Opened::No);
            }
            self.tell();
        }
    }

    fn perform(self: &Rc<Self>, action: Action) {
        match action {
            Action::Launch => self.launch(),
            Action::Halt => self.with_worker(Worker::shut_down),
            Action::Kill | Action::KillRunner => self.with_worker(Worker::kill),
            Action::AnnounceRunning => {
                self.configure();
                self.send_works(None);
            }
            Action::AnnounceCrash => {
                let lost = self.works.borrow_mut().lose();
                self.refuse(lost);
            }
            Action::AnnounceDown => {
                let lost = self.works.borrow_mut().give_up();
                self.refuse(lost);
            }
            // It has no package.
            Action::Install => self.apply(Event::Ended),
            Action::CountIllegal => tracing::warn!("an event did not fit the catalog worker's state"),
        }
    }

    /// Where there is none yet, that is its end.
    fn with_worker(self: &Rc<Self>, act: impl FnOnce(&Worker)) {
        let there = self.worker.borrow().as_ref().map(act).is_some();
        if !there {
            self.apply(Event::Ended);
        }
    }

    fn launch(self: &Rc<Self>) {
        self.opened.send_replace(Opened::NotYet);
        let started = match &self.parts.executable {
            Some(Ok(executable)) => Worker::start(executable, &self.parts.environment, &self.parts.reaper)
                .map_err(|error| format!("it could not be started: {error}")),
            Some(Err(why)) => Err(why.clone()),
            None => Err("it is off".into()),
        };
        match started {
            Ok((worker, events)) => {
                *self.worker.borrow_mut() = Some(worker);
                tokio::task::spawn_local(follow(Rc::downgrade(self), events));
            }
            Err(why) => {
                self.note_error(why);
                self.apply(Event::Ended);
            }
        }
    }

    fn on_event(self: &Rc<Self>, event: WorkerEvent) {
        self.watch_it();
        match event {
            WorkerEvent::Greeted => self.apply(Event::Connected),
            WorkerEvent::Opened(set_aside) => {
                if let Some(what) = set_aside {
                    tracing::warn!(what, "catalog.db was made anew");
                }
                self.opened.send_replace(Opened::Yes);
                self.look(Vec::new());
                self.rest_if_idle();
            }
            WorkerEvent::Status { .. } => {}
            WorkerEvent::Step(step) => self.on_step(step),
            WorkerEvent::Done(id, outcome) => self.on_done(id, outcome),
            WorkerEvent::Failed(id, reason) => self.on_failed(id, reason),
            WorkerEvent::Closed(how) => {
                *self.worker.borrow_mut() = None;
                self.quiet.clear();
                self.idle.clear();
                *self.told.step.borrow_mut() = None;
                if self.state() != State::Stopping {
                    tracing::warn!(how, "the catalog worker has ended");
                    self.note_error(how);
                }
                self.apply(Event::Ended);
                self.gone.notify_waiters();
            }
        }
    }

    fn note_error(&self, why: String) {
        *self.told.last_error.borrow_mut() = Some(why);
    }

    /// Whoever works says something now and then.
    fn watch_it(self: &Rc<Self>) {
        let works = !self.works.borrow().is_empty();
        self.quiet.set(self, works.then_some(QUIET), |keeper| {
            keeper.note_error(format!("it said nothing for {} s and was killed", QUIET.as_secs()));
            keeper.apply(Event::Hung);
        });
    }

    fn rest_if_idle(self: &Rc<Self>) {
        if self.works.borrow().is_empty() {
            self.idle.set(self, Some(IDLE), |keeper| {
                if keeper.works.borrow().is_empty() {
                    keeper.apply(Event::Idle);
                }
            });
        }
    }

    /// Tells it what the configuration says.
    fn configure(&self) {
        let config = self.followed.borrow();
        let source = |id: &'static str, kind, url: &Option<String>| {
            Some(WorkerSource { id: id.into(), kind, url: url.clone()?.into() })
        };
        let sources = [
            source("registry", SourceKind::Registry, &config.registry),
            source("awesome", SourceKind::Awesome, &config.awesome),
        ];
        let lookups = [&config.github_api, &config.npm_downloads, &config.pypi_downloads];
        let url = |url: &Option<String>| url.clone().map(Into::into);
        let enrichment = lookups.iter().any(|url| url.is_some()).then(|| Enrichment {
            github: url(&config.github_api),
            npm_downloads: url(&config.npm_downloads),
            pypi_downloads: url(&config.pypi_downloads),
        });
        let settings = WorkerSettings {
            database: self.parts.database.to_string_lossy(),
            sources: sources.into_iter().flatten().collect(),
            // The time is kept here: it is not there in between.
            interval_ms: 0,
            request_timeout_ms: 0,
            enrichment,
        };
        self.send(&ToWorker::Configure(settings));
    }

    fn send(&self, message: &ToWorker<'_>) {
        self.worker.borrow().iter().for_each(|worker| worker.send(message));
    }

    /// Ends it, politely until `limit`, then by force.
    pub(super) async fn end(self: &Rc<Self>, limit: Duration) {
        self.ending.set(true);
        self.rearm.notify_one();
        self.apply(Event::Stop);
        let gone = async {
            loop {
                let gone = self.gone.notified();
                if self.worker.borrow().is_none() {
                    return;
                }
                gone.await;
            }
        };
        if tokio::time::timeout(limit, gone).await.is_err() {
            self.worker.borrow().iter().for_each(Worker::kill);
        }
    }

    /// Looks into the file, and tells what is there; then `then` is done.
    fn look(self: &Rc<Self>, then: Vec<asking::Answer>) {
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

/// Passes on a worker's events until it has ended.
async fn follow(keeper: Weak<Keeper>, mut events: mpsc::Receiver<WorkerEvent>) {
    while let Some(event) = events.recv().await {
        let Some(keeper) = keeper.upgrade() else { return };
        keeper.on_event(event);
    }
}
