//! The lifecycle machine and what it demands.
//!
//! Owns the one way by which a server's life changes: `apply`. Performs actions, sets the alarm for the machine's
//! deadline, tells listeners.

use std::rc::Rc;

use harbor_home::clock::wall_clock;
use harbor_ipc_proto::link::runner::ToRunner;
use harbor_policy::lifecycle::{LifecycleAction, LifecycleEvent, State};

use super::parts::life::LifeStep;
use super::{NEEDS_BUILD, PLANNED, Server};
use crate::link::EndReport;
use crate::supervisor::supervisor_events::{StateChange, SupervisorEvent};

/// An alarm that rings this much too late is not believed at once.
const STALL_MS: u64 = 500;

impl Server {
    pub(super) fn apply(self: &Rc<Self>, event: LifecycleEvent) {
        let LifeStep { before, moved, actions } = self.life.step(event);
        self.set_life_alarm();
        if moved {
            self.log_a_fall();
            self.tell(before);
        }
        for action in actions {
            self.perform(*action);
        }
        if moved || !actions.is_empty() {
            self.life.wake();
        }
    }

    /// Puts an unasked end into the bridge's log. The server's own words about it are in its own log.
    fn log_a_fall(&self) {
        // Of a plan nothing more was wanted.
        let is_fall = |report: &Rc<EndReport>| ![PLANNED, NEEDS_BUILD].contains(&report.cause);
        let Some(report) = self.life.last_exit().filter(is_fall) else { return };
        let (server, cause, exit_code, signal) = (self.id(), report.cause, report.exit_code, report.signal);
        match self.state() {
            State::Crashed => {
                let retry_in_ms = self.life.retry_in();
                let restart = self.life.attempt();
                tracing::warn!(%server, cause, exit_code, signal, restart, retry_in_ms, "crashed");
            }
            // That the installer has listed its versions is what this start was for.
            State::Failed if cause == PLANNED => {}
            // Nothing is broken: it lacks a key, a passphrase or a yes.
            State::Failed if report.need().is_some() => {
                tracing::warn!(%server, cause, "not started: it waits for a person");
            }
            State::Failed if self.identity.is_on_trial() => {
                tracing::error!(%server, cause, exit_code, signal, "could not be installed");
            }
            State::Failed => {
                let restarts = self.life.attempt();
                tracing::error!(%server, cause, exit_code, signal, restarts, "failed: Harbor does not restart it");
            }
            _ => {}
        }
    }

    pub(super) fn set_life_alarm(self: &Rc<Self>) {
        self.life.set_alarm(self, Self::on_life_alarm);
    }

    /// Handles an alarm. If it rings much too late, this process was stopped or starved. Then the waiting
    /// messages of its runners come first.
    fn on_life_alarm(self: &Rc<Self>) {
        if !self.life.rings_too_late(self, STALL_MS, Self::on_life_alarm) {
            self.apply(LifecycleEvent::Tick);
        }
    }

    fn perform(self: &Rc<Self>, action: LifecycleAction) {
        match action {
            LifecycleAction::Install => self.install(),
            LifecycleAction::Launch => self.launch(),
            LifecycleAction::Halt => self.send_to_runner(|server| ToRunner::Disconnect { server }),
            LifecycleAction::Kill => self.kill(),
            LifecycleAction::KillRunner => {
                tracing::warn!(server = %self.id(), "its runner does not obey, so the bridge kills it");
                let why = "its runner did not react in time and was killed";
                if !self.place.is_free() {
                    self.place.judge(why);
                }
                self.kill_runner();
            }
            LifecycleAction::AnnounceRunning => self.life.answer_starters(&Ok(self.lists.present())),
            // Calls that wait look for themselves: every change wakes them.
            LifecycleAction::AnnounceCrash | LifecycleAction::AnnounceDown => {
                self.life.answer_starters(&Err(self.why_down()))
            }
            LifecycleAction::CountIllegal => {
                let count = self.life.count_illegal();
                tracing::warn!(server = %self.id(), count, "an event did not fit its state");
            }
        }
    }

    /// Tells the runner to end its part of this server. If the runner has no part yet, the server has ended.
    fn send_to_runner(self: &Rc<Self>, message: impl FnOnce(u32) -> ToRunner<'static>) {
        let place = self.place.present();
        match place {
            Some(place) => place.runner.link.send(&message(place.number)),
            // The task that installs sees the change between its steps.
            None if self.package.is_installing() => {}
            None => self.apply(LifecycleEvent::Ended),
        }
    }

    fn kill(self: &Rc<Self>) {
        match self.place.has_verdict() {
            // The runner is hung as well: it would not hear of it.
            true => self.kill_runner(),
            false => self.send_to_runner(|server| ToRunner::Kill { server }),
        }
    }

    fn kill_runner(self: &Rc<Self>) {
        let place = self.place.present();
        match place {
            Some(place) => place.runner.kill(),
            None if self.package.is_installing() => {}
            None => self
                .ended_because(EndReport::because("spawn_failed", "its runner could not be started in time")),
        }
    }

    /// It is gone for a reason that no runner told.
    pub(super) fn ended_because(self: &Rc<Self>, report: EndReport) {
        self.life.note_exit(Rc::new(report));
        self.apply(LifecycleEvent::Ended);
    }

    /// Tells listeners and those who wait for a start what has changed.
    pub(super) fn tell(&self, before: State) {
        if self.identity.is_gone() {
            return;
        }
        let change = self.change(Some(before));
        match self.instance() {
            Some(_) => self.runners().tell(&SupervisorEvent::Instance(self.id())),
            None => self.runners().tell(&SupervisorEvent::Change(&change)),
        }
        if let Some(text) = self.describe(&change) {
            self.life.tell_starters(&text);
        }
    }

    /// The change that is told of it now.
    pub(in crate::supervisor) fn change(&self, before: Option<State>) -> StateChange {
        let status = self.status();
        let down = matches!(status.state, State::Crashed | State::Failed);
        let counts = down || status.state == State::Starting;
        StateChange {
            server: self.id().clone(),
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
}
