//! What the bridge answers about the agent.

#![allow(non_snake_case, reason = "some fields' names are those of the Web Agents API")]

use super::super::{
    ChatMessage, ChatSessionView, ChatUsage, Citation, SessionSummary, TurnStep, define_sent,
};
use crate::field::Word;

define_sent! {
    /// Replies about the agent, by the type of their request.
    AGENT_REPLIES:
    /// It has begun.
    "chat_create_session" ChatCreateSessionResult {
        /// The session.
        session: ChatSessionView,
    }
    /// The turn is over.
    "chat_send_message" ChatSendMessageResult {
        /// What the model answered in the end.
        response: String,
        /// The calls that it made, in their order.
        steps: Vec<TurnStep>,
        /// How often the model was asked.
        iterations: u32,
        /// Whether a limit ended it.
        reachedMaxIterations: bool,
        /// How long it took, in milliseconds.
        durationMs: u64,
        /// The turn.
        turn_id: String,
        /// Why it ended: `done`, `stopped`, `rounds`, `calls`, `tokens`, `time` or `repeats`.
        ended: Word,
        /// What it has taken.
        usage: ChatUsage,
        /// The provider's id.
        provider: Option<String>,
        /// The model's name there.
        model: Option<String>,
    }
    /// It is followed.
    "chat_watch" ChatWatchResult {
        /// The number of the next event.
        seq: u64,
        /// The turn that is under way.
        turn_id: Option<String>,
    }
    /// It ends.
    "chat_stop" ChatStopResult {
        /// False when no turn was under way.
        stopped: bool,
    }
    /// The session as a text.
    "chat_export" ChatExportResult {
        /// The text.
        text: String,
    }
    /// The session.
    "chat_get_session" ChatGetSessionResult {
        /// What it is.
        session: ChatSessionView,
        /// What was said.
        messages: Vec<ChatMessage>,
    }
    /// The sessions.
    "chat_list_sessions" ChatListSessionsResult {
        /// The one that was used last first.
        sessions: Vec<ChatSessionView>,
        /// How many there are in all.
        total: u64,
        /// Files that cannot be read, and why, a sentence each.
        unreadable: Vec<String>,
    }
    /// It is changed.
    "chat_update_session" ChatUpdateSessionResult {
        /// What it is now.
        session: ChatSessionView,
    }
    /// It is empty.
    "chat_clear_messages" ChatClearMessagesResult {
        /// How many messages it had.
        cleared: u64,
    }
    /// It is gone.
    "chat_delete_session" ChatDeleteSessionResult {
        /// False when there was none.
        deleted: bool,
    }
    /// The run is over.
    "run_start" RunStartResult {
        /// The run.
        run_id: String,
        /// The answer.
        output: String,
        /// Where it comes from, where that was asked for.
        citations: Option<Vec<Citation>>,
        /// What it has taken.
        usage: ChatUsage,
    }
    /// It is noted.
    "run_more" RunMoreResult {
        /// False when there is no such run.
        accepted: bool,
    }
    /// It has begun.
    "session_create" SessionCreateResult {
        /// The session.
        session: SessionSummary,
    }
    /// The session.
    "session_get" SessionGetResult {
        /// What it is.
        session: SessionSummary,
    }
    /// The sessions.
    "session_list" SessionListResult {
        /// The oldest first.
        sessions: Vec<SessionSummary>,
    }
    /// It is over.
    "session_end" SessionEndResult {
        /// What it was.
        session: SessionSummary,
    }
}
