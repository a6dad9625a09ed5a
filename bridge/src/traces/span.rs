//! A finished call, as its trace shows it.
//!
//! ```text
//!  tools/call echo        ├───────────────────────────────────────────┤   the request, as Harbor served it
//!    queue                ├──────┤                                        waited for its turn
//!    start                       ├───────────┤                            waited for the server to run
//!    tools/call echo                         ├────────────────────────┤   the server's work
//! ```
//!
//! Owns the limits of a trace: there is no place here for arguments, results, messages, paths or URIs.

use std::sync::Arc;
use std::time::Duration;

use super::ids::CallIds;

/// The shortest wait that becomes a span.
const WORTH_TELLING: Duration = Duration::from_millis(1);

/// A call that is over.
#[derive(Debug, Clone)]
pub struct TracedCall {
    /// Its ids.
    pub ids: CallIds,
    /// MCP's name of the method.
    pub method: &'static str,
    /// The tool, if the server has one of that name.
    pub tool: Option<Arc<str>>,
    /// The server, if there is one of that name.
    pub server: Option<Arc<str>>,
    /// The server's sandbox.
    pub sandbox: Option<&'static str>,
    /// `owner`, `client` or `page`.
    pub caller: &'static str,
    /// The page or AI client, if the person wants it told.
    pub origin: Option<Arc<str>>,
    /// The code of its error.
    pub error: Option<&'static str>,
    /// The length of its arguments, in bytes.
    pub bytes_in: Option<u64>,
    /// The length of its result, in bytes.
    pub bytes_out: Option<u64>,
    /// When it came, and how its time was spent.
    pub times: CallTimes,
}

/// When a call came, and how its time was spent.
#[derive(Debug, Clone, Copy, Default)]
pub struct CallTimes {
    /// Nanoseconds since 1970.
    pub began: u64,
    /// The time from its beginning to its end.
    pub whole: Duration,
    /// The time from its beginning until its turn.
    pub queued: Option<Duration>,
    /// The time from its beginning until the server was asked.
    pub asked: Option<Duration>,
}

/// The subject of a span.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    Call,
    Queue,
    Start,
    Work,
}

impl TracedCall {
    /// Its spans: the subject, the beginning and the end of each, in nanoseconds since 1970.
    pub(super) fn parts(&self) -> impl Iterator<Item = (Part, u64, u64)> {
        let CallTimes { began, whole, queued, asked } = self.times;
        let at = |time: Duration| {
            began.saturating_add(u64::try_from(time.min(whole).as_nanos()).unwrap_or(u64::MAX))
        };
        let is_long = |from: Duration, to: Duration| to.saturating_sub(from) >= WORTH_TELLING;
        let left = asked.unwrap_or(whole);
        let queue = queued.filter(|queued| is_long(Duration::ZERO, *queued));
        let start = queued.filter(|queued| is_long(*queued, left));
        let parts = [
            Some((Part::Call, began, at(whole))),
            queue.map(|queued| (Part::Queue, began, at(queued))),
            start.map(|queued| (Part::Start, at(queued), at(left))),
            asked.map(|asked| (Part::Work, at(asked), at(whole))),
        ];
        parts.into_iter().flatten()
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(crate) fn call(times: CallTimes) -> TracedCall {
        TracedCall {
            ids: CallIds { trace: [0xab; 16], span: 0x0102_0304_0506_0708 },
            method: "tools/call",
            tool: Some("echo".into()),
            server: Some("s".into()),
            sandbox: Some("strict"),
            caller: "page",
            origin: Some("https://a.example".into()),
            error: None,
            bytes_in: Some(2),
            bytes_out: Some(u64::MAX),
            times,
        }
    }

    fn parts(queued: Option<u64>, asked: Option<u64>) -> Vec<(Part, u64, u64)> {
        let micros = Duration::from_micros;
        let (queued, asked) = (queued.map(micros), asked.map(micros));
        call(CallTimes { began: 5, whole: micros(10_000), queued, asked }).parts().collect()
    }

    #[test]
    fn the_time_of_a_call_is_told_by_what_it_went_into() {
        let whole = (Part::Call, 5, 10_000_005);
        assert_eq!(parts(None, None), [whole], "it was refused");
        assert_eq!(parts(Some(10), Some(20)), [whole, (Part::Work, 20_005, 10_000_005)]);
        let queue = (Part::Queue, 5, 2_000_005);
        assert_eq!(parts(Some(2000), None), [whole, queue, (Part::Start, 2_000_005, 10_000_005)]);
        let (start, work) = ((Part::Start, 2_000_005, 5_000_005), (Part::Work, 5_000_005, 10_000_005));
        assert_eq!(parts(Some(2000), Some(5000)), [whole, queue, start, work]);
        assert_eq!(parts(Some(20_000), None).pop().unwrap().2, 10_000_005, "never after its end");
    }
}
