//! A server's recent calls: how many ended in each interval, and how long they took.
//!
//! Owns the way from totals to rates. The bridge tells totals, and quantiles since it began. For one interval
//! only the number of ended calls and their total time are known. So the latency that is shown is their mean.
//! Must never ask for the time.

use std::collections::VecDeque;

/// The number of intervals that are kept: as many as the widest graph has places.
const KEPT: usize = 300;

/// Over how many intervals a number is taken: single seconds jump too much to be read.
const RECENT: usize = 5;

/// Totals at a moment of the bridge's own clock.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Totals {
    /// Calls that have ended.
    pub calls: u64,
    /// Their time together, in microseconds.
    pub sum_us: u64,
    /// The bridge's age, in milliseconds.
    pub at: u64,
}

/// The calls between two totals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Interval {
    calls: u64,
    sum_us: u64,
    millis: u64,
}

/// The latest intervals, oldest first.
#[derive(Debug, Default)]
pub struct History {
    last: Option<Totals>,
    intervals: VecDeque<Interval>,
}

impl History {
    /// Takes the present totals. Those of another bridge, or of a redefined server, begin at zero.
    pub fn note(&mut self, now: Totals) {
        let last = self.last.replace(now);
        let Some(last) = last else { return };
        let since = |now: u64, then: u64| now.checked_sub(then);
        let grown = since(now.calls, last.calls).zip(since(now.sum_us, last.sum_us));
        match (grown, since(now.at, last.at)) {
            (_, Some(0)) => self.last = Some(last),
            (Some((calls, sum_us)), Some(millis)) => {
                self.intervals.push_back(Interval { calls, sum_us, millis });
                let over = self.intervals.len().saturating_sub(KEPT);
                self.intervals.drain(..over);
            }
            _ => self.intervals.clear(),
        }
    }

    /// Calls a second, lately; `None` as long as nothing is known.
    pub fn rate(&self) -> Option<f64> {
        let (calls, _, millis) = self.recent();
        (millis > 0).then(|| calls as f64 * 1000.0 / millis as f64)
    }

    /// The average time of the calls that ended lately, in microseconds; `None` when none did.
    pub fn mean(&self) -> Option<u64> {
        let (calls, sum_us, _) = self.recent();
        sum_us.checked_div(calls)
    }

    fn recent(&self) -> (u64, u64, u64) {
        let latest = self.intervals.iter().rev().take(RECENT);
        latest.fold((0, 0, 0), |(calls, sum, millis), of| {
            (calls + of.calls, sum + of.sum_us, millis + of.millis)
        })
    }

    /// The mean of each of the latest intervals, at most `width` of them.
    pub fn means(&self, width: usize) -> Vec<Option<u64>> {
        self.latest(width).map(|of| of.sum_us.checked_div(of.calls)).collect()
    }

    /// Calls a minute in each of the latest intervals, likewise; whole numbers that tell slow servers apart.
    pub fn rates(&self, width: usize) -> Vec<Option<u64>> {
        self.latest(width)
            .map(|of| (of.calls * 60_000).checked_div(of.millis).filter(|rate| *rate > 0))
            .collect()
    }

    fn latest(&self, width: usize) -> impl Iterator<Item = &Interval> {
        self.intervals.iter().skip(self.intervals.len().saturating_sub(width))
    }
}

/// Bars from the lowest to the highest of these; a space where there is nothing.
pub fn bars(values: &[Option<u64>]) -> String {
    const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let highest = values.iter().flatten().copied().max().unwrap_or_default().max(1);
    let bar = |value: u64| {
        let eighth = (u128::from(value) * 8).div_ceil(u128::from(highest)).clamp(1, 8);
        BARS.get(usize::try_from(eighth).unwrap_or(1) - 1).copied().unwrap_or(' ')
    };
    values.iter().map(|value| value.map_or(' ', bar)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn history(totals: &[(u64, u64, u64)]) -> History {
        let mut history = History::default();
        totals.iter().for_each(|&(calls, sum_us, at)| history.note(Totals { calls, sum_us, at }));
        history
    }

    #[test]
    fn rates_and_means_are_those_of_the_interval_and_not_of_all_time() {
        let known = history(&[(1000, 9_000_000, 5000), (1010, 9_020_000, 6000), (1010, 9_020_000, 7000)]);
        assert_eq!((known.rate(), known.mean()), (Some(5.0), Some(2000)));
        assert_eq!((known.means(9), known.rates(9)), (vec![Some(2000), None], vec![Some(600), None]));
        assert_eq!(known.means(1), [None]);
        assert_eq!((history(&[(7, 7, 7)]).rate(), history(&[]).mean()), (None, None));
    }

    #[test]
    fn only_the_latest_intervals_make_a_number() {
        let totals: Vec<_> = (0..8).map(|at| (if at < 3 { at * 100 } else { 200 }, 0, at * 1000)).collect();
        assert_eq!(history(&totals).rate(), Some(0.0));
        let totals: Vec<_> = (0..1000).map(|at| (at, at, at * 1000)).collect();
        assert_eq!(history(&totals).means(usize::MAX).len(), KEPT);
    }

    #[test]
    fn another_bridge_begins_from_nothing() {
        let anew = history(&[(5, 5, 1000), (9, 9, 2000), (0, 0, 10)]);
        assert_eq!((anew.rate(), anew.means(9)), (None, vec![]));
        let twice = history(&[(5, 5, 1000), (9, 9, 1000), (9, 9, 2000)]);
        assert_eq!(twice.rate(), Some(4.0), "no time has passed between the first two");
    }

    #[test]
    fn bars_are_scaled_to_the_highest() {
        assert_eq!(bars(&[Some(1), None, Some(50), Some(100), Some(0)]), "▁ ▄█▁");
        assert_eq!(
            (bars(&[]), bars(&[Some(0)]), bars(&[Some(u64::MAX)])),
            (String::new(), "▁".into(), "█".into())
        );
    }
}
