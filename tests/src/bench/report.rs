//! Figures as Markdown tables, with the goals beside them.
//!
//! Owns the goals. Must not measure or judge: what misses its goal is marked, and what that means is for the reader, since
//! one run on a busy machine proves little.

use crate::calls::{Sample, Samples};
use crate::connect::Connects;
use crate::goal::Goal;
use crate::greed::{Greed, LIMIT, TAKERS};
use crate::memory::Moment;
use crate::process::Memory;
use crate::request::Workload;
use crate::setup::IN_FLIGHT;
use crate::stats::{least, median, most};
use crate::table::{Page, line, row};

/// Place of the setup without anything in between.
const DIRECT: usize = 0;

/// Place of the setup that the others are measured against.
const FLOOR: usize = 1;

/// Place of the moment when a server is connected and nothing was called yet.
const IDLE: usize = 1;

/// Place of the moment when each of its tools was called.
const CALLED: usize = 2;

/// The most that a call through Harbor should take; the median of the ratios is held against it.
pub fn latency_goal(workload: Workload) -> Goal {
    let times = match workload {
        Workload::Small => 1.4,
        Workload::Text => 1.1,
        Workload::Structured => 1.4,
    };
    Goal::at_most(times, "× floor")
}

/// The least number of small calls per second, the median.
const RATE_GOAL: Goal = Goal::at_least(90_000.0, "");

/// The most processor time per small call, one at a time, in microseconds.
fn cpu_goal(hop: &str) -> Option<Goal> {
    match hop {
        "bridge" => Some(Goal::at_most(25.0, "")),
        "runner" => Some(Goal::at_most(24.0, "")),
        _ => None,
    }
}

/// The most private dirty memory of an idle runner, in KiB.
pub const RUNNER_GOAL: Goal = Goal::at_most(150.0, "");

/// The same once its tools have been called.
const CALLED_GOAL: Goal = Goal::at_most(400.0, "");

/// The same of the bridge, and kept by either after 8 MB.
const BRIDGE_GOAL: Goal = Goal::at_most(8_192.0, "");
const KEPT_GOAL: Goal = Goal::at_most(1_024.0, "");

/// Latency, throughput and processor time.
pub fn calls(out: &mut Page, results: &[Samples]) {
    for workload in Workload::ALL {
        latency(out, results, workload);
    }
    rate(out, results);
    cpu(out, results);
}

fn latency(out: &mut Page, results: &[Samples], workload: Workload) {
    let of = |sample: &Sample| sample.latency[workload as usize];
    line(out, &format!("### {}, one call at a time\n", workload.title()));
    line(
        out,
        "p50 in µs: the best and the median of the repetitions; the median of their p99. Ratios of p50: of the bests, and",
    );
    line(out, "the median of the ratios within each repetition, which the goal is for.\n");
    row(out, &["setup", "best", "median", "p99, median", "× direct", "× floor, bests", "× floor", "goal"]);
    row(out, &["---", "---:", "---:", "---:", "---:", "---:", "---:", "---:"]);
    let best = |result: &Samples| least(result.samples.iter().map(of));
    for (place, result) in results.iter().enumerate() {
        let to_floor = ratio(result, &results[FLOOR], of);
        let goal = (place > FLOOR).then(|| latency_goal(workload));
        let cells = [
            result.name.to_owned(),
            format!("{:.1}", best(result)),
            format!("{:.1}", median(result.samples.iter().map(of))),
            format!("{:.1}", median(result.samples.iter().map(|sample| sample.tails[workload as usize]))),
            format!("{:.2}", ratio(result, &results[DIRECT], of)),
            format!("{:.2}", best(result) / best(&results[FLOOR])),
            format!("{to_floor:.2}"),
            out.goal(goal, to_floor, &[result.name]),
        ];
        row(out, &cells);
    }
    line(out, "");
}

fn rate(out: &mut Page, results: &[Samples]) {
    line(out, &format!("### 100 B text, {IN_FLIGHT} calls in flight\n"));
    row(out, &["setup", "calls/s, best", "calls/s, median", "× floor", "goal (median)"]);
    row(out, &["---", "---:", "---:", "---:", "---:"]);
    for (place, result) in results.iter().enumerate() {
        let all = || result.samples.iter().map(|sample| sample.rate);
        let cells = [
            result.name.to_owned(),
            format!("{:.0}", most(all())),
            format!("{:.0}", median(all())),
            format!("{:.2}", ratio(result, &results[FLOOR], |sample| sample.rate)),
            out.goal((place > FLOOR).then_some(RATE_GOAL), median(all()), &[result.name]),
        ];
        row(out, &cells);
    }
    line(out, "");
}

fn cpu(out: &mut Page, results: &[Samples]) {
    line(out, "### Processor time per 100 B call\n");
    line(out, "Median over the repetitions in µs, all threads; the goal is for one call at a time.\n");
    row(out, &["setup", "process", "one at a time", &format!("{IN_FLIGHT} in flight"), "goal"]);
    row(out, &["---", "---", "---:", "---:", "---:"]);
    for result in results {
        for (place, hop) in result.hops.iter().enumerate() {
            let alone = median(result.samples.iter().map(|sample| sample.cpu_alone[place]));
            let flood = median(result.samples.iter().map(|sample| sample.cpu_flood[place]));
            let goal = out.goal(cpu_goal(hop), alone, &[result.name, hop]);
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
pub fn connects(out: &mut Page, ways: &[Connects]) {
    line(out, "### From nothing to a list of tools\n");
    line(out, "In ms; through Harbor from `mcp_connect` sent to its reply, which carries the tools.\n");
    row(out, &["way", "best", "median", "worst"]);
    row(out, &["---", "---:", "---:", "---:"]);
    for way in ways {
        let all = || way.times.iter().copied();
        let cells = [least(all()), median(all()), most(all())].map(|time| format!("{time:.2}"));
        row(out, &[way.name, &cells[0], &cells[1], &cells[2]]);
    }
    line(out, "");
}

/// How far servers got beyond their memory.
pub fn greeds(out: &mut Page, all: &[Greed]) {
    line(out, "### A server that takes too much memory\n");
    let what = "processes take memory as fast as they can, each within its own limit; together they may use";
    line(out, &format!("{TAKERS} {what} {LIMIT} MiB.\n"));
    row(out, &["", "best", "median", "worst"]);
    row(out, &["---", "---:", "---:", "---:"]);
    let mut figures = |name: &str, of: fn(&Greed) -> f64| {
        let all = || all.iter().map(of);
        let cells = [least(all()), median(all()), most(all())].map(|figure| format!("{figure:.0}"));
        row(out, &[name, &cells[0], &cells[1], &cells[2]]);
    };
    figures("MiB when it was killed", |greed| greed.used);
    figures("ms from contact to the end", |greed| greed.lived);
    line(out, "");
}

/// Memory of bridge, runner and init, and of `harbor mcp` before and after large results.
pub fn memory(out: &mut Page, moments: &[Moment], mcp: [Memory; 2]) {
    line(out, "### Memory\n");
    line(
        out,
        "In KiB; the proportional set size counts shared pages once among those who share them. Kept of a result is what",
    );
    line(out, "there is more than 1 s after traffic.\n");
    row(out, &["when", "process", "PSS", "private dirty", "goal (private dirty)"]);
    row(out, &["---", "---", "---:", "---:", "---:"]);
    for (place, moment) in moments.iter().enumerate() {
        memory_row(out, moment.when, "bridge", moment.bridge, Some(BRIDGE_GOAL));
        if let Some(runner) = moment.runner {
            let goal = match place {
                IDLE => Some(RUNNER_GOAL),
                CALLED => Some(CALLED_GOAL),
                _ => None,
            };
            memory_row(out, moment.when, "runner", runner, goal);
        }
        if let Some(init) = moment.init {
            memory_row(out, moment.when, "the runner's init", init, None);
        }
    }
    if let [.., before, after] = moments {
        kept(out, "bridge", Some(before.bridge), Some(after.bridge));
        kept(out, "runner", before.runner, after.runner);
    }
    let [before, after] = mcp;
    memory_row(out, "1 s after small calls", "harbor mcp", before, None);
    memory_row(out, "1 s after two 8 MB results", "harbor mcp", after, None);
    kept(out, "harbor mcp", Some(before), Some(after));
    line(out, "");
}

fn memory_row(out: &mut Page, when: &str, process: &str, memory: Memory, goal: Option<Goal>) {
    let goal = out.goal(goal, memory.private_dirty as f64, &[when, process]);
    row(out, &[when, process, &memory.pss.to_string(), &memory.private_dirty.to_string(), &goal]);
}

fn kept(out: &mut Page, process: &str, before: Option<Memory>, after: Option<Memory>) {
    let Some((before, after)) = before.zip(after) else { return };
    let kept = Memory {
        pss: after.pss.saturating_sub(before.pss),
        private_dirty: after.private_dirty.saturating_sub(before.private_dirty),
    };
    memory_row(out, "kept of 8 MB results", process, kept, Some(KEPT_GOAL));
}
