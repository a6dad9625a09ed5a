//! The model that answers a server, or reads a page for a client, and where it runs.
//!
//! Owns the rule that a server's wish counts only where it names a model of the person's exactly. Must never tell a server
//! which models there are.

use std::rc::Rc;
use std::time::Duration;

use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_ipc_proto::link::model::Model;
use harbor_policy::models::is_local;
use harbor_policy::sampling::Place;
use harbor_policy::{page_search, sampling};
use url::Url;

use super::Models;
use crate::store::models::Provider;

/// How long providers are waited for that have not said yet which models they have.
const LISTS: Duration = Duration::from_secs(2);

/// A model for somebody who does not choose one.
#[derive(Debug, Clone)]
pub struct GivenModel {
    /// The provider's id.
    pub provider: String,
    /// The model's name there.
    pub model: String,
    /// The sentence for the person: which model it is, and where the words for it would go.
    pub why: String,
    /// True if these words stay on this machine.
    pub is_here: bool,
}

impl Models {
    /// True if there is a provider that may be asked.
    #[must_use]
    pub fn has_provider(&self) -> bool {
        self.providers.borrow().values().any(|provider| provider.enabled)
    }

    /// The model that answers a server: the first of these names that is one of the person's models, else their default.
    ///
    /// # Errors
    /// When there is none.
    pub async fn for_server(self: &Rc<Self>, hints: &[String]) -> Result<GivenModel, ErrorBody> {
        if !hints.is_empty() && self.known.borrow().is_empty() {
            // Those that do not answer in time are not looked at.
            let _ = tokio::time::timeout(LISTS, self.list_all()).await;
        }
        let found = match hints.iter().find_map(|hint| self.exactly(hint)) {
            Some(found) => found,
            None => self.by_default().await?,
        };
        Ok(self.given(found, sampling::why).await)
    }

    /// The model that reads a page for a client: the person's default.
    ///
    /// # Errors
    /// When there is none.
    pub async fn for_page(self: &Rc<Self>) -> Result<GivenModel, ErrorBody> {
        let found = self.by_default().await?;
        Ok(self.given(found, page_search::why).await)
    }

    async fn by_default(self: &Rc<Self>) -> Result<(Provider, String), ErrorBody> {
        let provider = self.choose(None, None)?;
        let model = self.model_of(&provider, None, true).await?;
        Ok((provider, model))
    }

    async fn given(
        self: &Rc<Self>,
        (provider, model): (Provider, String),
        why: fn(&str, Place<'_>) -> String,
    ) -> GivenModel {
        let runs_here = self.runs_here(&provider, &model).await;
        let url = Url::parse(&provider.base_url).ok();
        let place = match url.as_ref().and_then(Url::host_str) {
            _ if runs_here => Place::Here,
            Some(host) if !is_local(&provider.base_url) => Place::At(host),
            _ => Place::Beyond,
        };
        let why = why(&format!("{}:{model}", provider.id), place);
        GivenModel { provider: provider.id, model, why, is_here: runs_here }
    }

    /// The one model that has exactly this name.
    fn exactly(&self, name: &str) -> Option<(Provider, String)> {
        let (providers, known) = (self.providers.borrow(), self.known.borrow());
        let is_it = |id: &str, model: &&Model| model.id == name || format!("{id}:{}", model.id) == name;
        let mut all = known.iter().filter_map(|(id, list)| {
            let provider = providers.get(id).filter(|provider| provider.enabled)?;
            Some((provider.clone(), list.iter().find(|model| is_it(id, model))?.id.clone()))
        });
        all.next().filter(|_| all.next().is_none())
    }

    /// True if a model runs on this machine. Programs here may have models that run elsewhere, and say so in their list.
    async fn runs_here(self: &Rc<Self>, provider: &Provider, model: &str) -> bool {
        if !is_local(&provider.base_url) {
            return false;
        }
        if self.is_said_to_run_here(provider, model).is_none() && self.may_tell(&provider.id, model) {
            let _ = tokio::time::timeout(LISTS, self.list(provider)).await;
            if self.is_said_to_run_here(provider, model).is_none() {
                self.note_untold(&provider.id, model);
            }
        }
        self.is_said_to_run_here(provider, model).unwrap_or(true)
    }

    fn is_said_to_run_here(&self, provider: &Provider, model: &str) -> Option<bool> {
        let known = self.known.borrow();
        known.get(&provider.id)?.iter().find(|known| known.id == model).map(|known| !known.is_remote)
    }
}
