//! The model that a turn uses from its first request to its last, and the facts about it.
//!
//! Owns the rule that this is settled once: a new default changes no turn under way.

use std::rc::Rc;
use std::time::{Duration, Instant};

use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_ipc_proto::model::{Dialect, Kind};

use super::{Models, dialect_of, kind_of};

/// The kinds whose servers force an answer into a schema, for any model.
const FORCES: [Kind; 6] =
    [Kind::Ollama, Kind::OpenAi, Kind::Llamafile, Kind::LlamaServer, Kind::LmStudio, Kind::Vllm];

/// The kinds whose models run on this machine. Small models write faulty scripts.
const HERE: [Kind; 5] = [Kind::Ollama, Kind::Llamafile, Kind::LlamaServer, Kind::LmStudio, Kind::Vllm];

/// Models with smaller windows write faulty scripts, in tokens. More than what is assumed of a window that is not known.
const FOR_SCRIPTS: u32 = 64_000;

/// How long a provider is not asked again about a model that it did not know: that would hold up each turn.
const UNTOLD: Duration = Duration::from_secs(300);

/// A model, and the facts about it.
#[derive(Debug, Clone)]
pub struct ChosenModel {
    /// The provider's id.
    pub provider: String,
    /// The model's name there.
    pub model: String,
    /// The dialect of its provider's API.
    pub dialect: Dialect,
    /// The window by which conversations are shortened, in tokens.
    pub window: u32,
    /// True if it can call tools; none if the provider does not say.
    pub tools: Option<bool>,
    /// True if the provider forces an answer into a JSON schema.
    pub takes_schemas: bool,
    /// True if the provider wants to hear of tools that were called, even if none may be called any more.
    pub wants_tools_of_history: bool,
    /// True if it runs on a provider's machines.
    pub is_hosted: bool,
}

impl ChosenModel {
    /// True if it is good at scripts that call tools.
    #[must_use]
    pub fn writes_scripts(&self) -> bool {
        self.is_hosted && self.tools != Some(false) && self.window >= FOR_SCRIPTS
    }
}

impl Models {
    /// The model that a request means. If its facts are not known yet, its provider is asked. A provider that
    /// does not answer leaves them open.
    ///
    /// # Errors
    /// When there is none.
    pub async fn chosen(
        self: &Rc<Self>,
        provider: Option<&str>,
        model: Option<&str>,
        to_origin: bool,
    ) -> Result<ChosenModel, ErrorBody> {
        let model = self.by_name(provider, model);
        let provider = self.choose(provider, model.as_deref())?;
        let model = self.model_of(&provider, model.as_deref(), to_origin).await?;
        let told = self.told(&provider, &model).await;
        let (window, _) = self.window(&provider, &model, told.as_ref());
        Ok(ChosenModel {
            dialect: dialect_of(&provider),
            window,
            tools: self.takes_tools(&provider, &model, told.as_ref()),
            takes_schemas: FORCES.contains(&kind_of(&provider)),
            wants_tools_of_history: kind_of(&provider) == Kind::Anthropic,
            is_hosted: !HERE.contains(&kind_of(&provider)),
            provider: provider.id,
            model,
        })
    }

    /// True if a provider may be asked about a model: not if it knew nothing of it a short while ago.
    pub(super) fn may_tell(&self, provider: &str, model: &str) -> bool {
        let mut untold = self.untold.borrow_mut();
        untold.retain(|_, asked| asked.elapsed() < UNTOLD);
        !untold.contains_key(&(provider.to_owned(), model.to_owned()))
    }

    /// Notes that a provider knew nothing of a model.
    pub(super) fn note_untold(&self, provider: &str, model: &str) {
        self.untold.borrow_mut().insert((provider.to_owned(), model.to_owned()), Instant::now());
    }
}
