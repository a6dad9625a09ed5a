//! Requests to providers besides chats: their models, and whether they take their key. Also the search for providers on
//! this machine.
//!
//! Owns which provider is asked what. One that was not added is asked only what finding it takes, without any key. One
//! that runs as a server of Harbor's own is not asked at all.

use std::collections::BTreeSet;
use std::rc::Rc;
use std::time::{Duration, Instant};

use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_ipc_proto::client::{EnvironmentKey, ModelView, ProviderView, UsableModel};
use harbor_ipc_proto::link::model::{Cause, Failure, Found, FromModel, Model, PLACES, ProviderPort, ToModel};
use harbor_ipc_proto::model::Kind;
use harbor_policy::models::{about, id_for, local_port};
use tokio::sync::watch;

use super::coming::ComingList;
use super::errors::failed;
use super::owners::another_person_at;
use super::{Models, ports};
use crate::store::models::Provider;

/// How long the lists of all providers are waited for.
const SHORT: Duration = Duration::from_secs(2);

/// How long a list, a check or a count is waited for, and a detection.
pub(super) const PATIENCE: Duration = Duration::from_secs(20);
const DETECTION: Duration = Duration::from_secs(10);

/// The result of a check of a provider.
#[derive(Debug)]
pub struct Checked {
    /// How long the check took, in milliseconds.
    pub latency_ms: u64,
    /// Why it cannot be used: a word for the cause, and the provider's own words.
    pub failure: Option<(&'static str, String)>,
}

/// The models of all providers.
#[derive(Debug, Default)]
pub struct Listed {
    /// By provider, in its order.
    pub models: Vec<ModelView>,
    /// The ids of the providers that did not answer.
    pub failed: Vec<String>,
}

/// The result of a detection.
#[derive(Debug)]
pub struct Detected {
    /// The providers on this machine: those that nobody has added yet, and those that were added.
    pub providers: Vec<ProviderView>,
    /// Keys in the environment.
    pub environment: Vec<EnvironmentKey>,
}

impl Models {
    /// The models of one provider.
    ///
    /// # Errors
    /// Why the provider does not list them.
    pub async fn list_of(self: &Rc<Self>, id: &str) -> Result<Vec<ModelView>, ErrorBody> {
        let provider = self.provider(id)?;
        let list = self.list(&provider).await.map_err(|failure| failed(&failure, id, "", false))?;
        Ok(self.views(&provider, &list))
    }

    /// The models of all enabled providers, which are asked at the same time. Who takes longer than [`SHORT`] is not waited
    /// for: its last list stands for it, and the one that comes later is kept for the next time.
    pub async fn list_all(self: &Rc<Self>) -> Listed {
        let enabled: Vec<_> = self.providers.borrow().values().filter(|one| one.enabled).cloned().collect();
        let until = tokio::time::Instant::now() + SHORT;
        let asked: Vec<_> = enabled.iter().map(|provider| self.list_soon(provider)).collect();
        let mut listed = Listed::default();
        for (provider, mut asked) in enabled.iter().zip(asked) {
            let came = tokio::time::timeout_at(until, asked.wait_for(Option::is_some)).await;
            let came = came.ok().and_then(Result::ok).and_then(|list| list.clone());
            let known = || self.known.borrow().get(&provider.id).cloned();
            match came.unwrap_or_else(known) {
                Some(models) => listed.models.extend(self.views(provider, &models)),
                None => listed.failed.push(provider.id.clone()),
            }
        }
        listed
    }

    /// Asks a provider for its models, or waits with whoever asks it already. Goes on when nobody waits any more, for
    /// [`PATIENCE`] at most.
    fn list_soon(self: &Rc<Self>, provider: &Provider) -> watch::Receiver<ComingList> {
        if let Some(list) = self.coming.of(&provider.id) {
            return list;
        }
        let (told, list) = self.coming.begin(&provider.id);
        let (models, provider) = (self.clone(), provider.clone());
        tokio::task::spawn_local(async move {
            let list = models.list(&provider).await;
            // Nobody may wait for it any more.
            let _ = told.send(Some(list.ok()));
        });
        list
    }

    /// The models of all providers, as origins see them.
    pub async fn list_usable(self: &Rc<Self>) -> Vec<UsableModel> {
        let usable = |model: ModelView| UsableModel {
            id: model.id,
            provider: model.provider,
            model: model.model,
            context_window: model.context_window,
            max_output: model.max_output,
            tools: model.tools,
            vision: model.vision,
            reasoning: model.reasoning,
        };
        self.list_all().await.models.into_iter().map(usable).collect()
    }

    fn views(&self, provider: &Provider, list: &[Model]) -> Vec<ModelView> {
        list.iter().map(|model| self.view_of(provider, model)).collect()
    }

    /// Asks a provider for its models.
    pub(super) async fn list(self: &Rc<Self>, provider: &Provider) -> Result<Rc<[Model]>, Failure> {
        let target = self.target(provider, false).await.map_err(|error| unread(&error))?;
        let mut asked = self.ask(|id| ToModel::Models { id, target });
        let answer = match tokio::time::timeout(PATIENCE, asked.next()).await {
            Ok(FromModel::Models { models, .. }) => Ok(models),
            Ok(FromModel::Failed { failure, .. }) => Err(failure),
            Ok(_) => Err(ours(Cause::Protocol, "the worker sent another kind of answer")),
            Err(_) => Err(ours(Cause::Timeout, "the provider did not list its models in time")),
        };
        self.note_answer(&provider.id, answer.as_ref().err());
        let models: Rc<[Model]> = answer?.into();
        // A provider that was changed or removed meanwhile has other models.
        if self.providers.borrow().get(&provider.id).is_some_and(|now| now.base_url == provider.base_url) {
            self.stale.borrow_mut().remove(&provider.id);
            self.known.borrow_mut().insert(provider.id.clone(), models.clone());
        }
        Ok(models)
    }

    /// Asks a provider whether it takes its key.
    ///
    /// # Errors
    /// When there is no provider with this id, or its key cannot be read.
    pub async fn check(self: &Rc<Self>, id: &str) -> Result<Checked, ErrorBody> {
        let provider = self.provider(id)?;
        let target = self.target(&provider, false).await?;
        let began = Instant::now();
        let mut asked = self.ask(|id| ToModel::Check { id, target });
        let (latency, failure) = match tokio::time::timeout(PATIENCE, asked.next()).await {
            Ok(FromModel::Checked { latency_ms, failure, .. }) => (Some(latency_ms), failure),
            Ok(FromModel::Failed { failure, .. }) => (None, Some(failure)),
            Ok(_) => (None, Some(ours(Cause::Protocol, "the worker sent another kind of answer"))),
            Err(_) => (None, Some(ours(Cause::Timeout, "the provider did not answer in time"))),
        };
        self.note_answer(id, failure.as_ref());
        let whole = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        Ok(Checked {
            latency_ms: latency.map_or(whole, u64::from),
            failure: failure.map(|failure| (failure.cause.name(), failure.message)),
        })
    }

    /// Looks for providers on this machine, and for keys in the environment.
    ///
    /// # Errors
    /// Why the search was not possible.
    pub async fn detect(self: &Rc<Self>) -> Result<Detected, ErrorBody> {
        let found = self.look(&PLACES).await.map_err(|failure| failed(&failure, "detection", "", false))?;
        let mut providers = self.providers();
        providers.extend(self.not_added(found));
        for provider in &mut providers {
            provider.other_user = another_person_at(&provider.base_url).await;
            provider.available &= provider.is_added || provider.other_user.is_none();
        }
        let environment = self.in_environment().into_iter().map(|(kind, variable)| EnvironmentKey {
            r#type: kind.name().to_owned(),
            variable: variable.to_owned(),
        });
        Ok(Detected { providers, environment: environment.collect() })
    }

    /// The providers at these places. A server of Harbor's own is none.
    async fn look(self: &Rc<Self>, places: &[ProviderPort]) -> Result<Vec<Found>, Failure> {
        let ports: Vec<u16> = places.iter().map(|place| place.port).collect();
        let looked = tokio::task::spawn_blocking(move || ports::held_by_servers(&ports));
        // If that cannot be found out, nobody is asked.
        let Ok(ours) = looked.await else { return Ok(Vec::new()) };
        let places = places.iter().copied().filter(|place| !ours.contains(&place.port)).collect();
        let mut asked = self.ask(|id| ToModel::Detect { id, places });
        match tokio::time::timeout(DETECTION, asked.next()).await {
            Ok(FromModel::Detected { found, .. }) => Ok(found),
            Ok(FromModel::Failed { failure, .. }) => Err(failure),
            _ => Ok(Vec::new()),
        }
    }

    /// The port of this machine at which a provider of this kind answers that was not added yet; of several, the first place.
    pub(super) async fn found(self: &Rc<Self>, kind: Kind) -> Option<u16> {
        // A llamafile is a llama-server.
        let proven = if kind == Kind::Llamafile { Kind::LlamaServer } else { kind };
        let places: Vec<_> =
            PLACES.into_iter().filter(|place| place.kind == proven && !self.is_at(place.port)).collect();
        if places.is_empty() {
            return None;
        }
        let found = self.look(&places).await.unwrap_or_default();
        let ports: Vec<u16> = found.iter().filter_map(|found| local_port(&found.base_url)).collect();
        places.iter().map(|place| place.port).find(|port| ports.contains(port))
    }

    fn not_added(&self, found: Vec<Found>) -> Vec<ProviderView> {
        let mut taken: BTreeSet<String> = self.providers.borrow().keys().cloned().collect();
        let is_new = |found: &Found| local_port(&found.base_url).is_some_and(|port| !self.is_at(port));
        let new = found.into_iter().filter(is_new).map(|found| {
            let id = id_for(found.kind.name(), |id| taken.contains(id));
            taken.insert(id.clone());
            ProviderView {
                id,
                r#type: found.kind.name().to_owned(),
                name: about(found.kind).label.to_owned(),
                base_url: found.base_url,
                dialect: found.dialect.name().into(),
                enabled: false,
                available: !found.needs_key,
                is_local: true,
                is_default: false,
                is_type_default: false,
                needs_api_key: found.needs_key,
                has_api_key: false,
                is_added: false,
                problem: None,
                other_user: None,
            }
        });
        new.collect()
    }
}

fn ours(cause: Cause, message: &str) -> Failure {
    Failure { cause, status: None, retry_after_ms: None, message: message.to_owned() }
}

fn unread(error: &ErrorBody) -> Failure {
    ours(Cause::Unauthorized, &error.message)
}
