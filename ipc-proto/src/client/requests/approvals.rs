//! Requests about consent: the questions that wait for the person, and the answers that stand.

use super::super::define_requests;

define_requests! {
    /// Any request about consent.
    ApprovalRequest:
    /// Lists the questions that wait for an answer or were missed in the last ten minutes, and the standing answers.
    "approvals_list" ApprovalsList -> ApprovalsListResult {
        /// Only this question, and its whole arguments; absent: everything.
        approval_id: Option<String>,
    }
    /// Answers a question about a call. The first answer counts, wherever it comes from. A yes to a missed question lets
    /// the same call through when it is made again.
    "approvals_answer" ApprovalsAnswer -> ApprovalsAnswerResult {
        /// The question.
        approval_id: String,
        /// One of the question's `answers`.
        answer: String,
        /// With `no`: the text that the model gets.
        reason: Option<String>,
    }
    /// Takes a standing answer back: it covers no call from now on.
    "approvals_revoke" ApprovalsRevoke -> ApprovalsRevokeResult {
        /// The answer's id, or what it is for: `server/tool`, an origin, or a session. Absent: all standing answers.
        approval_id: Option<String>,
    }
    /// Turns the guard of an AI client on or off, or asks for its state. The guard asks the person before private data
    /// leaves by the client's calls. It asks once for each private source read and each server that could tell somebody,
    /// while the client is connected.
    "approvals_guard" ApprovalsGuard -> ApprovalsGuardResult {
        /// The client: `client://NAME`.
        origin: String,
        /// True: on; false: off; absent: unchanged.
        guard: Option<bool>,
    }
    /// Begins or ends `approval` pushes to this connection. The questions that wait come first. A client that asks for them
    /// must show them to the person. Without such a connection, questions of pages and AI clients are missed at once.
    "approvals_watch" ApprovalsWatch -> ApprovalsWatchResult {
        /// False ends the pushes.
        watch: Option<bool>,
    }
}
