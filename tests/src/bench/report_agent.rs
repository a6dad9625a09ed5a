//! What a turn of the agent costs, as a Markdown table, with the goals beside it.
//!
//! Owns these goals. Must not measure or judge, as `report`.

use crate::agent::{Figures, MESSAGES, TOOLS};
use crate::goal::Goal;
use crate::stats::{least, median};
use crate::table::{Page, line, row};

/// The most that they may be, in milliseconds.
const ROUNDS: [Goal; 2] = [Goal::at_most(2.0, ""), Goal::at_most(2.0, "")];
const DELTA: Goal = Goal::at_most(1.0, "");
const OPENING: Goal = Goal::at_most(10.0, "");

const ABOUT: &str = "\
A scripted model calls the echo server's tool 20 times and then says something. In ms: the best and the median of the repetitions.
A *round* is the median within a turn, from the end of the model's answer to Harbor's next request; the echo and writing the session
down are in it. A *piece* is one of an answer that comes piece by piece, from its writing to its arrival at who watches.
";

/// Everything about the agent.
pub fn agent(out: &mut Page, figures: &Figures) {
    line(out, "### Agent: a turn\n");
    line(out, ABOUT);
    row(out, &["what", "count", "best", "median", "goal"]);
    row(out, &["---", "---:", "---:", "---:", "---:"]);
    for (at, tools) in TOOLS.into_iter().enumerate() {
        times(out, &format!("a round, {tools} tools"), &figures.rounds[at], Some(ROUNDS[at]));
        times(out, &format!("until the first request, {tools} tools"), &figures.first[at], None);
    }
    times(out, "a piece (p50)", &figures.delays, Some(DELTA));
    times(out, &format!("opening {MESSAGES} messages"), &figures.opening, Some(OPENING));
    line(out, "");
}

/// What is given in microseconds.
fn times(out: &mut Page, what: &str, all: &[f64], goal: Option<Goal>) {
    let millis = || all.iter().map(|time| time / 1e3);
    let [best, middle] = [least(millis()), median(millis())];
    let goal = out.goal(goal, middle, &[what]);
    row(out, &[what, &all.len().to_string(), &format!("{best:.3}"), &format!("{middle:.3}"), &goal]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_too_slow_is_said() {
        let figures = Figures {
            first: [vec![1_000.0], vec![2_000.0]],
            rounds: [vec![1_000.0, 3_000.0, 1_500.0], vec![6_000.0]],
            delays: vec![300.0],
            opening: vec![8_000.0],
        };
        let out = &mut Page::default();
        agent(out, &figures);
        let text = out.take();
        for wanted in [
            "| a round, 40 tools | 3 | 1.000 | 1.500 | ≤ 2 |",
            "| a round, 1000 tools | 1 | 6.000 | 6.000 | ≤ 2: **missed** |",
            "| until the first request, 40 tools | 1 | 1.000 | 1.000 |  |",
            "| a piece (p50) | 1 | 0.300 | 0.300 | ≤ 1 |",
            "| opening 1000 messages | 1 | 8.000 | 8.000 | ≤ 10 |",
        ] {
            assert!(text.contains(wanted), "{wanted}\n{text}");
        }
    }
}
