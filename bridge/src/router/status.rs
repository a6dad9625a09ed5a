//! `status`, `subscribe_status`, `health`.
//!
//! ```text
//!  a server changes ──► Feed: which ─┐
//!  a client comes, the configuration, the catalog change ► Feed ┼─► one task per subscriber ─► status_update
//!  time passes ────────► measured ───┘
//! ```
//!
//! Owns what subscribers are told, and when. Several changes of one server at once make one push. A subscriber that does
//! not read is cut off, like everybody who does not read their news.

use std::rc::{Rc, Weak};
use std::time::Duration;

use harbor_home::clock::wall_clock;
use harbor_ipc_proto::client::envelope::put_push;
use harbor_ipc_proto::client::{
    HealthResult, Status, StatusResult, StatusUpdate, StatusView, SubscribeStatus, SubscribeStatusResult,
};
use harbor_ipc_proto::server_id::ServerId;

use super::client::Client;
use super::feed::{Feed, PendingStatus};
use super::reply::{Handled, reply};
use super::state::Router;
use crate::host::{Presence, invalid};

/// How often numbers come if a request does not say, and the bounds, in milliseconds.
const INTERVAL: u64 = 10_000;
const INTERVALS: std::ops::RangeInclusive<u64> = 500..=3_600_000;

/// The shortest time between two measurements of processes for subscribers and metrics.
pub(super) const MAX_AGE: Duration = Duration::from_secs(10);

/// How long a measurement is waited for.
pub(super) const PATIENCE: Duration = Duration::from_secs(5);

pub(super) async fn show(router: &Router, message: &Status) -> Handled {
    if message.fresh == Some(true) {
        // If the machine is too slow for it, the age shows that.
        let _ = tokio::time::timeout(PATIENCE, router.host.measure(Duration::ZERO)).await;
    }
    reply(StatusResult { status: whole(router) })
}

pub(super) async fn subscribe(
    router: &Rc<Router>,
    client: &Rc<Client>,
    message: &SubscribeStatus,
) -> Handled {
    let interval = message.interval_ms.unwrap_or(INTERVAL);
    if !INTERVALS.contains(&interval) {
        return Err(invalid("interval_ms", "500 to 3600000 milliseconds"));
    }
    let subscribed = message.subscribe != Some(false);
    let feed = subscribed.then(|| feed(router, client, Duration::from_millis(interval)));
    client.follow_status(feed);
    reply(SubscribeStatusResult { subscribed, status: whole(router) })
}

fn whole(router: &Router) -> StatusView {
    router.host.status(
        presence(router),
        router.catalog.status(),
        router.models.status(),
        router.agent.status(),
    )
}

pub(super) fn health(router: &Router) -> Handled {
    reply(HealthResult { health: router.host.health(router.clients.unread()) })
}

pub(super) fn presence(router: &Router) -> Presence {
    let clients = router.clients.all();
    Presence {
        clients: router.clients.by_kind(),
        open_requests: clients.iter().map(|client| client.open_requests() as u64).sum(),
        unread_bytes: clients.iter().map(|client| client.outbox().pending() as u64).sum(),
        held: router.clients.unread(),
        began: router.began,
    }
}

/// Tells one client from now on.
fn feed(router: &Rc<Router>, client: &Rc<Client>, interval: Duration) -> Feed {
    let news = Rc::<PendingStatus>::default();
    let follow = follow(Rc::downgrade(router), Rc::downgrade(client), news.clone(), interval);
    Feed::of(news, follow)
}

async fn follow(router: Weak<Router>, client: Weak<Client>, news: Rc<PendingStatus>, interval: Duration) {
    let mut due = tokio::time::interval(interval);
    due.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        let is_due = tokio::select! {
            () = news.wake.notified() => false,
            _ = due.tick() => true,
        };
        let Some(router) = router.upgrade() else { return };
        if is_due {
            // It must not hold up changes for ever.
            let _ = tokio::time::timeout(PATIENCE, router.host.measure(MAX_AGE)).await;
        }
        let Some(client) = client.upgrade() else { return };
        let updates = if is_due { vec![numbers(&router)] } else { changes(&router, &news) };
        for update in updates {
            let mut body = Vec::new();
            put_push(&mut body, &update);
            client.send_news(&body);
        }
    }
}

fn update(router: &Router, category: &'static str) -> StatusUpdate {
    StatusUpdate {
        category: category.into(),
        timestamp: wall_clock(),
        health: router.host.health(router.clients.unread()),
        bridge: None,
        servers: None,
        removed: None,
        catalog: None,
        stores: None,
        agent: None,
    }
}

fn numbers(router: &Router) -> StatusUpdate {
    StatusUpdate {
        bridge: Some(router.host.bridge_status(presence(router))),
        servers: Some(router.host.server_statuses()),
        catalog: Some(router.catalog.status()),
        stores: router.host.store_sizes(),
        agent: Some(router.agent.status()),
        ..update(router, "numbers")
    }
}

fn changes(router: &Router, news: &PendingStatus) -> Vec<StatusUpdate> {
    let of_server = |id: ServerId| match router.supervisor.get(&id) {
        Some(server) => {
            let servers = Some(vec![router.host.server_status(&server)]);
            StatusUpdate { servers, ..update(router, "server") }
        }
        None => StatusUpdate { removed: Some(id.to_string()), ..update(router, "server") },
    };
    let servers = news.servers.take();
    let bridge = news.bridge.take().then(|| {
        let now = Some(router.host.bridge_status(presence(router)));
        StatusUpdate { bridge: now, ..update(router, "bridge") }
    });
    let catalog = news.catalog.take().then(|| {
        let catalog = Some(router.catalog.status());
        StatusUpdate { catalog, ..update(router, "catalog") }
    });
    servers.into_iter().map(of_server).chain(bridge).chain(catalog).collect()
}
