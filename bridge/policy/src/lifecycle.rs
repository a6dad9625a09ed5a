//! The life of one server, as decisions.
//!
//! ```text
//!             Start                Connected
//!   Stopped ─────────► Starting ─────────────► Running
//!      ▲                 │  │                   │  │
//!      │            Stop │  │ Ended       Ended │  │ Stop
//!      │                 ▼  ▼                   ▼  ▼
//!      └──── Ended ── Stopping    Failed ◄──────┘ Stopping
//!                      │              │
//!                      │ Start        │ Start ─► Starting
//!                      ▼
//!                Stopping, then Starting again
//! ```
//!
//! | state | Start | Stop | Connected | Ended | deadline |
//! |---|---|---|---|---|---|
//! | Stopped | Starting: launch | – | illegal | illegal | – |
//! | Starting | – | Stopping: halt | Running | Failed | kill the runner |
//! | Running | – | Stopping: halt | illegal | Failed | – |
//! | Stopping | start again after | no start after | – | Stopped, or Starting: launch | kill the runner |
//! | Failed | Starting: launch | Stopped | illegal | illegal | – |
//!
//! A stop always wins over what was begun before it. Illegal events change nothing and are reported, so that
//! the driver can count them. Time is an argument, in milliseconds of any clock that does not jump.

use std::time::Duration;

/// Milliseconds of the driver's clock.
pub type Millis = u64;

/// Where a server is in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum State {
    /// Not running, and that is as it should be.
    Stopped,
    /// Its process is being started, or contact made.
    Starting,
    /// It can be called.
    Running,
    /// It was told to end.
    Stopping,
    /// It ended, or never came up, against the person's will.
    Failed,
}

impl State {
    /// The word on the wire.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Stopped => "stopped",
            Self::Starting => "starting",
            Self::Running => "running",
            Self::Stopping => "stopping",
            Self::Failed => "failed",
        }
    }
}

/// What happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// Somebody wants it running.
    Start,
    /// Somebody wants it stopped.
    Stop,
    /// Contact is made.
    Connected,
    /// It is gone: its process, or its runner.
    Ended,
    /// Time has passed.
    Tick,
}

/// What the driver shall do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// Have a runner start it.
    Launch,
    /// Have its runner end it.
    Halt,
    /// Its runner does not do as it is told: kill the runner.
    KillRunner,
    /// Tell those who waited for it to run that it does.
    AnnounceRunning,
    /// Tell those who waited for it, and its open calls, that it does not run.
    AnnounceDown,
    /// The event does not belong here; count it.
    CountIllegal,
}

/// How long things may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// From launch to contact, the runner's own limit included.
    pub start: Duration,
    /// From the halt to the end.
    pub stop: Duration,
}

/// The machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lifecycle {
    state: State,
    since: Millis,
    start_again: bool,
    deadline: Option<Millis>,
    limits: Limits,
}

impl Lifecycle {
    /// A server that is stopped.
    #[must_use]
    pub fn new(limits: Limits, now: Millis) -> Self {
        Self { state: State::Stopped, since: now, start_again: false, deadline: None, limits }
    }

    /// Where it is.
    #[must_use]
    pub fn state(&self) -> State {
        self.state
    }

    /// Since when.
    #[must_use]
    pub fn since(&self) -> Millis {
        self.since
    }

    /// When [`Event::Tick`] is next needed.
    #[must_use]
    pub fn deadline(&self) -> Option<Millis> {
        self.deadline
    }

    /// Takes an event; the actions are to be performed in their order.
    #[must_use]
    pub fn on(&mut self, event: Event, now: Millis) -> &'static [Action] {
        use Action::{AnnounceDown, AnnounceRunning, CountIllegal, Halt, KillRunner, Launch};
        match (self.state, event) {
            (State::Stopped | State::Failed, Event::Start) => {
                self.enter(State::Starting, now, Some(self.limits.start));
                &[Launch]
            }
            (State::Starting, Event::Connected) => {
                self.enter(State::Running, now, None);
                &[AnnounceRunning]
            }
            (State::Starting | State::Running, Event::Stop) => {
                self.enter(State::Stopping, now, Some(self.limits.stop));
                &[Halt, AnnounceDown]
            }
            (State::Starting | State::Running, Event::Ended) => {
                self.enter(State::Failed, now, None);
                &[AnnounceDown]
            }
            (State::Stopping, Event::Ended) if self.start_again => {
                self.start_again = false;
                self.enter(State::Starting, now, Some(self.limits.start));
                &[Launch]
            }
            (State::Stopping, Event::Ended) => {
                self.enter(State::Stopped, now, None);
                &[]
            }
            (State::Stopping, Event::Start | Event::Stop) => {
                let wanted = std::mem::replace(&mut self.start_again, event == Event::Start);
                // A stop wins over a start that was still waiting for the end.
                if wanted && event == Event::Stop { &[AnnounceDown] } else { &[] }
            }
            (State::Failed, Event::Stop) => {
                self.enter(State::Stopped, now, None);
                &[]
            }
            (_, Event::Tick) if self.deadline.is_some_and(|deadline| deadline <= now) => {
                self.deadline = None;
                &[KillRunner]
            }
            (State::Starting | State::Running, Event::Start)
            | (State::Stopped, Event::Stop)
            // A contact that was made while the stop was on its way.
            | (State::Stopping, Event::Connected)
            | (_, Event::Tick) => &[],
            (State::Stopped | State::Failed, Event::Connected | Event::Ended)
            | (State::Running, Event::Connected) => &[CountIllegal],
        }
    }

    fn enter(&mut self, state: State, now: Millis, limit: Option<Duration>) {
        self.state = state;
        self.since = now;
        self.deadline =
            limit.map(|limit| now.saturating_add(u64::try_from(limit.as_millis()).unwrap_or(u64::MAX)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const LIMITS: Limits = Limits { start: Duration::from_secs(10), stop: Duration::from_secs(3) };
    const EVENTS: [Event; 5] = [Event::Start, Event::Stop, Event::Connected, Event::Ended, Event::Tick];

    fn at(state: State) -> Lifecycle {
        let mut machine = Lifecycle::new(LIMITS, 0);
        let way: &[Event] = match state {
            State::Stopped => &[],
            State::Starting => &[Event::Start],
            State::Running => &[Event::Start, Event::Connected],
            State::Stopping => &[Event::Start, Event::Stop],
            State::Failed => &[Event::Start, Event::Ended],
        };
        for event in way {
            let _ = machine.on(*event, 0);
        }
        assert_eq!(machine.state(), state);
        machine
    }

    /// The table at the top of the file, cell by cell.
    #[test]
    fn the_table() {
        use Action::{AnnounceDown, AnnounceRunning, CountIllegal, Halt, Launch};
        use State::{Failed, Running, Starting, Stopped, Stopping};
        type Cell = (State, &'static [Action]);
        let rows: [(State, [Cell; 4]); 5] = [
            (
                Stopped,
                [
                    (Starting, &[Launch]),
                    (Stopped, &[]),
                    (Stopped, &[CountIllegal]),
                    (Stopped, &[CountIllegal]),
                ],
            ),
            (
                Starting,
                [
                    (Starting, &[]),
                    (Stopping, &[Halt, AnnounceDown]),
                    (Running, &[AnnounceRunning]),
                    (Failed, &[AnnounceDown]),
                ],
            ),
            (
                Running,
                [
                    (Running, &[]),
                    (Stopping, &[Halt, AnnounceDown]),
                    (Running, &[CountIllegal]),
                    (Failed, &[AnnounceDown]),
                ],
            ),
            (Stopping, [(Stopping, &[]), (Stopping, &[]), (Stopping, &[]), (Stopped, &[])]),
            (
                Failed,
                [(Starting, &[Launch]), (Stopped, &[]), (Failed, &[CountIllegal]), (Failed, &[CountIllegal])],
            ),
        ];
        for (from, cells) in rows {
            for (event, (to, actions)) in EVENTS.into_iter().zip(cells) {
                let mut machine = at(from);
                assert_eq!(machine.on(event, 1), actions, "{from:?} {event:?}");
                assert_eq!(machine.state(), to, "{from:?} {event:?}");
            }
        }
    }

    #[test]
    fn a_start_during_a_stop_happens_after_it_and_a_stop_takes_it_back() {
        let mut machine = at(State::Stopping);
        assert_eq!(machine.on(Event::Start, 1), []);
        assert_eq!(machine.clone().on(Event::Ended, 2), [Action::Launch]);
        assert_eq!(machine.on(Event::Stop, 2), [Action::AnnounceDown]);
        assert_eq!(machine.on(Event::Ended, 3), []);
        assert_eq!(machine.state(), State::Stopped);
    }

    #[test]
    fn a_runner_that_does_not_obey_is_killed_once_at_the_deadline() {
        let mut machine = at(State::Stopping);
        assert_eq!(machine.deadline(), Some(3000));
        assert_eq!(machine.on(Event::Tick, 2999), []);
        assert_eq!(machine.on(Event::Tick, 3000), [Action::KillRunner]);
        assert_eq!((machine.on(Event::Tick, 4000), machine.deadline()), (&[][..], None));
    }

    proptest! {
        /// Whatever happens: never two live processes, who waits is told, and nothing runs after a last stop.
        #[test]
        fn laws(events in prop::collection::vec((0usize..5, 0u64..5000), 0..200)) {
            let mut machine = Lifecycle::new(LIMITS, 0);
            let (mut now, mut alive, mut waiting) = (0, 0i32, false);
            for (event, later) in events {
                now += later;
                let event = EVENTS[event];
                // The world: only a live process connects or ends.
                if matches!(event, Event::Connected | Event::Ended) && alive == 0 { continue; }
                if event == Event::Ended { alive -= 1; }
                if event == Event::Start && machine.state() != State::Running { waiting = true; }
                for action in machine.on(event, now) {
                    match action {
                        Action::Launch => alive += 1,
                        Action::AnnounceRunning | Action::AnnounceDown => waiting = false,
                        _ => {}
                    }
                }
                prop_assert!((0..=1).contains(&alive));
                let settled = matches!(machine.state(), State::Stopped | State::Failed | State::Running);
                prop_assert!(!settled || !waiting, "somebody waits in {:?}", machine.state());
                prop_assert_eq!(alive == 0, matches!(machine.state(), State::Stopped | State::Failed));
            }
            let _ = machine.on(Event::Stop, now);
            if alive == 1 { let _ = machine.on(Event::Ended, now); }
            prop_assert_eq!(machine.state(), State::Stopped);
        }
    }
}
