//! Watching a server that runs: is it alive while calls are open, is it needed at all.
//!
//! Owns feeding `policy::liveness`, and the idle stop. Costs a call nothing but a look at a flag: one alarm is set
//! while calls are open.

use std::rc::Rc;

use harbor_ipc_proto::link::runner::ToRunner;
use harbor_policy::lifecycle::{LifecycleEvent as Life, State};
use harbor_policy::liveness::{LivenessAction, LivenessEvent};

use super::Server;

impl Server {
    /// Begins to watch a new start; what was known of the one before went with it.
    pub(super) fn begin_watching(self: &Rc<Self>) {
        self.usage.touch();
        self.set_idle_alarm();
    }

    pub(super) fn stop_watching(&self) {
        self.usage.stop_watching(self.settings().hung_grace);
    }

    pub(super) fn on_call_sent(self: &Rc<Self>) {
        if !self.usage.is_watched() {
            self.watch(LivenessEvent::Called);
        }
    }

    pub(super) fn on_call_timed_out(self: &Rc<Self>) {
        self.watch(LivenessEvent::TimedOut);
    }

    pub(super) fn on_probed(self: &Rc<Self>, quiet: u64, unanswered: Option<u64>) {
        self.watch(LivenessEvent::Probed { quiet, unanswered });
    }

    /// Feeds an event to the watch. A server that is being stopped is not judged: an alarm may still ring then, and an answer
    /// come.
    fn watch(self: &Rc<Self>, event: LivenessEvent) {
        if self.state() != State::Running {
            return;
        }
        let ring: fn(&Rc<Self>) = |server| server.watch(LivenessEvent::Tick);
        let actions = self.usage.watch(event, self.life.now(), self, ring);
        for action in actions {
            self.judge(*action);
        }
    }

    fn judge(self: &Rc<Self>, action: LivenessAction) {
        match action {
            LivenessAction::Probe { ping } => {
                if let Some(place) = self.place.present() {
                    place.runner.link.send(&ToRunner::Probe { server: place.number, ping });
                }
            }
            LivenessAction::MarkBusy | LivenessAction::MarkReady => self.tell(self.state()),
            LivenessAction::ServerHung => {
                tracing::warn!(server = %self.id(), "hung: it did not respond after a call's timeout");
                self.apply(Life::Hung);
            }
            LivenessAction::RunnerHung => {
                tracing::warn!(server = %self.id(), "its runner is hung");
                self.place.judge("its runner did not respond after a call's timeout and was killed");
                self.apply(Life::Hung);
            }
        }
    }

    pub(super) fn set_idle_alarm(self: &Rc<Self>) {
        let left = self.settings().idle_stop.map(|idle| idle.saturating_sub(self.usage.idle_for()));
        self.usage.set_idle_alarm(self, left, Self::on_idle_alarm);
    }

    /// Nobody may have called for long enough: then the server is stopped, else the rest is waited for.
    fn on_idle_alarm(self: &Rc<Self>) {
        let in_use = self.usage.is_in_use() || self.lists.has_subscriptions();
        if in_use {
            self.usage.touch();
        }
        let idle = self.settings().idle_stop.is_some_and(|idle| self.usage.idle_for() >= idle);
        match idle {
            true => self.apply(Life::Idle),
            false => self.set_idle_alarm(),
        }
    }
}
