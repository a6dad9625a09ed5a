//! The task that sends: one request after the other.
//!
//! Owns when a request is made, when it is made again, and what the log says of it. If the task ends, the spans under way
//! are dropped and counted, unless the collector has taken them.

use std::fmt;
use std::rc::Rc;
use std::time::{Duration, Instant};

use super::answer::Verdict;
use super::encode::encode;
use super::post::{PostError, post};
use super::span::TracedCall;
use super::state::TracesState;
use crate::config::traces::Endpoint;

/// The pauses before a request is made again; then its spans are given up.
const PAUSES: [Duration; 4] =
    [Duration::from_secs(1), Duration::from_secs(2), Duration::from_secs(4), Duration::from_secs(8)];

/// The pause between two log lines about a collector that takes nothing.
const QUIET: Duration = Duration::from_secs(300);

/// Sends until the end has come.
pub(super) async fn run(shared: Rc<TracesState>, to: Endpoint) {
    let mut complaints = Complaints::default();
    loop {
        wait(&shared).await;
        let (calls, spans) = shared.queue.borrow_mut().take(Instant::now());
        if calls.is_empty() {
            match shared.is_ending.get() {
                true => return,
                false => continue,
            }
        }
        let batch = SpanBatch { shared: &shared, spans };
        match deliver(&shared, &to, &calls, &mut complaints).await {
            Ok(()) => batch.count_sent(),
            Err(Undelivered) => drop(batch),
        }
    }
}

/// Waits until there is enough for a request, the oldest call has waited long enough, or the end has come.
async fn wait(shared: &TracesState) {
    loop {
        let due = {
            let queue = shared.queue.borrow();
            if queue.is_full() || shared.is_ending.get() {
                return;
            }
            queue.due()
        };
        let woken = shared.woken.notified();
        match due {
            None => woken.await,
            Some(due) if tokio::time::timeout_at(due.into(), woken).await.is_err() => return,
            Some(_) => {}
        }
    }
}

/// Spans under way.
struct SpanBatch<'a> {
    shared: &'a TracesState,
    spans: usize,
}

impl SpanBatch<'_> {
    fn count_sent(mut self) {
        self.shared.count_sent(std::mem::take(&mut self.spans));
    }
}

impl Drop for SpanBatch<'_> {
    fn drop(&mut self) {
        self.shared.count_dropped(self.spans);
    }
}

/// The collector did not take the spans.
struct Undelivered;

async fn deliver(
    shared: &TracesState,
    to: &Endpoint,
    calls: &[TracedCall],
    complaints: &mut Complaints,
) -> Result<(), Undelivered> {
    let body = encode(&shared.resource, calls, shared.origins.get());
    let mut pauses = PAUSES.into_iter();
    loop {
        let posted = post(to, &shared.environment.headers, &body).await;
        let named = match &posted {
            Ok(Verdict::Accepted) => {
                complaints.end();
                return Ok(());
            }
            Ok(Verdict::Later(_, named)) => *named,
            Err(PostError::Unreachable(_)) => None,
            Ok(Verdict::Refused(_)) | Err(_) => {
                complaints.make(to, &posted);
                return Err(Undelivered);
            }
        };
        complaints.make(to, &posted);
        let pause = pauses.next().filter(|_| !shared.is_ending.get()).ok_or(Undelivered)?;
        rest(shared, named.unwrap_or(pause)).await;
    }
}

/// Waits until the pause is over, or the end has come.
async fn rest(shared: &TracesState, pause: Duration) {
    let ending = async {
        while !shared.is_ending.get() {
            shared.woken.notified().await;
        }
    };
    // In both cases it goes on.
    let _ = tokio::time::timeout(pause, ending).await;
}

/// The log's lines about a collector that takes nothing.
#[derive(Default)]
struct Complaints {
    is_failing: bool,
    last: Option<Instant>,
}

impl Complaints {
    fn make(&mut self, to: &Endpoint, posted: &Result<Verdict, PostError>) {
        self.is_failing = true;
        if self.last.is_some_and(|last| last.elapsed() < QUIET) {
            return;
        }
        self.last = Some(Instant::now());
        tracing::warn!(%to, why = %DeliveryText(posted), "the collector does not take traces");
    }

    fn end(&mut self) {
        if std::mem::take(&mut self.is_failing) {
            tracing::info!("the collector takes traces again");
        }
    }
}

/// A reason, in words.
struct DeliveryText<'a>(&'a Result<Verdict, PostError>);

impl fmt::Display for DeliveryText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Ok(Verdict::Accepted) => f.write_str("it accepted the traces"),
            Ok(Verdict::Later(code, _)) => write!(f, "it answered {code}; Harbor tries again"),
            Ok(Verdict::Refused(code @ 300..=399)) => {
                write!(f, "it answered {code}, and Harbor does not follow redirects; set the final address")
            }
            Ok(Verdict::Refused(code)) => write!(f, "it answered {code}"),
            Err(error) => error.fmt(f),
        }
    }
}
