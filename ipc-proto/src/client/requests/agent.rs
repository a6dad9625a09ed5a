//! Requests about the agent: the person's sessions, and runs of origins.

use super::super::{ChatPart, SessionUpdates, define_requests};
use crate::json::Json;

define_requests! {
    /// Any request about the agent.
    AgentRequest:
    /// Begins a session: a conversation that the bridge holds, with a model that may use tools.
    "chat_create_session" ChatCreateSession -> ChatCreateSessionResult {
        /// The servers whose tools it may use, none when empty; all of them when absent, or with `*`.
        enabled_servers: Option<Vec<String>>,
        /// A name for people; made of the first message when absent.
        name: Option<String>,
        /// What the model is told before everything else.
        system_prompt: Option<String>,
        /// Which model: `provider:model`; the default one when absent.
        model: Option<String>,
        /// `ask` (when absent) or `auto`, as in `ChatSession`; `reads`: what would have to be asked is refused instead.
        mode: Option<String>,
        /// True: it is never written down, and ends with the bridge.
        private: Option<bool>,
    }
    /// Says something in a session. One turn at a time: a second message meanwhile is refused. The turn belongs to the bridge: it goes
    /// on when this client leaves, and `chat_stop` ends it. Cancelling this request does so, too.
    "chat_send_message" ChatSendMessage -> ChatSendMessageResult {
        /// The session.
        session_id: String,
        /// What is said.
        message: String,
        /// Images, and texts that are no instructions: parts `text` and `image`.
        attachments: Option<Vec<ChatPart>>,
        /// Which model, for this turn and those after it.
        model: Option<String>,
        /// Whether `chat_event` pushes are wanted until the answer.
        stream: Option<bool>,
        /// `auto` (when absent), `required`: the first answer has to call a tool, or `none`.
        tool_choice: Option<String>,
        /// Calls of tools at most.
        max_tool_calls: Option<u32>,
        /// Tokens of each answer of the model at most.
        max_tokens: Option<u32>,
    }
    /// Follows what happens in a session, by `chat_event` pushes: what has happened in its last turn since `after_seq`, and what comes.
    "chat_watch" ChatWatch -> ChatWatchResult {
        /// The session.
        session_id: String,
        /// The last event that this client has seen; all of the last turn when absent.
        after_seq: Option<u64>,
        /// False: no longer.
        watch: Option<bool>,
    }
    /// Ends the turn that is under way. What has come of the answer is kept.
    "chat_stop" ChatStop -> ChatStopResult {
        /// The session.
        session_id: String,
    }
    /// Gives a session as a text.
    "chat_export" ChatExport -> ChatExportResult {
        /// The session.
        session_id: String,
        /// `markdown` or `json`.
        format: String,
    }
    /// Gives a session with its messages.
    "chat_get_session" ChatGetSession -> ChatGetSessionResult {
        /// The session.
        session_id: String,
    }
    /// Lists sessions, the one that was used last first.
    "chat_list_sessions" ChatListSessions -> ChatListSessionsResult {
        /// At most so many; 50 when absent.
        limit: Option<u64>,
    }
    /// Changes a session.
    "chat_update_session" ChatUpdateSession -> ChatUpdateSessionResult {
        /// The session.
        session_id: String,
        /// What is to be changed.
        updates: SessionUpdates,
    }
    /// Forgets what was said in a session.
    "chat_clear_messages" ChatClearMessages -> ChatClearMessagesResult {
        /// The session.
        session_id: String,
    }
    /// Deletes a session. A turn that is under way is stopped.
    "chat_delete_session" ChatDeleteSession -> ChatDeleteSessionResult {
        /// The session.
        session_id: String,
    }
    /// Has the person's model do a task for an origin, or for an AI client itself, with the tools that it was granted. It is a run as
    /// in `host_create_run`, with its limit of calls. Needs the scope `model:tools`.
    "run_start" RunStart -> RunStartResult {
        /// As in `host_check_permission`.
        origin: Option<String>,
        /// As in `host_grant_permission`.
        profile: Option<String>,
        /// The tab that asks.
        tab_id: Option<u64>,
        /// What is to be done.
        task: String,
        /// The tools that it may use, `server/tool`; those that the origin may use when absent.
        tools: Option<Vec<String>>,
        /// True: all tools that the origin may use, however many.
        use_all_tools: Option<bool>,
        /// Which provider, by its id or its type; the default one when absent.
        provider: Option<String>,
        /// Which model; the default one when absent.
        model: Option<String>,
        /// Calls of tools at most; 5 when absent, and never more than the origin's limit.
        max_tool_calls: Option<u32>,
        /// True: the answer says by numbers, `[1]`, which call a statement comes from, and `citations` has these calls in their order.
        require_citations: Option<bool>,
        /// The origin's session that it belongs to: it knows what was said there, and uses no more than that may.
        session_id: Option<String>,
        /// Whether `run_event` pushes are wanted.
        stream: Option<bool>,
        /// Whether this client gives credit (`run_more`): 64 pushes come without.
        credit: Option<bool>,
    }
    /// Gives credit for pushes of a run.
    "run_more" RunMore -> RunMoreResult {
        /// The id of the `run_start`.
        target: String,
        /// So many pushes more.
        n: u32,
    }
    /// Begins a session of an origin, or of an AI client itself: its runs know what was said in it, and share its limits. It ends with its tab, with its
    /// time, and with `session_end`; nothing of it is written down. Needs a scope for each capability: `model:prompt`, `model:tools`.
    "session_create" SessionCreate -> SessionCreateResult {
        /// As in `host_check_permission`.
        origin: Option<String>,
        /// As in `host_grant_permission`.
        profile: Option<String>,
        /// The tab that asks, and that it ends with.
        tab_id: Option<u64>,
        /// A name for people, 1000 bytes at most.
        name: Option<String>,
        /// Whether it may ask a model; without that no run can be in it.
        llm: Option<bool>,
        /// Which provider, by its id or its type; the default one when absent.
        provider: Option<String>,
        /// Which model; the default one when absent.
        model: Option<String>,
        /// The tools that its runs may use, `server/tool`; none when absent.
        tools: Option<Vec<String>>,
        /// What the model is told of its task, below what Harbor tells it.
        system_prompt: Option<String>,
        /// A number from 0 to 2.
        temperature: Option<Json>,
        /// Calls of all its runs together; absent: no more limit than each run has.
        max_tool_calls: Option<u32>,
        /// How long it lasts, in minutes: 60 when absent, 1440 at most.
        ttl_minutes: Option<u32>,
    }
    /// Gives a session of the origin.
    "session_get" SessionGet -> SessionGetResult {
        /// As in `host_check_permission`.
        origin: Option<String>,
        /// As in `host_grant_permission`.
        profile: Option<String>,
        /// The tab that asks.
        tab_id: Option<u64>,
        /// The session.
        session_id: String,
    }
    /// Lists the origin's sessions in this tab, the oldest first.
    "session_list" SessionList -> SessionListResult {
        /// As in `host_check_permission`.
        origin: Option<String>,
        /// As in `host_grant_permission`.
        profile: Option<String>,
        /// The tab that asks.
        tab_id: Option<u64>,
    }
    /// Ends a session of the origin, with the run that is under way in it.
    "session_end" SessionEnd -> SessionEndResult {
        /// As in `host_check_permission`.
        origin: Option<String>,
        /// As in `host_grant_permission`.
        profile: Option<String>,
        /// The tab that asks.
        tab_id: Option<u64>,
        /// The session.
        session_id: String,
    }
}
