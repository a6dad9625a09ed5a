//! Messages about installation: `install` answers them.

use std::rc::Rc;

use harbor_ipc_proto::client::{
    InstallServer, ResolveServer, UninstallServer, UpdateServerArgs, UpgradeServer,
};
use harbor_ipc_proto::server_id::ServerId;

use super::client::Client;
use super::reply::{Handled, reply};
use super::state::Router;
use super::steps::steps_to;
use crate::install::InstallCaller;

/// The caller of a message, with the way to tell steps if it wants them.
fn caller(client: &Rc<Client>, request_id: &str, progress: Option<bool>) -> InstallCaller {
    InstallCaller { sender: client.sender(), steps: steps_to(client, request_id, progress) }
}

pub(super) async fn install(
    router: &Router,
    client: &Rc<Client>,
    request_id: &str,
    message: InstallServer,
) -> Handled {
    let caller = caller(client, request_id, message.progress);
    reply(router.installs.install(&caller, message).await?)
}

pub(super) async fn resolve(
    router: &Router,
    client: &Rc<Client>,
    request_id: &str,
    message: ResolveServer,
) -> Handled {
    let caller = caller(client, request_id, message.progress);
    reply(router.installs.resolve(&caller, message).await?)
}

pub(super) fn curated(router: &Router) -> Handled {
    reply(router.installs.curated()?)
}

pub(super) async fn upgrade(
    router: &Router,
    client: &Rc<Client>,
    request_id: &str,
    message: UpgradeServer,
) -> Handled {
    let caller = caller(client, request_id, message.progress);
    reply(router.installs.upgrade(&caller, message).await?)
}

pub(super) async fn undo(router: &Router, client: &Client, id: &ServerId) -> Handled {
    reply(router.installs.undo(&client.sender(), id).await?)
}

pub(super) async fn uninstall(router: &Router, client: &Client, message: UninstallServer) -> Handled {
    reply(router.installs.uninstall(&client.sender(), message).await?)
}

pub(super) async fn set_args(router: &Router, client: &Client, message: UpdateServerArgs) -> Handled {
    reply(router.installs.set_args(&client.sender(), message).await?)
}

pub(super) fn list(router: &Router) -> Handled {
    reply(router.installs.list())
}

pub(super) async fn runtimes(router: &Router) -> Handled {
    reply(router.installs.runtimes().await?)
}
