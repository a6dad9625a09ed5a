//! The files of packages: the versions of a server, the files of a trial, and files without a server.
//!
//! Owns that nothing half done is left. Must never touch the data of a server that runs, or of one that was removed.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::rc::Rc;
use std::time::Duration;

use harbor_home::files::private_directory;
use harbor_ipc_proto::server_id::ServerId;

use super::kept_packages::KeptPackage;
use super::{Supervisor, remove_if_empty};
use crate::store::StoreError;
use crate::store::locks::{Lock, Locked};
use crate::store::packages;
use crate::store::removal::remove_tree;

/// A directory in that of a trial, for as long as the content of the server's own directories is the trial's. A killed bridge
/// leaves it, and the next bridge knows whose the content is.
const IN_ITS_PLACE: &str = "in-its-place";

/// How long an unused package is kept for the next try.
const KEPT: Duration = Duration::from_secs(600);

impl Supervisor {
    /// The versions of its package that a server has.
    #[must_use]
    pub fn locked(&self, id: &ServerId) -> Option<Locked> {
        self.runners.shared.locks.get(id)
    }

    /// The reason why the locked version of a server's package is unknown, if it is.
    #[must_use]
    pub fn lost_lock(&self, id: &ServerId) -> Option<String> {
        self.runners.shared.locks.lost(id)
    }

    /// Makes a server use this from now on; any other installation goes from the disk.
    ///
    /// # Errors
    /// When the database refuses: then it is as before.
    pub async fn lock(&self, id: &ServerId, locked: Locked) -> Result<(), StoreError> {
        let places = locked.places();
        self.runners.shared.locks.put(id, locked).await?;
        self.kept.borrow_mut().remove(id);
        self.keep_only(id, places).await;
        Ok(())
    }

    /// Keeps an installed package for a while, although nothing came of it. The next try of the same version starts it at once,
    /// unless its installer is to get other variables.
    pub(crate) fn keep_package(
        self: &Rc<Self>,
        id: &ServerId,
        lock: Rc<Lock>,
        install_env: BTreeMap<String, String>,
    ) {
        let (id, supervisor) = (id.clone(), Rc::downgrade(self));
        let kept = KeptPackage { lock: lock.clone(), install_env };
        self.kept.borrow_mut().insert(id.clone(), kept);
        tokio::task::spawn_local(async move {
            tokio::time::sleep(KEPT).await;
            let Some(supervisor) = supervisor.upgrade() else { return };
            let is_same = supervisor.kept.borrow().get(&id).is_some_and(|kept| Rc::ptr_eq(&kept.lock, &lock));
            if !is_same {
                return;
            }
            supervisor.kept.borrow_mut().remove(&id);
            // Another try that holds the name cleans up, or uses it.
            if let Some(claim) = supervisor.claim(&id) {
                supervisor.clean(&id).await;
                drop(claim);
            }
        });
    }

    /// The kept package of a name, if its installer was given these variables.
    pub(super) fn kept_package(
        &self,
        id: &ServerId,
        install_env: &BTreeMap<String, String>,
    ) -> Option<Rc<Lock>> {
        let kept = self.kept.borrow();
        kept.get(id).filter(|kept| kept.install_env == *install_env).map(|kept| kept.lock.clone())
    }

    async fn keep_only(&self, id: &ServerId, places: Vec<u32>) {
        let package = self.runners.shared.paths.server_package(id.as_str());
        let _ = tokio::task::spawn_blocking(move || packages::keep_only(&package, &places)).await;
    }

    /// Removes the remains of a trial: its own directories, and the package without a server.
    pub(crate) async fn clean(&self, id: &ServerId) {
        let shared = &self.runners.shared;
        let trial = shared.paths.server_trial(id.as_str());
        let place = shared.paths.server(id.as_str());
        let _turn = shared.leftovers.turn(id, || ()).await;
        let is_nobodys = !self.servers.borrow().contains_key(id);
        let removal = move || {
            if is_nobodys {
                remove_written(&place);
            }
            (remove_tree(&trial), remove_tree(&place.join("installer")))
        };
        let _ = tokio::task::spawn_blocking(removal).await;
        // Where the lock is lost, the package may be all that says which version it was.
        if shared.locks.lost(id).is_none() {
            let mut places = shared.locks.get(id).map(|locked| locked.places()).unwrap_or_default();
            places.extend(self.kept.borrow().get(id).map(|kept| kept.lock.place));
            self.keep_only(id, places).await;
        }
        if !self.servers.borrow().contains_key(id) {
            shared.logs.forget(id);
            let image = shared.paths.server_image(id.as_str());
            let _ = tokio::task::spawn_blocking(move || remove_tree(&image)).await;
            let paths = &shared.paths;
            remove_if_empty(vec![paths.server_package(id.as_str()), paths.server(id.as_str())]).await;
        }
    }

    /// Notes that the content of the server's own directories is a trial's from now on.
    pub(crate) async fn note_trial(&self, id: &ServerId) {
        let mark = self.runners.shared.paths.server_trial(id.as_str()).join(IN_ITS_PLACE);
        // Where none can be made, no directory for the server can be made either, and that is said.
        let _ = tokio::task::spawn_blocking(move || private_directory(&mark)).await;
    }

    /// Removes a trial's files from the server's own directories: they do not belong to the server. Then no
    /// server has the directories.
    pub(crate) async fn forget_trial(&self, id: &ServerId) {
        let place = self.runners.shared.paths.server(id.as_str());
        let _turn = self.runners.shared.leftovers.turn(id, || ()).await;
        let _ = tokio::task::spawn_blocking(move || remove_written(&place)).await;
    }

    /// Removes the remains of killed installations and upgrades. Call it before any server starts. Returns
    /// the names without a server.
    pub(super) async fn remove_halves(&self) -> Vec<ServerId> {
        let directory = self.runners.shared.paths.servers();
        let names = tokio::task::spawn_blocking(move || names(&directory)).await.unwrap_or_default();
        let locks = &self.runners.shared.locks;
        let mut without = Vec::new();
        for id in names.into_iter().chain(locks.ids()).collect::<BTreeSet<_>>() {
            if !self.servers.borrow().contains_key(&id) {
                // If it has one, it was removed, and that could not end.
                if let Err(error) = locks.remove(&id).await {
                    tracing::warn!(server = %id, %error, "the lock of a removed server stays");
                }
            }
            self.clean(&id).await;
            if !self.servers.borrow().contains_key(&id) {
                without.push(id);
            }
        }
        without
    }
}

/// Removes a trial's files from a server's own directories, if they hold any. The mark goes last.
fn remove_written(place: &Path) {
    let mark = place.join("trial").join(IN_ITS_PLACE);
    if mark.exists() && ["data", "tmp"].iter().all(|name| remove_tree(&place.join(name)).is_ok()) {
        let _ = remove_tree(&mark);
    }
}

fn names(directory: &Path) -> Vec<ServerId> {
    let entries = directory.read_dir().into_iter().flatten().flatten();
    entries.filter_map(|entry| ServerId::parse(entry.file_name().to_str()?)).collect()
}
