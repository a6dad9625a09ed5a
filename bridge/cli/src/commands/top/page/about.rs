//! All that is known of one server, in words.
//!
//! Owns the sentences. Must never hide how old a number is, or over what it was counted.

use harbor_ipc_proto::client::{CallCounts, ServerStatus, Times, UsageSample};

use super::super::facts::Server;
use super::super::history::bars;
use super::super::row::{Row, TextStyle, tone};
use super::super::words::{NONE, mib, millis, or_none, percent, rate, state};

use crate::table::flatten;
use crate::when;

pub fn rows(server: &Server, width: usize, now: u64) -> Vec<Row> {
    let Some(told) = &server.told else { return Vec::new() };
    let mut rows = vec![life(server, told.since, now)];
    rows.extend(last_error(told, server));
    rows.push(Row::new("restarts   ", restarts(told)));
    rows.push(Row::new("process    ", process(told)));
    rows.push(Row::new("", ""));
    rows.extend(calls(server, told.calls.as_ref(), width));
    rows.push(Row::new("", ""));
    rows.extend(usage(told.usage.as_ref()));
    rows.push(Row::new("sandbox    ", sandbox(told)));
    rows.into_iter().flat_map(|row| row.wrapped(width)).collect()
}

fn life(server: &Server, since: u64, now: u64) -> Row {
    let clock = when::utc(since);
    let clock = clock.get(..19).unwrap_or_default();
    let text = format!("{} since {clock}Z ({})", state(server, now), when::ago(since, now));
    Row::new("state      ", text).toned(tone(&server.shown))
}

fn last_error(told: &ServerStatus, server: &Server) -> Option<Row> {
    let error = flatten(told.last_error.as_deref().unwrap_or_default());
    let tone = if server.is_running() { TextStyle::Plain } else { TextStyle::Bad };
    let cause = flatten(told.last_cause.as_deref().unwrap_or_default());
    (!error.is_empty()).then(|| Row::new("last error ", format!("{error} ({cause})")).toned(tone))
}

fn restarts(told: &ServerStatus) -> String {
    format!("{}; {} without a stable minute", told.restarts, told.attempt)
}

fn process(told: &ServerStatus) -> String {
    let runner = told.runner_pid.map(|pid| format!(", its runner {pid}")).unwrap_or_default();
    let ipc = told.ipc_us.map(|us| format!(", {} ms to it and back", millis(us))).unwrap_or_default();
    match told.pid {
        Some(pid) => format!("{pid}{runner}{ipc}"),
        None => NONE.into(),
    }
}

fn calls(server: &Server, counts: Option<&CallCounts>, width: usize) -> Vec<Row> {
    let now = format!(
        "{} calls/s, {} ms each; {} open, {} waiting",
        or_none(server.history.rate(), rate),
        or_none(server.history.mean(), millis),
        server.in_flight,
        server.queued
    );
    let graph = width.saturating_sub(11);
    let mut rows = vec![
        Row::new("lately     ", now),
        Row::new("calls      ", bars(&server.history.rates(graph))).toned(TextStyle::Good),
        Row::new("latency    ", bars(&server.history.means(graph))).toned(TextStyle::Waiting),
    ];
    let number = counts.map_or(0, |counts| counts.calls);
    rows.push(Row::new("in all     ", format!("{number} calls, {}", failures(counts))));
    if let Some(counts) = counts.filter(|_| number > 0) {
        let of = |times: &Times| {
            let [p50, p99, max] = [times.p50, times.p99, times.max].map(millis);
            format!("p50 {p50}, p99 {p99}, longest {max} ms")
        };
        rows.push(Row::new("took       ", of(&counts.durationUs)));
        rows.push(Row::new("in a queue ", of(&counts.queuedUs)));
    }
    rows
}

fn failures(counts: Option<&CallCounts>) -> String {
    let codes = counts.into_iter().flat_map(|counts| &counts.failuresByCode);
    let codes: Vec<_> = codes.map(|(code, number)| format!("{number} {}", flatten(code))).collect();
    let failed = match counts.map_or(0, |counts| counts.failures) {
        0 => "none failed".into(),
        failed => format!("{failed} failed: {}", codes.join(", ")),
    };
    match counts.map_or(0, |counts| counts.toolErrors) {
        0 => failed,
        errors => format!("{failed}; {errors} reported a tool error"),
    }
}

fn usage(usage: Option<&UsageSample>) -> Vec<Row> {
    let Some(usage) = usage else { return vec![Row::new("memory     ", NONE)] };
    let (memory, age) = (mib(usage.memory), usage.age_ms / 1000);
    let (cpu, cpu_s) = (or_none(usage.cpu_permille, percent), usage.cpu_ms / 1000);
    let UsageSample { processes, threads, open_files, .. } = usage;
    vec![
        Row::new("memory     ", format!("{memory} MiB, {age} s ago")),
        Row::new("processor  ", format!("{cpu} % of one, {cpu_s} s since it started")),
        Row::new("has        ", format!("{processes} processes, {threads} threads, {open_files} open files")),
    ]
}

fn sandbox(told: &ServerStatus) -> String {
    match &told.sandbox {
        None => "known after its first start".into(),
        Some(level) => {
            let held_by = told.sandbox_held_by.as_deref().unwrap_or_default();
            format!("{}, held by {}", flatten(level), flatten(held_by))
        }
    }
}
