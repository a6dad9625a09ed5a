//! The question before an AI client's first call of a source that it was not given.
//!
//! ```text
//!  call ─► no grant covers it ─► the source is there, nothing was denied? ─► question ─┬─ once ────────► this call
//!                                                                                      ├─ ten_minutes ─► a grant that ends
//!                                                                                      ├─ always ──────► a grant that lasts
//!                                                                                      ├─ no ──────────► refused
//!                                                                                      └─ never ───────► refused, never asked again
//! ```
//!
//! Owns what each answer gives. A yes never takes anything: earlier grants stay. Must never ask on behalf of a page, nor
//! about anything that the person has denied.

use std::rc::Rc;

use harbor_home::clock::boot_clock;
use harbor_home::instance::random_token;
use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_ipc_proto::codes::Code;
use harbor_ipc_proto::source_id::SourceId;
use harbor_policy::access::Right;
use harbor_policy::browser_tools::is_by_name;
use harbor_policy::consent;
use harbor_policy::consent::answers::{A_WHILE, Cover};
use harbor_policy::consent::facts::{Effect, Holding};
use harbor_policy::grants::{GrantType, Key, NewGrant};
use harbor_policy::scope::Scope;
use harbor_policy::tool_name::{Allowlist, EVERY};

use super::asking::{Decision, Form};
use super::requested_call::{KnownTool, QuestionedCall, RequestedCall, call};
use super::{AT_MOST, Consent, call_refusals};
use crate::config::{FirstUse, OWNER};
use crate::host::asker::{Asker, Sender};
use crate::host::{Host, RequestedGrant as Grant};

/// The facts before the source is examined. The question needs none of them.
fn unknown() -> KnownTool {
    KnownTool { effect: Effect::Writes, ..KnownTool::of_request(Holding::UNKNOWN) }
}

impl Consent {
    /// True if the person has let a client make this call, which no grant covers.
    fn is_let_in(&self, wish: &RequestedCall<'_>) -> bool {
        let (principal, known) = (wish.principal(), unknown());
        let call = call((&principal, None), (wish.source, wish.tool), wish.arguments, &known);
        self.answers.borrow().is_let_in(&call, boot_clock())
    }

    /// The right to such a call. Taking it uses it up.
    pub(in crate::host) fn enter(&self, wish: &RequestedCall<'_>) -> Option<Right> {
        let (principal, known) = (wish.principal(), unknown());
        let call = call((&principal, None), (wish.source, wish.tool), wish.arguments, &known);
        self.answers.borrow_mut().enter(&call, wish.source.kind(), boot_clock())
    }

    /// True if the person is never to be asked again about this client and source.
    pub(in crate::host) fn is_never(&self, principal: &str, source: &SourceId) -> bool {
        self.never.borrow().contains(&(principal.to_owned(), source.to_string()))
    }
}

impl Host {
    /// Asks whether an AI client may make a call that `refusal` refuses, if that is a question for the
    /// person.
    ///
    /// # Errors
    /// Why it may not.
    pub(in crate::host) async fn let_in(
        &self,
        wish: &RequestedCall<'_>,
        asker: &Asker,
        form: Option<Form>,
        refusal: ErrorBody,
    ) -> Result<(), ErrorBody> {
        if self.consent.is_let_in(wish) {
            return Ok(());
        }
        if !self.is_a_question(wish, asker, &refusal) {
            return Err(refusal);
        }
        let question = consent::first_use();
        let why = question.why;
        let decision = self.consent.ask(wish, &unknown(), question, (form, AT_MOST)).await?;
        self.note_decision_of(wish, &decision).await;
        match &decision {
            Decision::Nobody => Err(call_refusals::not_let_in(wish, refusal)),
            Decision::Silence => Err(call_refusals::unanswered(wish, why)),
            _ => self.take_first_use(asker, &wish.wanted(&unknown()), &decision).await,
        }
    }

    /// True if the source exists, nobody has denied it, and the person has not chosen single tools of it.
    fn is_a_question(&self, wish: &RequestedCall<'_>, asker: &Asker, refusal: &ErrorBody) -> bool {
        let is_missing = refusal.code == Code::ScopeRequired || refusal.has("reason", "allowlist");
        asker.sender.own.is_some()
            && is_missing
            && !is_by_name(wish.source, wish.tool)
            && self.config.now().first_use != FirstUse::None
            && self.sources.get(wish.source).is_some()
            && !self.suspended.has(wish.source)
            && !self.consent.is_never(asker.origin.as_str(), wish.source)
            && !self.has_chosen_of(asker, wish.source)
    }

    /// True if a grant of this client names tools of a source.
    fn has_chosen_of(&self, asker: &Asker, source: &SourceId) -> bool {
        let grants = self.permissions.list(Some(&asker.origin), Some(&asker.profile), None);
        let is_of = |tool: &String| tool.split_once('/').is_some_and(|(of, _)| of == source.as_str());
        grants.iter().flat_map(|grant| grant.allowed_tools.iter().flatten()).any(is_of)
    }

    /// Carries out the answer to such a question.
    ///
    /// # Errors
    /// Why the call is not made.
    pub(super) async fn take_first_use(
        &self,
        asker: &Asker,
        wanted: &QuestionedCall,
        decision: &Decision,
    ) -> Result<(), ErrorBody> {
        let source = &wanted.source;
        match decision {
            Decision::Yes(Cover::Once) => {
                let id = random_token().unwrap_or_default();
                self.consent.answers.borrow_mut().let_in(&wanted.call(), id, boot_clock());
                Ok(())
            }
            Decision::Yes(Cover::TenMinutes) => self.give(asker, source, GrantType::AllowOnce).await,
            Decision::Yes(_) => self.give(asker, source, GrantType::AllowAlways).await,
            _ => {
                if *decision == Decision::Never {
                    let (principal, source) = (asker.origin.to_string(), source.to_string());
                    let stored = self.consent.tables.set_never(&principal, &source, true).await;
                    self.consent.never.borrow_mut().insert((principal, source));
                    stored.map_err(|error| ErrorBody::new(Code::Internal, error.to_string()))?;
                }
                let message =
                    format!("the person does not allow {} to use {source}; nothing was done", asker.origin);
                Err(ErrorBody::new(Code::PermissionDenied, message).with("reason", "declined"))
            }
        }
    }

    /// Grants all tools of a source, besides those that grants of this type cover already.
    async fn give(&self, asker: &Asker, source: &SourceId, grant_type: GrantType) -> Result<(), ErrorBody> {
        let key =
            Key { origin: asker.origin.clone(), profile: asker.profile.clone(), scope: Scope::McpToolsCall };
        let before = self.permissions.list(Some(&asker.origin), Some(&asker.profile), None).into_iter();
        let mut same = before.filter(|grant| {
            *grant.grant_type == *grant_type.as_str()
                && *grant.scope == *key.scope.as_str()
                && grant.tab_id.is_none()
        });
        let mut tools = match same.next() {
            Some(grant) => grant.allowed_tools.unwrap_or_else(|| vec![EVERY.to_owned()]),
            None => Vec::new(),
        };
        tools.push(format!("{source}/*"));
        let tools = Allowlist::parse(&tools)
            .map_err(|wrong| ErrorBody::new(Code::InvalidParams, wrong.to_string()))?;
        let lifetime_ms = (grant_type == GrantType::AllowOnce).then_some(A_WHILE);
        let grant = NewGrant { grant_type, tools: Some(tools), tab: None, lifetime_ms };
        let expires_at =
            lifetime_ms.map(|lifetime| harbor_home::clock::wall_clock().saturating_add(lifetime));
        // The person has answered, whoever's request it is about.
        let sender = Sender { by: OWNER.into(), ..Sender::clone(&asker.sender) };
        self.permissions.grant(&Rc::new(sender), Grant { key, grant, expires_at }).await.map(drop)
    }
}
