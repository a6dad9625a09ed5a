//! Who is connected.
//!
//! Owns the list, so that clients can be counted, told what changes, and told that the bridge ends; and what may wait for
//! all of them together. Must never keep one alive: its connection does.

use std::cell::RefCell;
use std::rc::{Rc, Weak};

use harbor_ipc_proto::client::ClientCounts;
use harbor_policy::access::Principal;
use tokio::sync::Notify;

use super::client::Client;

/// What may wait for all clients together, in bytes: a few of the largest answers.
const MOST_WAITING: usize = 256 * 1024 * 1024;

/// Who lets less wait is reading, or has little to read.
const MUCH: usize = 1024 * 1024;

/// All clients whose role is known.
#[derive(Debug, Default)]
pub struct Clients {
    all: RefCell<Vec<Weak<Client>>>,
    /// Set off when one comes or goes.
    pub changed: Notify,
}

impl Clients {
    pub(super) fn add(&self, client: &Rc<Client>) {
        let mut all = self.all.borrow_mut();
        all.retain(|client| client.strong_count() > 0);
        all.push(Rc::downgrade(client));
        drop(all);
        // Whoever waits for the bridge to be idle begins anew.
        self.changed.notify_waiters();
    }

    /// How many there are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.all.borrow().iter().filter(|client| client.strong_count() > 0).count()
    }

    /// All of them.
    #[must_use]
    pub fn all(&self) -> Vec<Rc<Client>> {
        self.all.borrow().iter().filter_map(Weak::upgrade).collect()
    }

    /// Something was sent to `client`. Where too much waits for all together, whoever lets most wait is cut off: each of
    /// them alone may be within its own limit.
    pub(super) fn relieve(&self, client: &Client) {
        if client.outbox().pending() < MUCH {
            return;
        }
        let mut waiting: Vec<_> =
            self.all().into_iter().filter(|client| !client.outbox().is_closed()).collect();
        waiting.sort_by_key(|client| client.outbox().pending());
        let mut total: usize = waiting.iter().map(|client| client.outbox().pending()).sum();
        while total > MOST_WAITING
            && let Some(slowest) = waiting.pop()
        {
            total -= slowest.outbox().pending();
            tracing::warn!(client = ?slowest.principal(), "cut off: too much waits for clients that do not read");
            slowest.outbox().cut();
        }
    }

    /// How many of each kind there are.
    pub(super) fn by_kind(&self) -> ClientCounts {
        let mut counts = ClientCounts { owner: 0, extension: 0, mcp: 0 };
        for client in self.all().iter().filter(|client| !client.has_left()) {
            *match client.principal() {
                Principal::Owner => &mut counts.owner,
                Principal::Extension { .. } => &mut counts.extension,
                Principal::Client { .. } => &mut counts.mcp,
            } += 1;
        }
        counts
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[tokio::test(flavor = "local")]
    async fn who_waits_for_a_change_is_woken_by_a_client_that_comes() {
        let clients = Clients::default();
        let changed = clients.changed.notified();
        let client = Client::new(Principal::Owner);
        clients.add(&client);
        assert!(tokio::time::timeout(Duration::ZERO, changed).await.is_ok());
        assert_eq!((clients.count(), clients.by_kind().owner), (1, 1));
        drop(client);
        assert_eq!(clients.count(), 0);
    }

    #[test]
    fn whoever_lets_most_wait_is_cut_off_once_it_is_too_much_for_all() {
        let clients = Clients::default();
        let waiting = |bytes: usize| {
            let client = Client::new(Principal::Owner);
            clients.add(&client);
            client.outbox().push(|out| out.resize(bytes, 0)).unwrap();
            clients.relieve(&client);
            client
        };
        let slow: Vec<_> = [100, 110, 40].map(|mebibytes| waiting(mebibytes * MUCH)).into();
        assert!(slow.iter().all(|client| !client.outbox().is_closed()));
        let small = waiting(MUCH - 1);
        let last = waiting(60 * MUCH);
        let cut = slow.iter().chain([&small, &last]).map(|client| client.outbox().is_closed());
        assert_eq!(cut.collect::<Vec<_>>(), [false, true, false, false, false]);
    }
}
