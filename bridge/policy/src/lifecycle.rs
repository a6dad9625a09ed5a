//! The life of one server, as decisions.
//!
//! ```text
//!                 Start (a package is missing)      Installed
//!             ┌──────────────────────► Installing ──────────────┐
//!             │                            │ Ended ─► Failed    ▼         Connected
//!   ┌──► Stopped ──────────────────────────────────────────► Starting ───────────────► Running
//!   │         ▲   Start, Demand (lazy)                        │    ▲                   │ │ │
//!   │         │                    never up, or given up      │    │ Tick: the delay   │ │ │ Ended
//!   │         │             Failed ◄──────────────────────────┤    │ has passed, Start │ │ │
//!   │         │               │  ▲                      Ended └─► Crashed ◄────────────┼─┼─┘
//!   │         │ Stop          │  └──── no restart left ────────────┘                   │ │
//!   │         └───────────────┘                                                        │ │
//!   └── Ended ── Stopping ◄── Stop, Idle ──────────────────────────────────────────────┘ │
//!                   └── Ended ─► Crashed  ◄── Hung: it is killed first ──────────────────┘
//! ```
//!
//! | state | Start | Demand | Stop | Idle | Hung | Installed | Connected | Ended | deadline |
//! |---|---|---|---|---|---|---|---|---|---|
//! | Stopped | begin | begin, if lazy and not held | hold | – | – | illegal | illegal | illegal | – |
//! | Installing | – | – | Stopping: halt | – | – | Starting: launch | illegal | Failed | kill the runner |
//! | Starting | – | – | Stopping: halt | – | – | illegal | Running | *down* | kill the runner |
//! | Running | – | – | Stopping: halt | Stopping: halt | Stopping: kill | illegal | illegal | *down* | stable: count anew |
//! | Crashed | begin | – | Stopped | – | – | illegal | illegal | illegal | Starting: launch |
//! | Stopping | begin after | begin after, as in Stopped | no start after | – | – | as Ended | – | Stopped, or what comes after | kill the runner |
//! | Failed | begin | once a minute, if it had run and the policy is not `never`: Starting | Stopped | – | – | illegal | illegal | illegal | – |
//!
//! Barred is Ended where another start does not help: in place of *down* the server becomes Failed, and no demand tries it again.
//!
//! *begin*: Installing where a package is missing, else Starting; the restarts count anew. *down*: Crashed while the policy
//! allows one more restart and the server had connected (or the policy is `always`), else Failed. A stop holds: until the next
//! Start no demand begins anything. An idle stop is as good as a stable period. After a half-open try there is no restart until a
//! stable period.
//!
//! A stop always wins over everything that was begun before it. Illegal events change nothing and are reported, so that the
//! driver can count them. Time is an argument, in milliseconds of any clock that does not jump.

use std::time::Duration;

use harbor_ipc_proto::client::RestartWhen;

use crate::limits;
use crate::settings::Restart;

/// Milliseconds of the driver's clock.
pub type Millis = u64;

/// The stage of a server's life.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum State {
    /// Its package is being installed.
    Installing,
    /// Not running, and that is as it should be.
    Stopped,
    /// Its process is being started, or contact made.
    Starting,
    /// It can be called.
    Running,
    /// It was told to end.
    Stopping,
    /// It ended against the person's will and waits to be started again.
    Crashed,
    /// It never came up, or was given up.
    Failed,
}

impl State {
    /// All of them, in the order of a life.
    pub const ALL: [Self; 7] = [
        Self::Installing,
        Self::Stopped,
        Self::Starting,
        Self::Running,
        Self::Stopping,
        Self::Crashed,
        Self::Failed,
    ];

    /// The word on the wire.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Installing => "installing",
            Self::Stopped => "stopped",
            Self::Starting => "starting",
            Self::Running => "running",
            Self::Stopping => "stopping",
            Self::Crashed => "crashed",
            Self::Failed => "failed",
        }
    }
}

/// An event in the life of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LifecycleEvent {
    /// A person wants it running.
    Start,
    /// A call wants it running.
    Demand,
    /// A person wants it stopped.
    Stop,
    /// Nobody has called it for long enough.
    Idle,
    /// It gives no sign of life.
    Hung,
    /// Its package is installed.
    Installed,
    /// Contact is made.
    Connected,
    /// It is gone: its process (the installer's, while installing), or its runner.
    Ended,
    /// It is gone, as in `Ended`, for a reason that only a person can mend.
    Barred,
    /// Time has passed.
    Tick,
}

/// An action for the driver.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LifecycleAction {
    /// Have a runner install its package.
    Install,
    /// Have a runner start it.
    Launch,
    /// Have its runner end it.
    Halt,
    /// Have its runner kill it.
    Kill,
    /// Kill the runner, since it does not obey.
    KillRunner,
    /// Tell everybody who waited for it to run that it does.
    AnnounceRunning,
    /// Tell those who started the server that it is down. Calls still wait for the restart.
    AnnounceCrash,
    /// Tell everybody who waited for it to run that it does not.
    AnnounceDown,
    /// The event does not belong here; count it.
    CountIllegal,
}

/// How long things may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct LifecycleLimits {
    /// The time for the whole installation, including the runner's own limits.
    pub install: Duration,
    /// The time from launch to contact, including the runner's own limit.
    pub start: Duration,
    /// The time from the halt to the end.
    pub stop: Duration,
}

/// The settings that are fixed for a server's life.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Rules {
    /// How long things may take.
    pub limits: LifecycleLimits,
    /// The rules for starting it again.
    pub restart: Restart,
    /// True if a call starts it.
    pub lazy: bool,
}

/// The step that follows the end of a server that is stopping.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum After {
    Rest,
    Begin,
    Restart,
}

/// The machine.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Lifecycle {
    rules: Rules,
    /// How long the stop of this very start may take.
    stop_limit: Duration,
    state: State,
    since: Millis,
    deadline: Option<Millis>,
    after: After,
    /// True if a package is still to be installed.
    missing: bool,
    /// True if contact was made since the last Start.
    connected: bool,
    /// Restarts since the last Start or stable period.
    attempt: u32,
    /// Tried half-open: no restart follows until it is stable.
    last_chance: bool,
    /// A person stopped it.
    held: bool,
    /// Only a person can help it up again.
    barred: bool,
    random: u64,
}

/// The actions that an event demands, in their order.
pub type Actions = &'static [LifecycleAction];

impl Lifecycle {
    /// A server that is stopped. `missing`: its package is not installed yet. `seed` is for the delays' jitter.
    #[must_use]
    pub fn new(rules: Rules, missing: bool, seed: u64, now: Millis) -> Self {
        Self {
            stop_limit: rules.limits.stop,
            rules,
            state: State::Stopped,
            since: now,
            deadline: None,
            after: After::Rest,
            missing,
            connected: false,
            attempt: 0,
            last_chance: false,
            held: false,
            barred: false,
            random: seed | 1,
        }
    }

    /// Takes over other rules. A wait that has begun stays as it is, and a started process keeps its time to
    /// end.
    pub fn change(&mut self, rules: Rules) {
        self.stop_limit = self.stop_limit.max(rules.limits.stop);
        self.rules = rules;
    }

    /// True if the server is stopped and a demand starts it.
    #[must_use]
    pub fn wakes_on_demand(&self) -> bool {
        self.state == State::Stopped && self.rules.lazy && !self.held
    }

    /// The present state.
    #[must_use]
    pub fn state(&self) -> State {
        self.state
    }

    /// The time when [`Event::Tick`] is next needed.
    #[must_use]
    pub fn deadline(&self) -> Option<Millis> {
        self.deadline
    }

    /// The number of the restart that is next, under way or done. It is 0 if there was none since a stable period.
    #[must_use]
    pub fn attempt(&self) -> u32 {
        self.attempt
    }

    /// The time of the next try, while the server waits for it.
    #[must_use]
    pub fn next_retry(&self) -> Option<Millis> {
        self.deadline.filter(|_| self.state == State::Crashed)
    }

    /// The time from which a call may try a failed server again. None if only a person can.
    #[must_use]
    pub fn half_open_at(&self) -> Option<Millis> {
        let can = self.state == State::Failed && self.may_restart();
        can.then(|| self.since.saturating_add(millis(limits::HALF_OPEN)))
    }

    /// True if a call that cannot be sent now may wait: the server is on its way up.
    #[must_use]
    pub fn is_worth_waiting(&self) -> bool {
        match self.state {
            State::Installing | State::Starting | State::Crashed => true,
            State::Stopping => self.after != After::Rest,
            State::Stopped | State::Running | State::Failed => false,
        }
    }

    /// Stops the clock of a start that waits for somebody else: its limit does not run meanwhile.
    pub fn hold_the_clock(&mut self) {
        if matches!(self.state, State::Starting | State::Installing) {
            self.deadline = None;
        }
    }

    /// It begins now.
    pub fn start_the_clock(&mut self, now: Millis) {
        let limit = match self.state {
            State::Starting => self.rules.limits.start,
            State::Installing => self.rules.limits.install,
            _ => return,
        };
        self.deadline = Some(now.saturating_add(millis(limit)));
    }

    /// Its package, which was installed, is not there any more: the next start installs it anew.
    pub fn package_is_lost(&mut self) {
        self.missing = true;
    }

    /// True if the next start installs first.
    #[must_use]
    pub fn installs_first(&self) -> bool {
        self.missing
    }

    /// Takes an event. Perform the returned actions in their order.
    #[must_use]
    pub fn on(&mut self, event: LifecycleEvent, now: Millis) -> Actions {
        match event {
            LifecycleEvent::Start => self.on_start(now),
            LifecycleEvent::Demand => self.on_demand(now),
            LifecycleEvent::Stop => self.on_stop(now),
            LifecycleEvent::Idle if self.state == State::Running => self.stopping(After::Rest, now),
            LifecycleEvent::Hung if self.state == State::Running => {
                self.stopping(After::Restart, now);
                &[LifecycleAction::Kill, LifecycleAction::AnnounceCrash]
            }
            LifecycleEvent::Idle | LifecycleEvent::Hung => &[],
            LifecycleEvent::Installed => self.on_installed(now),
            LifecycleEvent::Connected => self.on_connected(now),
            LifecycleEvent::Ended => self.on_ended(now),
            LifecycleEvent::Barred => {
                let was_there = matches!(self.state, State::Starting | State::Running | State::Stopping);
                self.barred |= was_there;
                self.on_ended(now)
            }
            LifecycleEvent::Tick if self.deadline.is_some_and(|deadline| deadline <= now) => {
                self.on_deadline(now)
            }
            LifecycleEvent::Tick => &[],
        }
    }

    fn on_start(&mut self, now: Millis) -> Actions {
        match self.state {
            State::Stopped | State::Failed | State::Crashed => self.begin(now),
            State::Stopping => {
                (self.after, self.held) = (After::Begin, false);
                &[]
            }
            State::Installing | State::Starting | State::Running => &[],
        }
    }

    fn on_demand(&mut self, now: Millis) -> Actions {
        let lazily = self.rules.lazy && !self.held;
        match self.state {
            State::Stopped if lazily => self.begin(now),
            State::Stopping if lazily && self.after == After::Rest => {
                self.after = After::Begin;
                &[]
            }
            State::Failed if self.half_open_at().is_some_and(|at| at <= now) => {
                self.last_chance = true;
                self.launch(now)
            }
            _ => &[],
        }
    }

    fn on_stop(&mut self, now: Millis) -> Actions {
        self.held = true;
        match self.state {
            State::Installing | State::Starting | State::Running => self.stopping(After::Rest, now),
            State::Stopping => {
                // A stop wins over a start that was still waiting for the end.
                let before = std::mem::replace(&mut self.after, After::Rest);
                if before == After::Rest { &[] } else { &[LifecycleAction::AnnounceDown] }
            }
            State::Crashed | State::Failed => {
                self.enter(State::Stopped, now, None);
                &[LifecycleAction::AnnounceDown]
            }
            State::Stopped => &[],
        }
    }

    fn on_installed(&mut self, now: Millis) -> Actions {
        match self.state {
            State::Installing => {
                self.missing = false;
                self.launch(now)
            }
            // It was done while the stop was on its way; the next start finds it there.
            State::Stopping => {
                self.missing = false;
                self.on_ended(now)
            }
            _ => &[LifecycleAction::CountIllegal],
        }
    }

    fn on_connected(&mut self, now: Millis) -> Actions {
        match self.state {
            State::Starting => {
                self.connected = true;
                let unstable = self.attempt > 0 || self.last_chance;
                self.enter(State::Running, now, unstable.then_some(limits::STABLE));
                &[LifecycleAction::AnnounceRunning]
            }
            // A contact that was made while the stop was on its way.
            State::Stopping => &[],
            _ => &[LifecycleAction::CountIllegal],
        }
    }

    fn on_ended(&mut self, now: Millis) -> Actions {
        match (self.state, self.after) {
            (State::Installing, _) => {
                self.enter(State::Failed, now, None);
                &[LifecycleAction::AnnounceDown]
            }
            (State::Starting | State::Running, _) | (State::Stopping, After::Restart) => self.down(now),
            (State::Stopping, After::Begin) => self.begin(now),
            (State::Stopping, After::Rest) => {
                self.enter(State::Stopped, now, None);
                &[]
            }
            (State::Stopped | State::Crashed | State::Failed, _) => &[LifecycleAction::CountIllegal],
        }
    }

    fn on_deadline(&mut self, now: Millis) -> Actions {
        self.deadline = None;
        match self.state {
            State::Crashed => self.launch(now),
            State::Running => {
                (self.attempt, self.last_chance) = (0, false);
                &[]
            }
            _ => &[LifecycleAction::KillRunner],
        }
    }

    /// A fresh beginning.
    fn begin(&mut self, now: Millis) -> Actions {
        (self.attempt, self.connected, self.last_chance, self.held) = (0, false, false, false);
        self.barred = false;
        if self.missing {
            self.stop_limit = self.rules.limits.stop;
            self.enter(State::Installing, now, Some(self.rules.limits.install));
            return &[LifecycleAction::Install];
        }
        self.launch(now)
    }

    fn launch(&mut self, now: Millis) -> Actions {
        (self.stop_limit, self.barred) = (self.rules.limits.stop, false);
        self.enter(State::Starting, now, Some(self.rules.limits.start));
        &[LifecycleAction::Launch]
    }

    fn stopping(&mut self, after: After, now: Millis) -> Actions {
        self.enter(State::Stopping, now, Some(self.stop_limit));
        self.after = after;
        &[LifecycleAction::Halt, LifecycleAction::AnnounceDown]
    }

    /// Handles an end without an order.
    fn down(&mut self, now: Millis) -> Actions {
        if self.may_restart() && !self.last_chance && self.rules.restart.allows(self.attempt + 1) {
            self.attempt += 1;
            let random = self.next_random();
            let delay = self.rules.restart.delay(self.attempt, random);
            self.enter(State::Crashed, now, Some(Duration::from_millis(delay)));
            return &[LifecycleAction::AnnounceCrash];
        }
        self.enter(State::Failed, now, None);
        &[LifecycleAction::AnnounceDown]
    }

    fn may_restart(&self) -> bool {
        match self.rules.restart.when {
            _ if self.barred => false,
            RestartWhen::Never => false,
            RestartWhen::OnCrash => self.connected,
            RestartWhen::Always => true,
        }
    }

    /// Xorshift: no secret depends on it, it only keeps servers from restarting in step.
    fn next_random(&mut self) -> u64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        self.random
    }

    fn enter(&mut self, state: State, now: Millis, limit: Option<Duration>) {
        self.state = state;
        self.since = now;
        self.after = After::Rest;
        self.deadline = limit.map(|limit| now.saturating_add(millis(limit)));
    }
}

pub(crate) fn millis(duration: Duration) -> Millis {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests;
