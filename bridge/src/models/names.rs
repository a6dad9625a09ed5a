//! The person's own names of models, and the model for each use.
//!
//! ```text
//!  "fast" ─► a name of the person's ─► provider, model
//!     └────► a use with a model of its own ─► provider, model
//! ```
//!
//! Owns that a name stands for one model of one provider: it goes with that provider, and never leads to another one.

use std::rc::Rc;

use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_ipc_proto::client::{ConfiguredModel, ModelForUse};
use harbor_policy::models::{Use, id_for, is_alias};
use harbor_policy::suggest::hint;

use super::Models;
use super::errors::{invalid, no_model, unstored};
use crate::store::models::NameKind;

/// The form of a name that can be given.
const A_NAME: &str =
    "1 to 64 letters, digits, `-`, `_` and `.`, beginning with a letter, and no provider's id";

/// The most names.
const MOST: usize = 256;

impl Models {
    /// The model that a request names, as `provider:model` if the name is one of the person's or a use.
    pub(super) fn by_name(&self, provider: Option<&str>, model: Option<&str>) -> Option<String> {
        let model = model?;
        let names = self.names.borrow();
        // At a provider that is named, the name is the provider's.
        let known = names.own.get(model).or_else(|| names.uses.get(model)).filter(|_| provider.is_none());
        Some(known.map_or_else(|| model.to_owned(), |(provider, model)| format!("{provider}:{model}")))
    }

    /// The model that the person wants for a use, as `provider:model`; none if they have not said.
    #[must_use]
    pub fn model_for(&self, of: Use) -> Option<String> {
        let names = self.names.borrow();
        let known = match of {
            Use::Chat => self.active().and_then(|(provider, model)| Some((provider, model?))),
            of => names.uses.get(of.name()).cloned(),
        };
        known.map(|(provider, model)| format!("{provider}:{model}"))
    }

    /// The model for a request that names none, if the person has one for its use: one for pictures, or for short answers where
    /// no tool may be called.
    #[must_use]
    pub fn model_for_unnamed(&self, has_pictures: bool, is_alone: bool) -> Option<String> {
        match (has_pictures, is_alone) {
            (true, _) => self.model_for(Use::Vision),
            (false, true) => self.model_for(Use::Fast),
            (false, false) => None,
        }
    }

    /// The models that the person has named.
    #[must_use]
    pub fn configured(&self) -> Vec<ConfiguredModel> {
        let default = self.model_for(Use::Chat);
        let view = |(name, (provider, model)): (&String, &(String, String))| {
            let model_id = format!("{provider}:{model}");
            ConfiguredModel { name: name.clone(), is_default: default.as_ref() == Some(&model_id), model_id }
        };
        self.names.borrow().own.iter().map(view).collect()
    }

    /// The models for the uses that have one.
    #[must_use]
    pub fn for_uses(&self) -> Vec<ModelForUse> {
        let model = |of: &Use| Some(ModelForUse { r#use: of.name().into(), model_id: self.model_for(*of)? });
        Use::ALL.iter().filter_map(model).collect()
    }

    /// Gives a model a name; one that is made of the model's if none is given. Gives the name, and `provider:model`.
    ///
    /// # Errors
    /// When the name cannot be one, there is no such model, or it could not be stored.
    pub async fn set_alias(
        self: &Rc<Self>,
        name: Option<String>,
        model_id: &str,
    ) -> Result<(String, String), ErrorBody> {
        let (provider, model) = self.meant(model_id).await?;
        let is_provider = |name: &str| self.providers.borrow().contains_key(name);
        let name = match name {
            Some(name) if is_alias(&name) && !is_provider(&name) => name,
            Some(_) => return Err(invalid("name", A_NAME)),
            None => id_for(&model, |name| is_provider(name) || self.names.borrow().own.contains_key(name)),
        };
        let is_new = !self.names.borrow().own.contains_key(&name);
        if is_new && self.names.borrow().own.len() >= MOST {
            return Err(invalid("name", "at most 256 names; remove one first"));
        }
        let model = (provider.id, model);
        self.put_name(NameKind::Own, &name, Some(&model)).await?;
        Ok((name, format!("{}:{}", model.0, model.1)))
    }

    /// Takes a name away; false if there was none.
    ///
    /// # Errors
    /// When it could not be stored.
    pub async fn remove_alias(&self, name: &str) -> Result<bool, ErrorBody> {
        if !self.names.borrow().own.contains_key(name) {
            return Ok(false);
        }
        self.put_name(NameKind::Own, name, None).await?;
        Ok(true)
    }

    /// Makes a named model the default one. Gives `provider:model`.
    ///
    /// # Errors
    /// When there is no such name, or it could not be stored.
    pub async fn set_default_alias(&self, name: &str) -> Result<String, ErrorBody> {
        let found = self.names.borrow().own.get(name).cloned();
        let Some((provider, model)) = found else {
            let names = self.names.borrow();
            let near = hint(name, names.own.keys().map(String::as_str));
            return Err(no_model(format!(
                "no model has the name {name:.64}{near}; `harbor models alias` lists them"
            )));
        };
        self.set_active(&provider, Some(model.clone())).await?;
        Ok(format!("{provider}:{model}"))
    }

    /// Says which model is for a use, or takes that back. Gives `provider:model`.
    ///
    /// # Errors
    /// When there is no such model, or it could not be stored.
    pub async fn set_model_for(
        self: &Rc<Self>,
        of: Use,
        model: Option<&str>,
    ) -> Result<Option<String>, ErrorBody> {
        let Some(model) = model else {
            match of {
                Use::Chat => self.forget_default().await?,
                of => self.put_name(NameKind::Use, of.name(), None).await?,
            }
            return Ok(None);
        };
        let (provider, model) = self.meant(model).await?;
        let model = (provider.id, model);
        match of {
            Use::Chat => drop(self.set_active(&model.0, Some(model.1.clone())).await?),
            of => self.put_name(NameKind::Use, of.name(), Some(&model)).await?,
        }
        Ok(Some(format!("{}:{}", model.0, model.1)))
    }

    async fn put_name(
        &self,
        kind: NameKind,
        name: &str,
        model: Option<&(String, String)>,
    ) -> Result<(), ErrorBody> {
        let _turn = self.changing.lock().await;
        self.tables.set_name(kind, name, model).await.map_err(|error| unstored(&error))?;
        let mut names = self.names.borrow_mut();
        match model {
            Some(model) => drop(names.of(kind).insert(name.to_owned(), model.clone())),
            None => drop(names.of(kind).remove(name)),
        }
        Ok(())
    }
}
