//! The question whether a language model of the person's may read a page for an AI client.
//!
//! ```text
//!  no grant of model:prompt ─► question ─┬─ once ───► this page, for this
//!                                        ├─ always ─► the grant
//!                                        └─ no ─────► the page is searched by words
//! ```
//!
//! Owns who is asked, and how often. Must never hold the page's text.

use std::time::Duration;

use harbor_home::clock::wall_clock;
use harbor_home::instance::random_token;
use harbor_ipc_proto::client::Approval;
use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_policy::browser_tools::FIND;
use harbor_policy::consent::Why;
use harbor_policy::consent::facts::{Effect, Holding};
use harbor_policy::scope::Scope;

use super::asking::{Decision, OpenApproval};
use super::page_search_call::PageSearchCall;
use super::requested_call::{KnownTool, QuestionedCall};
use super::{WantedModel, asking, call_refusals};
use crate::host::Host;
use crate::host::asker::Asker;

impl Host {
    /// Asks the person whether a model may read a page for `asker`, at most for `patience`. `may_last`: a yes may be for always.
    ///
    /// # Errors
    /// When the person was asked too often on this client's behalf.
    pub async fn ask_for_reading(
        &self,
        (call, asker): (&PageSearchCall, &Asker),
        wanted: WantedModel,
        may_last: bool,
        patience: Duration,
    ) -> Result<Decision, ErrorBody> {
        let (principal, consent) = (asker.origin.shared(), &self.consent);
        // Under a name of its own: a yes to this is none to a call.
        let questioned = QuestionedCall {
            principal: principal.clone(),
            chat: None,
            in_turn: false,
            source: call.source.clone(),
            tool: Scope::ModelPrompt.as_str().into(),
            arguments: wanted.words,
            known: KnownTool::of_request(Holding::UNKNOWN),
        };
        if let Some(said) = self.said_of(&questioned, Why::Reading) {
            return Ok(said);
        }
        consent.paces.may_ask(&principal, consent.questions.waiting_of(&principal), wall_clock())?;
        let approval = approval(&questioned, wanted.why, may_last, patience)?;
        let (asked, receiver) = OpenApproval::new(approval, questioned.clone(), None, &call.caller);
        let decision = consent.questions.ask(asked, receiver, (None, call.form.clone()), patience).await;
        if decision != Decision::Nobody {
            consent.paces.note(&principal, matches!(decision, Decision::Yes(_)), wall_clock());
        }
        if matches!(decision, Decision::No(_)) {
            consent.deny(&questioned);
        }
        let outcome = match &decision {
            Decision::Yes(_) => "allowed",
            Decision::No(_) | Decision::Never => "denied",
            Decision::Silence | Decision::Nobody => "dismissed",
        };
        let tools = vec![format!("{}/{}", call.source, Scope::ModelPrompt.as_str())];
        // The answer is told even if the log cannot be written.
        let _ = self.note_consent(asker, Some(tools), outcome).await;
        Ok(decision)
    }
}

fn approval(
    questioned: &QuestionedCall,
    why: String,
    may_last: bool,
    patience: Duration,
) -> Result<Approval, ErrorBody> {
    let since = wall_clock();
    let answers: &[&str] = if may_last { &["once", "always", "no"] } else { &["once", "no"] };
    Ok(Approval {
        id: random_token().map_err(|error| call_refusals::no_numbers(&error))?,
        state: "waiting".into(),
        who: "client".into(),
        principal: questioned.principal.to_string(),
        tab_id: None,
        own: None,
        session_id: None,
        call_id: None,
        tool: format!("{}/{FIND}", questioned.source),
        effect: Effect::Reads.word().into(),
        reason: Why::Reading.word().into(),
        why,
        private: Vec::new(),
        fields: asking::fields(&questioned.arguments),
        answers: answers.iter().map(ToString::to_string).collect(),
        since,
        until: since.saturating_add(u64::try_from(patience.as_millis()).unwrap_or(u64::MAX)),
    })
}
