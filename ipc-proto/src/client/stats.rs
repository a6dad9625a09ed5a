//! The objects of `host_get_stats`: numbers, and the names that they are counted under.

#![allow(non_snake_case, reason = "the fields' names are those on the wire")]

use std::collections::BTreeMap;

use super::define_sent;
use crate::field::Word;

define_sent! {
    /// Objects of `host_get_stats`.
    STATS_OBJECTS:
    /// The counts since the bridge began. Fields about all origins are absent if the request named one.
    "Stats" StatsView {
        /// How many servers there are.
        servers: Option<ServersCount>,
        /// How many tools the running servers have.
        tools: Option<ToolsCount>,
        /// The limits in force: those of the origin, or those of origins without limits of their own.
        rateLimits: RateLimits,
        /// All calls, or those of the origin.
        calls: CallCounts,
        /// `CallCounts` by server.
        callsByServer: Option<BTreeMap<String, CallCounts>>,
        /// `CallCounts` by tool, as `server/tool`. Calls of tools that no server has are counted as `(others)`.
        callsByTool: Option<BTreeMap<String, CallCounts>>,
        /// `CallCounts` by origin; `owner` is the person.
        callsByOrigin: Option<BTreeMap<String, CallCounts>>,
        /// How often each decision was made.
        decisions: Vec<DecisionCount>,
        /// How many grants there are.
        grants: u64,
        /// How many runs there are.
        runs: Option<u64>,
        /// How many calls of the origin are under way; without an origin, those of the owner.
        underWay: u32,
        /// How many of its calls wait for a slot.
        waiting: u32,
        /// The state of the audit log.
        audit: Option<AuditHealth>,
    }
    /// How many servers there are.
    "ServersCount" ServersCount {
        /// All servers with a definition.
        total: u64,
        /// All servers that run.
        running: u64,
    }
    /// How many tools there are.
    "ToolsCount" ToolsCount {
        /// All tools.
        totalTools: u64,
        /// How many servers have listed their tools.
        serverCount: u64,
        /// The number of tools of each server.
        toolsByServer: BTreeMap<String, u64>,
    }
    /// The limits of an origin; absent fields: no such limit.
    "RateLimits" RateLimits {
        /// The most calls of a run.
        maxCallsPerRun: Option<u32>,
        /// The most calls at once.
        maxConcurrentPerOrigin: Option<u32>,
        /// How long a call may take whose request sets no limit, in milliseconds.
        defaultTimeoutMs: Option<u64>,
        /// The most calls that may wait for a slot.
        queueLength: u32,
        /// How long a call may wait for a slot, in milliseconds.
        queueWaitMs: u64,
        /// The most calls in a minute.
        callsPerMinutePerOrigin: Option<u32>,
    }
    /// Counts of calls that have ended.
    "CallCounts" CallCounts {
        /// All calls.
        calls: u64,
        /// Calls that ended with an error.
        failures: u64,
        /// Calls whose result says that the tool failed (`isError`). They are not among `failures`.
        toolErrors: u64,
        /// `failures`, by their code.
        failuresByCode: BTreeMap<String, u64>,
        /// Bytes of arguments, of all calls together.
        bytesIn: u64,
        /// Bytes of results, of all calls together.
        bytesOut: u64,
        /// The time from the request to the answer, in microseconds.
        durationUs: Times,
        /// The part of that time in which calls waited for a slot, in microseconds.
        queuedUs: Times,
    }
    /// Statistics of times. Quantiles are at most a quarter too large.
    "Times" Times {
        /// The median: half of the calls took no longer.
        p50: u64,
        /// 99 of 100 calls took no longer.
        p99: u64,
        /// The longest time.
        max: u64,
        /// The sum of all times.
        sum: u64,
    }
    /// How often a decision was made.
    "DecisionCount" DecisionCount {
        /// The origin that it was made for.
        origin: String,
        /// The scope that it was about.
        scope: Word,
        /// `allowed`, or the code of the refusal.
        decision: Word,
        /// How often.
        count: u64,
    }
    /// The state of the audit log.
    "AuditHealth" AuditHealth {
        /// True if it cannot be written at present.
        failing: bool,
        /// How many records could not be written since the bridge began.
        unaudited: u64,
    }
}
