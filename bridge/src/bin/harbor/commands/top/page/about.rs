//! All that is known of one server, in words.
//!
//! Owns the sentences. Must never hide how old a number is, or over what it was counted.

use super::super::facts::Server;
use super::super::history::bars;
use super::super::words::{NONE, mib, millis, or_none, percent, rate, state};
use super::{Row, Tone};
use crate::reply::Members;
use crate::table::flatten;
use crate::when;

pub fn rows(server: &Server, width: usize, now: u64) -> Vec<Row> {
    let told = &server.told;
    let mut rows = vec![life(server, now)];
    rows.extend(last_error(told, server));
    rows.push(Row::new("restarts   ", restarts(told)));
    rows.push(Row::new("process    ", process(told)));
    rows.push(Row::new("", ""));
    rows.extend(calls(server, width));
    rows.push(Row::new("", ""));
    rows.extend(usage(told));
    rows.push(Row::new("sandbox    ", sandbox(told)));
    rows.into_iter().flat_map(|row| row.wrapped(width)).collect()
}

fn number(told: &Members, name: &str) -> u64 {
    told.number(name).unwrap_or_default()
}

fn life(server: &Server, now: u64) -> Row {
    let since = number(&server.told, "since");
    let clock = when::utc(since);
    let clock = clock.get(..19).unwrap_or_default();
    let text = format!("{} since {clock}Z ({})", state(server, now), when::ago(since, now));
    Row::new("state      ", text).toned(super::super::draw::tone(&server.state))
}

fn last_error(told: &Members, server: &Server) -> Option<Row> {
    let error = flatten(&told.text("last_error"));
    let tone = if server.is_running() { Tone::Plain } else { Tone::Bad };
    let cause = flatten(&told.text("last_cause"));
    (!error.is_empty()).then(|| Row::new("last error ", format!("{error} ({cause})")).toned(tone))
}

fn restarts(told: &Members) -> String {
    format!("{}; {} without a stable minute", number(told, "restarts"), number(told, "attempt"))
}

fn process(told: &Members) -> String {
    let runner = told.number("runner_pid").map(|pid| format!(", its runner {pid}")).unwrap_or_default();
    let ipc =
        told.number("ipc_us").map(|us| format!(", {} ms to it and back", millis(us))).unwrap_or_default();
    match told.number("pid") {
        Some(pid) => format!("{pid}{runner}{ipc}"),
        None => NONE.into(),
    }
}

fn calls(server: &Server, width: usize) -> Vec<Row> {
    let counts = server.told.object("calls");
    let (took, queued) = (counts.object("durationUs"), counts.object("queuedUs"));
    let quantile = |times: &Members, name: &str| or_none(times.number(name), millis);
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
        Row::new("calls      ", bars(&server.history.rates(graph))).toned(Tone::Good),
        Row::new("latency    ", bars(&server.history.means(graph))).toned(Tone::Waiting),
    ];
    rows.push(Row::new("in all     ", format!("{} calls, {}", number(&counts, "calls"), failures(&counts))));
    if number(&counts, "calls") > 0 {
        let of = |times: &Members| {
            format!(
                "p50 {}, p99 {}, longest {} ms",
                quantile(times, "p50"),
                quantile(times, "p99"),
                quantile(times, "max")
            )
        };
        rows.push(Row::new("took       ", of(&took)));
        rows.push(Row::new("in a queue ", of(&queued)));
    }
    rows
}

fn failures(counts: &Members) -> String {
    let codes = counts.value("failuresByCode");
    let codes: Vec<_> = codes
        .as_object()
        .into_iter()
        .flatten()
        .map(|(code, number)| format!("{number} {}", flatten(code)))
        .collect();
    let failed = match number(counts, "failures") {
        0 => "none failed".into(),
        failed => format!("{failed} failed: {}", codes.join(", ")),
    };
    match number(counts, "toolErrors") {
        0 => failed,
        errors => format!("{failed}; {errors} with a tool's error"),
    }
}

fn usage(told: &Members) -> Vec<Row> {
    let usage = told.object("usage");
    let Some(memory) = usage.number("memory") else { return vec![Row::new("memory     ", NONE)] };
    let age = number(&usage, "age_ms") / 1000;
    let count = |name: &str| number(&usage, name);
    vec![
        Row::new("memory     ", format!("{} MiB, {age} s ago", mib(memory))),
        Row::new(
            "processor  ",
            format!(
                "{} % of one, {} s since it began",
                or_none(usage.number("cpu_permille"), percent),
                count("cpu_ms") / 1000
            ),
        ),
        Row::new(
            "has        ",
            format!(
                "{} processes, {} threads, {} open files",
                count("processes"),
                count("threads"),
                count("open_files")
            ),
        ),
    ]
}

fn sandbox(told: &Members) -> String {
    match flatten(&told.text("sandbox")) {
        level if level.is_empty() => "known once it was started".into(),
        level => format!("{level}, held by {}", flatten(&told.text("sandbox_held_by"))),
    }
}
