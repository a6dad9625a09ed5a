//! Objects about language models: providers, their models, and what is said to a model and by it.
//!
//! ```text
//!  llm_chat { messages: [ChatMessage { content: text or [ChatPart] }], tools: [ChatTool] }
//!     ─► llm_event { ChatEvent }, …  ─► response { message: ChatMessage, usage }
//! ```
//!
//! Owns the one form in which a conversation is written, whatever the provider's own is. Must never hold a key.

#![allow(non_snake_case, reason = "some fields' names are those of the Web Agents API")]

use super::define_sent;
use crate::field::{JsonObject, Word};
use crate::json::Json;

define_sent! {
    /// Objects about language models.
    MODEL_OBJECTS:
    /// Somebody who runs models: a service, or a program on this machine.
    "Provider" ProviderView {
        /// Its id: the part before `:` in the ids of its models.
        id: String,
        /// What it is: `ollama`, `openai`, `anthropic`, `llamafile`, `llama-server`, `lmstudio`, `vllm`, `openrouter`, `mistral`,
        /// `groq`, `deepseek` or `openai-compatible`.
        r#type: String,
        /// A name for people.
        name: String,
        /// Where it is.
        base_url: String,
        /// How it is spoken to: `chat`, `responses`, `anthropic`, `ollama` or `gemini`.
        dialect: Word,
        /// Whether it may be used.
        enabled: bool,
        /// Whether it can be used, as far as that is known: it is enabled, has the key that it needs, and answered when it was
        /// last asked. One that was not asked yet counts as one that answers.
        available: bool,
        /// Whether it runs on this machine. Some of its models may run elsewhere all the same.
        is_local: bool,
        /// Whether it is used where a request names none.
        is_default: bool,
        /// Whether it is the one of its type that is used where only the type is named.
        is_type_default: bool,
        /// Whether it answers nobody without a key.
        needs_api_key: bool,
        /// Whether it has one.
        has_api_key: bool,
        /// False of one that was found on this machine and that nobody has added: nothing is sent to it but what finding it
        /// takes.
        is_added: bool,
        /// Why it was refused or did not answer when it was last asked, in the provider's own words.
        problem: Option<String>,
        /// What `llm_detect` finds, and what `llm_add_provider` adds, on this machine: the user whose program answers there, where that
        /// is another person. It would read all that is asked.
        other_user: Option<String>,
    }
    /// What can be added.
    "ProviderType" ProviderType {
        /// As in `Provider`.
        r#type: String,
        /// A name for people.
        name: String,
        /// Where it is when nothing else is said; absent where that must be said.
        base_url: Option<String>,
        /// As in `Provider`.
        dialect: Word,
        /// As in `Provider`.
        needs_api_key: bool,
    }
    /// A key that lies in the environment. It is never taken by itself.
    "EnvironmentKey" EnvironmentKey {
        /// The type of provider that it is for.
        r#type: String,
        /// The variable's name.
        variable: String,
    }
    /// A model.
    "Model" ModelView {
        /// Its id: `provider:model`.
        id: String,
        /// The provider's id.
        provider: String,
        /// Its name there.
        model: String,
        /// How many tokens it looks at, where that is known.
        context_window: Option<u64>,
        /// How many tokens an answer may have, where that is known.
        max_output: Option<u64>,
        /// Whether it can call tools; absent where the provider does not say.
        tools: Option<bool>,
        /// Whether it sees images; absent where the provider does not say.
        vision: Option<bool>,
        /// Whether it thinks before it answers; absent where the provider does not say.
        reasoning: Option<bool>,
        /// Whether it runs on this machine.
        is_local: bool,
    }
    /// A model as an origin sees it: nothing of where it runs.
    "UsableModel" UsableModel {
        /// Its id: `provider:model`.
        id: String,
        /// The provider's id.
        provider: String,
        /// Its name there.
        model: String,
        /// As in `Model`.
        context_window: Option<u64>,
        /// As in `Model`.
        max_output: Option<u64>,
        /// As in `Model`.
        tools: Option<bool>,
        /// As in `Model`.
        vision: Option<bool>,
        /// As in `Model`.
        reasoning: Option<bool>,
    }
    /// A message of a conversation with a model.
    "ChatMessage" ChatMessage {
        /// `system`, `user`, `assistant`, or `tool`: the result of a call.
        role: String,
        /// What it says: a text, or an array of `ChatPart` in their order. What a model answered goes back as it came.
        content: Option<Json>,
        /// Of an `assistant`: the tools that it calls.
        toolCalls: Option<Vec<ChatToolCall>>,
        /// Of a `tool`: the call that it answers.
        toolCallId: Option<String>,
        /// Of a `tool`: true where the call failed, and the content says why.
        isError: Option<bool>,
    }
    /// A part of a message.
    "ChatPart" ChatPart {
        /// `text`; `image`; `reasoning`: what the model thought; `opaque`: what only its provider understands; `tool_call`: here
        /// stands the call `callId` of `toolCalls`. Calls without such a place stand at the end.
        r#type: String,
        /// Of `text` and `reasoning`: the text.
        text: Option<String>,
        /// Of a `tool_call`: which one.
        callId: Option<String>,
        /// Of an `image`: `image/png`, `image/jpeg`, `image/gif` or `image/webp`.
        mediaType: Option<String>,
        /// Of an `image`: its bytes in Base64, 5 MB at most, and 8 images in a request. An address is refused: nobody fetches it.
        data: Option<String>,
        /// Of `opaque`: whose it is. It goes back to that provider and that model only.
        provider: Option<String>,
        /// See `provider`.
        model: Option<String>,
        /// Of `opaque`: as the provider wrote it.
        value: Option<Json>,
    }
    /// A model calls a tool.
    "ChatToolCall" ChatToolCall {
        /// The call's id; it is made up where the provider has given none.
        id: String,
        /// The tool's name.
        name: String,
        /// Its arguments, an object; where the model wrote something else, that as a text.
        arguments: Json,
    }
    /// A tool that a model may call.
    "ChatTool" ChatTool {
        /// Its name. One that the provider would refuse (over 64 characters, other characters than it takes) travels under
        /// another, and comes back under this one.
        name: String,
        /// What it does.
        description: Option<String>,
        /// JSON Schema of its arguments.
        inputSchema: Option<JsonObject>,
    }
    /// What a chat has taken.
    "ChatUsage" ChatUsage {
        /// Tokens that were sent, those from a cache included.
        input_tokens: u64,
        /// Tokens that came, those of thinking included.
        output_tokens: u64,
        /// Of those that were sent: what the provider had already.
        cached_tokens: u64,
        /// Of those that came: what was thought.
        reasoning_tokens: u64,
        /// `exact`: the provider has counted them; `estimated`: by the length of the text; `unknown`.
        exactness: Word,
    }
    /// What a model answered.
    "ChatResponse" ChatResponse {
        /// The message, with the role `assistant`. Put behind the others, it continues the conversation.
        message: ChatMessage,
        /// What it has taken.
        usage: ChatUsage,
        /// `stop`, `tool_calls`, `length` (it was cut off) or `error` (the provider would not say more).
        finishReason: Word,
        /// The provider's own word for that.
        raw_finish: Option<String>,
    }
    /// A piece of an answer.
    "ChatEvent" ChatEvent {
        /// `start`, `text`, `reasoning`, `tool_call_start`, `tool_call_arguments`, `tool_call_end`, `usage`, `end` or `error`.
        r#type: Word,
        /// Of `text` and `reasoning`: what comes behind what came before. Of `error`: why, a word as in `ERR_MODEL_FAILED`. Of `end`: as `finishReason`.
        text: Option<String>,
        /// The call that it is about.
        call_id: Option<String>,
        /// Of `tool_call_start`: the tool.
        name: Option<String>,
        /// Of `tool_call_arguments`: a piece of the arguments' text. Of `tool_call_end`: all of them.
        arguments: Option<String>,
        /// Of `usage`: what it has taken so far.
        usage: Option<ChatUsage>,
    }
    /// What models have taken.
    "ModelUsage" ModelUsageView {
        /// The provider's id; absent where it is not what the rows are grouped by.
        provider: Option<String>,
        /// The model's name there, likewise.
        model: Option<String>,
        /// Who asked, likewise: `owner`, or an origin.
        principal: Option<String>,
        /// The day, `YYYY-MM-DD` in UTC, likewise.
        day: Option<String>,
        /// Requests.
        requests: u64,
        /// As in `ChatUsage`.
        input_tokens: u64,
        /// As in `ChatUsage`.
        output_tokens: u64,
        /// As in `ChatUsage`.
        cached_tokens: u64,
        /// As in `ChatUsage`.
        reasoning_tokens: u64,
        /// As in `ChatUsage`, of the least exact request among them.
        exactness: Word,
    }
    /// What somebody may use.
    "Budget" BudgetView {
        /// An origin, `owner`, or `*`: everybody together.
        principal: String,
        /// Tokens of a day in UTC; absent: as many as they like.
        tokens_per_day: Option<u64>,
        /// Whether a person has set it; else it is what an origin has by itself.
        is_set: bool,
        /// What of today's is used.
        used: u64,
        /// What of it is kept for requests that are under way.
        reserved: u64,
    }
}
