//! The versions of everything in an installation, and the Python for them.
//!
//! ```text
//!  the usual Python ─► resolve ─► is it the newest? ─ yes ─► lock
//!                        │            └─ requires another Python ─┐
//!                        └─ what is asked for requires another ───┴─► another Python: an environment of its own ─► resolve ─► lock
//!                                                                       └─ none will do ─► as the usual one had it
//! ```
//!
//! Owns the order. An installer's words are other people's text: only which Python is tried, and which question is asked, follows
//! from them. Must never look for another Python without need.

use std::path::Path;
use std::rc::Rc;

use harbor_home::clock::wall_clock;
use harbor_policy::package::failure::{
    Unresolved, no_python, not_there, other_python, required_python, unresolved,
};
use harbor_policy::package::{Content, Ecosystem, Package, npm, pypi, resolve};
use harbor_policy::pythons::{Chosen, Python, Requirement, to_try};

use super::Server;
use super::explaining::{Ended, NEEDS_BUILD, failed, failed_because, needs_build};
use crate::link::EndReport;
use crate::store::locks::Lock;
use crate::store::packages::lock::{Newer, newer, resolved, write_lock, write_newer, write_wanted};
use crate::store::packages::python::{interpreter, remove_environment};
use crate::store::packages::repository::Checkout;
use crate::store::packages::resolved::Resolved;

/// Lines that are looked through for what an installer has listed.
const LISTED: usize = 20;

/// The package to be resolved, and where.
pub(super) struct ResolutionTask<'a> {
    pub package: &'a Package,
    pub dir: &'a Path,
    pub uv: bool,
    /// The repository before any of its code ran.
    pub source: Option<Checkout>,
}

impl ResolutionTask<'_> {
    fn content(&self) -> Option<Content> {
        self.source.as_ref().map(|source| source.content)
    }

    fn text(&self) -> String {
        self.dir.to_string_lossy().into_owned()
    }
}

/// The result of one Python.
pub(super) struct PythonAttempt {
    pub found: Ended<Resolved>,
    /// The requirement for something newer, or for anything.
    requires: Option<Requirement>,
}

/// The requirement for a Python, as an installer that has found nothing says it.
struct PythonRequirement {
    requires: Requirement,
    /// True if the version that would be taken says so, false if it is said of any version.
    is_its_own: bool,
}

impl PythonAttempt {
    fn failed(report: Rc<EndReport>) -> Self {
        Self { found: Err(report), requires: None }
    }
}

impl Server {
    pub(super) async fn make_lock(self: &Rc<Self>, job: ResolutionTask<'_>) -> Ended<Lock> {
        let source = job.source.clone();
        let write = move |package: &Package, dir: &Path| write_wanted(package, dir, source.as_ref());
        self.on_the_disk(job.package, job.dir, write).await?;
        let PythonAttempt { found, requires } = self.try_this_one(&job, self.may_build()).await;
        let found = match requires {
            None if job.package.ecosystem == Ecosystem::Npm => self.with_fitting_node(&job, found?).await?,
            None => found?,
            Some(requires) => self.with_another_python(&job, &requires, found).await?,
        };
        let Resolved { version, integrity, tree, packages, program } = found;
        let package = job.package;
        let exactly = package.exactly(&version).ok_or_else(|| {
            Rc::new(failed(&format!("{version:?} is not a version that can be installed again")))
        })?;
        let requested =
            self.definition().package().map_or_else(|| package.spec.clone(), |wanted| wanted.spec);
        Ok(Lock {
            kind: package.ecosystem.as_str().into(),
            requested,
            spec: exactly.spec,
            version,
            integrity,
            tree,
            packages,
            program,
            python: self.package.runtime().map(Into::into),
            place: self.package.place().unwrap_or_default(),
            installed_at: Some(wall_clock()),
        })
    }

    /// The interpreter of its package, if it is not the usual one.
    pub(super) fn runtime_path(&self) -> Option<String> {
        self.package.runtime().map(|python| python.path)
    }

    /// Checks that the Python or Node.js of the lock is there: another patch of it has the same files.
    pub(super) async fn runtime_is_there(&self, locked: &Chosen) -> Ended<()> {
        let found = locked.in_place(&self.installed_runtimes().await);
        let found = found.ok_or_else(|| {
            let Chosen { version, path, .. } = locked;
            let what = Chosen::called(path);
            let why = format!(
                "it was locked with {what} {version}, which is missing now ({path}); install that again, or run `harbor upgrade {}` to find a version that fits",
                self.id()
            );
            Rc::new(failed(&why))
        })?;
        self.package.set_runtime(Some(found));
        Ok(())
    }

    /// Tries the Pythons that the package admits. The first one for which everything is built already is taken; else the newest,
    /// if something may be built. `usual`: the result of the usual one, which holds where no other will do.
    async fn with_another_python(
        self: &Rc<Self>,
        job: &ResolutionTask<'_>,
        requires: &Requirement,
        usual: Ended<Resolved>,
    ) -> Ended<Resolved> {
        let is_usual = self.on_the_disk(job.package, job.dir, |_, dir| Ok(interpreter(dir).0)).await?;
        let pythons = to_try(self.installed_runtimes().await, requires, is_usual.as_deref());
        let newest = self.package.take_newest();
        // A source is built either way.
        let passes = if self.may_build() && job.source.is_none() { &[false, true][..] } else { &[false] };
        let mut why = None;
        for may_build in passes {
            why = None;
            for python in &pythons {
                match self.try_python(job, python, requires, *may_build).await {
                    Ok(found) => return Ok(found),
                    Err(stopped) if stopped.cause == "stopped" => return Err(stopped),
                    Err(report) => why = why.or(Some(report)),
                }
            }
        }
        self.package.set_runtime(None);
        match (usual, why) {
            (Err(report), None) if required_python(&report.message).is_some() => {
                Err(Rc::new(failed_because(&no_python(requires), &report)))
            }
            (Err(report), None) => Err(report),
            (_, Some(why)) if why.cause == NEEDS_BUILD => Err(why),
            (Err(_), Some(why)) => Err(why),
            (Ok(found), why) => {
                if why.is_some() {
                    self.new_environment(job).await?;
                    let (tree, content) = (found.tree.clone(), job.content());
                    let write = move |package: &Package, dir: &Path| write_lock(package, dir, content, &tree);
                    self.on_the_disk(job.package, job.dir, write).await?;
                }
                self.package.set_newest(newest);
                self.package.set_requirement(Some(requires.as_str().to_owned()));
                Ok(found)
            }
        }
    }

    async fn try_python(
        self: &Rc<Self>,
        job: &ResolutionTask<'_>,
        python: &Python,
        requires: &Requirement,
        may_build: bool,
    ) -> Ended<Resolved> {
        self.package.set_runtime(Some(python.chosen(requires.as_str())));
        self.new_environment(job).await?;
        self.try_this_one(job, may_build).await.found
    }

    /// Makes an environment of the Python that is tried now.
    async fn new_environment(self: &Rc<Self>, job: &ResolutionTask<'_>) -> Ended<()> {
        self.on_the_disk(job.package, job.dir, |_, dir| remove_environment(dir)).await?;
        self.run_step(&pypi::environment(&job.text(), job.uv, self.runtime_path().as_deref())).await
    }

    /// Resolves with the Python in the environment.
    pub(super) async fn try_this_one(
        self: &Rc<Self>,
        job: &ResolutionTask<'_>,
        may_build: bool,
    ) -> PythonAttempt {
        let ResolutionTask { package, dir, uv, source } = job;
        if let Some(requires) =
            self.unmet(job, source.as_ref().and_then(|source| source.requires_python.clone())).await
        {
            return PythonAttempt {
                found: Err(Rc::new(failed(&no_python(&requires)))),
                requires: Some(requires),
            };
        }
        for step in resolve(package, &job.text(), *uv, job.content(), may_build) {
            if let Err(report) = self.run_step(&step).await {
                let requires = self.why_not_this_python(job, &report).await;
                if let Some(PythonRequirement { requires, is_its_own: true }) = requires {
                    let why = Rc::new(failed_because(&no_python(&requires), &report));
                    return PythonAttempt { found: Err(why), requires: Some(requires) };
                }
                let requires = requires.map(|wish| wish.requires);
                let why = match package.ecosystem {
                    _ if may_build => report,
                    Ecosystem::Pypi => self.why_unresolved(package, dir, report).await,
                    _ if npm::wanted_a_repository(&report.stderr_tail) => needs_build(),
                    Ecosystem::Npm | Ecosystem::Git | Ecosystem::Binary => report,
                };
                return PythonAttempt { found: Err(why), requires };
            }
        }
        let source = source.clone();
        let found = self.on_the_disk(package, dir, move |package, dir| resolved(package, dir, source)).await;
        let found = match found {
            Ok(found) => found,
            Err(report) => return PythonAttempt::failed(report),
        };
        match self.is_newest(job, &found.version, may_build).await {
            Ok(requires) => PythonAttempt { found: Ok(found), requires },
            Err(RejectionReason { why, requires }) => PythonAttempt { found: Err(why), requires },
        }
    }

    /// The requirement, unless the environment's Python meets it.
    async fn unmet(&self, job: &ResolutionTask<'_>, requires: Option<String>) -> Option<Requirement> {
        let requires = Requirement::read(&requires?)?;
        let (_, version) =
            self.on_the_disk(job.package, job.dir, |_, dir| Ok(interpreter(dir))).await.ok()?;
        version.is_some_and(|version| !requires.admits(version)).then_some(requires)
    }

    /// The Python that an installer needs instead, if it found nothing because of the Python. pip names a
    /// Python for each version, and that of the best version counts. Others may be about unwanted versions,
    /// so they count only if a newer Python would do.
    async fn why_not_this_python(
        self: &Rc<Self>,
        job: &ResolutionTask<'_>,
        report: &EndReport,
    ) -> Option<PythonRequirement> {
        if report.cause == "stopped" || !matches!(job.package.ecosystem, Ecosystem::Pypi | Ecosystem::Git) {
            return None;
        }
        let said = &report.stderr_tail;
        other_python(said)?;
        if !job.uv && job.package.ecosystem == Ecosystem::Pypi {
            let asked = self.run_step(&pypi::about(&job.text(), &job.package.spec)).await;
            let found = self.on_the_disk(job.package, job.dir, |_, dir| Ok(newer(dir))).await.ok().flatten();
            let own = found.filter(|_| asked.is_ok()).and_then(|found| found.requires_python);
            if let Some(requires) = self.unmet(job, own).await {
                return Some(PythonRequirement { requires, is_its_own: true });
            }
        }
        let said_of = required_python(said)?;
        let (_, version) =
            self.on_the_disk(job.package, job.dir, |_, dir| Ok(interpreter(dir))).await.ok()?;
        let is_sure = job.uv && unresolved(said) != Unresolved::NoWheels && !said_of.admits(version?);
        let is_wanted = is_sure || said_of.wants_newer_than(version?);
        is_wanted.then_some(PythonRequirement { requires: said_of, is_its_own: false })
    }

    /// Checks that this is the newest version, where any version will do. A newer version becomes a question
    /// if it, or its packages, would have to be built. A newer version that does not fit otherwise is
    /// reported. Returns the requirement of a version for another Python.
    async fn is_newest(
        self: &Rc<Self>,
        job: &ResolutionTask<'_>,
        version: &str,
        may_build: bool,
    ) -> Result<Option<Requirement>, RejectionReason> {
        let package = job.package;
        if package.spec != package.newest().spec || !self.identity.is_on_trial() {
            return Ok(None);
        }
        match package.ecosystem {
            Ecosystem::Npm => {
                self.is_newest_of_npm(package, version).await.map(|()| None).map_err(RejectionReason::from)
            }
            Ecosystem::Pypi => self.is_newest_of_pypi(job, version, may_build).await,
            Ecosystem::Git | Ecosystem::Binary => Ok(None),
        }
    }

    async fn is_newest_of_npm(self: &Rc<Self>, package: &Package, version: &str) -> Ended<()> {
        let logged = self.lists.lines_added();
        match self.run_step(&npm::newest(&package.name)).await {
            Ok(()) => {}
            Err(stopped) if stopped.cause == "stopped" => return Err(stopped),
            // Nobody can say.
            Err(_) => return Ok(()),
        }
        let lines = self.lists.lines_added() - logged;
        let said = self.lists.last_lines(usize::try_from(lines).unwrap_or(LISTED).min(LISTED));
        let newest =
            said.iter().find_map(|line| npm::newest_of(&line.text)).filter(|newest| *newest != version);
        let engines = said.iter().find_map(|line| npm::engines_of(&line.text)).filter(|_| newest.is_some());
        self.package.set_newest(newest.map(str::to_owned));
        self.package.set_requirement(engines.map(str::to_owned));
        Ok(())
    }

    async fn is_newest_of_pypi(
        self: &Rc<Self>,
        job: &ResolutionTask<'_>,
        version: &str,
        may_build: bool,
    ) -> Result<Option<Requirement>, RejectionReason> {
        let wanted = pypi::newer_than(&job.package.name, version);
        if job.uv {
            let wanted = wanted.clone();
            self.on_the_disk(job.package, job.dir, move |_, dir| write_newer(dir, &wanted)).await?;
        }
        let step = |any_python| pypi::newer(&job.text(), &wanted, job.uv, may_build, any_python);
        let (found, requires) = match self.ask_for_newer(job, &step(true)).await {
            Ok(found) => {
                let requires = found.as_ref().and_then(|found| found.requires_python.clone());
                let requires = self.unmet(job, requires).await;
                if let Some(found) = found.as_ref().filter(|_| requires.is_some()) {
                    self.package.set_newest(Some(found.version.clone()));
                }
                (Ok(found), requires)
            }
            Err(report) if job.uv => {
                let requires = self.why_not_this_python(job, &report).await.map(|wish| wish.requires);
                let of_other = pypi::of_other_python(&report.stderr_tail).filter(|_| requires.is_some());
                self.package.set_newest(of_other.map(str::to_owned));
                (Err(report), requires)
            }
            Err(report) => (Err(report), None),
        };
        // What it would be with this Python.
        let found = match (&found, &requires) {
            _ if job.uv => found,
            (Ok(_), Some(_)) => self.ask_for_newer(job, &step(false)).await,
            (Err(report), _) if is_unbuilt(report) => self.ask_for_newer(job, &step(false)).await,
            _ => found,
        };
        match found {
            Ok(Some(_)) if !may_build => Err(RejectionReason { why: needs_build(), requires }),
            Err(report) if is_unbuilt(&report) => Err(RejectionReason { why: needs_build(), requires }),
            Err(stopped) if stopped.cause == "stopped" => Err(stopped.into()),
            Ok(Some(found)) if requires.is_none() => {
                self.package.set_newest(Some(found.version));
                Ok(None)
            }
            // There is none, or nobody can say.
            Ok(_) | Err(_) => Ok(requires),
        }
    }

    async fn ask_for_newer(
        self: &Rc<Self>,
        job: &ResolutionTask<'_>,
        step: &[String],
    ) -> Ended<Option<Newer>> {
        self.run_step(&step.to_vec()).await?;
        self.on_the_disk(job.package, job.dir, |_, dir| Ok(newer(dir))).await
    }

    /// Finds out why no built version fits: pip says the same of a missing package as of one that has to be
    /// built.
    async fn why_unresolved(
        self: &Rc<Self>,
        package: &Package,
        dir: &Path,
        report: Rc<EndReport>,
    ) -> Rc<EndReport> {
        let (name, version) = match unresolved(&report.stderr_tail) {
            Unresolved::Otherwise => return report,
            Unresolved::NoWheels => return needs_build(),
            Unresolved::NothingOf { name, version } => (name, version),
        };
        let step = pypi::versions(&dir.to_string_lossy(), &name);
        let wrong = match self.run_step(&step).await {
            Ok(()) => version.filter(|version| !self.has_listed(version)),
            Err(stopped) if stopped.cause == "stopped" => return stopped,
            // What no Python of this machine's may have is in no list either.
            Err(_) => {
                let why = other_python(&report.stderr_tail);
                let why = why.unwrap_or_else(|| not_there(package, &name, None, "PyPI"));
                return Rc::new(failed_because(&why, &report));
            }
        };
        wrong.map_or_else(needs_build, |version| {
            Rc::new(failed_because(&not_there(package, &name, Some(&version), "PyPI"), &report))
        })
    }

    /// True if the installer has just listed a version.
    fn has_listed(&self, version: &str) -> bool {
        let lines = self.lists.last_lines(LISTED);
        let mut listed = lines.iter().filter_map(|line| line.text.split_once(pypi::AVAILABLE));
        listed.any(|(_, versions)| versions.split(", ").any(|listed| listed.trim() == version))
    }
}

/// The reason not to take the resolved version.
struct RejectionReason {
    why: Rc<EndReport>,
    requires: Option<Requirement>,
}

impl From<Rc<EndReport>> for RejectionReason {
    fn from(why: Rc<EndReport>) -> Self {
        Self { why, requires: None }
    }
}

/// True if an installer has stopped at something that would have to be built.
fn is_unbuilt(report: &EndReport) -> bool {
    unresolved(&report.stderr_tail) == Unresolved::NoWheels
}
