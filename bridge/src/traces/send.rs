//! The task that sends: one request after the other.
//!
//! Owns when a request is made, when again, and what the log hears of it. Spans that are under way are dropped and counted
//! with the task, unless the collector has taken them.

use std::fmt;
use std::rc::Rc;
use std::time::{Duration, Instant};

use super::answer::Verdict;
use super::encode::encode;
use super::post::{PostError, post};
use super::{Call, Shared};
use crate::config::traces::Endpoint;

/// The pauses before a request is made again; then its spans are given up.
const PAUSES: [Duration; 4] =
    [Duration::from_secs(1), Duration::from_secs(2), Duration::from_secs(4), Duration::from_secs(8)];

/// A collector that takes nothing is worth a line of the log so often.
const QUIET: Duration = Duration::from_secs(300);

/// Sends until the end has come.
pub(super) async fn run(shared: Rc<Shared>, to: Endpoint) {
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
        let batch = Batch { shared: &shared, spans };
        match deliver(&shared, &to, &calls, &mut complaints).await {
            Ok(()) => batch.count_sent(),
            Err(Kept) => drop(batch),
        }
    }
}

/// Until there is enough for a request, or what is there has waited for long enough, or the end has come.
async fn wait(shared: &Shared) {
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

/// Spans on their way.
struct Batch<'a> {
    shared: &'a Shared,
    spans: usize,
}

impl Batch<'_> {
    fn count_sent(mut self) {
        self.shared.count_sent(std::mem::take(&mut self.spans));
    }
}

impl Drop for Batch<'_> {
    fn drop(&mut self) {
        self.shared.count_dropped(self.spans);
    }
}

/// The collector did not take them.
struct Kept;

async fn deliver(
    shared: &Shared,
    to: &Endpoint,
    calls: &[Call],
    complaints: &mut Complaints,
) -> Result<(), Kept> {
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
                return Err(Kept);
            }
        };
        complaints.make(to, &posted);
        let pause = pauses.next().filter(|_| !shared.is_ending.get()).ok_or(Kept)?;
        rest(shared, named.unwrap_or(pause)).await;
    }
}

/// Until the pause is over, or the end has come.
async fn rest(shared: &Shared, pause: Duration) {
    let ending = async {
        while !shared.is_ending.get() {
            shared.woken.notified().await;
        }
    };
    // Both mean that it goes on.
    let _ = tokio::time::timeout(pause, ending).await;
}

/// What the log hears of a collector that takes nothing.
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
        tracing::warn!(%to, why = %Why(posted), "the collector does not take traces");
    }

    fn end(&mut self) {
        if std::mem::take(&mut self.is_failing) {
            tracing::info!("the collector takes traces again");
        }
    }
}

/// In words.
struct Why<'a>(&'a Result<Verdict, PostError>);

impl fmt::Display for Why<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Ok(Verdict::Accepted) => f.write_str("it took them"),
            Ok(Verdict::Later(code, _)) => write!(f, "it answered {code}; it is asked again"),
            Ok(Verdict::Refused(code @ 300..=399)) => {
                write!(f, "it answered {code}, and redirects are not followed; name the place itself")
            }
            Ok(Verdict::Refused(code)) => write!(f, "it answered {code}"),
            Err(error) => error.fmt(f),
        }
    }
}
