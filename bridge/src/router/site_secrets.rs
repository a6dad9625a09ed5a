//! Secrets that browser tools type by name: each is kept for a site. To clients they are the secrets of `browser`.
//!
//! Owns the rule that none is stored without its site. Must never say a value.

use std::rc::Rc;

use harbor_home::clock::wall_clock;
use harbor_ipc_proto::client::{
    CredentialType, CredentialView, DeleteCredential, DeleteCredentialResult, SetCredential,
    SetCredentialResult,
};
use harbor_ipc_proto::field::Message as _;
use harbor_ipc_proto::server_id::ServerId;
use harbor_ipc_proto::source_id::is_reserved;
use harbor_policy::credentials::{Credential, Credentials};
use harbor_policy::tabs::typed::{self, KEPT, SITE_RULE, key, parts};

use super::client::Client;
use super::credential_view::view;
use super::reply::{Handled, reply};
use super::state::Router;
use crate::host::{invalid, to_the_end};
use crate::install::secrets::{about, credential, unstored};

/// The server id that they have for clients.
const BROWSER: &str = "browser";

/// True if a message is about these secrets.
pub(super) fn is_meant(id: &ServerId) -> bool {
    is_reserved(id)
}

pub(super) async fn set(router: &Rc<Router>, client: &Client, message: SetCredential) -> Handled {
    let SetCredential { server_id, key: name, value, credential_type, username, expires_at, site } = message;
    let site = site.as_deref().and_then(typed::site).ok_or_else(|| invalid("site", SITE_RULE))?;
    if !matches!(credential_type, None | Some(CredentialType::ApiKey | CredentialType::Password)) {
        return Err(invalid("credential_type", "password or no value: browser tools type it into a page"));
    }
    if username.is_some() {
        return Err(invalid("username", "no value: store it as another secret"));
    }
    if expires_at.is_some_and(|at| at <= wall_clock()) {
        return Err(invalid("expires_at", "a time in the future"));
    }
    let credential = Credential { expires_at, ..credential(CredentialType::Password, &name, value)? };
    let (router, sender) = (router.clone(), client.sender());
    to_the_end(async move {
        router.host.trail.decided(SetCredential::TAG, &sender, about(&server_id, &name), true).await?;
        let view = of_site((&name, &site), &credential);
        let put = router.supervisor.secrets().put(KEPT, vec![(key(&name, &site), credential)]);
        put.await.map_err(|error| unstored(&error))?;
        reply(SetCredentialResult { credential: view, running: false, starts: false })
    })
    .await
}

pub(super) async fn delete(router: &Rc<Router>, client: &Client, message: DeleteCredential) -> Handled {
    let DeleteCredential { server_id, key: name, site } = message;
    let only = site.map(|site| typed::site(&site).ok_or_else(|| invalid("site", SITE_RULE))).transpose()?;
    let (router, sender) = (router.clone(), client.sender());
    to_the_end(async move {
        let kept = router.supervisor.secrets().of(KEPT).await.map_err(|error| unstored(&error))?;
        let is_meant = |key: &&String| {
            let named = parts(key).filter(|(known, _)| *known == name);
            named.is_some_and(|(_, site)| only.as_ref().is_none_or(|only| only == site))
        };
        let keys: Vec<_> = kept.0.keys().filter(is_meant).cloned().collect();
        if keys.is_empty() {
            return reply(DeleteCredentialResult { deleted: false, running: false });
        }
        router.host.trail.decided(DeleteCredential::TAG, &sender, about(&server_id, &name), false).await?;
        for key in &keys {
            let removed = router.supervisor.secrets().remove(KEPT, key).await;
            removed.map_err(|error| unstored(&error))?;
        }
        reply(DeleteCredentialResult { deleted: true, running: false })
    })
    .await
}

/// The views of these secrets.
pub(super) fn views(kept: &Credentials) -> Vec<CredentialView> {
    let all = kept.0.iter().filter_map(|(key, credential)| Some((parts(key)?, credential)));
    all.map(|(named, credential)| of_site(named, credential)).collect()
}

fn of_site((name, site): (&str, &str), credential: &Credential) -> CredentialView {
    CredentialView { site: Some(site.to_owned()), ..view(BROWSER, name, credential) }
}
