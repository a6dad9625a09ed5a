//! The clients that are connected.
//!
//! Owns the list, so that clients can be counted, told of changes, and told that the bridge ends. Owns also how much may
//! wait for all of them together. Must never keep one alive: its connection does.

use std::cell::RefCell;
use std::rc::{Rc, Weak};

use harbor_child::memory;
use harbor_ipc_proto::client::ClientCounts;
use harbor_policy::access::Principal;
use harbor_policy::backlog::{Backlog, most_waiting, too_much};
use tokio::sync::Notify;

use super::client::Client;

/// With fewer bytes waiting for its client, an answer is no reason to look at all clients.
const MUCH: usize = 1024 * 1024;

/// All clients whose role is known.
#[derive(Debug)]
pub struct Clients {
    all: RefCell<Vec<Weak<Client>>>,
    /// Set off when a client comes or goes.
    pub changed: Notify,
    /// The most that may wait for all of them, in bytes.
    most: usize,
}

impl Default for Clients {
    fn default() -> Self {
        let most = most_waiting(memory::of_machine());
        Self { all: RefCell::default(), changed: Notify::new(), most }
    }
}

impl Clients {
    /// The waiting bytes in memory, and the most that may be there.
    pub(super) fn unread(&self) -> (u64, u64) {
        let held = self.all().iter().map(|client| client.outbox().held() as u64).sum();
        (held, self.most as u64)
    }

    pub(super) fn add(&self, client: &Rc<Client>) {
        let mut all = self.all.borrow_mut();
        all.retain(|client| client.strong_count() > 0);
        all.push(Rc::downgrade(client));
        drop(all);
        // Whoever waits for the bridge to be idle has to wait anew.
        self.changed.notify_waiters();
    }

    /// How many clients there are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.all.borrow().iter().filter(|client| client.strong_count() > 0).count()
    }

    /// All clients.
    #[must_use]
    pub fn all(&self) -> Vec<Rc<Client>> {
        self.all.borrow().iter().filter_map(Weak::upgrade).collect()
    }

    /// Relieves the memory after something was sent to `client`. If too much waits for all clients together,
    /// those that do not read are cut off, even though each alone may be within its limit.
    pub(super) fn relieve(&self, client: &Client) {
        if client.outbox().held() < MUCH {
            return;
        }
        let mut all = self.all();
        all.retain(|client| !client.outbox().is_closed());
        let backlog = |client: &Rc<Client>| {
            let outbox = client.outbox();
            Backlog { waiting: outbox.held(), stuck_for: outbox.stuck_for() }
        };
        for at in too_much(&all.iter().map(backlog).collect::<Vec<_>>(), self.most) {
            tracing::warn!(client = ?all[at].principal(), "disconnected: the client does not read, and too many bytes wait for it");
            all[at].outbox().cut();
        }
    }

    /// How many clients of each kind there are.
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
}
