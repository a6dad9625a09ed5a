//! The remains of a server that has died: orphans, a container.
//!
//! ```text
//!  Died ─► its calls fail, its state changes ─► its runner clears up ─► Ended ─► the next start may begin
//!                                                 └─ for too long: the runner is killed, which ends it as well
//! ```
//!
//! Owns the wait between the two. Must never let a start begin while one before may still write to the server's data.

use std::rc::Rc;
use std::time::Duration;

use harbor_policy::lifecycle::State;
use harbor_policy::limits;

use super::Server;
use crate::link::EndReport;

/// How long a runner may take to clear up before it is killed.
const LIMIT: Duration = limits::REMOVAL.saturating_add(limits::STOP_SLACK);

/// How much longer the bridge waits after a stall.
const STALL: Duration = Duration::from_millis(500);

impl Server {
    /// Handles the unasked end of its process. It is told now, not only once its remains are gone.
    pub(super) fn on_died(self: &Rc<Self>, number: u32, report: Rc<EndReport>) {
        // What was told to end meanwhile comes to that end.
        if !self.place.is_at(number) || !matches!(self.state(), State::Starting | State::Running) {
            return;
        }
        self.place.remains.begin(self.place.present());
        // If this process was stopped meanwhile, what the runner has said comes first.
        self.place.remains.set_alarm(self, LIMIT, |server| {
            server.place.remains.set_alarm(server, STALL, Self::on_left_behind);
        });
        self.end(report);
    }

    /// True if this start is shown as one that runs.
    pub(super) fn runs_at(&self, number: u32) -> bool {
        self.place.is_at(number) && self.state() == State::Running
    }

    /// Its runner has left it behind for too long.
    fn on_left_behind(self: &Rc<Self>) {
        if let Some(place) = self.place.remains.place() {
            tracing::warn!(server = %self.id(), "its runner did not clean up, so the bridge kills it");
            place.runner.kill();
        }
    }

    /// True if this start had left something behind, and nothing of that is left now.
    pub(super) fn is_clear_behind(&self, number: u32) -> bool {
        let is_clear = self.place.remains.clear(number);
        if is_clear {
            // Whoever waits for the end of what was stopped waits for no later start.
            self.life.count_stop();
            self.life.wake();
        }
        is_clear
    }

    /// Waits until nothing is left behind.
    pub(super) async fn cleared_up(&self) {
        self.life.until(|| self.place.remains.is_clear()).await;
    }
}
