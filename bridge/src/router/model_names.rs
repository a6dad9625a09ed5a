//! `llm_…_configured_model…`, `llm_set_default_for`: the person's names of models, and the model for each use.
//!
//! Must never look into messages.

use std::rc::Rc;

use harbor_ipc_proto::client::{
    LlmAddConfiguredModel, LlmAddConfiguredModelResult, LlmListConfiguredModelsResult,
    LlmRemoveConfiguredModelResult, LlmSetConfiguredModelDefaultResult, LlmSetDefaultFor,
    LlmSetDefaultForResult,
};
use harbor_policy::models::Use;

use super::reply::{Handled, reply};
use super::state::Router;
use crate::host::{invalid, to_the_end};

pub(super) fn list(router: &Router) -> Handled {
    reply(LlmListConfiguredModelsResult { models: router.models.configured() })
}

pub(super) async fn add(router: &Rc<Router>, message: LlmAddConfiguredModel) -> Handled {
    let router = router.clone();
    let LlmAddConfiguredModel { model_id, name } = message;
    to_the_end(async move {
        let (name, model_id) = router.models.set_alias(name, &model_id).await?;
        reply(LlmAddConfiguredModelResult { ok: true, name, model_id })
    })
    .await
}

pub(super) async fn remove(router: &Rc<Router>, name: String) -> Handled {
    let router = router.clone();
    to_the_end(async move {
        reply(LlmRemoveConfiguredModelResult { ok: router.models.remove_alias(&name).await? })
    })
    .await
}

pub(super) async fn set_default(router: &Rc<Router>, name: String) -> Handled {
    let router = router.clone();
    to_the_end(async move {
        let model_id = router.models.set_default_alias(&name).await?;
        reply(LlmSetConfiguredModelDefaultResult { ok: true, model_id })
    })
    .await
}

pub(super) async fn set_for_use(router: &Rc<Router>, message: LlmSetDefaultFor) -> Handled {
    let router = router.clone();
    let LlmSetDefaultFor { r#use, model } = message;
    let of = Use::from_name(&r#use).ok_or_else(|| invalid("use", "chat, fast, vision or transcription"))?;
    to_the_end(async move {
        reply(LlmSetDefaultForResult { model: router.models.set_model_for(of, model.as_deref()).await? })
    })
    .await
}
