//! What a small call costs by every way through Harbor, as a Markdown table.
//!
//! Must not measure or judge, as `report`.

use crate::fronts::{Front, SOCKET};
use crate::report::latency_goal;
use crate::request::Workload;
use crate::stats::{least, median};
use crate::table::{Page, line, row};

/// Places of the setups that the others are measured against.
const DIRECT: usize = 0;
const FLOOR: usize = 1;

/// One row for each way.
pub fn fronts(out: &mut Page, all: &[Front]) {
    line(out, &format!("### {}, one call at a time, through every front\n", Workload::Small.title()));
    line(
        out,
        "p50 in µs: the best and the median of the repetitions. Ratios: of the bests, and the median of",
    );
    line(
        out,
        "the ratios within each repetition, which the goal is for. Processor time: of each process per call, the median in µs.",
    );
    line(out, "Limits on how many calls an origin may make are off.\n");
    row(
        out,
        &[
            "setup",
            "best",
            "median",
            "× direct, bests",
            "× direct",
            "× floor, bests",
            "× floor",
            "processor time",
            "goal",
        ],
    );
    row(out, &["---", "---:", "---:", "---:", "---:", "---:", "---:", "---", "---:"]);
    for front in all {
        let to_floor = ratio(&front.times, &all[FLOOR].times);
        let best = |front: &Front| least(front.times.iter().copied());
        let mut cells =
            vec![front.name.to_owned(), micros(best(front)), micros(median(front.times.iter().copied()))];
        for to in [&all[DIRECT], &all[FLOOR]] {
            cells.push(format!("{:.2}", best(front) / best(to)));
            cells.push(format!("{:.2}", ratio(&front.times, &to.times)));
        }
        cells.push(cpu(front));
        let goal = (front.name == SOCKET).then(|| latency_goal(Workload::Small));
        cells.push(out.goal(goal, to_floor, &[front.name]));
        row(out, &cells);
    }
    line(out, "");
}

/// As figures in microseconds are shown.
pub fn micros(figure: f64) -> String {
    format!("{figure:.1}")
}

/// The median of the ratios within each repetition, so that slow seconds cancel out.
pub fn ratio(of: &[f64], to: &[f64]) -> f64 {
    median(of.iter().zip(to).map(|(of, to)| of / to))
}

/// `bridge 7.0, runner 6.5`: of all processes on the way.
fn cpu(front: &Front) -> String {
    let of_hop = |(place, hop): (usize, &&str)| {
        let used = median(front.cpu.iter().filter_map(|sample| sample.get(place).copied()));
        format!("{hop} {used:.1}")
    };
    front.hops.iter().enumerate().map(of_hop).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn front(name: &'static str, times: &[f64]) -> Front {
        let cpu = times.iter().map(|_| vec![3.0, 4.0]).collect();
        Front { name, times: times.to_vec(), hops: vec!["bridge", "server"], cpu }
    }

    #[test]
    fn each_way_is_held_against_direct_and_floor_within_a_repetition() {
        let all =
            [front("direct", &[10.0, 20.0]), front("floor", &[20.0, 40.0]), front(SOCKET, &[30.0, 60.0])];
        let mut page = Page::default();
        fronts(&mut page, &all);
        let text = page.take();
        let wanted = "| socket | 30.0 | 60.0 | 3.00 | 3.00 | 1.50 | 1.50 | bridge 3.0, server 4.0 | ≤ 1.4 × floor: **missed** |";
        assert!(text.contains(wanted), "{text}");
        assert_eq!(text.matches("≤").count(), 1, "{text}");
    }
}
