//! Points in time as a person types them: how long ago, or when.
//!
//! Owns the forms of `--since` and `--for`. Must never ask for the time: the caller says which now is meant.

use crate::when::days;

const SECOND: u64 = 1000;
const MINUTE: u64 = 60 * SECOND;
const HOUR: u64 = 60 * MINUTE;
/// A day, in milliseconds, as all times here.
pub(super) const DAY: u64 = 24 * HOUR;

/// The time that the value of `--since` means, in milliseconds since 1970. All dates are in UTC, as all that
/// Harbor shows; what it shows can be typed here again.
///
/// # Errors
/// The sentence that says what it may be.
pub(super) fn since(text: &str, now: u64) -> Result<u64, String> {
    let long_ago = span(text).map(|span| now.saturating_sub(span));
    long_ago.or_else(|| moment(text)).ok_or_else(|| {
        "use a time span back from now, such as 90s, 10m, 2h or 3d, or a time in UTC, such as 2026-11-21 or \
         2026-11-21T17:00"
            .into()
    })
}

/// The time that the value of `--expires` means, in milliseconds since 1970: one to come.
///
/// # Errors
/// The sentence that says what it may be.
pub(super) fn ahead(text: &str, now: u64) -> Result<u64, String> {
    let at = span(text).map(|span| now.saturating_add(span)).or_else(|| moment(text));
    at.filter(|at| *at > now).ok_or_else(|| {
        "use a time in the future: a time span from now, such as 2h or 90d, or a time in UTC, such as 2030-11-21".into()
    })
}

/// `10m`, in milliseconds.
pub(super) fn span(text: &str) -> Option<u64> {
    let (number, unit) = [('s', SECOND), ('m', MINUTE), ('h', HOUR), ('d', DAY)]
        .into_iter()
        .find_map(|(letter, unit)| Some((text.strip_suffix(letter)?, unit)))?;
    Some(digits(number, 1..=18)?.saturating_mul(unit))
}

/// `2026-11-21`, `2026-11-21T17:00`, `2026-11-21 17:00:00.123Z`.
fn moment(text: &str) -> Option<u64> {
    let (date, time) = match text.split_once(['T', ' ']) {
        Some((date, time)) => (date, time_of_day(time.strip_suffix('Z').unwrap_or(time))?),
        None => (text, 0),
    };
    let (year, date) = date.split_once('-')?;
    let (month, day) = date.split_once('-')?;
    let days = days(digits(year, 4..=4)?, digits(month, 2..=2)?, digits(day, 2..=2)?)?;
    Some(days * DAY + time)
}

/// `17:00`, `17:00:00`, `17:00:00.123`, in milliseconds.
fn time_of_day(text: &str) -> Option<u64> {
    let (hour, rest) = text.split_once(':')?;
    let (minute, second) = rest.split_once(':').unwrap_or((rest, "00"));
    let (second, fraction) = second.split_once('.').unwrap_or((second, "000"));
    let below = |text, limit| digits(text, 2..=2).filter(|number| *number < limit);
    let (hour, minute, second) = (below(hour, 24)?, below(minute, 60)?, below(second, 60)?);
    Some(hour * HOUR + minute * MINUTE + second * SECOND + digits(fraction, 3..=3)?)
}

/// A number of so many digits, and nothing else: `parse` would take a sign.
fn digits(text: &str, count: std::ops::RangeInclusive<usize>) -> Option<u64> {
    let is_number = count.contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| is_number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::when::utc;
    use proptest::prelude::*;

    /// 2026-11-21 17:00:00 UTC.
    const NOW: u64 = 1_795_280_400_000;

    #[test]
    fn how_long_ago() {
        for (text, span) in [
            ("90s", 90_000),
            ("10m", 600_000),
            ("2h", 7_200_000),
            ("3d", 259_200_000),
            ("0s", 0),
            ("007m", 420_000),
        ] {
            assert_eq!(since(text, NOW), Ok(NOW - span), "{text}");
        }
        for text in ["30000d", "999999999999999999d"] {
            assert_eq!(since(text, NOW), Ok(0), "{text}");
        }
    }

    #[test]
    fn when_in_utc() {
        let midnight = NOW - 17 * HOUR;
        for (text, wanted) in [
            ("2026-11-21", midnight),
            ("2026-11-21T17:00", NOW),
            ("2026-11-21T17:00Z", NOW),
            ("2026-11-21T17:00:00Z", NOW),
            ("2026-11-21T17:00:59", NOW + 59 * SECOND),
            ("2026-11-21 00:00:00.001Z", midnight + 1),
            ("2024-02-29T23:59:59.999Z", 1_709_251_199_999),
            ("1970-01-01", 0),
            ("9999-12-31", 253_402_214_400_000),
        ] {
            assert_eq!(since(text, NOW), Ok(wanted), "{text}");
        }
    }

    #[test]
    fn anything_else_is_refused_with_what_it_may_be() {
        assert_eq!(
            since("yesterday", NOW).unwrap_err(),
            "use a time span back from now, such as 90s, 10m, 2h or 3d, or a time in UTC, such as 2026-11-21 or \
             2026-11-21T17:00"
        );
        for text in [
            "",
            "m",
            "10",
            "-10m",
            "+10m",
            "1.5h",
            "10 m",
            "10M",
            "1w",
            "10mm",
            "1234567890123456789s",
            "١m",
            "2026-11",
            "2026-11-21Z",
            "2026-11-31",
            "2026-02-29",
            "2026-1-1",
            "26-11-21",
            "1969-12-31",
            "2026-11-21T",
            "2026-11-21T17",
            "2026-11-21T24:00",
            "2026-11-21T17:60",
            "2026-11-21T17:00:60",
            "2026-11-21T17:00:00.5",
            "2026-11-21T17:00+01:00",
            "2026-11-21T17:00ZZ",
            "2026-11-21t17:00",
            "é",
        ] {
            assert!(since(text, NOW).is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn what_is_shown_can_be_typed(millis in 0u64..253_402_300_800_000) {
            prop_assert_eq!(since(&utc(millis), NOW), Ok(millis));
            prop_assert_eq!(since(&utc(millis).replace(' ', "T"), NOW), Ok(millis));
        }

        #[test]
        fn nothing_typed_is_too_much(text in "\\PC{0,30}", odd in "[0-9TZ: .smhd-]{0,24}", now: u64) {
            for text in [text, odd] {
                let _ = since(&text, now);
            }
        }
    }
}
