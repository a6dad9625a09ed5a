//! The time of the catalog's next refresh.
//!
//! ```text
//!  the bridge begins ─► last attempt + interval, soon where that is past or there was none
//!  a refresh is over ─► now + interval; where a source failed, as soon as it may be tried again
//! ```
//!
//! Owns the decision; pure. Times are milliseconds since 1970, by a clock that may jump. Whatever it says, the next
//! refresh is at most an interval and its jitter away.

use std::time::Duration;

/// The delay of the first refresh: the bridge has better things to do at its start.
const SOON: u64 = 3_000;

/// The shortest pause before a source is tried again without a request.
const RETRY: u64 = 60_000;

/// The most that is added to an interval at random, in percent, so that not all bridges fetch at once.
const JITTER: u64 = 10;

/// The time of the refresh for a bridge that begins now.
pub(super) fn at_start(now: u64, last_attempt: Option<u64>, interval: Duration, random: u64) -> u64 {
    let due = last_attempt.map_or(0, |last| last.saturating_add(jittered(interval, random)));
    due.clamp(now + SOON, now + SOON + jittered(interval, random))
}

/// The time of the next refresh after one that has just ended. `not_before` has the times of the sources that failed.
pub(super) fn after(now: u64, not_before: &[Option<u64>], interval: Duration, random: u64) -> u64 {
    let regular = now + jittered(interval, random);
    let retry = not_before.iter().map(|at| at.unwrap_or(now + RETRY)).max();
    retry.map_or(regular, |retry| retry.max(now + RETRY).min(regular))
}

fn jittered(interval: Duration, random: u64) -> u64 {
    let interval = u64::try_from(interval.as_millis()).unwrap_or(u64::MAX / 4).min(u64::MAX / 4);
    interval + interval / 100 * (random % (JITTER + 1))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const HOUR: Duration = Duration::from_secs(3600);
    const NOW: u64 = 1_795_000_000_000;

    #[test]
    fn what_is_missing_or_stale_is_fetched_soon_and_the_rest_in_its_time() {
        assert_eq!(at_start(NOW, None, HOUR, 0), NOW + SOON);
        assert_eq!(at_start(NOW, Some(NOW - 7_200_000), HOUR, 0), NOW + SOON);
        assert_eq!(at_start(NOW, Some(NOW - 600_000), HOUR, 0), NOW + 3_000_000);
        assert_eq!(
            at_start(NOW, Some(NOW + 1_000_000_000), HOUR, 0),
            NOW + SOON + 3_600_000,
            "the clock was set back"
        );
    }

    #[test]
    fn a_source_that_failed_is_tried_again_as_soon_as_it_may_be() {
        assert_eq!(after(NOW, &[], HOUR, 5), NOW + 3_780_000);
        assert_eq!(after(NOW, &[None], HOUR, 0), NOW + RETRY);
        assert_eq!(after(NOW, &[Some(NOW + 5), Some(NOW + 300_000)], HOUR, 0), NOW + 300_000);
        assert_eq!(after(NOW, &[Some(u64::MAX)], HOUR, 0), NOW + 3_600_000);
    }

    proptest! {
        #[test]
        fn it_is_never_past_and_never_more_than_an_interval_away(
            last: Option<u64>, failed: Vec<Option<u64>>, random: u64, minutes in 5u64..=10_080,
        ) {
            let interval = Duration::from_secs(60 * minutes);
            let most = NOW + SOON + minutes * 66_000;
            for due in [at_start(NOW, last, interval, random), after(NOW, &failed, interval, random)] {
                prop_assert!(NOW < due && due <= most, "{due}");
            }
        }
    }
}
