//! The measurement of the servers and the stores.
//!
//! Owns which processes belong to which server. Must never measure itself: that is the meter's.

use std::rc::Rc;
use std::time::Duration;

use harbor_ipc_proto::server_id::ServerId;
use harbor_policy::lifecycle::State;

use super::Supervisor;
use super::meter::{Places, UsageMeasurement};
use super::server::Server;

impl Supervisor {
    /// The last measurement, if there is one.
    #[must_use]
    pub fn measured(&self) -> Option<Rc<UsageMeasurement>> {
        self.meter.last()
    }

    /// Measures, unless that was done less than `max_age` ago. If the caller leaves, the measurement goes on.
    /// There is one measurement at a time.
    pub async fn measure(self: &Rc<Self>, max_age: Duration) {
        let supervisor = self.clone();
        let _ = tokio::task::spawn_local(async move { supervisor.measure_now(max_age).await }).await;
    }

    async fn measure_now(&self, max_age: Duration) {
        // Before that nothing runs, and what the kernel offers is not known.
        self.runners.swept().await;
        self.meter.measure(max_age, || (self.subjects(), self.stores())).await;
    }

    /// The processes of each server that runs: its own, and its runner if that serves no other.
    fn subjects(&self) -> Vec<(ServerId, Vec<u32>)> {
        let running = self.all().into_iter().filter(|server| server.state() == State::Running);
        let roots = |server: &Rc<Server>| {
            server.ask_for_echo();
            let status = server.status();
            let runner = status.runner_pid.filter(|_| !self.runners.is_shared());
            let instances = server.instances();
            let instances = instances.iter().filter_map(|one| one.status().runner_pid.or(one.status().pid));
            let instances = instances.filter(|_| !self.runners.is_shared());
            Some((server.id().clone(), std::iter::once(runner.or(status.pid)?).chain(instances).collect()))
        };
        running.filter_map(|server| roots(&server)).collect()
    }

    fn stores(&self) -> Places {
        let paths = &self.runners.shared.paths;
        Places { database: paths.database(), audit: paths.audit_log(), server_logs: paths.server_logs() }
    }
}
