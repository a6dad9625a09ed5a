//! The removal of a server: its secrets, grants, definition, lists, files.
//!
//! Owns the order: what the next server of this name must not get goes first. Must never leave a secret that nobody could
//! remove.

use std::rc::Rc;

use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_ipc_proto::client::{GrantView, RemoveServer, RemoveServerResult};
use harbor_ipc_proto::codes::Code;
use harbor_ipc_proto::field::Message as _;
use harbor_ipc_proto::server_id::ServerId;

use super::audit_record::about;
use super::claims::not_claimed;
use super::installations::Installations;
use super::replacing::{shown_path, stored};
use super::secrets;
use crate::host::asker::Sender;
use crate::host::{image_view, to_the_end};
use crate::store::StoreError;
use crate::supervisor::Server;

/// Removes a server. Returns a list of the removed things.
pub(super) async fn remove(
    installs: &Rc<Installations>,
    sender: &Rc<Sender>,
    message: RemoveServer,
) -> Result<RemoveServerResult, ErrorBody> {
    installs.staged.drop_of(&message.server_id);
    not_claimed(installs, &message.server_id).await?;
    let (installs, sender) = (installs.clone(), sender.clone());
    to_the_end(async move {
        let (id, with_data) = (&message.server_id, message.data == Some(true));
        if is_anything_left(&installs, id, with_data).await {
            installs.host.trail.decided(RemoveServer::TAG, &sender, about(id), false).await?;
        }
        let RemovedServer { server, secrets, secrets_left, grants } =
            take_away(&installs, &sender, id).await?;
        // Without a server, the request may mean what an earlier one of that name has left.
        let removed = server.is_some()
            || secrets > 0
            || (with_data && installs.supervisor.has_data_directory(id).await);
        if !removed {
            let (image, data, secrets_left) = (None, None, None);
            return Ok(RemoveServerResult { removed, image, data, secrets, secrets_left, pins: 0, grants });
        }
        // Before the image's name is forgotten.
        let image = server.as_deref().and_then(image_view).filter(|image| image.id.is_some());
        let mut pins = 0;
        if let Some(server) = server {
            server.down().await;
            pins = installs.host.forget(id).await;
        }
        let pins = u32::try_from(pins).unwrap_or(u32::MAX);
        let data = installs.supervisor.forget(id, with_data).await.map(shown_path);
        Ok(RemoveServerResult { removed, image, data, secrets, secrets_left, pins, grants })
    })
    .await
}

/// A server that is gone, and what it was given.
struct RemovedServer {
    /// None if there was none of this name.
    server: Option<Rc<Server>>,
    secrets: u32,
    secrets_left: Option<String>,
    grants: Vec<GrantView>,
}

/// Removes a server and what it was given; its processes and files are still there.
async fn take_away(
    installs: &Installations,
    sender: &Sender,
    id: &ServerId,
) -> Result<RemovedServer, ErrorBody> {
    let _changing = installs.changing.lock().await;
    // First, because nobody could remove a secret without a server.
    let (mut secrets, mut secrets_left) = secrets::forget(installs.supervisor.secrets(), id).await?;
    let mut grants = Vec::new();
    if installs.supervisor.get(id).is_some() {
        // Before its definition: if the bridge is killed in between, nothing is left for the next server of this name.
        grants = installs.host.permissions.forget_source(sender, &id.into()).await;
    }
    let removed = installs.definitions.remove(id).await;
    removed.map_err(|error| not_removed(&error, id, secrets, grants.len()))?;
    let server = installs.supervisor.remove(id);
    if server.is_some() {
        installs.host.forget_server(id);
        // Secrets that were set in between.
        if let Ok((more, left)) = secrets::forget(installs.supervisor.secrets(), id).await {
            (secrets, secrets_left) = (secrets + more, left);
        }
    }
    Ok(RemovedServer { server, secrets, secrets_left, grants })
}

/// The error for a definition that the disk keeps, after its secrets and grants are gone.
fn not_removed(error: &StoreError, id: &ServerId, secrets: u32, grants: usize) -> ErrorBody {
    if secrets == 0 && grants == 0 {
        return stored(error);
    }
    tracing::error!(%error, "a definition could not be removed");
    let message = format!(
        "{error}; {id} is still defined, but what it was given is gone (secrets: {secrets}, grants of its tools: {grants}); \
         `harbor remove {id}` removes it once there is room"
    );
    ErrorBody::new(Code::Internal, message).with("server_id", id.as_str())
}

/// True if a server has something to remove: the server itself, or remains of an earlier one of its name.
async fn is_anything_left(installs: &Installations, id: &ServerId, with_data: bool) -> bool {
    installs.supervisor.get(id).is_some()
        || secrets::has_any(installs.supervisor.secrets(), id).await
        || (with_data && installs.supervisor.has_data_directory(id).await)
}
