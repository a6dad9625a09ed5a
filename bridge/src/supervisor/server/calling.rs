//! The way of a call to its server: it waits for the server where that is worth it, and is sent once.
//!
//! ```text
//!  call ─► running? ─► sent ─► answer, error, timeout
//!    │ no: Demand ─► on its way up ─► waits, at most queue_wait ─► running ─► sent
//!    └──────────────► down ─► refused at once
//! ```
//!
//! Owns the bound on waiting calls and the count of calls that are served. A call that was sent is never sent again.

use std::rc::Rc;
use std::time::{Duration, Instant};

use harbor_ipc_proto::link::runner::{List, Operation};
use harbor_policy::consent::Permit;
use harbor_policy::lifecycle::{LifecycleEvent, State};
use harbor_policy::slots::Slot;

use super::Server;
use crate::link::{Audience, CallError, EndReport, ServerAnswer, TimeLimit};

/// How long a call of a tool waits for the list of tools.
const TOOLS_WAIT: Duration = Duration::from_secs(2);

/// The reason why a call has no answer.
#[derive(Debug)]
pub enum UnansweredReason {
    /// It was not sent: the server does not run.
    NotSent(Unavailable),
    /// It was sent, and lost.
    Lost(CallError),
    /// It was sent, and the server was removed or replaced by another definition. Its late answer is dropped.
    Removed,
    /// It was not sent: the permit is for another kind of source.
    NotPermitted,
}

/// The server does not run.
#[derive(Debug)]
pub struct Unavailable {
    /// The state that it is in instead.
    pub state: State,
    /// The reason, if it ended unasked.
    pub last_exit: Option<Rc<EndReport>>,
    /// When it is tried again, in milliseconds since 1970.
    pub next_retry: Option<u64>,
    /// How long the call waited. None if it was refused at once.
    pub waited: Option<Duration>,
    /// True if too many wait already.
    pub queue_full: bool,
}

/// A call on its way: the server is in use until it ends.
#[derive(Debug)]
pub struct InUse {
    server: Rc<Server>,
    _slot: Slot,
}

impl InUse {
    pub(super) fn begin(server: &Rc<Server>, slot: Slot) -> Self {
        server.usage.begin_call();
        Self { server: server.clone(), _slot: slot }
    }
}

impl Drop for InUse {
    fn drop(&mut self) {
        self.server.usage.end_call();
    }
}

impl Server {
    /// Asks the server, once it runs. There is no other way to it: the permit and the slot are given up here. Dropping the
    /// future cancels the call.
    ///
    /// # Errors
    /// Why there is no answer.
    pub async fn call(
        self: &Rc<Self>,
        _permit: Permit,
        slot: Slot,
        operation: Operation<'_>,
        limit: TimeLimit,
        audience: Audience,
    ) -> Result<ServerAnswer, UnansweredReason> {
        let mut limit = limit;
        self.wait_until_running(&mut limit).await.map_err(UnansweredReason::NotSent)?;
        let place = self.place.present().filter(|_| self.state() == State::Running);
        let place = place.ok_or_else(|| UnansweredReason::NotSent(self.unavailable(None)))?;
        let _in_use = InUse::begin(self, slot);
        self.on_call_sent();
        let call = place
            .runner
            .link
            .call(place.number, operation, limit, audience)
            .map_err(UnansweredReason::Lost)?;
        let ending = tokio::select! {
            // First: an answer that is there already is not given any more, either.
            biased;
            () = self.removed() => return Err(UnansweredReason::Removed),
            ending = call => ending,
        };
        if matches!(ending, Err(CallError::Timeout)) {
            self.on_call_timed_out();
        }
        ending.map_err(UnansweredReason::Lost)
    }

    /// Waits until it is removed.
    async fn removed(&self) {
        self.life.until(|| self.is_removed()).await;
    }

    /// Waits until it runs and its tools are listed, where that is worth it; the time is taken off `limit`. A server whose
    /// list is slow is not waited for beyond [`TOOLS_WAIT`].
    ///
    /// # Errors
    /// Why it cannot be asked.
    pub async fn ready(self: &Rc<Self>, limit: &mut TimeLimit) -> Result<(), Unavailable> {
        self.wait_until_running(limit).await?;
        let lists = self.lists.present();
        if lists.tools().is_none() {
            wait_for(lists.tools_settled(), limit).await;
        }
        Ok(())
    }

    /// Waits until a round of lists that is under way is over, at most [`TOOLS_WAIT`]; the time is taken off `limit`.
    pub async fn listed(&self, limit: &mut TimeLimit) {
        let lists = self.lists.present();
        wait_for(lists.fetched(), limit).await;
    }

    /// Has the tools of a remote server listed anew, and waits as above, since the schemas tell which
    /// arguments go into headers. True if it is a remote server.
    pub async fn relisted(self: &Rc<Self>, limit: &mut TimeLimit) -> bool {
        let is_remote = self.definition().remote.is_some();
        if is_remote {
            self.on_list_changed(List::Tools);
            self.listed(limit).await;
        }
        is_remote
    }

    async fn wait_until_running(self: &Rc<Self>, limit: &mut TimeLimit) -> Result<(), Unavailable> {
        if self.state() == State::Running {
            return Ok(());
        }
        let began = Instant::now();
        let waited = self.wait_for_start(began, limit.quiet.saturating_sub(limit.used)).await;
        limit.used += began.elapsed();
        waited
    }

    /// Waits for a server that is on its way up, for at most its `queue_wait` and the call's own limit.
    async fn wait_for_start(self: &Rc<Self>, began: Instant, limit: Duration) -> Result<(), Unavailable> {
        // A server whose turn to start with the bridge has not come is brought forward.
        if !self.is_removed() {
            self.apply(if self.life.take_expected() {
                LifecycleEvent::Start
            } else {
                LifecycleEvent::Demand
            });
        }
        let wait = self.settings().queue_wait.min(limit);
        if wait.is_zero() {
            return Err(self.unavailable(None));
        }
        let Some(_waiting) = self.usage.place_in_queue() else {
            return Err(Unavailable { queue_full: true, ..self.unavailable(None) });
        };
        let mut waited = None;
        loop {
            let changed = self.life.changed();
            if self.state() == State::Running {
                return Ok(());
            }
            if !self.life.is_worth_waiting() {
                return Err(self.unavailable(waited));
            }
            let in_time = tokio::time::timeout_at((began + wait).into(), changed).await;
            waited = Some(began.elapsed());
            if in_time.is_err() {
                return Err(self.unavailable(waited));
            }
        }
    }

    /// The answer to a call of a server that is stopped, and that no call starts.
    #[must_use]
    pub fn at_rest(&self) -> Option<Unavailable> {
        let rests = self.state() == State::Stopped && !self.wakes_on_demand() && !self.life.is_expected();
        rests.then(|| self.unavailable(None))
    }

    pub(super) fn unavailable(&self, waited: Option<Duration>) -> Unavailable {
        let status = self.status();
        Unavailable {
            state: status.state,
            last_exit: status.last_exit.filter(|_| status.state != State::Stopped),
            next_retry: status.next_retry,
            waited,
            queue_full: false,
        }
    }
}

/// Waits for something about lists, at most [`TOOLS_WAIT`] and what is left of the call's time.
async fn wait_for(something: impl Future<Output = ()>, limit: &mut TimeLimit) {
    let began = Instant::now();
    let wait = TOOLS_WAIT.min(limit.quiet.saturating_sub(limit.used));
    // Where it takes longer, the call goes on without it.
    let _ = tokio::time::timeout(wait, something).await;
    limit.used += began.elapsed();
}
