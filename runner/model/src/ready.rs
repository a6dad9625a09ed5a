//! Waits until an engine of Harbor's own has loaded its model.
//!
//! ```text
//!  GET /health ─► 200: ready
//!     ▲  └─ 503, no connection, no answer: a pause, at most half a second
//!     └──────────────┘                     ─► the limit is over: Timeout
//! ```
//!
//! Owns the pauses: no engine tells by itself that it is ready. Must never ask an engine that refuses the key once more: that
//! is another program than the one that was started.

use std::time::Duration;

use harbor_ipc_proto::link::model::{Cause, Failure, Target};
use tokio::time::{Instant, sleep, timeout, timeout_at};

use crate::failure::failed;
use crate::places::beside;
use crate::provider_http::Clients;

/// A look at it.
const LOOK: Duration = Duration::from_secs(2);

/// The first pause, and the longest.
const FIRST: Duration = Duration::from_millis(20);
const LONGEST: Duration = Duration::from_millis(500);

/// Bytes that are read of an answer.
const MAX_ANSWER: usize = 64 * 1024;

/// How long it took until the engine was ready, in milliseconds, and why it is not, if so.
pub async fn ready(clients: &Clients, target: &Target, limit_ms: u64) -> (u32, Option<Failure>) {
    let began = Instant::now();
    let end = began + Duration::from_millis(limit_ms);
    let failure = match timeout_at(end, until_ready(clients, target)).await {
        Ok(ended) => ended.err(),
        Err(_) => Some(failed(Cause::Timeout, "the engine did not say that it is ready")),
    };
    (u32::try_from(began.elapsed().as_millis()).unwrap_or(u32::MAX), failure)
}

async fn until_ready(clients: &Clients, target: &Target) -> Result<(), Failure> {
    let way = clients.way(target)?;
    let mut pause = FIRST;
    loop {
        let looked = timeout(LOOK, way.get(beside(&way.base, "/health"), MAX_ANSWER)).await;
        match looked {
            Ok(Ok(_)) => return Ok(()),
            Ok(Err(failure)) if failure.cause == Cause::Unauthorized => return Err(failure),
            // It loads, or does not listen yet.
            _ => sleep(pause).await,
        }
        pause = (pause * 2).min(LONGEST);
    }
}
