//! The bridge's replies about language models.

#![allow(non_snake_case, reason = "some fields' names are those of the Web Agents API")]

use super::super::{
    BudgetView, ChatResponse, ChatUsage, ConfiguredModel, EnvironmentKey, ModelForUse, ModelUsageView,
    ModelView, ProviderType, ProviderView, UsableModel, define_sent,
};
use crate::field::Word;

define_sent! {
    /// Replies about language models, by the type of their request.
    MODEL_REPLIES:
    /// The providers and keys that were found.
    "llm_detect" LlmDetectResult {
        /// The programs on this machine, and the providers that were added.
        providers: Vec<ProviderView>,
        /// True if at least one of them can be used.
        hasAvailable: bool,
        /// Keys in the environment, for types of which no provider has a key.
        environment: Vec<EnvironmentKey>,
    }
    /// The providers.
    "llm_list_providers" LlmListProvidersResult {
        /// The providers, sorted by id.
        providers: Vec<ProviderView>,
        /// The id of the default provider; absent when there is none.
        active: Option<String>,
    }
    /// The types of providers that can be added.
    "llm_get_supported_providers" LlmGetSupportedProvidersResult {
        /// The types that run on this machine.
        local: Vec<ProviderType>,
        /// The types that are services elsewhere.
        remote: Vec<ProviderType>,
        /// The ids of the providers that have a key.
        configuredApiKeys: Vec<String>,
    }
    /// The provider is added.
    "llm_add_provider" LlmAddProviderResult {
        /// Its id.
        id: String,
        /// The provider as it is now.
        provider: ProviderView,
    }
    /// The provider is changed.
    "llm_configure_provider" LlmConfigureProviderResult {
        /// The provider after the change.
        provider: ProviderView,
        /// True if its key was dropped, since its address changed.
        key_dropped: bool,
    }
    /// The provider is forgotten.
    "llm_remove_provider" LlmRemoveProviderResult {
        /// False if there was no such provider.
        removed: bool,
    }
    /// The key is stored.
    "llm_set_api_key" LlmSetApiKeyResult {
        /// Always true; a failure is an error.
        success: bool,
        /// The provider's id.
        provider: String,
        /// True if the provider can be used, as far as Harbor knows.
        available: bool,
    }
    /// The key is deleted.
    "llm_remove_api_key" LlmRemoveApiKeyResult {
        /// False if there was no key.
        success: bool,
        /// The provider's id.
        provider: String,
    }
    /// The provider's answer to the check.
    "llm_check_provider" LlmCheckProviderResult {
        /// True if the provider answers and takes the key.
        available: bool,
        /// How long the check took, in milliseconds.
        latency_ms: u64,
        /// Why the provider cannot be used, a word as in `ERR_MODEL_FAILED`; absent when it can.
        cause: Option<String>,
        /// The reason in the provider's own words.
        message: Option<String>,
    }
    /// The models.
    "llm_list_models" LlmListModelsResult {
        /// The models, provider by provider, in each provider's order.
        models: Vec<ModelView>,
        /// The id of the default provider.
        provider: Option<String>,
        /// The ids of providers that did not answer.
        failed: Vec<String>,
    }
    /// The models.
    "llm_list_models_for" LlmListModelsForResult {
        /// The models, in the provider's order.
        models: Vec<ModelView>,
        /// The provider's id.
        provider: String,
    }
    /// The default model holds from the next request on.
    "llm_set_active" LlmSetActiveResult {
        /// Always true; a failure is an error.
        success: bool,
        /// The provider's id.
        active: String,
        /// The model's name at the provider; absent: the provider's first model.
        model: Option<String>,
    }
    /// The default model holds from the next request on.
    "llm_set_model" LlmSetModelResult {
        /// Always true; a failure is an error.
        success: bool,
        /// The provider's id.
        active: String,
        /// The model's name at the provider.
        model: String,
    }
    /// The window holds from the next request on.
    "llm_set_model_options" LlmSetModelOptionsResult {
        /// The model.
        model: ModelView,
    }
    /// The named models.
    "llm_list_configured_models" LlmListConfiguredModelsResult {
        /// The models, sorted by name.
        models: Vec<ConfiguredModel>,
    }
    /// The model has the name.
    "llm_add_configured_model" LlmAddConfiguredModelResult {
        /// Always true; a failure is an error.
        ok: bool,
        /// The name.
        name: String,
        /// The model, as `provider:model`.
        model_id: String,
    }
    /// The name is free.
    "llm_remove_configured_model" LlmRemoveConfiguredModelResult {
        /// False if no model had it.
        ok: bool,
    }
    /// The default model holds from the next request on.
    "llm_set_configured_model_default" LlmSetConfiguredModelDefaultResult {
        /// Always true; a failure is an error.
        ok: bool,
        /// The model, as `provider:model`.
        model_id: String,
    }
    /// The model for the use holds from the next request on.
    "llm_set_default_for" LlmSetDefaultForResult {
        /// The model, as `provider:model`; absent: the use has none of its own.
        model: Option<String>,
    }
    /// The provider and model for requests that name none.
    "llm_get_active" LlmGetActiveResult {
        /// The provider's id; absent when there is no provider.
        active: Option<String>,
        /// The model's name at the provider; absent: the provider's first model.
        model: Option<String>,
        /// The provider's state: `ready`, `no_provider`, `no_key`, `disabled` or `unavailable`.
        status: Word,
    }
    /// All settings about models.
    "llm_get_config" LlmGetConfigResult {
        /// The added providers, sorted by id.
        providers: Vec<ProviderView>,
        /// The ids of the providers that can be used, as far as Harbor knows.
        available: Vec<String>,
        /// The id of the default provider.
        activeProvider: Option<String>,
        /// The name of the default model at that provider.
        activeModel: Option<String>,
        /// The ids of the providers that have a key.
        configuredApiKeys: Vec<String>,
        /// The models for uses, as far as the person has said.
        uses: Vec<ModelForUse>,
    }
    /// The answer is whole.
    "llm_chat" LlmChatResult {
        /// The model's answer.
        response: ChatResponse,
        /// The provider's id.
        provider: String,
        /// The model's name at the provider.
        model: String,
    }
    /// The answer is whole.
    "host_llm_chat" HostLlmChatResult {
        /// As in `llm_chat`.
        response: ChatResponse,
        /// As in `llm_chat`.
        provider: String,
        /// As in `llm_chat`.
        model: String,
    }
    /// The credit is added.
    "llm_more" LlmMoreResult {
        /// False if the request has ended or does not stream.
        accepted: bool,
    }
    /// The models.
    "host_llm_list_models" HostLlmListModelsResult {
        /// The models, provider by provider, in each provider's order.
        models: Vec<UsableModel>,
    }
    /// The number of tokens.
    "llm_count_tokens" LlmCountTokensResult {
        /// How many tokens the model would read.
        input_tokens: u64,
        /// `exact`: the provider counted them; otherwise `estimated`.
        exactness: Word,
    }
    /// The text that was spoken.
    "llm_transcribe" LlmTranscribeResult {
        /// The text; empty if nothing was said.
        text: String,
        /// The provider's id.
        provider: String,
        /// The model's name at the provider.
        model: String,
        /// The tokens that it took.
        usage: ChatUsage,
    }
    /// The tokens that requests have used.
    "llm_usage" LlmUsageResult {
        /// The rows, the newest day first.
        usage: Vec<ModelUsageView>,
        /// The day and the source of the table of prices, as `2026-11-29 genai-prices 0.2.3`.
        prices: String,
    }
    /// The budget holds from the next request on.
    "llm_set_budget" LlmSetBudgetResult {
        /// The budget.
        budget: BudgetView,
    }
    /// The budgets.
    "llm_list_budgets" LlmListBudgetsResult {
        /// The budgets that the person has set, and those of every principal that used tokens today.
        budgets: Vec<BudgetView>,
        /// The default budget of an origin, in tokens per day.
        of_an_origin: u64,
    }
}
