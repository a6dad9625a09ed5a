//! Which providers run on this machine.
//!
//! ```text
//!  a port ─► an answer that only this kind gives ─► Found
//!     └─ anybody else, nobody, too late, too much ─► nothing
//! ```
//!
//! Owns the proofs: a port is anybody's. Must never send a key, follow a redirect, or look at another machine.

use std::rc::Rc;
use std::time::Duration;

use harbor_ipc_proto::link::model::{Cause, Found, ProviderPort, Target};
use harbor_ipc_proto::model::{Dialect, Kind};
use serde_json::Value;
use tokio::time::timeout;

use crate::catalog::json;
use crate::places::beside;
use crate::provider_http::{Clients, Way};

/// For one place, in all.
const LIMIT: Duration = Duration::from_secs(1);

/// Bytes of one answer.
const MAX_ANSWER: usize = 1024 * 1024;

/// Places that are looked at.
const MAX_PLACES: usize = 16;

/// The providers at `places`, each proven by its own answer.
pub async fn detect(clients: &Rc<Clients>, places: &[ProviderPort]) -> Vec<Found> {
    let mut looks = Vec::new();
    for place in places.iter().take(MAX_PLACES).copied() {
        let clients = clients.clone();
        // All at once; aborted with whoever asked.
        let look = async move { timeout(LIMIT, look(&clients, place)).await.ok().flatten() };
        looks.push(Aborted(tokio::task::spawn_local(look)));
    }
    let mut found = Vec::new();
    for mut look in looks {
        found.extend((&mut look.0).await.ok().flatten());
    }
    found
}

/// A task that ends with its owner.
struct Aborted(tokio::task::JoinHandle<Option<Found>>);

impl Drop for Aborted {
    fn drop(&mut self) {
        self.0.abort();
    }
}

async fn look(clients: &Clients, place: ProviderPort) -> Option<Found> {
    let dialect = if place.kind == Kind::Ollama { Dialect::Ollama } else { Dialect::Chat };
    let target = Target {
        provider: String::new(),
        kind: place.kind,
        dialect,
        base_url: format!("http://127.0.0.1:{}", place.port),
        allow_private: false,
        key: None,
    };
    let way = clients.way(&target).ok()?;
    let (version, needs_key) = match place.kind {
        Kind::Ollama => ollama(&way).await?,
        Kind::LlamaServer | Kind::Llamafile => llama(&way).await?,
        Kind::LmStudio => lm_studio(&way).await?,
        Kind::Vllm => vllm(&way).await?,
        Kind::Lemonade => lemonade(&way).await?,
        _ => return None,
    };
    Some(Found { kind: place.kind, dialect, base_url: target.base_url, version, needs_key })
}

type Proof = (Option<String>, bool);

async fn fetched(way: &Way, path: &str) -> Option<Value> {
    serde_json::from_slice(&way.get(beside(&way.base, path), MAX_ANSWER).await.ok()?).ok()
}

fn version(value: &Value) -> Option<String> {
    let text = value.get("version")?.as_str()?;
    (text.len() <= 64 && text.chars().all(|c| c.is_ascii_graphic())).then(|| text.to_owned())
}

async fn ollama(way: &Way) -> Option<Proof> {
    let greeting = way.get(beside(&way.base, "/"), MAX_ANSWER).await.ok()?;
    if greeting.trim_ascii() != b"Ollama is running" {
        return None;
    }
    Some((Some(version(&fetched(way, "/api/version").await?)?), false))
}

/// `Some` if `/v1/models` has models, and each of them has this owner.
async fn owned_by(way: &Way, owner: &str) -> Option<()> {
    let list = fetched(way, "/v1/models").await?;
    let models = list.get("data")?.as_array()?;
    let is_owner = |model: &Value| model.get("owned_by").is_some_and(|it| it == owner);
    (!models.is_empty() && models.iter().all(is_owner)).then_some(())
}

async fn llama(way: &Way) -> Option<Proof> {
    owned_by(way, "llamacpp").await?;
    let needs_key = json(way, beside(&way.base, "/props"))
        .await
        .is_err_and(|failure| failure.cause == Cause::Unauthorized);
    Some((None, needs_key))
}

async fn lm_studio(way: &Way) -> Option<Proof> {
    let newer = fetched(way, "/api/v1/models").await;
    let has = |list: &Value, name: &str, field: &str| {
        list.get(name)
            .and_then(Value::as_array)
            .is_some_and(|all| all.iter().all(|one| one.get(field).is_some()))
    };
    if newer.is_some_and(|list| has(&list, "models", "key")) {
        return Some((None, false));
    }
    let older = fetched(way, "/api/v0/models").await?;
    has(&older, "data", "compatibility_type").then_some((None, false))
}

async fn vllm(way: &Way) -> Option<Proof> {
    let version = version(&fetched(way, "/version").await?)?;
    owned_by(way, "vllm").await?;
    Some((Some(version), false))
}

async fn lemonade(way: &Way) -> Option<Proof> {
    let health = fetched(way, "/api/v1/health").await?;
    health.get("all_models_loaded")?.as_array()?;
    Some((version(&health), false))
}
