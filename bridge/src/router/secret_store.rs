//! Messages about the store of secrets: locking, encrypting, moving it.
//!
//! Owns the rule that each change is written down. Must never say what is kept there.

use std::rc::Rc;

use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_ipc_proto::client::{
    DecryptSecrets, DecryptSecretsResult, EncryptSecrets, EncryptSecretsResult, GetSecretStoreResult,
    LockSecrets, LockSecretsResult, MoveSecrets, MoveSecretsResult, SecretStoreView, UnlockSecrets,
    UnlockSecretsResult,
};
use harbor_ipc_proto::field::Message as _;
use harbor_policy::secret_store::wrong_passphrase;

use super::client::Client;
use super::reply::{Handled, reply};
use super::state::Router;
use crate::host::{invalid, secret_store, to_the_end};
use crate::install::secrets::unstored;
use crate::store::StoreError;
use crate::store::audit::AuditRecord;
use crate::store::secrets::{Secrets, SecretsStatus};

pub(super) fn get(router: &Router) -> Handled {
    reply(GetSecretStoreResult { secret_store: secret_store(router.supervisor.secrets().standing()) })
}

pub(super) async fn unlock(router: &Rc<Router>, client: &Client, message: UnlockSecrets) -> Handled {
    let work = async |secrets: Secrets| secrets.unlock(message.passphrase).await;
    let secret_store = changed(router, client, UnlockSecrets::TAG, true, work).await?;
    reply(UnlockSecretsResult { secret_store })
}

pub(super) async fn lock(router: &Rc<Router>, client: &Client) -> Handled {
    let secret_store =
        changed(router, client, LockSecrets::TAG, false, async |secrets: Secrets| secrets.lock().await)
            .await?;
    reply(LockSecretsResult { secret_store })
}

pub(super) async fn encrypt(router: &Rc<Router>, client: &Client, message: EncryptSecrets) -> Handled {
    let passphrase = message.passphrase;
    if let Some(expected) = wrong_passphrase(&passphrase) {
        return Err(invalid("passphrase", expected));
    }
    let work = async |secrets: Secrets| secrets.encrypt(passphrase).await;
    let secret_store = changed(router, client, EncryptSecrets::TAG, false, work).await?;
    reply(EncryptSecretsResult { secret_store })
}

pub(super) async fn decrypt(router: &Rc<Router>, client: &Client) -> Handled {
    let work = async |secrets: Secrets| secrets.decrypt().await;
    let secret_store = changed(router, client, DecryptSecrets::TAG, true, work).await?;
    reply(DecryptSecretsResult { secret_store })
}

pub(super) async fn move_over(router: &Rc<Router>, client: &Client) -> Handled {
    let work = async |secrets: Secrets| secrets.move_over().await;
    let secret_store = changed(router, client, MoveSecrets::TAG, true, work).await?;
    reply(MoveSecretsResult { secret_store })
}

/// Makes a change to its end, whoever leaves meanwhile. `opens` is true if somebody may read more afterwards.
async fn changed(
    router: &Rc<Router>,
    client: &Client,
    event: &'static str,
    opens: bool,
    work: impl AsyncFnOnce(Secrets) -> Result<SecretsStatus, StoreError> + 'static,
) -> Result<SecretStoreView, ErrorBody> {
    let (router, sender) = (router.clone(), client.sender());
    to_the_end(async move {
        router.host.trail.decided(event, &sender, AuditRecord::default(), opens).await?;
        let standing = work(router.supervisor.secrets().clone()).await;
        let standing = standing.map_err(|error| unstored(&error))?;
        // The person's messages to models are kept as secrets are.
        router.agent.seal_all().await?;
        router.clients.all().iter().for_each(|client| client.note_bridge());
        Ok(secret_store(standing))
    })
    .await
}
