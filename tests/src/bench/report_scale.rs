//! What much of everything costs, as Markdown tables, with the goals beside it.
//!
//! Owns these goals, and what counts as the cost of one more. Must not measure or judge, as `report`.

use crate::beside::{Beside, FLOOD};
use crate::crowd::Crowd;
use crate::growth::Size;
use crate::loud::{Loud, UNREAD};
use crate::ready::Ready;
use crate::scale::Figures;
use crate::setup::IN_FLIGHT;
use crate::shelf::{SEEN, Shelf};
use crate::soak::Look;
use crate::stats::{least, median, percentile, slope};
use crate::table::{line, row};

/// The most that a call beside a flood takes, as a multiple of the same over relays.
const BESIDE_GOAL: &str = "≤ 2 × relays";

/// From the spawn of a runner to its first message, in milliseconds.
const READY_GOAL: &str = "≤ 2";

/// The most that all runners and inits hold together, in KiB, and of how many servers.
const RUNNERS_GOAL: (usize, &str) = (50, "≤ 12288");

/// The slope of the soak is counted in KiB per so many calls.
const SLOPE_CALLS: f64 = 100_000.0;

/// Everything about scale.
pub fn scale(figures: &Figures) -> String {
    let mut out = String::new();
    beside(&mut out, &figures.beside);
    ready(&mut out, &figures.ready);
    growth(&mut out, &figures.growth);
    crowd(&mut out, &figures.crowd);
    shelf(&mut out, &figures.shelf);
    soak(&mut out, &figures.soak);
    loud(&mut out, &figures.loud);
    out
}

fn beside(out: &mut String, [relays, harbor]: &[Beside; 2]) {
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
    row(out, &["setup", "flood", "best", "median", "× without", "× relays", "flood, MB/s", "goal"]);
    row(out, &["---", "---", "---:", "---:", "---:", "---:", "---:", "---:"]);
    for (way, goal) in [(relays, ""), (harbor, BESIDE_GOAL)] {
        let cells = |times: &[f64], to: &[f64]| {
            [least(times.iter().copied()), median(times.iter().copied())]
                .map(|time| format!("{time:.1}"))
                .into_iter()
                .chain([ratios(times, &way.quiet), ratios(times, to)])
                .collect::<Vec<_>>()
        };
        let quiet = cells(&way.quiet, &relays.quiet);
        row(out, &[way.name, "no", &quiet[0], &quiet[1], &quiet[2], &quiet[3], "", ""]);
        let flooded = cells(&way.flooded, &relays.flooded);
        let rate = format!("{:.0}", median(way.rates.iter().copied()) * 65_536.0 / 1e6);
        row(out, &[way.name, "yes", &flooded[0], &flooded[1], &flooded[2], &flooded[3], &rate, goal]);
    }
    line(out, "");
}

/// The median of the ratios within each repetition, so that slow seconds cancel out.
fn ratios(of: &[f64], to: &[f64]) -> String {
    format!("{:.2}", median(of.iter().zip(to).map(|(of, to)| of / to)))
}

fn ready(out: &mut String, heaps: &[Ready]) {
    line(out, "### Scale: from the spawn of a runner to its first message\n");
    line(
        out,
        "In ms. Started by the driver as the bridge does it, in turn from a small heap and with 100 MB more in use.\n",
    );
    row(out, &["heap", "starts", "best", "p50", "p99", "goal (p50)"]);
    row(out, &["---", "---:", "---:", "---:", "---:", "---:"]);
    for Ready { heap, times } in heaps {
        let part = |part| format!("{:.2}", percentile(times.iter().copied(), part));
        let best = format!("{:.2}", least(times.iter().copied()));
        row(out, &[*heap, &times.len().to_string(), &best, &part(0.5), &part(0.99), READY_GOAL]);
    }
    line(out, "");
}

fn growth(out: &mut String, sizes: &[Size]) {
    line(out, "### Scale: servers under one bridge\n");
    line(
        out,
        "All run: from the start of the bridge until the last one runs, median. Memory: PSS when all are idle; that of",
    );
    line(
        out,
        "runners has their inits in it where this user may see them. Call: p50 of 100 B to one of them. The last row is",
    );
    line(
        out,
        "the cost of one more, by the straight line through the rows; in brackets the last row to the line at its place.\n",
    );
    row(out, &["servers", "all run, ms", "bridge, KiB", "runners, KiB", "call, µs", "goal (runners)"]);
    row(out, &["---:", "---:", "---:", "---:", "---:", "---:"]);
    let figures: Vec<_> = sizes.iter().map(|size| (size.servers, of_size(size))).collect();
    for (servers, figures) in &figures {
        let goal = if *servers == RUNNERS_GOAL.0 { RUNNERS_GOAL.1 } else { "" };
        let [ready, bridge, runners, call] = figures;
        let cells =
            [format!("{ready:.0}"), format!("{bridge:.0}"), format!("{runners:.0}"), format!("{call:.1}")];
        row(out, &[&servers.to_string(), &cells[0], &cells[1], &cells[2], &cells[3], goal]);
    }
    let [ready, bridge, runners, call] = one_more(&figures);
    row(out, &["one more", &ready, &bridge, &runners, &call, ""]);
    line(out, "");
}

fn of_size(size: &Size) -> [f64; 4] {
    let ready = median(size.times.iter().copied());
    // What a process holds is far below what a float counts exactly.
    [ready, size.bridge.pss as f64, size.runners.pss as f64, size.call]
}

fn crowd(out: &mut String, crowds: &[Crowd]) {
    line(out, "### Scale: clients at once\n");
    line(
        out,
        "Each on a socket and in a thread of its own, with one 100 B call open, all to one server; medians of the rounds.",
    );
    line(out, "Call: p50 of one client. Memory: PSS of the bridge. The last row as above.\n");
    row(out, &["clients", "calls/s", "call, µs", "bridge, KiB"]);
    row(out, &["---:", "---:", "---:", "---:"]);
    let of = |crowd: &Crowd| {
        [median(crowd.rates.iter().copied()), median(crowd.times.iter().copied()), crowd.bridge.pss as f64]
    };
    let figures: Vec<_> = crowds.iter().map(|crowd| (crowd.clients, of(crowd))).collect();
    for (clients, [rate, call, bridge]) in &figures {
        row(out, &[clients.to_string(), format!("{rate:.0}"), format!("{call:.1}"), format!("{bridge:.0}")]);
    }
    let [_, call, bridge] = one_more(&figures);
    row(out, &["one more", "", &call, &bridge]);
    line(out, "");
}

fn shelf(out: &mut String, shelves: &[Shelf]) {
    line(out, "### Scale: tools that the bridge knows of\n");
    line(
        out,
        &format!(
            "Call: p50 of 100 B to a server beside them. List: p50 of `host_list_tools` for an origin that may see {SEEN} of"
        ),
    );
    line(out, "them. Memory: PSS of the bridge. The last row as above, for 1,000 tools.\n");
    row(out, &["tools", "call, µs", "list, µs", "bridge, KiB"]);
    row(out, &["---:", "---:", "---:", "---:"]);
    let of = |shelf: &Shelf| [shelf.call, shelf.list, shelf.bridge.pss as f64];
    for (tools, [call, list, bridge]) in shelves.iter().map(|shelf| (shelf.tools, of(shelf))) {
        row(out, &[tools.to_string(), format!("{call:.1}"), format!("{list:.1}"), format!("{bridge:.0}")]);
    }
    let thousands = |shelf: &Shelf| shelf.tools as f64 / 1e3;
    let [call, list, bridge] =
        rises(&shelves.iter().map(|shelf| (thousands(shelf), of(shelf))).collect::<Vec<_>>());
    row(out, &["1,000 more", &call, &list, &bridge]);
    line(out, "");
}

fn soak(out: &mut String, looks: &[Look]) {
    line(out, "### Scale: a soak\n");
    line(
        out,
        &format!("100 B calls, {IN_FLIGHT} in flight; private dirty memory in KiB whenever none was open.\n"),
    );
    row(out, &["calls", "calls/s", "bridge", "runner"]);
    row(out, &["---:", "---:", "---:", "---:"]);
    for look in looks {
        let cells = [look.calls.to_string(), format!("{:.0}", look.rate)];
        row(out, &[&cells[0], &cells[1], &look.bridge.to_string(), &look.runner.to_string()]);
    }
    let [bridge, runner] =
        [|look: &Look| look.bridge, |look: &Look| look.runner].map(|of| soak_slope(looks, of));
    line(out, "");
    line(out, "Slope over the last 80 %, by least squares, in KiB per 100,000 calls:");
    line(out, &format!("bridge {bridge:.1}, runner {runner:.1}.\n"));
}

/// How much memory grows over the last 80 % of the looks.
fn soak_slope(looks: &[Look], held: impl Fn(&Look) -> u64) -> f64 {
    let late = looks.iter().skip(looks.len() / 5);
    slope(late.map(|look| (look.calls as f64 / SLOPE_CALLS, held(look) as f64)))
}

fn loud(out: &mut String, all: &[Loud]) {
    line(out, "### Scale: others that do not play along\n");
    line(
        out,
        &format!(
            "p50 in µs of 100 B calls, one at a time, without and beside it. The client asks for {UNREAD} answers of 64 KB and"
        ),
    );
    line(
        out,
        "reads none. Ratio: the median of those within each repetition. Memory: private dirty of the bridge in KiB: before,",
    );
    line(out, "the most beside it, 1 s after the last time.\n");
    row(
        out,
        &[
            "beside",
            "without, best",
            "median",
            "with, best",
            "median",
            "× without",
            "before",
            "most",
            "after",
        ],
    );
    row(out, &["---", "---:", "---:", "---:", "---:", "---:", "---:", "---:", "---:"]);
    for one in all {
        let times = [&one.without, &one.with].map(|times| times.iter().copied());
        let times = times.map(|times| [least(times.clone()), median(times)].map(|time| format!("{time:.1}")));
        let [[without_best, without], [with_best, with]] = times;
        let held = one.held.map(|memory| memory.private_dirty.to_string());
        let ratio = ratios(&one.with, &one.without);
        let [before, most, after] = &held;
        row(out, &[one.name, &without_best, &without, &with_best, &with, &ratio, before, most, after]);
    }
    line(out, "");
}

/// What one more costs, by figure.
fn one_more<const N: usize>(rows: &[(usize, [f64; N])]) -> [String; N] {
    rises(&rows.iter().map(|(count, figures)| (*count as f64, *figures)).collect::<Vec<_>>())
}

/// How much each figure rises with the count, and how the last row compares with that line: 1.0 is on it, more is above.
fn rises<const N: usize>(rows: &[(f64, [f64; N])]) -> [String; N] {
    std::array::from_fn(|at| {
        let points = || rows.iter().map(|(count, figures)| (*count, figures[at]));
        let rise = slope(points());
        let mean = |values: Vec<f64>| values.iter().sum::<f64>() / values.len().max(1) as f64;
        let (x_mean, y_mean) =
            (mean(points().map(|(x, _)| x).collect()), mean(points().map(|(_, y)| y).collect()));
        let bend = points().last().map_or(1.0, |(x, y)| y / (y_mean + rise * (x - x_mean)));
        format!("{rise:.2} ({bend:.2})")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::Memory;

    #[test]
    fn a_flood_is_compared_with_the_same_flood_over_relays() {
        let way = |name, quiet: &[f64], flooded: &[f64]| Beside {
            name,
            quiet: quiet.to_vec(),
            flooded: flooded.to_vec(),
            rates: vec![1_000.0],
        };
        let ways = [way("relays", &[10.0, 20.0], &[20.0, 40.0]), way("Harbor", &[20.0, 30.0], &[60.0, 60.0])];
        let mut out = String::new();
        beside(&mut out, &ways);
        assert!(out.contains("| relays | yes | 20.0 | 40.0 | 2.00 | 1.00 | 66 |  |"), "{out}");
        assert!(out.contains("| Harbor | no | 20.0 | 30.0 | 1.00 | 2.00 |  |  |"), "{out}");
        assert!(out.contains("| Harbor | yes | 60.0 | 60.0 | 3.00 | 3.00 | 66 | ≤ 2 × relays |"), "{out}");
    }

    #[test]
    fn only_fifty_servers_have_a_goal_and_the_last_row_is_the_cost_of_one_more() {
        let size = |servers: usize| Size {
            servers,
            times: vec![servers as f64 * 3.0],
            bridge: Memory { pss: 1_000 + 10 * servers as u64, private_dirty: 0 },
            runners: Memory { pss: 200 * servers as u64, private_dirty: 0 },
            call: 90.0,
        };
        let mut out = String::new();
        growth(&mut out, &[size(1), size(50), size(100)]);
        assert!(out.contains("| 1 | 3 | 1010 | 200 | 90.0 |  |"), "{out}");
        assert!(out.contains("| 50 | 150 | 1500 | 10000 | 90.0 | ≤ 12288 |"), "{out}");
        assert!(
            out.contains("| one more | 3.00 (1.00) | 10.00 (1.00) | 200.00 (1.00) | 0.00 (1.00) |  |"),
            "{out}"
        );
    }

    #[test]
    fn what_bends_upwards_is_above_its_line_at_the_end() {
        let [straight, bent] = rises(&[(0.0, [1.0, 0.0]), (1.0, [2.0, 1.0]), (2.0, [3.0, 4.0])]);
        assert_eq!((straight.as_str(), bent.as_str()), ("1.00 (1.00)", "2.00 (1.09)"));
    }

    #[test]
    fn a_soak_has_its_slope_without_the_beginning() {
        let look = |at: usize| Look {
            calls: at * 50_000,
            rate: 1.0,
            bridge: if at < 3 { 10 } else { 1_000 + at as u64 },
            runner: 7,
        };
        let mut out = String::new();
        soak(&mut out, &(1..=10).map(look).collect::<Vec<_>>());
        assert!(out.contains("bridge 2.0, runner 0.0."), "{out}");
        assert!(out.contains("| 500000 | 1 | 1010 | 7 |"), "{out}");
    }
}
