//! The cost of interpreted servers as Markdown tables, with the goals beside the figures.
//!
//! Owns these goals. Must not measure or judge, as `report`.

use crate::fleet::SERVERS;
use crate::goal::Goal;
use crate::interpreted::{Figures, Fleet, NAMES, Way};
use crate::process::Memory;
use crate::stats::{least, median, most};
use crate::table::{Page, line, row};

/// The most that they may be: a start in milliseconds more than a native one's, a call in times the native one's, what an
/// interpreter holds in KiB; in the order of [`NAMES`].
const STARTS: [Option<Goal>; 3] =
    [None, Some(Goal::at_most(10.0, "more")), Some(Goal::at_most(20.0, "more"))];
const CALLS: [Option<Goal>; 3] =
    [None, Some(Goal::at_most(1.3, "× native")), Some(Goal::at_most(1.3, "× native"))];
const HELD: [Option<Goal>; 3] = [None, Some(Goal::at_most(4_096.0, "")), Some(Goal::at_most(5_120.0, ""))];

/// The most that a script may hold more than an interpreter without one, in KiB.
const OVER_EMPTY: Goal = Goal::at_most(1_536.0, "more");

/// The most that all processes of many scripts may hold, in KiB.
const FLEET: Goal = Goal::at_most(204_800.0, "");

const ABOUT_STARTS: &str = "\
In ms, of a server that the bridge knows; *more* is the median of what it takes more than native in its turn.
";
const ABOUT_CALLS: &str = "\
p50 in µs, over the socket: the best and the median of the repetitions, and the median of the ratios within each.
";
const ABOUT_MEMORY: &str = "\
In KiB, of its own process, 1 s after its tools were listed; *empty* is QuickJS without a script.
";

/// Everything about interpreted servers.
pub fn interpreted(out: &mut Page, Figures { ways, empty, fleet }: &Figures) {
    starts(out, ways);
    calls(out, ways);
    memory(out, ways, empty);
    many(out, fleet);
}

fn starts(out: &mut Page, ways: &[Way; 3]) {
    line(out, "### Interpreted: from a start to the list of tools\n");
    line(out, ABOUT_STARTS);
    row(out, &["server", "count", "best", "median", "more", "goal"]);
    row(out, &["---", "---:", "---:", "---:", "---:", "---:"]);
    for (way, goal) in ways.iter().zip(STARTS) {
        let more = median(way.starts.iter().zip(&ways[0].starts).map(|(of, to)| of - to));
        let all = || way.starts.iter().copied();
        let [best, middle, told] = [least(all()), median(all()), more].map(|time| format!("{time:.1}"));
        let goal = out.goal(goal, more, &[way.name]);
        row(out, &[way.name, &way.starts.len().to_string(), &best, &middle, &told, &goal]);
    }
    line(out, "");
}

fn calls(out: &mut Page, ways: &[Way; 3]) {
    line(out, "### Interpreted: 100 B text, one call at a time\n");
    line(out, ABOUT_CALLS);
    row(out, &["server", "best", "median", "× native", "goal"]);
    row(out, &["---", "---:", "---:", "---:", "---:"]);
    for (way, goal) in ways.iter().zip(CALLS) {
        let ratio = median(way.calls.iter().zip(&ways[0].calls).map(|(of, to)| of / to));
        let all = || way.calls.iter().copied();
        let [best, middle] = [least(all()), median(all())].map(|time| format!("{time:.1}"));
        let goal = out.goal(goal, ratio, &[way.name]);
        row(out, &[way.name, &best, &middle, &format!("{ratio:.2}"), &goal]);
    }
    line(out, "");
}

fn memory(out: &mut Page, ways: &[Way; 3], empty: &[Memory]) {
    line(out, "### Interpreted: memory of an idle server\n");
    line(out, ABOUT_MEMORY);
    row(out, &["process", "looks", "PSS", "private dirty", "goal (PSS)", "more than empty", "goal"]);
    row(out, &["---", "---:", "---:", "---:", "---:", "---:", "---:"]);
    let cells = |held: &[Memory]| {
        let middle = |of: fn(&Memory) -> u64| median(held.iter().map(|memory| of(memory) as f64));
        [middle(|memory| memory.pss), middle(|memory| memory.private_dirty)]
    };
    for (way, goal) in ways.iter().zip(HELD) {
        let [pss, dirty] = cells(&way.held);
        let goal = out.goal(goal, pss, &[way.name]);
        let [more, over] = match way.name == NAMES[1] {
            true => {
                let pairs = way.held.iter().zip(empty);
                let more = median(pairs.map(|(of, to)| of.pss as f64 - to.pss as f64));
                [format!("{more:.0}"), out.goal(Some(OVER_EMPTY), more, &[way.name])]
            }
            false => [String::new(), String::new()],
        };
        let looks = way.held.len().to_string();
        row(out, &[way.name, &looks, &format!("{pss:.0}"), &format!("{dirty:.0}"), &goal, &more, &over]);
    }
    let [pss, dirty] = cells(empty);
    row(out, &["empty", &empty.len().to_string(), &format!("{pss:.0}"), &format!("{dirty:.0}"), "", "", ""]);
    line(out, "");
}

fn many(out: &mut Page, fleet: &Fleet) {
    line(out, &format!("### Interpreted: {SERVERS} scripts that start with the bridge\n"));
    line(out, "In ms, from the start of the bridge until the last one runs.\n");
    row(out, &["starts", "best", "median", "worst"]);
    row(out, &["---:", "---:", "---:", "---:"]);
    let all = || fleet.times.iter().copied();
    let [best, middle, worst] = [least(all()), median(all()), most(all())].map(|time| format!("{time:.0}"));
    row(out, &[&fleet.times.len().to_string(), &best, &middle, &worst]);
    line(out, "\nIn KiB, all of them together, idle.\n");
    row(out, &["processes", "count", "PSS", "private dirty", "goal (PSS)"]);
    row(out, &["---", "---:", "---:", "---:", "---:"]);
    let runners = match fleet.inits == fleet.runners.len() {
        true => "runners and inits",
        false => "runners; of their inits only root may know",
    };
    let together: Vec<_> = [&fleet.runners[..], &fleet.interpreters].concat();
    for (what, held, goal) in [
        (runners, &fleet.runners, None),
        ("interpreters", &fleet.interpreters, None),
        ("together", &together, Some(FLEET)),
    ] {
        let sum = |of: fn(&Memory) -> u64| held.iter().map(of).sum::<u64>();
        let (pss, dirty) = (sum(|memory| memory.pss), sum(|memory| memory.private_dirty));
        let goal = out.goal(goal, pss as f64, &[what]);
        row(out, &[what, &held.len().to_string(), &pss.to_string(), &dirty.to_string(), &goal]);
    }
    line(out, "");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn held(pss: u64) -> Memory {
        Memory { pss, private_dirty: pss / 2 }
    }

    #[test]
    fn each_is_held_against_native_within_its_turn_and_a_script_against_no_script() {
        let way = |at: usize, starts: &[f64], calls: &[f64], pss| Way {
            name: NAMES[at],
            starts: starts.to_vec(),
            calls: calls.to_vec(),
            held: vec![held(pss)],
        };
        let ways = [
            way(0, &[6.0, 40.0, 6.0], &[100.0, 200.0, 100.0], 500),
            way(1, &[15.0, 45.0, 20.0], &[120.0, 240.0, 160.0], 3_500),
            way(2, &[30.0, 65.0, 28.0], &[140.0, 300.0, 140.0], 6_000),
        ];
        let fleet = Fleet {
            times: vec![300.0, 200.0],
            runners: vec![held(300); 2],
            inits: 2,
            interpreters: vec![held(110_000), held(95_000)],
        };
        let out = &mut Page::default();
        interpreted(out, &Figures { ways, empty: vec![held(1_800)], fleet });
        let text = out.take();
        for wanted in [
            "| native | 3 | 6.0 | 6.0 | 0.0 |  |",
            "| JavaScript | 3 | 15.0 | 20.0 | 9.0 | ≤ 10 more |",
            "| WebAssembly | 3 | 28.0 | 30.0 | 24.0 | ≤ 20 more: **missed** |",
            "| native | 100.0 | 100.0 | 1.00 |  |",
            "| JavaScript | 120.0 | 160.0 | 1.20 | ≤ 1.3 × native |",
            "| WebAssembly | 140.0 | 140.0 | 1.40 | ≤ 1.3 × native: **missed** |",
            "| native | 1 | 500 | 250 |  |  |  |",
            "| JavaScript | 1 | 3500 | 1750 | ≤ 4096 | 1700 | ≤ 1536 more: **missed** |",
            "| WebAssembly | 1 | 6000 | 3000 | ≤ 5120: **missed** |  |  |",
            "| empty | 1 | 1800 | 900 |  |  |  |",
            "| 2 | 200 | 300 | 300 |",
            "| runners and inits | 2 | 600 | 300 |  |",
            "| interpreters | 2 | 205000 | 102500 |  |",
            "| together | 4 | 205600 | 102800 | ≤ 204800: **missed** |",
        ] {
            assert!(text.contains(wanted), "{wanted}\n{text}");
        }
    }
}
