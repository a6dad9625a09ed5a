//! The lifecycle machine and what it demands.
//!
//! Owns the one way by which a server's life changes: `apply`. Performs actions, sets the alarm for the machine's
//! deadline, tells listeners.

use std::rc::Rc;
use std::time::Duration;

use harbor_home::clock::wall_clock;
use harbor_ipc_proto::link::runner::ToRunner;
use harbor_policy::lifecycle::{LifecycleAction, LifecycleEvent, State};

use super::{NEEDS_BUILD, PLANNED, Server, Started};
use crate::link::EndReport;
use crate::supervisor::supervisor_events::{StateChange, SupervisorEvent};

/// An alarm that rings this much too late is not believed at once.
const STALL_MS: u64 = 500;

impl Server {
    pub(super) fn now(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    pub(super) fn apply(self: &Rc<Self>, event: LifecycleEvent) {
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
        self.set_life_alarm();
        let moved = self.state() != before;
        if moved && before == State::Stopping {
            self.stops.set(self.stops.get() + 1);
        }
        if moved {
            self.note_times();
            self.log_a_fall();
            self.tell(before);
        }
        for action in actions {
            self.perform(*action);
        }
        if moved || !actions.is_empty() {
            self.changed.notify_waiters();
        }
    }

    fn note_times(&self) {
        let machine = self.machine.borrow();
        let next = machine.next_retry().or(machine.half_open_at());
        self.since.set(wall_clock());
        self.next_retry.set(next.map(|at| wall_clock() + at.saturating_sub(self.now())));
    }

    /// Puts an end that nobody asked for into the bridge's log. The server's own words about it are in its own log.
    fn log_a_fall(&self) {
        let (report, machine) = (self.last_exit.borrow(), self.machine.borrow());
        // Of a plan nothing more was wanted.
        let Some(report) = report.as_ref().filter(|report| ![PLANNED, NEEDS_BUILD].contains(&report.cause))
        else {
            return;
        };
        let (server, cause, exit_code, signal) = (&self.id, report.cause, report.exit_code, report.signal);
        match machine.state() {
            State::Crashed => {
                let retry_in_ms = machine.next_retry().map(|at| at.saturating_sub(self.now()));
                let restart = machine.attempt();
                tracing::warn!(%server, cause, exit_code, signal, restart, retry_in_ms, "crashed");
            }
            // That its versions are known is what this start was for.
            State::Failed if cause == PLANNED => {}
            // Nothing is broken: it lacks a key, a passphrase or a yes.
            State::Failed if report.need().is_some() => {
                tracing::warn!(%server, cause, "not started, it waits for a person");
            }
            State::Failed if self.trial.is_some() => {
                tracing::error!(%server, cause, exit_code, signal, "could not be installed");
            }
            State::Failed => {
                let restarts = machine.attempt();
                tracing::error!(%server, cause, exit_code, signal, restarts, "failed, and is given up");
            }
            _ => {}
        }
    }

    pub(super) fn set_life_alarm(self: &Rc<Self>) {
        let deadline = self.machine.borrow().deadline();
        let wait = deadline.map(|at| Duration::from_millis(at.saturating_sub(self.now())));
        self.life.set(self, wait, Self::on_life_alarm);
    }

    /// An alarm that rings much too late says that this process was stopped, or starved. What its runners have
    /// said meanwhile lies ready, and comes first.
    fn on_life_alarm(self: &Rc<Self>) {
        let deadline = self.machine.borrow().deadline();
        let late = deadline.is_some_and(|at| self.now() > at + STALL_MS);
        if late && !self.stalled.replace(true) {
            return self.life.set(self, Some(Duration::from_millis(STALL_MS)), Self::on_life_alarm);
        }
        self.stalled.set(false);
        self.apply(LifecycleEvent::Tick);
    }

    fn perform(self: &Rc<Self>, action: LifecycleAction) {
        match action {
            LifecycleAction::Install => self.install(),
            LifecycleAction::Launch => self.launch(),
            LifecycleAction::Halt => self.send_to_runner(|server| ToRunner::Disconnect { server }),
            LifecycleAction::Kill => self.kill(),
            LifecycleAction::KillRunner => {
                tracing::warn!(server = %self.id, "its runner does not obey and is killed");
                let why = "its runner did not react in time and was killed";
                self.verdict.set(self.place.borrow().as_ref().map(|_| why));
                self.kill_runner();
            }
            LifecycleAction::AnnounceRunning => self.answer_starters(&Ok(self.lists.borrow().clone())),
            // Calls that wait look for themselves: every change wakes them.
            LifecycleAction::AnnounceCrash | LifecycleAction::AnnounceDown => {
                self.answer_starters(&Err(self.why_down()))
            }
            LifecycleAction::CountIllegal => {
                self.illegal.set(self.illegal.get() + 1);
                tracing::warn!(server = %self.id, count = self.illegal.get(), "an event did not fit its state");
            }
        }
    }

    /// Tells the runner to end what it has of this server. Where it has nothing yet, that is its end.
    fn send_to_runner(self: &Rc<Self>, message: impl FnOnce(u32) -> ToRunner<'static>) {
        let place = self.place.borrow().clone();
        match place {
            Some(place) => place.runner.link.send(&message(place.number)),
            // The task that installs sees the change between its steps.
            None if self.installing.get() => {}
            None => self.apply(LifecycleEvent::Ended),
        }
    }

    fn kill(self: &Rc<Self>) {
        match self.verdict.get() {
            // The runner is hung as well: it would not hear of it.
            Some(_) => self.kill_runner(),
            None => self.send_to_runner(|server| ToRunner::Kill { server }),
        }
    }

    fn kill_runner(self: &Rc<Self>) {
        let place = self.place.borrow().clone();
        match place {
            Some(place) => place.runner.kill(),
            None if self.installing.get() => {}
            None => self
                .ended_because(EndReport::because("spawn_failed", "its runner could not be started in time")),
        }
    }

    /// It is gone for a reason that no runner told.
    pub(super) fn ended_because(self: &Rc<Self>, report: EndReport) {
        self.note_exit(Rc::new(report));
        self.apply(LifecycleEvent::Ended);
    }

    /// Remembers how it ended, unless it was told to.
    pub(super) fn note_exit(&self, report: Rc<EndReport>) {
        if !report.was_asked_for() {
            *self.last_exit.borrow_mut() = Some(report);
        }
    }

    pub(super) fn answer_starters(&self, answer: &Started) {
        for starter in self.starters.take() {
            // A client that has left waits no longer.
            let _ = starter.send(answer.clone());
        }
    }

    /// Tells listeners and those who wait for a start what has changed.
    pub(super) fn tell(&self, before: State) {
        if self.gone.get() {
            return;
        }
        let change = self.change(Some(before));
        match self.instance() {
            Some(_) => self.runners.tell(&SupervisorEvent::Instance(&self.id)),
            None => self.runners.tell(&SupervisorEvent::Change(&change)),
        }
        if let Some(text) = self.describe(&change) {
            self.note(&text);
        }
    }

    /// The change that is told of it now.
    pub(in crate::supervisor) fn change(&self, before: Option<State>) -> StateChange {
        let status = self.status();
        let down = matches!(status.state, State::Crashed | State::Failed);
        let counts = down || status.state == State::Starting;
        StateChange {
            server: self.id.clone(),
            before,
            now: Some(status.state),
            timestamp: wall_clock(),
            busy: status.busy,
            report: status.last_exit.filter(|_| down),
            attempt: if counts { status.attempt } else { 0 },
            next_retry: status.next_retry,
            pid: status.pid,
        }
    }

    fn describe(&self, change: &StateChange) -> Option<String> {
        match change.now? {
            State::Installing => Some(format!("installing {}", self.installed())),
            State::Starting if change.attempt > 0 => Some(format!("restart {}", change.attempt)),
            State::Starting => Some("starting".into()),
            State::Crashed => {
                change.report.as_ref().map(|report| format!("waiting to restart: {}", report.message))
            }
            _ => None,
        }
    }

    /// Says something to those who wait for a start.
    pub(super) fn note(&self, text: &str) {
        let notes: Vec<_> = {
            let mut notes = self.notes.borrow_mut();
            notes.retain(|note| note.strong_count() > 0);
            notes.iter().filter_map(std::rc::Weak::upgrade).collect()
        };
        notes.iter().for_each(|note| note(text));
    }
}
