//! The change of a server's sandbox.
//!
//! Owns that nothing is stored that would keep the server from its next start. Must never widen what a process has while it runs.

use std::rc::Rc;

use harbor_ipc_proto::client::SetSandbox;
use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_ipc_proto::field::Message as _;

use super::audit_record::about;
use super::installations::Installations;
use super::replacing::{is_unchanged, replace, stored};
use super::sandbox_settings::{changed, may_be_granted, refused};
use crate::host::asker::Sender;
use crate::host::to_the_end;
use crate::supervisor::Server;

/// Stores the settings. Returns the server, and true if it starts anew for them.
pub(super) async fn set_sandbox(
    installs: &Rc<Installations>,
    sender: &Rc<Sender>,
    message: SetSandbox,
) -> Result<(Rc<Server>, bool), ErrorBody> {
    let before = installs.host.server(&message.server_id)?;
    let looked_at = before.definition();
    let definition = changed(&looked_at, &message)?;
    if definition == *looked_at {
        return Ok((before, false));
    }
    may_be_granted(&installs.supervisor, &message.server_id, &definition).await?;
    // Before anything is stored: a server that runs goes on with the sandbox that it has.
    before.would_be_confined_by(definition.sandbox.clone()).await.map_err(refused)?;
    let (installs, sender) = (installs.clone(), sender.clone());
    to_the_end(async move {
        let server_id = message.server_id;
        installs.host.trail.decided(SetSandbox::TAG, &sender, about(&server_id), true).await?;
        let changing = installs.changing.lock().await;
        // Both looked at the disk, and waited for the audit log.
        is_unchanged(&installs, &server_id, &looked_at)?;
        installs.definitions.put(&server_id, &definition).await.map_err(|error| stored(&error))?;
        Ok(replace(&installs, changing, server_id, definition).await)
    })
    .await
}
