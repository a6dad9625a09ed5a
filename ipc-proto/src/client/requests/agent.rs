//! Requests about the agent: the person's sessions, and runs of origins.

use super::super::{ChatPart, SessionUpdates, define_requests};
use crate::field::JsonObject;
use crate::json::Json;

define_requests! {
    /// Any request about the agent.
    AgentRequest:
    /// Begins a session: a conversation that the bridge holds, with a model that may use tools.
    "chat_create_session" ChatCreateSession -> ChatCreateSessionResult {
        /// The servers whose tools the session may use. An empty list: none. Absent, or `*`: all servers.
        enabled_servers: Option<Vec<String>>,
        /// A name for people; absent: made from the first message.
        name: Option<String>,
        /// A text that the model gets before everything else.
        system_prompt: Option<String>,
        /// The model, as `provider:model`; absent: the default model.
        model: Option<String>,
        /// `ask` (default), `plan`, `auto` or `reads`, as in `ChatSession`. With `reads`, a call about which the person would be
        /// asked is refused.
        mode: Option<String>,
        /// True: the session is never written to disk, and ends with the bridge.
        private: Option<bool>,
    }
    /// Sends a message of the person in a session. A second message during a turn is refused. The turn belongs to the
    /// bridge: it goes on when this client leaves. `chat_stop` ends it, and so does cancelling this request.
    "chat_send_message" ChatSendMessage -> ChatSendMessageResult {
        /// The session.
        session_id: String,
        /// The message.
        message: String,
        /// Images, and what the model must not take as instructions: parts `text`, `image` and `page`, at most 32. The
        /// private names of the session get `attached`, and of each page `browser:HOST`. The session keeps texts and pages
        /// as they were sent.
        attachments: Option<Vec<ChatPart>>,
        /// The model for this turn and those after it; absent: the session's model.
        model: Option<String>,
        /// True: `chat_event` pushes come until the reply.
        stream: Option<bool>,
        /// `auto` (default), `required` (the first answer must call a tool) or `none`.
        tool_choice: Option<String>,
        /// The most calls of tools in this turn.
        max_tool_calls: Option<u32>,
        /// The most tokens of each answer of the model.
        max_tokens: Option<u32>,
        /// As in `mcp_call_tool`, for the calls of the turn: what their servers ask comes as `ask` pushes, as long as this request
        /// is open.
        answers: Option<JsonObject>,
    }
    /// Fetches a page, a text or a picture of the web for a message: in a process of its own that runs for this only, in the
    /// sandbox of installers. Of a page comes its readable text. Nothing of it is kept. `cancel` ends it.
    "chat_fetch_page" ChatFetchPage -> ChatFetchPageResult {
        /// Its address, `https`, at most 2048 bytes.
        url: String,
        /// True: it may come without TLS.
        allow_http: Option<bool>,
        /// True: it may come from a private address, such as this machine.
        allow_private: Option<bool>,
    }
    /// Follows a session by `chat_event` pushes: the events of its last turn since `after_seq`, and all that follow. The
    /// first event of a turn, `message`, says which message of `chat_get_session` began it: from then on the reply to
    /// `chat_get_session` has that message with its attachments. What stands behind it there came in this turn, too.
    /// The bridge keeps the events of the last turn only, and none over its own end: a bridge that began anew counts from
    /// 0, and what was said stands in `chat_get_session`.
    "chat_watch" ChatWatch -> ChatWatchResult {
        /// The session.
        session_id: String,
        /// The number of the last event that this client has seen; absent: all events of the last turn come.
        after_seq: Option<u64>,
        /// The turn that `after_seq` belongs to. If another one is the session's last turn, all events of that one come:
        /// so a number from before the bridge began anew leaves nothing out. Absent: `after_seq` holds as it is.
        turn_id: Option<String>,
        /// False: the pushes end.
        watch: Option<bool>,
    }
    /// Stops the turn that is under way. The part of the answer that has come is kept.
    "chat_stop" ChatStop -> ChatStopResult {
        /// The session.
        session_id: String,
    }
    /// Begins a session with the settings of another one and all its messages before a message of the person's, which can
    /// then be said in another way. The other session stays as it is, a turn that is under way there goes on. What its
    /// model has read counts as read here, too; a branch of a private session is private.
    "chat_branch" ChatBranch -> ChatBranchResult {
        /// The session.
        session_id: String,
        /// The number of the message in the `messages` of `chat_get_session`, from 0.
        message_id: u64,
    }
    /// Makes a session of a text that `chat_export` gave as JSON. It takes over the name and the messages. Settings and the
    /// text for the model are those of a new session: nobody knows who wrote the file. Everything in it counts as text that
    /// the person did not type, with the private name `attached`.
    "chat_import" ChatImport -> ChatImportResult {
        /// The text: a `ChatTranscript` as JSON, at most 32 MiB.
        text: String,
    }
    /// Gives a session as text.
    "chat_export" ChatExport -> ChatExportResult {
        /// The session.
        session_id: String,
        /// `markdown`, or `json`: a `ChatTranscript`, which `chat_import` takes.
        format: String,
    }
    /// Gives a session with its messages.
    "chat_get_session" ChatGetSession -> ChatGetSessionResult {
        /// The session.
        session_id: String,
    }
    /// Lists sessions: the pinned ones first, then the one that was used last. With `query`, those in which all its words
    /// occur, the one that was used last first. Harbor keeps no index: it reads the sessions for each search.
    "chat_list_sessions" ChatListSessions -> ChatListSessionsResult {
        /// The most sessions in the reply; absent: 50.
        limit: Option<u64>,
        /// Words, at most 1000 bytes, in upper or lower case. Each has to occur in the session's name, in what was said,
        /// attached or answered by tools, or in the name of a tool that was called. Absent or blank: all sessions.
        query: Option<String>,
        /// How many sessions to leave out before the first one in the reply; absent: none.
        offset: Option<u64>,
    }
    /// Changes a session.
    "chat_update_session" ChatUpdateSession -> ChatUpdateSessionResult {
        /// The session.
        session_id: String,
        /// The changes.
        updates: SessionUpdates,
    }
    /// Deletes the messages of a session.
    "chat_clear_messages" ChatClearMessages -> ChatClearMessagesResult {
        /// The session.
        session_id: String,
    }
    /// Deletes a session. A turn that is under way is stopped.
    "chat_delete_session" ChatDeleteSession -> ChatDeleteSessionResult {
        /// The session.
        session_id: String,
    }
    /// Has the person's model do a task for an origin, or for an AI client, with the tools that were granted. The task is a
    /// run as in `host_create_run`, with its limit of calls. Needs the scope `model:tools`.
    "run_start" RunStart -> RunStartResult {
        /// As in `host_check_permission`.
        origin: Option<String>,
        /// As in `host_grant_permission`.
        profile: Option<String>,
        /// The tab that asks.
        tab_id: Option<u64>,
        /// The task, as text for the model.
        task: String,
        /// The tools that the run may use, as `server/tool`; absent: the tools that the origin may use.
        tools: Option<Vec<String>>,
        /// True: all tools that the origin may use, however many they are.
        use_all_tools: Option<bool>,
        /// The provider, by its id or type; absent: the default provider.
        provider: Option<String>,
        /// The model; absent: the default model.
        model: Option<String>,
        /// The most calls of tools; absent: 5. The origin's limit holds in any case.
        max_tool_calls: Option<u32>,
        /// True: the answer marks with numbers such as `[1]` which call a statement comes from. `citations` lists these
        /// calls in order.
        require_citations: Option<bool>,
        /// The origin's session for the run, which then knows that session's messages and shares its limits. Absent: no
        /// session.
        session_id: Option<String>,
        /// True: `run_event` pushes come.
        stream: Option<bool>,
        /// True: this client gives credit (`run_more`). The first 64 pushes need none.
        credit: Option<bool>,
    }
    /// Gives credit for further pushes of a run.
    "run_more" RunMore -> RunMoreResult {
        /// The id of the `run_start` request.
        target: String,
        /// How many more pushes may come.
        n: u32,
    }
    /// Begins a session of an origin, or of an AI client. Its runs know what was said in it, and share its limits. It ends
    /// with its tab, after its time, or by `session_end`. Nothing of it is written to disk. Needs a scope for each
    /// capability: `model:prompt`, `model:tools`.
    "session_create" SessionCreate -> SessionCreateResult {
        /// As in `host_check_permission`.
        origin: Option<String>,
        /// As in `host_grant_permission`.
        profile: Option<String>,
        /// The tab that asks. The session ends with it.
        tab_id: Option<u64>,
        /// A name for people, at most 1000 bytes.
        name: Option<String>,
        /// True: the session may ask a model. Without that it can have no runs.
        llm: Option<bool>,
        /// The provider, by its id or type; absent: the default provider.
        provider: Option<String>,
        /// The model; absent: the default model.
        model: Option<String>,
        /// The tools that its runs may use, as `server/tool`; absent: none.
        tools: Option<Vec<String>>,
        /// The task in words for the model, below Harbor's own instructions.
        system_prompt: Option<String>,
        /// The temperature, a number from 0 to 2; absent: the provider's default.
        temperature: Option<Json>,
        /// The most calls of all its runs together; absent: no limit beyond that of each run.
        max_tool_calls: Option<u32>,
        /// How long the session lasts, in minutes: 1440 at most; absent: 60.
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
    /// Ends a session of the origin, and the run that is under way in it.
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
