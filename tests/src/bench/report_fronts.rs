//! What a small call costs by every way through Harbor, as a Markdown table.
//!
//! Must not measure or judge, as `report`.

use crate::fronts::{Front, SOCKET};
use crate::report::latency_goal;
use crate::request::Workload;
use crate::stats::{least, median};
use crate::table::{line, row};

/// Places of the setups that the others are measured against.
const DIRECT: usize = 0;
const FLOOR: usize = 1;

/// One row for each way.
pub fn fronts(all: &[Front]) -> String {
    let mut out = String::new();
    line(&mut out, &format!("### {}, one call at a time, through every front\n", Workload::Small.title()));
    line(
        &mut out,
        "p50 in µs: the best and the median of the repetitions. Ratios: of the bests, and the median of",
    );
    line(
        &mut out,
        "the ratios within each repetition. Processor time: of each process per call, the median in µs.",
    );
    line(&mut out, "Limits on how many calls an origin may make are off.\n");
    row(
        &mut out,
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
    row(&mut out, &["---", "---:", "---:", "---:", "---:", "---:", "---:", "---", "---:"]);
    for front in all {
        let best = |front: &Front| least(front.times.iter().copied());
        let mut cells =
            vec![front.name.to_owned(), micros(best(front)), micros(median(front.times.iter().copied()))];
        for to in [&all[DIRECT], &all[FLOOR]] {
            cells.push(format!("{:.2}", best(front) / best(to)));
            cells.push(format!("{:.2}", ratio(&front.times, &to.times)));
        }
        cells.push(cpu(front));
        cells.push(if front.name == SOCKET { goal() } else { String::new() });
        row(&mut out, &cells);
    }
    line(&mut out, "");
    out
}

fn goal() -> String {
    format!("≤ {} × floor", latency_goal(Workload::Small))
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
        let text = fronts(&all);
        let wanted =
            "| socket | 30.0 | 60.0 | 3.00 | 3.00 | 1.50 | 1.50 | bridge 3.0, server 4.0 | ≤ 1.4 × floor |";
        assert!(text.contains(wanted), "{text}");
        assert_eq!(text.matches("≤").count(), 1, "{text}");
    }
}
