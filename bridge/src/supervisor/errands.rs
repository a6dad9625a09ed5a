//! Programs that are run for a server and are not its life: what a container engine is asked.
//!
//! Owns one runner for each. Where the one who waits goes, the program ends. Must never be used for a program that is not
//! trusted as the person is: it is held to nothing.

use std::io;
use std::rc::Rc;

use harbor_ipc_proto::link::runner::{Launch, LogSource, ToRunner};

use super::runners::Runners;
use crate::link::runner::{Kind, Purpose, Runner};
use crate::link::{EndReport, LinkEvent};

/// A runner that the bridge's end waits for.
struct Known<'a> {
    runners: &'a Runners,
    runner: Rc<Runner>,
}

impl Drop for Known<'_> {
    fn drop(&mut self) {
        self.runner.shut_down();
        self.runners.alive.borrow_mut().remove(&self.runner.pid());
        self.runners.ended.notify_waiters();
    }
}

impl Runners {
    /// Runs a program to its end; `hear` gets its lines.
    ///
    /// # Errors
    /// When no runner can be started.
    pub(super) async fn errand(
        &self,
        launch: Launch<'static>,
        mut hear: impl FnMut(LogSource, String),
    ) -> io::Result<Rc<EndReport>> {
        if self.ending.get() {
            return Err(io::Error::other("the bridge is shutting down"));
        }
        let started = Runner::start(
            &self.executables,
            Kind::Local,
            &self.shared.instance,
            Purpose::Engine,
            &self.reaper,
        );
        let (runner, mut events) = started?;
        self.alive.borrow_mut().insert(runner.pid(), Rc::downgrade(&runner));
        let known = Known { runners: self, runner };
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
