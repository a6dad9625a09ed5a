//! When a source is fetched next, and how: pure, time is an argument.
//!
//! ```text
//!  never tried ──────────────► now
//!  it succeeded ─────────────► an interval after its last attempt, and up to a tenth of it later
//!  it failed n times ────────► 5 min · 2^(n-1) later, at most 6 h, and up to a tenth later; never before its Retry-After has passed
//! ```
//!
//! Owns intervals, jitter and back-off. A person who asks for a refresh need not wait for a back-off. They do have to wait
//! for a Retry-After: there the server asked.

use crate::time::DAY;

/// After the first failure.
const FIRST_BACK_OFF: u64 = 5 * 60_000;
/// The longest.
const MAX_BACK_OFF: u64 = 6 * 60 * 60_000;
/// The longest Retry-After that is believed.
const MAX_RETRY_AFTER: u64 = DAY;
/// Only whole passes find entries that a source no longer tells of; increments do in between.
const FULL_EVERY: u64 = 7 * DAY;
/// Overlap of an increment with the pass before: entries may have changed while that one read its pages, or by another
/// clock.
const OVERLAP: u64 = 10 * 60_000;

/// The past of a source.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct History {
    /// The time of its last try.
    pub last_attempt_at: Option<u64>,
    /// The time when all of it was last read.
    pub last_full_at: Option<u64>,
    /// The time from which an increment would be fetched.
    pub updated_since: Option<u64>,
    /// It is left alone until then.
    pub not_before: Option<u64>,
    /// Its server asked not to be asked before.
    pub retry_after: Option<u64>,
}

/// The way to fetch a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FetchMode {
    /// All of it.
    Full,
    /// Only changes since this time.
    Since(u64),
}

/// When it is due. None if only on request. `roll` is a random number, which decides the jitter.
#[must_use]
pub fn due(history: &History, interval: u64, now: u64, roll: u64) -> Option<u64> {
    if interval == 0 {
        return None;
    }
    let Some(last) = history.last_attempt_at else { return Some(now) };
    // A clock that was set back must not keep it waiting.
    let last = last.min(now);
    let next = history
        .not_before
        .map_or(last.saturating_add(interval), |at| at.min(now.saturating_add(MAX_RETRY_AFTER)));
    Some(next.saturating_add(jitter(interval.min(MAX_BACK_OFF), roll)))
}

fn jitter(of: u64, roll: u64) -> u64 {
    roll % (of / 10 + 1)
}

/// The time until which even a refresh that a person asks for has to wait, if it has to.
#[must_use]
pub fn held(history: &History, now: u64) -> Option<u64> {
    history.retry_after.filter(|at| *at > now && *at <= now.saturating_add(MAX_RETRY_AFTER))
}

/// The way to fetch a registry.
#[must_use]
pub fn pass(history: &History, full: bool, now: u64) -> FetchMode {
    let recent = history.last_full_at.is_some_and(|at| at <= now && now - at < FULL_EVERY);
    match history.updated_since {
        Some(since) if recent && !full => FetchMode::Since(since),
        _ => FetchMode::Full,
    }
}

/// The time from which the next increment is fetched, after a pass that began at this time by our clock and by the server's.
#[must_use]
pub fn since(began: u64, server: Option<u64>) -> u64 {
    server.map_or(began, |server| server.min(began)).saturating_sub(OVERLAP)
}

/// The end of the pause after this many failures in a row, and the time until which the server wants no requests.
#[must_use]
pub fn back_off(failures: u32, retry_after: Option<u64>, now: u64) -> (u64, Option<u64>) {
    let doubled = FIRST_BACK_OFF.saturating_mul(1 << failures.saturating_sub(1).min(16));
    let asked = retry_after.map(|wait| now.saturating_add(wait.min(MAX_RETRY_AFTER)));
    let own = now.saturating_add(doubled.min(MAX_BACK_OFF));
    (asked.map_or(own, |asked| asked.max(own)), asked)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const HOUR: u64 = 3_600_000;
    const NOW: u64 = 1000 * DAY;

    #[test]
    fn the_first_is_due_at_once_and_the_next_after_the_interval() {
        let new = History::default();
        assert_eq!(due(&new, HOUR, NOW, 7), Some(NOW));
        assert_eq!(due(&new, 0, NOW, 7), None);
        let done = History { last_attempt_at: Some(NOW), ..new };
        assert_eq!(due(&done, HOUR, NOW, 0), Some(NOW + HOUR));
        assert_eq!(due(&done, HOUR, NOW, HOUR / 10), Some(NOW + HOUR + HOUR / 10));
        let ahead = History { last_attempt_at: Some(NOW + DAY), ..new };
        assert_eq!(due(&ahead, HOUR, NOW, 0), Some(NOW + HOUR), "the clock was set back");
    }

    #[test]
    fn failures_double_the_wait_and_a_server_may_ask_for_more() {
        let minutes = |failures| (back_off(failures, None, NOW).0 - NOW) / 60_000;
        assert_eq!([1, 2, 3, 6, 7, 8, u32::MAX].map(minutes), [5, 10, 20, 160, 320, 360, 360]);
        assert_eq!(back_off(1, Some(1000), NOW), (NOW + FIRST_BACK_OFF, Some(NOW + 1000)));
        assert_eq!(back_off(1, Some(2 * HOUR), NOW), (NOW + 2 * HOUR, Some(NOW + 2 * HOUR)));
        assert_eq!(back_off(1, Some(u64::MAX), NOW), (NOW + DAY, Some(NOW + DAY)));
        let failed = History { last_attempt_at: Some(NOW), not_before: Some(NOW + 5), ..History::default() };
        assert_eq!(due(&failed, HOUR, NOW, 0), Some(NOW + 5));
        assert_eq!(held(&failed, NOW), None);
        assert_eq!(held(&History { retry_after: Some(NOW + 5), ..failed }, NOW), Some(NOW + 5));
        assert_eq!(held(&History { retry_after: Some(NOW + 5), ..failed }, NOW + 5), None);
    }

    #[test]
    fn a_whole_pass_comes_first_and_once_a_week() {
        let read = History { last_full_at: Some(NOW - DAY), updated_since: Some(5), ..History::default() };
        assert_eq!(pass(&History::default(), false, NOW), FetchMode::Full);
        assert_eq!(pass(&read, false, NOW), FetchMode::Since(5));
        assert_eq!(pass(&read, true, NOW), FetchMode::Full);
        assert_eq!(
            pass(&History { last_full_at: Some(NOW - FULL_EVERY), ..read }, false, NOW),
            FetchMode::Full
        );
        assert_eq!(pass(&History { last_full_at: Some(NOW + 1), ..read }, false, NOW), FetchMode::Full);
        assert_eq!(
            (since(DAY, None), since(DAY, Some(DAY - 5)), since(DAY, Some(2 * DAY))),
            (DAY - OVERLAP, DAY - OVERLAP - 5, DAY - OVERLAP)
        );
    }

    proptest! {
        /// Through any failures and successes on a fake clock: never before the back-off, never later than the longest wait.
        #[test]
        fn it_is_always_due_in_time(
            interval in 1000u64..DAY,
            steps in proptest::collection::vec((any::<u64>(), proptest::option::of(0u64..3 * DAY), any::<bool>()), 1..50),
        ) {
            let (mut now, mut history, mut failures) = (NOW, History::default(), 0);
            for (roll, retry_after, fails) in steps {
                let at = due(&history, interval, now, roll).unwrap();
                prop_assert!(history.retry_after.is_none_or(|asked| at >= asked));
                prop_assert!(at - now <= interval.max(MAX_RETRY_AFTER) * 11 / 10 + 1, "{} after {now}", at - now);
                now = at.max(now);
                history.last_attempt_at = Some(now);
                failures = if fails { failures + 1 } else { 0 };
                let (until, asked) = back_off(failures, retry_after, now);
                history.not_before = fails.then_some(until);
                history.retry_after = asked.filter(|_| fails);
                prop_assert!(!fails || until >= now + FIRST_BACK_OFF);
            }
        }
    }
}
