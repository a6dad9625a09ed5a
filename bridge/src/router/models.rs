//! `llm_…`, `host_llm_…`: the person's language models.
//!
//! Owns who hears what: an origin gets no key, no address and no word of a provider about the person's account. Must
//! never look into messages.

use std::rc::Rc;
use std::sync::Arc;

use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_ipc_proto::client::{
    HostLlmChat, HostLlmChatResult, HostLlmListModels, HostLlmListModelsResult, LlmAddProvider,
    LlmAddProviderResult, LlmChat, LlmChatResult, LlmCheckProviderResult, LlmConfigureProvider,
    LlmConfigureProviderResult, LlmCountTokens, LlmCountTokensResult, LlmDetectResult, LlmGetActiveResult,
    LlmGetConfigResult, LlmGetSupportedProvidersResult, LlmListBudgetsResult, LlmListModelsForResult,
    LlmListModelsResult, LlmListProvidersResult, LlmMore, LlmMoreResult, LlmRemoveApiKey,
    LlmRemoveApiKeyResult, LlmRemoveProvider, LlmRemoveProviderResult, LlmSetActive, LlmSetActiveResult,
    LlmSetApiKey, LlmSetApiKeyResult, LlmSetBudget, LlmSetBudgetResult, LlmSetModel, LlmSetModelOptions,
    LlmSetModelOptionsResult, LlmSetModelResult, LlmTranscribe, LlmTranscribeResult, LlmUsage,
    LlmUsageResult,
};
use harbor_ipc_proto::field::Message as _;
use harbor_policy::access::{ModelPermit, Pass};
use harbor_policy::budget::{EVERYBODY, OF_AN_ORIGIN, OWNER};
use harbor_policy::prices;
use harbor_policy::sampling::server_of;

use super::client::Client;
use super::grants::asker;
use super::model_events;
use super::refusals::denied;
use super::reply::{Handled, reply};
use super::state::Router;
use crate::host::asker::parse_origin;
use crate::host::to_the_end;
use crate::models::{
    Changes, Chatted, ModelCaller, ModelQuery, Models, ProviderDraft, Transcribed, usage_view,
};
use crate::store::audit::AuditRecord;

pub(super) async fn detect(router: &Router) -> Handled {
    let found = router.models.detect().await?;
    reply(LlmDetectResult {
        hasAvailable: found.providers.iter().any(|provider| provider.available),
        providers: found.providers,
        environment: found.environment,
    })
}

pub(super) fn providers(router: &Router) -> Handled {
    let active = router.models.active().map(|(id, _)| id);
    reply(LlmListProvidersResult { providers: router.models.providers(), active })
}

pub(super) fn supported(router: &Router) -> Handled {
    let (local, remote) = Models::types();
    reply(LlmGetSupportedProvidersResult { local, remote, configuredApiKeys: router.models.with_key() })
}

pub(super) async fn add(router: &Rc<Router>, client: &Client, message: LlmAddProvider) -> Handled {
    let (router, sender) = (router.clone(), client.sender());
    let added = ProviderDraft {
        kind: message.provider_type,
        name: message.name,
        base_url: message.base_url,
        dialect: message.dialect,
        key: message.api_key,
        allow_private: message.allow_private == Some(true),
        allow_other_user: message.allow_other_user == Some(true),
    };
    to_the_end(async move {
        let record = AuditRecord { provider: Some(Arc::from(&*added.kind)), ..AuditRecord::default() };
        router.host.trail.decided(LlmAddProvider::TAG, &sender, record, true).await?;
        let provider = router.models.add(added).await?;
        reply(LlmAddProviderResult { id: provider.id.clone(), provider })
    })
    .await
}

pub(super) async fn configure(
    router: &Rc<Router>,
    client: &Client,
    message: LlmConfigureProvider,
) -> Handled {
    let (router, sender) = (router.clone(), client.sender());
    to_the_end(async move {
        let LlmConfigureProvider { id, name, base_url, enabled, is_default, is_type_default } = message;
        router.host.trail.decided(LlmConfigureProvider::TAG, &sender, about(&id), true).await?;
        let changes = Changes { name, base_url, enabled, is_default, is_type_default };
        let (provider, key_dropped) = router.models.configure(&id, changes).await?;
        reply(LlmConfigureProviderResult { provider, key_dropped })
    })
    .await
}

pub(super) async fn remove(router: &Rc<Router>, client: &Client, message: LlmRemoveProvider) -> Handled {
    let (router, sender) = (router.clone(), client.sender());
    to_the_end(async move {
        router.host.trail.decided(LlmRemoveProvider::TAG, &sender, about(&message.id), false).await?;
        let removed = router.models.remove(&message.id).await?;
        router.engines.forget(&message.id).await?;
        reply(LlmRemoveProviderResult { removed })
    })
    .await
}

pub(super) async fn set_key(router: &Rc<Router>, client: &Client, message: LlmSetApiKey) -> Handled {
    let (router, sender) = (router.clone(), client.sender());
    to_the_end(async move {
        let LlmSetApiKey { provider_id, api_key } = message;
        router.host.trail.decided(LlmSetApiKey::TAG, &sender, about(&provider_id), true).await?;
        let provider = router.models.set_key(&provider_id, api_key).await?;
        reply(LlmSetApiKeyResult { success: true, provider: provider_id, available: provider.available })
    })
    .await
}

pub(super) async fn remove_key(router: &Rc<Router>, client: &Client, message: LlmRemoveApiKey) -> Handled {
    let (router, sender) = (router.clone(), client.sender());
    to_the_end(async move {
        let id = message.provider_id;
        router.host.trail.decided(LlmRemoveApiKey::TAG, &sender, about(&id), false).await?;
        reply(LlmRemoveApiKeyResult { success: router.models.remove_key(&id).await?, provider: id })
    })
    .await
}

pub(super) async fn check(router: &Router, id: &str) -> Handled {
    let checked = router.models.check(id).await?;
    let (cause, message) = checked.failure.unzip();
    reply(LlmCheckProviderResult {
        available: cause.is_none(),
        latency_ms: checked.latency_ms,
        cause: cause.map(str::to_owned),
        message,
    })
}

pub(super) async fn models(router: &Router) -> Handled {
    let listed = router.models.list_all().await;
    let provider = router.models.active().map(|(id, _)| id);
    reply(LlmListModelsResult { models: listed.models, provider, failed: listed.failed })
}

pub(super) async fn models_of(router: &Router, id: String) -> Handled {
    reply(LlmListModelsForResult { models: router.models.list_of(&id).await?, provider: id })
}

pub(super) async fn set_active(router: &Router, message: LlmSetActive) -> Handled {
    let LlmSetActive { provider_id, model_id } = message;
    let model = router.models.set_active(&provider_id, model_id).await?;
    reply(LlmSetActiveResult { success: true, active: provider_id, model })
}

pub(super) async fn set_model(router: &Router, message: &LlmSetModel) -> Handled {
    let (active, model) = router.models.set_model(&message.model_id).await?;
    reply(LlmSetModelResult { success: true, active, model })
}

pub(super) async fn set_options(router: &Rc<Router>, message: LlmSetModelOptions) -> Handled {
    let router = router.clone();
    let LlmSetModelOptions { model, context_window } = message;
    to_the_end(async move {
        reply(LlmSetModelOptionsResult { model: router.models.set_window(&model, context_window).await? })
    })
    .await
}

pub(super) fn active(router: &Router) -> Handled {
    let (active, model) = router.models.active().unzip();
    let status = router.models.standing().into();
    reply(LlmGetActiveResult { active, model: model.flatten(), status })
}

pub(super) fn config(router: &Router) -> Handled {
    let providers = router.models.providers();
    let available = providers.iter().filter(|provider| provider.available);
    let available = available.map(|provider| provider.id.clone()).collect();
    let (active, model) = router.models.active().unzip();
    reply(LlmGetConfigResult {
        providers,
        available,
        activeProvider: active,
        activeModel: model.flatten(),
        configuredApiKeys: router.models.with_key(),
        uses: router.models.for_uses(),
    })
}

pub(super) async fn chat(
    router: &Router,
    client: &Rc<Client>,
    pass: Pass,
    id: &str,
    message: LlmChat,
) -> Handled {
    let permit = pass.model_permit().ok_or_else(|| denied(LlmChat::TAG))?;
    router.host.trail.is_open()?;
    let who = owner(client);
    let wishes = Wishes { streams: message.stream == Some(true), counts: message.credit == Some(true) };
    let Chatted { response, provider, model } =
        answered(router, client, id, permit, who, message.into(), wishes).await?;
    reply(LlmChatResult { response, provider, model })
}

pub(super) async fn host_chat(
    router: &Router,
    client: &Rc<Client>,
    id: &str,
    message: HostLlmChat,
) -> Handled {
    let asker = asker(client, &message.origin, &message.profile, message.tab_id)?;
    // Tools that an origin names here are its own, and it is the one that calls them.
    let permit = router.host.model_permit(&asker, false).await?;
    router.host.may_choose_model(&asker, message.provider.as_ref(), message.model.as_ref()).await?;
    let who = ModelCaller {
        principal: asker.origin.shared(),
        by: asker.sender.by.clone(),
        origin: Some(asker.origin.shared()),
        profile: Some(asker.profile.clone()),
        settled: None,
    };
    let wishes = Wishes { streams: message.stream == Some(true), counts: message.credit == Some(true) };
    let answer = answered(router, client, id, permit, who, message.into(), wishes);
    let Chatted { response, provider, model } = tokio::select! {
        // A request that was sent ends when no grant covers it any more.
        ended = router.host.model_permit_ended(&asker, false) => return Err(ended),
        answer = answer => answer?,
    };
    reply(HostLlmChatResult { response, provider, model })
}

/// The person, asking by this client.
fn owner(client: &Client) -> ModelCaller {
    ModelCaller {
        principal: OWNER.into(),
        by: client.sender().by.clone(),
        origin: None,
        profile: None,
        settled: None,
    }
}

/// The client's wishes for the form of the answer.
#[derive(Clone, Copy)]
struct Wishes {
    streams: bool,
    counts: bool,
}

async fn answered(
    router: &Router,
    client: &Rc<Client>,
    id: &str,
    permit: ModelPermit,
    who: ModelCaller,
    ask: ModelQuery,
    wishes: Wishes,
) -> Result<Chatted, ErrorBody> {
    let stream = wishes.streams.then(|| client.stream(&id.into(), wishes.counts)).flatten();
    let (max_frame, _) = client.takes();
    let push = async |event| {
        if let Some(stream) = &stream {
            model_events::push(stream, event, max_frame).await;
        }
    };
    let chatted = router.models.chat(permit, who, ask, push).await?;
    if router.host.trail.is_required() {
        router.host.trail.written().await?;
    }
    Ok(chatted)
}

pub(super) fn more(client: &Client, message: &LlmMore) -> Handled {
    reply(LlmMoreResult { accepted: client.add_credit(&message.target, message.n) })
}

pub(super) async fn host_models(router: &Router, client: &Client, message: HostLlmListModels) -> Handled {
    let asker = asker(client, &message.origin, &message.profile, message.tab_id)?;
    router.host.may_list_models(&asker).await?;
    reply(HostLlmListModelsResult { models: router.models.list_usable().await })
}

pub(super) async fn transcribe(
    router: &Router,
    client: &Client,
    pass: Pass,
    message: LlmTranscribe,
) -> Handled {
    let permit = pass.model_permit().ok_or_else(|| denied(LlmTranscribe::TAG))?;
    router.host.trail.is_open()?;
    let who = owner(client);
    let Transcribed { text, used, provider, model } = router.models.transcribe(permit, who, message).await?;
    if router.host.trail.is_required() {
        router.host.trail.written().await?;
    }
    reply(LlmTranscribeResult { text, provider, model, usage: usage_view(used) })
}

pub(super) async fn count(router: &Router, pass: Pass, message: LlmCountTokens) -> Handled {
    let permit = pass.model_permit().ok_or_else(|| denied(LlmCountTokens::TAG))?;
    let (input_tokens, exactness) = router.models.count_tokens(permit, message.into()).await?;
    reply(LlmCountTokensResult { input_tokens, exactness: exactness.name().into() })
}

pub(super) async fn usage(router: &Router, message: &LlmUsage) -> Handled {
    let usage = router.models.usage(message.since.unwrap_or(0), message.group_by.as_deref()).await?;
    reply(LlmUsageResult { usage, prices: prices::source().to_owned() })
}

pub(super) async fn set_budget(router: &Rc<Router>, client: &Client, message: LlmSetBudget) -> Handled {
    let LlmSetBudget { principal, tokens_per_day } = message;
    let principal = match principal.as_str() {
        EVERYBODY | OWNER => principal,
        server if server_of(server).is_some() => principal,
        origin => parse_origin(origin)?.to_string(),
    };
    let (router, sender) = (router.clone(), client.sender());
    to_the_end(async move {
        let record = AuditRecord {
            origin: Some(Arc::from(&*principal)),
            count: tokens_per_day,
            ..AuditRecord::default()
        };
        router.host.trail.decided(LlmSetBudget::TAG, &sender, record, true).await?;
        reply(LlmSetBudgetResult { budget: router.models.set_budget(&principal, tokens_per_day).await? })
    })
    .await
}

pub(super) fn budgets(router: &Router) -> Handled {
    reply(LlmListBudgetsResult { budgets: router.models.budgets(), of_an_origin: OF_AN_ORIGIN })
}

fn about(provider: &str) -> AuditRecord {
    AuditRecord { provider: Some(Arc::from(provider)), ..AuditRecord::default() }
}
