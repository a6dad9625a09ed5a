//! Checks that a provider is there and takes the key; if not, the failure has its own words.
//!
//! Owns which request proves that: some lists of models are for everybody.

use std::time::Duration;

use harbor_ipc_proto::link::model::{Cause, Failure, Target};
use harbor_ipc_proto::model::{Dialect, Kind};
use tokio::time::{Instant, timeout};

use crate::catalog::json;
use crate::failure::failed;
use crate::places::beside;
use crate::provider_http::Clients;

const LIMIT: Duration = Duration::from_secs(10);

/// How long the provider took, and why it cannot be used, if so.
pub async fn check(clients: &Clients, target: &Target) -> (u32, Option<Failure>) {
    let began = Instant::now();
    let late = || failed(Cause::Timeout, format!("there was no answer within {} s", LIMIT.as_secs()));
    let asked = timeout(LIMIT, ask(clients, target)).await.unwrap_or_else(|_| Err(late()));
    let latency = u32::try_from(began.elapsed().as_millis()).unwrap_or(u32::MAX);
    (latency, asked.err())
}

async fn ask(clients: &Clients, target: &Target) -> Result<(), Failure> {
    let way = clients.way(target)?;
    let url = match (target.dialect, target.kind) {
        (Dialect::Ollama, _) => way.endpoint("tags"),
        (Dialect::Gemini, _) => way.endpoint("models?pageSize=1"),
        (_, Kind::OpenRouter) => way.endpoint("key"),
        _ => way.endpoint("models"),
    };
    json(&way, url).await?;
    if matches!(target.kind, Kind::LlamaServer | Kind::Llamafile) {
        // Its models are shown to everybody.
        match json(&way, beside(&way.base, "/props")).await {
            Err(failure) if failure.cause == Cause::Unauthorized => return Err(failure),
            _ => {}
        }
    }
    Ok(())
}
