//! Objects about the agent: sessions, what happens in a turn, what happens in a run.
//!
//! Owns their form. Must never hold an argument or a result that is not meant for who watches.

#![allow(non_snake_case, reason = "some fields' names are those of the Web Agents API")]

use super::{Approval, ChatUsage, define_sent};
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
        /// The servers whose tools it may use; absent: all of them.
        enabledServers: Option<Vec<String>>,
        /// What the model is told before everything else.
        systemPrompt: Option<String>,
        /// Which model: `provider:model`; absent: the default one.
        model: Option<String>,
        /// `ask`: tools that only read run, everything else asks the person. `auto`: everything runs, unless data would leave.
        mode: Word,
        /// True: it is in the bridge's memory only, and never written down.
        private: bool,
        /// Whether the model has read text in it that the person has not typed: results, pages, attachments.
        readUntrusted: bool,
        /// The names of private data that the model has read in it (`files`, `gmail`, `browser:mail.example`): what may carry them away asks.
        privateNames: Vec<String>,
        /// How many messages it has.
        messageCount: u64,
        /// When it began, in milliseconds since 1970.
        createdAt: u64,
        /// When something was last said, likewise.
        updatedAt: u64,
        /// The turn that is under way.
        turn_id: Option<String>,
    }
    /// Something that happened in a turn.
    "TurnEvent" TurnEvent {
        /// `status`, `text`, `reasoning`, `tool_call`, `approval`, `tool_result`, `usage`, `final` or `error`.
        r#type: Word,
        /// Of `text` and `reasoning`: what comes behind what came before. Of `status` and `error`: a sentence. Of `final`: the whole
        /// answer. Of `tool_result`: what the tool said, as far as it is shown. Of `approval`: why the person is asked.
        text: Option<String>,
        /// Of `tool_call`, `approval` and `tool_result`: the call.
        call_id: Option<String>,
        /// Likewise: the tool, `server/tool`; as the model wrote it where there is no such tool.
        tool: Option<String>,
        /// Of `tool_call`: the arguments, an object.
        arguments: Option<Json>,
        /// Of `approval`: the question.
        approval: Option<Approval>,
        /// Of `approval`: whether it still waits. A second event with false says that it does not.
        waits: Option<bool>,
        /// Of `tool_result`: true where the call failed. Of `error`: absent.
        is_error: Option<bool>,
        /// Of `tool_result`: how long it took, in milliseconds.
        duration_ms: Option<u64>,
        /// Of `usage` and `final`: what the turn has taken so far.
        usage: Option<ChatUsage>,
        /// Of `final`: why it ended, `done`, `stopped`, `rounds`, `calls`, `tokens`, `time` or `repeats`. Of `error`: the code.
        code: Option<String>,
    }
    /// What is to be changed of a session. What is absent stays.
    "SessionUpdates" SessionUpdates {
        /// Another name.
        name: Option<String>,
        /// Another text for the model; an empty one is none.
        systemPrompt: Option<String>,
        /// Other servers, none when empty; `*`: all of them.
        enabledServers: Option<Vec<String>>,
        /// Another model; an empty one is the default.
        model: Option<String>,
        /// Another mode.
        mode: Option<String>,
    }
    /// A call of a turn, as it stands in an answer.
    "TurnStep" TurnStep {
        /// The call.
        call_id: String,
        /// The tool, `server/tool`.
        tool: String,
        /// True where the call failed or was not made.
        is_error: bool,
        /// How long it took, in milliseconds.
        duration_ms: u64,
    }
    /// Something that happened in a run (docs/page-api.md, run events).
    "RunEvent" RunEvent {
        /// `status`, `token`, `tool_call`, `tool_result`, `final` or `error`.
        r#type: Word,
        /// The run.
        runId: String,
        /// Of `status`: a sentence.
        message: Option<String>,
        /// Of `token`: what comes behind what came before.
        token: Option<String>,
        /// Of `tool_call` and `tool_result`: the call.
        callId: Option<String>,
        /// Likewise: the tool, `server/tool`.
        tool: Option<String>,
        /// Of `tool_call`: the arguments, an object.
        args: Option<Json>,
        /// Of `tool_result`: what the tool answered, as MCP writes it.
        result: Option<Json>,
        /// Of `tool_result` and `error`: why there is no result.
        error: Option<RunError>,
        /// Of `final`: the answer.
        output: Option<String>,
        /// Of `final`: where the answer comes from.
        citations: Option<Vec<Citation>>,
        /// Of `final`: what it has taken.
        usage: Option<ChatUsage>,
    }
    /// Why a run or a call of a run failed.
    "RunError" RunError {
        /// One of this document's codes.
        code: String,
        /// A sentence.
        message: String,
        /// Whether trying again may help.
        retryable: bool,
    }
    /// A session of an origin: what its runs share.
    "SessionSummary" SessionSummary {
        /// Its id.
        sessionId: String,
        /// `explicit`: the origin has begun it.
        r#type: Word,
        /// Whose it is.
        origin: String,
        /// `active`; `terminated` in the answer that ends it.
        status: Word,
        /// A name for people.
        name: Option<String>,
        /// When it began, in milliseconds since 1970.
        createdAt: u64,
        /// When its last run began or ended, likewise.
        lastActiveAt: u64,
        /// When it ends by itself, likewise.
        expiresAt: u64,
        /// What it may do.
        capabilities: SessionCapabilities,
        /// Calls of all its runs together at most; absent: no more limit than each run has.
        maxToolCalls: Option<u32>,
        /// What its runs have taken.
        usage: SessionUsage,
    }
    /// What a session of an origin may do.
    "SessionCapabilities" SessionCapabilities {
        /// Whether it may ask a model.
        hasLLM: bool,
        /// How many tools its runs may use.
        toolCount: u32,
        /// Whether it may use a tab; it never may in this version.
        hasBrowserAccess: bool,
    }
    /// What the runs of a session have taken.
    "SessionUsage" SessionUsage {
        /// Runs that have begun.
        promptCount: u32,
        /// Calls of tools that were made.
        toolCallCount: u32,
        /// Tokens that models have read and written.
        tokensUsed: u64,
    }
    /// Where an answer comes from.
    "Citation" Citation {
        /// The tool, `server/tool`.
        source: String,
        /// The call.
        r#ref: String,
        /// What the tool said there.
        excerpt: String,
    }
}
