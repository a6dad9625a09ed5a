//! The driver of one server: performs what `policy::lifecycle` decides.
//!
//! ```text
//!  start, stop, events of its runner ─► Lifecycle::on ─► actions ─► runner, waiters, timer
//! ```
//!
//! Owns the state of one server. All changes go through `apply`; nothing else touches the machine.

mod events;
mod launch;

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::{Duration, Instant};

use harbor_ipc_proto::link::runner::{Era, Operation, ToRunner};
use harbor_ipc_proto::server_id::ServerId;
use harbor_policy::access::Permit;
use harbor_policy::lifecycle::{Action, Event, Lifecycle, Limits, State};
use harbor_policy::limits;
use harbor_policy::slots::{Slot, Slots};
use tokio::sync::{Notify, oneshot};

use super::lists::{Fetched, Lists};
use super::logs::{Line, Ring};
use super::runners::{Place, Runners};
use super::{ListKind, StartError};
use crate::link::{Call, CallError, EndReport, Info, OnProgress};
use crate::store::definitions::{Definition, Stored};

/// How long a start waits for the server's lists.
const LISTS_WAIT: Duration = Duration::from_secs(10);

/// What is to be seen of a server.
#[derive(Debug, Clone)]
pub struct Status {
    /// Where it is in its life.
    pub state: State,
    /// Its process, while there is one.
    pub pid: Option<u32>,
    /// Its runner, while there is one.
    pub runner_pid: Option<u32>,
    /// What it said about itself, while it runs.
    pub info: Option<Info>,
    /// Why it failed, when it did.
    pub last_end: Option<Rc<EndReport>>,
}

/// The server does not run.
#[derive(Debug)]
pub struct NotRunning {
    /// Where it is instead.
    pub state: State,
    /// Why, when it failed.
    pub last_end: Option<Rc<EndReport>>,
}

/// Whoever waits for the server to run gets the lists of the very start that it waited for.
type Started = Result<Rc<Lists>, StartError>;
type Waiter = oneshot::Sender<Started>;

/// One server.
#[derive(Debug)]
pub struct Server {
    id: ServerId,
    definition: Definition,
    era: Cell<Option<Era>>,
    runners: Rc<Runners>,
    machine: RefCell<Lifecycle>,
    place: RefCell<Option<Place>>,
    pid: Cell<Option<u32>>,
    info: RefCell<Option<Info>>,
    last_end: RefCell<Option<Rc<EndReport>>>,
    lists: RefCell<Rc<Lists>>,
    logs: RefCell<Ring>,
    slots: Slots,
    waiters: RefCell<Vec<Waiter>>,
    /// Clients per resource that subscribed to it.
    subscribers: RefCell<BTreeMap<String, u32>>,
    stops: Cell<u64>,
    /// The server that had this id before, while it may not be down.
    predecessor: RefCell<Option<Rc<Server>>>,
    changed: Notify,
    illegal: Cell<u64>,
    began: Instant,
}

impl Server {
    pub(super) fn new(stored: Stored, runners: Rc<Runners>) -> Rc<Self> {
        let start =
            limits::start_timeout(stored.definition.start_timeout_ms).unwrap_or(limits::START_TIMEOUT);
        let machine_limits = Limits {
            start: start + limits::START_SLACK,
            stop: limits::EOF_GRACE + limits::TERM_GRACE + limits::STOP_SLACK,
        };
        Rc::new(Self {
            id: stored.server_id,
            definition: stored.definition,
            era: Cell::new(stored.era),
            runners,
            machine: RefCell::new(Lifecycle::new(machine_limits, 0)),
            place: RefCell::default(),
            pid: Cell::default(),
            info: RefCell::default(),
            last_end: RefCell::default(),
            lists: RefCell::default(),
            logs: RefCell::default(),
            slots: Slots::new(limits::OPEN_PER_SERVER),
            waiters: RefCell::default(),
            subscribers: RefCell::default(),
            stops: Cell::new(0),
            predecessor: RefCell::default(),
            changed: Notify::new(),
            illegal: Cell::new(0),
            began: Instant::now(),
        })
    }

    /// Has this server wait for the end of another one before it starts.
    pub(super) fn follow(&self, predecessor: Rc<Server>) {
        *self.predecessor.borrow_mut() = Some(predecessor);
    }

    /// Its id.
    #[must_use]
    pub fn id(&self) -> &ServerId {
        &self.id
    }

    /// How it is started.
    #[must_use]
    pub fn definition(&self) -> &Definition {
        &self.definition
    }

    pub(super) fn roots(&self) -> &[String] {
        &self.definition.roots
    }

    /// What is to be seen of it.
    #[must_use]
    pub fn status(&self) -> Status {
        Status {
            state: self.state(),
            pid: self.pid.get(),
            runner_pid: self.place.borrow().as_ref().map(|place| place.runner.pid()),
            info: self.info.borrow().clone(),
            last_end: self.last_end.borrow().clone(),
        }
    }

    /// One of its lists, as fetched last.
    #[must_use]
    pub fn list(&self, kind: ListKind) -> Fetched {
        self.lists.borrow().get(kind)
    }

    /// Its newest log lines, at most `limit`.
    #[must_use]
    pub fn logs(&self, limit: usize) -> Vec<Line> {
        self.logs.borrow().last(limit)
    }

    fn state(&self) -> State {
        self.machine.borrow().state()
    }

    /// Starts the server if need be, and waits until it runs and its lists are there, or have taken too long.
    ///
    /// # Errors
    /// Why it does not run.
    pub async fn start(self: &Rc<Self>) -> Result<(), StartError> {
        let predecessor = self.predecessor.borrow().clone();
        if let Some(predecessor) = predecessor {
            let stops = self.stops.get();
            predecessor.down().await;
            *self.predecessor.borrow_mut() = None;
            if self.stops.get() != stops {
                return Err(StartError::Stopped);
            }
        }
        let (waiter, running) = oneshot::channel();
        self.waiters.borrow_mut().push(waiter);
        self.apply(Event::Start);
        if self.state() == State::Running {
            self.answer_waiters(&Ok(self.lists.borrow().clone()));
        }
        let lists = running.await.unwrap_or(Err(StartError::Stopped))?;
        // A server whose lists are slow runs all the same; it has them later.
        let _ = tokio::time::timeout(LISTS_WAIT, lists.complete()).await;
        if self.state() == State::Running { Ok(()) } else { Err(self.why_down()) }
    }

    fn why_down(&self) -> StartError {
        match (self.state(), self.last_end.borrow().clone()) {
            (State::Failed, Some(report)) => StartError::Failed(report),
            _ => StartError::Stopped,
        }
    }

    /// Has the server stopped; returns whether it was running or starting.
    pub fn stop(self: &Rc<Self>) -> bool {
        self.stops.set(self.stops.get() + 1);
        let was_up = matches!(self.state(), State::Starting | State::Running);
        self.apply(Event::Stop);
        was_up
    }

    /// Waits until the server is down. The lifecycle's deadlines bound it.
    pub async fn down(&self) {
        loop {
            let changed = self.changed.notified();
            if matches!(self.state(), State::Stopped | State::Failed) {
                return;
            }
            changed.await;
        }
    }

    /// A place for one more open request.
    #[must_use]
    pub fn slot(&self) -> Option<Slot> {
        self.slots.take()
    }

    /// Asks the server. There is no other way to it: the permit and the slot are given up here.
    ///
    /// # Errors
    /// The outer one when it does not run, the inner one when its runner cannot be asked.
    pub fn call(
        &self,
        _permit: Permit,
        slot: Slot,
        operation: Operation<'_>,
        limit: Duration,
        progress: Option<OnProgress>,
    ) -> Result<Result<HeldCall, CallError>, NotRunning> {
        let place = self.place.borrow();
        match (self.state(), place.as_ref()) {
            (State::Running, Some(place)) => Ok(place
                .runner
                .link
                .call(place.number, operation, limit, progress)
                .map(|call| HeldCall { call, _slot: slot })),
            (state, _) => Err(NotRunning { state, last_end: self.last_end.borrow().clone() }),
        }
    }
}

/// A call on its way, with the slot that it holds.
#[derive(Debug)]
pub struct HeldCall {
    /// The call, to be awaited.
    pub call: Call,
    _slot: Slot,
}

/// Who is interested in which resource.
impl Server {
    /// Notes that one more client subscribed to `uri`.
    pub fn subscribed(&self, uri: &str) {
        *self.subscribers.borrow_mut().entry(uri.to_owned()).or_default() += 1;
    }

    /// Notes that a client gave up its subscription; returns whether it was the last one.
    pub fn unsubscribed(&self, uri: &str) -> bool {
        let mut subscribers = self.subscribers.borrow_mut();
        let left = subscribers.get_mut(uri).map_or(0, |count| {
            *count -= 1;
            *count
        });
        if left == 0 {
            subscribers.remove(uri);
        }
        left == 0
    }
}

/// The machine and what it demands.
impl Server {
    fn now(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    fn apply(self: &Rc<Self>, event: Event) {
        let actions = self.machine.borrow_mut().on(event, self.now());
        for action in actions {
            self.perform(*action);
        }
        self.changed.notify_waiters();
    }

    fn perform(self: &Rc<Self>, action: Action) {
        match action {
            Action::Launch => self.launch(),
            Action::Halt => {
                if let Some(place) = self.place.borrow().as_ref() {
                    place.runner.link.send(&ToRunner::Disconnect { server: place.number });
                }
                self.watch_deadline();
            }
            Action::KillRunner => {
                tracing::warn!(server = %self.id, "its runner does not obey and is killed");
                let place = self.place.borrow().clone();
                if let Some(place) = place {
                    place.runner.kill();
                }
            }
            Action::AnnounceRunning => self.answer_waiters(&Ok(self.lists.borrow().clone())),
            Action::AnnounceDown => self.answer_waiters(&Err(self.why_down())),
            Action::CountIllegal => {
                self.illegal.set(self.illegal.get() + 1);
                tracing::warn!(server = %self.id, count = self.illegal.get(), "an event did not fit its state");
            }
        }
    }

    fn answer_waiters(&self, answer: &Started) {
        for waiter in self.waiters.take() {
            // A client that has left waits no longer.
            let _ = waiter.send(answer.clone());
        }
    }

    fn launch(self: &Rc<Self>) {
        *self.last_end.borrow_mut() = None;
        let launched = self.prepare().and_then(|cwd| {
            let place = self.runners.place(self).map_err(|error| format!("start a runner: {error}"))?;
            place.runner.link.send(&self.launch_message(place.number, &cwd));
            *self.place.borrow_mut() = Some(place);
            Ok(())
        });
        match launched {
            Ok(()) => self.watch_deadline(),
            Err(what) => {
                let report = EndReport {
                    cause: "spawn_failed",
                    message: format!("could not {what}"),
                    stderr_tail: String::new(),
                };
                *self.last_end.borrow_mut() = Some(Rc::new(report));
                self.apply(Event::Ended);
            }
        }
    }

    /// Ticks the machine when its deadline has come.
    fn watch_deadline(self: &Rc<Self>) {
        let Some(deadline) = self.machine.borrow().deadline() else { return };
        let server = Rc::downgrade(self);
        let wait = Duration::from_millis(deadline.saturating_sub(self.now()));
        tokio::task::spawn_local(async move {
            tokio::time::sleep(wait).await;
            if let Some(server) = server.upgrade() {
                server.apply(Event::Tick);
            }
        });
    }
}
