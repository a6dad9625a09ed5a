//! Requests about consent: the questions that wait for the person, and the answers that stand.

use super::super::define_requests;

define_requests! {
    /// Any request about consent.
    ApprovalRequest:
    /// Lists the questions about calls that wait for an answer, or were missed in the last ten minutes, and the answers that stand.
    "approvals_list" ApprovalsList -> ApprovalsListResult {
        /// Only this question; then with its arguments whole.
        approval_id: Option<String>,
    }
    /// Answers a question about a call. The first answer counts, wherever it comes from. A yes to a question that was missed
    /// lets the same call through when it is made again.
    "approvals_answer" ApprovalsAnswer -> ApprovalsAnswerResult {
        /// The question.
        approval_id: String,
        /// One of the question's `answers`.
        answer: String,
        /// Of `no`: what the model is told.
        reason: Option<String>,
    }
    /// Takes a standing answer back: it covers no call from now on.
    "approvals_revoke" ApprovalsRevoke -> ApprovalsRevokeResult {
        /// The answer's id, or what it is for: `server/tool`, an origin, a session; all of them when absent.
        approval_id: Option<String>,
    }
    /// Has the person asked before something private leaves by the calls of an AI client: once for what it has read of each source that
    /// is private, and each server that could tell somebody, as long as it is connected. Says how it is, where nothing is set.
    "approvals_guard" ApprovalsGuard -> ApprovalsGuardResult {
        /// The client: `client://NAME`.
        origin: String,
        /// On or off from now on; as it was when absent.
        guard: Option<bool>,
    }
    /// Has this connection told of questions by `approval` pushes, beginning with those that wait. Whoever asks for that shows
    /// them to the person: without such a connection questions of pages and AI clients are missed at once.
    "approvals_watch" ApprovalsWatch -> ApprovalsWatchResult {
        /// False: no longer.
        watch: Option<bool>,
    }
}
