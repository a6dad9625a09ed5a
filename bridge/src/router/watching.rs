//! What clients are told without asking each time: changes of servers, log lines, changed resources.
//!
//! Owns who is interested in what. Each client has its own flags; what nobody wants is not even written.

use std::rc::Rc;

use harbor_ipc_proto::client::{
    McpGetLogs, McpGetLogsResult, ResourceUpdated, WatchServers, WatchServersResult,
};
use harbor_ipc_proto::server_id::ServerId;

use super::client::Client;
use super::views::{event, log_line, log_push, view};
use super::{Handled, Router, reply};
use crate::supervisor::{MAX_LINES, Told};

/// Log lines that are given when a request does not say how many.
const LOG_LINES: u64 = 200;

pub(super) fn servers(router: &Router, client: &Client, message: &WatchServers) -> Handled {
    let watching = message.watch != Some(false);
    client.watch_servers(watching);
    reply(WatchServersResult { watching, servers: router.supervisor.all().iter().map(view).collect() })
}

pub(super) async fn logs(router: &Router, client: &Rc<Client>, message: &McpGetLogs) -> Handled {
    let server = router.host.server(&message.server_id)?;
    let limit = usize::try_from(message.limit.unwrap_or(LOG_LINES)).unwrap_or(usize::MAX).min(MAX_LINES);
    let follow = || {
        if let Some(follow) = message.follow {
            client.follow_logs(message.server_id.as_str(), follow);
        }
    };
    let logs = server.logs(limit, follow).await.into_iter().map(log_line).collect();
    reply(McpGetLogsResult { logs, pid: server.status().pid })
}

/// A client has gone: its subscriptions end with it.
pub(super) fn forget(router: &Router, client: &Client) {
    for (server, uri) in client.take_subscriptions() {
        let server = ServerId::parse(&server).and_then(|id| router.supervisor.get(&id));
        if let Some(server) = server {
            server.subscriber_left(&uri);
        }
    }
}

/// Tells those of `clients` that are interested.
pub fn tell(clients: &[Rc<Client>], told: &Told<'_>) {
    match told {
        Told::Change(change) => {
            let push = event(change);
            let interested = clients.iter().filter(|client| client.watches_servers());
            interested.for_each(|client| client.send_push("server_event", &push));
        }
        Told::Log(server, line) => {
            let interested = clients.iter().filter(|client| client.follows_logs(server.as_str()));
            interested.for_each(|client| client.send_push("server_log", &log_push(server.as_str(), line)));
        }
        Told::Resource(server, uri) => {
            let push = ResourceUpdated { server_id: server.to_string(), uri: (*uri).to_owned() };
            let interested = clients.iter().filter(|client| client.is_subscribed(server.as_str(), uri));
            interested.for_each(|client| client.send_push("resource_updated", &push));
        }
    }
}
