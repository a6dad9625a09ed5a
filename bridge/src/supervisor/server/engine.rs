//! An engine: a program that runs models, supervised as a server is.
//!
//! ```text
//!  launch ─► Run, in its sandbox ─► EngineOf::launched ─┬─ is_ready ──► Running, until it ends, or is not used
//!                                                       └─ is_unready ─► killed ─► Failed
//! ```
//!
//! Owns what is different: no contact is made, whoever started it says when it is ready, and its calls are requests to models.
//! Must never speak to it.

use std::rc::Rc;
use std::time::Duration;

use harbor_ipc_proto::link::runner::{Launch, LogSource, ToRunner};
use harbor_policy::lifecycle::{LifecycleEvent, State};
use harbor_policy::package::binary::SAID;
use tokio::sync::mpsc::Receiver;

use super::Server;
use super::calling::{InUse, Unavailable};
use super::prepared::LaunchTarget;
use crate::link::runner::{Purpose, RunnerKind};
use crate::link::{EndReport, LinkEvent};
use crate::supervisor::errand_runners::ErrandRunnerGuard;
use crate::supervisor::start_error::StartError;

/// Why an engine is ended that does not get ready.
const NOT_READY: &str =
    "it did not say in time that it is ready, at the address that Harbor gave it; Harbor has ended it";

/// A runner ends a run after the time that it may take: an engine may run for as long as anybody can think of.
const WITHOUT_END: Duration = Duration::from_secs(365 * 86_400);

impl Server {
    /// The message that starts it: no contact is made with an engine.
    pub(super) fn start_message(&self, number: u32, launch: Launch<'static>) -> ToRunner<'static> {
        match self.identity.engine() {
            Some(_) => {
                let start_timeout_ms = u64::try_from(WITHOUT_END.as_millis()).unwrap_or(u64::MAX);
                ToRunner::Run { server: number, launch: Launch { start_timeout_ms, ..launch } }
            }
            None => ToRunner::Connect { server: number, launch },
        }
    }

    /// Tells whoever started an engine that a start of it has begun.
    pub(super) fn tell_launch(&self, number: u32) {
        if let Some(engine) = self.identity.engine() {
            (engine.launched)(number);
        }
    }

    /// This start of an engine has loaded its model.
    pub fn is_ready(self: &Rc<Self>, start: u32) {
        if self.place.is_at(start) && self.state() == State::Starting {
            self.lists.present().mark_complete();
            self.begin_watching();
            self.apply(LifecycleEvent::Connected);
        }
    }

    /// Waits until it is not starting: it runs, has ended or was stopped.
    pub async fn not_starting(&self) {
        self.life.until(|| self.state() != State::Starting).await;
    }

    /// This start of an engine has not got ready in time.
    pub fn is_unready(&self, start: u32) {
        let place = self.place.present().filter(|place| place.number == start);
        if let Some(place) = place.filter(|_| self.state() == State::Starting) {
            self.place.judge(NOT_READY);
            place.runner.link.send(&ToRunner::Kill { server: start });
        }
    }

    /// An engine that runs, in use until the guard is dropped. One that is not held by a stop is started, and waited for.
    ///
    /// # Errors
    /// Why it does not run.
    pub async fn up(self: &Rc<Self>) -> Result<InUse, Unavailable> {
        let slot = self.slot().ok_or_else(|| Unavailable { queue_full: true, ..self.unavailable(None) })?;
        self.apply(LifecycleEvent::Demand);
        self.life.until(|| self.state() == State::Running || !self.life.is_worth_waiting()).await;
        match self.state() {
            State::Running => Ok(InUse::begin(self, slot)),
            _ => Err(self.unavailable(None)),
        }
    }

    /// The parts of a run of its own, beside the server's life: what is started, and a runner that ends with its guard.
    ///
    /// # Errors
    /// Why it could not be started.
    pub(super) async fn launched_aside(
        self: &Rc<Self>,
        limit: Duration,
    ) -> Result<(Launch<'static>, ErrandRunnerGuard, Receiver<LinkEvent>), StartError> {
        self.runners().swept().await;
        let turn = self.runners().shared.leftovers.turn(self.id(), || ()).await;
        let prepared = self.prepared(LaunchTarget::default(), Some(turn)).await;
        let launch = prepared.and_then(|prepared| self.launch_of(prepared, limit));
        let launch = launch.map_err(|unprepared| untried(format!("could not {}", unprepared.why)))?;
        let started = self.runners().runner_of_errand(RunnerKind::Local, Purpose::Isolated);
        let (guard, events) =
            started.map_err(|error| untried(format!("could not start a runner: {error}")))?;
        Ok((launch, guard, events))
    }

    /// Runs its command to its end, as an engine's is run: in its sandbox, with its directories. `hear` gets its lines. The
    /// command ends when nobody waits for this any more.
    ///
    /// # Errors
    /// Why it could not be started.
    pub async fn run_aside(
        self: &Rc<Self>,
        limit: Duration,
        mut hear: impl FnMut(LogSource, &str),
    ) -> Result<Rc<EndReport>, StartError> {
        let (launch, guard, mut events) = self.launched_aside(limit).await?;
        guard.runner.link.send(&ToRunner::Run { server: 0, launch });
        while let Some(event) = events.recv().await {
            match event {
                LinkEvent::Log { source, text, .. } => hear(source, &text),
                LinkEvent::Ended { report, .. } | LinkEvent::Closed { report } => return Ok(report),
                _ => {}
            }
        }
        Err(untried("its runner has ended".into()))
    }

    /// Runs the fetcher to its end, as [`Self::run_aside`]. `hear` gets its lines on stdout. The inner error is the fetcher's:
    /// why there is no file.
    ///
    /// # Errors
    /// Why it could not be started.
    pub async fn fetch_aside(
        self: &Rc<Self>,
        limit: Duration,
        mut hear: impl FnMut(&str),
    ) -> Result<Result<(), String>, StartError> {
        let mut said = None;
        let report = self.run_aside(limit, |source, line| match source {
            LogSource::Stdout => hear(line),
            _ => said = line.strip_prefix(SAID).map(str::to_owned).or_else(|| said.take()),
        });
        let report = report.await?;
        Ok(match report.exit_code {
            Some(0) => Ok(()),
            _ => Err(said.unwrap_or_else(|| report.message.clone())),
        })
    }
}

pub(super) fn untried(why: String) -> StartError {
    StartError::Failed(Rc::new(EndReport::because("spawn_failed", why)))
}
