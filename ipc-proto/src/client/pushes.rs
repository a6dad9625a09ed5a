//! What the bridge sends unasked: `{type, …}` with these fields.

use super::{
    Approval, BridgeStatus, CatalogStatus, ChatEvent, GrantView, HealthView, RunEvent, ServerStatus,
    SourceSession, StoreSizes, TurnEvent, define_sent,
};
use crate::field::Word;
use crate::json::Json;

define_sent! {
    /// Every push.
    PUSHES:
    /// A call that was sent with `progress: true` goes on. The first 50 are pushed, then one in 50 ms: of what comes faster the newest, and the last before the answer.
    "progress" Progress {
        /// The call's id.
        request_id: String,
        /// How far it is; grows.
        progress: Json,
        /// What `progress` will be at the end, if known.
        total: Option<Json>,
        /// What the server says about it.
        message: Option<String>,
    }
    /// A server asks something while it works on a request that was sent with `answers`, or Harbor does before it makes a call that may
    /// destroy something. Answered by `mcp_answer`; refused when that request ends first.
    "ask" AskPush {
        /// The question's number.
        ask_id: u64,
        /// The id of the request.
        request_id: String,
        /// The server.
        server_id: String,
        /// `sampling/createMessage` or `elicitation/create`.
        method: String,
        /// MCP's parameters, as whoever asks wrote them.
        params: Json,
    }
    /// A piece of an answer that is larger than the client's `max_frame`. The pieces of one answer come in
    /// order; joined, they are the answer's frame without its length prefix.
    "chunk" Chunk {
        /// The id of the request that is being answered.
        request_id: String,
        /// Number of this piece, from 0.
        seq: u32,
        /// Whether it is the last one.
        last: bool,
        /// The piece's bytes in base64.
        data: String,
    }
    /// A resource that this client subscribed to has changed.
    "resource_updated" ResourceUpdated {
        /// The server's id.
        server_id: String,
        /// The resource's URI.
        uri: String,
    }
    /// A server's state has changed; comes to clients that sent `watch_servers`. The definition of a new server comes
    /// with the state `stopped` and no old state; a removed server's last event has the state `removed`.
    "server_event" ServerEvent {
        /// The server's id.
        server_id: String,
        /// The state before; the same as `new_state` when only `busy` changed.
        old_state: Option<Word>,
        /// The state now.
        new_state: Word,
        /// When, in milliseconds since 1970.
        timestamp: u64,
        /// Whether it has not answered a probe while calls are open.
        busy: bool,
        /// Why, where it ended or failed: one word, see `Exit`.
        cause: Option<Word>,
        /// The same as a sentence.
        message: Option<String>,
        /// Which restart is next or under way, counted since the last stable minute.
        attempt: Option<u32>,
        /// When it will be tried again, in milliseconds since 1970.
        next_retry: Option<u64>,
        /// Process id of the server, while it runs.
        pid: Option<u32>,
    }
    /// Something of the status has changed, or numbers are due; comes to clients that sent `subscribe_status`. What is absent
    /// has not changed.
    "status_update" StatusUpdate {
        /// `server`: one server has changed; `bridge`: the bridge has, by its clients or its configuration; `catalog`: the catalog has; `numbers`: all, since it is time.
        category: Word,
        /// When, in milliseconds since 1970.
        timestamp: u64,
        /// How it all is.
        health: HealthView,
        /// With `bridge` and `numbers`: the bridge.
        bridge: Option<BridgeStatus>,
        /// With `server`: that one; with `numbers`: all.
        servers: Option<Vec<ServerStatus>>,
        /// With `server`: the id of one that was removed.
        removed: Option<String>,
        /// With `catalog` and `numbers`: the catalog.
        catalog: Option<CatalogStatus>,
        /// With `numbers`: what is on the disk.
        stores: Option<StoreSizes>,
    }
    /// A log line of a server; comes to clients that sent `mcp_get_logs` with `follow`.
    "server_log" ServerLog {
        /// The server's id.
        server_id: String,
        /// Milliseconds since 1970.
        timestamp: u64,
        /// As in `LogLine`.
        source: Word,
        /// MCP's level, for `mcp` lines.
        level: Option<String>,
        /// The text, cut at 8 KiB.
        text: String,
    }
    /// A server has logged an MCP message; comes to AI clients that sent `mcp_follow_messages`.
    "server_message" ServerMessage {
        /// The server's id.
        server_id: String,
        /// MCP's level.
        level: String,
        /// The message, as text; cut at 8 KiB.
        text: String,
    }
    /// A grant was made, taken back, or has ended; comes to clients that sent `host_watch`.
    "grant_changed" GrantChanged {
        /// `granted`, `revoked` or `expired`.
        change: Word,
        /// The grant.
        grant: GrantView,
    }
    /// The tools of a server may have changed: it has come up or gone, or said so itself; comes to clients that sent
    /// `host_watch`.
    "tools_changed" ToolsChanged {
        /// The server; absent for an AI client, which asks for its own list again.
        server_id: Option<String>,
    }
    /// The resources, or the prompts, of a server may have changed, likewise.
    "offers_changed" OffersChanged {
        /// `resources` (and their templates) or `prompts`.
        kind: Word,
        /// As in `tools_changed`.
        server_id: Option<String>,
    }
    /// A tool is not what it was when the person last saw it, or has joined those of its server; comes to the owner's connections that sent `host_watch`, at
    /// most 60 times a minute for one server: `host_list_tool_changes` has them all.
    "tool_changed" ToolChanged {
        /// The server.
        server_id: String,
        /// The tool's own name.
        tool_name: String,
        /// The hash of what it is now.
        tool_hash: String,
        /// As in `ToolChange`; absent where the two together are longer than 16 KiB, and for a tool that is new.
        before: Option<Json>,
        /// The same of what it is now.
        after: Option<Json>,
        /// Whether the server had no tool of this name before. It can be used at once where a grant covers it.
        is_new: bool,
        /// As in `ToolChange`.
        blocked: bool,
        /// As in `ToolChange`.
        hidden_characters: bool,
    }
    /// Something of a chat that was asked for with `stream: true` has come; its answer is the chat's end.
    "llm_event" LlmEvent {
        /// The id of the request.
        request_id: String,
        /// The number of this push, from 0 without a gap.
        seq: u64,
        /// What has come.
        event: ChatEvent,
    }
    /// Something has happened in a session; comes to who sent `chat_watch`, or `chat_send_message` with `stream`.
    "chat_event" ChatEventPush {
        /// The session.
        session_id: String,
        /// The turn.
        turn_id: String,
        /// The number of the event in its session, without a gap as long as the bridge runs.
        seq: u64,
        /// What has happened.
        event: TurnEvent,
    }
    /// Something has happened in a run that was begun with `stream: true`; its answer is the run's end. What is larger than a frame of the
    /// client is left out of its event, which has an `error` instead; a `final` that is so large does not come: the answer says the same.
    "run_event" RunEventPush {
        /// The id of the request.
        request_id: String,
        /// The run.
        run_id: String,
        /// The number of this push, from 0 without a gap.
        seq: u64,
        /// What has happened.
        event: RunEvent,
    }
    /// The person is asked about a call, or not any more; comes to connections that sent `approvals_watch`, and is answered by
    /// `approvals_answer`.
    "approval" ApprovalPush {
        /// The question.
        approval: Approval,
        /// False: it was answered, its caller has left, or its time is over. Nobody waits for an answer any more.
        waits: bool,
    }
    /// A tool of a source of this connection is called; `source_result` answers it.
    "source_call" SourceCall {
        /// The call. Nobody can guess it.
        call_id: String,
        /// The source.
        source_id: String,
        /// The caller's session.
        session_id: String,
        /// Who calls: `owner`, `agent`, or an origin such as `client://NAME`.
        principal: String,
        /// The tool.
        tool_name: String,
        /// Its arguments: an object that fits the tool's schema.
        arguments: Json,
        /// When the bridge gives up.
        timeout_ms: u64,
        /// The tabs that may be acted on.
        session: SourceSession,
    }
    /// Nobody waits for a call's answer any more: it is to stop.
    "source_cancel" SourceCancel {
        /// The call.
        call_id: String,
    }
    /// A session is over.
    "source_session_ended" SourceSessionEnded {
        /// The source.
        source_id: String,
        /// The session.
        session_id: String,
        /// Whether its tabs are to be closed; else they are the person's again.
        close_tabs: bool,
    }
}
