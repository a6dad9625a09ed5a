//! Secrets of servers: which names and values are allowed, stored with a server and gone with it.
//!
//! Owns the rule for values: a value comes in with its request, and none ever goes out.

use std::sync::Arc;

use harbor_home::clock::wall_clock;
use harbor_ipc_proto::client::CredentialType;
use harbor_ipc_proto::client::SetCredential;
use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_ipc_proto::codes::Code;
use harbor_ipc_proto::field::Message as _;
use harbor_ipc_proto::secret::{Secret, SecretMap};
use harbor_ipc_proto::server_id::ServerId;
use harbor_policy::credentials::{Credential, Credentials, MAX_KEYS, wrong_key, wrong_value};

use super::audit_record;
use crate::host::asker::Sender;
use crate::host::{Host, invalid};
use crate::store::StoreError;
use crate::store::audit::AuditRecord;
use crate::store::secrets::{Forgotten, Secrets};

/// Secrets of the type `api_key` that came with a request, if their names and values are allowed.
pub(crate) fn given(secrets: Option<SecretMap>) -> Result<Vec<(String, Credential)>, ErrorBody> {
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

/// A new secret, if its name and value are allowed.
pub(crate) fn credential(kind: CredentialType, key: &str, value: Secret) -> Result<Credential, ErrorBody> {
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

/// Stores secrets of a server that is about to be defined.
pub(crate) async fn keep(
    host: &Host,
    store: &Secrets,
    sender: &Sender,
    server_id: &ServerId,
    new: Vec<(String, Credential)>,
) -> Result<(), ErrorBody> {
    if new.is_empty() {
        return Ok(());
    }
    for (key, _) in &new {
        host.trail.decided(SetCredential::TAG, sender, about(server_id, key), true).await?;
    }
    let put = store.put(server_id.as_str(), new);
    put.await.map(drop).map_err(|error| unstored(&error))
}

/// True if a server has secrets, or if that cannot be found out.
pub(crate) async fn has_any(store: &Secrets, id: &ServerId) -> bool {
    of(store, id).await.map_or(true, |all| !all.0.is_empty())
}

/// Removes all secrets of a removed server. Returns their number, and the reason if they are still on disk,
/// where nobody gets them.
///
/// # Errors
/// When the next server of this name might get them.
pub(crate) async fn forget(store: &Secrets, id: &ServerId) -> Result<(u32, Option<String>), ErrorBody> {
    let forgotten = store.forget(id.as_str()).await;
    let Forgotten { count, left } = forgotten.map_err(|error| unstored(&error))?;
    let left = left.map(|why| {
        tracing::error!(server = %id, why, "its secrets could not be removed yet, but nobody gets them");
        format!(
            "could not {why}; Harbor deletes the secrets as soon as it can read them, and no server gets them"
        )
    });
    Ok((u32::try_from(count).unwrap_or(u32::MAX), left))
}

/// The secrets of a server.
pub(crate) async fn of(store: &Secrets, id: &ServerId) -> Result<Credentials, ErrorBody> {
    store.of(id.as_str()).await.map_err(|error| unread(&error))
}

/// The record of a change of a secret.
pub(crate) fn about(server: &ServerId, key: &str) -> AuditRecord {
    AuditRecord { key: Some(Arc::from(key)), ..audit_record::about(server) }
}

/// The error for secrets that cannot be read.
pub(crate) fn unread(error: &StoreError) -> ErrorBody {
    tracing::error!(%error, "the secrets could not be read");
    refused(error)
}

/// The error for secrets that cannot be changed.
pub(crate) fn unstored(error: &StoreError) -> ErrorBody {
    tracing::error!(%error, "the secrets could not be changed");
    refused(error)
}

fn refused(error: &StoreError) -> ErrorBody {
    let is_locked = matches!(error, StoreError::Locked(_));
    let code = if is_locked { Code::SecretsLocked } else { Code::Internal };
    ErrorBody::new(code, format!("could not {error}"))
}
