//! The servers: who runs where, and who may be called.
//!
//! ```text
//!  Supervisor ── by id ──► Server (driver: performs what policy::lifecycle decides)
//!      │                       │
//!      └── runners: one per start of a server, or one for all where isolation is off
//! ```
//!
//! Owns the table of servers and the runners' events. Must never decide when a server starts or stops: policy
//! does; nor let a call through without a permit and a slot.

mod asks;
mod lists;
mod logs;
mod runners;
mod server;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::{Rc, Weak};
use std::time::Duration;

use harbor_child::reaper::Reaper;
use harbor_ipc_proto::server_id::ServerId;

use crate::config::Paths;
use crate::link::EndReport;
use crate::link::runner::Executable;
use crate::store::definitions::{Definitions, Stored};

pub use lists::ListKind;
pub use logs::Line;
pub use runners::Watcher;
pub use server::{NotRunning, Server, Status};

use runners::Runners;

/// All servers.
#[derive(Debug)]
pub struct Supervisor {
    servers: RefCell<BTreeMap<ServerId, Rc<Server>>>,
    /// Servers that were replaced or removed and may not be down yet.
    leaving: RefCell<BTreeMap<ServerId, Weak<Server>>>,
    runners: Rc<Runners>,
}

/// What all servers share.
#[derive(Debug)]
pub struct Shared {
    /// Where data directories are.
    pub paths: Paths,
    /// Where what is learnt is kept.
    pub definitions: Rc<Definitions>,
    /// The mark of this home's processes.
    pub instance: String,
}

/// Why a server could not be started.
#[derive(Debug, Clone)]
pub enum StartError {
    /// It was tried, and failed.
    Failed(Rc<EndReport>),
    /// Somebody stopped it meanwhile.
    Stopped,
}

impl Supervisor {
    /// The servers that are defined; none of them runs yet.
    #[must_use]
    pub fn new(
        shared: Rc<Shared>,
        executable: Executable,
        isolation: bool,
        reaper: Rc<Reaper>,
        stored: Vec<Stored>,
    ) -> Self {
        let runners = Runners::new(executable, isolation, reaper, shared);
        let servers = stored
            .into_iter()
            .map(|stored| (stored.server_id.clone(), Server::new(stored, runners.clone())))
            .collect();
        Self { servers: RefCell::new(servers), leaving: RefCell::default(), runners }
    }

    /// The server with this id.
    #[must_use]
    pub fn get(&self, id: &ServerId) -> Option<Rc<Server>> {
        self.servers.borrow().get(id).cloned()
    }

    /// All servers, by id.
    #[must_use]
    pub fn all(&self) -> Vec<Rc<Server>> {
        self.servers.borrow().values().cloned().collect()
    }

    /// Puts a server in the place of the one with its id, which is stopped and given back. The new one does not
    /// start before the old one is down: both have the same data directory.
    pub fn put(&self, stored: Stored) -> (Rc<Server>, Option<Rc<Server>>) {
        let id = stored.server_id.clone();
        let before = self.remove(&id);
        let server = Server::new(stored, self.runners.clone());
        if let Some(leaving) = self.leaving.borrow().get(&id).and_then(Weak::upgrade) {
            server.follow(leaving);
        }
        self.servers.borrow_mut().insert(id, server.clone());
        (server, before)
    }

    /// Takes a server out of the table and stops it.
    pub fn remove(&self, id: &ServerId) -> Option<Rc<Server>> {
        let server = self.servers.borrow_mut().remove(id)?;
        server.stop();
        let mut leaving = self.leaving.borrow_mut();
        leaving.retain(|_, server| server.strong_count() > 0);
        leaving.insert(id.clone(), Rc::downgrade(&server));
        Some(server)
    }

    /// Has `watcher` told of changes of resources.
    pub fn watch_resources(&self, watcher: Watcher) {
        self.runners.watch_resources(watcher);
    }

    /// Ends all servers and runners, politely until `limit`, then by force.
    pub async fn end_all(&self, limit: Duration) {
        let servers = self.all();
        self.runners.end_all(&servers, limit).await;
    }
}
