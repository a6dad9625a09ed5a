//! The plans that the person has approved or refused: one approved plan for a turn at most.
//!
//! ```text
//!  proposed ─┬─ nothing new in it ──────────► Approved: it takes the place of the one before
//!            ├─ a change without a reason ──► Refuse
//!            ├─ refused before, or too often ► Refuse
//!            └─ else ───────────────────────► Ask, with what is new in it ─► approve, or refuse
//! ```
//!
//! Owns that a plan ends with its turn. Must never cover a call of another principal or conversation.

use super::call::Call;
use super::plan::{ActionPlan, UnfitPlan};
use super::why::Why;

/// The number of refused plans in a turn after which the person is asked about no other.
const MOST_REFUSED: usize = 3;

/// An approved plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApprovedPlan {
    /// Its id.
    pub id: String,
    /// The principal whose model it is.
    pub principal: String,
    /// The conversation.
    pub chat: String,
    /// The plan.
    pub plan: ActionPlan,
    /// The time since which it holds.
    pub since: u64,
}

/// The decision about a proposed plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlanVerdict {
    /// The approved plan has all of it.
    Approved,
    /// The person is asked. `new` has the part that the approved plan lacks, where there is one.
    Ask {
        /// That part.
        new: Option<ActionPlan>,
    },
    /// It is not shown to the person, for this reason.
    Refuse(RefusedPlan),
}

/// The reason why a plan that is whole is not shown to the person.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RefusedPlan {
    /// It is unfit as a change.
    Unfit(UnfitPlan),
    /// The person has refused it.
    Again,
    /// The person has refused several.
    TooOften,
}

impl RefusedPlan {
    /// The answer to the model.
    #[must_use]
    pub fn sentence(self) -> String {
        match self {
            Self::Unfit(why) => why.to_string(),
            Self::Again => "The person has refused this plan. Do not propose it again.".into(),
            Self::TooOften => {
                "The person has refused several plans; no other is shown to them. Go on without one, and ask for single calls."
                    .into()
            }
        }
    }
}

/// The plans of all turns.
#[derive(Debug, Clone, Default)]
pub struct ApprovedPlans {
    approved: Vec<ApprovedPlan>,
    /// Refused plans, each with its conversation.
    refused: Vec<(String, ActionPlan)>,
}

impl ApprovedPlans {
    /// The verdict on a plan that the model of a conversation proposes.
    #[must_use]
    pub fn judge(&self, chat: &str, plan: &ActionPlan) -> PlanVerdict {
        let approved = self.approved.iter().find(|approved| approved.chat == chat);
        let new = approved.map(|approved| plan.beyond(&approved.plan));
        let mut refused = self.refused.iter().filter(|(of, _)| of == chat);
        let why = match &new {
            Some(None) => return PlanVerdict::Approved,
            Some(Some(_)) if plan.reason.is_empty() => RefusedPlan::Unfit(UnfitPlan::NoReason),
            _ if refused.clone().any(|(_, refused)| refused.is_same(plan)) => RefusedPlan::Again,
            _ if refused.nth(MOST_REFUSED - 1).is_some() => RefusedPlan::TooOften,
            _ => return PlanVerdict::Ask { new: new.flatten() },
        };
        PlanVerdict::Refuse(why)
    }

    /// A plan holds from now on, in place of the one before.
    pub fn approve(&mut self, approved: ApprovedPlan) {
        self.approved.retain(|known| known.chat != approved.chat);
        self.approved.push(approved);
    }

    /// The plan of a conversation becomes one that has nothing new in it.
    pub fn narrow(&mut self, chat: &str, plan: &ActionPlan) {
        let known = self.approved.iter_mut().find(|known| known.chat == chat);
        known
            .into_iter()
            .filter(|known| plan.beyond(&known.plan).is_none())
            .for_each(|known| known.plan = plan.clone());
    }

    /// The person has refused a plan.
    pub fn refuse(&mut self, chat: &str, plan: ActionPlan) {
        self.refused.push((chat.to_owned(), plan));
    }

    /// True if a call is within the plan of its conversation.
    #[must_use]
    pub fn cover(&self, call: &Call<'_>, why: Why) -> bool {
        let is_of = |known: &&ApprovedPlan| {
            known.principal == call.principal && call.chat == Some(known.chat.as_str())
        };
        let mut of_chat = self.approved.iter().filter(is_of);
        of_chat.any(|known| known.plan.covers(call, why.is_leaving()))
    }

    /// A turn of a conversation begins: no plan of an earlier one holds.
    pub fn begin_turn(&mut self, chat: &str) {
        self.approved.retain(|known| known.chat != chat);
        self.refused.retain(|(of, _)| of != chat);
    }

    /// Takes back the plans that `is_meant` names, and returns their number.
    pub fn revoke(&mut self, is_meant: impl Fn(&ApprovedPlan) -> bool) -> usize {
        self.approved.extract_if(.., |known| is_meant(known)).count()
    }

    /// Plans end with their conversation, and with each server that they name.
    pub fn forget(&mut self, is_meant: impl Fn(Option<&str>, &str) -> bool) {
        let names = |known: &ApprovedPlan| {
            let chat = Some(known.chat.as_str());
            is_meant(chat, "") || known.plan.servers.iter().any(|server| is_meant(chat, server))
        };
        self.approved.retain(|known| !names(known));
        self.refused.retain(|(chat, _)| !is_meant(Some(chat), ""));
    }

    /// All approved plans, the oldest first.
    pub fn standing(&self) -> impl Iterator<Item = &ApprovedPlan> {
        self.approved.iter()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn plan(servers: &[&str], reason: &str) -> ActionPlan {
        let known: BTreeSet<_> = ["files", "mail", "notes"].map(String::from).into();
        let arguments = serde_json::json!({"servers": servers, "kinds": ["write"], "reason": reason});
        ActionPlan::proposed(&arguments.to_string(), &known).unwrap()
    }

    fn approved(chat: &str, plan: ActionPlan) -> ApprovedPlan {
        ApprovedPlan { id: "1".into(), principal: "owner".into(), chat: chat.into(), plan, since: 1 }
    }

    fn refused(why: RefusedPlan) -> PlanVerdict {
        PlanVerdict::Refuse(why)
    }

    #[test]
    fn a_plan_is_asked_about_once_and_a_change_needs_a_reason() {
        let mut plans = ApprovedPlans::default();
        let (first, both) = (plan(&["files"], ""), plan(&["files", "mail"], "and tell Ann"));
        assert_eq!(plans.judge("c", &first), PlanVerdict::Ask { new: None });
        plans.approve(approved("c", first.clone()));
        assert_eq!(plans.judge("c", &first), PlanVerdict::Approved);
        assert_eq!(plans.judge("other", &first), PlanVerdict::Ask { new: None }, "each chat has its own");
        let silent = plan(&["files", "mail"], " ");
        assert_eq!(plans.judge("c", &silent), refused(RefusedPlan::Unfit(UnfitPlan::NoReason)));
        let new = both.beyond(&first);
        assert_eq!(plans.judge("c", &both), PlanVerdict::Ask { new });
        plans.approve(approved("c", both.clone()));
        plans.narrow("c", &plan(&["mail"], ""));
        assert!(matches!(plans.judge("c", &first), PlanVerdict::Refuse(_)), "it was narrowed");
        plans.narrow("c", &both);
        assert_eq!(plans.standing().next().unwrap().plan.servers.len(), 1, "narrowing never widens");
        plans.begin_turn("c");
        assert_eq!(plans.judge("c", &first), PlanVerdict::Ask { new: None }, "a plan ends with its turn");
    }

    #[test]
    fn a_refused_plan_is_not_shown_again_nor_a_fourth_one() {
        let mut plans = ApprovedPlans::default();
        for servers in [&["files"][..], &["mail"], &["notes"]] {
            let plan = plan(servers, "x");
            plans.refuse("c", plan.clone());
            assert_eq!(plans.judge("c", &plan), refused(RefusedPlan::Again));
        }
        assert_eq!(plans.judge("c", &plan(&["files"], "in other words")), refused(RefusedPlan::Again));
        assert_eq!(plans.judge("c", &plan(&["files", "mail"], "x")), refused(RefusedPlan::TooOften));
        assert_eq!(plans.judge("other", &plan(&["files"], "x")), PlanVerdict::Ask { new: None });
    }

    #[test]
    fn a_plan_ends_with_its_chat_and_with_a_server_that_it_names() {
        let mut plans = ApprovedPlans::default();
        for chat in ["a", "b"] {
            plans.approve(approved(chat, plan(&["files"], "")));
        }
        plans.forget(|chat, _| chat == Some("a"));
        assert_eq!(plans.standing().count(), 1);
        plans.forget(|_, source| source == "mail");
        assert_eq!(plans.standing().count(), 1);
        plans.forget(|_, source| source == "files");
        assert_eq!(plans.standing().count(), 0);
        plans.approve(approved("a", plan(&["files"], "")));
        assert_eq!((plans.revoke(|plan| plan.id == "2"), plans.revoke(|plan| plan.id == "1")), (0, 1));
    }
}
