//! Answers to requests about consent.

use super::super::{Approval, StandingAnswer, define_sent};
use crate::json::Json;

define_sent! {
    /// Answers to requests about consent.
    APPROVAL_REPLIES:
    /// What waits and what stands.
    "approvals_list" ApprovalsListResult {
        /// Questions, the oldest first.
        waiting: Vec<Approval>,
        /// Answers that stand, the newest first.
        standing: Vec<StandingAnswer>,
        /// Of one question: the call's arguments, whole.
        arguments: Option<Json>,
    }
    /// The answer has come.
    "approvals_answer" ApprovalsAnswerResult {
        /// False when there is no such question any more.
        answered: bool,
    }
    /// They are taken back.
    "approvals_revoke" ApprovalsRevokeResult {
        /// How many those were.
        revoked: u32,
    }
    /// The guard of an AI client.
    "approvals_guard" ApprovalsGuardResult {
        /// Whether it is on.
        guard: bool,
    }
    /// It is told of them, or not any more.
    "approvals_watch" ApprovalsWatchResult {}
}
