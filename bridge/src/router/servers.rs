//! Messages about definitions and the servers' lives.

use std::rc::Rc;

use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_ipc_proto::client::{
    AddRemoteServer, AddServer, ConnectServer, ConnectServerResult, ConnectionInfo, DisconnectServerResult,
    ListServersResult, RemoveServer, SetSupervision,
};
use harbor_ipc_proto::server_id::ServerId;

use super::client::Client;
use super::read_only;
use super::reply::{Handled, reply};
use super::state::Router;
use super::steps::steps_to;
use crate::host::{all_server_views, connection_info, server_view, start_failed};
use crate::supervisor::{Server, StartError, StartListener};

pub(super) async fn add(router: &Router, client: &Client, message: AddServer) -> Handled {
    reply(router.installs.add(&client.sender(), message).await?)
}

pub(super) async fn add_remote(router: &Router, client: &Client, message: AddRemoteServer) -> Handled {
    reply(router.installs.add_remote(&client.sender(), message).await?)
}

pub(super) async fn remove(router: &Router, client: &Client, message: RemoveServer) -> Handled {
    reply(router.installs.remove(&client.sender(), message).await?)
}

pub(super) async fn set_supervision(router: &Router, client: &Client, message: SetSupervision) -> Handled {
    reply(router.installs.set_supervision(&client.sender(), message).await?)
}

/// One server's status, and whether its next start could succeed.
pub(super) async fn status(router: &Router, id: &ServerId) -> Handled {
    reply(router.installs.status(id).await?)
}

pub(super) fn list(router: &Router) -> Handled {
    reply(ListServersResult { servers: all_server_views(&router.host) })
}

pub(super) async fn connect(
    router: &Router,
    client: &Rc<Client>,
    request_id: &str,
    message: &ConnectServer,
) -> Handled {
    let note = steps_to(client, request_id, message.progress);
    let id = &message.server_id;
    let (server, info) = match message.restart == Some(true) {
        // Calls wait meanwhile, so it starts at once.
        true => {
            let server = router.host.server(id)?;
            read_only::may_stop(router.supervisor.home(), id)?;
            server.stop();
            let started = server.start(note).await;
            ran(&server, started)?
        }
        false => start(router, id, note).await?,
    };
    reply(ConnectServerResult { server: server_view(&router.host, &server), connection_info: info })
}

/// Starts a server. Returns the server's words about itself.
pub(super) async fn start(
    router: &Router,
    id: &ServerId,
    note: Option<StartListener>,
) -> Result<(Rc<Server>, ConnectionInfo), ErrorBody> {
    let server = router.host.server(id)?;
    let started = router.supervisor.start_paced(&server, note).await;
    ran(&server, started)
}

fn ran(
    server: &Rc<Server>,
    started: Result<(), StartError>,
) -> Result<(Rc<Server>, ConnectionInfo), ErrorBody> {
    started.map_err(|error| start_failed(server.id(), &error))?;
    Ok((server.clone(), connection_info(&server.status())))
}

pub(super) async fn disconnect(router: &Router, id: &ServerId) -> Handled {
    let server = router.host.server(id)?;
    server.stop();
    server.down().await;
    reply(DisconnectServerResult { server: server_view(&router.host, &server) })
}
