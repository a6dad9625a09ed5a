//! The counts, as they are shown.
//!
//! Owns which counts belong to whom: an AI client sees its own, and nothing of others.

use std::collections::BTreeMap;
use std::time::Duration;

use harbor_ipc_proto::client::{
    AuditHealth, CallCounts, DecisionCount, RateLimits, ServersCount, StatsView, Times, ToolsCount,
};
use harbor_policy::lifecycle::State;
use harbor_policy::origin::Origin;
use harbor_policy::stats::{Counters, Histogram};

use super::Host;
use crate::config::OWNER;

impl Host {
    /// The counts: all of them, or those of one origin.
    #[must_use]
    pub fn counts(&self, of: Option<&Origin>) -> StatsView {
        match of {
            Some(origin) => self.counts_of(origin),
            None => self.all_counts(),
        }
    }

    fn counts_of(&self, origin: &Origin) -> StatsView {
        let name = origin.as_str();
        let (under_way, waiting) = self.admission.of(name);
        StatsView {
            servers: None,
            tools: None,
            rateLimits: self.rate_limits(name),
            calls: self.stats.borrow().origin(name).map_or_else(|| counts(&Counters::default()), counts),
            callsByServer: None,
            callsByTool: None,
            callsByOrigin: None,
            decisions: self.decisions(Some(name)),
            grants: self.permissions.list(Some(origin), None, None).len() as u64,
            runs: None,
            underWay: under_way,
            waiting,
            audit: None,
        }
    }

    fn all_counts(&self) -> StatsView {
        let stats = self.stats.borrow();
        let (failing, unaudited) = self.trail.health();
        let (under_way, waiting) = self.admission.of(OWNER);
        let by_tool = stats.tools().map(|(server, tool, of)| (format!("{server}/{tool}"), counts(of)));
        StatsView {
            servers: Some(self.count_servers()),
            tools: Some(self.count_tools()),
            rateLimits: self.rate_limits(""),
            calls: counts(stats.total()),
            callsByServer: Some(by_name(stats.servers())),
            callsByTool: Some(by_tool.collect()),
            callsByOrigin: Some(by_name(stats.origins())),
            decisions: self.decisions(None),
            grants: self.permissions.count() as u64,
            runs: Some(self.runs.count() as u64),
            underWay: under_way,
            waiting,
            audit: Some(AuditHealth { failing, unaudited }),
        }
    }

    fn count_servers(&self) -> ServersCount {
        let servers = self.supervisor.all();
        let running = servers.iter().filter(|server| server.state() == State::Running).count();
        ServersCount { total: servers.len() as u64, running: running as u64 }
    }

    fn count_tools(&self) -> ToolsCount {
        let sources = self.sources.all();
        let listed =
            sources.iter().filter_map(|source| Some((source.id().to_string(), source.tools()?.len() as u64)));
        let by_server: BTreeMap<_, _> = listed.collect();
        ToolsCount {
            totalTools: by_server.values().sum(),
            serverCount: by_server.len() as u64,
            toolsByServer: by_server,
        }
    }

    pub(super) fn rate_limits(&self, origin: &str) -> RateLimits {
        let limits = self.config.now().limits_of(origin);
        let millis = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        RateLimits {
            maxCallsPerRun: limits.max_calls_per_run,
            maxConcurrentPerOrigin: Some(limits.concurrent).filter(|most| *most > 0),
            defaultTimeoutMs: limits.default_timeout.map(millis),
            queueLength: limits.queue,
            queueWaitMs: limits.queue_wait_ms,
            callsPerMinutePerOrigin: limits.per_minute,
        }
    }

    fn decisions(&self, only: Option<&str>) -> Vec<DecisionCount> {
        let stats = self.stats.borrow();
        let decisions = stats.decisions().filter(|(origin, ..)| only.is_none_or(|only| only == *origin));
        decisions
            .map(|(origin, scope, decision, count)| DecisionCount {
                origin: origin.to_owned(),
                scope: scope.into(),
                decision: decision.into(),
                count,
            })
            .collect()
    }
}

fn by_name<'a>(all: impl Iterator<Item = (&'a str, &'a Counters)>) -> BTreeMap<String, CallCounts> {
    all.map(|(name, of)| (name.to_owned(), counts(of))).collect()
}

pub(super) fn counts(of: &Counters) -> CallCounts {
    CallCounts {
        calls: of.calls,
        failures: of.failures,
        toolErrors: of.tool_errors,
        failuresByCode: of.codes.iter().map(|(code, count)| ((*code).to_owned(), *count)).collect(),
        bytesIn: of.bytes_in,
        bytesOut: of.bytes_out,
        durationUs: times(&of.duration),
        queuedUs: times(&of.queued),
    }
}

fn times(of: &Histogram) -> Times {
    Times { p50: of.quantile(0.5), p99: of.quantile(0.99), max: of.max(), sum: of.sum() }
}
