//! What much of everything costs, as Markdown tables, with the goals beside it.
//!
//! Owns these goals, and what counts as the cost of one more. Must not measure or judge, as `report`.

use crate::crowd::Crowd;
use crate::goal::Goal;
use crate::growth::Size;
use crate::loud::{Loud, UNREAD};
use crate::ready::Ready;
use crate::report_beside::{beside, large};
use crate::report_fronts::ratio;
use crate::scale::Figures;
use crate::setup::IN_FLIGHT;
use crate::shelf::{SEEN, Shelf};
use crate::soak::Look;
use crate::stats::{least, median, percentile, slope};
use crate::table::{Page, line, row};

/// From the spawn of a runner to its first message, in milliseconds.
const READY_GOAL: Goal = Goal::at_most(2.0, "");

/// The most that all runners and inits hold together, in KiB, and of how many servers.
const RUNNERS_GOAL: (f64, Goal) = (50.0, Goal::at_most(12_288.0, ""));

/// The slope of the soak is counted in KiB per so many calls.
const SLOPE_CALLS: f64 = 100_000.0;

/// The last rows of a curve.
const ONE_MORE: [&str; 2] = ["one more, over all", "one more, at the end"];

const GROWTH: &str = "\
All run: from the start of the bridge until the last one runs, median. Memory: PSS when all are idle; that of inits where
this user may see it. Call: p50 of 100 B to one of them. One more: what each further one costs, by the straight line
through all rows, and from the last but one to the last; the two are the same where the cost is linear.
";

const CROWD: &str = "\
Each on a socket and in a thread of its own, with one 100 B call open, all to one server; medians of the rounds. Call: the
client in the middle. Slowest: the one that waits longest. Both p50. CPU: processor time of the bridge per call, all
threads. Memory: PSS of the bridge. One more as above.
";

/// Everything about scale.
pub fn scale(out: &mut Page, figures: &Figures) {
    beside(out, &figures.beside);
    large(out, &figures.large);
    ready(out, &figures.ready);
    growth(out, &figures.growth);
    crowd(out, &figures.crowd);
    shelf(out, &figures.shelf);
    soak(out, &figures.soak);
    loud(out, &figures.loud);
}

fn ready(out: &mut Page, heaps: &[Ready]) {
    line(out, "### Scale: from the spawn of a runner to its first message\n");
    line(
        out,
        "In ms. Started by the driver as the bridge does it, in turn from a small heap and with 100 MB more in use.\n",
    );
    row(out, &["heap", "starts", "best", "p50", "p99", "goal (p50)"]);
    row(out, &["---", "---:", "---:", "---:", "---:", "---:"]);
    for Ready { heap, times } in heaps {
        let figure = |part| percentile(times.iter().copied(), part);
        let part = |part| format!("{:.2}", figure(part));
        let goal = out.goal(Some(READY_GOAL), figure(0.5), &[*heap]);
        let best = format!("{:.2}", least(times.iter().copied()));
        row(out, &[*heap, &times.len().to_string(), &best, &part(0.5), &part(0.99), &goal]);
    }
    line(out, "");
}

fn growth(out: &mut Page, sizes: &[Size]) {
    line(out, "### Scale: servers under one bridge\n");
    line(out, GROWTH);
    row(
        out,
        &[
            "servers",
            "all run, ms",
            "bridge, KiB",
            "runners, KiB",
            "and inits, KiB",
            "call, µs",
            "goal (both)",
        ],
    );
    row(out, &["---:", "---:", "---:", "---:", "---:", "---:", "---:"]);
    let figures: Vec<_> = sizes.iter().map(|size| (size.servers as f64, of_size(size))).collect();
    for (servers, [ready, bridge, runners, both, call]) in &figures {
        let goal = (*servers == RUNNERS_GOAL.0).then_some(RUNNERS_GOAL.1);
        let goal = out.goal(goal, *both, &[&format!("{servers} servers")]);
        let whole = [servers, ready, bridge, runners, both].map(|figure| format!("{figure:.0}"));
        let [servers, ready, bridge, runners, both] = &whole;
        row(out, &[servers, ready, bridge, runners, both, &format!("{call:.1}"), &goal]);
    }
    for (name, [ready, bridge, runners, both, call]) in ONE_MORE.iter().zip(one_more(&figures)) {
        row(out, &[*name, &ready, &bridge, &runners, &both, &call, ""]);
    }
    line(out, "");
}

fn of_size(size: &Size) -> [f64; 5] {
    let ready = median(size.times.iter().copied());
    let both = size.runners.pss + size.inits.pss;
    // What a process holds is far below what a float counts exactly.
    [ready, size.bridge.pss as f64, size.runners.pss as f64, both as f64, size.call]
}

fn crowd(out: &mut Page, crowds: &[Crowd]) {
    line(out, "### Scale: clients at once\n");
    line(out, CROWD);
    row(out, &["clients", "calls/s", "call, µs", "slowest, µs", "bridge, CPU µs", "bridge, KiB"]);
    row(out, &["---:", "---:", "---:", "---:", "---:", "---:"]);
    let of = |crowd: &Crowd| {
        let [rate, call, slowest, cpu] =
            [&crowd.rates, &crowd.times, &crowd.slowest, &crowd.cpu].map(|all| median(all.iter().copied()));
        (crowd.clients as f64, [rate, call, slowest, cpu, crowd.bridge.pss as f64])
    };
    let figures: Vec<_> = crowds.iter().map(of).collect();
    for (clients, [rate, call, slowest, cpu, bridge]) in &figures {
        let [call, slowest, cpu] = [call, slowest, cpu].map(|time| format!("{time:.1}"));
        row(
            out,
            &[
                &format!("{clients:.0}"),
                &format!("{rate:.0}"),
                &call,
                &slowest,
                &cpu,
                &format!("{bridge:.0}"),
            ],
        );
    }
    for (name, [_, call, slowest, cpu, bridge]) in ONE_MORE.iter().zip(one_more(&figures)) {
        row(out, &[*name, "", &call, &slowest, &cpu, &bridge]);
    }
    line(out, "");
}

fn shelf(out: &mut Page, shelves: &[Shelf]) {
    line(out, "### Scale: tools that the bridge knows of\n");
    line(
        out,
        &format!(
            "Call: p50 of 100 B to a server beside them. List: p50 of `host_list_tools` for an origin that may see {SEEN}"
        ),
    );
    line(out, "of them. Memory: PSS of the bridge. The last two rows as above, for 1,000 tools.\n");
    row(out, &["tools", "call, µs", "list, µs", "bridge, KiB"]);
    row(out, &["---:", "---:", "---:", "---:"]);
    let of = |shelf: &Shelf| (shelf.tools as f64 / 1e3, [shelf.call, shelf.list, shelf.bridge.pss as f64]);
    let figures: Vec<_> = shelves.iter().map(of).collect();
    for (shelf, (_, [call, list, bridge])) in shelves.iter().zip(&figures) {
        row(
            out,
            &[shelf.tools.to_string(), format!("{call:.1}"), format!("{list:.1}"), format!("{bridge:.0}")],
        );
    }
    for (name, [call, list, bridge]) in ONE_MORE.iter().zip(one_more(&figures)) {
        row(out, &[*name, &call, &list, &bridge]);
    }
    line(out, "");
}

fn soak(out: &mut Page, looks: &[Look]) {
    line(out, "### Scale: a soak\n");
    line(
        out,
        &format!(
            "100 B calls, {IN_FLIGHT} in flight. Private dirty memory in KiB while none is open: of the bridge right after a"
        ),
    );
    line(out, "stretch of calls, and of bridge and runner 1 s later.\n");
    row(out, &["calls", "calls/s", "bridge at once", "bridge", "runner"]);
    row(out, &["---:", "---:", "---:", "---:", "---:"]);
    for look in looks {
        let held = [look.at_once, look.bridge, look.runner].map(|kib| kib.to_string());
        row(out, &[&look.calls.to_string(), &format!("{:.0}", look.rate), &held[0], &held[1], &held[2]]);
    }
    let slopes = [|look: &Look| look.bridge, |look: &Look| look.runner].map(|of| soak_slope(looks, of));
    let [bridge, runner] = slopes;
    line(out, "");
    line(out, "Slope of the last two over the last 80 %, by least squares, in KiB per 100,000 calls:");
    line(out, &format!("bridge {bridge:.1}, runner {runner:.1}.\n"));
}

/// How much memory grows over the last 80 % of the looks.
fn soak_slope(looks: &[Look], held: impl Fn(&Look) -> u64) -> f64 {
    let late = looks.iter().skip(looks.len() / 5);
    slope(late.map(|look| (look.calls as f64 / SLOPE_CALLS, held(look) as f64)))
}

fn loud(out: &mut Page, all: &[Loud]) {
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
        let ratio = format!("{:.2}", ratio(&one.with, &one.without));
        let [before, most, after] = &held;
        row(out, &[one.name, &without_best, &without, &with_best, &with, &ratio, before, most, after]);
    }
    line(out, "");
}

/// What one more costs by each figure: by the straight line through all rows, and from the last but one to the last. The
/// two are the same where the cost is linear.
fn one_more<const N: usize>(rows: &[(f64, [f64; N])]) -> [[String; N]; 2] {
    [rows, &rows[rows.len().saturating_sub(2)..]].map(|rows| {
        std::array::from_fn(|at| {
            format!("{:.2}", slope(rows.iter().map(|(count, figures)| (*count, figures[at]))))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::Memory;

    #[test]
    fn only_fifty_servers_have_a_goal_and_the_last_rows_are_the_cost_of_one_more() {
        let size = |servers: usize| Size {
            servers,
            times: vec![servers as f64 * 3.0],
            bridge: Memory { pss: 1_000 + 10 * servers as u64, private_dirty: 0 },
            runners: Memory { pss: 200 * servers as u64, private_dirty: 0 },
            inits: Memory { pss: 40 * servers as u64, private_dirty: 0 },
            call: 90.0,
        };
        let mut page = Page::default();
        growth(&mut page, &[size(1), size(50), size(100)]);
        let out = page.take();
        assert!(out.contains("| 1 | 3 | 1010 | 200 | 240 | 90.0 |  |"), "{out}");
        assert!(out.contains("| 50 | 150 | 1500 | 10000 | 12000 | 90.0 | ≤ 12288 |"), "{out}");
        for name in ONE_MORE {
            assert!(out.contains(&format!("| {name} | 3.00 | 10.00 | 200.00 | 240.00 | 0.00 |  |")), "{out}");
        }
    }

    #[test]
    fn what_bends_upwards_costs_more_at_the_end() {
        let [all, end] = one_more(&[(0.0, [1.0, 0.0]), (1.0, [2.0, 1.0]), (2.0, [3.0, 4.0])]);
        assert_eq!((all, end), (["1.00", "2.00"].map(String::from), ["1.00", "3.00"].map(String::from)));
    }

    #[test]
    fn a_soak_has_its_slope_without_the_beginning() {
        let look = |at: usize| Look {
            calls: at * 50_000,
            rate: 1.0,
            at_once: 9_999,
            bridge: if at < 3 { 10 } else { 1_000 + at as u64 },
            runner: 7,
        };
        let mut page = Page::default();
        soak(&mut page, &(1..=10).map(look).collect::<Vec<_>>());
        let out = page.take();
        assert!(out.contains("bridge 2.0, runner 0.0."), "{out}");
        assert!(out.contains("| 500000 | 1 | 9999 | 1010 | 7 |"), "{out}");
    }
}
