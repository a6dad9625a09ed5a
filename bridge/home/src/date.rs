//! How a time is written on disk.
//!
//! Owns the calendar. Must never fail: any number of milliseconds is a date.

/// Milliseconds since 1970 as `2026-11-03T12:34:56.789Z` (RFC 3339).
#[must_use]
pub fn rfc3339(millis: u64) -> String {
    let mut out = Vec::with_capacity(24);
    put_rfc3339(&mut out, millis);
    String::from_utf8(out).unwrap_or_default()
}

/// Appends the same. Without the formatter, since each call is written down with a date.
pub fn put_rfc3339(out: &mut Vec<u8>, millis: u64) {
    let (days, rest) = (millis / 86_400_000, millis % 86_400_000);
    // Counted in years that start in March, so that the leap day is the last one; 719,468 days lie between
    // that calendar's start and 1970. After Howard Hinnant's "chrono-compatible low-level date algorithms".
    let days = days + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (year, month) = if month < 10 { (year, month + 3) } else { (year + 1, month - 9) };
    let year = year + era * 400;
    let (seconds, millis) = (rest / 1000, rest % 1000);
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    put_digits(out, year, 4);
    let mut rest = *b"-00-00T00:00:00.000Z";
    for (at, number) in [(1, month), (4, day), (7, hour), (10, minute), (13, second), (17, millis % 100)] {
        // Remainders of ten fit.
        rest[at] = b'0' + (number / 10) as u8;
        rest[at + 1] = b'0' + (number % 10) as u8;
    }
    rest[16] = b'0' + (millis / 100) as u8;
    out.extend_from_slice(&rest);
}

/// Appends a number, with leading zeros up to at least this many digits.
pub fn put_digits(out: &mut Vec<u8>, number: u64, width: usize) {
    const MOST: usize = 20;
    let mut digits = [b'0'; MOST];
    let (mut rest, mut at) = (number, MOST);
    while rest > 0 {
        at -= 1;
        // A remainder of ten fits.
        digits[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
    out.extend_from_slice(&digits[at.min(MOST.saturating_sub(width))..]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_their_digits() {
        for (number, width, text) in
            [(0, 1, "0"), (7, 3, "007"), (1234, 3, "1234"), (u64::MAX, 1, "18446744073709551615")]
        {
            let mut out = Vec::new();
            put_digits(&mut out, number, width);
            assert_eq!(String::from_utf8(out).unwrap(), text);
        }
    }

    #[test]
    fn any_time_has_a_date() {
        assert_eq!(rfc3339(0), "1970-01-01T00:00:00.000Z");
        assert_eq!(rfc3339(951_782_400_000), "2000-02-29T00:00:00.000Z");
        assert_eq!(rfc3339(1_709_251_199_999), "2024-02-29T23:59:59.999Z");
        assert_eq!(rfc3339(1_793_710_245_006), "2026-11-03T12:50:45.006Z");
        assert_eq!(rfc3339(u64::MAX), "584556019-04-03T14:25:51.615Z");
    }
}
