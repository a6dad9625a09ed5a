//! Another version of a package in the place of the one in use.
//!
//! ```text
//!  lock ─► the same definition, started anew        the version before stays on the disk, to go back to
//! ```
//!
//! Owns that the lock file changes first. Must never install anything.

use std::rc::Rc;

use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_ipc_proto::client::{UndoUpgrade, UndoUpgradeResult, UpgradeServer, UpgradeServerResult};
use harbor_ipc_proto::codes::Code;
use harbor_ipc_proto::field::Message as _;
use harbor_ipc_proto::server_id::ServerId;

use super::audit_record::about;
use super::claims::{claim, until_free};
use super::installations::{InstallCaller, Installations};
use super::installed::{installed, locked};
use super::replacing::{replace, stored};
use super::staged::TriedUpgrade;
use crate::host::asker::Sender;
use crate::host::{invalid, to_the_end};
use crate::store::definitions::Definition;
use crate::store::locks::Locked;
use crate::supervisor::Server;

/// Uses a version that was tried out.
pub(super) async fn apply(
    installs: &Rc<Installations>,
    caller: &InstallCaller,
    id: ServerId,
    tried: TriedUpgrade,
) -> Result<UpgradeServerResult, ErrorBody> {
    let (installs, sender) = (installs.clone(), caller.sender.clone());
    to_the_end(async move {
        installs.host.trail.decided(UpgradeServer::TAG, &sender, about(&id), true).await?;
        let server = installs.host.server(&id)?;
        let (_, locked) = locked(&installs, &server)?;
        let TriedUpgrade { installed, mut view, trial } = tried;
        // A version that was agreed upon but never installed is nothing to go back to.
        let previous = locked.map(|locked| locked.current).filter(|previous| previous.installed_at.is_some());
        let earlier = previous.as_ref().map(|previous| previous.version.clone());
        let now = Locked { current: installed.lock.clone(), previous };
        use_it(&installs, id.clone(), now).await?;
        drop(trial);
        installs.supervisor.tell_tools(&id, &installed.tools.unwrap_or_default());
        until_free(&installs, &id).await;
        (view.apply, view.applied, view.previous) = (None, true, earlier);
        Ok(UpgradeServerResult { upgrade: view })
    })
    .await
}

/// Changes the lock file first, in one transaction, and then replaces the server by one that runs it. Returns
/// the server, and true if it starts.
async fn use_it(
    installs: &Installations,
    server_id: ServerId,
    locked: Locked,
) -> Result<(Rc<Server>, bool), ErrorBody> {
    let changing = installs.changing.lock().await;
    // Its definition may have been changed while this waited.
    let server = installs.host.server(&server_id)?;
    let definition = Definition::clone(&server.definition());
    installs.supervisor.lock(&server_id, locked).await.map_err(|error| stored(&error))?;
    Ok(replace(installs, changing, server_id, definition).await)
}

/// Goes back to the version before.
pub(super) async fn undo(
    installs: &Rc<Installations>,
    sender: &Rc<Sender>,
    id: &ServerId,
) -> Result<UndoUpgradeResult, ErrorBody> {
    installs.staged.drop_of(id);
    let claim = claim(installs, id).await?;
    let (installs, sender, id) = (installs.clone(), sender.clone(), id.clone());
    to_the_end(async move {
        let server = installs.host.server(&id)?;
        let (package, locked) = locked(&installs, &server)?;
        let earlier = locked.and_then(|Locked { current, previous }| {
            Some((current, previous.filter(|previous| previous.is_of(&package))?))
        });
        let (current, previous) = earlier.ok_or_else(|| {
            let message = format!("{id} has no earlier version to go back to");
            ErrorBody::new(Code::InvalidParams, message).with("field", "server_id")
        })?;
        installs.host.trail.decided(UndoUpgrade::TAG, &sender, about(&id), true).await?;
        let now = Locked { current: previous, previous: Some(current) };
        let (server, starts) = use_it(&installs, id.clone(), now).await?;
        installs.host.registry.take_back(&(&id).into());
        drop(claim);
        if starts {
            // Only then is it known which of its tools have changed. Its state tells
            // how the start goes.
            let _ = server.start(None).await;
        }
        let installed = installed(&installs, &server).ok_or_else(|| invalid("server_id", "a package"))?;
        Ok(UndoUpgradeResult { installed })
    })
    .await
}
