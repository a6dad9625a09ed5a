//! Requests about language models.

use super::super::{ChatMessage, ChatTool, define_requests};
use crate::field::JsonObject;
use crate::json::Json;
use crate::secret::Secret;

define_requests! {
    /// Any request about language models.
    ModelRequest:
    /// Searches this machine for programs that run models, at their usual ports, and the environment for keys. Nothing that
    /// it finds is used before `llm_add_provider`.
    "llm_detect" LlmDetect -> LlmDetectResult {}
    /// Lists the providers that were added.
    "llm_list_providers" LlmListProviders -> LlmListProvidersResult {}
    /// Lists the types of providers that can be added.
    "llm_get_supported_providers" LlmGetSupportedProviders -> LlmGetSupportedProvidersResult {}
    /// Adds a provider: from now on requests may go to it.
    "llm_add_provider" LlmAddProvider -> LlmAddProviderResult {
        /// The type, as `type` in `Provider`.
        provider_type: String,
        /// A name for people, from which the id is made; absent: the type.
        name: Option<String>,
        /// Its address: `https://…`, or `http://…` on this machine. Needed if the type has no usual address.
        base_url: Option<String>,
        /// The format of its requests and answers, as in `Provider`; absent: the type's own.
        dialect: Option<String>,
        /// Its key. It is never shown again.
        api_key: Option<Secret>,
        /// True: it may be at a private address of another machine, and be used without TLS there.
        allow_private: Option<bool>,
        /// True: the program that answers on this machine may be another person's. Otherwise nothing is sent to a program
        /// unless it is the person's own, root's or a system account's.
        allow_other_user: Option<bool>,
    }
    /// Changes a provider. A new address drops its key, which belongs to the old address.
    "llm_configure_provider" LlmConfigureProvider -> LlmConfigureProviderResult {
        /// The provider's id.
        id: String,
        /// A new name for people.
        name: Option<String>,
        /// A new address.
        base_url: Option<String>,
        /// True: the provider may be used. False: it may not.
        enabled: Option<bool>,
        /// True: requests that name no provider go to it.
        is_default: Option<bool>,
        /// True: requests that name only its type go to it.
        is_type_default: Option<bool>,
    }
    /// Forgets a provider and its key. The tokens that it has used stay counted.
    "llm_remove_provider" LlmRemoveProvider -> LlmRemoveProviderResult {
        /// The provider's id.
        id: String,
    }
    /// Stores a provider's key, or replaces it.
    "llm_set_api_key" LlmSetApiKey -> LlmSetApiKeyResult {
        /// The provider's id.
        provider_id: String,
        /// The key. It is never shown again.
        api_key: Secret,
    }
    /// Deletes a provider's key.
    "llm_remove_api_key" LlmRemoveApiKey -> LlmRemoveApiKeyResult {
        /// The provider's id.
        provider_id: String,
    }
    /// Asks a provider whether it takes its key. The request is for the list of models, which costs nothing.
    "llm_check_provider" LlmCheckProvider -> LlmCheckProviderResult {
        /// The provider's id.
        provider_id: String,
    }
    /// Lists the models of all enabled providers.
    "llm_list_models" LlmListModels -> LlmListModelsResult {}
    /// Lists the models of one provider.
    "llm_list_models_for" LlmListModelsFor -> LlmListModelsForResult {
        /// The provider's id.
        provider_id: String,
    }
    /// Sets the provider and model for requests that name none.
    "llm_set_active" LlmSetActive -> LlmSetActiveResult {
        /// The provider's id.
        provider_id: String,
        /// The model's name at the provider; absent: the model it had, or its first one.
        model_id: Option<String>,
    }
    /// Sets the model of the default provider, for requests that name none.
    "llm_set_model" LlmSetModel -> LlmSetModelResult {
        /// The model, as `provider:model` or by its name at the default provider.
        model_id: String,
    }
    /// States the window of a model, for a provider that does not tell it, or to have another one. Anything that Harbor
    /// has learned of the model's window is forgotten.
    "llm_set_model_options" LlmSetModelOptions -> LlmSetModelOptionsResult {
        /// The model, as `provider:model`.
        model: String,
        /// The window in tokens, at least 1024; absent: as the provider says.
        context_window: Option<u64>,
    }
    /// Lists the models that the person has given a name.
    "llm_list_configured_models" LlmListConfiguredModels -> LlmListConfiguredModelsResult {}
    /// Gives a model a name, which stands for it wherever a model is named. A name that another model has goes over to this
    /// one.
    "llm_add_configured_model" LlmAddConfiguredModel -> LlmAddConfiguredModelResult {
        /// The model, as `provider:model`, or by its name if one provider lists it.
        model_id: String,
        /// The name; absent: one that is made of the model's.
        name: Option<String>,
    }
    /// Takes a name away. The model stays.
    "llm_remove_configured_model" LlmRemoveConfiguredModel -> LlmRemoveConfiguredModelResult {
        /// The name.
        name: String,
    }
    /// Has requests that name no model go to a named model.
    "llm_set_configured_model_default" LlmSetConfiguredModelDefault -> LlmSetConfiguredModelDefaultResult {
        /// The name.
        name: String,
    }
    /// Says which model is for a use, if requests of that use name none. A use is also a name of its model.
    "llm_set_default_for" LlmSetDefaultFor -> LlmSetDefaultForResult {
        /// `chat`; `fast`: short answers that should come at once; `vision`: requests with pictures; `transcription`.
        r#use: String,
        /// The model, as in `llm_add_configured_model`; absent: the use has none of its own any more.
        model: Option<String>,
    }
    /// Says which provider and model serve requests that name none.
    "llm_get_active" LlmGetActive -> LlmGetActiveResult {}
    /// Gives all settings about models. Of keys it names only their providers.
    "llm_get_config" LlmGetConfig -> LlmGetConfigResult {}
    /// Puts a conversation to a model. Nothing of this request affects later ones. In the `rpc` envelope, `llm.chat_stream`
    /// is the same with `stream`.
    "llm_chat" LlmChat -> LlmChatResult {
        /// The conversation, the oldest message first.
        messages: Vec<ChatMessage>,
        /// The model, as `provider:model`, or by its name at `provider`; absent: the default model.
        model: Option<String>,
        /// The provider, by its id or type; absent: the default provider.
        provider: Option<String>,
        /// A text that the model gets before all messages.
        system_prompt: Option<String>,
        /// The tools that the model may call.
        tools: Option<Vec<ChatTool>>,
        /// `auto`, `none`, `required`, or the name of the tool that the model must call.
        tool_choice: Option<String>,
        /// The most tokens of the answer; absent: the provider's default.
        max_tokens: Option<u32>,
        /// The temperature, a number from 0 to 2; absent: the provider's default.
        temperature: Option<Json>,
        /// The share of likely tokens to choose from, a number from 0 to 1; absent: the provider's default.
        top_p: Option<Json>,
        /// Texts at which the answer stops.
        stop: Option<Vec<String>>,
        /// A JSON Schema that the answer must follow.
        response_schema: Option<JsonObject>,
        /// How much the model thinks: `none`, `minimal`, `low`, `medium` or `high`; absent: the provider's default.
        reasoning_effort: Option<String>,
        /// True: `llm_event` pushes come.
        stream: Option<bool>,
        /// True: this client gives credit (`llm_more`). The first 64 pushes need none.
        credit: Option<bool>,
    }
    /// Puts a conversation to a model for an origin, or for an AI client itself. Needs the scope `model:prompt`. `tools`
    /// are the caller's own: it makes the calls itself.
    "host_llm_chat" HostLlmChat -> HostLlmChatResult {
        /// As in `host_check_permission`.
        origin: Option<String>,
        /// As in `host_grant_permission`.
        profile: Option<String>,
        /// The tab that asks.
        tab_id: Option<u64>,
        /// As in `llm_chat`.
        messages: Vec<ChatMessage>,
        /// As in `llm_chat`.
        model: Option<String>,
        /// As in `llm_chat`.
        provider: Option<String>,
        /// As in `llm_chat`.
        system_prompt: Option<String>,
        /// As in `llm_chat`.
        tools: Option<Vec<ChatTool>>,
        /// As in `llm_chat`.
        tool_choice: Option<String>,
        /// As in `llm_chat`.
        max_tokens: Option<u32>,
        /// As in `llm_chat`.
        temperature: Option<Json>,
        /// As in `llm_chat`.
        top_p: Option<Json>,
        /// As in `llm_chat`.
        stop: Option<Vec<String>>,
        /// As in `llm_chat`.
        response_schema: Option<JsonObject>,
        /// As in `llm_chat`.
        reasoning_effort: Option<String>,
        /// As in `llm_chat`.
        stream: Option<bool>,
        /// As in `llm_chat`.
        credit: Option<bool>,
    }
    /// Gives credit for further pushes of a streaming request of this client.
    "llm_more" LlmMore -> LlmMoreResult {
        /// The id of the request.
        target: String,
        /// How many more pushes may come.
        n: u32,
    }
    /// Lists the models that an origin may use. Needs the scope `model:list`.
    "host_llm_list_models" HostLlmListModels -> HostLlmListModelsResult {
        /// As in `host_check_permission`.
        origin: Option<String>,
        /// As in `host_grant_permission`.
        profile: Option<String>,
        /// The tab that asks.
        tab_id: Option<u64>,
    }
    /// Says how many tokens a model would read. A provider that can count without answering (Anthropic's and Gemini's format,
    /// OpenAI, llama-server) gets the conversation and counts them. For others they are estimated from its length.
    "llm_count_tokens" LlmCountTokens -> LlmCountTokensResult {
        /// As in `llm_chat`.
        messages: Vec<ChatMessage>,
        /// As in `llm_chat`.
        model: Option<String>,
        /// As in `llm_chat`.
        provider: Option<String>,
        /// As in `llm_chat`.
        system_prompt: Option<String>,
        /// As in `llm_chat`.
        tools: Option<Vec<ChatTool>>,
    }
    /// Has a recording of speech transcribed. It goes to the provider of the model, and is written down nowhere.
    "llm_transcribe" LlmTranscribe -> LlmTranscribeResult {
        /// The recording's bytes in Base64, at most 25 MB.
        audio: String,
        /// Its type: `audio/wav`, `audio/mpeg`, `audio/mp4`, `audio/ogg`, `audio/flac` or `audio/webm`.
        media_type: String,
        /// As in `llm_chat`; absent: the first model whose name says that it transcribes, of the default provider if it has
        /// one.
        model: Option<String>,
        /// As in `llm_chat`.
        provider: Option<String>,
        /// The language that is spoken, like `en`; absent: the model finds out.
        language: Option<String>,
        /// Words that help the model with names and terms, at most 8192 bytes.
        prompt: Option<String>,
    }
    /// Gives the tokens that requests to models have used.
    "llm_usage" LlmUsage -> LlmUsageResult {
        /// Only usage since the day of this time, in milliseconds since 1970; absent: all.
        since: Option<u64>,
        /// `provider`, `model`, `principal` or `day`; absent: grouped by all four.
        group_by: Option<String>,
    }
    /// Sets a budget: how many tokens a principal may use per day.
    "llm_set_budget" LlmSetBudget -> LlmSetBudgetResult {
        /// An origin, `client://NAME`, `server:NAME`, `owner`, or `*` for all principals together.
        principal: String,
        /// Tokens per day in UTC; absent: the default, as if no budget had ever been set.
        tokens_per_day: Option<u64>,
    }
    /// Lists the budgets, and how much of each was used today.
    "llm_list_budgets" LlmListBudgets -> LlmListBudgetsResult {}
}
