//! Calls that wait to be sent.
//!
//! Owns the bounds: a collector that takes nothing costs this much memory and no more. Spans that find no room are
//! counted.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use super::span::TracedCall;

/// Most spans that wait.
const MAX_SPANS: usize = 4096;

/// Most spans in one request.
const MAX_BATCH: usize = 512;

/// How long the oldest call waits for others.
const DELAY: Duration = Duration::from_secs(5);

/// The calls, oldest first.
#[derive(Debug, Default)]
pub(super) struct TraceQueue {
    /// The calls, each with its number of spans.
    calls: VecDeque<(TracedCall, usize)>,
    spans: usize,
    /// The time from which `DELAY` counts. None while the queue is empty.
    since: Option<Instant>,
}

impl TraceQueue {
    /// Takes a call. If there is no room, returns the number of its spans.
    pub(super) fn push(&mut self, call: TracedCall, now: Instant) -> Result<(), usize> {
        let spans = call.parts().count();
        if self.spans + spans > MAX_SPANS {
            return Err(spans);
        }
        self.since.get_or_insert(now);
        self.spans += spans;
        self.calls.push_back((call, spans));
        Ok(())
    }

    /// How many spans wait.
    pub(super) fn spans(&self) -> usize {
        self.spans
    }

    /// True if there are enough spans for a request.
    pub(super) fn is_full(&self) -> bool {
        self.spans >= MAX_BATCH
    }

    /// The time at which the waiting calls must be sent.
    pub(super) fn due(&self) -> Option<Instant> {
        self.since.map(|since| since + DELAY)
    }

    /// The calls for one request, and their number of spans.
    pub(super) fn take(&mut self, now: Instant) -> (Vec<TracedCall>, usize) {
        let (mut batch, mut taken) = (Vec::new(), 0);
        while let Some((call, spans)) = self.calls.pop_front_if(|(_, spans)| taken + *spans <= MAX_BATCH) {
            taken += spans;
            batch.push(call);
        }
        self.spans -= taken;
        self.since = (self.spans > 0).then_some(now);
        (batch, taken)
    }
}

#[cfg(test)]
mod tests {
    use super::super::span::CallTimes;
    use super::super::span::tests::call;
    use super::*;

    #[test]
    fn what_finds_no_room_is_given_back_and_requests_have_a_bound() {
        let (mut queue, now) = (TraceQueue::default(), Instant::now());
        let three = || {
            let whole = Duration::from_millis(9);
            call(CallTimes { began: 0, whole, queued: Some(Duration::from_millis(2)), asked: None })
        };
        assert_eq!((queue.due(), queue.is_full()), (None, false));
        queue.push(three(), now).unwrap();
        assert_eq!(queue.due(), Some(now + DELAY));
        while queue.push(three(), now + DELAY).is_ok() {}
        assert_eq!((queue.spans(), queue.push(three(), now)), (4095, Err(3)));
        assert_eq!(queue.push(call(CallTimes::default()), now), Ok(()), "a smaller one fits");
        let (batch, spans) = queue.take(now + DELAY);
        assert_eq!((batch.len(), spans, queue.spans()), (170, 510, 3586));
        assert_eq!(queue.due(), Some(now + DELAY + DELAY), "the rest waits for others again");
        let mut left = 0;
        while queue.spans() > 0 {
            left += queue.take(now).1;
        }
        assert_eq!((left, queue.due(), queue.take(now).1), (3586, None, 0));
    }
}
