//! Where a server is in its life, and who waits for a change of it.
//!
//! ```text
//!  event ─► step ─► Lifecycle::on ─► actions (the driver performs them)
//!              └──► counts, times, the last exit ─► whoever waits is woken
//! ```
//!
//! Owns the machine: nothing else feeds it. Must never perform an action itself.

use std::cell::{Cell, RefCell};
use std::rc::{Rc, Weak};
use std::time::{Duration, Instant};

use harbor_home::clock::wall_clock;
use harbor_policy::lifecycle::{Actions, Lifecycle, LifecycleAction, LifecycleEvent, Rules, State};
use tokio::sync::futures::Notified;
use tokio::sync::{Notify, oneshot};

use crate::alarm::Alarm;
use crate::link::EndReport;
use crate::supervisor::lists::Lists;
use crate::supervisor::start_error::StartError;

/// The answer to a caller that waits for a start: the lists of that start, or why there is none.
pub(in super::super) type Started = Result<Rc<Lists>, StartError>;

type WeakStartListener = Weak<dyn Fn(&str)>;
type Starter = oneshot::Sender<Started>;

/// Somebody who wants to hear what happens until a server runs.
pub type StartListener = Rc<dyn Fn(&str)>;

/// The machine's times as milliseconds since 1970, noted when its state changed: clocks drift apart.
#[derive(Debug, Clone, Copy)]
pub(in super::super) struct ShownTimes {
    pub since: u64,
    pub next_retry: Option<u64>,
}

/// The outcome of an event.
pub(in super::super) struct LifeStep {
    /// The state before.
    pub before: State,
    /// True if the state is another one now.
    pub moved: bool,
    /// The actions to perform.
    pub actions: Actions,
}

/// The list of those who wait for a start.
#[derive(Default)]
struct StartWaiters {
    starters: RefCell<Vec<Starter>>,
    listeners: RefCell<Vec<WeakStartListener>>,
}

/// The life of a server.
pub(in super::super) struct Life {
    machine: RefCell<Lifecycle>,
    alarm: Alarm,
    /// True once an alarm rang so late that it was not believed.
    stalled: Cell<bool>,
    times: Cell<ShownTimes>,
    restarts: Cell<u32>,
    last_exit: RefCell<Option<Rc<EndReport>>>,
    /// How many events did not fit their state.
    illegal: Cell<u64>,
    began: Instant,
    /// The number of finished stops.
    stops: Cell<u64>,
    changed: Notify,
    /// True if it will be started in its turn, since the bridge has begun, or by the first call.
    expected: Cell<bool>,
    waiters: StartWaiters,
}

impl Life {
    /// Begins a life. `missing` is true if its program must be installed first.
    pub fn new(rules: Rules, missing: bool) -> Self {
        let seed = wall_clock() ^ u64::from(std::process::id());
        Self {
            machine: RefCell::new(Lifecycle::new(rules, missing, seed, 0)),
            alarm: Alarm::default(),
            stalled: Cell::default(),
            times: Cell::new(ShownTimes { since: wall_clock(), next_retry: None }),
            restarts: Cell::default(),
            last_exit: RefCell::default(),
            illegal: Cell::default(),
            began: Instant::now(),
            stops: Cell::default(),
            changed: Notify::new(),
            expected: Cell::default(),
            waiters: StartWaiters::default(),
        }
    }

    /// Milliseconds since this value was made.
    pub fn now(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    /// Feeds an event to the machine. The caller performs the actions, then calls [`Self::wake`].
    pub fn step(&self, event: LifecycleEvent) -> LifeStep {
        let before = self.state();
        let actions = self.machine.borrow_mut().on(event, self.now());
        let begins =
            actions.iter().any(|action| matches!(action, LifecycleAction::Install | LifecycleAction::Launch));
        if begins && event == LifecycleEvent::Start {
            self.restarts.set(0);
            *self.last_exit.borrow_mut() = None;
        } else if begins && matches!(before, State::Crashed | State::Failed) {
            self.restarts.set(self.restarts.get() + 1);
        }
        let moved = self.state() != before;
        if moved && before == State::Stopping {
            self.count_stop();
        }
        if moved {
            self.note_times();
        }
        LifeStep { before, moved, actions }
    }

    fn note_times(&self) {
        let machine = self.machine.borrow();
        let next = machine.next_retry().or(machine.half_open_at());
        let next_retry = next.map(|at| wall_clock() + at.saturating_sub(self.now()));
        self.times.set(ShownTimes { since: wall_clock(), next_retry });
    }

    pub fn state(&self) -> State {
        self.machine.borrow().state()
    }

    pub fn attempt(&self) -> u32 {
        self.machine.borrow().attempt()
    }

    /// Milliseconds until it is tried again.
    pub fn retry_in(&self) -> Option<u64> {
        self.machine.borrow().next_retry().map(|at| at.saturating_sub(self.now()))
    }

    pub fn is_worth_waiting(&self) -> bool {
        self.machine.borrow().is_worth_waiting()
    }

    pub fn wakes_on_demand(&self) -> bool {
        self.machine.borrow().wakes_on_demand()
    }

    pub fn installs_first(&self) -> bool {
        self.machine.borrow().installs_first()
    }

    pub fn package_is_lost(&self) {
        self.machine.borrow_mut().package_is_lost();
    }

    pub fn change(&self, rules: Rules) {
        self.machine.borrow_mut().change(rules);
    }

    /// Stops the clock of the start. The time until [`Self::start_the_clock`] does not count.
    pub fn hold_the_clock(&self) {
        self.machine.borrow_mut().hold_the_clock();
    }

    pub fn start_the_clock(&self) {
        self.machine.borrow_mut().start_the_clock(self.now());
    }

    /// Has `ring` called at the machine's deadline.
    pub fn set_alarm<T: 'static>(&self, server: &Rc<T>, ring: fn(&Rc<T>)) {
        let deadline = self.machine.borrow().deadline();
        let wait = deadline.map(|at| Duration::from_millis(at.saturating_sub(self.now())));
        self.alarm.set(server, wait, ring);
    }

    /// True if an alarm rings more than `most_ms` after the deadline, for the first time: then it rings once more after as long.
    pub fn rings_too_late<T: 'static>(&self, server: &Rc<T>, most_ms: u64, ring: fn(&Rc<T>)) -> bool {
        let deadline = self.machine.borrow().deadline();
        let is_late = deadline.is_some_and(|at| self.now() > at + most_ms);
        if is_late && !self.stalled.replace(true) {
            self.alarm.set(server, Some(Duration::from_millis(most_ms)), ring);
            return true;
        }
        self.stalled.set(false);
        false
    }

    pub fn times(&self) -> ShownTimes {
        self.times.get()
    }

    pub fn restarts(&self) -> u32 {
        self.restarts.get()
    }

    /// Counts an event that did not fit. Returns the count.
    pub fn count_illegal(&self) -> u64 {
        self.illegal.set(self.illegal.get() + 1);
        self.illegal.get()
    }

    pub fn last_exit(&self) -> Option<Rc<EndReport>> {
        self.last_exit.borrow().clone()
    }

    /// Remembers how it ended, unless it was told to.
    pub fn note_exit(&self, report: Rc<EndReport>) {
        if !report.was_asked_for() {
            *self.last_exit.borrow_mut() = Some(report);
        }
    }

    pub fn stops(&self) -> u64 {
        self.stops.get()
    }

    pub fn count_stop(&self) {
        self.stops.set(self.stops.get() + 1);
    }

    pub fn expect(&self) {
        self.expected.set(true);
    }

    pub fn is_expected(&self) -> bool {
        self.expected.get()
    }

    /// True if its start was still expected. Then it is no longer.
    pub fn take_expected(&self) -> bool {
        self.expected.take()
    }

    /// A future that ends at the next change. Make it before you check the condition, or you may miss a change.
    pub fn changed(&self) -> Notified<'_> {
        self.changed.notified()
    }

    /// Wakes those who wait for a change.
    pub fn wake(&self) {
        self.changed.notify_waiters();
    }

    /// Waits until `is_so`.
    pub async fn until(&self, is_so: impl Fn() -> bool) {
        loop {
            let changed = self.changed();
            if is_so() {
                return;
            }
            changed.await;
        }
    }

    /// The start that somebody waits for. `listener` hears what happens as long as somebody else holds it.
    pub fn wait_for_start(&self, listener: Option<&StartListener>) -> oneshot::Receiver<Started> {
        self.waiters.listeners.borrow_mut().extend(listener.map(Rc::downgrade));
        let (starter, running) = oneshot::channel();
        self.waiters.starters.borrow_mut().push(starter);
        running
    }

    /// Answers those who wait for a start.
    pub fn answer_starters(&self, answer: &Started) {
        for starter in self.waiters.starters.take() {
            // A client that has left waits no longer.
            let _ = starter.send(answer.clone());
        }
    }

    /// Says something to those who wait for a start.
    pub fn tell_starters(&self, text: &str) {
        let listeners: Vec<_> = {
            let mut listeners = self.waiters.listeners.borrow_mut();
            listeners.retain(|listener| listener.strong_count() > 0);
            listeners.iter().filter_map(Weak::upgrade).collect()
        };
        listeners.iter().for_each(|listener| listener(text));
    }
}
