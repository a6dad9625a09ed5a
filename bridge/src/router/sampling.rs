//! A server asks for a language model's answer during a call whose maker gives none: a model of the person's answers.
//!
//! ```text
//!  question ─► read (policy) ─► model ─► setting ─┬─ allow ────────────────────────────┬─► models ─► answer
//!                                                 ├─ ask ─► the person ─ once, always ─┘
//!                                                 │              └─ no, never, nobody ─► refused
//!                                                 └─ deny ─────────────────────────────► refused
//! ```
//!
//! Owns the order of these steps, and that each takes no longer than the call may. Must never pass on anything but the
//! server's own words, nor write one down.

use std::rc::{Rc, Weak};
use std::sync::Arc;
use std::time::{Duration, Instant};

use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_ipc_proto::client::{Sampling, SetSupervision, Supervision};
use harbor_ipc_proto::field::JsonObject;
use harbor_ipc_proto::link::runner::AskAnswer;
use harbor_ipc_proto::model::{Finish, Part, ToolChoice};
use harbor_ipc_proto::server_id::ServerId;
use harbor_policy::access::{ModelPermit, Principal};
use harbor_policy::consent::answers::Cover;
use harbor_policy::page_search::UnreadReason;
use harbor_policy::sampling;

use super::page_search;
use super::state::Router;
use crate::host::asker::Sender;
use crate::host::consent::WantedModel;
use crate::host::consent::asking::Decision;
use crate::host::consent::page_search_call::PageSearchCall;
use crate::host::consent::sampling_call::{Samples, SamplingCall, SamplingWork};
use crate::link::{PageSearchWork, Question, REJECTED, WantedPlaces};
use crate::models::{GivenModel, ModelAnswer, ModelCaller, Prompt};

/// JSON-RPC: the parameters cannot be used.
const INVALID_PARAMS: i64 = -32602;

/// A question is answered this long before its call ends, so that the answer still arrives.
const LEFT: Duration = Duration::from_secs(1);

/// The router as the part of Harbor that has models.
struct ModelsOfRouter(Weak<Router>);

/// Why a server gets no answer: JSON-RPC's number and a sentence.
struct SamplingRefusal(i64, String);

impl From<ErrorBody> for SamplingRefusal {
    fn from(error: ErrorBody) -> Self {
        Self(REJECTED, error.message)
    }
}

/// Has the models of this router answer servers.
pub fn begin(router: &Rc<Router>) {
    router.host.sample_by(Rc::new(ModelsOfRouter(Rc::downgrade(router))));
}

impl Samples for ModelsOfRouter {
    fn may(&self, server: &ServerId) -> bool {
        self.0
            .upgrade()
            .is_some_and(|router| router.models.has_provider() && setting(&router, server) != Sampling::Deny)
    }

    fn answer(&self, call: Rc<SamplingCall>, question: Question) -> SamplingWork<()> {
        let router = self.0.upgrade();
        Box::pin(async move {
            let Some(router) = router else { return };
            let until = question.until.checked_sub(LEFT).unwrap_or(question.until);
            router.host.note_question(&call.sender, call.server.shared(), question.method);
            let answered = answered(&router, &call, &question, until);
            let answer = match tokio::time::timeout_at(until.into(), answered).await {
                Ok(Ok(result)) => AskAnswer::Result(result.into()),
                Ok(Err(SamplingRefusal(code, message))) => {
                    AskAnswer::Refused { code, message: message.into() }
                }
                Err(_) => AskAnswer::Refused { code: REJECTED, message: "no answer came in time".into() },
            };
            question.answer(answer);
        })
    }

    fn search(&self, call: Rc<PageSearchCall>, wanted: WantedPlaces, until: Instant) -> PageSearchWork {
        let router = self.0.upgrade();
        Box::pin(async move {
            match router {
                Some(router) => page_search::found(&router, &call, &wanted, until).await,
                None => Err(UnreadReason::NoModel),
            }
        })
    }

    fn keep(&self, server: &ServerId, client: u64, word: Sampling) -> SamplingWork<Result<(), ErrorBody>> {
        let (router, server) = (self.0.upgrade(), server.clone());
        Box::pin(async move {
            match router {
                Some(router) => keep(&router, server, client, word).await,
                None => Ok(()),
            }
        })
    }
}

fn setting(router: &Router, server: &ServerId) -> Sampling {
    let server = router.host.server(server).ok();
    server.and_then(|server| server.definition().supervision.sampling).unwrap_or_default()
}

/// Keeps the person's word as the server's setting.
async fn keep(router: &Router, server: ServerId, client: u64, word: Sampling) -> Result<(), ErrorBody> {
    let supervision = Supervision { sampling: Some(word), ..Supervision::default() };
    let message = SetSupervision {
        server_id: server,
        supervision: Some(JsonObject::written(&supervision)),
        reset: None,
        label: None,
        args: None,
        env: None,
        unset: None,
    };
    let sender = Rc::new(Sender::new(&Principal::Owner, client));
    router.installs.set_supervision(&sender, message).await.map(drop)
}

async fn answered(
    router: &Router,
    call: &SamplingCall,
    question: &Question,
    until: Instant,
) -> Result<String, SamplingRefusal> {
    let sampled = sampling::Sampled::read(question.params.as_str());
    let sampled = sampled.map_err(|words| SamplingRefusal(INVALID_PARAMS, words.into()))?;
    if sampled.wants_context {
        router.host.server(&call.server)?.remark(
            "it asked for the context of other servers besides (includeContext); the model gets its own words only".into(),
        );
    }
    let model = router.models.for_server(&sampled.hints).await?;
    let permit = permit(router, call, &sampled, &model, until).await?;
    router.host.trail.is_open()?;
    let prompt = Prompt {
        provider: Some(model.provider),
        model: Some(model.model),
        messages: sampled.messages,
        tools: Vec::new(),
        tool_choice: ToolChoice::Auto,
        options: sampled.options,
    };
    let answer = router.models.answer(permit, caller(call), prompt, async |_| ()).await?;
    if router.host.trail.is_required() {
        router.host.trail.written().await?;
    }
    result(answer)
}

/// The one who asks, as the models see it: the server itself, which is no more trusted than a page.
fn caller(call: &SamplingCall) -> ModelCaller {
    let principal: Arc<str> = sampling::principal(&call.server).into();
    let by = call.sender.by.clone();
    ModelCaller { origin: Some(principal.clone()), principal, by, profile: None, settled: None }
}

/// The permit to ask the model, once the person has said yes where that is needed.
async fn permit(
    router: &Router,
    call: &SamplingCall,
    sampled: &sampling::Sampled,
    model: &GivenModel,
    until: Instant,
) -> Result<ModelPermit, SamplingRefusal> {
    let refused = |why: &str| SamplingRefusal(REJECTED, why.to_owned());
    let denied = || refused("the person does not let this server ask a language model");
    if let Some(permit) = sampling::permit(setting(router, &call.server), false) {
        return Ok(permit);
    }
    if setting(router, &call.server) == Sampling::Deny {
        return Err(denied());
    }
    let wanted = WantedModel { words: sampled.shown(), why: model.why.clone() };
    // The model needs time, too.
    let patience = until.saturating_duration_since(Instant::now()) * 2 / 3;
    match router.host.ask_for_model(call, wanted, patience).await? {
        Decision::Yes(Cover::Always) => keep_or_warn(router, call, Sampling::Allow).await,
        Decision::Yes(_) => {}
        Decision::Never => {
            keep_or_warn(router, call, Sampling::Deny).await;
            return Err(denied());
        }
        Decision::No(_) => return Err(refused("the person refused to have a language model answer this")),
        Decision::Silence => return Err(refused("the person was asked, but did not answer in time")),
        Decision::Nobody => return Err(nobody(&call.server)),
    }
    sampling::permit(setting(router, &call.server), true).ok_or_else(denied)
}

fn nobody(server: &ServerId) -> SamplingRefusal {
    SamplingRefusal(
        REJECTED,
        format!(
            "a language model answers this after the person's yes only, and nobody is here to ask. `harbor approvals` shows the \
             question, and `harbor set {server} --sampling allow` allows it for good"
        ),
    )
}

/// Keeps an answer that holds for good. One that cannot be kept holds for this request.
async fn keep_or_warn(router: &Router, call: &SamplingCall, word: Sampling) {
    if let Err(error) = keep(router, call.server.clone(), call.sender.client, word).await {
        let message = error.message;
        tracing::warn!(server = %call.server, message, "the answer about its use of models is not kept");
    }
}

/// MCP's result.
fn result(answer: ModelAnswer) -> Result<String, SamplingRefusal> {
    let text = |part| if let Part::Text(text) = part { Some(text) } else { None };
    let text: String = answer.message.parts.into_iter().filter_map(text).collect();
    match answer.finish {
        Finish::Error => Err(SamplingRefusal(REJECTED, "the model's provider kept the answer back".into())),
        _ if text.is_empty() => Err(SamplingRefusal(REJECTED, "the model said nothing".into())),
        finish => Ok(sampling::result(&text, &answer.model, finish == Finish::Length)),
    }
}
