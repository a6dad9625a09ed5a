//! Times in words: when it was, how long ago, how soon.
//!
//! Owns how a time looks. Must never ask for the time in a word: the caller says which now is meant.

use harbor_bridge::store::date::rfc3339;

pub use harbor_bridge::store::date::now;

/// `2 min ago`.
pub fn ago(then: u64, now: u64) -> String {
    match now.saturating_sub(then) / 1000 {
        0 => "just now".into(),
        seconds => format!("{} ago", span(seconds)),
    }
}

/// `in 4 s`; what is due is `now`.
pub fn ahead(then: u64, now: u64) -> String {
    // Up: what comes in 300 ms does not come in 0 s.
    match then.saturating_sub(now).div_ceil(1000) {
        0 => "now".into(),
        seconds => format!("in {}", span(seconds)),
    }
}

/// In the largest unit of which there are two.
fn span(seconds: u64) -> String {
    match seconds {
        0..120 => format!("{seconds} s"),
        120..7200 => format!("{} min", seconds / 60),
        7200..172_800 => format!("{} h", seconds / 3600),
        _ => format!("{} days", seconds / 86_400),
    }
}

/// Milliseconds since 1970 as `2026-11-03 12:34:56.789Z`.
pub fn utc(millis: u64) -> String {
    rfc3339(millis).replacen('T', " ", 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times() {
        assert_eq!(utc(1_793_710_245_006), "2026-11-03 12:50:45.006Z");
    }

    #[test]
    fn spans() {
        let minute = 60_000;
        assert_eq!(
            (ago(0, 999), ago(0, 1999), ago(0, 2 * minute)),
            ("just now".into(), "1 s ago".into(), "2 min ago".into())
        );
        assert_eq!((ago(0, 119 * minute), ago(0, 120 * minute)), ("119 min ago".into(), "2 h ago".into()));
        assert_eq!(ago(0, 49 * 60 * minute), "2 days ago");
        assert_eq!(ago(5, 0), "just now", "clocks may differ");
        assert_eq!(
            (ahead(4000, 0), ahead(3001, 0), ahead(0, 1)),
            ("in 4 s".into(), "in 4 s".into(), "now".into())
        );
    }
}
