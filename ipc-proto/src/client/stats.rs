//! What `host_get_stats` shows: numbers, and the names that they are counted under.

#![allow(non_snake_case, reason = "the fields' names are those on the wire")]

use std::collections::BTreeMap;

use super::define_sent;
use crate::field::Word;

define_sent! {
    /// Objects of `host_get_stats`.
    STATS_OBJECTS:
    /// The counts since the bridge began. What is about all is absent where one origin was asked about.
    "Stats" StatsView {
        /// The servers.
        servers: Option<ServersCount>,
        /// The tools of servers that run.
        tools: Option<ToolsCount>,
        /// The limits in force: of the origin, or of origins that have none of their own.
        rateLimits: RateLimits,
        /// All calls.
        calls: CallCounts,
        /// `CallCounts` by server.
        callsByServer: Option<BTreeMap<String, CallCounts>>,
        /// `CallCounts` by tool, `server/tool`; those that no server has count as `(others)`.
        callsByTool: Option<BTreeMap<String, CallCounts>>,
        /// `CallCounts` by origin; `owner` is the person.
        callsByOrigin: Option<BTreeMap<String, CallCounts>>,
        /// What was decided, how often.
        decisions: Vec<DecisionCount>,
        /// How many grants there are.
        grants: u64,
        /// How many runs there are.
        runs: Option<u64>,
        /// Calls of the origin (else of the owner) that are under way.
        underWay: u32,
        /// Those that wait for their turn.
        waiting: u32,
        /// The audit log.
        audit: Option<AuditHealth>,
    }
    /// How many servers there are.
    "ServersCount" ServersCount {
        /// All that are defined.
        total: u64,
        /// Those that run.
        running: u64,
    }
    /// How many tools there are.
    "ToolsCount" ToolsCount {
        /// All.
        totalTools: u64,
        /// Servers that have listed theirs.
        serverCount: u64,
        /// How many, by server.
        toolsByServer: BTreeMap<String, u64>,
    }
    /// Limits; absent where there is none.
    "RateLimits" RateLimits {
        /// Calls that a run may make.
        maxCallsPerRun: Option<u32>,
        /// Calls at once.
        maxConcurrentPerOrigin: Option<u32>,
        /// How long a call may take that does not say, in milliseconds.
        defaultTimeoutMs: Option<u64>,
        /// Calls that may wait for their turn.
        queueLength: u32,
        /// How long one may wait, in milliseconds.
        queueWaitMs: u64,
        /// Calls in a minute.
        callsPerMinutePerOrigin: Option<u32>,
    }
    /// Calls that are over.
    "CallCounts" CallCounts {
        /// All of them.
        calls: u64,
        /// Those that ended with an error.
        failures: u64,
        /// Those with a result in which the tool says that it has failed (`isError`); they are not among `failures`.
        toolErrors: u64,
        /// The same by code.
        failuresByCode: BTreeMap<String, u64>,
        /// Bytes of arguments.
        bytesIn: u64,
        /// Bytes of results.
        bytesOut: u64,
        /// From the request to the answer, in microseconds.
        durationUs: Times,
        /// What of it was waiting for their turn, in microseconds.
        queuedUs: Times,
    }
    /// Times. Quantiles are at most a quarter too large.
    "Times" Times {
        /// Half took no longer.
        p50: u64,
        /// 99 of 100 took no longer.
        p99: u64,
        /// The longest.
        max: u64,
        /// All together.
        sum: u64,
    }
    /// How often something was decided.
    "DecisionCount" DecisionCount {
        /// For whom.
        origin: String,
        /// About what.
        scope: Word,
        /// `allowed`, or the code of the refusal.
        decision: Word,
        /// How often.
        count: u64,
    }
    /// How the audit log does.
    "AuditHealth" AuditHealth {
        /// Whether it cannot be written at present.
        failing: bool,
        /// How many records are in none, since the bridge began.
        unaudited: u64,
    }
}
