//! Traces of calls, sent to a collector that the person names (OTLP over HTTP, as JSON).
//!
//! ```text
//!  host ─► sampled? ─► Call ─► queue (4096 spans) ─► sender: 512 spans or 5 s ─► POST ─► accepted
//!            │ no                  │ no room           ▲                          ├─ 429, 502, 503, 504, unreachable: again
//!            └─► nothing           └─► counted         └── 1, 2, 4, 8 s ◄─────────┘  else: counted, one warning in 5 minutes
//! ```
//!
//! Owns the spans that wait, and the one task that sends them. Off unless `[traces] endpoint` or the environment names a
//! collector. Must never hold up a call, nor know of arguments and results.

pub mod answer;
mod encode;
mod ids;
mod post;
mod queue;
mod send;
mod span;
mod state;

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::{Duration, Instant};

use tokio::sync::Notify;
use tokio::task::JoinHandle;

pub use self::ids::CallIds;
pub use self::span::{CallTimes, TracedCall};
pub use self::state::SpanCounts;

use self::encode::TraceResource;
use self::ids::Ids;
use self::state::TracesState;
use crate::config::traces::Endpoint;
use crate::config::{HostConfig, TracesEnvironment};

/// The traces of this bridge.
#[derive(Debug)]
pub struct Traces {
    /// The number of traced calls in a hundred; 0 while nothing is sent.
    percent: Cell<u32>,
    ids: Ids,
    shared: Rc<TracesState>,
    /// The address, and the task that sends there.
    sender: RefCell<Option<(Endpoint, JoinHandle<()>)>>,
}

impl Traces {
    /// The traces of a bridge whose random ids begin with `seed`; nothing is traced before
    /// [`Traces::follow`].
    #[must_use]
    pub fn new(environment: TracesEnvironment, seed: String) -> Rc<Self> {
        for ignored in &environment.ignored {
            tracing::warn!("{ignored}; it is left out");
        }
        let ids = Ids::new(seed);
        let resource = TraceResource { instance: ids.instance(), version: env!("CARGO_PKG_VERSION") };
        let shared = Rc::new(TracesState {
            environment,
            resource,
            origins: Cell::default(),
            queue: RefCell::default(),
            woken: Notify::new(),
            is_ending: Cell::default(),
            counts: Cell::default(),
        });
        Rc::new(Self { percent: Cell::default(), ids, shared, sender: RefCell::default() })
    }

    /// Sends to the address in the environment, else to the present one in the file.
    pub fn follow(&self, config: &HostConfig) {
        let environment = &self.shared.environment;
        let configured = config.traces_endpoint.as_ref();
        let wanted = environment.endpoint.as_ref().or(configured).filter(|_| !environment.disabled);
        self.percent.set(if wanted.is_some() { config.traces_sample } else { 0 });
        self.shared.origins.set(config.traces_of_origins);
        let before = self.sender.take();
        if before.as_ref().map(|(to, _)| to) == wanted {
            *self.sender.borrow_mut() = before;
            return;
        }
        if let Some((_, task)) = &before {
            task.abort();
        }
        *self.sender.borrow_mut() = wanted.map(|to| {
            tracing::info!(%to, "traces are sent");
            (to.clone(), tokio::task::spawn_local(send::run(self.shared.clone(), to.clone())))
        });
        if wanted.is_none() {
            self.shared.forget();
            tracing::info!("traces are sent no more");
        }
    }

    /// The ids of a call, if it should be traced. While nothing is traced, this is one comparison.
    #[must_use]
    pub fn sampled(&self) -> Option<CallIds> {
        match self.percent.get() {
            0 => None,
            percent => self.ids.next(percent),
        }
    }

    /// True if traces name origins.
    #[must_use]
    pub fn tells_origins(&self) -> bool {
        self.shared.origins.get()
    }

    /// Notes a finished call.
    pub fn note(&self, call: TracedCall) {
        let mut queue = self.shared.queue.borrow_mut();
        let (was_empty, was_full) = (queue.spans() == 0, queue.is_full());
        match queue.push(call, Instant::now()) {
            Err(spans) => self.shared.count_dropped(spans),
            Ok(()) if was_empty || queue.is_full() != was_full => self.shared.woken.notify_one(),
            Ok(()) => {}
        }
    }

    /// The counts. None if no span was ever to be sent.
    #[must_use]
    pub fn counts(&self) -> Option<SpanCounts> {
        let counts = self.shared.counts.get();
        (self.sender.borrow().is_some() || counts != SpanCounts::default()).then_some(counts)
    }

    /// Sends the rest, within `limit`.
    pub async fn finish(&self, limit: Duration) {
        self.percent.set(0);
        let Some((_, mut task)) = self.sender.take() else { return };
        self.shared.is_ending.set(true);
        self.shared.woken.notify_one();
        if tokio::time::timeout(limit, &mut task).await.is_err() {
            task.abort();
            tracing::warn!("not all traces could be sent before the end");
        }
    }
}

impl Drop for Traces {
    fn drop(&mut self) {
        if let Some((_, task)) = self.sender.take() {
            task.abort();
        }
    }
}
