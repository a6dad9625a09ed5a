//! The installation of a server: a package or an image, in its version.
//!
//! Owns what is known of the installation. Must never install anything itself.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use harbor_ipc_proto::server_id::ServerId;
use harbor_policy::container::Pinned;
use harbor_policy::package::Package;
use harbor_policy::package::older::UnfitVersion;
use harbor_policy::pythons::Chosen;
use harbor_policy::recipe::repository::Files;
use tokio::sync::{MutexGuard, oneshot};

use super::trial::TrialOf;
use crate::link::EndReport;
use crate::store::definitions::Definition;
use crate::store::locks::{Lock, Locks};

/// The installation of a server.
pub(in super::super) struct ServerPackage {
    wanted: Option<Package>,
    lock: RefCell<Option<Rc<Lock>>>,
    /// The number of the directory that it is being installed into.
    place: Cell<Option<u32>>,
    /// The commit that its installation has checked out, before any of its code ran.
    commit: RefCell<Option<String>>,
    /// The newest version that this machine admits and what it requires, where an older one was resolved.
    unfit: RefCell<UnfitVersion>,
    /// The Python or the Node.js of its package, if it is not the usual one.
    runtime: RefCell<Option<Chosen>>,
    /// The files in its repository that say how its server is had.
    files: RefCell<Option<Rc<Files>>>,
    /// The image that it runs, from its file, which nobody else changes. It is kept, since files are not read while calls wait.
    image: RefCell<Option<Pinned>>,
    /// The waiter for the end of the installer's run.
    run: RefCell<Option<oneshot::Sender<Rc<EndReport>>>>,
    installing: Cell<bool>,
    /// Held by whoever looks for containers that are left.
    clearing: tokio::sync::Mutex<()>,
}

impl ServerPackage {
    /// The package of a definition, or of a trial, which gets its own directory.
    pub fn new(
        definition: &Definition,
        id: &ServerId,
        locks: &Locks,
        trial: Option<&TrialOf>,
        image: Option<Pinned>,
    ) -> Self {
        let (wanted, lock) = match trial {
            Some(trial) => (trial.package.clone(), trial.planned.clone()),
            None => used(definition, id, locks),
        };
        let place = lock.as_ref().filter(|_| trial.is_none()).map(|lock| lock.place);
        Self {
            wanted,
            place: Cell::new(place),
            commit: RefCell::default(),
            unfit: RefCell::new(trial.map(|trial| trial.unfit.clone()).unwrap_or_default()),
            runtime: RefCell::new(lock.as_ref().and_then(|lock| lock.python.clone()).map(Into::into)),
            files: RefCell::default(),
            lock: RefCell::new(lock),
            image: RefCell::new(image),
            run: RefCell::default(),
            installing: Cell::default(),
            clearing: tokio::sync::Mutex::default(),
        }
    }

    /// The requested package.
    pub fn wanted(&self) -> Option<&Package> {
        self.wanted.as_ref()
    }

    /// The package in the form for its installer, with its version once that is known.
    pub fn spec(&self) -> Option<String> {
        let package = self.wanted()?;
        Some(self.lock().map_or_else(|| package.spec.clone(), |lock| lock.spec.clone()))
    }

    pub fn lock(&self) -> Option<Rc<Lock>> {
        self.lock.borrow().clone()
    }

    /// Takes this version, and returns the one before.
    pub fn set_lock(&self, lock: Rc<Lock>) -> Option<Rc<Lock>> {
        self.lock.replace(Some(lock))
    }

    pub fn place(&self) -> Option<u32> {
        self.place.get()
    }

    pub fn set_place(&self, place: u32) {
        self.place.set(Some(place));
    }

    pub fn commit(&self) -> Option<String> {
        self.commit.borrow().clone()
    }

    pub fn set_commit(&self, commit: String) {
        *self.commit.borrow_mut() = Some(commit);
    }

    pub fn files(&self) -> Option<Rc<Files>> {
        self.files.borrow().clone()
    }

    pub fn set_files(&self, files: Files) {
        *self.files.borrow_mut() = Some(Rc::new(files));
    }

    pub fn unfit(&self) -> UnfitVersion {
        self.unfit.borrow().clone()
    }

    pub fn set_unfit(&self, unfit: UnfitVersion) {
        *self.unfit.borrow_mut() = unfit;
    }

    pub fn newest(&self) -> Option<String> {
        self.unfit.borrow().newest.clone()
    }

    pub fn set_newest(&self, newest: Option<String>) {
        self.unfit.borrow_mut().newest = newest;
    }

    pub fn take_newest(&self) -> Option<String> {
        self.unfit.borrow_mut().newest.take()
    }

    pub fn set_requirement(&self, requires: Option<String>) {
        self.unfit.borrow_mut().requires = requires;
    }

    pub fn take_requirement(&self) -> Option<String> {
        self.unfit.borrow_mut().requires.take()
    }

    pub fn runtime(&self) -> Option<Chosen> {
        self.runtime.borrow().clone()
    }

    pub fn set_runtime(&self, runtime: Option<Chosen>) {
        *self.runtime.borrow_mut() = runtime;
    }

    pub fn image(&self) -> Option<Pinned> {
        self.image.borrow().clone()
    }

    pub fn set_image(&self, image: Pinned) {
        *self.image.borrow_mut() = Some(image);
    }

    /// The end of the installer's run that begins now.
    pub fn begin_run(&self) -> oneshot::Receiver<Rc<EndReport>> {
        let (sender, ended) = oneshot::channel();
        *self.run.borrow_mut() = Some(sender);
        ended
    }

    /// Takes the waiter for the end of the installer's run.
    pub fn end_run(&self) -> Option<oneshot::Sender<Rc<EndReport>>> {
        self.run.take()
    }

    pub fn is_installing(&self) -> bool {
        self.installing.get()
    }

    pub fn set_installing(&self, installing: bool) {
        self.installing.set(installing);
    }

    /// The turn to look for containers that are left.
    pub async fn clearing(&self) -> MutexGuard<'_, ()> {
        self.clearing.lock().await
    }
}

/// The package of a definition, and which version of it is used.
pub(in super::super) fn used(
    definition: &Definition,
    id: &ServerId,
    locks: &Locks,
) -> (Option<Package>, Option<Rc<Lock>>) {
    let package = definition.package();
    let locked = package.as_ref().and_then(|package| locks.of(id, package));
    (package, locked.map(|found| found.current))
}

/// A package in its locked version.
pub(in super::super) fn pinned(package: &Package, lock: &Lock) -> Package {
    Package { spec: lock.spec.clone(), ..package.clone() }
}
