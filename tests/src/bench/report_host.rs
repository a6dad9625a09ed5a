//! What permissions cost, as Markdown tables, with the goals beside it.
//!
//! Owns these goals and the words for what is asked. Must not measure or judge, as `report`.

use crate::goal::Goal;
use crate::grants::{ORIGINS, SERVERS, TOOLS};
use crate::host::{BEGINNING, Figures, Question, Starts, Timed, WHOLE};
use crate::path::{WORKLOADS, Way};
use crate::process::Memory;
use crate::stats::{least, median, most, percentile};
use crate::table::{Page, line, row};

/// The most that a decision may take, 99 of 100 times, in microseconds.
const GOAL: Goal = Goal::below(1_000.0, "");

/// Place of the setup without anything in between.
const DIRECT: usize = 0;

/// Place of the setup that differs from the one for an origin in nothing but who asks.
const OWNER: usize = 1;

const QUESTIONS: &str = "\
In µs. *The decision alone* is made in the driver, by the bridge's code with the same grants: a check; for a list, every
tool is held against the permissions to list and to call, and what they cover is put together. The rest is asked over
stdio. A reply begins when the bridge has decided and has written all of it into its queue; after that it is the pipe
and the driver that reads it. With all tools the reply has about 6 MB: to write so much into fresh memory takes longer
than the goal of the decision.
";

const PATH: &str = "\
p50 in µs, all by sockets of the bridge that has the grants and tools: the best and the median of the repetitions;
ratios are the median of the ratios within each repetition. Then the bridge's processor time for a call, all threads,
median in µs.
";

/// Everything about the host.
pub fn host(out: &mut Page, figures: &Figures) {
    questions(out, &figures.timed);
    starts(out, &figures.starts);
    memory(out, figures);
    path(out, &figures.path);
}

fn questions(out: &mut Page, timed: &[Timed]) {
    line(out, &format!("### Host: {ORIGINS} grants, {} tools\n", SERVERS * TOOLS));
    line(out, QUESTIONS);
    row(out, &["question", "time", "count", "p50", "p99", "max", "goal (p99)"]);
    row(out, &["---", "---", "---:", "---:", "---:", "---:", "---:"]);
    let questions =
        [Question::SameOrigin, Question::AnyOrigin, Question::Some, Question::SomeAsleep, Question::All];
    for question in questions {
        for timed in timed.iter().filter(|timed| timed.question == question) {
            let figure = |part| percentile(timed.times.iter().copied(), part);
            let part = |part| format!("{:.1}", figure(part));
            let goal = (!is_about_bytes(timed)).then_some(GOAL);
            let goal = out.goal(goal, figure(0.99), &[words(question), timed.what]);
            let count = timed.times.len().to_string();
            row(out, &[words(question), timed.what, &count, &part(0.5), &part(0.99), &part(1.0), &goal]);
        }
    }
    line(out, "");
}

/// Whether most of the time goes into carrying the reply, not into deciding about it.
fn is_about_bytes(timed: &Timed) -> bool {
    timed.what == WHOLE || (timed.what == BEGINNING && timed.question == Question::All)
}

fn words(question: Question) -> &'static str {
    match question {
        Question::SameOrigin => "check: one origin with a list of 1,000 tools",
        Question::AnyOrigin => "check: another origin each time",
        Question::Some => "list: 1,000 of the tools",
        Question::SomeAsleep => "list: the same, and no server runs",
        Question::All => "list: all tools",
    }
}

fn starts(out: &mut Page, all: &[Starts]) {
    line(out, "### Host: start of a bridge\n");
    line(out, "In ms, from spawn to the first answer.\n");
    row(out, &["home", "starts", "best", "median", "worst"]);
    row(out, &["---", "---:", "---:", "---:", "---:"]);
    for of in all {
        let times = || of.times.iter().copied();
        let cells = [least(times()), median(times()), most(times())].map(|time| format!("{time:.1}"));
        row(out, &[of.home, &of.times.len().to_string(), &cells[0], &cells[1], &cells[2]]);
    }
    line(out, "");
}

fn memory(out: &mut Page, figures: &Figures) {
    line(out, "### Host: memory of the bridge\n");
    line(out, "In KiB, 1 s after.\n");
    row(out, &["when", "PSS", "private dirty"]);
    row(out, &["---", "---:", "---:"]);
    let mut held = |when: &str, memory: Memory| {
        row(out, &[when, &memory.pss.to_string(), &memory.private_dirty.to_string()]);
    };
    figures.starts.iter().for_each(|of| held(&format!("started: {}", of.home), of.held));
    let [connected, asked] = figures.held;
    held(&format!("{SERVERS} servers with {TOOLS} tools each connected"), connected);
    held("all questions asked", asked);
    line(out, "");
}

fn path(out: &mut Page, ways: &[Way]) {
    line(out, "### Host: a call for an origin, one at a time\n");
    line(out, PATH);
    row(out, &["call", "setup", "best", "median", "× direct", "× the owner's", "processor time"]);
    row(out, &["---", "---", "---:", "---:", "---:", "---:", "---:"]);
    for ways in ways.chunks(ways.len() / WORKLOADS.len()) {
        for way in ways {
            let cells = [
                way.workload.title().to_owned(),
                way.name.to_owned(),
                format!("{:.1}", least(way.times.iter().copied())),
                format!("{:.1}", median(way.times.iter().copied())),
                format!("{:.2}", ratio(way, &ways[DIRECT])),
                format!("{:.2}", ratio(way, &ways[OWNER])),
                if way.cpu.is_empty() {
                    String::new()
                } else {
                    format!("{:.1}", median(way.cpu.iter().copied()))
                },
            ];
            row(out, &cells);
        }
    }
    line(out, "");
}

/// The median of the ratios of two setups within each repetition, so that slow seconds cancel out.
fn ratio(of: &Way, to: &Way) -> f64 {
    median(of.times.iter().zip(&to.times).map(|(of, to)| of / to))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_goal_is_for_decisions_and_not_for_bytes() {
        let of = |question, what| Timed { question, what, times: vec![2.0, 1.0] };
        let out = &mut Page::default();
        let timed = [of(Question::Some, BEGINNING), of(Question::All, BEGINNING), of(Question::All, WHOLE)];
        questions(out, &timed);
        let text = out.take();
        let rows: Vec<_> = text.lines().filter(|line| line.starts_with("| list")).collect();
        assert_eq!(
            rows,
            [
                "| list: 1,000 of the tools | until the reply begins | 2 | 1.0 | 2.0 | 2.0 | < 1000 |",
                "| list: all tools | until the reply begins | 2 | 1.0 | 2.0 | 2.0 |  |",
                "| list: all tools | until the reply has come | 2 | 1.0 | 2.0 | 2.0 |  |",
            ]
        );
    }

    #[test]
    fn a_call_is_compared_within_each_repetition() {
        let way = |name, times: &[f64]| Way {
            workload: WORKLOADS[0],
            name,
            times: times.to_vec(),
            cpu: Vec::new(),
        };
        let of = [way("direct", &[1.0, 10.0, 1.0]), way("owner", &[2.0, 20.0, 4.0])];
        assert_eq!((ratio(&of[1], &of[0]), ratio(&of[0], &of[0])), (2.0, 1.0));
    }
}
