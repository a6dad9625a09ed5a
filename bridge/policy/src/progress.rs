//! Limits how often a caller hears of a call's progress.
//!
//! ```text
//!  BURST at once ─► then one each STEP ─► if more come, only the newest is told, later
//! ```
//!
//! Owns the pace. A server may report progress a hundred thousand times a second. Each report would have to pass through what its
//! caller shares with others: a browser has one port for all pages. Must never decide whether a call goes on: each sign of
//! progress counts for that, told or not.

/// Milliseconds of any clock that does not go back.
type Millis = u64;

/// Reports in a row that are told, however fast they come.
const BURST: u64 = 50;

/// Afterwards one report passes in this many milliseconds.
const STEP: Millis = 50;

/// The pace of one call.
#[derive(Debug, Clone, Copy, Default)]
pub struct ProgressPace {
    /// The time at which the whole burst is free again, which tells how much of it is used.
    full_at: Millis,
}

impl ProgressPace {
    /// True if a report at `now` is told.
    pub fn tells(&mut self, now: Millis) -> bool {
        let full_at = self.full_at.max(now) + STEP;
        let tells = full_at - now <= BURST * STEP;
        if tells {
            self.full_at = full_at;
        }
        tells
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn slow_progress_is_told_and_a_flood_is_thinned() {
        let mut slow = ProgressPace::default();
        assert!((0..1000).all(|step| slow.tells(step * STEP)));
        let mut flood = ProgressPace::default();
        let told = (0..100_000u64).filter(|at| flood.tells(at / 100)).count() as u64;
        assert_eq!(told, BURST + 1000 / STEP - 1);
    }

    proptest! {
        #[test]
        fn no_stretch_of_time_has_more_than_its_share(gaps in prop::collection::vec(0u64..120, 1..400)) {
            let mut pace = ProgressPace::default();
            let mut now = 0;
            let mut told = Vec::new();
            for gap in gaps {
                now += gap;
                if pace.tells(now) {
                    told.push(now);
                }
            }
            for (at, first) in told.iter().enumerate() {
                for (count, last) in told[at..].iter().enumerate() {
                    prop_assert!((count as u64) < BURST + (last - first) / STEP + 1);
                }
            }
        }
    }
}
