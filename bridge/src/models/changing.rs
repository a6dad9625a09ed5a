//! Providers that are added, changed and removed, and their keys.
//!
//! Owns the order: a key is stored before the row says that there is one, and the row says that there is none before the
//! key is deleted. A key belongs to the address that it was given for. Another address drops it, so that nobody collects
//! keys by changing one.

use std::rc::Rc;

use harbor_home::clock::wall_clock;
use harbor_ipc_proto::client::CredentialType;
use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_ipc_proto::client::{ProviderType, ProviderView};
use harbor_ipc_proto::model::{Dialect, Kind};
use harbor_ipc_proto::secret::Secret;
use harbor_policy::credentials::{Credential, wrong_value};
use harbor_policy::models::{
    About, KEYS, MOST_PROVIDERS, TYPES, about, address, at_port, id_for, is_model, is_name, usual_dialect,
};

use super::errors::{invalid, no_provider, unallowed, unstored};
use super::owners::another_person_at;
use super::{Models, lacks_key};
use crate::store::models::Provider;

/// The values of `type`.
const KINDS: &str = "ollama, openai, anthropic, llamafile, llama-server, lmstudio, vllm, openrouter, mistral, groq, deepseek, \
                     lemonade, gemini or openai-compatible";

/// A provider to be added.
#[derive(Debug)]
pub struct ProviderDraft {
    /// Its type.
    pub kind: String,
    /// A name for people.
    pub name: Option<String>,
    /// Its address.
    pub base_url: Option<String>,
    /// The dialect of its API.
    pub dialect: Option<String>,
    /// Its key.
    pub key: Option<Secret>,
    /// True if it may have a private address.
    pub allow_private: bool,
    /// True if it may be another person's program on this machine.
    pub allow_other_user: bool,
}

/// Changes to a provider.
#[derive(Debug, Default)]
pub struct Changes {
    /// Another name.
    pub name: Option<String>,
    /// Another address.
    pub base_url: Option<String>,
    /// True if it may be used.
    pub enabled: Option<bool>,
    /// True if it is the default.
    pub is_default: Option<bool>,
    /// True if it is the default of its type.
    pub is_type_default: Option<bool>,
}

impl Models {
    /// The types of providers that can be added, those on this machine first.
    #[must_use]
    pub fn types() -> (Vec<ProviderType>, Vec<ProviderType>) {
        let view = |About { kind, label, base_url, dialect, needs_key, .. }: About| ProviderType {
            r#type: kind.name().to_owned(),
            name: label.to_owned(),
            base_url: (!base_url.is_empty()).then(|| base_url.to_owned()),
            dialect: dialect.name().into(),
            needs_api_key: needs_key,
        };
        let (local, remote): (Vec<_>, Vec<_>) = TYPES.into_iter().partition(|about| !about.needs_key);
        (local.into_iter().map(view).collect(), remote.into_iter().map(view).collect())
    }

    /// Adds a provider.
    ///
    /// # Errors
    /// Says what is wrong with it, or that it could not be stored.
    pub async fn add(self: &Rc<Self>, added: ProviderDraft) -> Result<ProviderView, ErrorBody> {
        let kind = Kind::from_name(&added.kind).ok_or_else(|| invalid("provider_type", KINDS))?;
        let about = about(kind);
        // Where no address is given, it is the one at which it is found.
        let found = match added.base_url {
            None => self.found(kind).await.and_then(|port| at_port(&about, port)),
            Some(_) => None,
        };
        let _turn = self.changing.lock().await;
        let base_url = added.base_url.as_deref().or(found.as_deref()).unwrap_or(about.base_url);
        if base_url.is_empty() {
            return Err(invalid("base_url", "its address: https://…, or http://… on this machine"));
        }
        let base_url =
            address(base_url, added.allow_private).map_err(|expected| invalid("base_url", expected))?;
        let dialect = match added.dialect.as_deref() {
            None => usual_dialect(kind, &base_url),
            Some(name) => Dialect::from_name(name)
                .ok_or_else(|| invalid("dialect", "chat, anthropic, ollama, responses or gemini"))?,
        };
        let name = added.name.unwrap_or_else(|| about.label.to_owned());
        if !is_name(&name) {
            return Err(invalid("name", "1 to 64 bytes without control characters"));
        }
        let other_user = another_person_at(&base_url).await;
        if let Some(user) = other_user.as_ref().filter(|_| !added.allow_other_user) {
            return Err(unallowed(&base_url, user));
        }
        let (id, is_first, is_first_of_type) = {
            let providers = self.providers.borrow();
            if providers.len() >= MOST_PROVIDERS {
                return Err(invalid("provider_type", "at most 64 providers; remove one first"));
            }
            // Without a name, its id comes from its type, as on the command line.
            let base = if name == about.label { kind.name() } else { &name };
            let id = id_for(base, |id| providers.contains_key(id));
            (id, providers.is_empty(), providers.values().all(|one| one.kind != kind.name()))
        };
        let has_key = added.key.is_some();
        if let Some(key) = added.key {
            self.store_key(&id, key).await?;
        }
        let provider = Provider {
            id,
            kind: kind.name().to_owned(),
            name,
            base_url,
            dialect: dialect.name().to_owned(),
            allow_private: added.allow_private,
            allow_other_user: added.allow_other_user,
            enabled: true,
            model: None,
            has_key,
            is_default: is_first,
            is_type_default: is_first_of_type,
        };
        Ok(ProviderView { other_user, ..self.store(provider).await? })
    }

    /// Changes a provider; true if that dropped its key.
    ///
    /// # Errors
    /// Says what is wrong with it, or that it could not be stored.
    pub async fn configure(&self, id: &str, changes: Changes) -> Result<(ProviderView, bool), ErrorBody> {
        let _turn = self.changing.lock().await;
        let mut provider = self.provider(id)?;
        if let Some(name) = changes.name {
            if !is_name(&name) {
                return Err(invalid("name", "1 to 64 bytes without control characters"));
            }
            provider.name = name;
        }
        let mut drops = false;
        if let Some(base_url) = changes.base_url {
            let base_url = address(&base_url, provider.allow_private);
            let base_url = base_url.map_err(|expected| invalid("base_url", expected))?;
            drops = provider.has_key && base_url != provider.base_url;
            provider.has_key &= base_url == provider.base_url;
            provider.base_url = base_url;
        }
        provider.enabled = changes.enabled.unwrap_or(provider.enabled);
        provider.is_default = changes.is_default.unwrap_or(provider.is_default);
        provider.is_type_default = changes.is_type_default.unwrap_or(provider.is_type_default);
        let moves = provider.base_url != self.provider(id)?.base_url;
        let view = self.store(provider).await?;
        if moves {
            self.forget_learned(id).await;
        }
        if drops {
            self.secrets.remove(KEYS, id).await.map_err(|error| unstored(&error))?;
        }
        Ok((view, drops))
    }

    /// Forgets a provider and its key; false if there was none.
    ///
    /// # Errors
    /// When it could not be stored.
    pub async fn remove(&self, id: &str) -> Result<bool, ErrorBody> {
        let _turn = self.changing.lock().await;
        let Ok(provider) = self.provider(id) else { return Ok(false) };
        self.tables.remove(id).await.map_err(|error| unstored(&error))?;
        self.providers.borrow_mut().remove(id);
        self.facts.borrow_mut().retain(|key, _| key.0 != id);
        self.sent.borrow_mut().retain(|key, _| key.0 != id);
        self.names.borrow_mut().forget(id);
        self.forget_answers(id);
        if provider.has_key {
            self.secrets.remove(KEYS, id).await.map_err(|error| unstored(&error))?;
        }
        Ok(true)
    }

    /// Stores a provider's key.
    ///
    /// # Errors
    /// When it could not be stored.
    pub async fn set_key(&self, id: &str, key: Secret) -> Result<ProviderView, ErrorBody> {
        let _turn = self.changing.lock().await;
        let provider = self.provider(id)?;
        self.store_key(id, key).await?;
        self.store(Provider { has_key: true, ..provider }).await
    }

    /// Deletes a provider's key; false if it had none.
    ///
    /// # Errors
    /// When it could not be stored.
    pub async fn remove_key(&self, id: &str) -> Result<bool, ErrorBody> {
        let _turn = self.changing.lock().await;
        let provider = self.provider(id)?;
        if !provider.has_key {
            return Ok(false);
        }
        self.store(Provider { has_key: false, ..provider }).await?;
        self.secrets.remove(KEYS, id).await.map_err(|error| unstored(&error))
    }

    /// Makes a provider, and one of its models, the default. Gives the model.
    ///
    /// # Errors
    /// When there is no such provider or model, or it could not be stored.
    pub async fn set_active(&self, id: &str, model: Option<String>) -> Result<Option<String>, ErrorBody> {
        let _turn = self.changing.lock().await;
        let provider = self.provider(id)?;
        if !model.as_deref().is_none_or(is_model) {
            return Err(invalid("model_id", "the name of a model"));
        }
        let model = model.or_else(|| provider.model.clone());
        self.store(Provider { is_default: true, model: model.clone(), ..provider }).await?;
        Ok(model)
    }

    /// Makes one model the default: `provider:model`, or one that a provider lists. Gives both.
    ///
    /// # Errors
    /// As `set_active`, and when no provider lists it, or several do.
    pub async fn set_model(self: &Rc<Self>, name: &str) -> Result<(String, String), ErrorBody> {
        let (provider, model) = self.meant(name).await?;
        self.set_active(&provider.id, Some(model.clone())).await?;
        Ok((provider.id, model))
    }

    /// Forgets which model of the default provider is the default one: its first one is again.
    ///
    /// # Errors
    /// When it could not be stored.
    pub(super) async fn forget_default(&self) -> Result<(), ErrorBody> {
        let _turn = self.changing.lock().await;
        if let Some(provider) = self.default_provider() {
            self.store(Provider { model: None, ..provider }).await?;
        }
        Ok(())
    }

    /// The provider with this id.
    ///
    /// # Errors
    /// When there is none.
    pub(super) fn provider(&self, id: &str) -> Result<Provider, ErrorBody> {
        let providers = self.providers.borrow();
        let known: Vec<_> = providers.keys().cloned().collect();
        providers.get(id).cloned().ok_or_else(|| no_provider(id, &known))
    }

    /// Stores a provider: it is on disk before it holds.
    async fn store(&self, provider: Provider) -> Result<ProviderView, ErrorBody> {
        self.tables.put(&provider).await.map_err(|error| unstored(&error))?;
        let mut providers = self.providers.borrow_mut();
        for other in providers.values_mut() {
            other.is_default &= !provider.is_default;
            other.is_type_default &= !(provider.is_type_default && other.kind == provider.kind);
        }
        providers.insert(provider.id.clone(), provider.clone());
        drop(providers);
        self.forget_answers(&provider.id);
        Ok(self.view(&provider))
    }

    /// Forgets a provider's earlier answers: they do not count after a change.
    fn forget_answers(&self, id: &str) {
        self.problems.borrow_mut().remove(id);
        self.known.borrow_mut().remove(id);
        self.coming.forget(id);
        self.untold.borrow_mut().retain(|(provider, _), _| provider != id);
        self.tell();
    }

    async fn store_key(&self, id: &str, key: Secret) -> Result<(), ErrorBody> {
        // It travels in a header.
        if let Some(expected) = wrong_value(CredentialType::Header, &key) {
            return Err(invalid("api_key", expected));
        }
        let credential = Credential {
            value: key,
            kind: CredentialType::ApiKey,
            username: None,
            set_at: wall_clock(),
            expires_at: None,
            refresh_token: None,
            origin: None,
        };
        let put = self.secrets.put(KEYS, vec![(id.to_owned(), credential)]);
        put.await.map(drop).map_err(|error| unstored(&error))
    }

    /// The ids of the providers with a key.
    #[must_use]
    pub fn with_key(&self) -> Vec<String> {
        self.providers.borrow().values().filter(|one| one.has_key).map(|one| one.id.clone()).collect()
    }

    /// Keys in the environment, for types of which no provider has a key.
    pub(super) fn in_environment(&self) -> Vec<(Kind, &'static str)> {
        let providers = self.providers.borrow();
        let has_one = |kind: Kind| providers.values().any(|one| one.kind == kind.name() && !lacks_key(one));
        let is_set = |variable: &str| std::env::var_os(variable).is_some_and(|value| !value.is_empty());
        let offered = TYPES.iter().filter(|about| !about.variable.is_empty() && is_set(about.variable));
        offered.filter(|about| !has_one(about.kind)).map(|about| (about.kind, about.variable)).collect()
    }

    /// True if a provider has this port of this machine.
    pub(super) fn is_at(&self, port: u16) -> bool {
        let at = |one: &Provider| harbor_policy::models::local_port(&one.base_url) == Some(port);
        self.providers.borrow().values().any(at)
    }
}
