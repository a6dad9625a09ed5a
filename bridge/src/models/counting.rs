//! The number of tokens that a conversation takes in a model's window, before it is sent.
//!
//! Owns who counts: the model's provider if it can, else the number is estimated from the conversation's length. A count
//! costs nothing, so no budget holds it up. The conversation goes only to the provider that would answer it.

use std::rc::Rc;

use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_ipc_proto::client::{ChatMessage, ChatTool, LlmCountTokens};
use harbor_ipc_proto::link::model::{Chat, ChatLimits, FromModel, ToModel};
use harbor_ipc_proto::model::{ModelMessage, ModelTool, Options, ToolChoice};
use harbor_policy::access::ModelPermit;
use harbor_policy::models::counts_tokens;

use super::listing::PATIENCE;
use super::{Models, conversation, dialect_of, kind_of};
use crate::store::models::Exactness;

/// A conversation whose tokens are to be counted.
#[derive(Debug)]
pub struct CountedConversation {
    messages: Vec<ChatMessage>,
    system_prompt: Option<String>,
    tools: Vec<ChatTool>,
    model: Option<String>,
    provider: Option<String>,
}

impl From<LlmCountTokens> for CountedConversation {
    fn from(message: LlmCountTokens) -> Self {
        let LlmCountTokens { messages, system_prompt, tools, model, provider } = message;
        Self { messages, system_prompt, tools: tools.unwrap_or_default(), model, provider }
    }
}

impl Models {
    /// The number of tokens that the model would read, and how exact it is.
    ///
    /// # Errors
    /// Says what is wrong with the conversation, or that nobody has the model that it names.
    pub async fn count_tokens(
        self: &Rc<Self>,
        _permit: ModelPermit,
        measured: CountedConversation,
    ) -> Result<(u64, Exactness), ErrorBody> {
        let CountedConversation { messages, system_prompt, tools, model, provider } = measured;
        let messages = conversation::messages(system_prompt.as_deref(), messages)?;
        let tools = conversation::tools(tools);
        let estimate = conversation::tokens(&messages, &tools);
        let counted = self.counted(provider.as_deref(), model.as_deref(), messages, tools).await;
        match counted {
            Ok(Some(tokens)) => Ok((tokens, Exactness::Exact)),
            Err(error) if provider.is_some() || model.is_some() => Err(error),
            // An estimate needs no model.
            Ok(None) | Err(_) => Ok((estimate, Exactness::Estimated)),
        }
    }

    /// The provider's count; none if it cannot count, or did not this time.
    async fn counted(
        self: &Rc<Self>,
        provider: Option<&str>,
        model: Option<&str>,
        messages: Vec<ModelMessage>,
        tools: Vec<ModelTool>,
    ) -> Result<Option<u64>, ErrorBody> {
        let model = self.by_name(provider, model);
        let provider = self.choose(provider, model.as_deref())?;
        if !counts_tokens(kind_of(&provider), dialect_of(&provider)) {
            return Ok(None);
        }
        let model = self.model_of(&provider, model.as_deref(), false).await?;
        let target = self.target(&provider, true).await?;
        let mut asked = self.ask(|id| {
            ToModel::Count(Chat {
                id,
                target,
                model,
                messages,
                tools,
                tool_choice: ToolChoice::Auto,
                options: Options::default(),
                stream: false,
                credit: None,
                limits: ChatLimits::default(),
            })
        });
        Ok(match tokio::time::timeout(PATIENCE, asked.next()).await {
            Ok(FromModel::Counted { input_tokens, .. }) => Some(input_tokens),
            _ => None,
        })
    }
}
