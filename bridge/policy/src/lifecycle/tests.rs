//! The table cell by cell, the laws under any sequence of events, and an exhaustive walk over all states.

use std::collections::HashSet;

use harbor_ipc_proto::client::Attempts;
use proptest::prelude::*;

use super::*;

const LIMITS: LifecycleLimits = LifecycleLimits {
    install: Duration::from_secs(60),
    start: Duration::from_secs(10),
    stop: Duration::from_secs(3),
};
const EVENTS: [LifecycleEvent; 10] = [
    LifecycleEvent::Start,
    LifecycleEvent::Demand,
    LifecycleEvent::Stop,
    LifecycleEvent::Idle,
    LifecycleEvent::Hung,
    LifecycleEvent::Barred,
    LifecycleEvent::Installed,
    LifecycleEvent::Connected,
    LifecycleEvent::Ended,
    LifecycleEvent::Tick,
];
const MINUTE: Millis = 60_000;

fn rules(when: RestartWhen, lazy: bool) -> Rules {
    let restart =
        Restart { when, attempts: Attempts::Most(3), delays: vec![2000, 4000, 6000], jitter_percent: 0 };
    Rules { limits: LIMITS, restart, lazy }
}

fn on_crash() -> Rules {
    rules(RestartWhen::OnCrash, false)
}

/// A machine that went this way, all at the time 0.
fn after(rules: Rules, missing: bool, way: &[LifecycleEvent]) -> Lifecycle {
    let mut machine = Lifecycle::new(rules, missing, 1, 0);
    for event in way {
        let _ = machine.on(*event, 0);
    }
    machine
}

fn at(state: State) -> Lifecycle {
    use LifecycleEvent::{Connected, Ended, Start, Stop};
    let (missing, way): (_, &[LifecycleEvent]) = match state {
        State::Installing => (true, &[Start]),
        State::Stopped => (false, &[]),
        State::Starting => (false, &[Start]),
        State::Running => (false, &[Start, Connected]),
        State::Stopping => (false, &[Start, Stop]),
        State::Crashed => (false, &[Start, Connected, Ended]),
        State::Failed => (false, &[Start, Ended]),
    };
    let machine = after(on_crash(), missing, way);
    assert_eq!(machine.state(), state);
    machine
}

/// The table at the top of the machine, cell by cell; the last column is time, in `deadlines`.
#[test]
fn the_table() {
    use LifecycleAction::{AnnounceCrash, AnnounceDown, AnnounceRunning, CountIllegal, Halt, Kill, Launch};
    use State::{Crashed, Failed, Installing, Running, Starting, Stopped, Stopping};
    type Cell = (State, &'static [LifecycleAction]);
    let wrong = |state| -> Cell { (state, &[CountIllegal]) };
    let down: Cell = (Stopping, &[Halt, AnnounceDown]);
    // Start, Demand, Stop, Idle, Hung, Barred, Installed, Connected, Ended
    let stay = |state| -> Cell { (state, &[]) };
    let rows: [(State, [Cell; 9]); 7] = [
        (Stopped, {
            let (s, w) = (stay(Stopped), wrong(Stopped));
            [(Starting, &[Launch]), s, s, s, s, w, w, w, w]
        }),
        (Installing, {
            let s = stay(Installing);
            let failed: Cell = (Failed, &[AnnounceDown]);
            [s, s, down, s, s, failed, (Starting, &[Launch]), wrong(Installing), failed]
        }),
        (Starting, {
            let s = stay(Starting);
            let failed: Cell = (Failed, &[AnnounceDown]);
            [s, s, down, s, s, failed, wrong(Starting), (Running, &[AnnounceRunning]), failed]
        }),
        (Running, {
            let (s, w) = (stay(Running), wrong(Running));
            let killed: Cell = (Stopping, &[Kill, AnnounceCrash]);
            let barred: Cell = (Failed, &[AnnounceDown]);
            [s, s, down, down, killed, barred, w, w, (Crashed, &[AnnounceCrash])]
        }),
        (Crashed, {
            let (s, w) = (stay(Crashed), wrong(Crashed));
            [(Starting, &[Launch]), s, (Stopped, &[AnnounceDown]), s, s, w, w, w, w]
        }),
        (Stopping, {
            let s = stay(Stopping);
            [s, s, s, s, s, stay(Stopped), stay(Stopped), s, stay(Stopped)]
        }),
        (Failed, {
            let (s, w) = (stay(Failed), wrong(Failed));
            [(Starting, &[Launch]), s, (Stopped, &[AnnounceDown]), s, s, w, w, w, w]
        }),
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
fn deadlines() {
    let wanted = [
        (State::Stopped, None),
        (State::Installing, Some(60_000)),
        (State::Starting, Some(10_000)),
        (State::Running, None),
        (State::Stopping, Some(3000)),
        (State::Crashed, Some(2000)),
        (State::Failed, None),
    ];
    for (state, deadline) in wanted {
        let mut machine = at(state);
        assert_eq!(machine.deadline(), deadline, "{state:?}");
        let Some(deadline) = deadline else { continue };
        assert_eq!(machine.on(LifecycleEvent::Tick, deadline - 1), []);
        let due = if state == State::Crashed { LifecycleAction::Launch } else { LifecycleAction::KillRunner };
        assert_eq!(machine.on(LifecycleEvent::Tick, deadline), [due], "{state:?}");
        assert_eq!(machine.on(LifecycleEvent::Tick, deadline + 1), []);
    }
}

#[test]
fn a_start_during_a_stop_happens_after_it_and_a_stop_takes_it_back() {
    let mut machine = at(State::Stopping);
    assert_eq!(machine.on(LifecycleEvent::Start, 1), []);
    assert!(machine.is_worth_waiting());
    assert_eq!(machine.clone().on(LifecycleEvent::Ended, 2), [LifecycleAction::Launch]);
    assert_eq!(machine.on(LifecycleEvent::Stop, 2), [LifecycleAction::AnnounceDown]);
    assert_eq!(machine.on(LifecycleEvent::Ended, 3), []);
    assert_eq!(machine.state(), State::Stopped);
}

#[test]
fn a_server_that_dies_again_and_again_is_restarted_three_times() {
    let mut machine = at(State::Crashed);
    let mut now = 0;
    for attempt in 1..=3 {
        assert_eq!((machine.state(), machine.attempt()), (State::Crashed, attempt));
        assert_eq!(machine.next_retry(), Some(now + 2000 * u64::from(attempt)));
        now = machine.deadline().unwrap();
        assert_eq!(machine.on(LifecycleEvent::Tick, now), [LifecycleAction::Launch]);
        // Once it comes up before it dies, once it does not.
        if attempt != 2 {
            assert_eq!(machine.on(LifecycleEvent::Connected, now), [LifecycleAction::AnnounceRunning]);
        }
        let _ = machine.on(LifecycleEvent::Ended, now + 59_999);
        now += 59_999;
    }
    assert_eq!((machine.state(), machine.next_retry()), (State::Failed, None));
}

#[test]
fn a_stable_minute_makes_the_count_begin_anew() {
    let mut machine = at(State::Crashed);
    let _ = machine.on(LifecycleEvent::Tick, 2000);
    let _ = machine.on(LifecycleEvent::Connected, 3000);
    assert_eq!(machine.deadline(), Some(3000 + MINUTE));
    assert_eq!((machine.on(LifecycleEvent::Tick, 3000 + MINUTE), machine.attempt()), (&[][..], 0));
    let _ = machine.on(LifecycleEvent::Ended, 3001 + MINUTE);
    assert_eq!((machine.state(), machine.attempt()), (State::Crashed, 1));
}

/// A failed server that had run is tried by calls, once a minute, and gets no restarts for it.
#[test]
fn half_open() {
    let never = after(
        rules(RestartWhen::Never, false),
        false,
        &[LifecycleEvent::Start, LifecycleEvent::Connected, LifecycleEvent::Ended],
    );
    assert_eq!((never.state(), never.half_open_at()), (State::Failed, None), "never means never");
    let mut none = on_crash();
    none.restart.attempts = Attempts::Most(0);
    let mut machine = after(none, false, &[LifecycleEvent::Start, LifecycleEvent::Connected]);
    assert_eq!(machine.on(LifecycleEvent::Ended, 0), [LifecycleAction::AnnounceDown]);
    assert_eq!(machine.on(LifecycleEvent::Demand, MINUTE - 1), []);
    assert_eq!(machine.on(LifecycleEvent::Demand, MINUTE), [LifecycleAction::Launch]);
    let _ = machine.on(LifecycleEvent::Connected, MINUTE);
    assert_eq!(
        machine.on(LifecycleEvent::Ended, 2 * MINUTE - 1),
        [LifecycleAction::AnnounceDown],
        "no stable minute"
    );
    assert_eq!(machine.on(LifecycleEvent::Demand, 2 * MINUTE), []);
    assert_eq!(machine.on(LifecycleEvent::Demand, 3 * MINUTE), [LifecycleAction::Launch]);

    let mut given_up = at(State::Crashed);
    given_up.attempt = 3;
    let _ = given_up.on(LifecycleEvent::Tick, 2000);
    let _ = given_up.on(LifecycleEvent::Ended, 2000);
    assert_eq!(given_up.on(LifecycleEvent::Demand, 2000 + MINUTE), [LifecycleAction::Launch]);
    let _ = given_up.on(LifecycleEvent::Connected, 2000 + MINUTE);
    assert_eq!(given_up.clone().on(LifecycleEvent::Ended, 2001 + MINUTE), [LifecycleAction::AnnounceDown]);
    let _ = given_up.on(LifecycleEvent::Tick, 2000 + 2 * MINUTE);
    assert_eq!(
        given_up.on(LifecycleEvent::Ended, 2001 + 2 * MINUTE),
        [LifecycleAction::AnnounceCrash],
        "stable: counts anew"
    );
}

#[test]
fn a_server_that_never_connected_fails_at_once_and_is_left_to_the_person() {
    let mut machine = at(State::Failed);
    assert_eq!(machine.half_open_at(), None);
    assert_eq!(machine.on(LifecycleEvent::Demand, 10 * MINUTE), []);
    let always =
        after(rules(RestartWhen::Always, false), false, &[LifecycleEvent::Start, LifecycleEvent::Ended]);
    assert_eq!(always.state(), State::Crashed, "unless the person wants it tried always");
}

#[test]
fn a_lazy_server_is_begun_by_a_call_but_not_against_a_stop() {
    let lazy = |way: &[LifecycleEvent]| after(rules(RestartWhen::OnCrash, true), false, way);
    assert_eq!(lazy(&[]).on(LifecycleEvent::Demand, 0), [LifecycleAction::Launch]);
    let idle = [LifecycleEvent::Start, LifecycleEvent::Connected, LifecycleEvent::Idle];
    assert_eq!(lazy(&idle).on(LifecycleEvent::Demand, 0), []);
    assert!(lazy(&[&idle[..], &[LifecycleEvent::Demand]].concat()).is_worth_waiting());
    assert_eq!(
        lazy(&[&idle[..], &[LifecycleEvent::Ended]].concat()).on(LifecycleEvent::Demand, 0),
        [LifecycleAction::Launch]
    );
    for way in
        [&[LifecycleEvent::Stop][..], &[LifecycleEvent::Start, LifecycleEvent::Stop, LifecycleEvent::Ended]]
    {
        let mut held = lazy(way);
        assert_eq!(held.on(LifecycleEvent::Demand, 0), []);
        assert_eq!(held.on(LifecycleEvent::Start, 0), [LifecycleAction::Launch]);
    }
}

/// The limit of a start does not run while something else is in its way.
#[test]
fn a_clock_that_is_held() {
    let mut machine = at(State::Starting);
    machine.hold_the_clock();
    assert_eq!((machine.deadline(), machine.on(LifecycleEvent::Tick, 99_999)), (None, &[][..]));
    machine.start_the_clock(100_000);
    assert_eq!(machine.deadline(), Some(110_000));
    let mut running = at(State::Running);
    running.start_the_clock(5);
    assert_eq!(running.deadline(), None);
}

#[test]
fn a_package_that_was_lost_is_installed_again() {
    let mut machine = after(on_crash(), true, &[LifecycleEvent::Start, LifecycleEvent::Installed]);
    machine.package_is_lost();
    let _ = machine.on(LifecycleEvent::Ended, 1);
    assert_eq!(machine.on(LifecycleEvent::Start, 2), [LifecycleAction::Install]);
}

#[test]
fn a_package_is_installed_once_before_the_first_start() {
    let mut machine = after(on_crash(), true, &[]);
    assert_eq!(machine.on(LifecycleEvent::Start, 0), [LifecycleAction::Install]);
    assert_eq!(machine.clone().on(LifecycleEvent::Ended, 1), [LifecycleAction::AnnounceDown]);
    assert_eq!(machine.on(LifecycleEvent::Installed, 1), [LifecycleAction::Launch]);
    let _ = machine.on(LifecycleEvent::Ended, 2);
    assert_eq!(machine.on(LifecycleEvent::Start, 3), [LifecycleAction::Launch]);
}

/// What surrounds a machine: at most one process, people and calls that wait.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
struct World {
    alive: bool,
    installing: bool,
    connected: bool,
    starter_waits: bool,
    call_waits: bool,
    /// Launches that nobody asked for since the last stable period or Start.
    restarts: u32,
    stopped: bool,
}

impl World {
    fn can(&self, event: LifecycleEvent) -> bool {
        match event {
            LifecycleEvent::Installed => self.installing,
            LifecycleEvent::Connected => self.alive && !self.installing && !self.connected,
            LifecycleEvent::Ended | LifecycleEvent::Barred => self.alive,
            _ => true,
        }
    }

    /// Lets `event` happen to both and checks every promise.
    fn step(&mut self, machine: &mut Lifecycle, event: LifecycleEvent, now: Millis) {
        let (before, stable) = (machine.state(), machine.state() == State::Running);
        match event {
            LifecycleEvent::Start => {
                (self.starter_waits, self.stopped, self.restarts) = (before != State::Running, false, 0)
            }
            LifecycleEvent::Stop => self.stopped = true,
            // It ran well until nobody needed it.
            LifecycleEvent::Idle if stable => self.restarts = 0,
            LifecycleEvent::Connected => self.connected = true,
            LifecycleEvent::Installed | LifecycleEvent::Ended | LifecycleEvent::Barred => {
                (self.alive, self.installing) = (false, false)
            }
            _ => {}
        }
        let actions = machine.on(event, now);
        if event == LifecycleEvent::Tick && stable && machine.attempt() == 0 {
            self.restarts = 0;
        }
        for action in actions {
            match action {
                LifecycleAction::Install | LifecycleAction::Launch => {
                    assert!(!self.alive, "two processes");
                    assert!(!self.stopped, "started although it was stopped");
                    (self.alive, self.installing) = (true, *action == LifecycleAction::Install);
                    self.connected = false;
                    self.restarts += u32::from(before == State::Crashed && event == LifecycleEvent::Tick);
                }
                LifecycleAction::AnnounceRunning | LifecycleAction::AnnounceDown => {
                    (self.starter_waits, self.call_waits) = (false, false);
                }
                LifecycleAction::AnnounceCrash => self.starter_waits = false,
                LifecycleAction::CountIllegal => panic!("{event:?} in {before:?} is possible"),
                LifecycleAction::Halt | LifecycleAction::Kill | LifecycleAction::KillRunner => {
                    assert!(self.alive, "nobody to end")
                }
            }
        }
        if event == LifecycleEvent::Demand && machine.is_worth_waiting() {
            self.call_waits = true;
        }
        self.check(machine);
    }

    fn check(&self, machine: &Lifecycle) {
        let state = machine.state();
        let up = !matches!(state, State::Stopped | State::Crashed | State::Failed);
        assert_eq!(self.alive, up, "{state:?}");
        assert!(self.restarts <= 3, "{} restarts in a row", self.restarts);
        let settled = matches!(state, State::Stopped | State::Failed | State::Running);
        assert!(!(settled && (self.starter_waits || self.call_waits)), "somebody waits in {state:?}");
        assert!(!(state == State::Crashed && self.starter_waits), "a starter waits for a restart");
        // Nobody waits without an end: every state that is waited in has a deadline.
        let bounded = settled || machine.deadline().is_some() || self.alive;
        assert!(bounded, "{state:?} has no end");
    }
}

fn all_rules() -> Vec<Rules> {
    let whens = RestartWhen::ALL;
    whens.into_iter().flat_map(|when| [false, true].map(|lazy| rules(when, lazy))).collect()
}

/// Every state that can be reached, with every event in it. Time goes on only by deadlines being met, or by a
/// minute; what a machine remembers of time is kept relative, so the states are finitely many.
#[test]
fn an_exhaustive_walk() {
    for rules in all_rules() {
        let begin = (Lifecycle::new(rules, true, 1, 0), World::default());
        let (mut seen, mut todo) = (HashSet::from([begin.clone()]), vec![begin]);
        while let Some((machine, world)) = todo.pop() {
            for event in EVENTS.into_iter().filter(|event| world.can(*event)) {
                for now in [0, machine.deadline().unwrap_or(MINUTE), MINUTE] {
                    let (mut machine, mut world) = (machine.clone(), world.clone());
                    world.step(&mut machine, event, now);
                    let relative = rebased(machine, now);
                    if seen.insert((relative.clone(), world.clone())) {
                        todo.push((relative, world));
                    }
                }
            }
            assert!(seen.len() < 100_000, "the states are not finite");
        }
        assert!(seen.len() > 50, "{} states", seen.len());
    }
}

/// The same machine, as if it were the time 0 now; what is long past is as good as a minute past.
fn rebased(mut machine: Lifecycle, now: Millis) -> Lifecycle {
    machine.deadline = machine.deadline.map(|deadline| deadline.saturating_sub(now));
    // `since` matters to the half-open rule only, and the clock cannot show what was before 0: a failed server
    // is kept at 0 and tried at 0 and a minute later.
    machine.since = 0;
    machine.random = 1;
    machine
}

proptest! {
    /// The same laws under sequences with real times, and the last word of every story: a stop that holds.
    #[test]
    fn laws(
        which in 0usize..6,
        missing: bool,
        events in prop::collection::vec((0usize..EVENTS.len(), 0u64..40_000), 0..300),
    ) {
        let mut machine = Lifecycle::new(all_rules().swap_remove(which), missing, 1, 0);
        let (mut world, mut now) = (World::default(), 0);
        for (event, later) in events {
            now += later;
            if world.can(EVENTS[event]) {
                world.step(&mut machine, EVENTS[event], now);
            }
        }
        world.step(&mut machine, LifecycleEvent::Stop, now);
        if world.alive {
            world.step(&mut machine, LifecycleEvent::Ended, now);
        }
        prop_assert_eq!(machine.state(), State::Stopped);
        world.step(&mut machine, LifecycleEvent::Demand, now + 10 * MINUTE);
        world.step(&mut machine, LifecycleEvent::Tick, now + 20 * MINUTE);
        prop_assert_eq!((machine.state(), world.alive), (State::Stopped, false));
    }
}

#[test]
fn what_only_a_person_can_help_is_not_tried_again() {
    for when in RestartWhen::ALL {
        for way in [&[LifecycleEvent::Start][..], &[LifecycleEvent::Start, LifecycleEvent::Connected]] {
            let mut machine = after(rules(when, true), false, way);
            assert_eq!(machine.on(LifecycleEvent::Barred, 0), [LifecycleAction::AnnounceDown]);
            assert_eq!((machine.state(), machine.half_open_at()), (State::Failed, None));
            assert_eq!(machine.on(LifecycleEvent::Demand, 9 * MINUTE), []);
            assert_eq!(machine.on(LifecycleEvent::Start, 9 * MINUTE), [LifecycleAction::Launch]);
            let _ = machine.on(LifecycleEvent::Connected, 9 * MINUTE);
            let crash = machine.on(LifecycleEvent::Ended, 9 * MINUTE);
            assert_eq!(crash == [LifecycleAction::AnnounceCrash], when != RestartWhen::Never);
        }
    }
}

/// Whoever had been up is not tried again either: each try would meet the same.
#[test]
fn a_barred_start_is_given_up_at_once_until_it_is_wanted_anew() {
    let mut machine = after(
        rules(RestartWhen::Always, false),
        false,
        &[LifecycleEvent::Start, LifecycleEvent::Connected, LifecycleEvent::Ended],
    );
    let due = machine.deadline().unwrap();
    assert_eq!(machine.on(LifecycleEvent::Tick, due), [LifecycleAction::Launch]);
    assert_eq!(machine.on(LifecycleEvent::Barred, due + 1), [LifecycleAction::AnnounceDown]);
    assert_eq!((machine.state(), machine.deadline()), (State::Failed, None));
    assert_eq!(machine.on(LifecycleEvent::Start, due + 2), [LifecycleAction::Launch]);
    assert_eq!(machine.attempt(), 0);
}
