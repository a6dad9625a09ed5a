//! The messages that the bridge sends without a request: `{type, …}` with these fields.

use super::{
    AgentStatus, Approval, BridgeStatus, CatalogStatus, ChatEvent, GrantView, HealthView, RunEvent,
    ServerStatus, SourceSession, StoreSizes, TurnEvent, define_sent,
};
use crate::field::Word;
use crate::json::Json;

define_sent! {
    /// All pushes.
    PUSHES:
    /// Progress of a call that was sent with `progress: true`. The first 50 are pushed, then one every 50 ms: the newest,
    /// and always the last one before the answer.
    "progress" Progress {
        /// The call's id.
        request_id: String,
        /// The progress so far. The number grows with each push.
        progress: Json,
        /// The value of `progress` at the end; absent when not known.
        total: Option<Json>,
        /// The server's words about it.
        message: Option<String>,
    }
    /// A question about an open request that was sent with `answers`. It comes from the server, or from Harbor before a
    /// call that may destroy something. `mcp_answer` answers it. It counts as refused if the request ends first.
    "ask" AskPush {
        /// The question's number, for `mcp_answer`.
        ask_id: u64,
        /// The id of the request that the question is about.
        request_id: String,
        /// The server.
        server_id: String,
        /// `sampling/createMessage` or `elicitation/create`.
        method: String,
        /// MCP's parameters, as the asker wrote them.
        params: Json,
    }
    /// A piece of an answer that is larger than the client's `max_frame`. The pieces of an answer come in order. Joined,
    /// they are the answer's frame without its length prefix.
    "chunk" Chunk {
        /// The id of the request that is being answered.
        request_id: String,
        /// The number of this piece, from 0.
        seq: u32,
        /// True for the last piece.
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
    /// A server's state has changed; for clients that sent `watch_servers`. A new server's first event has the state
    /// `stopped` and no old state. A removed server's last event has the state `removed`.
    "server_event" ServerEvent {
        /// The server's id.
        server_id: String,
        /// The state before; equal to `new_state` when only `busy` changed.
        old_state: Option<Word>,
        /// The state now.
        new_state: Word,
        /// When the state changed, in milliseconds since 1970.
        timestamp: u64,
        /// True if calls are open and the server has not answered a probe.
        busy: bool,
        /// The cause, if the server ended or failed: one word, see `Exit`.
        cause: Option<Word>,
        /// The cause as a sentence.
        message: Option<String>,
        /// The number of the restart that is next or under way, counted since the last stable minute.
        attempt: Option<u32>,
        /// When the server is tried again, in milliseconds since 1970.
        next_retry: Option<u64>,
        /// Process id of the server, while it runs.
        pid: Option<u32>,
    }
    /// The status has changed, or new numbers are due; for clients that sent `subscribe_status`. A field that is absent has
    /// not changed.
    "status_update" StatusUpdate {
        /// `server`: one server has changed. `bridge`: its clients or its configuration have. `catalog`: the catalog has.
        /// `numbers`: everything, since the interval is over.
        category: Word,
        /// When the push was made, in milliseconds since 1970.
        timestamp: u64,
        /// Harbor's health.
        health: HealthView,
        /// The bridge; with `bridge` and `numbers`.
        bridge: Option<BridgeStatus>,
        /// With `server`: that server. With `numbers`: all servers.
        servers: Option<Vec<ServerStatus>>,
        /// With `server`: the id of a server that was removed.
        removed: Option<String>,
        /// The catalog; with `catalog` and `numbers`.
        catalog: Option<CatalogStatus>,
        /// The sizes on disk; with `numbers`.
        stores: Option<StoreSizes>,
        /// The turns in which models use tools; with `numbers`.
        agent: Option<AgentStatus>,
    }
    /// A log line of a server; for clients that sent `mcp_get_logs` with `follow`.
    "server_log" ServerLog {
        /// The server's id.
        server_id: String,
        /// Milliseconds since 1970.
        timestamp: u64,
        /// As in `LogLine`.
        source: Word,
        /// MCP's level; for `mcp` lines only.
        level: Option<String>,
        /// The text, cut at 8 KiB.
        text: String,
    }
    /// An MCP log message of a server; for AI clients that sent `mcp_follow_messages`.
    "server_message" ServerMessage {
        /// The server's id.
        server_id: String,
        /// MCP's level.
        level: String,
        /// The message as text, cut at 8 KiB.
        text: String,
    }
    /// A grant was made or revoked, or has ended; for clients that sent `host_watch`.
    "grant_changed" GrantChanged {
        /// `granted`, `revoked` or `expired`.
        change: Word,
        /// The grant.
        grant: GrantView,
    }
    /// The tools of a server may have changed: it came up, went away, or said so itself. For clients that sent `host_watch`.
    "tools_changed" ToolsChanged {
        /// The server's id. Absent for an AI client, which must list its tools again.
        server_id: Option<String>,
    }
    /// The resources or the prompts of a server may have changed; for clients that sent `host_watch`.
    "offers_changed" OffersChanged {
        /// `resources` (and their templates) or `prompts`.
        kind: Word,
        /// As in `tools_changed`.
        server_id: Option<String>,
    }
    /// A tool has changed since the person last saw it, or is new on its server. For the owner's connections that sent
    /// `host_watch`, at most 60 times a minute for one server. `host_list_tool_changes` lists them all.
    "tool_changed" ToolChanged {
        /// The server.
        server_id: String,
        /// The tool's own name.
        tool_name: String,
        /// The hash of the tool as it is now.
        tool_hash: String,
        /// The tool before, as in `ToolChange`. Absent if `before` and `after` together are longer than 16 KiB, and for a
        /// new tool.
        before: Option<Json>,
        /// The tool now, as in `ToolChange`. Absent in the same cases as `before`.
        after: Option<Json>,
        /// True if the server had no tool of this name before. Where a grant covers it, it can be used at once.
        is_new: bool,
        /// As in `ToolChange`.
        blocked: bool,
        /// As in `ToolChange`.
        hidden_characters: bool,
    }
    /// A piece of the answer to a chat that was sent with `stream: true`. The reply marks the chat's end.
    "llm_event" LlmEvent {
        /// The id of the request.
        request_id: String,
        /// The number of this push, from 0 without a gap.
        seq: u64,
        /// The piece.
        event: ChatEvent,
    }
    /// An event of a session; for clients that sent `chat_watch`, or `chat_send_message` with `stream`.
    "chat_event" ChatEventPush {
        /// The session.
        session_id: String,
        /// The turn.
        turn_id: String,
        /// The number of the event in its session, without a gap while the bridge runs.
        seq: u64,
        /// The event.
        event: TurnEvent,
    }
    /// An event of a run that was started with `stream: true`. The reply marks the run's end. Values too large for the
    /// client's frame are left out of the event, which then has an `error`. A `final` event that is too large does not
    /// come: the reply says the same.
    "run_event" RunEventPush {
        /// The id of the request.
        request_id: String,
        /// The run.
        run_id: String,
        /// The number of this push, from 0 without a gap.
        seq: u64,
        /// The event.
        event: RunEvent,
    }
    /// The person is asked about a call, or is no longer asked. For connections that sent `approvals_watch`.
    /// `approvals_answer` answers it.
    "approval" ApprovalPush {
        /// The question.
        approval: Approval,
        /// True if the question waits. False: it was answered, its caller has left, or its time is over; an answer would
        /// have no effect.
        waits: bool,
    }
    /// A call of a tool from a source of this connection. `source_result` answers it.
    "source_call" SourceCall {
        /// The call's id. Nobody can guess it.
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
        /// How long the bridge waits for the result, in milliseconds.
        timeout_ms: u64,
        /// The tabs that the call may act on.
        session: SourceSession,
    }
    /// A call is over for its caller: stop it.
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
        /// True if the session's tabs are to be closed. False: they are the person's again.
        close_tabs: bool,
    }
}
