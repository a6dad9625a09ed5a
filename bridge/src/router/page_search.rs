//! A model of the person's looks in a page for what the maker of a call means.
//!
//! ```text
//!  meaning, page ─► model ─► typed by the person ──────────────────────┬─► models ─► refs of the page
//!                            grant of model:prompt ────────────────────┤
//!                            none ─► the person ─ once, always ────────┘
//!                                        └─ no, nobody, too late ─► searched by words
//! ```
//!
//! Owns the order of these steps. Must never tell the caller which model it was, nor pass on anything of its answer but refs.

use std::rc::Rc;
use std::time::Instant;

use harbor_home::instance::random_token;
use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_ipc_proto::codes::Code;
use harbor_ipc_proto::model::{Options, ToolChoice};
use harbor_policy::access::ModelPermit;
use harbor_policy::budget::OWNER;
use harbor_policy::consent::answers::Cover;
use harbor_policy::page_search::{self, ANSWER, MOST_TOKENS, UnreadReason};
use harbor_policy::untrusted::Nonce;
use serde_json::json;

use super::state::Router;
use crate::host::asker::{Asker, Caller};
use crate::host::consent::WantedModel;
use crate::host::consent::asking::Decision;
use crate::host::consent::page_search_call::PageSearchCall;
use crate::link::{FoundPlaces, WantedPlaces};
use crate::models::{GivenModel, ModelAnswer, ModelCaller, Prompt};

/// The places that a model has found, by then.
///
/// # Errors
/// Why no model has.
pub(super) async fn found(
    router: &Rc<Router>,
    call: &PageSearchCall,
    wanted: &WantedPlaces,
    until: Instant,
) -> Result<FoundPlaces, UnreadReason> {
    // The page's text may not go to another model than reads the conversation.
    if call.chat.as_ref().is_some_and(|chat| !chat.is_client) {
        return Err(UnreadReason::Conversation);
    }
    if !router.models.has_provider() {
        return Err(UnreadReason::NoModel);
    }
    let model = router.models.for_page().await.map_err(|_| UnreadReason::NoModel)?;
    let (permit, is_granted) = permit(router, call, wanted, &model, until).await?;
    let (prompt, is_whole) = prompt(router, wanted, model).await?;
    let answering = router.models.answer(permit, who(call), prompt, async |_| ());
    let answer = match &call.caller {
        Caller::Origin(asker) if is_granted => tokio::select! {
            // A request that was sent ends when no grant covers it any more.
            _ = router.host.model_permit_ended(asker, false) => return Err(UnreadReason::Refused),
            answer = answering => answer,
        },
        _ => answering.await,
    };
    let ModelAnswer { message, .. } = answer.map_err(|error| unread(&error))?;
    let refs = page_search::refs_of(&message.text(), &wanted.page)?;
    Ok(FoundPlaces { refs, is_whole })
}

/// The request, and whether it has all of the page.
async fn prompt(
    router: &Router,
    wanted: &WantedPlaces,
    model: GivenModel,
) -> Result<(Prompt, bool), UnreadReason> {
    let chosen = router.models.chosen(Some(&model.provider), Some(&model.model), true).await;
    let chosen = chosen.map_err(|error| unread(&error))?;
    let nonce = random_token().ok().as_deref().and_then(Nonce::new).ok_or(UnreadReason::Failed)?;
    let page = (&*wanted.from, &*wanted.page);
    let (messages, is_whole) = page_search::messages(&nonce, &wanted.meaning, page, chosen.window);
    let options = Options {
        max_tokens: Some(MOST_TOKENS),
        response_schema: chosen.takes_schemas.then(|| ANSWER.to_owned()),
        ..Options::default()
    };
    let prompt = Prompt {
        provider: Some(model.provider),
        model: Some(model.model),
        messages,
        tools: Vec::new(),
        tool_choice: ToolChoice::Auto,
        options,
    };
    Ok((prompt, is_whole))
}

/// The permit, once the person has said yes where that is needed; and whether a grant gives it.
async fn permit(
    router: &Router,
    call: &PageSearchCall,
    wanted: &WantedPlaces,
    model: &GivenModel,
    until: Instant,
) -> Result<(ModelPermit, bool), UnreadReason> {
    router.host.trail.is_open().map_err(|_| UnreadReason::Failed)?;
    let Caller::Origin(asker) = &call.caller else {
        return page_search::permit(true, false).map(|permit| (permit, false)).ok_or(UnreadReason::Refused);
    };
    // With the guard on, nothing private leaves without a question.
    let is_leaving = call.chat.is_some() && !model.is_here;
    match router.host.may_prompt(asker) {
        Some(true) if !is_leaving => {
            let permit = router.host.model_permit(asker, false).await;
            permit.map(|permit| (permit, true)).map_err(|_| UnreadReason::Refused)
        }
        Some(false) => Err(UnreadReason::Refused),
        _ => asked(router, (call, asker), wanted, (model, !is_leaving), until)
            .await
            .map(|permit| (permit, false)),
    }
}

async fn asked(
    router: &Router,
    (call, asker): (&PageSearchCall, &Asker),
    wanted: &WantedPlaces,
    (model, may_last): (&GivenModel, bool),
    until: Instant,
) -> Result<ModelPermit, UnreadReason> {
    let words = json!({"meaning": wanted.meaning, "page": wanted.from}).to_string();
    let question = WantedModel { words, why: model.why.clone() };
    // The model needs time, too.
    let patience = until.saturating_duration_since(Instant::now()) * 2 / 3;
    let decision = router.host.ask_for_reading((call, asker), question, may_last, patience).await;
    match decision.map_err(|_| UnreadReason::Refused)? {
        Decision::Yes(cover) => {
            if cover == Cover::Always
                && let Err(error) = router.host.give_model(asker).await
            {
                tracing::warn!(origin = %asker.origin, message = error.message, "the yes for always is not kept");
            }
            page_search::permit(false, true).ok_or(UnreadReason::Refused)
        }
        Decision::No(_) | Decision::Never => Err(UnreadReason::Refused),
        Decision::Silence => Err(UnreadReason::Unanswered),
        Decision::Nobody => Err(UnreadReason::Nobody),
    }
}

/// The one who asks, as the models see it.
fn who(call: &PageSearchCall) -> ModelCaller {
    let by = call.caller.sender().by.clone();
    match &call.caller {
        Caller::Owner(..) => {
            ModelCaller { principal: OWNER.into(), by, origin: None, profile: None, settled: None }
        }
        Caller::Origin(asker) => ModelCaller {
            principal: asker.origin.shared(),
            by,
            origin: Some(asker.origin.shared()),
            profile: Some(asker.profile.clone()),
            settled: None,
        },
    }
}

fn unread(error: &ErrorBody) -> UnreadReason {
    match error.code {
        Code::BudgetExceeded | Code::RateLimited => UnreadReason::Budget,
        _ => UnreadReason::Failed,
    }
}
