//! Objects about the agent: sessions, what happens in a turn, what happens in a run.
//!
//! Owns their form. Must never hold an argument or a result that its reader may not see.

#![allow(non_snake_case, reason = "some fields' names are those of the Web Agents API")]

use super::{Approval, ChatMessage, ChatUsage, define_sent};
use crate::field::Word;
use crate::json::Json;

define_sent! {
    /// Objects about the agent.
    AGENT_OBJECTS:
    /// A conversation that the bridge holds.
    "ChatSession" ChatSessionView {
        /// Its id.
        id: String,
        /// A name for people.
        name: String,
        /// The servers whose tools the session may use; absent: all servers.
        enabledServers: Option<Vec<String>>,
        /// The text that the model gets before everything else; absent when there is none.
        systemPrompt: Option<String>,
        /// The model, as `provider:model`; absent: the default model.
        model: Option<String>,
        /// `ask`: tools that only read run; every other call asks the person. `reads`: every other call is refused. `plan`:
        /// as `ask`, but the model can propose a plan; what writes within the approved plan runs. `auto`: everything runs, unless
        /// data would leave.
        mode: Word,
        /// True if the session is in the bridge's memory only and never written to disk.
        private: bool,
        /// True if the model has read text that the person did not type: results, pages, attachments.
        readUntrusted: bool,
        /// Names of the private data that the model has read: `files`, `gmail`, `browser:mail.example`. A call that may
        /// carry them away asks the person.
        privateNames: Vec<String>,
        /// How many messages the session has.
        messageCount: u64,
        /// When the session began, in milliseconds since 1970.
        createdAt: u64,
        /// When the last message came, in milliseconds since 1970.
        updatedAt: u64,
        /// The turn that is under way; absent when none is.
        turn_id: Option<String>,
        /// True if the person has pinned it: it stands first in lists. Absent: it is not.
        pinned: Option<bool>,
        /// For a branch: the first session of its family, which may be deleted. Absent in that one.
        branchOf: Option<String>,
        /// For a branch: how many messages it took over. The message with this number is the first of its own.
        branchAt: Option<u64>,
        /// The tokens that its turns have used; absent where none has used any, or where an earlier Harbor wrote the session.
        usage: Option<ChatUsage>,
    }
    /// A session of a family: the first one, or a branch of it or of another branch.
    "BranchView" BranchView {
        /// The session.
        id: String,
        /// As in `ChatSession`.
        name: String,
        /// As in `ChatSession`; absent in the first session of the family.
        branchAt: Option<u64>,
        /// As in `ChatSession`.
        updatedAt: u64,
    }
    /// The place in a session where a word of a search stands.
    "SessionExcerpt" SessionExcerpt {
        /// The session.
        session_id: String,
        /// About 120 characters around the word, in one line.
        text: String,
    }
    /// A session with its messages, as `chat_export` gives it and the disk has it.
    "ChatTranscript" ChatTranscript {
        /// The session's settings and state.
        session: ChatSessionView,
        /// Its messages.
        messages: Vec<ChatMessage>,
    }
    /// Something that happened in a turn.
    "TurnEvent" TurnEvent {
        /// `message`, `status`, `text`, `reasoning`, `tool_call`, `approval`, `tool_result`, `usage`, `final` or `error`.
        /// `message` comes first: the person's message is in the session now.
        r#type: Word,
        /// In `text` and `reasoning`: the next piece. In `status` and `error`: a sentence. In `final`: the whole answer. In
        /// `tool_result`: the tool's answer, as far as it is shown. In `approval`: why the person is asked.
        text: Option<String>,
        /// The call, in `tool_call`, `approval` and `tool_result`.
        call_id: Option<String>,
        /// The tool of that call, as `server/tool`; as the model wrote it if there is no such tool.
        tool: Option<String>,
        /// The arguments, an object; in `tool_call`.
        arguments: Option<Json>,
        /// The question, in `approval`.
        approval: Option<Approval>,
        /// In `approval`: true if the question still waits. A second event with false says that it no longer does.
        waits: Option<bool>,
        /// In `tool_result`: true if the call failed. Absent in `error`.
        is_error: Option<bool>,
        /// How long the call took, in milliseconds; in `tool_result`.
        duration_ms: Option<u64>,
        /// The tokens that the turn has used so far; in `usage` and `final`.
        usage: Option<ChatUsage>,
        /// In `final`: why the turn ended, `done`, `stopped`, `rounds`, `calls`, `tokens`, `time` or `repeats`. In `error`:
        /// the code.
        code: Option<String>,
        /// In `message`: the number of the person's message in the `messages` of `chat_get_session`, from 0.
        message_id: Option<u64>,
    }
    /// The changes to a session. A field that is absent changes nothing.
    "SessionUpdates" SessionUpdates {
        /// The new name.
        name: Option<String>,
        /// The new text for the model; an empty text removes it.
        systemPrompt: Option<String>,
        /// The new list of servers. An empty list: none; `*`: all servers.
        enabledServers: Option<Vec<String>>,
        /// The new model, as `provider:model`; an empty text: the default model.
        model: Option<String>,
        /// The new mode: `ask`, `plan`, `auto` or `reads`.
        mode: Option<String>,
        /// True: the session is pinned. False: it is not any more.
        pinned: Option<bool>,
    }
    /// A call of a turn, as a reply lists it.
    "TurnStep" TurnStep {
        /// The call.
        call_id: String,
        /// The tool, `server/tool`.
        tool: String,
        /// True if the call failed or was not made.
        is_error: bool,
        /// How long the call took, in milliseconds.
        duration_ms: u64,
    }
    /// Something that happened in a run (docs/page-api.md, run events).
    "RunEvent" RunEvent {
        /// `status`, `token`, `tool_call`, `tool_result`, `final` or `error`.
        r#type: Word,
        /// The run.
        runId: String,
        /// A sentence; in `status`.
        message: Option<String>,
        /// The next piece of the answer; in `token`.
        token: Option<String>,
        /// The call, in `tool_call` and `tool_result`.
        callId: Option<String>,
        /// The tool of that call, as `server/tool`.
        tool: Option<String>,
        /// The arguments, an object; in `tool_call`.
        args: Option<Json>,
        /// The tool's answer as MCP writes it; in `tool_result`.
        result: Option<Json>,
        /// Why there is no result; in `tool_result` and `error`.
        error: Option<RunError>,
        /// The answer, in `final`.
        output: Option<String>,
        /// The calls that the answer relies on; in `final`.
        citations: Option<Vec<Citation>>,
        /// The tokens that the run has used; in `final`.
        usage: Option<ChatUsage>,
    }
    /// Why a run or a call of a run failed.
    "RunError" RunError {
        /// One of the codes in this document.
        code: String,
        /// A sentence.
        message: String,
        /// True if another attempt may succeed.
        retryable: bool,
    }
    /// A session of an origin: its runs know what was said in it, and share its limits.
    "SessionSummary" SessionSummary {
        /// Its id.
        sessionId: String,
        /// `explicit`: the origin has begun it.
        r#type: Word,
        /// The origin that the session belongs to.
        origin: String,
        /// `active`; `terminated` in the answer that ends it.
        status: Word,
        /// A name for people.
        name: Option<String>,
        /// When the session began, in milliseconds since 1970.
        createdAt: u64,
        /// When its last run began or ended, in milliseconds since 1970.
        lastActiveAt: u64,
        /// When the session ends by itself, in milliseconds since 1970.
        expiresAt: u64,
        /// What the session may do.
        capabilities: SessionCapabilities,
        /// The most calls that all its runs may make together; absent: no limit beyond that of each run.
        maxToolCalls: Option<u32>,
        /// What its runs have used.
        usage: SessionUsage,
    }
    /// What a session of an origin may do.
    "SessionCapabilities" SessionCapabilities {
        /// True if it may ask a model.
        hasLLM: bool,
        /// How many tools its runs may use.
        toolCount: u32,
        /// True if it may use a tab. In this version it never may.
        hasBrowserAccess: bool,
    }
    /// What the runs of a session have used.
    "SessionUsage" SessionUsage {
        /// How many runs have begun.
        promptCount: u32,
        /// How many calls of tools were made.
        toolCallCount: u32,
        /// Tokens that models have read and written, together.
        tokensUsed: u64,
    }
    /// A call that an answer relies on.
    "Citation" Citation {
        /// The tool, `server/tool`.
        source: String,
        /// The call.
        r#ref: String,
        /// The passage of the tool's answer.
        excerpt: String,
    }
}
