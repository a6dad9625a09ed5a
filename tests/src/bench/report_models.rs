//! What a language model costs through Harbor, as Markdown tables, with the goals beside it.
//!
//! Owns these goals. Must not measure or judge, as `report`.

use crate::goal::Goal;
use crate::model_server::{FLOOD, PACED};
use crate::models::{Figures, Way};
use crate::stats::{least, median};
use crate::table::{Page, line, row};

/// The most that the first token comes later, where the worker runs and where it has to be started; the most that a further one
/// does, all in milliseconds.
const WARM: Goal = Goal::at_most(0.5, "more");
const COLD: Goal = Goal::at_most(10.0, "more");
const DELTA: Goal = Goal::at_most(0.15, "more");

/// The least number of pieces per second.
const RATE: Goal = Goal::at_least(200_000.0, "");

/// The most that the worker may hold, and that the bridge and the worker may grow by for an answer under way, in KiB.
const HELD: Goal = Goal::at_most(4_096.0, "");
const STREAM: Goal = Goal::at_most(64.0, "");

const ANSWER: &str = "\
A scripted provider in the driver streams; *direct* is the driver at its socket. In ms: the best and the median of the
repetitions, and the median of what Harbor takes more than direct within each. *Cold* is a new connection, or a bridge";

/// Everything about models.
pub fn models(out: &mut Page, Figures { ways, held, streams }: &Figures) {
    line(out, "### Models: an answer\n");
    line(out, ANSWER);
    line(
        out,
        &format!("that has just been started; a further token is one of {PACED} that come every 2 ms.\n"),
    );
    row(out, &["until", "setup", "count", "best", "median", "more", "goal"]);
    row(out, &["---", "---", "---:", "---:", "---:", "---:", "---:"]);
    times(out, "the first token, warm", ways, |way| &way.warm, WARM);
    times(out, "the first token, cold", ways, |way| &way.cold, COLD);
    times(out, "a further token (p50)", ways, |way| &way.delays, DELTA);
    line(out, "");
    line(out, "### Models: tokens per second\n");
    line(out, &format!("{FLOOD} tokens as fast as they can be written.\n"));
    row(out, &["setup", "median", "× direct", "goal"]);
    row(out, &["---", "---:", "---:", "---:"]);
    for (place, way) in ways.iter().enumerate() {
        let rate = median(way.rates.iter().copied());
        let share = median(way.rates.iter().zip(&ways[0].rates).map(|(of, to)| of / to));
        let goal = out.goal((place > 0).then_some(RATE), rate, &[way.name]);
        row(out, &[way.name, &format!("{rate:.0}"), &format!("{share:.2}"), &goal]);
    }
    line(out, "");
    line(out, "### Models: memory of the worker\n");
    line(out, "In KiB, 1 s after.\n");
    row(out, &["after", "PSS", "private dirty", "goal (PSS)"]);
    row(out, &["---", "---:", "---:", "---:"]);
    for (when, memory) in ["one answer", "all answers"].iter().zip(held) {
        let goal = out.goal(Some(HELD), memory.pss as f64, &[*when]);
        row(out, &[*when, &memory.pss.to_string(), &memory.private_dirty.to_string(), &goal]);
    }
    for (what, grown) in
        ["each answer under way, bridge", "each answer under way, worker"].iter().zip(streams)
    {
        let goal = out.goal(Some(STREAM), *grown, &[*what]);
        row(out, &[*what, &format!("{grown:.1}"), "", &goal]);
    }
    line(out, "");
}

/// A row of times for each way; what they are given in are microseconds.
fn times(out: &mut Page, what: &str, ways: &[Way; 2], of: impl Fn(&Way) -> &Vec<f64>, goal: Goal) {
    let [direct, harbor] = ways;
    for way in ways {
        let all = || of(way).iter().map(|time| time / 1e3);
        let cells = [least(all()), median(all())].map(|time| format!("{time:.3}"));
        let [more, goal] = match way.name == harbor.name {
            true => {
                let more = median(of(harbor).iter().zip(of(direct)).map(|(of, to)| (of - to) / 1e3));
                [format!("{more:.3}"), out.goal(Some(goal), more, &[what])]
            }
            false => [String::new(), String::new()],
        };
        row(out, &[what, way.name, &of(way).len().to_string(), &cells[0], &cells[1], &more, &goal]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::Memory;

    #[test]
    fn what_harbor_takes_more_is_that_within_each_repetition() {
        let way = |name, times: &[f64], rate| Way {
            name,
            warm: times.to_vec(),
            cold: times.to_vec(),
            delays: times.to_vec(),
            rates: vec![rate; times.len()],
        };
        let ways = [
            way("direct", &[1_000.0, 9_000.0, 1_000.0], 900_000.0),
            way("Harbor", &[1_400.0, 9_400.0, 2_500.0], 300_000.0),
        ];
        let held = [3_000, 9_000].map(|pss| Memory { pss, private_dirty: 2_000 });
        let out = &mut Page::default();
        models(out, &Figures { ways, held, streams: [20.0, 70.0] });
        let text = out.take();
        for wanted in [
            "| the first token, warm | direct | 3 | 1.000 | 1.000 |  |  |",
            "| the first token, warm | Harbor | 3 | 1.400 | 2.500 | 0.400 | ≤ 0.5 more |",
            "| the first token, cold | Harbor | 3 | 1.400 | 2.500 | 0.400 | ≤ 10 more |",
            "| a further token (p50) | Harbor | 3 | 1.400 | 2.500 | 0.400 | ≤ 0.15 more: **missed** |",
            "| direct | 900000 | 1.00 |  |",
            "| Harbor | 300000 | 0.33 | ≥ 200000 |",
            "| one answer | 3000 | 2000 | ≤ 4096 |",
            "| all answers | 9000 | 2000 | ≤ 4096: **missed** |",
            "| each answer under way, bridge | 20.0 |  | ≤ 64 |",
            "| each answer under way, worker | 70.0 |  | ≤ 64: **missed** |",
        ] {
            assert!(text.contains(wanted), "{wanted}\n{text}");
        }
    }
}
