//! `llm_setup_status`, `llm_…_local`: programs on this machine that Harbor starts, and the files of their models.
//!
//! Owns nothing: each handler reads its message, asks the room and writes its answer.

use std::rc::Rc;
use std::sync::Arc;

use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_ipc_proto::client::{
    LlmDeleteModel, LlmDeleteModelResult, LlmDownloadModel, LlmDownloadModelResult, LlmSetupStatusResult,
    LlmStartLocal, LlmStartLocalResult, LlmStopLocal, LlmStopLocalResult,
};
use harbor_ipc_proto::codes::Code;
use harbor_ipc_proto::field::Message as _;
use harbor_ipc_proto::json::Json;

use super::client::Client;
use super::progress_reporter::progress_to;
use super::reply::{Handled, reply};
use super::state::Router;
use super::steps::steps_to;
use crate::engines::{EngineOrder, PullOrder};
use crate::host::to_the_end;
use crate::link::Progress;
use crate::store::audit::AuditRecord;

/// How long an engine may take to load, in milliseconds.
const START_MS: std::ops::RangeInclusive<u64> = 1000..=580_000;

/// Memory that can be allowed, in MiB.
const MEMORY: std::ops::RangeInclusive<u64> = 64..=1_048_576;

/// Tokens of a conversation that can be asked for.
const CONTEXT: std::ops::RangeInclusive<u32> = 256..=16_777_216;

pub(super) async fn status(router: &Router) -> Handled {
    reply(LlmSetupStatusResult { status: router.engines.status().await })
}

pub(super) async fn start(
    router: &Rc<Router>,
    client: &Rc<Client>,
    id: &str,
    message: LlmStartLocal,
) -> Handled {
    let note = steps_to(client, id, message.progress);
    let (router, sender) = (router.clone(), client.sender());
    let order = order(message)?;
    to_the_end(async move {
        router.host.trail.decided(LlmStartLocal::TAG, &sender, about(&order.model), true).await?;
        let started = router.engines.start(order, note).await?;
        reply(LlmStartLocalResult {
            success: true,
            url: started.url,
            modelId: format!("{}:{}", started.provider, started.model),
            provider: started.provider,
            left_out: started.left_out.into_iter().map(str::to_owned).collect(),
        })
    })
    .await
}

fn order(message: LlmStartLocal) -> Result<EngineOrder, ErrorBody> {
    let LlmStartLocal { model_id, engine, context, devices, memory_mb, network, start_timeout_ms, .. } =
        message;
    if memory_mb.is_some_and(|mib| !MEMORY.contains(&mib)) {
        return Err(invalid("memory_mb", "64 to 1048576 MiB"));
    }
    if context.is_some_and(|tokens| !CONTEXT.contains(&tokens)) {
        return Err(invalid("context", "256 to 16777216 tokens"));
    }
    if start_timeout_ms.is_some_and(|ms| !START_MS.contains(&ms)) {
        return Err(invalid("start_timeout_ms", "1000 to 580000 ms"));
    }
    if engine.as_ref().is_some_and(|path| !path.starts_with('/')) {
        return Err(invalid("engine", "an absolute path"));
    }
    let devices = devices.unwrap_or_default();
    if devices.iter().any(|path| !path.starts_with("/dev/")) {
        return Err(invalid("devices", "paths below /dev"));
    }
    let network = network == Some(true);
    Ok(EngineOrder {
        model: model_id,
        program: engine,
        context,
        devices,
        memory_mb,
        network,
        start_timeout_ms,
    })
}

pub(super) async fn stop(router: &Rc<Router>, client: &Client, message: LlmStopLocal) -> Handled {
    let (router, sender) = (router.clone(), client.sender());
    to_the_end(async move {
        let record =
            AuditRecord { provider: message.provider_id.as_deref().map(Arc::from), ..AuditRecord::default() };
        router.host.trail.decided(LlmStopLocal::TAG, &sender, record, true).await?;
        let providers = router.engines.stop(message.provider_id.as_deref()).await?;
        reply(LlmStopLocalResult { stopped: !providers.is_empty(), providers })
    })
    .await
}

pub(super) async fn pull(
    router: &Router,
    client: &Rc<Client>,
    id: &str,
    message: LlmDownloadModel,
) -> Handled {
    let LlmDownloadModel { model_id, sha256, name, allow_http, allow_private, progress } = message;
    router.host.trail.decided(LlmDownloadModel::TAG, &client.sender(), about(&model_id), true).await?;
    let told = progress_to(client, id, progress);
    let hear = |done: u64, total: u64, message: Option<&str>| {
        let number = |number: u64| Json::from_valid(number.to_string());
        let total = (total > 0).then(|| number(total));
        let said = Progress { progress: number(done), total, message: message.map(str::to_owned) };
        told.iter().for_each(|told| told(&said));
    };
    // Not to its end: whoever asked may have thought better of it.
    let (model_id, message) = match model_id.strip_prefix("ollama:") {
        Some(model) => router.engines.pull_by_ollama(model, hear).await?,
        None => {
            let (allow_http, allow_private) = (allow_http == Some(true), allow_private == Some(true));
            let order = PullOrder { url: model_id, sha256, name, allow_http, allow_private };
            let (name, bytes) = router.engines.pull(order, |done, total| hear(done, total, None)).await?;
            let message = format!("{name} is fetched, {bytes} bytes; `harbor models start {name}` starts it");
            (name, message)
        }
    };
    reply(LlmDownloadModelResult { started: true, modelId: model_id, message })
}

pub(super) async fn delete(router: &Rc<Router>, client: &Client, message: LlmDeleteModel) -> Handled {
    let (router, sender) = (router.clone(), client.sender());
    to_the_end(async move {
        router.host.trail.decided(LlmDeleteModel::TAG, &sender, about(&message.model_id), false).await?;
        router.engines.delete(&message.model_id).await?;
        reply(LlmDeleteModelResult { deleted: true })
    })
    .await
}

/// The model that a line of the audit log is about. An address is cut before its query, which may be a key.
fn about(model: &str) -> AuditRecord {
    let plain = model.split(['?', '#']).next().unwrap_or_default();
    AuditRecord { provider: Some(Arc::from(plain)), ..AuditRecord::default() }
}

fn invalid(field: &'static str, expected: &'static str) -> ErrorBody {
    ErrorBody::new(Code::InvalidParams, format!("field `{field}`: expected {expected}"))
        .with("field", field)
        .with("expected", expected)
}
