//! The price of a model at a provider that the person has added.
//!
//! Owns one rule: a model that runs on this machine is free. Must never price a model by another provider's table.

use harbor_policy::models::is_local;
use harbor_policy::prices::{Price, price};

use super::Models;
use crate::store::models::Provider;

impl Models {
    /// The price of a model. None if it is not known.
    pub(super) fn price_of(&self, provider: &Provider, model: &str) -> Option<Price> {
        if !is_local(&provider.base_url) {
            return price(&provider.kind, model);
        }
        let known = self.known.borrow();
        let listed = known.get(&provider.id).into_iter().flat_map(|list| list.iter());
        // A program on this machine may pass a request on to its makers.
        let runs_elsewhere = listed.filter(|one| one.id == model).any(|one| one.is_remote);
        (!runs_elsewhere).then_some(Price::FREE)
    }
}
