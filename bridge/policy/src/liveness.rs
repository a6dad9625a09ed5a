//! Decides whether a server with open calls is alive, busy or hung.
//!
//! ```text
//!  calls are open ─► Probe every 5 s ─► Probed: quiet for how long, a ping unanswered for how long ─► busy or not
//!  a call passed its timeout at T ─► Probe often ─► a sign of life after T: all is well
//!                                       │ none until T + grace
//!                                       ▼
//!                                  one last Probe ─► Probed, no sign after T ─► the server is hung
//!                                       └─ not even Probed within 2 s ────────► its runner is hung
//! ```
//!
//! A missed probe marks the server as busy and no more: many servers do one thing at a time, and do it well. Silence counts as a
//! hang only for a server with a call that has passed its timeout. Output of any kind is a sign of life. Time is an argument, in
//! milliseconds of any clock that does not jump.

use std::time::Duration;

use crate::lifecycle::{Millis, millis};
use crate::limits::PROBE_INTERVAL;

/// How often a server is probed that may be hung.
const OFTEN: Millis = 1000;

/// How long a runner may take to say what it knows. It does nothing that takes long.
const RUNNER_GRACE: Millis = 2000;

/// An event in the calls of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LivenessEvent {
    /// A call was sent.
    Called,
    /// A call passed its timeout.
    TimedOut,
    /// The runner said what it knows.
    Probed {
        /// How long there was no output.
        quiet: Millis,
        /// How long a ping has been without any.
        unanswered: Option<Millis>,
    },
    /// Time has passed.
    Tick,
}

/// An action for the driver.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LivenessAction {
    /// Ask the runner.
    Probe {
        /// True if the server is pinged in any case. Otherwise only after a silence.
        ping: bool,
    },
    /// Say that the server is busy.
    MarkBusy,
    /// Say that it is not.
    MarkReady,
    /// It is hung.
    ServerHung,
    /// Its runner is.
    RunnerHung,
}

const PING: &[LivenessAction] = &[LivenessAction::Probe { ping: true }];

/// The machine; a new one for each start of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Liveness {
    grace: Millis,
    /// The time of the next tick; none while nothing is open.
    next: Option<Millis>,
    /// The time when a call passed its timeout without a sign of life since, and that of the latest such call.
    missed: Option<Millis>,
    missed_last: Millis,
    /// The time of the deciding probe.
    last_asked: Option<Millis>,
    busy: bool,
}

impl Liveness {
    /// Watches a server that may stay silent for `grace` after a call's timeout.
    #[must_use]
    pub fn new(grace: Duration) -> Self {
        Self { grace: millis(grace), next: None, missed: None, missed_last: 0, last_asked: None, busy: false }
    }

    /// Changes how long the server may stay silent.
    pub fn change(&mut self, grace: Duration) {
        self.grace = millis(grace);
    }

    /// The time when [`Event::Tick`] is next needed.
    #[must_use]
    pub fn deadline(&self) -> Option<Millis> {
        self.next
    }

    /// True if it has not answered a probe while calls are open.
    #[must_use]
    pub fn is_busy(&self) -> bool {
        self.busy
    }

    /// Takes an event. `open` is true if calls are open.
    #[must_use]
    pub fn on(&mut self, event: LivenessEvent, open: bool, now: Millis) -> &'static [LivenessAction] {
        match event {
            LivenessEvent::Called => {
                self.next.get_or_insert(now + millis(PROBE_INTERVAL));
                &[]
            }
            LivenessEvent::TimedOut => {
                let missed = *self.missed.get_or_insert(now);
                self.missed_last = now;
                self.next = Some((now + OFTEN).min(missed + self.grace));
                PING
            }
            LivenessEvent::Probed { quiet, unanswered } => self.on_probed(now, quiet, unanswered),
            LivenessEvent::Tick if self.next.is_some_and(|next| next <= now) => self.on_due(open, now),
            LivenessEvent::Tick => &[],
        }
    }

    fn on_probed(
        &mut self,
        now: Millis,
        quiet: Millis,
        unanswered: Option<Millis>,
    ) -> &'static [LivenessAction] {
        let sign = now.saturating_sub(quiet);
        if self.missed.is_some_and(|missed| missed <= sign) {
            // A call that passed its timeout after that sign goes on counting.
            self.missed = Some(self.missed_last).filter(|last| *last > sign);
            self.last_asked = None;
        }
        if self.last_asked.is_some() {
            (self.missed, self.last_asked, self.next) = (None, None, None);
            return &[LivenessAction::ServerHung];
        }
        let busy = unanswered.is_some_and(|unanswered| unanswered >= OFTEN);
        match (std::mem::replace(&mut self.busy, busy), busy) {
            (false, true) => &[LivenessAction::MarkBusy],
            (true, false) => &[LivenessAction::MarkReady],
            _ => &[],
        }
    }

    fn on_due(&mut self, open: bool, now: Millis) -> &'static [LivenessAction] {
        if self.last_asked.is_some() {
            (self.missed, self.last_asked, self.next) = (None, None, None);
            return &[LivenessAction::RunnerHung];
        }
        match self.missed {
            Some(missed) if missed + self.grace <= now => {
                (self.last_asked, self.next) = (Some(now), Some(now + RUNNER_GRACE));
                PING
            }
            Some(missed) => {
                self.next = Some((now + OFTEN).min(missed + self.grace));
                PING
            }
            None if open => {
                self.next = Some(now + if self.busy { OFTEN } else { millis(PROBE_INTERVAL) });
                &[LivenessAction::Probe { ping: false }]
            }
            None => {
                self.next = None;
                if std::mem::take(&mut self.busy) { &[LivenessAction::MarkReady] } else { &[] }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const GRACE: Millis = 10_000;
    const LOOK: &[LivenessAction] = &[LivenessAction::Probe { ping: false }];

    fn watched() -> Liveness {
        let mut liveness = Liveness::new(Duration::from_millis(GRACE));
        assert_eq!((liveness.deadline(), liveness.on(LivenessEvent::Called, true, 0)), (None, &[][..]));
        liveness
    }

    fn probed(quiet: Millis, unanswered: Option<Millis>) -> LivenessEvent {
        LivenessEvent::Probed { quiet, unanswered }
    }

    #[test]
    fn a_missed_probe_marks_busy_and_never_more() {
        let mut liveness = watched();
        assert_eq!(liveness.on(LivenessEvent::Tick, true, 4999), []);
        assert_eq!(liveness.on(LivenessEvent::Tick, true, 5000), LOOK);
        assert_eq!(liveness.on(probed(5000, None), true, 5001), []);
        assert_eq!(liveness.on(LivenessEvent::Tick, true, 10_000), LOOK);
        assert_eq!(liveness.on(probed(10_000, Some(5000)), true, 10_001), [LivenessAction::MarkBusy]);
        for minute in 1..60 {
            assert_eq!(liveness.on(LivenessEvent::Tick, true, minute * 60_000), LOOK);
            assert_eq!(
                liveness.on(probed(minute * 60_000, Some(minute * 60_000)), true, minute * 60_000),
                []
            );
        }
        assert_eq!(liveness.on(probed(3, None), true, 3_600_000), [LivenessAction::MarkReady]);
        assert_eq!(liveness.on(LivenessEvent::Tick, false, 3_700_000), []);
        assert_eq!(liveness.deadline(), None, "nothing is open: nobody is asked");
    }

    #[test]
    fn silence_after_a_timeout_is_a_verdict() {
        let mut liveness = watched();
        assert_eq!(liveness.on(LivenessEvent::TimedOut, false, 3000), PING);
        assert_eq!(liveness.on(probed(3000, None), false, 3001), []);
        let mut now = 3000;
        while now < 3000 + GRACE {
            now = liveness.deadline().unwrap();
            assert_eq!(liveness.on(LivenessEvent::Tick, false, now), PING);
            if now < 3000 + GRACE {
                let _ = liveness.on(probed(now, Some(now - 3000)), false, now + 1);
            }
        }
        assert_eq!(now, 3000 + GRACE);
        let mut deaf = liveness.clone();
        assert_eq!(liveness.on(probed(now, Some(9)), false, now + 1), [LivenessAction::ServerHung]);
        assert_eq!(liveness.deadline(), None);
        assert_eq!(deaf.on(LivenessEvent::Tick, false, now + RUNNER_GRACE), [LivenessAction::RunnerHung]);
    }

    #[test]
    fn any_output_after_the_timeout_saves_it_even_at_the_last_moment() {
        let mut liveness = watched();
        let _ = liveness.on(LivenessEvent::TimedOut, false, 3000);
        assert_eq!(liveness.on(LivenessEvent::Tick, false, 3000 + GRACE), PING);
        assert_eq!(liveness.on(probed(1, None), false, 3001 + GRACE), []);
        assert_eq!(liveness.on(LivenessEvent::Tick, false, 20_000), []);
        assert_eq!(liveness.deadline(), None);
    }

    /// A bridge that was itself stopped for an hour asks before it judges.
    #[test]
    fn a_late_tick_asks_first() {
        let mut liveness = watched();
        let _ = liveness.on(LivenessEvent::TimedOut, true, 3000);
        assert_eq!(liveness.on(LivenessEvent::Tick, true, 3_600_000), PING);
        assert_eq!(liveness.deadline(), Some(3_600_000 + RUNNER_GRACE));
    }

    proptest! {
        /// Against a server whose signs of life are known: hung is said only after a timeout and a grace without
        /// one, and always after the last timeout.
        #[test]
        fn verdicts_are_just(
            signs in prop::collection::btree_set(0u64..60_000, 0..12),
            timeouts in prop::collection::btree_set(50u64..40_000, 0..4),
        ) {
            let mut liveness = watched();
            let mut hung = None;
            for now in (0..60_000u64).step_by(50) {
                let last_sign = signs.range(..=now).next_back().copied().unwrap_or(0);
                let mut actions = Vec::new();
                if timeouts.range(now..now + 50).next().is_some() {
                    actions.extend(liveness.on(LivenessEvent::TimedOut, true, now));
                }
                actions.extend(liveness.on(LivenessEvent::Tick, true, now));
                if actions.iter().any(|action| matches!(action, LivenessAction::Probe { .. })) {
                    actions.extend(liveness.on(probed(now - last_sign, None), true, now));
                }
                prop_assert!(!actions.contains(&LivenessAction::RunnerHung), "the runner answered");
                if actions.contains(&LivenessAction::ServerHung) { hung = Some(now); break; }
            }
            let silent = |timeout: u64| signs.range(timeout..=timeout + GRACE).next().is_none();
            let mut rounded = timeouts.iter().map(|timeout| timeout / 50 * 50);
            if let Some(hung) = hung {
                prop_assert!(rounded.clone().any(|timeout| silent(timeout) && timeout + GRACE <= hung));
            } else {
                prop_assert!(!rounded.next_back().is_some_and(silent), "the last timeout was forgotten");
            }
        }
    }
}
