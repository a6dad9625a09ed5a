//! Work for a server that is not its life: questions to a container engine's program, and authorizations.
//!
//! Owns one runner for each. It ends when its caller leaves. Must never be used for a program that is trusted less than the
//! person: it is held to nothing.

use std::io;
use std::rc::Rc;

use harbor_ipc_proto::link::runner::{Launch, LogSource, ToRunner};

use tokio::sync::mpsc;

use super::runners::Runners;
use crate::link::runner::{Purpose, Runner, RunnerKind};
use crate::link::{EndReport, LinkEvent};

/// A runner that the bridge's end waits for.
pub(super) struct ErrandRunnerGuard {
    runners: Rc<Runners>,
    pub runner: Rc<Runner>,
}

impl Drop for ErrandRunnerGuard {
    fn drop(&mut self) {
        self.runner.shut_down();
        self.runners.alive.borrow_mut().remove(&self.runner.pid());
        self.runners.ended.notify_waiters();
    }
}

impl Runners {
    /// A runner of its own, which ends when its last holder drops it.
    ///
    /// # Errors
    /// When none can be started.
    pub(super) fn runner_of_errand(
        self: &Rc<Self>,
        kind: RunnerKind,
        purpose: Purpose,
    ) -> io::Result<(ErrandRunnerGuard, mpsc::Receiver<LinkEvent>)> {
        if self.ending.get() {
            return Err(io::Error::other("the bridge is shutting down"));
        }
        let started = Runner::start(&self.executables, kind, &self.shared.marks, purpose, &self.reaper);
        let (runner, events) = started?;
        self.alive.borrow_mut().insert(runner.pid(), Rc::downgrade(&runner));
        Ok((ErrandRunnerGuard { runners: self.clone(), runner }, events))
    }

    /// Runs a program to its end; `hear` gets its lines.
    ///
    /// # Errors
    /// When no runner can be started.
    pub(super) async fn errand(
        self: &Rc<Self>,
        launch: Launch<'static>,
        mut hear: impl FnMut(LogSource, String),
    ) -> io::Result<Rc<EndReport>> {
        let (known, mut events) = self.runner_of_errand(RunnerKind::Local, Purpose::Engine)?;
        known.runner.link.send(&ToRunner::Run { server: 0, launch });
        while let Some(event) = events.recv().await {
            match event {
                LinkEvent::Log { source, text, .. } => hear(source, text),
                LinkEvent::Ended { report, .. } | LinkEvent::Closed { report } => return Ok(report),
                _ => {}
            }
        }
        Ok(Rc::new(EndReport::because("runner_lost", "its runner has ended")))
    }
}
