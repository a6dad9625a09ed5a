//! Messages about the secrets of servers.
//!
//! Owns the rule for values: a value comes in with its request, and none ever goes out.

use std::rc::Rc;
use std::sync::Arc;

use harbor_home::clock::wall_clock;
use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_ipc_proto::client::{
    CredentialStatus, CredentialType, CredentialView, DeleteCredential, DeleteCredentialResult,
    GetCredentialStatusResult, ListCredentials, ListCredentialsResult, SetCredential, SetCredentialResult,
    SetServerSecrets, SetServerSecretsResult, ValidateCredentialsResult,
};
use harbor_ipc_proto::codes::Code;
use harbor_ipc_proto::field::Message as _;
use harbor_ipc_proto::secret::{Secret, SecretMap};
use harbor_ipc_proto::server_id::ServerId;
use harbor_policy::credentials::{Credential, Credentials, MAX_KEYS, wrong_key, wrong_username, wrong_value};
use harbor_policy::tabs::typed::KEPT;

use super::client::Client;
use super::{Handled, Router, invalid, reply, site_secrets, to_the_end};
use crate::host::asker::Sender;
use crate::store::StoreError;
use crate::store::audit::AuditRecord;
use crate::store::secrets::Forgotten;
use crate::supervisor::Server;

pub(super) async fn set(router: &Rc<Router>, client: &Client, message: SetCredential) -> Handled {
    if site_secrets::is_meant(&message.server_id) {
        return site_secrets::set(router, client, message).await;
    }
    let SetCredential { server_id, key, value, credential_type, username, expires_at, site } = message;
    let server = defined(router, &server_id)?;
    if site.is_some() {
        return Err(invalid("site", "nothing: only secrets of `browser` are kept for a site"));
    }
    let kind = credential_type.unwrap_or_default();
    if let Some(expected) = username.as_ref().and_then(|username| wrong_username(kind, username)) {
        return Err(invalid("username", expected));
    }
    if expires_at.is_some_and(|at| at <= wall_clock()) {
        return Err(invalid("expires_at", "a time to come"));
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
    let new = given(Some(secrets))?;
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

/// Secrets of the type `api_key` that came with a request, if their names and values are allowed.
pub(super) fn given(secrets: Option<SecretMap>) -> Result<Vec<(String, Credential)>, ErrorBody> {
    let secrets = secrets.unwrap_or_default().0;
    if secrets.len() > MAX_KEYS {
        return Err(invalid("secrets", "at most 256 of them"));
    }
    let new = secrets.into_iter().map(|(key, value)| {
        let credential = credential(CredentialType::ApiKey, &key, value)?;
        Ok((key, credential))
    });
    new.collect()
}

/// Stores secrets of a server that is about to be defined.
pub(super) async fn keep(
    router: &Router,
    sender: &Sender,
    server_id: &ServerId,
    new: Vec<(String, Credential)>,
) -> Result<(), ErrorBody> {
    if new.is_empty() {
        return Ok(());
    }
    for (key, _) in &new {
        router.host.trail.decided(SetCredential::TAG, sender, about(server_id, key), true).await?;
    }
    let put = router.supervisor.secrets().put(server_id.as_str(), new);
    put.await.map(drop).map_err(|error| unstored(&error))
}

/// A new secret, if its name and value are allowed.
pub(super) fn credential(kind: CredentialType, key: &str, value: Secret) -> Result<Credential, ErrorBody> {
    if let Some(expected) = wrong_key(kind, key) {
        return Err(invalid("key", expected));
    }
    if let Some(expected) = wrong_value(kind, &value) {
        return Err(invalid("value", expected));
    }
    Ok(Credential {
        value,
        kind,
        username: None,
        set_at: wall_clock(),
        expires_at: None,
        refresh_token: None,
        origin: None,
    })
}

pub(super) async fn get_status(router: &Router, id: &ServerId) -> Handled {
    let server = defined(router, id)?;
    reply(GetCredentialStatusResult { status: status(&server, &of(router, id).await?) })
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
        if !of(&router, &server_id).await?.0.contains_key(&*key) {
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
    let secrets = router.supervisor.secrets();
    let all = match &only {
        Some(id) if site_secrets::is_meant(id) => {
            secrets.of(KEPT).await.map(|kept| [(KEPT.to_owned(), kept)].into())
        }
        Some(id) => {
            defined(router, id)?;
            secrets.of(id.as_str()).await.map(|of_server| [(id.to_string(), of_server)].into())
        }
        None => secrets.all().await,
    };
    let all = all.map_err(|error| unread(&error))?;
    let views = all.iter().filter_map(|(server, of_server)| Some((ServerId::parse(server)?, of_server)));
    let credentials = views.flat_map(|(server, of_server)| {
        of_server.0.iter().map(move |(key, credential)| view(server.as_str(), key, credential))
    });
    let of_sites = all.get(KEPT).into_iter().flat_map(site_secrets::views);
    reply(ListCredentialsResult { credentials: credentials.chain(of_sites).collect() })
}

/// True if a server has secrets, or if that cannot be found out.
pub(super) async fn has_any(router: &Router, id: &ServerId) -> bool {
    of(router, id).await.map_or(true, |all| !all.0.is_empty())
}

/// Removes all secrets of a server that is removed. Gives their number, and the reason if they are still on disk, where
/// nobody gets them.
///
/// # Errors
/// When the next server of this name might get them.
pub(super) async fn forget(router: &Router, id: &ServerId) -> Result<(u32, Option<String>), ErrorBody> {
    let forgotten = router.supervisor.secrets().forget(id.as_str()).await;
    let Forgotten { count, left } = forgotten.map_err(|error| unstored(&error))?;
    let left = left.map(|why| {
        tracing::error!(server = %id, why, "its secrets could not be removed yet; nobody gets them");
        format!("could not {why}; they are deleted as soon as they can be read, and no server gets them")
    });
    Ok((u32::try_from(count).unwrap_or(u32::MAX), left))
}

fn defined(router: &Router, id: &ServerId) -> Result<Rc<Server>, ErrorBody> {
    router.supervisor.get(id).ok_or_else(|| {
        if site_secrets::is_meant(id) {
            let message =
                "browser is no server: its secrets are for sites; `harbor secrets list browser` shows them";
            return ErrorBody::new(Code::NotFound, message).with("server_id", id.as_str());
        }
        let message = format!("no server {id} is defined; `harbor add {id} -- COMMAND` defines it");
        ErrorBody::new(Code::NotFound, message).with("server_id", id.as_str())
    })
}

/// Checks that the server is still defined. One that was removed meanwhile leaves no secret behind.
async fn still_defined(router: &Router, id: &ServerId) -> Result<(), ErrorBody> {
    let defined = defined(router, id);
    if defined.is_err() {
        forget(router, id).await?;
    }
    defined.map(drop)
}

pub(super) async fn of(router: &Router, id: &ServerId) -> Result<Credentials, ErrorBody> {
    router.supervisor.secrets().of(id.as_str()).await.map_err(|error| unread(&error))
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

pub(super) fn view(server: &str, key: &str, credential: &Credential) -> CredentialView {
    CredentialView {
        server_id: server.to_string(),
        key: key.to_owned(),
        credential_type: credential.kind,
        has_username: credential.username.is_some(),
        set_at: credential.set_at,
        expires_at: credential.expires_at,
        is_expired: credential.is_expired(wall_clock()),
        site: None,
    }
}

pub(super) fn about(server: &ServerId, key: &str) -> AuditRecord {
    AuditRecord { key: Some(Arc::from(key)), ..super::servers::about(server) }
}

fn unread(error: &StoreError) -> ErrorBody {
    tracing::error!(%error, "the secrets could not be read");
    refused(error)
}

pub(super) fn unstored(error: &StoreError) -> ErrorBody {
    tracing::error!(%error, "the secrets could not be changed");
    refused(error)
}

fn refused(error: &StoreError) -> ErrorBody {
    let is_locked = matches!(error, StoreError::Locked(_));
    let code = if is_locked { Code::SecretsLocked } else { Code::Internal };
    ErrorBody::new(code, format!("could not {error}"))
}
