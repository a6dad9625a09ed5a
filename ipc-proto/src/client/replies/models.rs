//! What the bridge answers about language models.

#![allow(non_snake_case, reason = "some fields' names are those of the Web Agents API")]

use super::super::{
    BudgetView, ChatResponse, EnvironmentKey, ModelUsageView, ModelView, ProviderType, ProviderView,
    UsableModel, define_sent,
};
use crate::field::Word;

define_sent! {
    /// Replies about language models, by the type of their request.
    MODEL_REPLIES:
    /// What was found.
    "llm_detect" LlmDetectResult {
        /// The programs on this machine, and the providers that were added.
        providers: Vec<ProviderView>,
        /// Whether one of them can be used.
        hasAvailable: bool,
        /// Keys that lie in the environment, of types of which no provider has a key.
        environment: Vec<EnvironmentKey>,
    }
    /// The providers.
    "llm_list_providers" LlmListProvidersResult {
        /// By id.
        providers: Vec<ProviderView>,
        /// The id of the default one.
        active: Option<String>,
    }
    /// What can be added.
    "llm_get_supported_providers" LlmGetSupportedProvidersResult {
        /// What runs on this machine.
        local: Vec<ProviderType>,
        /// Services.
        remote: Vec<ProviderType>,
        /// The ids of the providers that have a key.
        configuredApiKeys: Vec<String>,
    }
    /// It is added.
    "llm_add_provider" LlmAddProviderResult {
        /// Its id.
        id: String,
        /// What is known of it.
        provider: ProviderView,
    }
    /// It is changed.
    "llm_configure_provider" LlmConfigureProviderResult {
        /// What is known of it now.
        provider: ProviderView,
        /// Whether it had a key that was dropped.
        key_dropped: bool,
    }
    /// It is forgotten.
    "llm_remove_provider" LlmRemoveProviderResult {
        /// False when there was none.
        removed: bool,
    }
    /// The key is stored.
    "llm_set_api_key" LlmSetApiKeyResult {
        /// Always true; a failure is an error.
        success: bool,
        /// The provider's id.
        provider: String,
        /// Whether it can be used, as far as that is known.
        available: bool,
    }
    /// The key is deleted.
    "llm_remove_api_key" LlmRemoveApiKeyResult {
        /// False when there was none.
        success: bool,
        /// The provider's id.
        provider: String,
    }
    /// What it said.
    "llm_check_provider" LlmCheckProviderResult {
        /// Whether it answers, and takes the key.
        available: bool,
        /// How long that took, in milliseconds.
        latency_ms: u64,
        /// Why not, a word as in `ERR_MODEL_FAILED`.
        cause: Option<String>,
        /// The same in the provider's own words.
        message: Option<String>,
    }
    /// The models.
    "llm_list_models" LlmListModelsResult {
        /// By provider, in its order.
        models: Vec<ModelView>,
        /// The id of the default provider.
        provider: Option<String>,
        /// The ids of providers that did not answer.
        failed: Vec<String>,
    }
    /// The models.
    "llm_list_models_for" LlmListModelsForResult {
        /// In the provider's order.
        models: Vec<ModelView>,
        /// The provider's id.
        provider: String,
    }
    /// It holds from the next request on.
    "llm_set_active" LlmSetActiveResult {
        /// Always true; a failure is an error.
        success: bool,
        /// The provider's id.
        active: String,
        /// The model's name there; absent: its first.
        model: Option<String>,
    }
    /// It holds from the next request on.
    "llm_set_model" LlmSetModelResult {
        /// Always true; a failure is an error.
        success: bool,
        /// The provider's id.
        active: String,
        /// The model's name there.
        model: String,
    }
    /// What is used where a request names nothing.
    "llm_get_active" LlmGetActiveResult {
        /// The provider's id; absent where there is none.
        active: Option<String>,
        /// The model's name there; absent: its first.
        model: Option<String>,
        /// `ready`, `no_provider`, `no_key`, `disabled` or `unavailable`.
        status: Word,
    }
    /// All that is set.
    "llm_get_config" LlmGetConfigResult {
        /// The providers that were added, by id.
        providers: Vec<ProviderView>,
        /// The ids of those that can be used, as far as that is known.
        available: Vec<String>,
        /// The default provider.
        activeProvider: Option<String>,
        /// Its model.
        activeModel: Option<String>,
        /// The ids of the providers that have a key.
        configuredApiKeys: Vec<String>,
    }
    /// The answer is whole.
    "llm_chat" LlmChatResult {
        /// What the model said.
        response: ChatResponse,
        /// The provider's id.
        provider: String,
        /// The model's name there.
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
    /// Whether there was such a request.
    "llm_more" LlmMoreResult {
        /// False when it has ended, or does not stream.
        accepted: bool,
    }
    /// The models.
    "host_llm_list_models" HostLlmListModelsResult {
        /// By provider, in its order.
        models: Vec<UsableModel>,
    }
    /// So many.
    "llm_count_tokens" LlmCountTokensResult {
        /// Tokens.
        input_tokens: u64,
        /// `exact`: the provider has counted; else `estimated`.
        exactness: Word,
    }
    /// What was taken.
    "llm_usage" LlmUsageResult {
        /// The newest day first.
        usage: Vec<ModelUsageView>,
    }
    /// It holds from the next request on.
    "llm_set_budget" LlmSetBudgetResult {
        /// The budget.
        budget: BudgetView,
    }
    /// The budgets.
    "llm_list_budgets" LlmListBudgetsResult {
        /// Those that a person has set, and those of whoever has used something today.
        budgets: Vec<BudgetView>,
        /// Tokens of a day that an origin has for which nothing is set.
        of_an_origin: u64,
    }
}
