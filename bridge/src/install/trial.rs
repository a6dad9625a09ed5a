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

use std::path::PathBuf;
use std::rc::Rc;
use std::time::Duration;

use harbor_policy::package::Package;
use harbor_policy::package::older::UnfitVersion;
use harbor_policy::recipe::repository::Files;

use crate::link::{EndReport, ToolList};
use crate::store::copying::{CopyAllowance, copy_tree};
use crate::store::definitions::Definition;
use crate::store::locks::Lock;
use crate::supervisor::{
    Claim, NEEDS_BUILD, PLANNED, Server, StartError, StartListener, Supervisor, TrialOf,
};

/// How long a trial without the network may take. A server that hangs there wants the network.
const WITHOUT_NETWORK: Duration = Duration::from_secs(10);

/// A package that is tried out. Dropping the trial removes all that was not kept.
#[derive(Debug)]
pub struct Trial {
    pub(super) supervisor: Rc<Supervisor>,
    pub(super) server: Rc<Server>,
    claim: Option<Claim>,
}

/// The result of looking for versions.
#[derive(Debug, Clone)]
pub enum VersionPlan {
    /// All versions.
    Locked(Rc<Lock>),
    /// Code of the package would have to run for that.
    NeedsBuild {
        /// The commit of a repository that would be built.
        commit: Option<String>,
    },
}

/// An installation that was tried out and is kept: its directory is whole.
#[derive(Debug, Clone)]
pub struct Installed {
    /// Its version.
    pub lock: Rc<Lock>,
    /// The tools that it has listed. None if it could list none.
    pub tools: Option<Rc<ToolList>>,
}

impl Trial {
    /// Begins to try out a package; or an image or a remote server, which have none.
    #[must_use]
    pub fn begin(supervisor: &Rc<Supervisor>, claim: Claim, definition: Definition, of: TrialOf) -> Self {
        let server = supervisor.server_on_trial(&claim, definition, of);
        Self { supervisor: supervisor.clone(), server, claim: Some(claim) }
    }

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

    /// Fetches its repository. Returns the commit, and the files that describe how its server is started.
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

    /// The requested package.
    #[must_use]
    pub fn package(&self) -> Option<&Package> {
        self.server.wanted()
    }

    /// True if it is started with nothing of the person's.
    #[must_use]
    pub fn is_alone(&self) -> bool {
        self.server.is_alone()
    }

    /// Keeps the installed package for a while, although nothing came of it.
    pub fn keep_package(&self) {
        let (Some(lock), Some(claim)) = (self.server.lock(), &self.claim) else { return };
        let install_env = self.server.definition().install_env.clone();
        self.supervisor.keep_package(claim.id(), lock, install_env);
    }

    /// Lets it start from now on with all that its definition gives it.
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

    /// Runs something that has no versions: an image, a remote server. Returns its tools, if they could be listed.
    ///
    /// # Errors
    /// Why it does not run.
    pub async fn run_once(&self, note: Option<StartListener>) -> Result<Option<Rc<ToolList>>, StartError> {
        self.run_within(note, Duration::MAX).await
    }

    /// True if it also starts without a network, and lists tools there. Later tries have no network.
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
            self.supervisor.note_trial(claim.id()).await;
        }
        if let Some((from, to)) = self.server.data_to_copy() {
            copy_data(from, to).await?;
        }
        let started = tokio::time::timeout(limit, self.server.start(note)).await;
        let tools = self.server.tools();
        self.server.stop();
        self.server.down().await;
        if let Some(claim) = own {
            self.supervisor.forget_trial(claim.id()).await;
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
                supervisor.clean(claim.id()).await;
            }
        });
    }
}

/// The most of a home that is copied for a trial.
const OF_A_HOME: CopyAllowance = CopyAllowance { entries: 10_000, bytes: 256 << 20 };

/// Copies a home for a trial, once.
async fn copy_data(from: PathBuf, to: PathBuf) -> Result<(), StartError> {
    let copied = tokio::task::spawn_blocking(move || match from.is_dir() && !to.exists() {
        true => copy_tree(&from, &to, &mut { OF_A_HOME }),
        false => Ok(true),
    });
    let why = match copied.await {
        Ok(Ok(true)) => return Ok(()),
        Ok(Ok(false)) => "it is too large for a first start with a copy".to_owned(),
        Ok(Err(error)) => error.to_string(),
        Err(error) => error.to_string(),
    };
    let message = format!(
        "Harbor could not copy its data for the first start: {why}; without --keep-data it starts with no data"
    );
    Err(StartError::Failed(Rc::new(EndReport::because("spawn_failed", message))))
}
