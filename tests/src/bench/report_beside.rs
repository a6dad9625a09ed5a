//! What somebody who asks for much costs those beside, as Markdown tables, with the goal beside it.
//!
//! Owns this goal. Must not measure or judge, as `report`.

use crate::beside::{Beside, FLOOD};
use crate::goal::Goal;
use crate::large::Large;
use crate::report_fronts::ratio;
use crate::stats::{least, median, most};
use crate::table::{Page, line, row};

/// The most that a call beside a flood takes, as a multiple of the same over relays.
const BESIDE_GOAL: Goal = Goal::at_most(2.0, "× relays");

/// A flood beside.
pub fn beside(out: &mut Page, [relays, harbor]: &[Beside; 2]) {
    line(out, "### Scale: a flood beside\n");
    line(
        out,
        &format!(
            "Two servers side by side. One has {FLOOD} calls with 64 KB answers in flight all the time. p50 in µs"
        ),
    );
    line(
        out,
        "of 100 B calls to the other, one at a time; ratios are the median of those within each repetition.\n",
    );
    row(out, &["setup", "flood", "best", "median", "p99", "× without", "× relays", "flood, MB/s", "goal"]);
    row(out, &["---", "---", "---:", "---:", "---:", "---:", "---:", "---:", "---:"]);
    for (way, goal) in [(relays, None), (harbor, Some(BESIDE_GOAL))] {
        let cells = |times: &[f64], to: &[f64]| {
            let best = format!("{:.1}", least(times.iter().copied()));
            let p50 = format!("{:.1}", median(times.iter().copied()));
            [best, p50, format!("{:.2}", ratio(times, &way.quiet)), format!("{:.2}", ratio(times, to))]
        };
        let [best, p50, without, to_relays] = cells(&way.quiet, &relays.quiet);
        row(out, &[way.name, "no", &best, &p50, "", &without, &to_relays, "", ""]);
        let [best, p50, without, to_relays] = cells(&way.flooded, &relays.flooded);
        let rate = format!("{:.0}", median(way.rates.iter().copied()) * 65_536.0 / 1e6);
        let goal = out.goal(goal, ratio(&way.flooded, &relays.flooded), &[way.name]);
        let tail = format!("{:.1}", median(way.tails.iter().copied()));
        row(out, &[way.name, "yes", &best, &p50, &tail, &without, &to_relays, &rate, &goal]);
    }
    line(out, "");
}

/// One large message beside.
pub fn large(out: &mut Page, all: &[Large]) {
    line(out, "### Scale: one large message beside small calls\n");
    line(
        out,
        "The longest that the `ping` of another client waits while a call is on its way to the server, and its answer",
    );
    line(out, "back; in ms.\n");
    row(out, &["message", "best", "median", "worst"]);
    row(out, &["---", "---:", "---:", "---:"]);
    for of in all {
        let waits = || of.waits.iter().copied();
        let [best, middle, worst] =
            [least(waits()), median(waits()), most(waits())].map(|wait| format!("{wait:.1}"));
        row(out, &[of.name, &best, &middle, &worst]);
    }
    line(out, "");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_is_compared_with_the_same_flood_over_relays() {
        let way = |name, quiet: &[f64], flooded: &[f64]| Beside {
            name,
            quiet: quiet.to_vec(),
            flooded: flooded.to_vec(),
            tails: flooded.iter().map(|time| 2.0 * time).collect(),
            rates: vec![1_000.0],
        };
        let ways = [way("relays", &[10.0, 20.0], &[20.0, 40.0]), way("Harbor", &[20.0, 30.0], &[60.0, 60.0])];
        let mut page = Page::default();
        beside(&mut page, &ways);
        let out = page.take();
        assert!(out.contains("| relays | yes | 20.0 | 40.0 | 80.0 | 2.00 | 1.00 | 66 |  |"), "{out}");
        assert!(out.contains("| Harbor | no | 20.0 | 30.0 |  | 1.00 | 2.00 |  |  |"), "{out}");
        assert!(
            out.contains(
                "| Harbor | yes | 60.0 | 60.0 | 120.0 | 3.00 | 3.00 | 66 | ≤ 2 × relays: **missed** |"
            ),
            "{out}"
        );
    }

    #[test]
    fn the_waits_are_shown_from_best_to_worst() {
        let mut page = Page::default();
        large(&mut page, &[Large { name: "numbers", waits: vec![3.0, 1.0, 2.0] }]);
        let out = page.take();
        assert!(out.contains("| numbers | 1.0 | 2.0 | 3.0 |"), "{out}");
    }
}
