//! Times in words: when it was, how long ago, how soon.
//!
//! Owns how a time looks. Must never ask for the current time itself: the caller passes it.

use harbor_home::date::rfc3339;

pub use harbor_home::clock::wall_clock as now;

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

/// The end of something: `17:52Z (in 10 min)`, with the day if it is another one.
pub fn until(then: u64, now: u64) -> String {
    let (text, today) = (utc(then), utc(now));
    let (day, time) = text.split_once(' ').unwrap_or_default();
    let day = if today.starts_with(day) { String::new() } else { format!("{day} ") };
    format!("{day}{}Z ({})", time.get(..5).unwrap_or_default(), ahead(then, now))
}

/// `5 min`, of milliseconds.
pub fn lasting(millis: u64) -> String {
    span(millis / 1000)
}

/// A time span in the largest unit of which there are two.
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

/// A time to the second, as `2026-11-03 12:34:56Z`.
pub fn to_the_second(millis: u64) -> String {
    utc(millis).chars().take(19).collect::<String>() + "Z"
}

/// A day of the calendar in days since 1970, the inverse of the above. None if there is no such day, or it was before 1970.
pub fn days(year: u64, month: u64, day: u64) -> Option<u64> {
    if !(1970..=9999).contains(&year) || !(1..=12).contains(&month) || day == 0 {
        return None;
    }
    // Each month's first day in the same calendar that starts in March; the next one's says how long a month is.
    let first = |year: u64, month: u64| {
        let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
        365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 - 719_468
    };
    let next = if month == 12 { first(year + 1, 1) } else { first(year, month + 1) };
    Some(first(year, month) + day - 1).filter(|found| *found < next)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_of_the_calendar() {
        assert_eq!((days(1970, 1, 1), days(2000, 2, 29)), (Some(0), Some(11_016)));
        for (year, month, day) in [
            (2026, 2, 29),
            (2100, 2, 29),
            (2026, 4, 31),
            (2026, 13, 1),
            (2026, 0, 1),
            (2026, 1, 0),
            (1969, 12, 31),
        ] {
            assert_eq!(days(year, month, day), None, "{year}-{month}-{day}");
        }
        // Every day for 400 years and more, against the way back.
        for day in 0..150_000 {
            let text = utc(day * 86_400_000);
            let part = |range: std::ops::Range<usize>| text[range].parse().unwrap();
            assert_eq!(days(part(0..4), part(5..7), part(8..10)), Some(day), "{text}");
        }
    }

    #[test]
    fn times() {
        assert_eq!(utc(1_793_710_245_006), "2026-11-03 12:50:45.006Z");
        assert_eq!(to_the_second(1_793_710_245_006), "2026-11-03 12:50:45Z");
    }

    #[test]
    fn ends() {
        let noon = 1_795_262_400_000;
        assert_eq!(until(noon + 600_000, noon), "12:10Z (in 10 min)");
        assert_eq!(until(noon + 12 * 3_600_000, noon), "2026-11-22 00:00Z (in 12 h)");
        assert_eq!(until(noon, noon + 1), "12:00Z (now)");
        assert!(until(u64::MAX, noon).starts_with("584556"));
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
