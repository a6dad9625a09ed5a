//! Figures as Markdown tables, with the goals beside them.
//!
//! Owns the goals. Must not measure or judge: whether a goal is met is for the reader, since one run on a busy
//! machine proves little.

use crate::calls::{Sample, Samples};
use crate::connect::Connects;
use crate::greed::{Greed, LIMIT, TAKERS};
use crate::memory::Moment;
use crate::process::Memory;
use crate::request::Workload;
use crate::setup::IN_FLIGHT;
use crate::stats::{least, median, most};
use crate::table::{line, row};

/// Place of the setup without anything in between.
const DIRECT: usize = 0;

/// Place of the setup that the others are measured against.
const FLOOR: usize = 1;

/// Place of the moment when a server is connected and nothing was called yet.
const IDLE: usize = 1;

/// The most that a call through Harbor should take, as a multiple of the floor.
pub fn latency_goal(workload: Workload) -> f64 {
    match workload {
        Workload::Small => 1.4,
        Workload::Text => 1.1,
        Workload::Structured => 1.4,
    }
}

/// The least number of small calls per second.
const RATE_GOAL: f64 = 90_000.0;

/// The most processor time per small call, one at a time, in microseconds.
fn cpu_goal(hop: &str) -> Option<f64> {
    match hop {
        "bridge" => Some(25.0),
        "runner" => Some(24.0),
        _ => None,
    }
}

/// The most private dirty memory of an idle runner, in KiB.
pub const RUNNER_GOAL: u64 = 150;

/// The same of the bridge, and kept by either after 8 MB.
const BRIDGE_GOAL: u64 = 8 * 1024;
const KEPT_GOAL: u64 = 1024;

/// Latency, throughput and processor time.
pub fn calls(results: &[Samples]) -> String {
    let mut out = String::new();
    for workload in Workload::ALL {
        latency(&mut out, results, workload);
    }
    rate(&mut out, results);
    cpu(&mut out, results);
    out
}

fn latency(out: &mut String, results: &[Samples], workload: Workload) {
    let of = |sample: &Sample| sample.latency[workload as usize];
    line(out, &format!("### {}, one call at a time\n", workload.title()));
    line(
        out,
        "p50 in µs: the best and the median of the repetitions. Ratios: of the bests, and the median of the ratios",
    );
    line(out, "within each repetition.\n");
    row(out, &["setup", "best", "median", "× direct", "× floor, bests", "× floor", "goal"]);
    row(out, &["---", "---:", "---:", "---:", "---:", "---:", "---:"]);
    let best = |result: &Samples| least(result.samples.iter().map(of));
    for (place, result) in results.iter().enumerate() {
        let goal =
            if place > FLOOR { format!("≤ {} × floor", latency_goal(workload)) } else { String::new() };
        let cells = [
            result.name.to_owned(),
            format!("{:.1}", best(result)),
            format!("{:.1}", median(result.samples.iter().map(of))),
            format!("{:.2}", ratio(result, &results[DIRECT], of)),
            format!("{:.2}", best(result) / best(&results[FLOOR])),
            format!("{:.2}", ratio(result, &results[FLOOR], of)),
            goal,
        ];
        row(out, &cells);
    }
    line(out, "");
}

fn rate(out: &mut String, results: &[Samples]) {
    line(out, &format!("### 100 B text, {IN_FLIGHT} calls in flight\n"));
    row(out, &["setup", "calls/s, best", "calls/s, median", "× floor", "goal"]);
    row(out, &["---", "---:", "---:", "---:", "---:"]);
    for (place, result) in results.iter().enumerate() {
        let all = || result.samples.iter().map(|sample| sample.rate);
        let cells = [
            result.name.to_owned(),
            format!("{:.0}", most(all())),
            format!("{:.0}", median(all())),
            format!("{:.2}", ratio(result, &results[FLOOR], |sample| sample.rate)),
            if place > FLOOR { format!("≥ {RATE_GOAL:.0}") } else { String::new() },
        ];
        row(out, &cells);
    }
    line(out, "");
}

fn cpu(out: &mut String, results: &[Samples]) {
    line(out, "### Processor time per 100 B call\n");
    line(out, "Median over the repetitions in µs, all threads; the goal is for one call at a time.\n");
    row(out, &["setup", "process", "one at a time", &format!("{IN_FLIGHT} in flight"), "goal"]);
    row(out, &["---", "---", "---:", "---:", "---:"]);
    for result in results {
        for (place, hop) in result.hops.iter().enumerate() {
            let alone = median(result.samples.iter().map(|sample| sample.cpu_alone[place]));
            let flood = median(result.samples.iter().map(|sample| sample.cpu_flood[place]));
            let goal = cpu_goal(hop).map_or_else(String::new, |goal| format!("≤ {goal}"));
            row(out, &[result.name, hop, &format!("{alone:.1}"), &format!("{flood:.1}"), &goal]);
        }
    }
    line(out, "");
}

/// The median of the ratios of two setups within each repetition, so that slow seconds cancel out.
fn ratio(of: &Samples, to: &Samples, figure: impl Fn(&Sample) -> f64) -> f64 {
    median(of.samples.iter().zip(&to.samples).map(|(of, to)| figure(of) / figure(to)))
}

/// Time to a list of tools.
pub fn connects(ways: &[Connects]) -> String {
    let mut out = String::new();
    line(&mut out, "### From nothing to a list of tools\n");
    line(&mut out, "In ms; through Harbor from `mcp_connect` sent to its reply, which carries the tools.\n");
    row(&mut out, &["way", "best", "median", "worst"]);
    row(&mut out, &["---", "---:", "---:", "---:"]);
    for way in ways {
        let all = || way.times.iter().copied();
        let cells = [least(all()), median(all()), most(all())].map(|time| format!("{time:.2}"));
        row(&mut out, &[way.name, &cells[0], &cells[1], &cells[2]]);
    }
    line(&mut out, "");
    out
}

/// How far servers got beyond their memory.
pub fn greeds(all: &[Greed]) -> String {
    let mut out = String::new();
    line(&mut out, "### A server that takes too much memory\n");
    let what = "processes take memory as fast as they can, each within its own limit; together they may use";
    line(&mut out, &format!("{TAKERS} {what} {LIMIT} MiB.\n"));
    row(&mut out, &["", "best", "median", "worst"]);
    row(&mut out, &["---", "---:", "---:", "---:"]);
    let mut figures = |name: &str, of: fn(&Greed) -> f64| {
        let all = || all.iter().map(of);
        let cells = [least(all()), median(all()), most(all())].map(|figure| format!("{figure:.0}"));
        row(&mut out, &[name, &cells[0], &cells[1], &cells[2]]);
    };
    figures("MiB when it was killed", |greed| greed.used);
    figures("ms from contact to the end", |greed| greed.lived);
    line(&mut out, "");
    out
}

/// Memory of bridge, runner and init.
pub fn memory(moments: &[Moment]) -> String {
    let mut out = String::new();
    line(&mut out, "### Memory\n");
    line(
        &mut out,
        "In KiB; the proportional set size counts shared pages once among those who share them.\n",
    );
    row(&mut out, &["when", "process", "PSS", "private dirty", "goal (private dirty)"]);
    row(&mut out, &["---", "---", "---:", "---:", "---:"]);
    for (place, moment) in moments.iter().enumerate() {
        memory_row(&mut out, moment.when, "bridge", moment.bridge, Some(BRIDGE_GOAL));
        if let Some(runner) = moment.runner {
            let goal = (place == IDLE).then_some(RUNNER_GOAL);
            memory_row(&mut out, moment.when, "runner", runner, goal);
        }
        if let Some(init) = moment.init {
            memory_row(&mut out, moment.when, "the runner's init", init, None);
        }
    }
    if let [.., before, after] = moments {
        kept(&mut out, "bridge", Some(before.bridge), Some(after.bridge));
        kept(&mut out, "runner", before.runner, after.runner);
    }
    line(&mut out, "");
    out
}

fn memory_row(out: &mut String, when: &str, process: &str, memory: Memory, goal: Option<u64>) {
    let goal = goal.map_or_else(String::new, |goal| format!("≤ {goal}"));
    row(out, &[when, process, &memory.pss.to_string(), &memory.private_dirty.to_string(), &goal]);
}

fn kept(out: &mut String, process: &str, before: Option<Memory>, after: Option<Memory>) {
    let Some((before, after)) = before.zip(after) else { return };
    let cells = [
        after.pss.saturating_sub(before.pss).to_string(),
        after.private_dirty.saturating_sub(before.private_dirty).to_string(),
    ];
    row(out, &["kept of the 8 MB result", process, &cells[0], &cells[1], &format!("≤ {KEPT_GOAL}")]);
}
