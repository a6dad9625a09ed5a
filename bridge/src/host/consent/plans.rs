//! The plan of a turn: proposed by the model, shown to the person as data, approved or refused.
//!
//! Owns that a plan is asked about where its turn is watched, and judged again when the answer comes. Must never take a plan
//! from anything but a call of the model, nor keep it beyond its turn.

use std::rc::Rc;

use harbor_home::clock::{boot_clock, wall_clock};
use harbor_home::instance::random_token;
use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_ipc_proto::client::{Approval, StandingAnswer};
use harbor_ipc_proto::codes::Code;
use harbor_policy::consent::answers::Cover;
use harbor_policy::consent::approved_plans::{ApprovedPlan, PlanVerdict};
use harbor_policy::consent::facts::Effect;
use harbor_policy::consent::plan::{ActionPlan, UPDATE_PLAN};
use harbor_policy::consent::{Mode, Who, Why};

use super::asking::{Decision, OpenApproval};
use super::chat::Chat;
use super::{Judged, OF_PERSON, asking, call_refusals};
use crate::config::OWNER;
use crate::host::Host;

/// The answers that the question has.
const ANSWERS: [&str; 2] = ["once", "no"];

/// A plan that the person's model proposes.
#[derive(Debug, Clone)]
pub struct ProposedPlan {
    /// The conversation.
    pub chat: Rc<Chat>,
    /// The connection whose request the turn is.
    pub client: u64,
    /// The id of the model's call.
    pub call_id: String,
    /// The plan.
    pub plan: ActionPlan,
}

impl Host {
    /// The judgement of a proposed plan. One that has nothing new holds from now on.
    #[must_use]
    pub fn judged_plan(&self, proposed: &ProposedPlan) -> Judged {
        let (chat, plan) = (&*proposed.chat.id, &proposed.plan);
        let mut answers = self.consent.answers.borrow_mut();
        match answers.plans.judge(chat, plan) {
            PlanVerdict::Approved => {
                answers.plans.narrow(chat, plan);
                Judged::Run
            }
            PlanVerdict::Ask { .. } => Judged::Ask,
            PlanVerdict::Refuse(why) => Judged::Refuse(refused(why.sentence())),
        }
    }

    /// Asks the person about a proposed plan, and returns their yes.
    ///
    /// # Errors
    /// Why it does not hold.
    pub async fn clear_plan(&self, proposed: &ProposedPlan) -> Result<Option<Cover>, ErrorBody> {
        let (consent, plan) = (&self.consent, &proposed.plan);
        let verdict = consent.answers.borrow().plans.judge(&proposed.chat.id, plan);
        let new = match verdict {
            PlanVerdict::Approved => return Ok(None),
            PlanVerdict::Refuse(why) => return Err(refused(why.sentence())),
            PlanVerdict::Ask { new } => new,
        };
        let whole = plan.shown(new.as_ref());
        let approval = approval(proposed, &whole)?;
        let id = approval.id.clone();
        let (asked, receiver) = OpenApproval::about_plan(approval, whole, proposed.client);
        let shown_by = (Some(proposed.chat.clone()), None);
        match consent.questions.ask(asked, receiver, shown_by, OF_PERSON).await {
            Decision::Yes(cover) => {
                let (principal, chat) = (OWNER.to_owned(), proposed.chat.id.to_string());
                let approved = ApprovedPlan { id, principal, chat, plan: plan.clone(), since: boot_clock() };
                consent.answers.borrow_mut().plans.approve(approved);
                Ok(Some(cover))
            }
            Decision::No(reason) => {
                consent.answers.borrow_mut().plans.refuse(&proposed.chat.id, plan.clone());
                Err(declined(reason))
            }
            Decision::Never | Decision::Silence | Decision::Nobody => {
                Err(refused("The person was asked about the plan, but has not answered.".into()))
            }
        }
    }
}

/// A question about a plan in the form for the person.
fn approval(proposed: &ProposedPlan, whole: &str) -> Result<Approval, ErrorBody> {
    let since = wall_clock();
    Ok(Approval {
        id: random_token().map_err(|error| call_refusals::no_numbers(&error))?,
        state: "waiting".into(),
        who: Who::Person(Mode::Plan).word().into(),
        principal: OWNER.into(),
        tab_id: None,
        own: None,
        session_id: Some(proposed.chat.id.to_string()),
        call_id: Some(proposed.call_id.clone()),
        tool: UPDATE_PLAN.into(),
        effect: Effect::Writes.word().into(),
        reason: Why::Plan.word().into(),
        why: Why::Plan.sentence().into(),
        private: Vec::new(),
        fields: asking::fields(whole),
        answers: ANSWERS.map(ToOwned::to_owned).into(),
        since,
        until: since.saturating_add(u64::try_from(OF_PERSON.as_millis()).unwrap_or(u64::MAX)),
    })
}

/// An approved plan in the list of answers that stand.
pub(super) fn view(approved: &ApprovedPlan, now: u64) -> StandingAnswer {
    StandingAnswer {
        id: approved.id.clone(),
        covers: Why::Plan.word().into(),
        principal: approved.principal.clone(),
        session_id: Some(approved.chat.clone()),
        what: approved.plan.names(),
        private: Vec::new(),
        since: wall_clock().saturating_sub(now.saturating_sub(approved.since)),
        until: None,
    }
}

fn declined(reason: Option<String>) -> ErrorBody {
    let message = match reason {
        Some(reason) => {
            format!("The person refused the plan, and says: {reason}. Do not try to get around that.")
        }
        None => "The person refused the plan. Do not try to get around that.".into(),
    };
    refused(message).with("reason", "declined")
}

fn refused(message: String) -> ErrorBody {
    ErrorBody::new(Code::PermissionDenied, message)
}
