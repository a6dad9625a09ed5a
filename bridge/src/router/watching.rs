//! News for clients that do not ask each time: changes of servers, log lines, changed resources.
//!
//! Owns who is interested in what. Each client has its own flags; a push that nobody wants is not even written.

use std::rc::Rc;

use harbor_home::clock::wall_clock;
use harbor_ipc_proto::client::envelope::put_push;
use harbor_ipc_proto::client::{
    GrantChanged, McpFollowMessages, McpFollowMessagesResult, McpGetLogs, McpGetLogsResult, OffersChanged,
    ServerMessage, ToolsChanged, WatchServers, WatchServersResult,
};
use harbor_ipc_proto::field::Message;
use harbor_ipc_proto::server_id::ServerId;
use harbor_policy::lifecycle::State;
use harbor_policy::limits::LEVELS;

use super::approvals;
use super::client::Client;
use super::reply::{Handled, reply};
use super::state::Router;
use super::views::{event, log_line, log_push};
use crate::host::{HostEvent, all_server_views, invalid};
use crate::supervisor::{Line, ListKind, MAX_LINES, Source, StateChange, SupervisorEvent};

/// The values of a level.
pub(super) const LEVELS_EXPECTED: &str = "debug, info, notice, warning, error, critical, alert or emergency";

/// How many log lines are given if a request does not say.
const LOG_LINES: u64 = 200;

pub(super) fn servers(router: &Router, client: &Client, message: &WatchServers) -> Handled {
    let watching = message.watch != Some(false);
    client.watch_servers(watching);
    reply(WatchServersResult { watching, servers: all_server_views(&router.host) })
}

pub(super) async fn logs(router: &Router, client: &Rc<Client>, message: &McpGetLogs) -> Handled {
    let server = match router.engines.by_log(message.server_id.as_str()) {
        Some(engine) => engine,
        None => router.host.server(&message.server_id)?,
    };
    let limit = usize::try_from(message.limit.unwrap_or(LOG_LINES)).unwrap_or(usize::MAX).min(MAX_LINES);
    let follow = || {
        if let Some(follow) = message.follow {
            client.follow_logs(message.server_id.as_str(), follow);
        }
    };
    let logs = server.logs(limit, follow).await.into_iter().map(log_line).collect();
    reply(McpGetLogsResult { logs, pid: server.status().pid })
}

pub(super) fn messages(router: &Router, client: &Client, message: McpFollowMessages) -> Handled {
    let level = level_of(&message.level).ok_or_else(|| invalid("level", LEVELS_EXPECTED))?;
    client.follow_messages(level);
    want_messages(router, client, None);
    reply(McpFollowMessagesResult { level: message.level })
}

/// Asks servers for the messages that a client wants and may have: all servers, or one.
fn want_messages(router: &Router, client: &Client, of: Option<&ServerId>) {
    let Some(level) = client.level() else { return };
    let sender = client.sender();
    for server in router.supervisor.all() {
        let is_meant = of.is_none_or(|id| id == server.id());
        if is_meant && router.host.may_use_all(&sender, server.id()) {
            server.want_messages(level);
        }
    }
}

/// Asks a new or replaced server for the news that clients want.
fn renew_wishes(router: &Router, clients: &[Rc<Client>], id: &ServerId) {
    let Some(server) = router.supervisor.get(id) else { return };
    for client in clients {
        client.subscriptions_to(id.as_str()).iter().for_each(|uri| server.subscribed(uri));
        want_messages(router, client, Some(id));
    }
}

/// The place of a level among MCP's, the least one first.
pub(super) fn level_of(name: &str) -> Option<usize> {
    LEVELS.iter().position(|level| *level == name)
}

/// A client has gone: its subscriptions end with it.
pub(super) fn forget(router: &Router, client: &Client) {
    for (server, uri) in client.take_subscriptions() {
        let server = ServerId::parse(&server).and_then(|id| router.supervisor.get(&id));
        if let Some(server) = server {
            server.subscriber_left(&uri);
        }
    }
    router.agent.client_has_left(client.sender().client);
}

/// Tells those of `clients` that are interested. The push is written once, however many they are.
pub fn tell(router: &Router, told: &SupervisorEvent<'_>) {
    let clients = &router.clients.all()[..];
    match told {
        SupervisorEvent::Change(change) => tell_change(router, clients, change),
        SupervisorEvent::Supervised(server) => {
            clients.iter().for_each(|client| client.note_change(server));
            // A change of what a call may start also changes which tools are listed.
            tools_changed(clients, server);
        }
        SupervisorEvent::Tools(server, _) => tools_changed(clients, server),
        SupervisorEvent::Offers(server, ListKind::Prompts) => offers_changed(clients, server, "prompts"),
        SupervisorEvent::Offers(server, _) => offers_changed(clients, server, "resources"),
        SupervisorEvent::Listed(..) => {}
        SupervisorEvent::Instance(server) => clients.iter().for_each(|client| client.note_change(server)),
        SupervisorEvent::Resource(server, uri, only) => {
            let interested = clients.iter().filter(|client| client.is_subscribed(server.as_str(), uri));
            let is_meant = |client: u64| only.as_ref().is_none_or(|only| only.contains(&client));
            let interested = interested.filter(|client| is_meant(client.sender().client));
            // The permission that held at the subscription may have ended.
            interested
                .filter(|client| router.host.may_use_all(&client.sender(), server))
                .for_each(|client| client.send_update(server.as_str(), uri));
        }
        SupervisorEvent::Log(server, line) => {
            tell_message(router, clients, server, line);
            tell_line(clients, server, line);
        }
    }
}

/// A server is in another state, or there is another one, or none any more.
fn tell_change(router: &Router, clients: &[Rc<Client>], change: &StateChange) {
    clients.iter().for_each(|client| client.note_change(&change.server));
    let interested = clients.iter().filter(|client| client.watches_servers());
    send(interested, || event(change));
    if change.before.is_none() {
        renew_wishes(router, clients, &change.server);
    }
    if change.before == Some(State::Running) && change.now != Some(State::Running) {
        tools_changed(clients, &change.server);
        offers_changed(clients, &change.server, "resources");
        offers_changed(clients, &change.server, "prompts");
    }
}

/// A server has written a line, and some clients follow its log.
fn tell_line(clients: &[Rc<Client>], server: &ServerId, line: &Line) {
    let mut interested = clients.iter().filter(|client| client.follows_logs(server.as_str())).peekable();
    if interested.peek().is_some() {
        let body = body(&log_push(server.as_str(), line));
        interested.for_each(|client| client.send_log(server.as_str(), &body, left_out));
    }
}

/// Passes the host's news to the interested clients. An AI client hears only of its own grants, and only that
/// some tools have changed, not of which server.
pub fn tell_of_host(router: &Router, news: &HostEvent<'_>) {
    let clients = router.clients.all();
    if let HostEvent::Grant { origin, .. } = news {
        let own = |client: &&Rc<Client>| client.sender().own.as_ref().is_some_and(|own| *own == **origin);
        clients.iter().filter(own).for_each(|client| want_messages(router, client, None));
    }
    let watching = clients.iter().filter(|client| client.watches_host());
    match news {
        HostEvent::Grant { change, origin, grant } => {
            let interested =
                watching.filter(|client| client.sender().own.as_ref().is_none_or(|own| *own == **origin));
            send(interested, || GrantChanged { change: (*change).into(), grant: grant.clone() });
        }
        HostEvent::Question { approval, client, waits } => {
            approvals::tell(&clients, approval, *client, *waits)
        }
        HostEvent::Tool(change) => {
            let owners = watching.filter(|client| client.sender().own.is_none());
            send(owners, || (*change).clone());
        }
    }
}

/// Handles a line that a server has written. If it is one of MCP's messages, AI clients may want to hear it.
fn tell_message(router: &Router, clients: &[Rc<Client>], server: &ServerId, line: &Line) {
    let level = line.level.as_deref().filter(|_| line.source == Source::Mcp);
    let Some((name, level)) = level.and_then(|name| Some((name, level_of(name)?))) else { return };
    let interested = clients.iter().filter(|client| client.level().is_some_and(|least| level >= least));
    let mut interested =
        interested.filter(|client| router.host.may_use_all(&client.sender(), server)).peekable();
    if interested.peek().is_some() {
        let (server_id, level) = (server.to_string(), name.to_owned());
        let body = body(&ServerMessage { server_id, level, text: line.text.clone() });
        interested.for_each(|client| client.send_message(&body));
    }
}

fn tools_changed(clients: &[Rc<Client>], server: &ServerId) {
    list_changed(clients, server.as_str(), |server_id| ToolsChanged { server_id });
}

/// A source that is no server has come or gone.
pub(super) fn sources_changed(router: &Router) {
    list_changed(&router.clients.all(), "browser", |server_id| ToolsChanged { server_id });
}

fn offers_changed(clients: &[Rc<Client>], server: &ServerId, kind: &'static str) {
    list_changed(clients, server.as_str(), |server_id| OffersChanged { kind: kind.into(), server_id });
}

/// Tells that a list has changed. An AI client hears it once it was allowed a list, and without the server's name.
fn list_changed<P: Message>(clients: &[Rc<Client>], server: &str, push: impl Fn(Option<String>) -> P) {
    let watching = || clients.iter().filter(|client| client.watches_host());
    let owners = watching().filter(|client| client.sender().own.is_none());
    send(owners, || push(Some(server.to_string())));
    let others = watching().filter(|client| client.sender().own.is_some() && client.has_listed());
    send(others, || push(None));
}

fn send<'a, P: Message>(clients: impl Iterator<Item = &'a Rc<Client>>, push: impl FnOnce() -> P) {
    let mut clients = clients.peekable();
    if clients.peek().is_some() {
        let body = body(&push());
        clients.for_each(|client| client.send_news(&body));
    }
}

fn body<P: Message>(push: &P) -> Vec<u8> {
    let mut body = Vec::new();
    put_push(&mut body, push);
    body
}

/// The line in place of lines for which a client was too slow.
fn left_out(server: &str, lines: u64) -> Vec<u8> {
    let text = format!("{lines} lines were skipped: this client does not read fast enough");
    let remark = Line { timestamp: wall_clock(), source: Source::Harbor, level: None, text };
    body(&log_push(server, &remark))
}
