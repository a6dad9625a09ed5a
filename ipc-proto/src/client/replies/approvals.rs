//! The bridge's replies about consent.

use super::super::{Approval, StandingAnswer, define_sent};
use crate::json::Json;

define_sent! {
    /// Replies about consent, by the type of their request.
    APPROVAL_REPLIES:
    /// The questions that wait and the answers that stand.
    "approvals_list" ApprovalsListResult {
        /// The questions, the oldest first.
        waiting: Vec<Approval>,
        /// The standing answers, the newest first.
        standing: Vec<StandingAnswer>,
        /// For one question: the whole arguments of its call. Otherwise absent.
        arguments: Option<Json>,
    }
    /// The answer has reached the bridge.
    "approvals_answer" ApprovalsAnswerResult {
        /// False if the question does not wait any more.
        answered: bool,
    }
    /// The standing answers are taken back.
    "approvals_revoke" ApprovalsRevokeResult {
        /// How many answers were taken back.
        revoked: u32,
    }
    /// The guard of an AI client.
    "approvals_guard" ApprovalsGuardResult {
        /// True if the guard is on.
        guard: bool,
    }
    /// The watch has begun or ended.
    "approvals_watch" ApprovalsWatchResult {}
}
