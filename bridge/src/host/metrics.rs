//! The metrics: the status and the counts, as a monitoring system wants them.
//!
//! Owns the names and the meaning of each. They are in other people's alerts, so none changes its meaning. Must never
//! tell of origins unless the person has said so, nor give 0 for something that was not measured.

mod exposition;

use std::collections::BTreeMap;

use harbor_ipc_proto::client::{
    AgentStatus, CatalogStatus, ModelsStatus, ServerStatus, StatusView, UsageSample,
};
use harbor_policy::health::Health;
use harbor_policy::lifecycle::State;
use harbor_policy::stats::{Counters, Stats};

pub use self::exposition::Dialect;
use self::exposition::MetricKind::{Counter, Gauge, Histogram, Info};
use self::exposition::{Exposition, Family, family};
use super::{Host, Presence};

/// A number of the bridge, if it is known.
type OfBridge = (Family, fn(&StatusView) -> Option<f64>);

/// A number of a server, if it is known.
type OfServer = (Family, fn(&ServerStatus) -> Option<f64>);

const BUILD: Family = family(Info, "harbor_build", "", "The running version.");
const HEALTH: Family = family(Gauge, "harbor_health", "", "1 for the present state of health.");
const REASON: Family = family(Gauge, "harbor_health_reason", "", "1 for each problem.");
const CLIENTS: Family = family(Gauge, "harbor_clients", "", "Connected clients, by kind.");
const STORES: Family =
    family(Gauge, "harbor_store_size_bytes", "bytes", "Bytes on the disk: database, audit, server_logs.");
const DECISIONS: Family =
    family(Counter, "harbor_decisions", "", "Decisions about permissions of pages and AI clients.");

const SPANS_SENT: Family = family(Counter, "harbor_traces_sent", "", "Spans that a collector has accepted.");
const SPANS_DROPPED: Family =
    family(Counter, "harbor_traces_dropped", "", "Spans that had no room, or that no collector accepted.");

const BRIDGE: &[OfBridge] = &[
    (family(Gauge, "harbor_up", "", "1: the bridge answers."), |_| Some(1.0)),
    (family(Gauge, "harbor_uptime_seconds", "seconds", "How long the bridge has run."), |status| {
        Some(seconds(status.bridge.uptime_ms))
    }),
    (family(Gauge, "harbor_open_requests", "", "Requests of clients that are not answered yet."), |status| {
        Some(status.bridge.open_requests as f64)
    }),
    (family(Gauge, "harbor_waiting_calls", "", "Calls that wait for their turn."), |status| {
        Some(status.bridge.waiting as f64)
    }),
    (family(Gauge, "harbor_unread_bytes", "bytes", "Bytes that clients have not read yet."), |status| {
        Some(status.bridge.unread_bytes as f64)
    }),
    (family(Gauge, "harbor_audit_failing", "", "1 while the audit log cannot be written."), |status| {
        Some(flag(status.bridge.audit.failing))
    }),
    (family(Counter, "harbor_audit_lost_records", "", "Records that the audit log lacks."), |status| {
        Some(status.bridge.audit.unaudited as f64)
    }),
    (family(Gauge, "harbor_usage_age_seconds", "seconds", "How old the measured numbers are."), |status| {
        status.bridge.usage.as_ref().map(|usage| seconds(usage.age_ms))
    }),
    (family(Gauge, "harbor_memory_bytes", "bytes", "Memory of the bridge (PSS)."), |status| {
        status.bridge.usage.as_ref().map(|usage| usage.memory as f64)
    }),
    (family(Counter, "harbor_cpu_seconds", "seconds", "Processor time of the bridge."), |status| {
        status.bridge.usage.as_ref().map(|usage| seconds(usage.cpu_ms))
    }),
    (family(Gauge, "harbor_open_fds", "", "Open files of the bridge."), |status| {
        status.bridge.usage.as_ref().map(|usage| usage.open_files as f64)
    }),
];

/// A number of the catalog, if it is known.
type OfCatalog = (Family, fn(&CatalogStatus) -> Option<f64>);

const CATALOG: &[OfCatalog] = &[
    (family(Gauge, "harbor_catalog_entries", "", "Servers in the catalog."), |catalog| {
        catalog.entries.map(|entries| entries as f64)
    }),
    (
        family(
            Gauge,
            "harbor_catalog_last_refresh_timestamp_seconds",
            "seconds",
            "When a source of the catalog was last fetched, in seconds since 1970.",
        ),
        |catalog| catalog.last_refresh.map(seconds),
    ),
    (
        family(
            Gauge,
            "harbor_catalog_refresh_duration_seconds",
            "seconds",
            "How long the last refresh took.",
        ),
        |catalog| catalog.refresh_ms.map(seconds),
    ),
    (family(Gauge, "harbor_catalog_failing_sources", "", "Sources that failed the last time."), |catalog| {
        catalog.entries.map(|_| catalog.failing as f64)
    }),
    (family(Counter, "harbor_catalog_worker_restarts", "", "Restarts of the catalog worker."), |catalog| {
        Some(catalog.restarts.into())
    }),
];

/// A number of the models.
type OfModels = (Family, fn(&ModelsStatus) -> f64);

const MODELS: &[OfModels] = &[
    (family(Gauge, "harbor_model_providers", "", "Providers of models that were added."), |models| {
        models.providers as f64
    }),
    (family(Gauge, "harbor_model_requests_open", "", "Open requests to providers."), |models| {
        models.open_requests as f64
    }),
    (family(Counter, "harbor_model_worker_restarts", "", "Restarts of the model worker."), |models| {
        models.restarts.into()
    }),
];

/// A number of the agent.
type OfAgent = (Family, fn(&AgentStatus) -> f64);

const AGENT: &[OfAgent] = &[
    (family(Gauge, "harbor_turns_running", "", "Running turns of models with tools."), |agent| {
        agent.running as f64
    }),
    (family(Counter, "harbor_turn_rounds", "", "How often a model was asked, in finished turns."), |agent| {
        agent.rounds as f64
    }),
    (family(Counter, "harbor_turn_calls", "", "Calls that models asked for, in finished turns."), |agent| {
        agent.calls as f64
    }),
    (family(Gauge, "harbor_approvals_waiting", "", "Questions that wait for the person."), |agent| {
        agent.waiting as f64
    }),
];
const TURNS: Family = family(Counter, "harbor_turns", "", "Finished turns, by the reason of their end.");
const APPROVALS: Family = family(Counter, "harbor_approvals", "", "Approvals of calls, by the answer.");
const TOKENS: Family =
    family(Counter, "harbor_turn_tokens", "", "Tokens that models have read and written, in finished turns.");

const INSTANCES: Family = family(
    Gauge,
    "harbor_server_instances",
    "",
    "Processes of a server that has one for each page and AI client.",
);

const SERVER: Family = family(Info, "harbor_server", "", "The servers, with their labels and sandboxes.");
const STATE: Family = family(Gauge, "harbor_server_state", "", "1 for the present state of the server.");

const SERVERS: &[OfServer] = &[
    (family(Gauge, "harbor_server_busy", "", "1 while it answers no probe and has open calls."), |server| {
        Some(flag(server.busy))
    }),
    (family(Counter, "harbor_server_restarts", "", "Restarts since a person last started it."), |server| {
        Some(server.restarts.into())
    }),
    (family(Gauge, "harbor_server_calls_in_flight", "", "Calls that the server is working on."), |server| {
        Some(server.in_flight.into())
    }),
    (family(Gauge, "harbor_server_calls_queued", "", "Calls that wait until it runs."), |server| {
        Some(server.queued.into())
    }),
    (family(Gauge, "harbor_server_tools", "", "Tools that it offers, while it runs."), |server| {
        server.tools.map(f64::from)
    }),
    (
        family(
            Counter,
            "harbor_server_log_lines",
            "",
            "Lines that the server has logged since it was defined.",
        ),
        |server| Some(server.log_lines as f64),
    ),
    (
        family(Gauge, "harbor_server_ipc_seconds", "seconds", "Time from the bridge to its runner and back."),
        |server| server.ipc_us.map(|us| us as f64 / 1e6),
    ),
    (family(Gauge, "harbor_server_memory_bytes", "bytes", "Memory of its processes (PSS)."), |server| {
        used(server, |usage| usage.memory as f64)
    }),
    (family(Counter, "harbor_server_cpu_seconds", "seconds", "Processor time of its processes."), |server| {
        used(server, |usage| seconds(usage.cpu_ms))
    }),
    (family(Gauge, "harbor_server_open_fds", "", "Open files of its processes."), |server| {
        used(server, |usage| usage.open_files as f64)
    }),
    (family(Gauge, "harbor_server_processes", "", "Its processes."), |server| {
        used(server, |usage| usage.processes as f64)
    }),
    (family(Gauge, "harbor_server_threads", "", "Threads of its processes."), |server| {
        used(server, |usage| usage.threads as f64)
    }),
];

const CALLS: Family = family(
    Counter,
    "harbor_server_calls",
    "",
    "Finished calls: code is ok, tool_error (the tool reported an error), or the code of the error.",
);
const ARGUMENTS: Family =
    family(Counter, "harbor_server_argument_bytes", "bytes", "Length of the arguments of its calls.");
const RESULTS: Family =
    family(Counter, "harbor_server_result_bytes", "bytes", "Length of the results of its calls.");
const DURATION: Family = family(
    Histogram,
    "harbor_server_call_duration_seconds",
    "seconds",
    "Time from the request to the answer, including the wait for a turn.",
);
const QUEUED: Family =
    family(Histogram, "harbor_server_call_wait_seconds", "seconds", "Time that calls waited for their turn.");

const ORIGIN_CALLS: Family = family(
    Counter,
    "harbor_origin_calls",
    "",
    "Calls of an origin: code is ok, tool_error, or the code of the error.",
);
const ORIGIN_DECISIONS: Family =
    family(Counter, "harbor_origin_decisions", "", "Decisions about permissions of an origin.");

/// The error code of a result in which the tool says that it has failed, from OpenTelemetry's conventions for MCP.
pub(super) const TOOL_ERROR: &str = "tool_error";

impl Host {
    /// All metrics, as text. Measures nothing for it.
    #[must_use]
    pub fn metrics(
        &self,
        presence: Presence,
        catalog: CatalogStatus,
        models: ModelsStatus,
        agent: AgentStatus,
        dialect: Dialect,
    ) -> String {
        let status = self.status(presence, catalog, models, agent);
        let stats = self.stats.borrow();
        let mut out = Exposition::new(dialect);
        of_bridge(&mut out, &status);
        if let Some(counts) = self.traces.counts() {
            out.add(&SPANS_SENT, &[], counts.sent as f64);
            out.add(&SPANS_DROPPED, &[], counts.dropped as f64);
        }
        decisions(&mut out, &stats);
        for (family, number) in CATALOG {
            number(&status.catalog).into_iter().for_each(|value| out.add(family, &[], value));
        }
        for (family, number) in MODELS {
            status.models.iter().for_each(|models| out.add(family, &[], number(models)));
        }
        status.agent.iter().for_each(|agent| of_agent(&mut out, agent));
        of_servers(&mut out, &status.servers);
        calls(&mut out, &stats);
        if self.config.now().metrics_of_origins {
            origins(&mut out, &stats);
        }
        out.end()
    }
}

fn of_bridge(out: &mut Exposition, status: &StatusView) {
    let bridge = &status.bridge;
    out.add(&BUILD, &[("version", &bridge.version), ("build", &bridge.build)], 1.0);
    for (family, number) in BRIDGE {
        number(status).into_iter().for_each(|value| out.add(family, &[], value));
    }
    for state in [Health::Ok, Health::Degraded, Health::Failing].map(Health::as_str) {
        out.add(&HEALTH, &[("state", state)], flag(status.health.state == state));
    }
    for reason in &status.health.reasons {
        let server = reason.server.as_deref().unwrap_or_default();
        out.add(&REASON, &[("code", &reason.code), ("server", server), ("state", &reason.state)], 1.0);
    }
    let clients = &bridge.clients;
    for (kind, number) in [("owner", clients.owner), ("extension", clients.extension), ("mcp", clients.mcp)] {
        out.add(&CLIENTS, &[("kind", kind)], number as f64);
    }
    let stores = status.stores.as_ref().map(|stores| {
        [("database", stores.database), ("audit", stores.audit), ("server_logs", stores.server_logs)]
    });
    for (store, bytes) in stores.into_iter().flatten() {
        out.add(&STORES, &[("store", store)], bytes as f64);
    }
}

fn of_agent(out: &mut Exposition, agent: &AgentStatus) {
    for (family, number) in AGENT {
        out.add(family, &[], number(agent));
    }
    for (why, count) in &agent.ended {
        out.add(&TURNS, &[("ended", why)], *count as f64);
    }
    for (decision, count) in &agent.answered {
        out.add(&APPROVALS, &[("decision", decision)], *count as f64);
    }
    for (direction, count) in [("input", agent.input_tokens), ("output", agent.output_tokens)] {
        out.add(&TOKENS, &[("direction", direction)], count as f64);
    }
}

fn of_servers(out: &mut Exposition, servers: &[ServerStatus]) {
    for server in servers {
        let sandbox = server.sandbox.as_deref().unwrap_or_default();
        let labels = [("server", server.id.as_str()), ("label", &server.label), ("sandbox", sandbox)];
        out.add(&SERVER, &labels, 1.0);
    }
    for server in servers {
        for state in State::ALL.iter().map(|state| state.as_str()) {
            out.add(&STATE, &[("server", &server.id), ("state", state)], flag(server.state == state));
        }
    }
    for server in servers {
        let up = server.instances.iter().filter(|one| one.pid.is_some()).count();
        out.add(&INSTANCES, &[("server", &server.id)], up as f64);
    }
    for (family, number) in SERVERS {
        for server in servers {
            number(server).into_iter().for_each(|value| out.add(family, &[("server", &server.id)], value));
        }
    }
}

fn calls(out: &mut Exposition, stats: &Stats) {
    for (server, of) in stats.servers() {
        by_code(out, &CALLS, ("server", server), of);
    }
    for (server, of) in stats.servers() {
        out.add(&ARGUMENTS, &[("server", server)], of.bytes_in as f64);
    }
    for (server, of) in stats.servers() {
        out.add(&RESULTS, &[("server", server)], of.bytes_out as f64);
    }
    for (server, of) in stats.servers() {
        out.add_times(&DURATION, &[("server", server)], &of.duration);
    }
    for (server, of) in stats.servers() {
        out.add_times(&QUEUED, &[("server", server)], &of.queued);
    }
}

/// The decisions for all origins together.
fn decisions(out: &mut Exposition, stats: &Stats) {
    let mut sums = BTreeMap::<_, u64>::new();
    for (_, scope, decision, count) in stats.decisions() {
        let sum = sums.entry((scope, decision)).or_default();
        *sum = sum.saturating_add(count);
    }
    for ((scope, decision), sum) in sums {
        out.add(&DECISIONS, &[("scope", scope), ("decision", decision)], sum as f64);
    }
}

fn origins(out: &mut Exposition, stats: &Stats) {
    for (origin, of) in stats.origins() {
        by_code(out, &ORIGIN_CALLS, ("origin", origin), of);
    }
    for (origin, scope, decision, count) in stats.decisions() {
        let labels = [("origin", origin), ("scope", scope), ("decision", decision)];
        out.add(&ORIGIN_DECISIONS, &labels, count as f64);
    }
}

fn by_code(out: &mut Exposition, family: &Family, whose: (&'static str, &str), of: &Counters) {
    let ok = of.calls.saturating_sub(of.failures).saturating_sub(of.tool_errors);
    // A sum of failures finds them from the beginning, at 0.
    for (code, count) in [("ok", ok), (TOOL_ERROR, of.tool_errors)]
        .into_iter()
        .chain(of.codes.iter().map(|(code, count)| (*code, *count)))
    {
        out.add(family, &[whose, ("code", code)], count as f64);
    }
}

fn used(server: &ServerStatus, number: fn(&UsageSample) -> f64) -> Option<f64> {
    server.usage.as_ref().map(number)
}

fn seconds(millis: u64) -> f64 {
    millis as f64 / 1e3
}

fn flag(on: bool) -> f64 {
    if on { 1.0 } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_follow_the_conventions_and_are_told_once() {
        let single =
            [BUILD, HEALTH, REASON, CLIENTS, STORES, DECISIONS, SERVER, STATE, CALLS, ARGUMENTS, RESULTS];
        let rest = [SPANS_SENT, SPANS_DROPPED, DURATION, QUEUED, ORIGIN_CALLS, ORIGIN_DECISIONS];
        let tables =
            BRIDGE.iter().map(|(family, _)| *family).chain(SERVERS.iter().map(|(family, _)| *family));
        let mut names = Vec::new();
        let tables = tables.chain(CATALOG.iter().map(|(family, _)| *family));
        let tables = tables.chain(MODELS.iter().map(|(family, _)| *family));
        for family in single.into_iter().chain(rest).chain(tables) {
            let Family { name, unit, help, .. } = family;
            assert!(name.starts_with("harbor_") && name.chars().all(|c| c.is_ascii_lowercase() || c == '_'));
            assert!(!["_total", "_info", "_count", "_sum", "_bucket"].iter().any(|end| name.ends_with(end)));
            let units = ["seconds", "bytes"].into_iter().find(|unit| name.ends_with(&format!("_{unit}")));
            assert_eq!(units.unwrap_or_default(), unit, "{name}");
            assert!(help.ends_with('.') && !help.contains(['"', '\\', '\n']), "{name}");
            names.push(name);
        }
        names.sort_unstable();
        assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "{names:?}");
    }
}
