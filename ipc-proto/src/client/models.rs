//! Objects about language models: providers, their models, and the messages of a conversation.
//!
//! ```text
//!  llm_chat { messages: [ChatMessage { content: text or [ChatPart] }], tools: [ChatTool] }
//!     ─► llm_event { ChatEvent }, …  ─► response { message: ChatMessage, usage }
//! ```
//!
//! Owns the one form in which a conversation is written, whatever form the provider uses. Must never hold a key.

#![allow(non_snake_case, reason = "some fields' names are those of the Web Agents API")]

use super::define_sent;
use crate::field::{JsonObject, Word};
use crate::json::Json;

define_sent! {
    /// Objects about language models.
    MODEL_OBJECTS:
    /// A provider: a service that runs models, or a program on this machine.
    "Provider" ProviderView {
        /// Its id: the part before `:` in the ids of its models.
        id: String,
        /// The kind of provider: `ollama`, `openai`, `anthropic`, `llamafile`, `llama-server`, `lmstudio`, `vllm`,
        /// `openrouter`, `mistral`, `groq`, `deepseek`, `lemonade`, `gemini` or `openai-compatible`.
        r#type: String,
        /// A name for people.
        name: String,
        /// Its address.
        base_url: String,
        /// The format of its requests and answers: `chat`, `anthropic`, `ollama`, `responses` or `gemini`.
        dialect: Word,
        /// True if the person allows its use.
        enabled: bool,
        /// True if it can be used, as far as Harbor knows: it is enabled, has the key that it needs, and answered when it
        /// was last asked. A provider that was never asked counts as one that answers.
        available: bool,
        /// True if it runs on this machine. Some of its models may still run elsewhere.
        is_local: bool,
        /// True if requests that name no provider go to it.
        is_default: bool,
        /// True if requests that name only its type go to it.
        is_type_default: bool,
        /// True if it answers nobody without a key.
        needs_api_key: bool,
        /// True if Harbor has a key for it.
        has_api_key: bool,
        /// False if it was found on this machine and nobody has added it. Harbor sends nothing to it except to detect it.
        is_added: bool,
        /// Why it refused or did not answer when it was last asked, in its own words; absent when it answered.
        problem: Option<String>,
        /// For `llm_detect` and `llm_add_provider`: the user of this machine whose program answers there, if that is
        /// another person. That user could read every request. Otherwise absent.
        other_user: Option<String>,
    }
    /// A type of provider that can be added.
    "ProviderType" ProviderType {
        /// As in `Provider`.
        r#type: String,
        /// A name for people.
        name: String,
        /// Its usual address; absent when the person must give one.
        base_url: Option<String>,
        /// As in `Provider`.
        dialect: Word,
        /// As in `Provider`.
        needs_api_key: bool,
    }
    /// A key in the bridge's environment. Harbor never uses it by itself.
    "EnvironmentKey" EnvironmentKey {
        /// The type of provider that the key is for.
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
        /// Its name at the provider.
        model: String,
        /// The window in tokens by which Harbor shortens conversations; absent when not known. Harbor then assumes 32,768.
        context_window: Option<u64>,
        /// The most tokens of an answer; absent when not known.
        max_output: Option<u64>,
        /// True if it can call tools; absent when the provider does not say.
        tools: Option<bool>,
        /// True if it sees images; absent when the provider does not say.
        vision: Option<bool>,
        /// True if it thinks before it answers; absent when the provider does not say.
        reasoning: Option<bool>,
        /// True if it runs on this machine.
        is_local: bool,
        /// Where `context_window` comes from: `stated` by the person; `learned` from a refusal; `provider`: its provider
        /// says so; `memory`: this machine has no memory for more; `loaded`: its program has loaded it with that.
        window_from: Option<Word>,
        /// For Ollama: the window with which the model is loaded now; absent when it is not.
        loaded_window: Option<u64>,
        /// For Ollama: the window that Harbor asked for with the last request; absent before the first one.
        sent_window: Option<u64>,
        /// `loaded`, `unloaded` (it is loaded when it is asked), `loading` or `failed`; absent when the provider does not
        /// say.
        state: Option<Word>,
        /// Why it could not be loaded the last time; absent when it could.
        problem: Option<String>,
        /// The price of a million tokens that are sent, in millionths of a dollar; absent when not known, and for models on
        /// this machine.
        input_price: Option<u64>,
        /// The price of a million tokens that come, in millionths of a dollar; absent as `input_price` is.
        output_price: Option<u64>,
    }
    /// A model that the person has given a name.
    "ConfiguredModel" ConfiguredModel {
        /// The name. It stands for the model wherever one is named.
        name: String,
        /// The model, as `provider:model`.
        model_id: String,
        /// True if requests that name no model go to it.
        is_default: bool,
    }
    /// The model for a use.
    "ModelForUse" ModelForUse {
        /// `chat`, `fast`, `vision` or `transcription`.
        r#use: Word,
        /// The model, as `provider:model`.
        model_id: String,
    }
    /// A model as an origin sees it: without the place where it runs.
    "UsableModel" UsableModel {
        /// Its id: `provider:model`.
        id: String,
        /// The provider's id.
        provider: String,
        /// Its name at the provider.
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
        /// The content: a text, or an array of `ChatPart` in order. Send back a model's answer exactly as it came.
        content: Option<Json>,
        /// For `assistant`: the tools that it calls.
        toolCalls: Option<Vec<ChatToolCall>>,
        /// For `tool`: the id of the call that it answers.
        toolCallId: Option<String>,
        /// For `tool`: true if the call failed; the content says why.
        isError: Option<bool>,
    }
    /// A part of a message.
    "ChatPart" ChatPart {
        /// `text`; `image`; `reasoning`: the model's thoughts; `opaque`: data that only its provider understands;
        /// `tool_call`: the place of the call `callId` of `toolCalls`. Calls without such a place come at the end. In a
        /// session of the person's also `page`: what stands on a web page that the person attached.
        r#type: String,
        /// For `text`, `reasoning` and `page`: the text; of an attachment at most 1,000,000 bytes.
        text: Option<String>,
        /// For `tool_call`: the id of the call.
        callId: Option<String>,
        /// For `image`: `image/png`, `image/jpeg`, `image/gif` or `image/webp`.
        mediaType: Option<String>,
        /// For `image`: its bytes in Base64, at most 5 MB, and at most 8 images in a request. An address is refused: nobody
        /// fetches it.
        data: Option<String>,
        /// For `opaque`: the id of the provider that made it. Harbor sends it back to that provider and model only.
        provider: Option<String>,
        /// For `opaque`: the name of the model that made it.
        model: Option<String>,
        /// For `opaque`: the data as the provider wrote it.
        value: Option<Json>,
        /// For `page`: its address, `http` or `https`, at most 8192 bytes.
        url: Option<String>,
        /// For `page`: its title. For `text` among the attachments of `chat_send_message`: the name of the file. At most
        /// 1000 bytes. In the messages of a session a text that has this field was attached, also where it is empty; one
        /// without it was typed.
        title: Option<String>,
    }
    /// A call that a model wants.
    "ChatToolCall" ChatToolCall {
        /// The call's id; made by Harbor if the provider gives none.
        id: String,
        /// The tool's name.
        name: String,
        /// Its arguments, an object. If the model wrote anything else: that text, as a string.
        arguments: Json,
    }
    /// A tool that a model may call.
    "ChatTool" ChatTool {
        /// Its name. If the provider would refuse the name (over 64 characters, or other characters than it takes), Harbor
        /// sends another one and gives this one back.
        name: String,
        /// Its description.
        description: Option<String>,
        /// JSON Schema of its arguments.
        inputSchema: Option<JsonObject>,
    }
    /// The tokens that a chat has used.
    "ChatUsage" ChatUsage {
        /// Tokens that were sent, with those from a cache.
        input_tokens: u64,
        /// Tokens that came, with those of thoughts.
        output_tokens: u64,
        /// The part of `input_tokens` that the provider had in its cache.
        cached_tokens: u64,
        /// The part of `output_tokens` that were thoughts.
        reasoning_tokens: u64,
        /// `exact`: the provider counted them; `estimated`: from the length of the text; `unknown`.
        exactness: Word,
        /// The price of these tokens, in millionths of a dollar: 0 for a model on this machine; absent when not known.
        cost_microdollars: Option<u64>,
    }
    /// The answer of a model.
    "ChatResponse" ChatResponse {
        /// The message, with the role `assistant`. Add it to the conversation's messages to continue.
        message: ChatMessage,
        /// The tokens that the request has used.
        usage: ChatUsage,
        /// Why the answer ended: `stop`, `tool_calls`, `length` (it was cut off) or `error` (the provider kept the answer
        /// back).
        finishReason: Word,
        /// The provider's own word for that; absent when it gives none.
        raw_finish: Option<String>,
        /// The parts of the request that were left out for this model; absent when none were.
        details: Option<AnswerDetails>,
    }
    /// The parts of a request that were left out, since the model or its provider refuses them. Harbor remembers settings.
    "AnswerDetails" AnswerDetails {
        /// Settings: `temperature`, `top_p`, `stop`, `reasoning_effort` or `max_tokens`.
        left_out: Vec<String>,
        /// Tools that the model was not told of.
        tools_left_out: Vec<String>,
    }
    /// A piece of an answer.
    "ChatEvent" ChatEvent {
        /// `loading` (the provider loads the model before it answers), `waiting` (the provider is asked once more after a
        /// pause), `start`, `text`, `reasoning`, `tool_call_start`, `tool_call_arguments`, `tool_call_end`, `usage`, `end` or
        /// `error`.
        r#type: Word,
        /// In `text` and `reasoning`: the next piece. In `error`: the cause, as in `ERR_MODEL_FAILED`. In `end`: the same
        /// as `finishReason`.
        text: Option<String>,
        /// The call, in events about a call.
        call_id: Option<String>,
        /// In `tool_call_start`: the tool's name.
        name: Option<String>,
        /// In `tool_call_arguments`: the next piece of the arguments. In `tool_call_end`: all of them; absent where they are
        /// longer than the client's frames.
        arguments: Option<String>,
        /// In `usage`: the tokens so far.
        usage: Option<ChatUsage>,
        /// In `waiting`: the pause, in milliseconds.
        retry_after_ms: Option<u64>,
    }
    /// The tokens that requests to models have used.
    "ModelUsage" ModelUsageView {
        /// The provider's id; absent if the rows are not grouped by it.
        provider: Option<String>,
        /// The model's name at the provider; absent if the rows are not grouped by it.
        model: Option<String>,
        /// The principal that asked, `owner`, an origin or `server:NAME`; absent if the rows are not grouped by it.
        principal: Option<String>,
        /// The day, `YYYY-MM-DD` in UTC; absent if the rows are not grouped by it.
        day: Option<String>,
        /// The number of requests.
        requests: u64,
        /// As in `ChatUsage`.
        input_tokens: u64,
        /// As in `ChatUsage`.
        output_tokens: u64,
        /// As in `ChatUsage`.
        cached_tokens: u64,
        /// As in `ChatUsage`.
        reasoning_tokens: u64,
        /// As in `ChatUsage`, for the least exact of the requests.
        exactness: Word,
        /// The price of the requests whose price is known, in millionths of a dollar.
        cost_microdollars: u64,
        /// The number of requests whose price is not known.
        unpriced_requests: u64,
    }
    /// A budget: how many tokens a principal may use.
    "Budget" BudgetView {
        /// An origin, `server:NAME`, `owner`, or `*` for all principals together.
        principal: String,
        /// Tokens per day in UTC; absent: no limit.
        tokens_per_day: Option<u64>,
        /// True if the person has set it; false if it is the default for an origin.
        is_set: bool,
        /// Tokens that were used today.
        used: u64,
        /// Tokens that are reserved for requests under way.
        reserved: u64,
    }
}

impl ChatPart {
    /// A part of this type without anything else.
    #[must_use]
    pub fn of_type(kind: &str) -> Self {
        Self {
            r#type: kind.into(),
            text: None,
            callId: None,
            mediaType: None,
            data: None,
            provider: None,
            model: None,
            value: None,
            url: None,
            title: None,
        }
    }
}

impl ChatEvent {
    /// An event of this type without anything else.
    #[must_use]
    pub fn of_type(kind: &'static str) -> Self {
        Self {
            r#type: kind.into(),
            text: None,
            call_id: None,
            name: None,
            arguments: None,
            usage: None,
            retry_after_ms: None,
        }
    }
}
