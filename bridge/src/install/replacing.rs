//! One definition in the place of another: what goes on, what is set aside, and what the person must accept.
//!
//! Owns that a server that was up starts anew. Must never start one that was down.

use std::path::PathBuf;
use std::rc::Rc;

use harbor_ipc_proto::client::ServerChange;
use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_ipc_proto::codes::Code;
use harbor_ipc_proto::server_id::ServerId;
use tokio::sync::MutexGuard;

use super::installations::Installations;
use super::secrets;
use crate::store::StoreError;
use crate::store::definitions::{Definition, Stored};
use crate::supervisor::Server;

/// The definition with the settings of its package's installation, if the package is the same: they need not be given
/// anew.
pub(super) fn of_installation(installs: &Installations, id: &ServerId, definition: Definition) -> Definition {
    let before = installs.supervisor.get(id).map(|before| before.definition());
    match before.filter(|before| before.program() == definition.program()) {
        Some(before) => {
            Definition { install_env: before.install_env.clone(), with: before.with.clone(), ..definition }
        }
        None => definition,
    }
}

/// The files of an earlier program of this name. They become the home of the next one if that is wanted;
/// otherwise they are set aside. Returns their place.
pub(super) async fn old_data(
    installs: &Installations,
    id: &ServerId,
    definition: &Definition,
    keep: bool,
) -> Result<Option<String>, ErrorBody> {
    let before = installs.supervisor.get(id);
    if before.is_some_and(|before| before.definition().program() == definition.program()) {
        return Ok(None);
    }
    if keep {
        return Ok(installs.supervisor.data_left(id).await.map(shown_path));
    }
    let aside = installs.supervisor.set_data_aside(id).await;
    aside.map(|aside| aside.map(shown_path)).map_err(|error| stored(&error))
}

/// The files that an earlier server of this name has left. They would become the home of this server.
pub(super) async fn data_left(installs: &Installations, id: &ServerId) -> Option<String> {
    installs.supervisor.data_left(id).await.map(|left| left.to_string_lossy().into_owned())
}

/// Checks that a server still has the definition that was looked at. It may have been changed or removed meanwhile.
pub(super) fn is_unchanged(
    installs: &Installations,
    id: &ServerId,
    looked_at: &Rc<Definition>,
) -> Result<(), ErrorBody> {
    match installs.supervisor.get(id).is_some_and(|now| Rc::ptr_eq(&now.definition(), looked_at)) {
        true => Ok(()),
        false => {
            let message = "the server was changed or removed at the same time; try again";
            Err(ErrorBody::new(Code::InvalidParams, message).with("field", "server_id"))
        }
    }
}

/// The change that the person must accept, for a server that has just replaced one with grants.
pub(super) async fn change_to_accept(
    installs: &Installations,
    server: &Server,
) -> Result<Option<ServerChange>, ErrorBody> {
    if installs.host.server_change(server.id()).is_some() {
        let has_secrets = secrets::has_any(installs.supervisor.secrets(), server.id()).await;
        installs.host.settle_if_nothing_was_given(server.id(), has_secrets).await?;
    }
    Ok(installs.host.server_change(server.id()))
}

/// A server whose definition is in force.
pub(super) struct PutServer {
    pub server: Rc<Server>,
    /// The server of this name before; it is down.
    pub before: Option<Rc<Server>>,
    pub program_change: Option<ServerChange>,
}

/// Puts a stored definition in force, and waits for the end of the server that had the name before. `changing` is given back
/// before that, which may take long.
pub(super) async fn put(
    installs: &Installations,
    changing: MutexGuard<'_, ()>,
    server_id: ServerId,
    definition: Definition,
) -> Result<PutServer, ErrorBody> {
    let looked = installs.supervisor.look(Stored { server_id, definition, era: None }).await;
    let (server, before) = installs.supervisor.put(looked);
    let program_change = change_to_accept(installs, &server).await?;
    drop(changing);
    if let Some(before) = &before {
        before.down().await;
    }
    Ok(PutServer { server, before, program_change })
}

/// Replaces a definition by a stored one. A server that was up, or starting, is stopped and starts anew.
/// Returns the server, and true if it starts. `changing` is released before the stop, which may take long.
pub(super) async fn replace(
    installs: &Installations,
    changing: MutexGuard<'_, ()>,
    server_id: ServerId,
    definition: Definition,
) -> (Rc<Server>, bool) {
    let looked =
        installs.supervisor.look(Stored { server_id: server_id.clone(), definition, era: None }).await;
    let before = installs.supervisor.get(&server_id);
    let starts = before.is_some_and(|before| before.is_up() || before.is_expected());
    let (server, before) = installs.supervisor.put(looked);
    if starts {
        server.expect_start();
    }
    drop(changing);
    if let Some(before) = before {
        before.down().await;
    }
    if starts {
        let server = server.clone();
        // Whoever wants to know how that goes watches the server: its state says it. If the
        // server was replaced meanwhile, its successor starts instead.
        tokio::task::spawn_local(async move { server.start_in_turn().await });
    }
    (server, starts)
}

/// A path in the form for the person.
pub(super) fn shown_path(path: PathBuf) -> String {
    path.to_string_lossy().into_owned()
}

/// The error for a change that the disk refuses.
pub(super) fn stored(error: &StoreError) -> ErrorBody {
    tracing::error!(%error, "a definition could not be stored");
    ErrorBody::new(Code::Internal, format!("{error}; nothing was changed"))
}
