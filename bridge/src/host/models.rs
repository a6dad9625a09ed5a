//! What origins may do with models, and the record of it.
//!
//! Owns the way from an origin's grants to a permit. Must never see the prompts.

use std::sync::Arc;

use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_ipc_proto::codes::Code;
use harbor_policy::access::ModelPermit;
use harbor_policy::scope::Scope;

use super::Host;
use super::asker::Asker;
use crate::config::Feature;
use crate::store::audit::AuditRecord;

impl Host {
    /// Proof that an origin may put a prompt to a model, with tools if `tools`. A refusal is written down.
    ///
    /// # Errors
    /// Why it may not.
    pub async fn model_permit(&self, asker: &Asker, tools: bool) -> Result<ModelPermit, ErrorBody> {
        self.offers(asker, Feature::TextGeneration)?;
        self.allowed(asker, Scope::ModelPrompt).await?;
        if tools {
            self.allowed(asker, Scope::ModelTools).await?;
        }
        self.trail.is_open()?;
        self.permissions.model_permit(asker, tools)
    }

    /// Checks that an origin may name the provider or the model that it wants. An origin that may not know of
    /// them gets the person's own choice. A refusal is written down.
    ///
    /// # Errors
    /// Why it may not.
    pub async fn may_choose_model(
        &self,
        asker: &Asker,
        provider: Option<&String>,
        model: Option<&String>,
    ) -> Result<(), ErrorBody> {
        match provider.or(model) {
            Some(_) => self.allowed(asker, Scope::ModelList).await,
            None => Ok(()),
        }
    }

    /// Checks that this part of the page API is switched on for the asker. AI clients have no page.
    ///
    /// # Errors
    /// When it is switched off.
    pub fn offers(&self, asker: &Asker, feature: Feature) -> Result<(), ErrorBody> {
        if asker.origin.is_client() || self.config.now().pages.has(feature) {
            return Ok(());
        }
        let feature = feature.as_str();
        let message = format!("{feature} is switched off for web pages ([pages] in config.toml)");
        Err(ErrorBody::new(Code::FeatureDisabled, message).with("feature", feature))
    }

    /// Calls that one run of an origin may make.
    #[must_use]
    pub fn most_calls(&self, asker: &Asker) -> u32 {
        self.config.now().limits_of(asker.origin.as_str()).max_calls_per_run.unwrap_or(u32::MAX)
    }

    /// True if a connection of this browser session is there.
    #[must_use]
    pub fn knows_session(&self, session: &str) -> bool {
        self.permissions.knows_session(session)
    }

    /// Waits until an origin may no longer put a prompt to a model. Returns the reason.
    pub async fn model_permit_ended(&self, asker: &Asker, tools: bool) -> ErrorBody {
        loop {
            let changed = self.grants_changed.notified();
            if let Err(error) = self.permissions.model_permit(asker, tools) {
                return error;
            }
            changed.await;
        }
    }

    /// Writes down a finished request to a model.
    pub fn note_chat(&self, by: Arc<str>, record: AuditRecord) {
        self.trail.called(AuditRecord { event: "chat", by, decision: "allowed", ..record });
    }

    /// Checks that an origin may know which models there are. A refusal is written down.
    ///
    /// # Errors
    /// Why it may not.
    pub async fn may_list_models(&self, asker: &Asker) -> Result<(), ErrorBody> {
        self.offers(asker, Feature::TextGeneration)?;
        self.allowed(asker, Scope::ModelList).await
    }
}
