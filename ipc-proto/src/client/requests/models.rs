//! Requests about language models.

use super::super::{ChatMessage, ChatTool, define_requests};
use crate::field::JsonObject;
use crate::json::Json;
use crate::secret::Secret;

define_requests! {
    /// Any request about language models.
    ModelRequest:
    /// Looks for programs on this machine that run models, at the ports where they are as a rule, and for keys in the
    /// environment. What is found is not used before `llm_add_provider`.
    "llm_detect" LlmDetect -> LlmDetectResult {}
    /// Lists the providers that were added.
    "llm_list_providers" LlmListProviders -> LlmListProvidersResult {}
    /// Lists what can be added.
    "llm_get_supported_providers" LlmGetSupportedProviders -> LlmGetSupportedProvidersResult {}
    /// Adds a provider: from now on requests may be sent to it.
    "llm_add_provider" LlmAddProvider -> LlmAddProviderResult {
        /// As `type` in `Provider`.
        provider_type: String,
        /// A name for people, of which its id is made; the type when absent.
        name: Option<String>,
        /// Where it is: `https://…`, or `http://…` on this machine. Needed where the type has no address of its own.
        base_url: Option<String>,
        /// As in `Provider`; the type's own when absent.
        dialect: Option<String>,
        /// Its key. It is never shown again.
        api_key: Option<Secret>,
        /// Whether it may be at a private address that is not this machine's, and be spoken to without TLS there.
        allow_private: Option<bool>,
        /// Whether what answers on this machine may be another person's program. Without it nothing is sent to one: neither the
        /// person's own, root's nor an account of the system.
        allow_other_user: Option<bool>,
    }
    /// Changes a provider. Another address drops its key, which belongs to the address that it was given for.
    "llm_configure_provider" LlmConfigureProvider -> LlmConfigureProviderResult {
        /// The provider's id.
        id: String,
        /// Another name for people.
        name: Option<String>,
        /// Another address.
        base_url: Option<String>,
        /// Whether it may be used.
        enabled: Option<bool>,
        /// True: it is used where a request names none.
        is_default: Option<bool>,
        /// True: it is used where only its type is named.
        is_type_default: Option<bool>,
    }
    /// Forgets a provider and its key. What it has used stays counted.
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
    /// Asks a provider whether it takes the key that it was given: by its list of models, which costs nothing.
    "llm_check_provider" LlmCheckProvider -> LlmCheckProviderResult {
        /// The provider's id.
        provider_id: String,
    }
    /// Lists the models of all providers that are enabled.
    "llm_list_models" LlmListModels -> LlmListModelsResult {}
    /// Lists the models of one provider.
    "llm_list_models_for" LlmListModelsFor -> LlmListModelsForResult {
        /// The provider's id.
        provider_id: String,
    }
    /// Says which provider, and which of its models, is used where a request names none.
    "llm_set_active" LlmSetActive -> LlmSetActiveResult {
        /// The provider's id.
        provider_id: String,
        /// The model's name there; the one that it had, or its first, when absent.
        model_id: Option<String>,
    }
    /// Says which model of the default provider is used where a request names none.
    "llm_set_model" LlmSetModel -> LlmSetModelResult {
        /// `provider:model`, or the name that the default provider has for it.
        model_id: String,
    }
    /// Says which provider and model are used where a request names none.
    "llm_get_active" LlmGetActive -> LlmGetActiveResult {}
    /// Says all that is set about models, keys by the ids of their providers only.
    "llm_get_config" LlmGetConfig -> LlmGetConfigResult {}
    /// Puts a conversation to a model. Nothing of the request holds for another one. In the `rpc` envelope `llm.chat_stream` is the
    /// same with `stream`.
    "llm_chat" LlmChat -> LlmChatResult {
        /// The conversation, the oldest message first.
        messages: Vec<ChatMessage>,
        /// Which model: `provider:model`, or its name at `provider`; the default one when absent.
        model: Option<String>,
        /// Which provider, by its id or its type; the default one when absent.
        provider: Option<String>,
        /// What is said before all messages.
        system_prompt: Option<String>,
        /// The tools that it may call.
        tools: Option<Vec<ChatTool>>,
        /// `auto`, `none`, `required`, or the name of the one that it has to call.
        tool_choice: Option<String>,
        /// The most tokens that come.
        max_tokens: Option<u32>,
        /// A number from 0 to 2.
        temperature: Option<Json>,
        /// A number from 0 to 1.
        top_p: Option<Json>,
        /// Texts at which it stops.
        stop: Option<Vec<String>>,
        /// JSON Schema that the answer follows.
        response_schema: Option<JsonObject>,
        /// `none`, `minimal`, `low`, `medium` or `high`.
        reasoning_effort: Option<String>,
        /// Whether `llm_event` pushes are wanted.
        stream: Option<bool>,
        /// Whether this client gives credit (`llm_more`): 64 pushes come without.
        credit: Option<bool>,
    }
    /// The same for an origin, or for an AI client itself. Needs the scope `model:prompt`. `tools` are its own:
    /// it makes the calls itself.
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
    /// Gives credit to a request of this client that streams.
    "llm_more" LlmMore -> LlmMoreResult {
        /// The id of the request.
        target: String,
        /// So many further pushes.
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
    /// Says how many tokens a model would read. Its provider counts them where it does that without answering (Anthropic's format,
    /// llama-server), and gets the conversation for it; else they are estimated by the conversation's length.
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
    /// Says what models have taken.
    "llm_usage" LlmUsage -> LlmUsageResult {
        /// Only from the day of this time on, in milliseconds since 1970.
        since: Option<u64>,
        /// `provider`, `model`, `principal` or `day`; by all four when absent.
        group_by: Option<String>,
    }
    /// Says how many tokens of a day somebody may use.
    "llm_set_budget" LlmSetBudget -> LlmSetBudgetResult {
        /// An origin, `client://NAME`, `owner`, or `*`: everybody together.
        principal: String,
        /// Tokens of a day in UTC; absent: as if nothing had ever been said.
        tokens_per_day: Option<u64>,
    }
    /// Lists the budgets, and what of today's is used.
    "llm_list_budgets" LlmListBudgets -> LlmListBudgetsResult {}
}
