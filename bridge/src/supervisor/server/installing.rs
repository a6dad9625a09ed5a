//! The installation of a server's package, before its first start.
//!
//! ```text
//!  Install ─► an empty directory ─► prepare ─► lock known? ─ no ─► resolve ─► lock ─┐
//!                                                └─ yes: it is written there ───────┴─► install ─► entry point ─► stamp,
//!                                                                                                   the lock is stored
//!  each command is a run in a runner; one that fails, or a stop ─► Ended
//! ```
//!
//! Owns the order; `resolving` finds the versions. The installer runs other people's code, so it runs where servers run: below a
//! runner, ended in the same way. But it gets nothing that its server is given (`policy::package::apart`), and has a home of its
//! own. Its output goes into the server's log and to whoever waits. A lock is installed as it is, or not at all. A plan runs no
//! code of any package, unless that was allowed.

use std::path::{Path, PathBuf};
use std::rc::Rc;

use harbor_home::clock::wall_clock;
use harbor_ipc_proto::link::runner::ToRunner;
use harbor_policy::lifecycle::{LifecycleEvent, State};
use harbor_policy::limits;
use harbor_policy::package::binary::FETCHER;
use harbor_policy::package::{Content, Ecosystem, Package, Step, git, install, must_build, prepare, pypi};

use super::Server;
use super::explaining::{Ended, failed, needs_build};
use super::parts::package::pinned;
use super::prepared::LaunchTarget;
use super::resolving::ResolutionTask;
use crate::link::EndReport;
use crate::store::locks::{Lock, Locked};
use crate::store::packages;
use crate::store::packages::lock::write_lock;
use crate::store::packages::repository::{Checkout, checkout, look, make_executable};
use crate::store::removal::remove_tree;

/// The cause of an end that only says that the versions are known.
pub(crate) const PLANNED: &str = "planned";

impl Server {
    pub(super) fn install(self: &Rc<Self>) {
        if let Some(image) = self.definition().image.clone() {
            return self.install_image(image);
        }
        let Some(package) = self.package.wanted().cloned() else {
            return self.apply(LifecycleEvent::Installed);
        };
        self.package.set_installing(true);
        let server = self.clone();
        tokio::task::spawn_local(async move {
            let installed = server.install_package(package).await;
            let root = server.installer_root();
            let _ = tokio::task::spawn_blocking(move || remove_tree(&root)).await;
            server.package.set_installing(false);
            match installed {
                Ok(()) => server.apply(LifecycleEvent::Installed),
                Err(report) => {
                    server.life.note_exit(report);
                    server.apply(LifecycleEvent::Ended);
                }
            }
        });
    }

    async fn install_package(self: &Rc<Self>, package: Package) -> Ended<()> {
        self.way_is_clear().await;
        self.version_is_known()?;
        let locked = self.lock();
        let package = locked.as_ref().map_or(package.clone(), |lock| pinned(&package, lock));
        if let Some((lock, dir)) = self.kept(&package, locked.as_ref()).await {
            return self.finish(&package, &dir, lock).await;
        }
        let dir = self.empty_directory(locked.as_deref()).await?;
        let (text, uv) = (dir.to_string_lossy().into_owned(), self.has_uv().await);
        if let Some(python) = locked.as_ref().and_then(|lock| lock.python.clone()) {
            self.runtime_is_there(&python.into()).await?;
        }
        self.run_prepare(&package, &text, uv).await?;
        if self.identity.trial().is_some_and(|trial| trial.look_only) {
            let (commit, files) = self.on_the_disk(&package, &dir, look).await?;
            self.package.set_commit(commit);
            self.package.set_files(files);
            return Err(Rc::new(EndReport::because(PLANNED, "its repository is read")));
        }
        let source = self.checkout_of(&package, &dir).await?;
        let content = source.as_ref().map(|source| source.content);
        if locked.is_none() && must_build(content) && !self.may_build() {
            return Err(needs_build());
        }
        if content == Some(Content::Python) {
            self.run_step(&pypi::environment(&text, uv, self.runtime_path().as_deref())).await?;
        }
        let lock = match locked {
            Some(lock) => {
                let tree = lock.tree.clone();
                let write = move |package: &Package, dir: &Path| write_lock(package, dir, content, &tree);
                self.on_the_disk(&package, &dir, write).await?;
                self.at_its_place(&lock)
            }
            None => {
                Rc::new(self.make_lock(ResolutionTask { package: &package, dir: &dir, uv, source }).await?)
            }
        };
        if self.identity.trial().is_some_and(|trial| trial.plan_only) {
            self.package.set_lock(lock);
            return Err(Rc::new(EndReport::because(PLANNED, "the installer has listed its versions")));
        }
        let package = pinned(&package, &lock);
        for step in install(&package, &text, uv, content, &lock.tree) {
            self.run_step(&step).await.map_err(|report| self.other_hash(&package, report))?;
        }
        self.finish(&package, &dir, lock).await
    }

    /// The package that an earlier try has installed in exactly this version, if it is whole: nothing is fetched for it.
    async fn kept(&self, package: &Package, locked: Option<&Rc<Lock>>) -> Option<(Rc<Lock>, PathBuf)> {
        let trial = self.identity.trial().filter(|trial| trial.installs())?;
        let lock = locked?;
        let kept = trial.kept.as_ref().filter(|kept| kept.is_same(lock))?;
        let parent = self.runners().shared.paths.server_package(self.id().as_str());
        let dir = parent.join(kept.place.to_string());
        let is_whole = |package: &Package, dir: &Path| Ok(packages::is_installed(package, dir));
        if !self.on_the_disk(package, &dir, is_whole).await.unwrap_or(false) {
            return None;
        }
        self.package.set_place(kept.place);
        Some((self.at_its_place(lock), dir))
    }

    pub(super) fn may_build(&self) -> bool {
        self.identity.trial().is_none_or(|trial| trial.may_build)
    }

    /// Checks that its version is known. A version other than the locked one is taken on purpose, or not at all.
    pub(super) fn version_is_known(&self) -> Ended<()> {
        let lost = self.runners().shared.locks.lost(self.id()).filter(|_| !self.identity.is_on_trial());
        let Some(why) = lost else { return Ok(()) };
        let id = self.id();
        Err(Rc::new(failed(&format!(
            "its locked version is lost ({why}); `harbor upgrade {id}` installs the newest one, and `--to` another one"
        ))))
    }

    /// Notes the directory of a planned installation, and the time of an agreed one.
    fn at_its_place(&self, lock: &Rc<Lock>) -> Rc<Lock> {
        match (self.identity.trial(), self.package.place()) {
            (Some(_), Some(place)) => {
                let python = self.package.runtime().map(Into::into);
                Rc::new(Lock { place, python, installed_at: Some(wall_clock()), ..(**lock).clone() })
            }
            (None, _) if lock.installed_at.is_none() => {
                Rc::new(Lock { installed_at: Some(wall_clock()), ..(**lock).clone() })
            }
            _ => lock.clone(),
        }
    }

    /// The directory of the lock, else a new one; nothing is in it.
    async fn empty_directory(&self, locked: Option<&Lock>) -> Ended<PathBuf> {
        let parent = self.runners().shared.paths.server_package(self.id().as_str());
        // That of a plan may be another one's by now.
        let known = locked.filter(|_| !self.identity.is_on_trial()).map(|lock| lock.place);
        let installer = self.installer_root();
        let made = tokio::task::spawn_blocking(move || {
            // What a bridge that was killed has left.
            let _ = remove_tree(&installer);
            let place = known.unwrap_or_else(|| packages::next_place(&parent));
            let dir = parent.join(place.to_string());
            packages::prepare(&dir).map(|()| (place, dir)).map_err(|error| error.to_string())
        });
        let made = made.await.unwrap_or_else(|error| Err(error.to_string()));
        let (place, dir) = made.map_err(|why| Rc::new(failed(&why)))?;
        self.package.set_place(place);
        Ok(dir)
    }

    pub(super) async fn has_uv(&self) -> bool {
        let runtimes = self.runners().shared.runtimes.clone();
        let looked = tokio::task::spawn_blocking(move || runtimes.look().get("uv").is_some());
        looked.await.unwrap_or(false)
    }

    async fn run_prepare(self: &Rc<Self>, package: &Package, dir: &str, uv: bool) -> Ended<()> {
        for (at, step) in prepare(package, dir, uv, self.runtime_path().as_deref()).into_iter().enumerate() {
            let ran = self.run_step(&step).await;
            let other_way = ran.is_err().then(|| git::fetch_all(package, dir)).flatten();
            match other_way.filter(|_| package.ecosystem == Ecosystem::Git && at == 1) {
                Some(steps) => {
                    for step in steps {
                        self.run_step(&step).await?;
                    }
                    break;
                }
                None => ran?,
            }
        }
        Ok(())
    }

    /// The commit of a repository, and its content. Nothing of it that could say otherwise has run so far.
    async fn checkout_of(&self, package: &Package, dir: &Path) -> Ended<Option<Checkout>> {
        if package.ecosystem != Ecosystem::Git {
            return Ok(None);
        }
        let found = self.on_the_disk(package, dir, checkout).await?;
        self.package.set_commit(found.commit.clone());
        Ok(Some(found))
    }

    /// The installation is whole: says so on the disk, and from now on this version is the server's.
    async fn finish(&self, package: &Package, dir: &Path, lock: Rc<Lock>) -> Ended<()> {
        self.on_the_disk(package, dir, |package, dir| {
            if package.ecosystem == Ecosystem::Git {
                make_executable(package, dir)?;
            }
            packages::entry(package, dir)?;
            packages::mark_installed(package, dir).map_err(|error| error.to_string())
        })
        .await?;
        let before = self.package.set_lock(lock.clone());
        let is_new = before.is_none_or(|agreed| agreed.installed_at.is_none());
        if self.identity.is_on_trial() || self.identity.is_gone() || !is_new {
            return Ok(());
        }
        let locks = &self.runners().shared.locks;
        let stored = locks.put(self.id(), Locked { current: lock.clone(), previous: None }).await;
        stored.map_err(|error| Rc::new(failed(&format!("its lock could not be stored: {error}"))))?;
        let parent = self.runners().shared.paths.server_package(self.id().as_str());
        // Those of other versions, which the definition does not want any more.
        let place = lock.place;
        let _ = tokio::task::spawn_blocking(move || packages::keep_only(&parent, &[place])).await;
        Ok(())
    }

    /// The directory of its package, in its version.
    pub(crate) fn package_dir(&self) -> PathBuf {
        let parent = self.runners().shared.paths.server_package(self.id().as_str());
        self.package.place().map_or(parent.clone(), |place| parent.join(place.to_string()))
    }

    /// The directory of its data and its temporary files.
    pub(super) fn root(&self) -> PathBuf {
        let paths = &self.runners().shared.paths;
        match self.identity.trial() {
            Some(_) if !self.is_in_its_place() => paths.server_trial(self.id().as_str()),
            _ => self.own_root(),
        }
    }

    /// True if it is on trial in the directories that its server will have.
    pub(crate) fn is_in_its_place(&self) -> bool {
        self.identity.trial().is_some_and(|trial| trial.in_its_place)
    }

    /// Its home, as the server sees it.
    pub(crate) fn home(&self) -> String {
        self.root().join("data").to_string_lossy().into_owned()
    }

    /// The home to copy from, and its own home, if it is tried with a copy.
    pub(crate) fn data_to_copy(&self) -> Option<(PathBuf, PathBuf)> {
        let is_copied = !self.is_in_its_place() && self.identity.trial().is_some_and(|trial| trial.with_data);
        let [from, to] = [self.own_root(), self.root()].map(|root| root.join("data"));
        is_copied.then_some((from, to))
    }

    /// The place of the installer's home and temporary files: those of the server are not its.
    pub(super) fn installer_root(&self) -> PathBuf {
        self.root().join("installer")
    }

    /// Does work that may take the disk a while.
    pub(super) async fn on_the_disk<T: Send + 'static>(
        &self,
        package: &Package,
        dir: &Path,
        work: impl FnOnce(&Package, &Path) -> Result<T, String> + Send + 'static,
    ) -> Ended<T> {
        let (package, dir) = (package.clone(), dir.to_owned());
        let done = tokio::task::spawn_blocking(move || work(&package, &dir)).await;
        done.unwrap_or_else(|error| Err(error.to_string())).map_err(|why| Rc::new(failed(&why)))
    }

    /// Runs one command of the installer to its end.
    pub(super) async fn run_step(self: &Rc<Self>, command: &Step) -> Ended<()> {
        let broken = |what: String| Rc::new(failed(&what));
        let start = LaunchTarget { installer: Some(self.with_its_path(command)) };
        let prepared = self
            .prepared(start, None)
            .await
            .map_err(|unprepared| broken(format!("could not {}", unprepared.why)))?;
        let launch = self.launch_of(prepared, limits::INSTALL_TIMEOUT);
        let launch = launch.map_err(|unprepared| broken(format!("could not {}", unprepared.why)))?;
        if self.state() != State::Installing {
            return Err(Rc::new(EndReport::because("stopped", "it was stopped")));
        }
        let place =
            self.place_for_start().map_err(|error| broken(format!("could not start a runner: {error}")))?;
        let logged = self.lists.lines_added();
        let ended = self.package.begin_run();
        place.runner.link.send(&ToRunner::Run { server: place.number, launch });
        self.place.take(place);
        let report = ended.await.map_err(|_| broken("the bridge is ending".into()))?;
        match (report.cause, report.exit_code) {
            ("exited", Some(0)) => Ok(()),
            ("stopped", _) => Err(report),
            _ => {
                let lines = self.lists.lines_added() - logged;
                Err(Rc::new(self.step_failed(command, &report, lines)))
            }
        }
    }

    /// Harbor's own program is on no PATH.
    fn with_its_path(&self, command: &Step) -> Step {
        let mut command = command.clone();
        if let Some(program) = command.first_mut().filter(|program| *program == FETCHER) {
            *program = self.runners().executables.fetcher().to_string_lossy().into_owned();
        }
        command
    }
}
