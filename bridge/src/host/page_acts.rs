//! What pages do in tabs, by `agent.browser`: the extension does it, once this has let it.
//!
//! Owns the record of it. Must never know what is read, typed or clicked.

use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_policy::scope::Scope;

use super::asker::Asker;
use super::{Host, invalid};
use crate::config::Feature;
use crate::store::audit::AuditRecord;

impl Host {
    /// Checks that a page may do this in a tab, and writes it down. `act`: the function of `agent.browser`.
    ///
    /// # Errors
    /// Why it may not.
    pub async fn begin_page_act(&self, asker: &Asker, scope: Scope, act: &str) -> Result<(), ErrorBody> {
        let feature = feature_of(scope).ok_or_else(|| invalid("scope", "a scope of tabs, `browser:…`"))?;
        self.offers(asker, feature)?;
        if act == "screenshot" {
            self.offers(asker, Feature::Screenshots)?;
        }
        self.allowed(asker, scope).await?;
        self.trail.is_open()?;
        self.trail.called(AuditRecord {
            event: "page_act",
            by: asker.sender.by.clone(),
            origin: Some(asker.origin.shared()),
            profile: Some(asker.profile.clone()),
            scope: Some(scope.as_str()),
            tool: Some(act.into()),
            decision: "allowed",
            ..AuditRecord::default()
        });
        Ok(())
    }
}

/// The part of the page API that a scope of tabs belongs to.
fn feature_of(scope: Scope) -> Option<Feature> {
    match scope {
        Scope::BrowserActiveTabRead | Scope::BrowserActiveTabInteract => Some(Feature::BrowserInteraction),
        Scope::BrowserActiveTabScreenshot => Some(Feature::Screenshots),
        Scope::BrowserNavigate | Scope::BrowserTabsRead | Scope::BrowserTabsCreate => {
            Some(Feature::BrowserControl)
        }
        _ => None,
    }
}
