//! Messages about the secrets of servers.
//!
//! Owns the rule for values: a value comes in with its request, and none ever goes out.

use std::rc::Rc;

use harbor_home::clock::wall_clock;
use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_ipc_proto::client::{
    CredentialStatus, DeleteCredential, DeleteCredentialResult, GetCredentialStatusResult, ListCredentials,
    ListCredentialsResult, SetCredential, SetCredentialResult, SetServerSecrets, SetServerSecretsResult,
    ValidateCredentialsResult,
};
use harbor_ipc_proto::codes::Code;
use harbor_ipc_proto::field::Message as _;
use harbor_ipc_proto::server_id::ServerId;
use harbor_policy::credentials::{Credential, Credentials, wrong_username};
use harbor_policy::tabs::typed::KEPT;

use super::client::Client;
use super::credential_view::view;
use super::reply::{Handled, reply};
use super::site_secrets;
use super::state::Router;
use crate::host::{invalid, to_the_end};
use crate::install::secrets::{self, about, credential, unread, unstored};
use crate::supervisor::Server;

pub(super) async fn set(router: &Rc<Router>, client: &Client, message: SetCredential) -> Handled {
    if site_secrets::is_meant(&message.server_id) {
        return site_secrets::set(router, client, message).await;
    }
    let SetCredential { server_id, key, value, credential_type, username, expires_at, site } = message;
    let server = defined(router, &server_id)?;
    if site.is_some() {
        return Err(invalid("site", "no value: only secrets of `browser` belong to a site"));
    }
    let kind = credential_type.unwrap_or_default();
    if let Some(expected) = username.as_ref().and_then(|username| wrong_username(kind, username)) {
        return Err(invalid("username", expected));
    }
    if expires_at.is_some_and(|at| at <= wall_clock()) {
        return Err(invalid("expires_at", "a time in the future"));
    }
    let credential = Credential { username, expires_at, ..credential(kind, &key, value)? };
    let (router, sender) = (router.clone(), client.sender());
    to_the_end(async move {
        router.host.trail.decided(SetCredential::TAG, &sender, about(&server_id, &key), true).await?;
        let view = view(server_id.as_str(), &key, &credential);
        let put = router.supervisor.secrets().put(server_id.as_str(), vec![(key, credential)]);
        let all = put.await.map_err(|error| unstored(&error))?;
        still_defined(&router, &server_id).await?;
        let running = server.is_up();
        reply(SetCredentialResult { credential: view, running, starts: server.has_secrets_now(&all) })
    })
    .await
}

pub(super) async fn set_all(router: &Rc<Router>, client: &Client, message: SetServerSecrets) -> Handled {
    let SetServerSecrets { server_id, secrets } = message;
    let server = defined(router, &server_id)?;
    let new = secrets::given(Some(secrets))?;
    let (router, sender) = (router.clone(), client.sender());
    to_the_end(async move {
        for (key, _) in &new {
            router.host.trail.decided(SetCredential::TAG, &sender, about(&server_id, key), true).await?;
        }
        let put = router.supervisor.secrets().put(server_id.as_str(), new);
        let all = put.await.map_err(|error| unstored(&error))?;
        still_defined(&router, &server_id).await?;
        let (status, running) = (status(&server, &all), server.is_up());
        reply(SetServerSecretsResult { status, running, starts: server.has_secrets_now(&all) })
    })
    .await
}

pub(super) async fn get_status(router: &Router, id: &ServerId) -> Handled {
    let server = defined(router, id)?;
    reply(GetCredentialStatusResult {
        status: status(&server, &secrets::of(router.supervisor.secrets(), id).await?),
    })
}

pub(super) async fn validate(router: &Router, id: &ServerId) -> Handled {
    let server = defined(router, id)?;
    let all = match router.supervisor.secrets().of(id.as_str()).await {
        Ok(all) => all,
        Err(error) => {
            let errors = vec![error.to_string()];
            return reply(ValidateCredentialsResult { valid: false, errors, warnings: Vec::new() });
        }
    };
    let CredentialStatus { missing, expired, .. } = status(&server, &all);
    let missing = missing.iter().map(|key| format!("{key} is not set"));
    let errors: Vec<_> = missing.chain(expired.iter().map(|key| format!("{key} has expired"))).collect();
    let definition = server.definition();
    let warnings = all.warnings(&definition.env, definition.remote.is_some());
    reply(ValidateCredentialsResult { valid: errors.is_empty(), errors, warnings })
}

/// Works also for a server that is not defined any more: its secrets can be removed.
pub(super) async fn delete(router: &Rc<Router>, client: &Client, message: DeleteCredential) -> Handled {
    if site_secrets::is_meant(&message.server_id) {
        return site_secrets::delete(router, client, message).await;
    }
    let DeleteCredential { server_id, key, site: _ } = message;
    let (router, sender) = (router.clone(), client.sender());
    to_the_end(async move {
        let running = router.supervisor.get(&server_id).is_some_and(|server| server.is_up());
        if !secrets::of(router.supervisor.secrets(), &server_id).await?.0.contains_key(&*key) {
            return reply(DeleteCredentialResult { deleted: false, running });
        }
        router.host.trail.decided(DeleteCredential::TAG, &sender, about(&server_id, &key), false).await?;
        let removed = router.supervisor.secrets().remove(server_id.as_str(), &key).await;
        let deleted = removed.map_err(|error| unstored(&error))?;
        reply(DeleteCredentialResult { deleted, running })
    })
    .await
}

pub(super) async fn list(router: &Router, message: ListCredentials) -> Handled {
    let only = message.server_id;
    let store = router.supervisor.secrets();
    let all = match &only {
        Some(id) if site_secrets::is_meant(id) => {
            store.of(KEPT).await.map(|kept| [(KEPT.to_owned(), kept)].into())
        }
        Some(id) => {
            defined(router, id)?;
            store.of(id.as_str()).await.map(|of_server| [(id.to_string(), of_server)].into())
        }
        None => store.all().await,
    };
    let all = all.map_err(|error| unread(&error))?;
    let views = all.iter().filter_map(|(server, of_server)| Some((ServerId::parse(server)?, of_server)));
    let credentials = views.flat_map(|(server, of_server)| {
        of_server.0.iter().map(move |(key, credential)| view(server.as_str(), key, credential))
    });
    let of_sites = all.get(KEPT).into_iter().flat_map(site_secrets::views);
    reply(ListCredentialsResult { credentials: credentials.chain(of_sites).collect() })
}

fn defined(router: &Router, id: &ServerId) -> Result<Rc<Server>, ErrorBody> {
    router.supervisor.get(id).ok_or_else(|| {
        if site_secrets::is_meant(id) {
            let message =
                "browser is not a server: its secrets belong to sites; `harbor secrets list browser` shows them";
            return ErrorBody::new(Code::NotFound, message).with("server_id", id.as_str());
        }
        let message = format!("no server {id} is defined; `harbor add {id} -- COMMAND` defines it");
        ErrorBody::new(Code::NotFound, message).with("server_id", id.as_str())
    })
}

/// Checks that the server is still defined, so that a server that was removed meanwhile leaves no secret behind.
async fn still_defined(router: &Router, id: &ServerId) -> Result<(), ErrorBody> {
    let defined = defined(router, id);
    if defined.is_err() {
        secrets::forget(router.supervisor.secrets(), id).await?;
    }
    defined.map(drop)
}

fn status(server: &Server, all: &Credentials) -> CredentialStatus {
    let (missing, expired) = (all.missing(&server.definition().secrets), all.expired(wall_clock()));
    CredentialStatus {
        server_id: server.id().to_string(),
        is_complete: missing.is_empty() && expired.is_empty(),
        configured: all.0.keys().cloned().collect(),
        missing,
        expired,
    }
}
