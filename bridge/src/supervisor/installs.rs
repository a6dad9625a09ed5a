//! Packages that are tried out before they are a server's: at an installation and at an upgrade.
//!
//! ```text
//!  claim a name ─► Trial: a server of its own, nobody's yet ─► installed beside the old one ─► runs, lists its tools ─► ends
//!                    │ dropped, refused, the client leaves                                        │ kept
//!                    ▼                                                                            ▼
//!                  nothing of it is left                                        the lock names its directory: it is used
//! ```
//!
//! Owns that nothing half done is left: a trial is a guard. Must never touch the data of the server that runs meanwhile, or of
//! one that was removed: where there is any, a trial has directories of its own.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use harbor_home::files::private_directory;
use harbor_ipc_proto::server_id::ServerId;
use harbor_policy::package::Package;
use harbor_policy::package::exit_words::{asked_for_at_home, last_error};
use harbor_policy::package::older::UnfitVersion;
use harbor_policy::package::typed::source_of;
use harbor_policy::recipe::repository::Files;
use harbor_policy::sandbox::hint::{Advice, is_about, is_of_kernel, kept_file, shell};

use super::server::{NEEDS_BUILD, PLANNED, Server, StartListener, TrialOf};
use super::{Denied, StartError, Supervisor, SupervisorEvent, remove_if_empty};
use crate::link::{EndReport, ToolList};
use crate::runtimes::Runtimes;
use crate::store::StoreError;
use crate::store::copying::{CopyAllowance, copy_tree};
use crate::store::definitions::{Definition, Stored};
use crate::store::locks::{Lock, Locked};
use crate::store::packages;
use crate::store::packages::readme::readme;
use crate::store::removal::remove_tree;

/// A directory in that of a trial, for as long as the content of the server's own directories is the trial's. A killed bridge
/// leaves it, and the next bridge knows whose the content is.
const IN_ITS_PLACE: &str = "in-its-place";

/// The most repositories that are looked at, at once.
const MOST_LOOKED_AT: u32 = 16;

/// How long a server that is tried without the network is waited for. One that hangs there wants the network.
const WITHOUT_NETWORK: Duration = Duration::from_secs(10);

/// How long a package that nobody uses waits for the next try.
const KEPT: Duration = Duration::from_secs(600);

/// Packages that are installed, whole and nobody's: their server lacked something that only its person can give.
pub(super) type KeptPackages = RefCell<BTreeMap<ServerId, KeptPackage>>;

/// One of these packages.
#[derive(Debug, Clone)]
pub(super) struct KeptPackage {
    lock: Rc<Lock>,
    /// The variables that its installer was given: with others it may have made something else of the same files.
    install_env: BTreeMap<String, String>,
}

/// A claim on a name that somebody installs or upgrades: nobody else does meanwhile.
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

/// A package that is tried out. Dropping the trial removes all that was not kept.
#[derive(Debug)]
pub struct Trial {
    supervisor: Rc<Supervisor>,
    server: Rc<Server>,
    claim: Option<Claim>,
}

/// The result of looking for versions.
#[derive(Debug, Clone)]
pub enum VersionPlan {
    /// All versions.
    Locked(Rc<Lock>),
    /// Code of the package would have to run for that.
    NeedsBuild {
        /// For a repository, the commit that would be built.
        commit: Option<String>,
    },
}

/// An installation that was tried out and is kept: its directory is whole.
#[derive(Debug, Clone)]
pub struct Installed {
    /// Its version.
    pub lock: Rc<Lock>,
    /// The tools that it has listed; none where it could not.
    pub tools: Option<Rc<ToolList>>,
}

impl Supervisor {
    /// Takes a name, unless somebody has it.
    #[must_use]
    pub fn claim(self: &Rc<Self>, id: &ServerId) -> Option<Claim> {
        let is_free = self.claimed.borrow_mut().insert(id.clone());
        is_free.then(|| Claim { supervisor: self.clone(), id: id.clone() })
    }

    /// Takes a name that nobody has or uses, for something that is only looked at.
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

    /// Waits until nobody installs or upgrades a name, at most this long. True if nobody does.
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

    /// Tells the tools that a package, which is used now, listed when it was tried out.
    pub fn tell_tools(&self, id: &ServerId, tools: &Rc<ToolList>) {
        if let Some(server) = self.get(id) {
            server.knows(tools.clone());
        }
        self.runners.tell(&SupervisorEvent::Tools(id, tools));
    }

    /// This machine's programs.
    #[must_use]
    pub fn runtimes(&self) -> Arc<Runtimes> {
        self.runners.shared.runtimes.clone()
    }

    /// Begins to try out a package; or an image or a server elsewhere, which have none.
    #[must_use]
    pub fn try_out(self: &Rc<Self>, claim: Claim, definition: Definition, of: TrialOf) -> Trial {
        let is_known = self.get(&claim.id).is_some();
        let in_its_place = !is_known && !self.data_directory(&claim.id).exists();
        let kept = self.kept.borrow().get(&claim.id).cloned();
        let kept = kept.filter(|kept| kept.install_env == definition.install_env).map(|kept| kept.lock);
        let of = TrialOf { in_its_place, kept, ..of };
        let stored = Stored { server_id: claim.id.clone(), definition, era: None };
        let server = Server::on_trial(stored, self.runners.clone(), of);
        Trial { supervisor: self.clone(), server, claim: Some(claim) }
    }

    /// The profile that would hold a server of this definition.
    ///
    /// # Errors
    /// Why it would not be started.
    pub async fn would_be_confined(
        &self,
        id: &ServerId,
        definition: &Definition,
    ) -> Result<super::Confined, String> {
        let stored = Stored { server_id: id.clone(), definition: definition.clone(), era: None };
        Server::new(self.look(stored).await, self.runners.clone()).would_be_confined().await
    }

    /// The directory of the servers' own directories.
    #[must_use]
    pub fn directory(&self) -> PathBuf {
        self.runners.shared.paths.servers()
    }

    /// The directory where a server of this name keeps its data.
    #[must_use]
    pub fn data_directory(&self, id: &ServerId) -> PathBuf {
        self.runners.shared.paths.server_data(id.as_str())
    }

    /// The versions of its package that a server has.
    #[must_use]
    pub fn locked(&self, id: &ServerId) -> Option<Locked> {
        self.runners.shared.locks.get(id)
    }

    /// Why it is no longer known which version of its package a server has, where that was lost.
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

    async fn keep_only(&self, id: &ServerId, places: Vec<u32>) {
        let package = self.runners.shared.paths.server_package(id.as_str());
        let _ = tokio::task::spawn_blocking(move || packages::keep_only(&package, &places)).await;
    }

    /// Removes the remains of a trial: its own directories, and the package that is nobody's.
    async fn clean(&self, id: &ServerId) {
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
    async fn note_trial(&self, id: &ServerId) {
        let mark = self.runners.shared.paths.server_trial(id.as_str()).join(IN_ITS_PLACE);
        // Where none can be made, no directory for the server can be made either, and that is said.
        let _ = tokio::task::spawn_blocking(move || private_directory(&mark)).await;
    }

    /// Removes a trial's files from the server's own directories: they are not the server's. Then the directories are nobody's
    /// again.
    async fn forget_trial(&self, id: &ServerId) {
        let place = self.runners.shared.paths.server(id.as_str());
        let _turn = self.runners.shared.leftovers.turn(id, || ()).await;
        let _ = tokio::task::spawn_blocking(move || remove_written(&place)).await;
    }

    /// Removes what a killed installation or upgrade has left. To be called before any server starts. Gives the names that have
    /// no server.
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

/// How much of a home is copied for a trial.
const OF_A_HOME: CopyAllowance = CopyAllowance { entries: 10_000, bytes: 256 << 20 };

/// Copies a home for a trial, once.
async fn copy_data(from: PathBuf, to: PathBuf) -> Result<(), StartError> {
    let copied = tokio::task::spawn_blocking(move || match from.is_dir() && !to.exists() {
        true => copy_tree(&from, &to, &mut { OF_A_HOME }),
        false => Ok(true),
    });
    let why = match copied.await {
        Ok(Ok(true)) => return Ok(()),
        Ok(Ok(false)) => "it is too large to be tried out with".to_owned(),
        Ok(Err(error)) => error.to_string(),
        Err(error) => error.to_string(),
    };
    let message = format!(
        "its data could not be copied for the first start: {why}; without --keep-data it starts empty"
    );
    Err(StartError::Failed(Rc::new(EndReport::because("spawn_failed", message))))
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

impl Trial {
    /// Finds out the versions.
    ///
    /// # Errors
    /// Why they cannot be found out.
    pub async fn plan(&self, note: Option<StartListener>) -> Result<VersionPlan, StartError> {
        match self.server.start(note).await {
            Err(StartError::Failed(report)) if report.cause == PLANNED => {
                self.server.lock().map(VersionPlan::Locked).ok_or(StartError::Failed(report))
            }
            Err(StartError::Failed(report)) if report.cause == NEEDS_BUILD => {
                Ok(VersionPlan::NeedsBuild { commit: self.server.commit() })
            }
            Err(error) => Err(error),
            Ok(()) => Err(StartError::Stopped),
        }
    }

    /// Fetches its repository, and gives the commit and the files that say how its server is had.
    ///
    /// # Errors
    /// Why it cannot be fetched or read.
    pub async fn look(&self, note: Option<StartListener>) -> Result<(String, Rc<Files>), StartError> {
        match self.server.start(note).await {
            Err(StartError::Failed(report)) if report.cause == PLANNED => {
                let found = self.server.commit().zip(self.server.files());
                found.ok_or(StartError::Failed(report))
            }
            Err(error) => Err(error),
            Ok(()) => Err(StartError::Stopped),
        }
    }

    /// Finds an image, and pins it.
    ///
    /// # Errors
    /// Why it cannot be found.
    pub async fn pin(&self, note: Option<StartListener>) -> Result<(), StartError> {
        match self.server.start(note).await {
            Err(StartError::Failed(report)) if report.cause == PLANNED => Ok(()),
            Err(error) => Err(error),
            Ok(()) => Err(StartError::Stopped),
        }
    }

    /// True if it is installed, whatever became of its start.
    #[must_use]
    pub fn is_installed(&self, why: &StartError) -> bool {
        matches!(why, StartError::Failed(report) if !["install_failed", NEEDS_BUILD].contains(&report.cause))
            && self.server.lock().is_some()
    }

    /// Its version, once that is known.
    #[must_use]
    pub fn lock(&self) -> Option<Rc<Lock>> {
        self.server.lock()
    }

    /// The newest version of its package, where only an older one fits.
    #[must_use]
    pub fn unfit(&self) -> UnfitVersion {
        self.server.unfit()
    }

    /// Its package, as it was asked for.
    #[must_use]
    pub fn package(&self) -> Option<&Package> {
        self.server.wanted()
    }

    /// Its package's words about itself, where it is installed.
    pub async fn readme(&self) -> Option<String> {
        let (package, dir) = (self.package()?.clone(), self.server.package_dir());
        tokio::task::spawn_blocking(move || readme(&package, &dir)).await.ok().flatten()
    }

    /// The advice where its server did not find a file of the person's that is kept from it. `named`: names of its variables.
    pub async fn without_kept_file(&self, said: &str, named: &[String]) -> Option<String> {
        let kept = kept_file(said).filter(|kept| !named.iter().any(|name| name == kept.variable))?;
        let home = self.server.keeps_from_it(kept.file).await?;
        Some(kept.advice(&home, self.server.id().as_str(), &source_of(self.package()?)))
    }

    /// The advice where its server speaks of a file in its home that is not there.
    #[must_use]
    pub fn home_to_fill(&self, said: &str) -> Option<String> {
        let id = self.server.id();
        let file = asked_for_at_home(said, &self.server.home())?;
        let place = self.supervisor.data_directory(id).join(file);
        let (place, source) = (shell(&place.to_string_lossy()), source_of(self.package()?));
        Some(format!(
            "it may want a file in its home that only you have: put it at {place}, and `harbor install {source} --keep-data` tries \
             it with that"
        ))
    }

    /// The advice where one of these places, which a variable of its server names, is here and closed to it.
    pub async fn closed(&self, places: Vec<String>) -> Option<String> {
        let (place, opens) = self.server.closed_to_it(places).await?;
        Some(match opens {
            Ok(option) => format!(
                "its sandbox keeps {place} from it; add `{option}` to open it, or `--write` in place of `--read` if it is to change \
                 something there"
            ),
            Err(never) => format!("its sandbox keeps {place} from it: {never}"),
        })
    }

    /// A refusal of its sandbox that may be why it does not run, and what allows it. It is known from the kernel, or else from
    /// the server's own words. True if it is known from the kernel.
    #[must_use]
    pub fn refused(&self, said: &str) -> Option<(String, bool)> {
        let all = self.server.denied();
        let of_kernel = all.iter().find(|denied| is_of_kernel(&denied.path));
        let error = last_error(said);
        let spoken_of = || all.iter().find(|denied| is_about(&error, &denied.path));
        let Denied { path, advice, .. } = of_kernel.or_else(spoken_of)?;
        let told = match advice {
            Ok(Advice { option, mind: None, .. }) => {
                format!("its sandbox refused {path}; add `{option}` to allow it")
            }
            Ok(Advice { option, mind: Some(mind), .. }) => {
                format!("its sandbox refused {path}; add `{option}` to allow it ({mind})")
            }
            Err(never) => format!("its sandbox refused {path}: {never}"),
        };
        Some((told, of_kernel.is_some()))
    }

    /// True if it is started with nothing of the person's.
    #[must_use]
    pub fn is_alone(&self) -> bool {
        self.server.is_alone()
    }

    /// Keeps the installed package for a while, although nothing came of it. The next try of the same version starts it at once,
    /// unless its installer is to get other variables.
    pub fn keep_package(&self) {
        let (Some(lock), Some(claim)) = (self.server.lock(), &self.claim) else { return };
        let (id, supervisor) = (claim.id.clone(), Rc::downgrade(&self.supervisor));
        let install_env = self.server.definition().install_env.clone();
        let kept = KeptPackage { lock: lock.clone(), install_env };
        self.supervisor.kept.borrow_mut().insert(id.clone(), kept);
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

    /// Starts it from now on with all that its definition gives it.
    pub fn trust(&self) {
        self.server.is_trusted();
    }

    /// Installs it, starts it, has it list its tools, and ends it. A second time it is only started.
    ///
    /// # Errors
    /// Why it does not run.
    pub async fn run(&self, note: Option<StartListener>) -> Result<Installed, StartError> {
        let tools = self.run_once(note).await?;
        let lock = self.server.lock().ok_or(StartError::Stopped)?;
        Ok(Installed { lock, tools })
    }

    /// Runs something that has no versions: an image, a server elsewhere. Gives its tools, if they could be listed.
    ///
    /// # Errors
    /// Why it does not run.
    pub async fn run_once(&self, note: Option<StartListener>) -> Result<Option<Rc<ToolList>>, StartError> {
        self.run_within(note, Duration::MAX).await
    }

    /// True if it also starts without a network, and lists tools there. Whatever is tried from then on has no network.
    pub async fn runs_without_network(&self, note: Option<StartListener>) -> bool {
        self.server.is_cut_off();
        let ran = self.run_within(note, WITHOUT_NETWORK).await;
        ran.is_ok_and(|tools| tools.is_some_and(|tools| tools.iter().next().is_some()))
    }

    async fn run_within(
        &self,
        note: Option<StartListener>,
        limit: Duration,
    ) -> Result<Option<Rc<ToolList>>, StartError> {
        let own = self.claim.as_ref().filter(|_| self.server.is_in_its_place());
        if let Some(claim) = own {
            self.supervisor.note_trial(&claim.id).await;
        }
        if let Some((from, to)) = self.server.data_to_copy() {
            copy_data(from, to).await?;
        }
        let started = tokio::time::timeout(limit, self.server.start(note)).await;
        let tools = self.server.tools();
        self.server.stop();
        self.server.down().await;
        if let Some(claim) = own {
            self.supervisor.forget_trial(&claim.id).await;
        }
        started.unwrap_or(Err(StartError::Stopped)).map(|()| tools)
    }
}

impl Drop for Trial {
    /// The name is free again once nothing of it is left.
    fn drop(&mut self) {
        let (supervisor, server, claim) = (self.supervisor.clone(), self.server.clone(), self.claim.take());
        server.stop();
        tokio::task::spawn_local(async move {
            server.down().await;
            if let Some(claim) = claim {
                supervisor.clean(&claim.id).await;
            }
        });
    }
}
