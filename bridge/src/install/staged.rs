//! Results that wait for the person's yes: repositories that were read, versions that were found out, upgrades that were
//! tried out.
//!
//! ```text
//!  look ─► Looked ─► plan ─► Planned ─► installed as it was planned, or tried out ─► Alone, Tried ─► used
//! ```
//!
//! Owns the rule that each belongs to its client alone, and goes with it. Must never be taken for a yes.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use harbor_ipc_proto::client::UpgradeView;
use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_ipc_proto::codes::Code;
use harbor_ipc_proto::server_id::ServerId;
use harbor_policy::package::Package;
use harbor_policy::package::older::UnfitVersion;

use super::read_source::ReadSource;
use super::trial::{Installed, Trial, VersionPlan};
use crate::store::locks::Lock;

/// The most waiting results of one client. Beyond that the oldest goes.
const MOST: usize = 8;

/// All that wait.
#[derive(Debug, Default)]
pub(super) struct Staged {
    waiting: RefCell<Vec<StagedInstall>>,
    last: Cell<u64>,
}

#[derive(Debug)]
struct StagedInstall {
    /// The number of its connection.
    client: u64,
    /// Its server. None until it has a name.
    id: Option<ServerId>,
    token: String,
    what: InstallStage,
}

/// A result that waits.
#[derive(Debug)]
pub(super) enum InstallStage {
    /// The declarations of a repository or a manifest.
    Looked(Rc<ReadSource>),
    /// Versions. Nothing of them has run.
    Planned(Box<PlannedVersions>),
    /// An installed trial that needs something of the person's.
    Alone(Trial),
    /// A trial that has listed its tools.
    Tried(Box<TriedUpgrade>),
}

/// The versions of a package.
#[derive(Debug, Clone)]
pub(super) struct PlannedVersions {
    /// The package that was asked for.
    pub wanted: Package,
    /// The package; for git at its commit, once that is known.
    pub package: Package,
    /// The whole lock file. None before a build.
    pub lock: Option<Rc<Lock>>,
    /// The newest version, if an upgrade takes another one.
    pub unfit: UnfitVersion,
    /// True if the version of an upgrade was named.
    pub is_named: bool,
    /// The content of its repository or manifest, if it was read.
    pub looked: Option<Rc<ReadSource>>,
}

/// An upgrade that was tried out.
#[derive(Debug)]
pub(super) struct TriedUpgrade {
    pub installed: Installed,
    pub view: UpgradeView,
    pub trial: Trial,
}

impl PlannedVersions {
    /// A plan without facts yet.
    pub(super) fn of(package: Package) -> Self {
        let unfit = UnfitVersion::default();
        Self { wanted: package.clone(), package, lock: None, unfit, is_named: false, looked: None }
    }

    /// The plan with the versions that were found out.
    pub(super) fn with(self, plan: VersionPlan) -> Self {
        match plan {
            VersionPlan::Locked(lock) => Self { lock: Some(lock), ..self },
            VersionPlan::NeedsBuild { commit } => {
                let package = commit.and_then(|commit| self.package.exactly(&commit));
                Self { package: package.unwrap_or(self.package), lock: None, ..self }
            }
        }
    }
}

impl Staged {
    /// Keeps a result for a client, in place of its earlier one for this server. Returns the token that names it.
    pub(super) fn keep<'i>(
        &self,
        client: u64,
        id: impl Into<Option<&'i ServerId>>,
        what: InstallStage,
    ) -> String {
        let id = id.into().cloned();
        self.last.set(self.last.get() + 1);
        let token = self.last.get().to_string();
        let mine = id.clone();
        let waiting = StagedInstall { client, id, token: token.clone(), what };
        let mut all = self.waiting.borrow_mut();
        let mut gone: Vec<_> =
            all.extract_if(.., |one| one.is_of(client) && mine.is_some() && one.id == mine).collect();
        let others = all.iter().filter(|one| one.is_of(client)).count();
        if others >= MOST
            && let Some(oldest) = all.iter().position(|one| one.is_of(client))
        {
            gone.push(all.remove(oldest));
        }
        all.push(waiting);
        drop(all);
        drop(gone);
        token
    }

    /// A client has gone, and with it the results that it has not said yes to.
    pub(super) fn forget(&self, client: u64) {
        self.drop_if(|one| one.is_of(client));
    }

    /// Somebody does something else with this server.
    pub(super) fn drop_of(&self, id: &ServerId) {
        self.drop_if(|one| one.id.as_ref() == Some(id));
    }

    /// Results that go are dropped after the list is free again.
    fn drop_if(&self, is_gone: impl Fn(&StagedInstall) -> bool) {
        let gone: Vec<_> = self.waiting.borrow_mut().extract_if(.., |one| is_gone(one)).collect();
        drop(gone);
    }

    /// The planned versions. They stay, since an installation may be tried again.
    pub(super) fn planned(&self, client: u64, id: &ServerId, token: &str) -> Option<PlannedVersions> {
        let all = self.waiting.borrow();
        all.iter().find(|one| one.is(client, id, token)).and_then(|one| match &one.what {
            InstallStage::Planned(planned) => Some(PlannedVersions::clone(planned)),
            InstallStage::Looked(_) | InstallStage::Alone(_) | InstallStage::Tried(_) => None,
        })
    }

    /// The declarations of a repository or a manifest, by their own token or that of a plan made from them.
    pub(super) fn looked(&self, client: u64, token: &str) -> Option<Rc<ReadSource>> {
        let all = self.waiting.borrow();
        all.iter().find(|one| one.is_of(client) && one.token == token).and_then(|one| match &one.what {
            InstallStage::Looked(looked) => Some(looked.clone()),
            InstallStage::Planned(planned) => planned.looked.clone(),
            InstallStage::Alone(_) | InstallStage::Tried(_) => None,
        })
    }

    /// Takes out the result that a token names.
    pub(super) fn take(&self, client: u64, id: &ServerId, token: &str) -> Option<InstallStage> {
        let mut all = self.waiting.borrow_mut();
        let at = all.iter().position(|one| one.is(client, id, token))?;
        Some(all.remove(at).what)
    }
}

impl StagedInstall {
    fn is_of(&self, client: u64) -> bool {
        self.client == client
    }

    fn is(&self, client: u64, id: &ServerId, token: &str) -> bool {
        self.is_of(client) && self.id.as_ref() == Some(id) && self.token == token
    }
}

/// The error for a token whose result does not wait any more.
pub(super) fn gone(field: &'static str) -> ErrorBody {
    let message = "the earlier look-up is no longer kept, or was for something else; start again";
    ErrorBody::new(Code::InvalidParams, message).with("field", field)
}
