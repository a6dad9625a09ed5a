//! What was counted, as it is shown.
//!
//! Owns the form of `host_get_stats`. An AI client sees what concerns itself, and nothing of others.

use std::collections::BTreeMap;

use harbor_ipc_proto::json::Json;
use harbor_policy::lifecycle::State;
use harbor_policy::origin::Origin;
use harbor_policy::stats::{Counters, Histogram};
use serde::Serialize;

use super::Host;
use super::asker::OWNER;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Counts {
    calls: u64,
    failures: u64,
    failures_by_code: BTreeMap<&'static str, u64>,
    bytes_in: u64,
    bytes_out: u64,
    duration_us: Times,
    queued_us: Times,
}

#[derive(Serialize)]
struct Times {
    p50: u64,
    p99: u64,
    max: u64,
    sum: u64,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Shown {
    #[serde(skip_serializing_if = "Option::is_none")]
    servers: Option<Servers>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tools: Option<Tools>,
    rate_limits: RateLimits,
    calls: Counts,
    #[serde(skip_serializing_if = "Option::is_none")]
    calls_by_server: Option<BTreeMap<String, Counts>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    calls_by_tool: Option<BTreeMap<String, Counts>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    calls_by_origin: Option<BTreeMap<String, Counts>>,
    decisions: Vec<Decision>,
    grants: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    runs: Option<usize>,
    under_way: u32,
    waiting: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    audit: Option<AuditHealth>,
}

#[derive(Serialize)]
struct Servers {
    total: usize,
    running: usize,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Tools {
    total_tools: usize,
    server_count: usize,
    tools_by_server: BTreeMap<String, usize>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct RateLimits {
    max_calls_per_run: Option<u32>,
    max_concurrent_per_origin: u32,
    default_timeout_ms: Option<u64>,
    queue_length: u32,
    queue_wait_ms: u64,
    calls_per_minute_per_origin: Option<u32>,
}

#[derive(Serialize)]
struct Decision {
    origin: String,
    scope: &'static str,
    decision: &'static str,
    count: u64,
}

#[derive(Serialize)]
struct AuditHealth {
    failing: bool,
    unaudited: u64,
}

impl Host {
    /// The counts: all of them, or those of one origin.
    #[must_use]
    pub fn counts(&self, of: Option<&Origin>) -> Json {
        let shown = match of {
            Some(origin) => self.counts_of(origin),
            None => self.all_counts(),
        };
        Json::from_valid(serde_json::to_string(&shown).unwrap_or_else(|_| "{}".into()))
    }

    fn counts_of(&self, origin: &Origin) -> Shown {
        let stats = self.stats.borrow();
        let name = origin.as_str();
        let (under_way, waiting) = self.admission.of(name);
        Shown {
            servers: None,
            tools: None,
            rate_limits: self.rate_limits(name),
            calls: stats.origin(name).map_or_else(|| counts(&Counters::default()), counts),
            calls_by_server: None,
            calls_by_tool: None,
            calls_by_origin: None,
            decisions: self.decisions(Some(name)),
            grants: self.permissions.list(Some(origin), None, None).len(),
            runs: None,
            under_way,
            waiting,
            audit: None,
        }
    }

    fn all_counts(&self) -> Shown {
        let stats = self.stats.borrow();
        let (failing, unaudited) = self.trail.health();
        let servers = self.supervisor.all();
        let listed =
            servers.iter().filter_map(|server| Some((server.id().to_string(), server.tools()?.len())));
        let tools_by_server: BTreeMap<_, _> = listed.collect();
        let (under_way, waiting) = self.admission.of(OWNER);
        Shown {
            servers: Some(Servers {
                total: servers.len(),
                running: servers.iter().filter(|server| server.state() == State::Running).count(),
            }),
            tools: Some(Tools {
                total_tools: tools_by_server.values().sum(),
                server_count: tools_by_server.len(),
                tools_by_server,
            }),
            rate_limits: self.rate_limits(""),
            calls: counts(stats.total()),
            calls_by_server: Some(by_name(stats.servers())),
            calls_by_tool: Some(
                stats.tools().map(|(server, tool, of)| (format!("{server}/{tool}"), counts(of))).collect(),
            ),
            calls_by_origin: Some(by_name(stats.origins())),
            decisions: self.decisions(None),
            grants: self.permissions.count(),
            runs: Some(self.runs.count()),
            under_way,
            waiting,
            audit: Some(AuditHealth { failing, unaudited }),
        }
    }

    fn rate_limits(&self, origin: &str) -> RateLimits {
        let limits = self.config.limits_of(origin);
        let millis = |time: std::time::Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        RateLimits {
            max_calls_per_run: limits.max_calls_per_run,
            max_concurrent_per_origin: limits.concurrent,
            default_timeout_ms: limits.default_timeout.map(millis),
            queue_length: limits.queue,
            queue_wait_ms: limits.queue_wait_ms,
            calls_per_minute_per_origin: limits.per_minute,
        }
    }

    fn decisions(&self, only: Option<&str>) -> Vec<Decision> {
        let stats = self.stats.borrow();
        let decisions = stats.decisions().filter(|(origin, ..)| only.is_none_or(|only| only == *origin));
        decisions
            .map(|(origin, scope, decision, count)| Decision {
                origin: origin.to_owned(),
                scope,
                decision,
                count,
            })
            .collect()
    }
}

fn by_name<'a>(all: impl Iterator<Item = (&'a str, &'a Counters)>) -> BTreeMap<String, Counts> {
    all.map(|(name, of)| (name.to_owned(), counts(of))).collect()
}

fn counts(of: &Counters) -> Counts {
    Counts {
        calls: of.calls,
        failures: of.failures,
        failures_by_code: of.codes.clone(),
        bytes_in: of.bytes_in,
        bytes_out: of.bytes_out,
        duration_us: times(&of.duration),
        queued_us: times(&of.queued),
    }
}

fn times(of: &Histogram) -> Times {
    Times { p50: of.quantile(0.5), p99: of.quantile(0.99), max: of.max(), sum: of.sum() }
}
