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
mod claims;
mod engines;
mod errand_runners;
mod facts;
mod for_installation;
mod installed_file;
mod kept_packages;
mod leftovers;
mod lists;
mod logs;
mod meter;
mod metering;
mod package_files;
mod place;
mod renewals;
mod runners;
mod server;
mod shared;
mod start_error;
mod supervisor_events;
mod writing;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

use harbor_child::reaper::Reaper;
use harbor_home::clock::wall_clock;
use harbor_ipc_proto::link::sandbox::Offer;
use harbor_ipc_proto::server_id::ServerId;
use harbor_policy::limits;
use tokio::sync::{Notify, Semaphore};

use crate::link::runner::Executables;
use crate::store::definitions::{Definition, Stored};
use crate::store::removal::remove_tree;
use crate::store::secrets::Secrets;
use crate::store::{StoreError, beginning_with, free_name};

pub use claims::Claim;
pub use leftovers::Leftovers;
pub use lists::{Fetched, ListKind};
pub use logs::{Line, MAX_LINES, Source};
pub use meter::{ProcessUsage, Stores, UsageMeasurement};
pub(crate) use server::PLANNED;
pub use server::{
    AuthorizationRequest, Confined, Denied, EngineOf, InUse, KEY_FILE, NEEDS_BUILD, NoInstance, PERSON,
    RemarkedOutcome, Server, ServerOnDisk, ServerSnapshot, StartListener, TrialOf, UnansweredReason,
    Unavailable, User,
};
pub use shared::SupervisorParts;
pub use start_error::StartError;
pub use supervisor_events::{StateChange, SupervisorEvent, SupervisorEventListener};

use kept_packages::KeptPackages;
use meter::Meter;
use runners::Runners;
use writing::Writing;

/// All servers.
#[derive(Debug)]
pub struct Supervisor {
    servers: RefCell<BTreeMap<ServerId, Rc<Server>>>,
    /// Servers that were replaced or removed and may not be down yet.
    leaving: RefCell<Vec<Rc<Server>>>,
    /// Names of servers that are being installed or upgraded.
    claimed: RefCell<BTreeSet<ServerId>>,
    unclaimed: Notify,
    /// Packages that were installed in vain and may be tried again soon.
    kept: KeptPackages,
    /// Limits how many servers start at once if no call asked for the start.
    start_places: Rc<Semaphore>,
    writing: Writing,
    runners: Rc<Runners>,
    meter: Meter,
}

/// How long the bridge's end waits for logins that are being renewed.
const RENEWAL: Duration = Duration::from_secs(4);

/// The part between the name and the time in the name of an abandoned data directory.
const EARLIER: &str = ".earlier-";

impl Supervisor {
    /// The defined servers; none of them runs yet.
    #[must_use]
    pub fn new(
        shared: Rc<SupervisorParts>,
        executables: Executables,
        isolation: bool,
        reaper: Rc<Reaper>,
        stored: Vec<Stored>,
    ) -> Self {
        let runners = Runners::new(executables, isolation, reaper, shared);
        let servers: BTreeMap<_, _> = stored
            .into_iter()
            .map(|stored| {
                let id = stored.server_id.clone();
                (id, Server::new(ServerOnDisk::at_once(stored, &runners.shared), runners.clone()))
            })
            .collect();
        for server in servers.values() {
            server.tell_lost_package();
            server.look_for_secrets();
        }
        Self {
            servers: RefCell::new(servers),
            leaving: RefCell::default(),
            claimed: RefCell::default(),
            unclaimed: Notify::new(),
            kept: KeptPackages::default(),
            start_places: Rc::new(Semaphore::new(limits::STARTS_AT_ONCE)),
            writing: Writing::default(),
            runners,
            meter: Meter::default(),
        }
    }

    /// True if each server has a runner of its own.
    #[must_use]
    pub fn is_isolated(&self) -> bool {
        !self.runners.is_shared()
    }

    /// The sandbox features that this kernel offers; `None` until that was tried.
    #[must_use]
    pub fn offer(&self) -> Option<Offer<'static>> {
        self.runners.is_swept().then(|| self.runners.offer())
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

    /// Looks for what is on the disk of a server already, before it is put in its place.
    pub async fn look(&self, stored: Stored) -> ServerOnDisk {
        ServerOnDisk::at(stored, &self.runners.shared).await
    }

    /// Puts a server in place of the one with its id, which is stopped and returned. The new server does not
    /// start before the old one is down, since both have the same data directory.
    pub fn put(&self, looked: ServerOnDisk) -> (Rc<Server>, Option<Rc<Server>>) {
        let server = Server::new(looked, self.runners.clone());
        let id = server.id().clone();
        let before = self.remove(&id);
        let leaving = self.leaving.borrow();
        let before_it: Vec<_> = leaving.iter().filter(|leaving| *leaving.id() == id).cloned().collect();
        server.follow_instances(before_it.iter().flat_map(|before| before.all_instances()).collect());
        server.follow(before_it);
        drop(leaving);
        self.servers.borrow_mut().insert(id, server.clone());
        server.look_for_secrets();
        self.runners.tell(&SupervisorEvent::Change(&server.change(None)));
        (server, before)
    }

    /// Gives a server, and its process if it runs, another definition of its supervision. New arguments and
    /// variables hold from its next start. Everything else in `definition` must be unchanged.
    pub fn supervise(&self, id: &ServerId, definition: Definition) {
        if let Some(server) = self.get(id) {
            server.supervise(definition);
        }
    }

    /// Takes a server out of the table and stops it.
    pub fn remove(&self, id: &ServerId) -> Option<Rc<Server>> {
        let server = self.servers.borrow_mut().remove(id)?;
        let change = StateChange { now: None, ..server.change(Some(server.state())) };
        server.go();
        self.runners.tell(&SupervisorEvent::Change(&change));
        let mut leaving = self.leaving.borrow_mut();
        leaving.retain(|server| !server.is_down() || !server.all_instances().is_empty());
        leaving.push(server.clone());
        Some(server)
    }

    /// Removes what belonged to a server that is gone: its logs, its package and its temporary files; its
    /// data only if `with_data` is set. If there is a new server of that name by now, they belong to it.
    /// Returns the directory of the data that are left.
    pub async fn forget(&self, id: &ServerId, with_data: bool) -> Option<PathBuf> {
        self.all_down(id).await;
        let shared = &self.runners.shared;
        if !self.servers.borrow().contains_key(id) {
            shared.logs.forget(id);
        }
        let paths = &shared.paths;
        if !self.servers.borrow().contains_key(id)
            && let Err(error) = shared.locks.remove(id).await
        {
            tracing::warn!(server = %id, %error, "the lock of its package is still in the database");
        }
        self.clear(id, paths.server_trial(id.as_str())).await;
        self.clear(id, paths.server(id.as_str()).join("installer")).await;
        self.clear(id, paths.server_package(id.as_str())).await;
        self.clear(id, paths.server_image(id.as_str())).await;
        self.clear(id, paths.server_script(id.as_str())).await;
        self.clear(id, paths.server_module(id.as_str())).await;
        let turn = shared.leftovers.turn(id, || ()).await;
        let tmp = paths.server_tmp(id.as_str());
        self.clear(id, tmp.with_extension("older")).await;
        self.clear(id, tmp).await;
        drop(turn);
        let data = paths.server_data(id.as_str());
        let mut old = None;
        if with_data {
            let earlier = self.set_aside(id).await;
            for directory in earlier.into_iter().chain([paths.server_instances(id.as_str()), data]) {
                old = self.clear(id, directory).await.or(old);
            }
        }
        if !self.servers.borrow().contains_key(id) {
            remove_if_empty(vec![paths.server(id.as_str())]).await;
        }
        if old.is_some() { old } else { self.data_left(id).await }
    }

    /// The directory of the module that Harbor keeps for a server.
    #[must_use]
    pub fn module_dir(&self, id: &ServerId) -> PathBuf {
        self.runners.shared.paths.server_module(id.as_str())
    }

    /// The data directory of a server's name, if there is anything in it, or that of its instances.
    pub async fn data_left(&self, id: &ServerId) -> Option<PathBuf> {
        let paths = &self.runners.shared.paths;
        let all = [paths.server_data(id.as_str()), paths.server_instances(id.as_str())];
        let looked = tokio::task::spawn_blocking(move || all.into_iter().find(|one| holds_something(one)));
        looked.await.ok().flatten()
    }

    /// Moves the data directory of a server's name out of the way, if there is anything in it: the next
    /// server of that name begins without it. Returns its new place.
    pub async fn set_data_aside(&self, id: &ServerId) -> Result<Option<PathBuf>, StoreError> {
        let paths = &self.runners.shared.paths;
        let all = [paths.server_instances(id.as_str()), paths.server_data(id.as_str())];
        let moved = tokio::task::spawn_blocking(move || {
            let mut last = None;
            for data in all.into_iter().filter(|data| holds_something(data)) {
                let aside = free_name(&data, EARLIER, wall_clock());
                let what = || format!("set {} aside", data.display());
                std::fs::rename(&data, &aside).map_err(|source| StoreError::File { what: what(), source })?;
                last = Some(aside);
            }
            Ok(last)
        });
        moved.await.unwrap_or(Ok(None))
    }

    /// The directories of a server's name that were set aside.
    async fn set_aside(&self, id: &ServerId) -> Vec<PathBuf> {
        let paths = &self.runners.shared.paths;
        let [data, instances] = [paths.server_data(id.as_str()), paths.server_instances(id.as_str())];
        let look = move || [beginning_with(&data, EARLIER), beginning_with(&instances, EARLIER)].concat();
        tokio::task::spawn_blocking(look).await.unwrap_or_default()
    }

    /// True if there is a data directory of a server's name, even an empty one, or remains that a removal could not remove.
    pub async fn has_data_directory(&self, id: &ServerId) -> bool {
        let paths = &self.runners.shared.paths;
        let all = [paths.server_data(id.as_str()), paths.server_instances(id.as_str())];
        let is_there = |path: PathBuf| match path.symlink_metadata() {
            Ok(_) => true,
            Err(error) => error.kind() != std::io::ErrorKind::NotFound,
        };
        let looked = tokio::task::spawn_blocking(move || {
            all.into_iter().any(|data| {
                is_there(data.with_extension("old"))
                    || !beginning_with(&data, EARLIER).is_empty()
                    || is_there(data)
            })
        });
        looked.await.unwrap_or(false)
    }

    /// Checks that all paths that a definition grants may be granted, at whatever level.
    ///
    /// # Errors
    /// The path that may not be granted, and why.
    pub async fn may_be_granted(&self, id: &ServerId, definition: &Definition) -> Result<(), String> {
        let stored = Stored { server_id: id.clone(), definition: definition.clone(), era: None };
        Server::new(self.look(stored).await, self.runners.clone()).may_be_granted().await
    }

    /// Waits until no earlier server of this name runs any more.
    async fn all_down(&self, id: &ServerId) {
        let leaving: Vec<_> =
            self.leaving.borrow().iter().filter(|leaving| leaving.id() == id).cloned().collect();
        for server in leaving {
            server.down().await;
            for instance in server.all_instances() {
                instance.down().await;
            }
        }
    }

    /// Removes a directory of a server, unless a new server has that name. Returns its present place if it
    /// could not be removed.
    async fn clear(&self, id: &ServerId, directory: PathBuf) -> Option<PathBuf> {
        let old = directory.with_extension("old");
        // What an earlier removal left there may be in the way.
        for _ in 0..2 {
            if self.servers.borrow().contains_key(id) {
                return None;
            }
            // Out of the way at once: a server that is added while the files go must not find half of them. One that is added
            // from here on is stored first, and that takes longer than this.
            let (from, gone) = (directory.clone(), old.clone());
            let done =
                tokio::task::spawn_blocking(move || (std::fs::rename(&from, &gone), remove_tree(&gone)))
                    .await;
            match done {
                Ok((_, Err(error))) => {
                    tracing::warn!(directory = %old.display(), %error, "it could not be removed");
                    return Some(old);
                }
                Ok((Err(error), _)) if error.kind() != std::io::ErrorKind::NotFound => {}
                _ => return None,
            }
        }
        None
    }

    /// A connection has gone: processes that only it has used end.
    pub fn client_left(&self, client: u64) {
        self.all().iter().for_each(|server| server.client_left(client));
    }

    /// Has `listener` told of what happens to servers.
    pub fn listen(&self, listener: SupervisorEventListener) {
        self.runners.listen(listener);
    }

    /// Ends what an earlier bridge left behind, then starts the servers that start with the bridge, a few at once.
    pub async fn begin(self: Rc<Self>) {
        let starts = |server: &Rc<Server>| server.settings().auto_start && self.read_only_home().is_none();
        let all: Vec<_> = self.all().into_iter().filter(starts).collect();
        all.iter().for_each(|server| server.expect_start());
        self.note_written().await;
        self.runners.end_leftovers().await;
        let removed = self.remove_halves().await;
        tokio::task::spawn_local(self.clone().finish_removals(removed));
        self.runners.find_offer().await;
        self.clear_containers();
        for server in all {
            let places = self.start_places.clone();
            tokio::task::spawn_local(async move {
                let Ok(_place) = places.acquire().await else { return };
                server.start_in_turn().await;
            });
        }
    }

    /// The directory of everything.
    #[must_use]
    pub fn home(&self) -> &Path {
        self.runners.shared.paths.home()
    }

    /// The directory of everything, where it cannot be written to.
    #[must_use]
    pub fn read_only_home(&self) -> Option<&Path> {
        self.runners.shared.paths.read_only()
    }

    /// The servers whose renewed login the disk has not taken yet.
    #[must_use]
    pub fn unstored_logins(&self) -> Vec<String> {
        self.runners.renewals.all_unstored().iter().map(ToString::to_string).collect()
    }

    /// Starts a server in turn, a few at once, as at the bridge's start. Many servers that start together are so slow
    /// that they fail. A server that is already starting needs no turn. The server starts even if the caller leaves.
    ///
    /// # Errors
    /// Why it does not run.
    pub async fn start_paced(
        &self,
        server: &Rc<Server>,
        note: Option<StartListener>,
    ) -> Result<(), StartError> {
        if server.is_up() {
            return server.start(note).await;
        }
        server.expect_start();
        if let Some(note) = note.as_ref().filter(|_| self.start_places.available_permits() == 0) {
            note("waits for others that are starting");
        }
        let (server, places) = (server.clone(), self.start_places.clone());
        let started = tokio::task::spawn_local(async move {
            let _place = tokio::select! {
                place = places.acquire() => place.ok(),
                () = server.not_expected() => None,
            };
            match server.has_turn() {
                true => server.start(note).await,
                false => Err(StartError::Stopped),
            }
        });
        started.await.unwrap_or(Err(StartError::Stopped))
    }

    /// Finishes removals of these servers that the bridge's end has interrupted. Nobody waits for that.
    async fn finish_removals(self: Rc<Self>, ids: Vec<ServerId>) {
        for id in ids {
            // Who installs something of that name already has the directories.
            let Some(_claim) = self.claim(&id) else { continue };
            // Its data only if that was wanted.
            let paths = &self.runners.shared.paths;
            for data in [paths.server_data(id.as_str()), paths.server_instances(id.as_str())] {
                self.clear(&id, data.with_extension("old")).await;
            }
            self.forget(&id, false).await;
        }
    }

    /// Waits until nothing of an earlier bridge is left.
    pub async fn swept(&self) {
        self.runners.swept().await;
    }

    /// Looks at once for containers that an earlier bridge left, even of servers that are not started.
    fn clear_containers(&self) {
        let few = Rc::new(Semaphore::new(limits::STARTS_AT_ONCE));
        for server in self.all().into_iter().filter(|server| server.has_image()) {
            let few = few.clone();
            tokio::task::spawn_local(async move {
                let Ok(_turn) = few.acquire().await else { return };
                server.clear_behind().await;
            });
        }
    }

    /// Notes where servers may write by their definitions, before any of them starts again.
    async fn note_written(&self) {
        let servers = self.all();
        let granted =
            servers.iter().flat_map(|server| server.definition().sandbox.write.clone().unwrap_or_default());
        let granted: Vec<_> = granted.collect();
        let settled =
            tokio::task::spawn_blocking(move || facts::settled_all(&granted)).await.unwrap_or_default();
        if let Err(error) = self.runners.shared.written.note(&settled).await {
            tracing::warn!(%error, "where servers may write could not be noted; it will be when they start");
        }
    }

    /// The secrets of all servers.
    #[must_use]
    pub fn secrets(&self) -> &Secrets {
        &self.runners.shared.secrets
    }

    /// Starts the servers whose secrets were locked.
    pub fn start_barred(&self) {
        self.all().iter().for_each(Server::unbar);
    }

    /// Ends all servers and runners, politely until `limit`, then by force.
    pub async fn end_all(&self, limit: Duration) {
        self.runners.begin_ending();
        for server in self.all() {
            server.stop();
        }
        self.runners.renewals.settled(RENEWAL).await;
        self.runners.store_logins().await;
        self.runners.end_all(limit).await;
    }
}

/// Removes directories in which nothing is any more.
async fn remove_if_empty(directories: Vec<PathBuf>) {
    let remove = move || directories.iter().for_each(|directory| drop(std::fs::remove_dir(directory)));
    let _ = tokio::task::spawn_blocking(remove).await;
}

/// True if a directory holds something, or cannot be read.
fn holds_something(directory: &Path) -> bool {
    match directory.read_dir() {
        Ok(mut entries) => entries.next().is_some(),
        Err(error) => error.kind() != std::io::ErrorKind::NotFound,
    }
}
