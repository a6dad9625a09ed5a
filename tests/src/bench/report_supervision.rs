//! What supervision does, as Markdown tables, with the goals beside it.
//!
//! Owns these goals, and what is taken off the time to the next answer. Must not measure or judge, as `report`.

use crate::crash::{Crash, Crashes};
use crate::fleet::{Fleet, SERVERS};
use crate::process::Memory;
use crate::report::RUNNER_GOAL;
use crate::stats::{least, median, most, percentile};
use crate::status::Status;
use crate::table::{line, row};
use crate::victims::DELAY_MS;

/// The median from a kill to the error of the open call, in milliseconds.
const ERROR_GOAL: &str = "p50 ≤ 1";

/// From a kill to the next answer, in milliseconds, without what is not Harbor's.
const ANSWER_GOAL: &str = "< 100";

/// What all runners and inits of the servers hold together, their shares of shared pages, in KiB.
const FLEET_GOAL: u64 = 12 * 1024;

/// From the question for the status until its answer, in microseconds.
const STATUS_GOAL: &str = "< 1000";

/// What callers notice of kills.
pub fn crashes(all: &[Crashes]) -> String {
    let mut out = String::new();
    errors(&mut out, all);
    answers(&mut out, all);
    out
}

fn errors(out: &mut String, all: &[Crashes]) {
    line(out, "### From a kill to the caller's error\n");
    line(out, "In ms, from before kill(2) until the error of the open call had come.\n");
    row(out, &["server", "SIGKILL to", "kills", "p50", "p99", "max", "goal"]);
    row(out, &["---", "---", "---:", "---:", "---:", "---:", "---:"]);
    for of in all {
        for (whom, crashes) in [("the server", &of.of_server), ("its runner", &of.of_runner)] {
            let times: Vec<_> = crashes.iter().map(|crash| crash.error).collect();
            spread(out, of.name, whom, &times, ERROR_GOAL);
        }
    }
    line(out, "");
}

fn answers(out: &mut String, all: &[Crashes]) {
    line(out, "### From a kill to the next answer\n");
    line(
        out,
        "In ms. The call is sent right after the error and waits for the restart. Own start: from spawn to the",
    );
    line(out, &format!("answer to `initialize`, without Harbor. Left: without the delay of {DELAY_MS} ms"));
    line(out, "and without the median of the own starts.\n");
    row(out, &["server", "time", "count", "p50", "p99", "max", "goal"]);
    row(out, &["---", "---", "---:", "---:", "---:", "---:", "---:"]);
    for of in all {
        spread(out, of.name, "its own start", &of.starts, "");
        for (whom, crashes) in [("server", &of.of_server), ("runner", &of.of_runner)] {
            answer_rows(out, of, whom, crashes);
        }
    }
    line(out, "");
}

fn answer_rows(out: &mut String, of: &Crashes, whom: &str, crashes: &[Crash]) {
    let times: Vec<_> = crashes.iter().map(|crash| crash.answer).collect();
    let not_harbors = DELAY_MS as f64 + median(of.starts.iter().copied());
    let left: Vec<_> = times.iter().map(|time| time - not_harbors).collect();
    spread(out, of.name, &format!("{whom} killed, in all"), &times, "");
    spread(out, of.name, &format!("{whom} killed, left"), &left, ANSWER_GOAL);
}

fn spread(out: &mut String, name: &str, what: &str, times: &[f64], goal: &str) {
    let part = |part| format!("{:.2}", percentile(times.iter().copied(), part));
    let count = times.len().to_string();
    row(out, &[name, what, &count, &part(0.5), &part(0.99), &part(1.0), goal]);
}

/// Many servers at once.
pub fn fleet(fleet: &Fleet) -> String {
    let mut out = String::new();
    line(&mut out, &format!("### {SERVERS} servers that start with the bridge\n"));
    line(&mut out, "In ms, from the start of the bridge until the last one runs.\n");
    row(&mut out, &["starts", "best", "median", "worst"]);
    row(&mut out, &["---:", "---:", "---:", "---:"]);
    let all = || fleet.times.iter().copied();
    let cells = [least(all()), median(all()), most(all())].map(|time| format!("{time:.0}"));
    row(&mut out, &[&fleet.times.len().to_string(), &cells[0], &cells[1], &cells[2]]);
    line(&mut out, "");
    fleet_memory(&mut out, fleet);
    out
}

/// What it costs to ask how all of them are.
pub fn status(status: &Status) -> String {
    let mut out = String::new();
    let Status { running, bytes, .. } = status;
    line(&mut out, &format!("### The status of {SERVERS} servers\n"));
    line(&mut out, &format!("In µs, over the socket; {running} servers run, the answer has {bytes} bytes."));
    line(&mut out, "Left: what is more than the `ping` right before it.\n");
    row(&mut out, &["request", "count", "p50", "p99", "max", "goal"]);
    row(&mut out, &["---", "---:", "---:", "---:", "---:", "---:"]);
    let left: Vec<_> = status.status.iter().zip(&status.ping).map(|(status, ping)| status - ping).collect();
    for (what, times, goal) in
        [("ping", &status.ping, ""), ("status", &status.status, STATUS_GOAL), ("status, left", &left, "")]
    {
        let part = |part| format!("{:.1}", percentile(times.iter().copied(), part));
        let count = times.len().to_string();
        row(&mut out, &[what, &count, &part(0.5), &part(0.99), &part(1.0), goal]);
    }
    line(&mut out, "");
    out
}

fn fleet_memory(out: &mut String, fleet: &Fleet) {
    line(
        out,
        &format!("In KiB, {SERVERS} idle servers connected; of runners and inits what one of them holds.\n"),
    );
    row(out, &["process", "count", "PSS, median", "private dirty, median", "most", "goal (private dirty)"]);
    row(out, &["---", "---:", "---:", "---:", "---:", "---:"]);
    held(out, "bridge", &[fleet.bridge], "");
    held(out, "runner", &fleet.runners, &format!("≤ {RUNNER_GOAL}"));
    if fleet.inits.len() == fleet.runners.len() {
        held(out, "the runner's init", &fleet.inits, "");
        let both: Vec<_> =
            fleet.runners.iter().zip(&fleet.inits).map(|(runner, init)| *runner + *init).collect();
        held(out, "runner and init", &both, "");
        together(out, "all runners and inits", &both);
    } else {
        together(out, "all runners; of their inits only root may know", &fleet.runners);
    }
    line(out, "");
}

fn together(out: &mut String, what: &str, held: &[Memory]) {
    let sum = |of: fn(&Memory) -> u64| held.iter().map(of).sum::<u64>().to_string();
    let (pss, dirty) = (sum(|memory| memory.pss), sum(|memory| memory.private_dirty));
    row(out, &[what, &held.len().to_string(), &pss, &dirty, "", &format!("PSS ≤ {FLEET_GOAL}")]);
}

fn held(out: &mut String, what: &str, held: &[Memory], goal: &str) {
    let dirty = || held.iter().map(|memory| memory.private_dirty as f64);
    let pss = median(held.iter().map(|memory| memory.pss as f64));
    let cells = [pss, median(dirty()), most(dirty())].map(|kib| format!("{kib:.0}"));
    row(out, &[what, &held.len().to_string(), &cells[0], &cells[1], &cells[2], goal]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_is_shown_beside_the_ping_before_it() {
        let found = Status { ping: vec![10.0, 30.0], status: vec![110.0, 230.0], running: 10, bytes: 7 };
        let text = status(&found);
        assert!(text.contains("| status | 2 | 110.0 | 230.0 | 230.0 | < 1000 |"), "{text}");
        assert!(text.contains("| status, left | 2 | 100.0 | 200.0 | 200.0 |  |"), "{text}");
    }

    #[test]
    fn what_all_runners_and_inits_hold_is_a_sum() {
        let memory = Memory { pss: 100, private_dirty: 60 };
        let fleet =
            Fleet { times: vec![1.0], bridge: memory, runners: vec![memory; 50], inits: vec![memory; 50] };
        let text = super::fleet(&fleet);
        let wanted = "| all runners and inits | 50 | 10000 | 6000 |  | PSS ≤ 12288 |";
        assert!(text.contains(wanted), "{text}");
        assert!(super::fleet(&Fleet { inits: Vec::new(), ..fleet }).contains("| 50 | 5000 | 3000 |"));
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
        let text = crashes(&all);
        assert!(text.contains("| slow | the server | 1 | 1.50 | 1.50 | 1.50 | p50 ≤ 1 |"), "{text}");
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
