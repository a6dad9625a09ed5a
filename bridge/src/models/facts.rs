//! The facts about single models: from their providers' lists, from the person, and from refusals.
//!
//! ```text
//!  list (asked when it is not known, or not any more) ─┐
//!  stated, learned ─► store ───────────────────────────┼─► policy::windows ─► the window, the view for clients
//!  memory of this machine ─────────────────────────────┘
//! ```
//!
//! Owns that a fact is stored before it is told. Must never ask a model.

use std::rc::Rc;

use harbor_ipc_proto::client::ModelView;
use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_ipc_proto::link::model::{Cause, Failure, Model, ModelState};
use harbor_ipc_proto::model::{Dialect, Setting};
use harbor_policy::models::{has_model, is_local};
use harbor_policy::windows::{self, ASSUMED, LEAST, TooLong, WindowFacts, WindowSource};

use super::errors::{invalid, no_model, unstored};
use super::model_key::ModelKey;
use super::{Models, dialect_of};
use crate::store::models::{Provider, StoredFacts};

/// The form of a window that can be stated.
const A_WINDOW: &str = "a whole number of tokens, at least 1024";

impl Models {
    /// A provider's word about one of its models. The provider is asked if its list is not known, or has changed since; not if it
    /// knew nothing of the model a short while ago.
    pub(super) async fn told(self: &Rc<Self>, provider: &Provider, model: &str) -> Option<Model> {
        let is_stale = self.stale.borrow_mut().remove(&provider.id);
        if let Some(known) = self.listed(&provider.id, model).filter(|_| !is_stale) {
            return Some(known);
        }
        if !is_stale && !self.may_tell(&provider.id, model) {
            return None;
        }
        // A list that does not come leaves what was known before.
        let _ = self.list(provider).await;
        let told = self.listed(&provider.id, model);
        if told.is_none() {
            self.note_untold(&provider.id, model);
        }
        told
    }

    fn listed(&self, provider: &str, model: &str) -> Option<Model> {
        let known = self.known.borrow();
        let is_it = |known: &&Model| has_model([known.id.as_str()], model);
        known.get(provider)?.iter().find(is_it).cloned()
    }

    /// A provider's list does not hold any more: it is asked for a new one when that is next needed.
    pub(super) fn has_changed(&self, provider: &str) {
        self.stale.borrow_mut().insert(provider.to_owned());
    }

    /// The window of a model, and where the number comes from.
    pub(super) fn window(
        &self,
        provider: &Provider,
        model: &str,
        told: Option<&Model>,
    ) -> (u32, WindowSource) {
        let facts = self.facts_of(&key(provider, model, told));
        windows::window(WindowFacts {
            stated: facts.stated,
            learned: facts.learned,
            told: told.and_then(|told| told.context_window),
            loaded: told.and_then(|told| told.loaded_window),
            room: self.room(provider, told),
        })
    }

    /// The window for which there is memory, where the request chooses the window.
    fn room(&self, provider: &Provider, told: Option<&Model>) -> Option<u32> {
        if !chooses(provider, told) {
            return None;
        }
        let memory = self.memory.filter(|_| is_local(&provider.base_url));
        let Some(memory) = memory else { return Some(ASSUMED) };
        let (weights, token) = told.map_or((None, None), |told| (told.weights, told.token_bytes));
        Some(windows::room(memory, weights, token))
    }

    /// The window to ask for with a request that needs so many tokens; none where requests do not choose it.
    pub(super) fn window_to_ask(
        &self,
        provider: &Provider,
        model: &str,
        told: Option<&Model>,
        needed: u64,
    ) -> Option<u32> {
        if !chooses(provider, told) {
            return None;
        }
        let key = key(provider, model, told);
        let before = self.sent.borrow().get(&key).copied();
        let loaded = told.and_then(|told| told.loaded_window);
        let asked = windows::asked(needed, before, loaded, self.window(provider, model, told).0);
        if self.sent.borrow_mut().insert(key, asked) != Some(asked) && loaded != Some(asked) {
            // It is loaded anew, and its list says with what.
            self.has_changed(&provider.id);
        }
        Some(asked)
    }

    fn facts_of(&self, key: &ModelKey) -> StoredFacts {
        self.facts.borrow().get(key).cloned().unwrap_or_default()
    }

    /// Notes what the refusal of a conversation of about `sent` tokens teaches. Gives the window.
    pub(super) async fn learn_window(
        &self,
        provider: &Provider,
        model: &str,
        said: TooLong,
        sent: u64,
    ) -> u32 {
        let told = self.listed(&provider.id, model);
        let (key, learned) = (key(provider, model, told.as_ref()), windows::learned(said, sent));
        let before = self.window(provider, model, told.as_ref());
        if learned < before.0 || before.1 == WindowSource::Assumed {
            let facts = StoredFacts { learned: Some(learned), ..self.facts_of(&key) };
            // What cannot be stored is learned once more after a restart.
            let _ = self.put_facts(key, facts).await;
        }
        self.window(provider, model, told.as_ref()).0
    }

    /// The settings that a model refuses, as far as it was asked.
    pub(super) fn refused(&self, provider: &Provider, model: &str) -> Vec<Setting> {
        let told = self.listed(&provider.id, model);
        let facts = self.facts_of(&key(provider, model, told.as_ref()));
        facts.refused.iter().filter_map(|name| Setting::from_name(name)).collect()
    }

    /// True if a model takes tools in the way of its provider's format; none if nobody knows. A refusal says more than a list.
    pub(super) fn takes_tools(&self, provider: &Provider, model: &str, told: Option<&Model>) -> Option<bool> {
        match self.refused(provider, model).contains(&Setting::Tools) {
            true => Some(false),
            false => told.and_then(|told| told.tools),
        }
    }

    /// Remembers the settings that a model refuses.
    pub(super) async fn learn_refused(&self, provider: &Provider, model: &str, refused: &[Setting]) {
        let told = self.listed(&provider.id, model);
        let key = key(provider, model, told.as_ref());
        let refused = refused.iter().map(|setting| setting.name().to_owned()).collect();
        let facts = StoredFacts { refused, ..self.facts_of(&key) };
        // What cannot be stored is learned once more after a restart.
        let _ = self.put_facts(key, facts).await;
    }

    async fn put_facts(&self, key: ModelKey, facts: StoredFacts) -> Result<(), ErrorBody> {
        let stored = self.tables.put_facts(&key.0, &key.1, &facts).await;
        self.facts.borrow_mut().insert(key, facts);
        stored.map_err(|error| unstored(&error))
    }

    /// States the window of a model, or takes that back. What was learned of the model is forgotten.
    ///
    /// # Errors
    /// When there is no such model, the number is too small, or it could not be stored.
    pub async fn set_window(
        self: &Rc<Self>,
        name: &str,
        window: Option<u64>,
    ) -> Result<ModelView, ErrorBody> {
        let stated = window.map(|window| {
            let fits = u32::try_from(window).ok().filter(|window| *window >= LEAST);
            fits.ok_or_else(|| invalid("context_window", A_WINDOW))
        });
        let stated = stated.transpose()?;
        let (provider, model) = self.meant(name).await?;
        let told = self.told(&provider, &model).await;
        let _turn = self.changing.lock().await;
        let key = key(&provider, &model, told.as_ref());
        let facts = StoredFacts { stated, ..StoredFacts::default() };
        // The next request asks for no larger window than this one needs.
        self.sent.borrow_mut().remove(&key);
        let model = told.unwrap_or_else(|| unknown(&key.1));
        self.put_facts(key, facts).await?;
        Ok(self.view_of(&provider, &model))
    }

    /// The provider and the model that a person means by a name: `provider:model`, a name of theirs, or one that a provider lists.
    ///
    /// # Errors
    /// When no provider lists it, or several do.
    pub(super) async fn meant(self: &Rc<Self>, name: &str) -> Result<(Provider, String), ErrorBody> {
        let name = self.by_name(None, Some(name)).unwrap_or_default();
        // A provider that does not answer lists nothing, which is no reason to refuse.
        self.list_all().await;
        let default = || self.default_provider().map(|provider| (provider, name.clone()));
        let (provider, model) = self
            .named(&name)?
            .or_else(default)
            .ok_or_else(|| no_model("there is no provider; `harbor models add TYPE` adds one"))?;
        if is_local(&provider.base_url) {
            self.is_listed(&provider, &model)?;
        }
        Ok((provider, model))
    }

    /// Forgets what was learned of a provider's models: it does not hold at another address.
    pub(super) async fn forget_learned(&self, provider: &str) {
        let of_it = |key: &&ModelKey| key.0 == provider;
        let keys: Vec<ModelKey> = self.facts.borrow().keys().filter(of_it).cloned().collect();
        for key in keys {
            let facts = StoredFacts { stated: self.facts_of(&key).stated, ..StoredFacts::default() };
            let _ = self.put_facts(key, facts).await;
        }
        self.sent.borrow_mut().retain(|key, _| key.0 != provider);
    }

    /// A model as clients get it.
    pub(super) fn view_of(&self, provider: &Provider, model: &Model) -> ModelView {
        let (window, from) = self.window(provider, &model.id, Some(model));
        let is_known = from != WindowSource::Assumed;
        let sent = self.sent.borrow().get(&key(provider, &model.id, Some(model))).copied();
        let is_local = is_local(&provider.base_url);
        // On this machine all is free, and what a program there passes on has no price in the table.
        let rates = self.price_of(provider, &model.id).filter(|_| !is_local).map(|price| price.base);
        ModelView {
            id: format!("{}:{}", provider.id, model.id),
            provider: provider.id.clone(),
            model: model.id.clone(),
            context_window: is_known.then(|| window.into()),
            max_output: model.max_output.map(Into::into),
            tools: self.takes_tools(provider, &model.id, Some(model)),
            vision: model.vision,
            reasoning: model.reasoning,
            is_local: is_local && !model.is_remote,
            window_from: is_known.then(|| from.name().into()),
            loaded_window: model.loaded_window.map(Into::into),
            sent_window: sent.map(Into::into),
            state: model.state.map(|state| state.name().into()),
            problem: problem(model),
            input_price: rates.map(|rates| rates.input),
            output_price: rates.map(|rates| rates.output),
        }
    }
}

/// Why a model could not be loaded the last time.
fn problem(model: &Model) -> Option<String> {
    (model.state == Some(ModelState::Failed)).then(|| match model.exit_code {
        Some(code) => format!("its process ended with exit code {code} when it was last loaded"),
        None => "it could not be loaded the last time".to_owned(),
    })
}

/// True if a request says with which window the model is loaded. A model that runs elsewhere has its own.
fn chooses(provider: &Provider, told: Option<&Model>) -> bool {
    is_asked_for_a_window(provider) && !told.is_some_and(|told| told.is_remote)
}

/// True if requests to a provider say with which window a model is loaded.
pub(super) fn is_asked_for_a_window(provider: &Provider) -> bool {
    dialect_of(provider) == Dialect::Ollama
}

fn key(provider: &Provider, model: &str, told: Option<&Model>) -> ModelKey {
    (provider.id.clone(), told.map_or(model, |told| told.id.as_str()).to_owned())
}

/// A model of which only the name is known.
pub(super) fn unknown(id: &str) -> Model {
    Model {
        id: id.to_owned(),
        context_window: None,
        max_output: None,
        tools: None,
        vision: None,
        reasoning: None,
        is_remote: false,
        loaded_window: None,
        state: None,
        exit_code: None,
        weights: None,
        token_bytes: None,
    }
}

/// The failure's words on the window, if it is about the window.
pub(super) fn too_long(failure: &Failure) -> Option<TooLong> {
    (failure.cause == Cause::ContextFull).then(|| windows::too_long(&failure.message))
}
