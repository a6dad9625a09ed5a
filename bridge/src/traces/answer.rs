//! A collector's answer, and its meaning for the spans.
//!
//! ```text
//!  2xx ─► Accepted      429, 502, 503, 504 ─► Later      all else, redirects too ─► Refused
//! ```
//!
//! Owns the decision. The body of an answer is not read: the program at the address may send anything.

use std::time::Duration;

use httparse::{EMPTY_HEADER, Response, Status};

/// The longest head, in bytes.
pub const MAX_HEAD: usize = 8 * 1024;

/// The most headers of an answer.
const MAX_HEADERS: usize = 64;

/// The longest pause that a collector can ask for.
const LONGEST_WAIT: Duration = Duration::from_secs(300);

/// The fate of the spans.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// The collector has them.
    Accepted,
    /// The spans should be sent again, after this time if the collector names one.
    Later(u16, Option<Duration>),
    /// They are not wanted.
    Refused(u16),
}

/// The bytes do not begin an HTTP answer.
#[derive(Debug, PartialEq, Eq)]
pub struct NoAnswer;

/// Reads the beginning of an answer. None while its head is not complete.
///
/// # Errors
/// When it is no answer, or its head is too large.
pub fn read(bytes: &[u8]) -> Result<Option<Verdict>, NoAnswer> {
    let mut headers = [EMPTY_HEADER; MAX_HEADERS];
    let mut response = Response::new(&mut headers);
    match response.parse(bytes).map_err(|_| NoAnswer)? {
        Status::Partial if bytes.len() < MAX_HEAD => return Ok(None),
        Status::Partial => return Err(NoAnswer),
        Status::Complete(length) if length > MAX_HEAD => return Err(NoAnswer),
        Status::Complete(_) => {}
    }
    let code = response.code.ok_or(NoAnswer)?;
    Ok(Some(match code {
        200..=299 => Verdict::Accepted,
        429 | 502 | 503 | 504 => {
            let named =
                response.headers.iter().find(|header| header.name.eq_ignore_ascii_case("retry-after"));
            Verdict::Later(code, named.and_then(|header| seconds(header.value)))
        }
        _ => Verdict::Refused(code),
    }))
}

/// The pause in seconds. It may be a date, too, but that needs two clocks that agree: then the usual pause is made.
fn seconds(value: &[u8]) -> Option<Duration> {
    let text = std::str::from_utf8(value).ok()?.trim();
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| text.parse().map_or(LONGEST_WAIT, Duration::from_secs).min(LONGEST_WAIT))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answered(text: &str) -> Result<Option<Verdict>, NoAnswer> {
        read(text.as_bytes())
    }

    #[test]
    fn the_status_decides() {
        for (start, wanted) in [
            ("HTTP/1.1 200 OK", Verdict::Accepted),
            ("HTTP/1.0 202 Accepted", Verdict::Accepted),
            ("HTTP/1.1 301 Moved\r\nLocation: http://other", Verdict::Refused(301)),
            ("HTTP/1.1 100 Continue", Verdict::Refused(100)),
            ("HTTP/1.1 400 Bad Request\r\nRetry-After: 1", Verdict::Refused(400)),
            ("HTTP/1.1 500 No", Verdict::Refused(500)),
            ("HTTP/1.1 429 No", Verdict::Later(429, None)),
            ("HTTP/1.1 503 No\r\nretry-AFTER:  7 ", Verdict::Later(503, Some(Duration::from_secs(7)))),
            ("HTTP/1.1 502 No\r\nRetry-After: 86400", Verdict::Later(502, Some(LONGEST_WAIT))),
            ("HTTP/1.1 504 No\r\nRetry-After: 99999999999999999999", Verdict::Later(504, Some(LONGEST_WAIT))),
            ("HTTP/1.1 503 No\r\nRetry-After: Fri, 07 Nov 2031 23:59:59 GMT", Verdict::Later(503, None)),
            ("HTTP/1.1 503 No\r\nRetry-After: -1", Verdict::Later(503, None)),
        ] {
            assert_eq!(answered(&format!("{start}\r\n\r\nbody")), Ok(Some(wanted)), "{start}");
        }
    }

    #[test]
    fn heads_that_do_not_end_and_other_protocols_are_no_answers() {
        assert_eq!(answered(""), Ok(None));
        assert_eq!(answered("HTTP/1.1 200 OK\r\nA: b\r\n"), Ok(None));
        let long = format!("HTTP/1.1 200 OK\r\nA: {}", "b".repeat(MAX_HEAD));
        assert_eq!((answered(&long), answered(&format!("{long}\r\n\r\n"))), (Err(NoAnswer), Err(NoAnswer)));
        assert_eq!(answered(&format!("HTTP/1.1 200 OK\r\n{}\r\n", "A: b\r\n".repeat(65))), Err(NoAnswer));
        assert_eq!(answered("\0\0\x12\x04\0\0\0\0\0"), Err(NoAnswer), "gRPC");
        assert_eq!(answered("SSH-2.0-x\r\n"), Err(NoAnswer));
    }
}
