//! Finds out if a local program loads the model before it answers.
//!
//! Owns which program says so where. Must never have one load a model.

use std::time::Duration;

use harbor_ipc_proto::link::model::{Cause, Chat, Failure, ModelState};
use harbor_ipc_proto::model::{Dialect, Kind};
use tokio::time::timeout;

use crate::catalog::json;
use crate::catalog::read::{list, names_one};
use crate::provider_http::Way;

/// How long the program is asked for that.
const LIMIT: Duration = Duration::from_secs(1);

/// True if the program can be asked whether it loads the model. A model that an Ollama has elsewhere is asked for no window.
pub fn is_known(chat: &Chat) -> bool {
    (chat.target.dialect == Dialect::Ollama && chat.options.context_window.is_some()) || is_llama(chat)
}

fn is_llama(chat: &Chat) -> bool {
    chat.target.dialect == Dialect::Chat && matches!(chat.target.kind, Kind::LlamaServer | Kind::Llamafile)
}

/// True if the program says that it loads the model now.
pub async fn loads(way: &Way, chat: &Chat) -> bool {
    let asked = async {
        if is_llama(chat) {
            let models = list(&json(way, way.endpoint("models")).await.ok()?)?;
            let model = models.into_iter().find(|model| model.id == chat.model)?;
            return Some(model.state == Some(ModelState::Loading));
        }
        let running = json(way, way.endpoint("ps")).await.ok()?;
        Some(names_one(&running, &chat.model) == Some(false))
    };
    timeout(LIMIT, asked).await.ok().flatten().unwrap_or_default()
}

/// True if a refusal says that the model is being loaded: llama-server does until it can answer.
pub fn is_said(failure: &Failure) -> bool {
    failure.cause == Cause::Overloaded
        && failure.status == Some(503)
        && failure.message.to_ascii_lowercase().contains("loading model")
}
