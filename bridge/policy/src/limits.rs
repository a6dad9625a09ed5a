//! Bounds on what a request may ask for: times, sizes, numbers.

use std::time::Duration;

/// How long a call may take when its request does not say.
pub const CALL_TIMEOUT: Duration = Duration::from_secs(30);

/// The longest that a call may ask for.
pub const MAX_CALL_TIMEOUT: Duration = Duration::from_secs(3600);

/// How long a start and contact may take together when the definition does not say. Packages that are
/// downloaded on their first start need minutes; a definition says so where it matters.
pub const START_TIMEOUT: Duration = Duration::from_secs(90);

/// What a definition may ask for instead.
pub const START_TIMEOUT_RANGE: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(600));

/// How long a server may take after its stdin was closed, and after SIGTERM.
pub const EOF_GRACE: Duration = Duration::from_millis(1500);
/// See [`EOF_GRACE`].
pub const TERM_GRACE: Duration = Duration::from_millis(1500);

/// How much longer than its ladder a stop may take before the runner itself is killed.
pub const STOP_SLACK: Duration = Duration::from_secs(1);

/// How much longer than its limit a start may take before the runner itself is killed.
pub const START_SLACK: Duration = Duration::from_secs(5);

/// The longest line that is read from a server, in bytes.
pub const MAX_LINE: u64 = 64 * 1024 * 1024;

/// Requests that one client may have open.
pub const OPEN_PER_CLIENT: u32 = 4096;

/// Requests that one server may have open.
pub const OPEN_PER_SERVER: u32 = 4096;

/// How long a call may take whose request says `asked` milliseconds. `None`: out of range.
#[must_use]
pub fn call_timeout(asked: Option<u64>) -> Option<Duration> {
    match asked {
        None => Some(CALL_TIMEOUT),
        Some(0) => None,
        Some(ms) => Some(Duration::from_millis(ms)).filter(|asked| *asked <= MAX_CALL_TIMEOUT),
    }
}

/// How long a start may take whose definition says `asked` milliseconds. `None`: out of range.
#[must_use]
pub fn start_timeout(asked: Option<u64>) -> Option<Duration> {
    let (least, most) = START_TIMEOUT_RANGE;
    match asked {
        None => Some(START_TIMEOUT),
        Some(ms) => Some(Duration::from_millis(ms)).filter(|asked| (least..=most).contains(asked)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_exact() {
        assert_eq!(call_timeout(Some(0)), None);
        assert_eq!(call_timeout(Some(1)), Some(Duration::from_millis(1)));
        assert_eq!(call_timeout(Some(3_600_000)), Some(MAX_CALL_TIMEOUT));
        assert_eq!(call_timeout(Some(3_600_001)), None);
        assert_eq!(start_timeout(Some(999)), None);
        assert_eq!(start_timeout(None), Some(START_TIMEOUT));
        assert_eq!(start_timeout(Some(u64::MAX)), None);
    }
}
