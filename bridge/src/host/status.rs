//! The state of everything, as it is shown.
//!
//! Owns where each number comes from. Must never measure or wait: a measured number is shown as it was last, with its
//! age.

use std::rc::Rc;
use std::time::{Duration, Instant};

use harbor_home::clock::wall_clock;
use harbor_ipc_proto::BUILD;
use harbor_ipc_proto::client::{
    AgentStatus, AuditHealth, BridgeStatus, CatalogStatus, ClientCounts, HealthReason, HealthView,
    InstanceStatus, KernelStatus, ModelsStatus, STATUS_VERSION, SecretStoreView, ServerStatus, StatusView,
    StoreSizes, UsageSample,
};
use harbor_policy::health::{
    AuditFacts, DatabaseFacts, HealthFacts, LogFacts, ServerFacts, UnreadFacts, reasons, worst,
};
use harbor_policy::lifecycle::State;
use harbor_policy::sandbox::of_kernel;
use harbor_policy::standing::{self, StandingFacts};

use super::Host;
use super::counts::counts;
use crate::observe;
use crate::store::secrets::SecretsStatus;
use crate::supervisor::{ProcessUsage, Server, Stores, UsageMeasurement};

/// The facts about the clients.
#[derive(Debug)]
pub struct Presence {
    /// The number of clients.
    pub clients: ClientCounts,
    /// Their open requests.
    pub open_requests: u64,
    /// Bytes that they have not read.
    pub unread_bytes: u64,
    /// The unread bytes in memory, and the most that may be there.
    pub held: (u64, u64),
    /// When the bridge began.
    pub began: Instant,
}

impl Host {
    /// The state of everything.
    #[must_use]
    pub fn status(
        &self,
        presence: Presence,
        catalog: CatalogStatus,
        models: ModelsStatus,
        agent: AgentStatus,
    ) -> StatusView {
        StatusView {
            version: STATUS_VERSION,
            timestamp: wall_clock(),
            health: self.health(presence.held),
            bridge: self.bridge_status(presence),
            servers: self.server_statuses(),
            catalog,
            models: Some(models),
            agent: Some(agent),
            limits: self.rate_limits(""),
            stores: self.store_sizes(),
        }
    }

    /// The health of everything. `held`: the unread bytes in memory, and the most that may be.
    #[must_use]
    pub fn health(&self, held: (u64, u64)) -> HealthView {
        let (failing, lost) = self.trail.health();
        let audit = AuditFacts { failing, lost, required: self.config.now().audit_required };
        let facts = |server: Rc<Server>| {
            let status = server.status();
            let last_error = status.last_exit.map(|report| report.message.clone());
            let lists = server.list_problems();
            ServerFacts { id: server.id().to_string(), state: status.state, last_error, lists }
        };
        let database = DatabaseFacts { failing: self.database.trouble(), lost: self.lost.clone() };
        let (config, metrics) = (self.config.refused(), self.exporting.borrow().refused.clone());
        let unstored = self.permissions.unstored();
        let unstored = unstored.iter().map(|one| format!("{} of {}", one.scope, one.origin)).collect();
        let observe::LogHealth { failing, dropped } = observe::standing();
        let log = LogFacts { failing, dropped };
        let secrets = self.supervisor.secrets().trouble();
        let unread = UnreadFacts { held: held.0, most: held.1 };
        let models = self.wrong_models.borrow().clone();
        let sessions = self.unsaved_sessions.borrow().clone();
        let logins = self.supervisor.unstored_logins();
        let known = HealthFacts {
            audit,
            database,
            unstored,
            sessions,
            logins,
            log,
            secrets,
            unread,
            config,
            metrics,
            models,
        };
        let reasons = reasons(known, self.supervisor.all().into_iter().map(facts));
        let state = worst(&reasons).as_str();
        let shown = reasons.into_iter().map(|reason| HealthReason {
            state: reason.health.as_str().into(),
            server: reason.server,
            code: reason.code.into(),
            message: reason.message,
        });
        HealthView { state: state.into(), reasons: shown.collect() }
    }

    /// The state of the bridge.
    #[must_use]
    pub fn bridge_status(&self, presence: Presence) -> BridgeStatus {
        let (failing, unaudited) = self.trail.health();
        let measured = self.supervisor.measured();
        BridgeStatus {
            version: env!("CARGO_PKG_VERSION").into(),
            build: BUILD.into(),
            pid: std::process::id(),
            uptime_ms: millis(presence.began.elapsed()),
            isolation: self.supervisor.is_isolated(),
            kernel: self.supervisor.offer().map(|offer| {
                let (held_by, missing) = of_kernel(&offer);
                KernelStatus { held_by, missing }
            }),
            clients: presence.clients,
            open_requests: presence.open_requests,
            waiting: self.admission.waiting() as u64,
            unread_bytes: presence.unread_bytes,
            calls: counts(self.stats.borrow().total()),
            audit: AuditHealth { failing, unaudited },
            usage: measured.map(|measured| sample(&measured, &measured.bridge)),
            secrets: secret_store(self.supervisor.secrets().standing()),
            first_use: self.first_use().into(),
            metrics: self.exporting.borrow().at.map(|at| at.to_string()),
        }
    }

    /// All servers, by id.
    #[must_use]
    pub fn server_statuses(&self) -> Vec<ServerStatus> {
        self.supervisor.all().iter().map(|server| self.server_status(server)).collect()
    }

    /// A server's state, in the word for people.
    #[must_use]
    pub fn shown_state(&self, server: &Server) -> &'static str {
        standing::shown(StandingFacts {
            state: server.status().state,
            wakes_on_demand: server.wakes_on_demand(),
            need: server.need(),
            is_other_program: self.server_change(server.id()).is_some(),
        })
    }

    /// The state of one server.
    #[must_use]
    pub fn server_status(&self, server: &Server) -> ServerStatus {
        let (status, confined) = (server.status(), server.confined());
        let running = status.state == State::Running;
        let (stats, measured) = (self.stats.borrow(), self.supervisor.measured());
        let used = measured.as_ref().filter(|_| running);
        // Measurements of an earlier process do not count for this one.
        let is_it =
            |used: &ProcessUsage| Some(used.root) == status.runner_pid || Some(used.root) == status.pid;
        let used = used.and_then(|measured| {
            Some(sample(measured, measured.servers.get(server.id()).filter(|used| is_it(used))?))
        });
        ServerStatus {
            id: server.id().to_string(),
            label: server.label().to_owned(),
            state: status.state.as_str().into(),
            shown_state: self.shown_state(server).into(),
            since: status.since,
            busy: status.busy,
            pid: status.pid,
            runner_pid: status.runner_pid,
            tools: running.then(|| server.tool_count()).flatten(),
            restarts: status.restarts,
            attempt: status.attempt,
            next_retry: status.next_retry,
            last_cause: status.last_exit.as_ref().map(|report| report.cause).map(Into::into),
            last_error: status.last_exit.map(|report| report.message.clone()),
            in_flight: status.in_flight,
            queued: status.queued,
            calls: stats.server(server.id().as_str()).map(counts),
            sandbox: confined.as_ref().map(|confined| confined.profile.level.as_str()).map(Into::into),
            sandbox_held_by: confined.map(|confined| confined.profile.held_by.clone()),
            log_lines: status.log_lines,
            ipc_us: status.round_trip.map(|time| u64::try_from(time.as_micros()).unwrap_or(u64::MAX)),
            usage: used,
            instances: server.instances().iter().filter_map(|one| instance_status(one)).collect(),
        }
    }

    /// The sizes of the stores on disk.
    #[must_use]
    pub fn store_sizes(&self) -> Option<StoreSizes> {
        self.supervisor.measured().map(|measured| {
            let Stores { database, audit, server_logs } = measured.stores;
            StoreSizes { age_ms: millis(measured.at.elapsed()), database, audit, server_logs }
        })
    }

    /// Measures what processes use, unless that was done less than `max_age` ago.
    pub async fn measure(&self, max_age: Duration) {
        self.supervisor.measure(max_age).await;
    }
}

/// The state of an instance.
fn instance_status(instance: &Server) -> Option<InstanceStatus> {
    let (id, principal, status) = (instance.instance()?, instance.principal()?, instance.status());
    Some(InstanceStatus {
        id: id.to_string(),
        principal: principal.to_string(),
        state: status.state.as_str().into(),
        since: status.since,
        pid: status.pid,
        in_flight: status.in_flight,
        queued: status.queued,
        restarts: status.restarts,
        last_error: status.last_exit.map(|report| report.message.clone()),
    })
}

/// The state of the store of secrets.
#[must_use]
pub fn secret_store(standing: SecretsStatus) -> SecretStoreView {
    let SecretsStatus { choice, form, is_locked, asks } = standing;
    SecretStoreView {
        store: choice.as_str().into(),
        encryption: form.as_str().into(),
        locked: is_locked,
        asks,
        misplaced: form.misplaced(choice).map(ToOwned::to_owned),
    }
}

fn sample(measured: &UsageMeasurement, used: &ProcessUsage) -> UsageSample {
    UsageSample {
        age_ms: millis(measured.at.elapsed()),
        memory: used.memory,
        cpu_ms: used.cpu_ms,
        cpu_permille: used.cpu_permille,
        open_files: used.open_files,
        processes: used.processes,
        threads: used.threads,
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
