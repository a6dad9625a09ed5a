//! Providers that are engines of Harbor's own: requests on their way to one, and the rows of such providers.
//!
//! Must never start an engine by itself: whoever has them is asked.

use std::any::Any;
use std::rc::{Rc, Weak};
use std::time::Duration;

use harbor_ipc_proto::client::ProviderView;
use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_ipc_proto::link::model::{Cause, Failure, FromModel, Target, ToModel};
use harbor_ipc_proto::model::{Dialect, Kind};
use harbor_policy::models::{MOST_PROVIDERS, id_for, is_local, is_model};

use super::Models;
use super::errors::{failed, invalid, no_model, ours};
use super::local_engines::{EngineDown, EnginePlace, EngineReach, LocalEngines};
use crate::store::models::Provider;

/// How much longer the worker may take to say that an engine is not ready.
const SLACK: Duration = Duration::from_secs(5);

/// A request's way to a provider. An engine stays in use while this is there.
#[derive(Debug)]
pub(super) struct Aim {
    pub target: Target,
    pub in_use: Option<Box<dyn Any>>,
}

impl Models {
    /// Has requests to engines go the way that `engines` says.
    pub fn use_engines(&self, engines: Weak<dyn LocalEngines>) {
        *self.engines.borrow_mut() = Some(engines);
    }

    fn engines(&self) -> Option<Rc<dyn LocalEngines>> {
        self.engines.borrow().as_ref()?.upgrade()
    }

    /// The way to an engine, once it runs; none where the provider is no engine.
    ///
    /// # Errors
    /// Why it does not run.
    pub(super) async fn aim_at_engine(
        &self,
        provider: &str,
        to_origin: bool,
    ) -> Result<Option<Aim>, ErrorBody> {
        let Some(engines) = self.engines() else { return Ok(None) };
        let Some(reaching) = engines.reach(provider) else { return Ok(None) };
        match reaching.await {
            Ok(EngineReach { place, in_use }) => {
                Ok(Some(Aim { target: place.target(provider), in_use: Some(in_use) }))
            }
            Err(EngineDown(why)) => {
                let failure = ours(Cause::Unreachable, &why);
                self.note_answer(provider, Some(&failure));
                Err(failed(&failure, provider, "", to_origin))
            }
        }
    }

    /// The model of an engine that does not run: whoever lists models starts none.
    pub(super) fn engine_at_rest(&self, provider: &str) -> Option<String> {
        self.engines()?.at_rest(provider)
    }

    /// Waits until an engine has loaded its model.
    ///
    /// # Errors
    /// Says why it has not.
    pub async fn until_ready(
        self: &Rc<Self>,
        provider: &str,
        place: &EnginePlace,
        limit: Duration,
    ) -> Result<(), Failure> {
        let limit_ms = u64::try_from(limit.as_millis()).unwrap_or(u64::MAX);
        let target = place.target(provider);
        let mut asked = self.ask(|id| ToModel::Await { id, target, limit_ms });
        match tokio::time::timeout(limit + SLACK, asked.next()).await {
            Ok(FromModel::Checked { failure: None, .. }) => Ok(()),
            Ok(FromModel::Checked { failure: Some(failure), .. } | FromModel::Failed { failure, .. }) => {
                Err(failure)
            }
            Ok(_) => Err(ours(Cause::Protocol, "the worker sent another kind of answer")),
            Err(_) => Err(ours(Cause::Timeout, "the worker did not answer in time")),
        }
    }

    /// Has the Ollama of this machine fetch a model. `hear` gets its words, and how many bytes of a part have come, of how many.
    /// Dropping this ends it.
    ///
    /// # Errors
    /// When no Ollama of this machine was added, or why the model is not there.
    pub async fn pull_by_ollama(
        self: &Rc<Self>,
        model: &str,
        mut hear: impl FnMut(&str, u64, u64),
    ) -> Result<(), ErrorBody> {
        let is_here =
            |one: &&Provider| one.kind == Kind::Ollama.name() && one.enabled && is_local(&one.base_url);
        let found = self.providers.borrow().values().find(is_here).cloned();
        let provider = found.ok_or_else(|| {
            no_model("no Ollama of this machine was added; `harbor models add ollama` adds it once it runs")
        })?;
        if !is_model(model) {
            return Err(invalid("model_id", "ollama:NAME"));
        }
        let Aim { target, in_use: _in_use } = self.target(&provider, false).await?;
        let mut asked = self.ask(|id| ToModel::Pull { id, target, model: model.to_owned() });
        loop {
            match asked.next().await {
                FromModel::Pulling { status, done, total, .. } => hear(&status, done, total),
                FromModel::Pulled { .. } => break,
                FromModel::Failed { failure, .. } => {
                    return Err(failed(&failure, &provider.id, model, false));
                }
                _ => {}
            }
        }
        // It is in no list that was given before.
        self.known.borrow_mut().remove(&provider.id);
        Ok(())
    }

    /// An id for an engine of this name.
    ///
    /// # Errors
    /// When there are too many providers.
    pub fn id_for_engine(&self, name: &str) -> Result<String, ErrorBody> {
        let providers = self.providers.borrow();
        if providers.len() >= MOST_PROVIDERS {
            return Err(invalid("model_id", "at most 64 providers; remove one first"));
        }
        Ok(id_for(name, |id| providers.contains_key(id)))
    }

    /// Adds an engine as a provider, or gives the one that was added.
    ///
    /// # Errors
    /// When it could not be stored.
    pub async fn add_engine(
        &self,
        id: &str,
        name: &str,
        place: &EnginePlace,
    ) -> Result<ProviderView, ErrorBody> {
        let _turn = self.changing.lock().await;
        if let Ok(known) = self.provider(id) {
            return self.store(Provider { enabled: true, ..known }).await;
        }
        let (is_first, is_first_of_type) = {
            let providers = self.providers.borrow();
            (providers.is_empty(), providers.values().all(|one| one.kind != place.kind.name()))
        };
        self.store(Provider {
            id: id.to_owned(),
            kind: place.kind.name().to_owned(),
            name: name.to_owned(),
            base_url: place.base_url.clone(),
            dialect: Dialect::Chat.name().to_owned(),
            allow_private: false,
            allow_other_user: false,
            enabled: true,
            model: None,
            has_key: false,
            is_default: is_first,
            is_type_default: is_first_of_type,
        })
        .await
    }
}
