//! Decides if a provider is asked once more, and when. Pure.
//!
//! ```text
//!  no connection, 408, 409, 429, 5xx, the provider's own word ─► twice more, after 0.5 s, doubled, or what it asks for
//!  quota spent, a wait that is too long for a person ─► never
//! ```
//!
//! Must never be asked once a byte of an answer has come.

use std::time::{Duration, SystemTime};

use harbor_ipc_proto::link::model::{Cause, Failure};
use reqwest::header::HeaderMap;

/// Further tries after the first one.
const TRIES: u32 = 2;

const FIRST: Duration = Duration::from_millis(500);
const LONGEST: Duration = Duration::from_secs(8);

/// A provider may ask for this long a wait. If it asks for more, nothing is tried again and the person is told.
const PATIENCE: Duration = Duration::from_secs(20);

/// A longer wait than this is none.
const DAY_MS: u64 = 86_400_000;

/// When to try again after the `attempt`th failure, from 0; none: not at all. `share` of 0 to 1 is the jitter.
pub fn pause(attempt: u32, failure: &Failure, says: Option<bool>, share: f64) -> Option<Duration> {
    if attempt >= TRIES || failure.cause == Cause::Quota || says == Some(false) {
        return None;
    }
    let passes = match failure.status {
        None => failure.cause == Cause::Unreachable,
        // Some answer so to what they do not do.
        Some(500) => failure.cause != Cause::Refused,
        Some(408 | 409 | 429 | 501..) => true,
        Some(_) => false,
    };
    if !passes && says != Some(true) {
        return None;
    }
    match failure.retry_after_ms.map(Duration::from_millis) {
        Some(asked) if asked > PATIENCE => None,
        Some(asked) => Some(asked),
        None => Some((FIRST * 2u32.pow(attempt)).min(LONGEST).mul_f64(1.0 - share.clamp(0.0, 1.0) / 4.0)),
    }
}

/// The provider's own word on whether to try again.
pub fn says(headers: &HeaderMap) -> Option<bool> {
    text(headers, "x-should-retry")?.parse().ok()
}

/// The wait that the provider asks for, in milliseconds: a number, or a date. A date is by the provider's own clock, as far as
/// its answer says what that shows, else by `now`.
pub fn asked(headers: &HeaderMap, now: SystemTime) -> Option<u64> {
    let ms = text(headers, "retry-after-ms").and_then(|ms| ms.trim().parse::<f64>().ok());
    let after = || text(headers, "retry-after").map(str::trim);
    let seconds = || after()?.parse::<f64>().ok().map(|seconds| seconds * 1000.0);
    let wait = match ms.or_else(seconds) {
        Some(ms) if ms.is_finite() && ms >= 0.0 => Duration::try_from_secs_f64(ms / 1000.0).ok()?,
        Some(_) => return None,
        None => {
            let until = httpdate::parse_http_date(after()?).ok()?;
            let date = text(headers, "date").and_then(|date| httpdate::parse_http_date(date).ok());
            until.duration_since(date.unwrap_or(now)).unwrap_or_default()
        }
    };
    u64::try_from(wait.as_millis()).ok().map(|ms| ms.min(DAY_MS))
}

/// A wait as Google writes it in the body of an error: `34.4s`.
pub fn written(text: &str) -> Option<u64> {
    let seconds: f64 = text.trim().strip_suffix('s')?.parse().ok()?;
    let wait = Duration::try_from_secs_f64(seconds).ok()?;
    u64::try_from(wait.as_millis()).ok().map(|ms| ms.min(DAY_MS))
}

fn text<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    headers.get(name)?.to_str().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::failed;

    fn answered(status: u16, retry_after_ms: Option<u64>) -> Failure {
        Failure { status: Some(status), retry_after_ms, ..failed(Cause::Overloaded, "") }
    }

    #[test]
    fn only_what_passes_is_tried_again() {
        let after = |failure: &Failure| pause(0, failure, None, 0.0);
        for status in [408, 409, 429, 500, 529] {
            assert_eq!(after(&answered(status, None)), Some(FIRST), "{status}");
        }
        for status in [400, 401, 404, 413, 422] {
            assert_eq!(after(&answered(status, None)), None, "{status}");
        }
        assert_eq!(after(&Failure { status: Some(500), ..failed(Cause::Refused, "") }), None);
        assert_eq!(after(&failed(Cause::Unreachable, "")), Some(FIRST));
        assert_eq!(after(&failed(Cause::Timeout, "")), None);
        assert_eq!(after(&Failure { status: Some(429), ..failed(Cause::Quota, "") }), None);
        assert_eq!(after(&answered(429, Some(30))), Some(Duration::from_millis(30)));
        assert_eq!(after(&answered(429, Some(60_000))), None);
        assert_eq!(pause(1, &answered(500, None), None, 1.0), Some(Duration::from_millis(750)));
        assert_eq!(pause(TRIES, &answered(500, None), None, 0.0), None);
        assert_eq!(pause(0, &answered(500, None), Some(false), 0.0), None);
        assert_eq!(pause(0, &answered(400, None), Some(true), 0.0), Some(FIRST));
    }

    #[test]
    fn waits_are_read_as_providers_write_them() {
        let now = httpdate::parse_http_date("Wed, 21 Oct 2015 07:27:00 GMT").unwrap();
        let all = |headers: &[(&'static str, &'static str)]| {
            let headers = headers.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap()));
            asked(&headers.collect(), now)
        };
        let of = |name: &'static str, value: &'static str| all(&[(name, value)]);
        assert_eq!(of("retry-after", "2"), Some(2000));
        assert_eq!(of("retry-after", "0.5"), Some(500));
        assert_eq!(of("retry-after-ms", "7"), Some(7));
        assert_eq!(of("retry-after", "1e300"), None);
        assert_eq!(of("retry-after", "-1"), None);
        assert_eq!(of("retry-after", "soon"), None);
        assert_eq!(of("retry-after", "999999999"), Some(DAY_MS));
        let date = ("retry-after", "Wed, 21 Oct 2015 07:28:00 GMT");
        assert_eq!(all(&[date]), Some(60_000));
        // Its clock is not ours.
        assert_eq!(all(&[date, ("date", "Wed, 21 Oct 2015 07:27:58 GMT")]), Some(2000));
        assert_eq!(all(&[date, ("date", "Wed, 21 Oct 2015 07:29:00 GMT")]), Some(0));
        assert_eq!(all(&[("retry-after", "Sun, 21 Oct 2035 07:28:00 GMT")]), Some(DAY_MS));
        assert_eq!(all(&[date, ("retry-after-ms", "5")]), Some(5));
        assert_eq!((written("34.4s"), written("-1s"), written("34")), (Some(34_400), None, None));
    }
}
