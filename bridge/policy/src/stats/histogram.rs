//! How times are distributed, in little memory.
//!
//! ```text
//!  µs      0 1 2 3 │ 4 5 6 7 │ 8- 10- 12- 14- │ 16- 20- 24- 28- │ …  four buckets per power of two … │ 2^32 and beyond
//!  bucket  0 1 2 3 │ 4 5 6 7 │ 8  9   10  11  │ 12  13  14  15  │ …                                  │ 124
//! ```
//!
//! Owns the buckets. Must never say less than was measured: a quantile is exact or too great, by less than a quarter.

/// Four for each power of two from 4 on, four for what is below, one for what is above.
const BUCKETS: usize = 125;

/// Longer times (an hour and 11 minutes) are not told apart, in microseconds.
const BEYOND: u64 = 1 << 32;

/// A distribution of times in microseconds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Histogram {
    /// Up to the greatest so far: most tools are fast, and few calls wait.
    buckets: Vec<u32>,
    sum: u64,
    max: u64,
}

impl Histogram {
    pub(super) fn note(&mut self, us: u64) {
        let at = bucket_of(us);
        if at >= self.buckets.len() {
            self.buckets.resize(at + 1, 0);
        }
        if let Some(count) = self.buckets.get_mut(at) {
            *count = count.saturating_add(1);
        }
        self.sum = self.sum.saturating_add(us);
        self.max = self.max.max(us);
    }

    /// All times together, in microseconds.
    #[must_use]
    pub fn sum(&self) -> u64 {
        self.sum
    }

    /// The greatest, in microseconds.
    #[must_use]
    pub fn max(&self) -> u64 {
        self.max
    }

    /// How many times there are.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.buckets.iter().map(|count| u64::from(*count)).sum()
    }

    /// How many times are less than `2^power` microseconds, exactly, for powers from 2 to 32: buckets end there.
    #[must_use]
    pub fn below(&self, power: u32) -> u64 {
        let end = bucket_of(1 << power.clamp(2, BEYOND.ilog2()));
        self.buckets.iter().take(end).map(|count| u64::from(*count)).sum()
    }

    /// A time in microseconds that this share of all times does not exceed, `q` from 0 to 1; 0 if there are none.
    /// Too great by less than a quarter; beyond 2^32 it is the greatest.
    #[must_use]
    pub fn quantile(&self, q: f64) -> u64 {
        let count = self.count();
        let rank = ((q * count as f64).ceil() as u64).clamp(1, count.max(1));
        let mut seen = 0;
        let reached = self.buckets.iter().position(|count| {
            seen += u64::from(*count);
            seen >= rank
        });
        reached.map_or(0, |at| last_of(at).min(self.max))
    }
}

fn bucket_of(us: u64) -> usize {
    if us >= BEYOND {
        return BUCKETS - 1;
    }
    // The two bits behind the first one, and where the first one is.
    let power = us.max(4).ilog2();
    let within = us >> (power - 2);
    (4 * (power - 2)) as usize + within as usize
}

/// The greatest time of a bucket.
fn last_of(bucket: usize) -> u64 {
    if bucket >= BUCKETS - 1 {
        return u64::MAX;
    }
    let power = (bucket / 4).saturating_sub(1);
    let within = (bucket - 4 * power) as u64;
    ((within + 1) << power) - 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(times: &[u64]) -> Histogram {
        let mut histogram = Histogram::default();
        times.iter().for_each(|us| histogram.note(*us));
        histogram
    }

    #[test]
    fn buckets_follow_each_other_without_gaps() {
        assert_eq!((last_of(0), last_of(3), last_of(4), last_of(8), last_of(12)), (0, 3, 4, 9, 19));
        for bucket in 0..BUCKETS - 1 {
            let last = last_of(bucket);
            assert_eq!((bucket_of(last), bucket_of(last + 1)), (bucket, bucket + 1), "{last}");
        }
        assert_eq!((last_of(BUCKETS - 2), bucket_of(u64::MAX)), (BEYOND - 1, BUCKETS - 1));
    }

    #[test]
    fn what_is_fast_takes_little_room() {
        assert_eq!([of(&[]), of(&[0; 9]), of(&[1000])].map(|times| times.buckets.len()), [0, 1, 36]);
    }

    #[test]
    fn an_empty_one_and_odd_questions_do_no_harm() {
        assert_eq!([0.0, 0.5, 1.0, f64::NAN].map(|q| of(&[]).quantile(q)), [0; 4]);
        assert_eq!([-1.0, f64::NAN, 2.0, f64::INFINITY].map(|q| of(&[1, 3]).quantile(q)), [1, 1, 3, 3]);
    }

    #[test]
    fn numbers_stay_at_their_most() {
        let mut histogram = of(&[u64::MAX, u64::MAX]);
        histogram.buckets[0] = u32::MAX;
        histogram.note(0);
        assert_eq!((histogram.sum(), histogram.max(), histogram.buckets[0]), (u64::MAX, u64::MAX, u32::MAX));
        assert_eq!((histogram.quantile(0.5), histogram.quantile(1.0)), (0, u64::MAX));
    }

    proptest! {
        #[test]
        fn quantiles_are_exact_or_too_great_by_less_than_a_quarter(
            mut times in prop::collection::vec(
                prop_oneof![0u64..20, 0u64..1_000_000, 0..BEYOND, Just(BEYOND - 1)], 1..300),
            q in 0.0f64..=1.0,
        ) {
            let histogram = of(&times);
            times.sort_unstable();
            let rank = ((q * times.len() as f64).ceil() as usize).max(1);
            let (wanted, found) = (times[rank - 1], histogram.quantile(q));
            prop_assert!(found >= wanted && (found - wanted) * 4 < wanted.max(1), "{wanted} {found}");
            let ends = (histogram.quantile(1.0), histogram.max(), histogram.sum());
            prop_assert_eq!(ends, (times[times.len() - 1], times[times.len() - 1], times.iter().sum()));
        }

        #[test]
        fn powers_of_two_count_exactly(
            times in prop::collection::vec(prop_oneof![0u64..20, 0u64..1_000_000, 0..2 * BEYOND], 0..300),
            power in 2u32..=32,
        ) {
            let wanted = times.iter().filter(|us| **us < 1 << power).count();
            prop_assert_eq!(of(&times).below(power), wanted as u64);
            prop_assert_eq!(of(&times).count(), times.len() as u64);
        }
    }
}
