//! A token bucket: a number of calls per minute, as many at one moment, refilled evenly.
//!
//! Owns the count. Must never round: the level is counted in sixty-thousandths of a token. A limit of one per minute gains one of
//! these per millisecond.

use super::entries::ForgettableEntry;
use crate::lifecycle::Millis;

/// One token; also the milliseconds of a minute.
const TOKEN: u64 = 60_000;

/// Full at first sight.
#[derive(Debug)]
pub(crate) struct Bucket {
    level: u64,
    /// None before the first request.
    per_minute: Option<u32>,
    at: Millis,
}

impl Bucket {
    /// A bucket for somebody who was never seen: the first refill fills it.
    pub(crate) fn empty(now: Millis) -> Self {
        Self { level: 0, per_minute: None, at: now }
    }

    /// Adds the tokens since the last time. A clock that was set back adds nothing, and counts from there.
    pub(crate) fn refill(&mut self, per_minute: u32, now: Millis) {
        let most = capacity(per_minute);
        self.level = match self.per_minute {
            Some(before) => self.level_at(before, now).min(most),
            None => most,
        };
        (self.per_minute, self.at) = (Some(per_minute), now);
    }

    fn level_at(&self, per_minute: u32, now: Millis) -> u64 {
        let gained = now.saturating_sub(self.at).saturating_mul(u64::from(per_minute));
        self.level.saturating_add(gained)
    }

    /// The milliseconds until there will be a token. None if there is one.
    pub(crate) fn missing(&self) -> Option<u64> {
        let missing = TOKEN.saturating_sub(self.level);
        let rate = self.per_minute.unwrap_or(0).max(1);
        (missing > 0).then(|| missing.div_ceil(u64::from(rate)))
    }

    /// Takes a token that is there.
    pub(crate) fn take(&mut self) {
        self.level = self.level.saturating_sub(TOKEN);
    }
}

impl ForgettableEntry for Bucket {
    fn new(now: Millis) -> Self {
        Self::empty(now)
    }

    fn idle_since(&self) -> Option<Millis> {
        Some(self.at)
    }

    fn is_as_new(&mut self, now: Millis) -> bool {
        // Else one that was used before the clock went back would stay until the clock is there again.
        self.at = self.at.min(now);
        self.per_minute.is_none_or(|rate| self.level_at(rate, now) >= capacity(rate))
    }
}

fn capacity(per_minute: u32) -> u64 {
    u64::from(per_minute).saturating_mul(TOKEN)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn allows(bucket: &mut Bucket, per_minute: u32, now: Millis) -> bool {
        bucket.refill(per_minute, now);
        let allowed = bucket.missing().is_none();
        if allowed {
            bucket.take();
        }
        allowed
    }

    #[test]
    fn a_full_bucket_gives_its_tokens_at_once_and_then_one_by_one() {
        let mut bucket = Bucket::new(1000);
        let at_once = (0..5).map(|_| allows(&mut bucket, 3, 1000)).collect::<Vec<_>>();
        assert_eq!(at_once, [true, true, true, false, false]);
        assert_eq!(bucket.missing(), Some(20_000));
        let later = [20_999, 21_000, 21_001, 40_999, 41_000].map(|now| allows(&mut bucket, 3, now));
        assert_eq!(later, [false, true, false, false, true]);
    }

    #[test]
    fn a_rate_that_divides_no_minute_does_not_drift() {
        let mut bucket = Bucket::new(0);
        let taken = (0..3_600_000).filter(|now| allows(&mut bucket, 7, *now)).count();
        assert_eq!(taken, 7 + 7 * 60 - 1, "the last one is due a millisecond later");
    }

    #[test]
    fn a_limit_of_zero_lets_nothing_through() {
        let mut bucket = Bucket::new(0);
        let allowed = [0, 60_000, u64::MAX].map(|now| allows(&mut bucket, 0, now));
        assert_eq!((allowed, bucket.missing()), ([false; 3], Some(60_000)));
    }

    #[test]
    fn a_lowered_limit_cuts_and_a_raised_one_fills_from_there() {
        let mut bucket = Bucket::new(0);
        assert!(allows(&mut bucket, 100, 0));
        let lowered = (0..3).map(|_| allows(&mut bucket, 2, 0)).collect::<Vec<_>>();
        assert_eq!(lowered, [true, true, false]);
        let raised = [0, 29_999, 30_000].map(|now| allows(&mut bucket, if now == 0 { 2 } else { 100 }, now));
        assert_eq!(raised, [false, false, true]);
    }

    #[test]
    fn it_is_as_new_when_it_is_full() {
        let mut bucket = Bucket::new(500);
        assert!(bucket.is_as_new(500));
        assert!(allows(&mut bucket, 60, 500));
        assert_eq!([500, 1499, 1500].map(|now| bucket.is_as_new(now)), [false, false, true]);
        assert!(!bucket.is_as_new(100), "the clock went back");
        assert!(bucket.is_as_new(1100));
    }

    proptest! {
        #[test]
        fn no_window_has_more_than_the_capacity_and_the_rate(
            per_minute in 1u32..200,
            steps in prop::collection::vec(prop_oneof![0u64..3, 0u64..2000, 0u64..120_000], 1..150),
        ) {
            let (mut bucket, mut now, mut taken) = (Bucket::new(0), 0, Vec::new());
            for step in steps {
                now += step;
                if allows(&mut bucket, per_minute, now) {
                    taken.push(now);
                } else {
                    // What it says about the next token is exact.
                    let wait = bucket.missing().unwrap();
                    let mut early = Bucket { ..bucket };
                    prop_assert!(!allows(&mut early, per_minute, now + wait - 1));
                    let mut due = Bucket { ..bucket };
                    prop_assert!(allows(&mut due, per_minute, now + wait));
                }
            }
            let rate = u64::from(per_minute);
            for (i, first) in taken.iter().enumerate() {
                for (j, last) in taken.iter().enumerate().skip(i) {
                    prop_assert!((j - i + 1) as u64 * TOKEN <= rate * TOKEN + rate * (last - first));
                }
            }
        }

        /// Against a model that counts what any forward step of the clock gives, however the clock jumps.
        #[test]
        fn a_clock_that_jumps_does_no_harm(
            per_minute in 0u32..100,
            times in prop::collection::vec(
                prop_oneof![0u64..100_000, Just(0), Just(u64::MAX), any::<u64>()], 1..100),
        ) {
            let (rate, mut before) = (u128::from(per_minute), times[0]);
            let (mut bucket, mut level) = (Bucket::new(before), rate * u128::from(TOKEN));
            for now in times {
                let gained = u128::from(now.saturating_sub(before)) * rate;
                level = (level + gained).min(rate * u128::from(TOKEN));
                before = now;
                let allowed = level >= u128::from(TOKEN);
                level -= if allowed { u128::from(TOKEN) } else { 0 };
                prop_assert_eq!(allows(&mut bucket, per_minute, now), allowed);
                prop_assert_eq!(u128::from(bucket.level), level);
            }
        }
    }
}
