//! Dates as registries and servers write them, as milliseconds since 1970 and back.
//!
//! Owns the calendar. Must never read a clock.

/// Milliseconds of a day.
pub const DAY: u64 = 86_400_000;

/// Reads `2026-11-03T12:34:56.789Z` (RFC 3339, also with an offset). None before 1970.
#[must_use]
pub fn from_rfc3339(text: &str) -> Option<u64> {
    let text = text.get(..64).unwrap_or(text);
    let (date, rest) = (text.get(..10)?, text.get(10..)?.strip_prefix(['T', 't', ' '])?);
    let mut parts = date.split('-');
    let (year, month, day) = (number(parts.next()?)?, number(parts.next()?)?, number(parts.next()?)?);
    let time = rest.get(..8)?;
    let (fraction, zone) = fraction(rest.get(8..)?)?;
    at(year, month, day, time)?.checked_add(fraction)?.checked_add_signed(-zone)
}

/// `.789+02:00` as milliseconds, and the zone's milliseconds east.
fn fraction(text: &str) -> Option<(u64, i64)> {
    let digits = text
        .strip_prefix('.')
        .map_or("", |rest| rest.split(|c: char| !c.is_ascii_digit()).next().unwrap_or(""));
    let zone = text.get(if digits.is_empty() { 0 } else { digits.len() + 1 }..)?;
    let millis = format!("{digits:0<3}").get(..3)?.parse().ok()?;
    if matches!(zone, "Z" | "z") {
        return Some((millis, 0));
    }
    let sign = if zone.starts_with('-') { -1 } else { 1 };
    let (hours, minutes) = zone.strip_prefix(['+', '-'])?.split_once(':')?;
    let minutes = i64::try_from(number(hours)? * 60 + number(minutes)?).ok()?;
    (minutes < 24 * 60).then_some((millis, sign * minutes * 60_000))
}

/// Reads `Sun, 06 Nov 1994 08:49:37 GMT`, the one form that HTTP still sends.
#[must_use]
pub fn from_http(text: &str) -> Option<u64> {
    const MONTHS: &str = "JanFebMarAprMayJunJulAugSepOctNovDec";
    let mut words = text.get(..64).unwrap_or(text).split_once(", ")?.1.split(' ');
    let (day, month, year) = (number(words.next()?)?, words.next()?, number(words.next()?)?);
    let time = words.next()?;
    let place = MONTHS.find(month).filter(|place| month.len() == 3 && place % 3 == 0)?;
    (words.next() == Some("GMT")).then(|| at(year, place as u64 / 3 + 1, day, time))?
}

/// Reads `Retry-After`, in seconds or as a date. Returns milliseconds from `now`.
#[must_use]
pub fn retry_after(text: &str, now: u64) -> Option<u64> {
    let seconds = text.trim().parse::<u64>().ok().map(|seconds| seconds.saturating_mul(1000));
    seconds.or_else(|| from_http(text.trim()).map(|at| at.saturating_sub(now)))
}

fn number(text: &str) -> Option<u64> {
    let digits = text.len() <= 4 && !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    digits.then(|| text.parse().ok())?
}

fn at(year: u64, month: u64, day: u64, time: &str) -> Option<u64> {
    let mut parts = time.split(':');
    let (hour, minute, second) = (number(parts.next()?)?, number(parts.next()?)?, number(parts.next()?)?);
    let sound = (1970..=9999).contains(&year)
        && (1..=12).contains(&month)
        && (1..=31).contains(&day)
        && hour < 24
        && minute < 60
        && second <= 60;
    (sound && parts.next().is_none())
        .then(|| days(year, month, day) * DAY + (hour * 3600 + minute * 60 + second) * 1000)
}

/// Days since 1970. Years start in March here, so that the leap day is the last one.
fn days(year: u64, month: u64, day: u64) -> u64 {
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    year * 365 + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day - 1 - 719_468
}

/// A moment as the registry reads it: `2026-11-03T12:34:56Z`.
#[must_use]
pub fn to_rfc3339(millis: u64) -> String {
    let (day, rest) = (millis / DAY + 719_468, millis / 1000 % 86_400);
    let (era, day) = (day / 146_097, day % 146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (year, month) = if month < 10 { (year, month + 3) } else { (year + 1, month - 9) };
    let year = year + era * 400;
    format!("{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}Z", rest / 3600, rest / 60 % 60, rest % 60)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn known_dates() {
        assert_eq!(from_rfc3339("1970-01-01T00:00:00Z"), Some(0));
        assert_eq!(from_rfc3339("2000-02-29T00:00:00Z"), Some(951_782_400_000));
        assert_eq!(from_rfc3339("2026-11-03T12:50:45.006Z"), Some(1_793_710_245_006));
        assert_eq!(from_rfc3339("2026-11-03T12:50:45.0061234Z"), Some(1_793_710_245_006));
        assert_eq!(from_rfc3339("2026-11-03T14:50:45.006+02:00"), Some(1_793_710_245_006));
        assert_eq!(from_http("Sun, 06 Nov 1994 08:49:37 GMT"), Some(784_111_777_000));
        for none in
            ["", "2026", "2026-13-01T00:00:00Z", "2026-01-01T00:00:00", "1969-01-01T00:00:00Z", "ää-ää-ääT"]
        {
            assert_eq!(from_rfc3339(none), None, "{none}");
        }
        assert_eq!(from_http("Sun, 06 Foo 1994 08:49:37 GMT"), None);
    }

    #[test]
    fn a_wait_is_seconds_or_a_date() {
        assert_eq!(retry_after("120", 5), Some(120_000));
        assert_eq!(retry_after("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_770_000), Some(7000));
        assert_eq!(retry_after("Sun, 06 Nov 1994 08:49:37 GMT", u64::MAX), Some(0));
        assert_eq!(retry_after("-1", 0), None);
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(seconds in 0u64..253_402_300_800) {
            prop_assert_eq!(from_rfc3339(&to_rfc3339(seconds * 1000)), Some(seconds * 1000));
        }

        #[test]
        fn nothing_panics(text in ".{0,70}") {
            let _ = (from_rfc3339(&text), from_http(&text), retry_after(&text, 1));
        }
    }
}
