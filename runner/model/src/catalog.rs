//! Which models a provider has, and what it says of them.
//!
//! Owns which request asks for which fact: no two providers tell it in the same place. Must never guess a fact that a
//! provider does not tell.

use std::time::Duration;

use harbor_ipc_proto::link::model::{Cause, Failure, Model, ModelState, Target};
use harbor_ipc_proto::model::{Dialect, Kind};
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::failure::{failed, no_such_thing};
use crate::places::beside;
use crate::provider_http::{Clients, Way};

mod pages;
pub mod read;

/// In all.
const LIMIT: Duration = Duration::from_secs(20);

/// Bytes of a list.
pub const MAX_LIST: usize = 16 * 1024 * 1024;

/// Ollama's models that are asked about one by one.
const MAX_SHOWN: usize = 64;

/// The models of a provider.
///
/// # Errors
/// Why they are not known.
pub async fn models(clients: &Clients, target: &Target) -> Result<Vec<Model>, Failure> {
    let late =
        || failed(Cause::Timeout, format!("the list of models did not arrive within {} s", LIMIT.as_secs()));
    let mut models = timeout(LIMIT, list(clients, target)).await.unwrap_or_else(|_| Err(late()))?;
    models.truncate(pages::MAX_MODELS);
    Ok(models)
}

async fn list(clients: &Clients, target: &Target) -> Result<Vec<Model>, Failure> {
    let way = clients.way(target)?;
    let fetch = async |path: &str| json(&way, way.endpoint(path)).await;
    match (target.dialect, target.kind) {
        (Dialect::Ollama, _) => ollama(&way).await,
        (Dialect::Gemini, _) => pages::all(&fetch, "models?pageSize=1000", read::gemini).await,
        (Dialect::Anthropic, _) => pages::all(&fetch, "models?limit=1000", read::list).await,
        (_, Kind::LmStudio) => match json(&way, beside(&way.base, "/api/v1/models")).await {
            Ok(list) => Ok(read::lm_studio(&list)),
            Err(_) => pages::all(&fetch, "models", read::list).await,
        },
        (_, Kind::LlamaServer | Kind::Llamafile) => llama(&way).await,
        (_, Kind::Lemonade) => {
            let mut models = pages::all(&fetch, "models", read::list).await?;
            if let Ok(health) = json(&way, way.endpoint("health")).await {
                read::lemonade(&health, &mut models);
            }
            Ok(models)
        }
        _ => pages::all(&fetch, "models", read::list).await,
    }
}

/// llama-server runs one model, or is a router: then each model is a process of its own, and what is said without naming one is
/// about none of them.
async fn llama(way: &Way) -> Result<Vec<Model>, Failure> {
    let fetch = async |path: &str| json(way, way.endpoint(path)).await;
    let mut models = pages::all(&fetch, "models", read::list).await?;
    // What it does not tell is not known; the models are.
    if models.iter().all(|model| model.state.is_none()) {
        if let Ok(props) = json(way, beside(&way.base, "/props")).await {
            models.iter_mut().for_each(|model| read::props(&props, model));
        }
        return Ok(models);
    }
    // One that is being loaded would answer only then.
    let answers = |model: &&mut Model| model.state != Some(ModelState::Loading);
    for model in models.iter_mut().filter(answers).take(MAX_SHOWN) {
        let mut url = beside(&way.base, "/props");
        // Nothing is loaded for a list.
        url.query_pairs_mut().append_pair("model", &model.id).append_pair("autoload", "false");
        if let Ok(props) = json(way, url).await {
            read::props(&props, model);
        }
    }
    Ok(models)
}

async fn ollama(way: &Way) -> Result<Vec<Model>, Failure> {
    let mut models = read::tags(&json(way, way.endpoint("tags")).await?);
    if let Ok(running) = json(way, way.endpoint("ps")).await {
        read::running(&running, &mut models);
    }
    for model in models.iter_mut().take(MAX_SHOWN) {
        let body = crate::dialect::written(&json!({"model": model.id}))?;
        let Ok(mut answer) = way.post(way.endpoint("show"), body, "application/json").await else { continue };
        let shown = way.read(&mut answer, MAX_LIST).await?;
        if let Ok(shown) = serde_json::from_slice::<Value>(&shown) {
            read::show(&shown, model);
        }
    }
    Ok(models)
}

/// Fetches JSON.
///
/// # Errors
/// When there is none.
pub async fn json(way: &Way, url: url::Url) -> Result<Value, Failure> {
    let body = way.get(url, MAX_LIST).await?;
    serde_json::from_slice(&body).map_err(|_| no_such_thing())
}
