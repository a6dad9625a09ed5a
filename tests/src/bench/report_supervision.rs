//! What supervision does, as Markdown tables, with the goals beside it.
//!
//! Owns these goals, and what is taken off the time to the next answer. Must not measure or judge, as `report`.

use crate::crash::{Crash, Crashes};
use crate::fleet::{Fleet, SERVERS};
use crate::goal::Goal;
use crate::process::Memory;
use crate::report::RUNNER_GOAL;
use crate::stats::{least, median, most, percentile};
use crate::status::Status;
use crate::table::{Page, line, row};
use crate::victims::DELAY_MS;

/// The median from a kill to the error of the open call, in milliseconds.
const ERROR_GOAL: Goal = Goal::at_most(1.0, "");

/// The time from a kill to the next answer, 99 of 100 times, in milliseconds, without what is not Harbor's.
const ANSWER_GOAL: Goal = Goal::below(100.0, "");

/// What all runners and inits of the servers hold together, their shares of shared pages, in KiB.
const FLEET_GOAL: Goal = Goal::at_most(12_288.0, "PSS");

/// The time from the question for the status until its answer, 99 of 100 times, in microseconds.
const STATUS_GOAL: Goal = Goal::below(1_000.0, "");

/// What callers notice of kills.
pub fn crashes(out: &mut Page, all: &[Crashes]) {
    errors(out, all);
    answers(out, all);
}

fn errors(out: &mut Page, all: &[Crashes]) {
    line(out, "### From a kill to the caller's error\n");
    line(out, "In ms, from before kill(2) until the error of the open call had come.\n");
    row(out, &["server", "SIGKILL to", "kills", "p50", "p99", "max", "goal (p50)"]);
    row(out, &["---", "---", "---:", "---:", "---:", "---:", "---:"]);
    for of in all {
        for (whom, crashes) in [("the server", &of.of_server), ("its runner", &of.of_runner)] {
            let times: Vec<_> = crashes.iter().map(|crash| crash.error).collect();
            spread(out, of.name, whom, &times, Some((ERROR_GOAL, 0.5)));
        }
    }
    line(out, "");
}

fn answers(out: &mut Page, all: &[Crashes]) {
    line(out, "### From a kill to the next answer\n");
    line(
        out,
        "In ms. The call is sent right after the error and waits for the restart. Own start: from spawn to the",
    );
    line(out, &format!("answer to `initialize`, without Harbor. Left: without the delay of {DELAY_MS} ms"));
    line(out, "and without the median of the own starts.\n");
    row(out, &["server", "time", "count", "p50", "p99", "max", "goal (p99)"]);
    row(out, &["---", "---", "---:", "---:", "---:", "---:", "---:"]);
    for of in all {
        spread(out, of.name, "its own start", &of.starts, None);
        for (whom, crashes) in [("server", &of.of_server), ("runner", &of.of_runner)] {
            answer_rows(out, of, whom, crashes);
        }
    }
    line(out, "");
}

fn answer_rows(out: &mut Page, of: &Crashes, whom: &str, crashes: &[Crash]) {
    let times: Vec<_> = crashes.iter().map(|crash| crash.answer).collect();
    let not_harbors = DELAY_MS as f64 + median(of.starts.iter().copied());
    let left: Vec<_> = times.iter().map(|time| time - not_harbors).collect();
    spread(out, of.name, &format!("{whom} killed, in all"), &times, None);
    spread(out, of.name, &format!("{whom} killed, left"), &left, Some((ANSWER_GOAL, 0.99)));
}

/// With a goal for so large a part of all.
fn spread(out: &mut Page, name: &str, what: &str, times: &[f64], goal: Option<(Goal, f64)>) {
    let figure = |part| percentile(times.iter().copied(), part);
    let part = |part| format!("{:.2}", figure(part));
    let goal =
        goal.map_or_else(String::new, |(goal, part)| out.goal(Some(goal), figure(part), &[name, what]));
    let count = times.len().to_string();
    row(out, &[name, what, &count, &part(0.5), &part(0.99), &part(1.0), &goal]);
}

/// Many servers at once.
pub fn fleet(out: &mut Page, fleet: &Fleet) {
    line(out, &format!("### {SERVERS} servers that start with the bridge\n"));
    line(out, "In ms, from the start of the bridge until the last one runs.\n");
    row(out, &["starts", "best", "median", "worst"]);
    row(out, &["---:", "---:", "---:", "---:"]);
    let all = || fleet.times.iter().copied();
    let cells = [least(all()), median(all()), most(all())].map(|time| format!("{time:.0}"));
    row(out, &[&fleet.times.len().to_string(), &cells[0], &cells[1], &cells[2]]);
    line(out, "");
    fleet_memory(out, fleet);
}

/// What it costs to ask how all of them are.
pub fn status(out: &mut Page, status: &Status) {
    let Status { running, bytes, .. } = status;
    line(out, &format!("### The status of {SERVERS} servers\n"));
    line(out, &format!("In µs, over the socket; {running} servers run, the answer has {bytes} bytes."));
    line(out, "Left: what is more than the `ping` right before it.\n");
    row(out, &["request", "count", "p50", "p99", "max", "goal (p99)"]);
    row(out, &["---", "---:", "---:", "---:", "---:", "---:"]);
    let left: Vec<_> = status.status.iter().zip(&status.ping).map(|(status, ping)| status - ping).collect();
    for (what, times, goal) in [
        ("ping", &status.ping, None),
        ("status", &status.status, Some(STATUS_GOAL)),
        ("status, left", &left, None),
    ] {
        let figure = |part| percentile(times.iter().copied(), part);
        let part = |part| format!("{:.1}", figure(part));
        let goal = out.goal(goal, figure(0.99), &[what]);
        let count = times.len().to_string();
        row(out, &[what, &count, &part(0.5), &part(0.99), &part(1.0), &goal]);
    }
    line(out, "");
}

fn fleet_memory(out: &mut Page, fleet: &Fleet) {
    line(
        out,
        &format!("In KiB, {SERVERS} idle servers connected; of runners and inits what one of them holds.\n"),
    );
    row(out, &["process", "count", "PSS, median", "private dirty, median", "most", "goal (most)"]);
    row(out, &["---", "---:", "---:", "---:", "---:", "---:"]);
    held(out, "bridge", &[fleet.bridge], None);
    held(out, "runner", &fleet.runners, Some(RUNNER_GOAL));
    if fleet.inits.len() == fleet.runners.len() {
        held(out, "the runner's init", &fleet.inits, None);
        let both: Vec<_> =
            fleet.runners.iter().zip(&fleet.inits).map(|(runner, init)| *runner + *init).collect();
        held(out, "runner and init", &both, None);
        together(out, "all runners and inits", &both);
    } else {
        together(out, "all runners; of their inits only root may know", &fleet.runners);
    }
    line(out, "");
}

fn together(out: &mut Page, what: &str, held: &[Memory]) {
    let sum = |of: fn(&Memory) -> u64| held.iter().map(of).sum::<u64>();
    let (pss, dirty) = (sum(|memory| memory.pss), sum(|memory| memory.private_dirty));
    let goal = out.goal(Some(FLEET_GOAL), pss as f64, &[what]);
    row(out, &[what, &held.len().to_string(), &pss.to_string(), &dirty.to_string(), "", &goal]);
}

fn held(out: &mut Page, what: &str, held: &[Memory], goal: Option<Goal>) {
    let dirty = || held.iter().map(|memory| memory.private_dirty as f64);
    let pss = median(held.iter().map(|memory| memory.pss as f64));
    let cells = [pss, median(dirty()), most(dirty())].map(|kib| format!("{kib:.0}"));
    let goal = out.goal(goal, most(dirty()), &[what]);
    row(out, &[what, &held.len().to_string(), &cells[0], &cells[1], &cells[2], &goal]);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(write: impl FnOnce(&mut Page)) -> String {
        let mut page = Page::default();
        write(&mut page);
        page.take()
    }

    #[test]
    fn a_status_is_shown_beside_the_ping_before_it() {
        let found = Status { ping: vec![10.0, 30.0], status: vec![110.0, 230.0], running: 10, bytes: 7 };
        let text = text(|out| status(out, &found));
        assert!(text.contains("| status | 2 | 110.0 | 230.0 | 230.0 | < 1000 |"), "{text}");
        assert!(text.contains("| status, left | 2 | 100.0 | 200.0 | 200.0 |  |"), "{text}");
    }

    #[test]
    fn what_all_runners_and_inits_hold_is_a_sum() {
        let memory = Memory { pss: 100, private_dirty: 60 };
        let fleet =
            Fleet { times: vec![1.0], bridge: memory, runners: vec![memory; 50], inits: vec![memory; 50] };
        let both = text(|out| super::fleet(out, &fleet));
        let wanted = "| all runners and inits | 50 | 10000 | 6000 |  | ≤ 12288 PSS |";
        assert!(both.contains(wanted), "{both}");
        let alone = text(|out| super::fleet(out, &Fleet { inits: Vec::new(), ..fleet }));
        assert!(alone.contains("| 50 | 5000 | 3000 |"), "{alone}");
    }

    #[test]
    fn delay_and_own_start_are_not_harbors() {
        let crash = Crash { error: 1.5, answer: 130.0 };
        let all = [Crashes {
            name: "slow",
            starts: vec![20.0],
            of_server: vec![crash],
            of_runner: vec![Crash { answer: 140.0, ..crash }],
        }];
        let text = text(|out| crashes(out, &all));
        assert!(text.contains("| slow | the server | 1 | 1.50 | 1.50 | 1.50 | ≤ 1: **missed** |"), "{text}");
        assert!(
            text.contains("| slow | server killed, left | 1 | 10.00 | 10.00 | 10.00 | < 100 |"),
            "{text}"
        );
        assert!(
            text.contains("| slow | runner killed, left | 1 | 20.00 | 20.00 | 20.00 | < 100 |"),
            "{text}"
        );
    }
}
