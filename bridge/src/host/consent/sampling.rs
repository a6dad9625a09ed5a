//! The question whether a language model of the person's may answer a server.
//!
//! Owns who is asked, and how often. Must never keep an answer for always: that is the server's own setting.

use std::sync::Arc;
use std::time::Duration;

use harbor_home::clock::{boot_clock, wall_clock};
use harbor_home::instance::random_token;
use harbor_ipc_proto::client::Approval;
use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_ipc_proto::source_id::SourceId;
use harbor_policy::consent::answers::Cover;
use harbor_policy::consent::facts::{Effect, Holding};
use harbor_policy::consent::{Names, Why};
use harbor_policy::sampling;

use super::asking::{Decision, OpenApproval, SERVER};
use super::requested_call::{KnownTool, QuestionedCall};
use super::sampling_call::SamplingCall;
use super::{asking, call_refusals};
use crate::host::Host;
use crate::store::audit::AuditRecord;

/// The subject of the question.
#[derive(Debug)]
pub struct WantedModel {
    /// The server's words, a JSON object.
    pub words: String,
    /// The sentence that says which model would answer, and where it runs.
    pub why: String,
}

/// The answers that the question has.
const ANSWERS: [&str; 4] = ["once", "always", "no", "never"];

impl Host {
    /// Asks the person whether a model may answer a server, at most for `patience`.
    ///
    /// # Errors
    /// When the person was asked too often on this server's behalf.
    pub async fn ask_for_model(
        &self,
        call: &SamplingCall,
        wanted: WantedModel,
        patience: Duration,
    ) -> Result<Decision, ErrorBody> {
        let principal: Arc<str> = sampling::principal(&call.server).into();
        let (questioned, consent) = (questioned(call, &principal, wanted.words), &self.consent);
        if let Some(said) = self.said_of(&questioned, Why::Sampling) {
            return Ok(said);
        }
        consent.paces.may_ask(&principal, consent.questions.waiting_of(&principal), wall_clock())?;
        consent.questions.forget_missed(&principal);
        let session_id = call.chat.as_ref().map(|chat| chat.id.to_string());
        let approval = approval(&questioned, wanted.why, session_id, patience)?;
        let (asked, receiver) = OpenApproval::about_model(approval, questioned.clone(), call.sender.client);
        let shown_by = (call.chat.clone(), call.form.clone());
        let decision = consent.questions.ask(asked, receiver, shown_by, patience).await;
        if decision != Decision::Nobody {
            consent.paces.note(&principal, matches!(decision, Decision::Yes(_)), wall_clock());
        }
        if matches!(decision, Decision::No(_)) {
            consent.deny(&questioned);
        }
        self.note_decision_about(call, &decision).await;
        Ok(decision)
    }

    /// The person's answer to the same words, where one stands. A yes is used up by that.
    pub(super) fn said_of(&self, questioned: &QuestionedCall, why: Why) -> Option<Decision> {
        let (mut answers, call, now) = (self.consent.answers.borrow_mut(), questioned.call(), boot_clock());
        if answers.denies(&call, now) {
            return Some(Decision::No(None));
        }
        let is_covered = answers.covers(&call, why, &Names::new(), now);
        answers.use_up(&call);
        is_covered.then_some(Decision::Yes(Cover::Once))
    }

    async fn note_decision_about(&self, call: &SamplingCall, decision: &Decision) {
        let (is_yes, outcome) = match decision {
            Decision::Yes(_) => (true, "allowed"),
            Decision::No(_) | Decision::Never => (false, "denied"),
            Decision::Silence | Decision::Nobody => (false, "dismissed"),
        };
        let record = AuditRecord {
            server: Some(call.server.shared()),
            message: Some(sampling::METHOD),
            asked_tools: Some([format!("{}/{}", call.server, sampling::METHOD)].into()),
            decision: if is_yes { "allowed" } else { "denied" },
            outcome: Some(outcome),
            ..AuditRecord::default()
        };
        // It gives nothing to anybody beyond this one answer.
        let _ = self.trail.decided("consent", &call.sender, record, false).await;
    }
}

/// The server's request as it is compared with what the person has answered.
fn questioned(call: &SamplingCall, principal: &Arc<str>, words: String) -> QuestionedCall {
    QuestionedCall {
        principal: principal.clone(),
        chat: None,
        in_turn: false,
        source: SourceId::from(&call.server),
        tool: sampling::METHOD.into(),
        arguments: words,
        known: KnownTool::of_request(Holding::UNKNOWN),
    }
}

fn approval(
    questioned: &QuestionedCall,
    why: String,
    session_id: Option<String>,
    patience: Duration,
) -> Result<Approval, ErrorBody> {
    let since = wall_clock();
    Ok(Approval {
        id: random_token().map_err(|error| call_refusals::no_numbers(&error))?,
        state: "waiting".into(),
        who: SERVER.into(),
        principal: questioned.principal.to_string(),
        tab_id: None,
        own: None,
        session_id,
        call_id: None,
        tool: format!("{}/{}", questioned.source, questioned.tool),
        effect: Effect::Reads.word().into(),
        reason: Why::Sampling.word().into(),
        why,
        private: Vec::new(),
        fields: asking::fields(&questioned.arguments),
        answers: ANSWERS.map(ToOwned::to_owned).into(),
        since,
        until: since.saturating_add(u64::try_from(patience.as_millis()).unwrap_or(u64::MAX)),
    })
}
