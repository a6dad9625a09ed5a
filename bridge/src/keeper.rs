//! Keeps a worker's process: starts it when there is something to do, restarts it, ends it.
//!
//! ```text
//!  start ─► lifecycle machine ─► process ─► ready: its owner tells it what to do ─► heard … ─► nothing to do for a while: it ends
//!                 ▲                │
//!                 └── its events ◄─┘  lost: another one comes      given_up: none does
//! ```
//!
//! Owns the worker's life: the same machine as the servers', with its default restarts. The worker runs only while it is needed,
//! so it costs no memory in between. Must never know the worker's task: that is its owner's.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::{Rc, Weak};
use std::time::{Duration, Instant};

use harbor_child::reaper::Reaper;
use harbor_policy::lifecycle::{Lifecycle, LifecycleAction, LifecycleEvent, LifecycleLimits, Rules, State};
use harbor_policy::settings;
use tokio::sync::{Notify, mpsc};

use crate::alarm::Alarm;
use crate::link::runner::Executable;
use crate::link::worker::{Pair, WorkerEvent, WorkerProcess};

/// The things that a worker is started with.
#[derive(Debug)]
pub struct WorkerParts {
    /// The worker's program, or why there is none. Absent if the environment forbids a worker.
    pub executable: Option<Result<Executable, String>>,
    /// The environment variables that the worker sees.
    pub environment: BTreeMap<String, String>,
    /// Waits for processes.
    pub reaper: Rc<Reaper>,
    /// The seed for values that must be random but are no secrets.
    pub seed: u64,
}

/// The time limits for a worker.
#[derive(Debug, Clone, Copy)]
pub struct WorkerTimeouts {
    /// How long it may take to finish what it does.
    pub stop: Duration,
    /// How long it stays when there is nothing to do.
    pub idle: Duration,
    /// A worker that works and says nothing for this long is hung.
    pub quiet: Duration,
}

/// Gives a worker its tasks, and hears of its end.
pub trait WorkerOwner<P: Pair> {
    /// True if the worker has something to do.
    fn is_busy(&self) -> bool;

    /// The worker can be told what to do.
    fn ready(self: Rc<Self>);

    /// The worker says something.
    fn heard(self: Rc<Self>, said: P::CatalogWorkerMessage);

    /// The worker has ended, and another one will come.
    fn lost(self: Rc<Self>);

    /// The worker has been given up: none will come before [`Kept::start`].
    fn given_up(self: Rc<Self>);

    /// The worker's state has changed.
    fn changed(self: Rc<Self>, state: State);
}

/// A worker that is kept.
pub struct WorkerKeeper<P: Pair> {
    parts: WorkerParts,
    times: WorkerTimeouts,
    owner: Weak<dyn WorkerOwner<P>>,
    machine: RefCell<Lifecycle>,
    began: Instant,
    worker: RefCell<Option<WorkerProcess<P>>>,
    restarts: Cell<u32>,
    last_error: RefCell<Option<String>>,
    /// Set off when a worker has ended.
    gone: Notify,
    /// The time of its last message or last work.
    said: Cell<Instant>,
    life: Alarm,
    idle: Alarm,
    quiet: Alarm,
}

impl<P: Pair> std::fmt::Debug for WorkerKeeper<P> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Kept")
            .field("program", &P::PROGRAM)
            .field("state", &self.state())
            .finish_non_exhaustive()
    }
}

impl<P: Pair> WorkerKeeper<P> {
    /// Nothing is started yet.
    #[must_use]
    pub fn new(parts: WorkerParts, times: WorkerTimeouts, owner: Weak<dyn WorkerOwner<P>>) -> Rc<Self> {
        let settings = settings::Settings::default();
        let limits = LifecycleLimits {
            install: settings.start_timeout,
            start: settings.start_timeout,
            stop: times.stop,
        };
        let rules = Rules { limits, restart: settings.restart, lazy: true };
        Rc::new(Self {
            machine: RefCell::new(Lifecycle::new(rules, false, parts.seed, 0)),
            parts,
            times,
            owner,
            began: Instant::now(),
            worker: RefCell::default(),
            restarts: Cell::default(),
            last_error: RefCell::default(),
            gone: Notify::new(),
            said: Cell::new(Instant::now()),
            life: Alarm::default(),
            idle: Alarm::default(),
            quiet: Alarm::default(),
        })
    }

    /// The state of the worker.
    #[must_use]
    pub fn state(&self) -> State {
        self.machine.borrow().state()
    }

    /// Its process id, while there is one.
    #[must_use]
    pub fn pid(&self) -> Option<u32> {
        self.worker.borrow().as_ref().map(WorkerProcess::pid)
    }

    /// How often it was restarted.
    #[must_use]
    pub fn restarts(&self) -> u32 {
        self.restarts.get()
    }

    /// The last error.
    #[must_use]
    pub fn last_error(&self) -> Option<String> {
        self.last_error.borrow().clone()
    }

    /// Notes an error, or that the error is over.
    pub fn note_error(&self, why: Option<String>) {
        *self.last_error.borrow_mut() = why;
    }

    /// True if the environment wants no worker.
    #[must_use]
    pub fn is_off(&self) -> bool {
        self.parts.executable.is_none()
    }

    /// Starts a needed worker. A worker that was given up is tried again.
    pub fn start(self: &Rc<Self>) {
        self.apply(LifecycleEvent::Start);
    }

    /// Starts a needed worker without a waiter. The machine decides when a worker that was given up is tried again.
    pub fn start_by_itself(self: &Rc<Self>) {
        let rests = matches!(self.state(), State::Stopped | State::Stopping);
        self.apply(if rests { LifecycleEvent::Start } else { LifecycleEvent::Demand });
    }

    /// It is not wanted any more.
    pub fn stop(self: &Rc<Self>) {
        self.apply(LifecycleEvent::Stop);
    }

    /// Sends a message, if there is a worker. True if there was room for it.
    pub fn send(&self, message: &P::To<'_>) -> bool {
        self.worker.borrow().as_ref().is_none_or(|worker| worker.send(message))
    }

    /// The worker was given something to do, or is done. A worker that works says something now and then; one without work ends.
    pub fn look(self: &Rc<Self>) {
        let is_busy = self.is_busy();
        self.said.set(Instant::now());
        self.watch(is_busy.then_some(self.times.quiet));
        self.idle.set(self, (!is_busy).then_some(self.times.idle), |kept| {
            if !kept.is_busy() {
                kept.apply(LifecycleEvent::Idle);
            }
        });
    }

    fn is_busy(&self) -> bool {
        self.owner.upgrade().is_some_and(|owner| owner.is_busy())
    }

    /// Looks in `wait` how long it has said nothing. Messages may come by the thousand, so they set no timer.
    fn watch(self: &Rc<Self>, wait: Option<Duration>) {
        self.quiet.set(self, wait, |kept| match kept.times.quiet.checked_sub(kept.said.get().elapsed()) {
            _ if !kept.is_busy() => {}
            Some(left) if !left.is_zero() => kept.watch(Some(left)),
            _ => {
                let quiet = kept.times.quiet.as_secs();
                kept.note_error(Some(format!("it was silent for {quiet} s, so the bridge killed it")));
                kept.apply(LifecycleEvent::Hung);
            }
        });
    }

    /// The only way by which its life changes.
    fn apply(self: &Rc<Self>, event: LifecycleEvent) {
        let before = self.state();
        let actions = self.machine.borrow_mut().on(event, self.now());
        if actions.contains(&LifecycleAction::Launch) && matches!(before, State::Crashed | State::Failed) {
            self.restarts.set(self.restarts.get() + 1);
        }
        let deadline = self.machine.borrow().deadline();
        let wait = deadline.map(|at| Duration::from_millis(at.saturating_sub(self.now())));
        self.life.set(self, wait, |kept| kept.apply(LifecycleEvent::Tick));
        for action in actions {
            self.perform(*action);
        }
        if self.state() != before {
            tracing::debug!(program = P::PROGRAM, state = self.state().as_str(), "a worker");
            self.tell(|owner| owner.changed(self.state()));
        }
    }

    fn perform(self: &Rc<Self>, action: LifecycleAction) {
        match action {
            LifecycleAction::Launch => self.launch(),
            LifecycleAction::Halt => self.with_worker(WorkerProcess::shut_down),
            LifecycleAction::Kill | LifecycleAction::KillRunner => self.with_worker(WorkerProcess::kill),
            LifecycleAction::AnnounceRunning => {
                self.tell(|owner| owner.ready());
                self.look();
            }
            LifecycleAction::AnnounceCrash => self.tell(|owner| owner.lost()),
            LifecycleAction::AnnounceDown => self.tell(|owner| owner.given_up()),
            // It has no package.
            LifecycleAction::Install => self.apply(LifecycleEvent::Ended),
            LifecycleAction::CountIllegal => {
                tracing::warn!(program = P::PROGRAM, "an event did not fit the worker's state")
            }
        }
    }

    fn tell(&self, what: impl FnOnce(Rc<dyn WorkerOwner<P>>)) {
        if let Some(owner) = self.owner.upgrade() {
            what(owner);
        }
    }

    /// Acts on the worker. If there is none yet, the machine gets its end.
    fn with_worker(self: &Rc<Self>, act: impl FnOnce(&WorkerProcess<P>)) {
        let there = self.worker.borrow().as_ref().map(act).is_some();
        if !there {
            self.apply(LifecycleEvent::Ended);
        }
    }

    fn launch(self: &Rc<Self>) {
        let started = match &self.parts.executable {
            Some(Ok(executable)) => {
                WorkerProcess::start(executable, &self.parts.environment, &self.parts.reaper)
                    .map_err(|error| format!("it could not be started: {error}"))
            }
            Some(Err(why)) => Err(why.clone()),
            None => Err("it is off".into()),
        };
        match started {
            Ok((worker, events)) => {
                *self.worker.borrow_mut() = Some(worker);
                tokio::task::spawn_local(follow(Rc::downgrade(self), events));
            }
            Err(why) => {
                self.note_error(Some(why));
                self.apply(LifecycleEvent::Ended);
            }
        }
    }

    fn on_event(self: &Rc<Self>, event: WorkerEvent<P::CatalogWorkerMessage>) {
        match event {
            WorkerEvent::Greeted => self.apply(LifecycleEvent::Connected),
            WorkerEvent::Said(said) => {
                self.said.set(Instant::now());
                self.tell(|owner| owner.heard(said));
            }
            WorkerEvent::Closed(how) => {
                *self.worker.borrow_mut() = None;
                self.quiet.clear();
                self.idle.clear();
                if self.state() != State::Stopping {
                    tracing::warn!(program = P::PROGRAM, how, "a worker has ended");
                    self.note_error(Some(how));
                }
                self.apply(LifecycleEvent::Ended);
                self.gone.notify_waiters();
            }
        }
    }

    fn now(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    /// Ends it, politely until `limit`, then by force.
    pub async fn end(self: &Rc<Self>, limit: Duration) {
        self.apply(LifecycleEvent::Stop);
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
            self.worker.borrow().iter().for_each(WorkerProcess::kill);
        }
    }
}

/// Passes on a worker's events until it has ended.
async fn follow<P: Pair>(
    kept: Weak<WorkerKeeper<P>>,
    mut events: mpsc::Receiver<WorkerEvent<P::CatalogWorkerMessage>>,
) {
    while let Some(event) = events.recv().await {
        let Some(kept) = kept.upgrade() else { return };
        kept.on_event(event);
    }
}
