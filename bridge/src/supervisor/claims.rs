//! Claims on names of servers that somebody installs, upgrades or clears away.
//!
//! Owns that one does at a time: a claim is a guard. Must never say what its holder may do.

use std::rc::Rc;
use std::time::Duration;

use harbor_ipc_proto::server_id::ServerId;

use super::Supervisor;

/// The most repositories that are looked at, at once.
const MOST_LOOKED_AT: u32 = 16;

/// A claim on a name during an installation or upgrade. Nobody else installs or upgrades it meanwhile.
#[derive(Debug)]
pub struct Claim {
    supervisor: Rc<Supervisor>,
    id: ServerId,
}

impl Claim {
    /// The name.
    #[must_use]
    pub fn id(&self) -> &ServerId {
        &self.id
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        self.supervisor.claimed.borrow_mut().remove(&self.id);
        self.supervisor.unclaimed.notify_waiters();
    }
}

impl Supervisor {
    /// Takes a name, unless somebody has it.
    #[must_use]
    pub fn claim(self: &Rc<Self>, id: &ServerId) -> Option<Claim> {
        let is_free = self.claimed.borrow_mut().insert(id.clone());
        is_free.then(|| Claim { supervisor: self.clone(), id: id.clone() })
    }

    /// Claims a free name, for a package that is only looked at.
    pub async fn claim_any(self: &Rc<Self>) -> Option<Claim> {
        let names = (1..=MOST_LOOKED_AT).filter_map(|at| ServerId::parse(&format!("looked-at-{at}")));
        let names = names.filter(|id| self.get(id).is_none()).map(|id| (self.data_directory(&id), id));
        let names: Vec<_> = names.collect();
        let looked = tokio::task::spawn_blocking(move || {
            names
                .into_iter()
                .filter(|(directory, _)| !directory.exists())
                .map(|(_, id)| id)
                .collect::<Vec<_>>()
        });
        let free = looked.await.unwrap_or_default();
        free.into_iter().filter(|id| self.get(id).is_none()).find_map(|id| self.claim(&id))
    }

    /// True if a name is being installed or upgraded.
    #[must_use]
    pub fn is_claimed(&self, id: &ServerId) -> bool {
        self.claimed.borrow().contains(id)
    }

    /// Waits at most this long until a name is no longer being installed or upgraded. True if it is free.
    pub async fn is_unclaimed(&self, id: &ServerId, limit: Duration) -> bool {
        let until = tokio::time::Instant::now() + limit;
        while self.is_claimed(id) {
            let changed = self.unclaimed.notified();
            if tokio::time::timeout_at(until, changed).await.is_err() {
                return !self.is_claimed(id);
            }
        }
        true
    }
}
