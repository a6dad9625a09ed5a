//! The bridge's replies about the agent.

#![allow(non_snake_case, reason = "some fields' names are those of the Web Agents API")]

use super::super::{
    BranchView, ChatMessage, ChatPart, ChatSessionView, ChatUsage, Citation, SessionExcerpt, SessionSummary,
    TurnStep, define_sent,
};
use crate::field::Word;

define_sent! {
    /// Replies about the agent, by the type of their request.
    AGENT_REPLIES:
    /// The session has begun.
    "chat_create_session" ChatCreateSessionResult {
        /// The session.
        session: ChatSessionView,
    }
    /// The turn has ended.
    "chat_send_message" ChatSendMessageResult {
        /// The model's last answer in the turn.
        response: String,
        /// The calls of the turn, in their order.
        steps: Vec<TurnStep>,
        /// How many rounds the turn had: how often the model was asked.
        iterations: u32,
        /// True if a limit ended the turn.
        reachedMaxIterations: bool,
        /// How long the turn took, in milliseconds.
        durationMs: u64,
        /// The turn.
        turn_id: String,
        /// Why the turn ended: `done`, `stopped`, `rounds`, `calls`, `tokens`, `time` or `repeats`.
        ended: Word,
        /// The tokens that the turn has used.
        usage: ChatUsage,
        /// The provider's id.
        provider: Option<String>,
        /// The model's name at the provider.
        model: Option<String>,
    }
    /// The page is fetched.
    "chat_fetch_page" ChatFetchPageResult {
        /// A part of `attachments`: a text whose title is the address, at most 1 MB, or a picture, at most 5 MB.
        part: ChatPart,
    }
    /// The client follows the session, or no longer.
    "chat_watch" ChatWatchResult {
        /// The number of the next event.
        seq: u64,
        /// The turn that is under way; absent when none is.
        turn_id: Option<String>,
    }
    /// The turn is being stopped.
    "chat_stop" ChatStopResult {
        /// False if no turn was under way.
        stopped: bool,
    }
    /// The branch has begun.
    "chat_branch" ChatBranchResult {
        /// The branch.
        session: ChatSessionView,
    }
    /// The session is there.
    "chat_import" ChatImportResult {
        /// The new session.
        session: ChatSessionView,
    }
    /// The session as a text.
    "chat_export" ChatExportResult {
        /// The text.
        text: String,
    }
    /// The session.
    "chat_get_session" ChatGetSessionResult {
        /// The session's settings and state.
        session: ChatSessionView,
        /// The messages of the session.
        messages: Vec<ChatMessage>,
        /// All sessions of its family, this one too, the oldest first. A session without branches is alone in it.
        branches: Vec<BranchView>,
    }
    /// The sessions.
    "chat_list_sessions" ChatListSessionsResult {
        /// The sessions, in the order that the request says.
        sessions: Vec<ChatSessionView>,
        /// How many sessions there are in all, or were found.
        total: u64,
        /// For a search: where the first word stands, one for each session in this reply.
        excerpts: Vec<SessionExcerpt>,
        /// True if the search took too long: the sessions that were used least recently were not read.
        is_partial: bool,
        /// The files that cannot be read, and why, a sentence each.
        unreadable: Vec<String>,
    }
    /// The session is changed.
    "chat_update_session" ChatUpdateSessionResult {
        /// The session after the change.
        session: ChatSessionView,
    }
    /// The session has no messages any more.
    "chat_clear_messages" ChatClearMessagesResult {
        /// How many messages it had.
        cleared: u64,
    }
    /// The session is deleted.
    "chat_delete_session" ChatDeleteSessionResult {
        /// False if there was no such session.
        deleted: bool,
    }
    /// The run has ended.
    "run_start" RunStartResult {
        /// The run.
        run_id: String,
        /// The answer.
        output: String,
        /// The calls that the answer relies on; absent unless `require_citations` was set.
        citations: Option<Vec<Citation>>,
        /// The tokens that the run has used.
        usage: ChatUsage,
    }
    /// The credit is added.
    "run_more" RunMoreResult {
        /// False if there is no such run.
        accepted: bool,
    }
    /// The session has begun.
    "session_create" SessionCreateResult {
        /// The session.
        session: SessionSummary,
    }
    /// The session.
    "session_get" SessionGetResult {
        /// The session's state.
        session: SessionSummary,
    }
    /// The sessions.
    "session_list" SessionListResult {
        /// The sessions, the oldest first.
        sessions: Vec<SessionSummary>,
    }
    /// The session has ended.
    "session_end" SessionEndResult {
        /// The session as it was at its end.
        session: SessionSummary,
    }
}
