//! Upgrades of packages.
//!
//! ```text
//!  upgrade_server ─► planned ─► the same? ─► installed beside the old one ─► started with nothing of the person's ─► Tried
//!                       └─ staged, if only that was wanted                       └─ not up: staged, or with all ─────►─┘
//!  apply ─► switching
//! ```
//!
//! Owns the order in which a new version gets the things that its server may use: nothing before somebody says so.

use std::rc::Rc;

use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_ipc_proto::client::{UpgradeServer, UpgradeServerResult, UpgradeView};
use harbor_ipc_proto::codes::Code;
use harbor_ipc_proto::server_id::ServerId;
use harbor_policy::credentials::Credentials;
use harbor_policy::package::older::{UnfitVersion, goes_back, is_older};
use harbor_policy::package::{Ecosystem, Package};

use super::claims::claim;
use super::differences::differences;
use super::failures::{AS_BEFORE, failed, names_given, needs_build};
use super::installations::{InstallCaller, Installations};
use super::installed::{file, lacking, locked, python};
use super::staged::{InstallStage, PlannedVersions, TriedUpgrade, gone};
use super::switching::apply;
use super::trial::{Installed, Trial};
use crate::host::invalid;
use crate::link::{Tool, ToolList};
use crate::store::definitions::Definition;
use crate::store::locks::Lock;
use crate::supervisor::{Server, TrialOf};

/// An upgrade on its way.
struct Attempt<'a> {
    installs: &'a Rc<Installations>,
    caller: &'a InstallCaller,
    server: Rc<Server>,
    kind: &'static str,
    /// The lock file in use; `None` if it was lost.
    before: Option<Rc<Lock>>,
    may_build: bool,
    with_all: bool,
}

pub(super) async fn upgrade(
    installs: &Rc<Installations>,
    caller: &InstallCaller,
    message: UpgradeServer,
) -> Result<UpgradeServerResult, ErrorBody> {
    let id = &message.server_id;
    let server = installs.host.server(id)?;
    let (package, locked) = locked(installs, &server)?;
    if let Some(token) = &message.apply {
        return match installs.staged.take(caller.client(), id, token) {
            Some(InstallStage::Tried(tried)) => apply(installs, caller, id.clone(), *tried).await,
            _ => Err(gone("apply")),
        };
    }
    let package = match &locked {
        // If an upgrade has led to another address, the next one begins there.
        Some(locked) if package.ecosystem == Ecosystem::Binary => {
            Package { spec: locked.current.spec.clone(), ..package }
        }
        _ => package,
    };
    let attempt = Attempt {
        installs,
        caller,
        server,
        kind: package.ecosystem.as_str(),
        before: locked.map(|locked| locked.current),
        may_build: message.build == Some(true),
        with_all: message.with_all == Some(true),
    };
    let planned = match &message.planned {
        None => {
            let wanted = match &message.to {
                Some(to) => package.exactly(to).ok_or_else(|| invalid("to", versions_of(&package)))?,
                None if package.is_exact() => package.newest(),
                None => package,
            };
            PlannedVersions { is_named: message.to.is_some(), ..PlannedVersions::of(wanted) }
        }
        Some(token) => match installs.staged.take(caller.client(), id, token) {
            Some(InstallStage::Planned(planned)) => *planned,
            Some(InstallStage::Alone(trial)) => return attempt.run(trial).await,
            _ => return Err(gone("planned")),
        },
    };
    attempt.go(planned, message.plan == Some(true)).await
}

/// The cause of a refusal to go back without having been told to.
const OLDER: &str = "older";

/// The text that names a version of a package.
fn versions_of(package: &Package) -> &'static str {
    match package.ecosystem {
        Ecosystem::Binary => {
            "the SHA-256 of the file at the same address, or another address: https://…#sha256=…"
        }
        Ecosystem::Npm | Ecosystem::Pypi | Ecosystem::Git => "a version",
    }
}

impl Attempt<'_> {
    fn id(&self) -> &ServerId {
        self.server.id()
    }

    async fn begin(&self, planned: &PlannedVersions, plan_only: bool) -> Result<Trial, ErrorBody> {
        self.installs.staged.drop_of(self.id());
        let claim = claim(self.installs, self.id()).await?;
        let of = TrialOf {
            package: Some(planned.package.clone()),
            planned: planned.lock.clone(),
            unfit: planned.unfit.clone(),
            kept: None,
            plan_only,
            look_only: false,
            may_build: self.may_build,
            alone: true,
            secrets: Credentials::default(),
            with_data: false,
            in_its_place: false,
        };
        let definition = Definition::clone(&self.server.definition());
        Ok(Trial::begin(&self.installs.supervisor, claim, definition, of))
    }

    /// Plans a version, unless that is done already. Tries it out if that is wanted and it is another
    /// version.
    async fn go(
        self,
        mut planned: PlannedVersions,
        plan_only: bool,
    ) -> Result<UpgradeServerResult, ErrorBody> {
        if planned.lock.is_none() {
            let trial = self.begin(&planned, true).await?;
            let plan = trial.plan(self.caller.steps.clone()).await;
            planned = planned.with(plan.map_err(|error| failed(self.id(), &error, AS_BEFORE, &[]))?);
            planned.unfit = trial.unfit();
        }
        self.is_not_older(&planned)?;
        let commit = planned.package.address().1.unwrap_or_default();
        let view = self.view((Some(&planned.package), &planned.unfit), planned.lock.as_deref(), commit);
        let is_same = self.before.as_ref().is_some_and(|before| match &planned.lock {
            // For a download, the hash alone decides.
            Some(lock) => {
                lock.version == before.version
                    && lock.python == before.python
                    && (lock.tree == before.tree || planned.package.ecosystem == Ecosystem::Binary)
            }
            None => view.after == before.version,
        });
        match (is_same, planned.lock.is_some()) {
            (true, _) => Ok(UpgradeServerResult { upgrade: UpgradeView { needs_build: None, ..view } }),
            (false, _) if plan_only => {
                let token = self.installs.staged.keep(
                    self.caller.client(),
                    self.id(),
                    InstallStage::Planned(Box::new(planned)),
                );
                Ok(UpgradeServerResult { upgrade: UpgradeView { planned: Some(token), ..view } })
            }
            (false, false) => Err(needs_build()),
            (false, true) => {
                let trial = self.begin(&planned, false).await?;
                self.run(trial).await
            }
        }
    }

    /// Checks that an older version is only used if somebody has named it.
    fn is_not_older(&self, planned: &PlannedVersions) -> Result<(), ErrorBody> {
        let (Some(before), Some(lock), false) = (&self.before, &planned.lock, planned.is_named) else {
            return Ok(());
        };
        let (ecosystem, before, after) = (planned.package.ecosystem, &before.version, &lock.version);
        if !is_older(ecosystem, after, before) {
            return Ok(());
        }
        let why = planned.unfit.why(self.kind);
        let message = goes_back(self.id().as_str(), (before, after), why.as_deref());
        let error = ErrorBody::new(Code::InvalidParams, message).with("field", "to").with("cause", OLDER);
        Err(error.with("before", before.as_str()).with("after", after.as_str()))
    }

    /// The view before anything was tried out: the versions, or the commit of a repository.
    fn view(
        &self,
        (package, unfit): (Option<&Package>, &UnfitVersion),
        lock: Option<&Lock>,
        commit: &str,
    ) -> UpgradeView {
        UpgradeView {
            kind: self.kind.into(),
            newest: unfit.newest.clone(),
            before: version_of(self.before.as_deref()),
            after: lock.map_or_else(|| commit.to_owned(), |lock| lock.version.clone()),
            integrity: lock.map(|lock| lock.integrity.clone()).unwrap_or_default(),
            python: lock.and_then(python).or_else(|| lacking(unfit)),
            file: package.and_then(|package| file(package, lock)),
            added: Vec::new(),
            removed: Vec::new(),
            changed: Vec::new(),
            planned: None,
            needs_build: lock.is_none().then_some(true),
            failed: None,
            apply: None,
            applied: false,
            previous: None,
        }
    }

    /// Installs and starts the version: first with nothing of the person's. If that fails, and it was
    /// allowed, with everything.
    async fn run(self, trial: Trial) -> Result<UpgradeServerResult, ErrorBody> {
        let known = self.installs.host.registry.known(&*self.server).unwrap_or_default();
        let mut ran = self.once(&trial, &known).await?;
        if ran.is_err() && self.with_all {
            trial.trust();
            ran = self.once(&trial, &known).await?;
        }
        let upgrade = match ran {
            Ok(installed) => self.tried(trial, installed, &known),
            Err(why) => {
                let view = self.view((trial.package(), &trial.unfit()), trial.lock().as_deref(), "");
                let token =
                    self.installs.staged.keep(self.caller.client(), self.id(), InstallStage::Alone(trial));
                UpgradeView { failed: Some(why), planned: Some(token), ..view }
            }
        };
        Ok(UpgradeServerResult { upgrade })
    }

    /// The trial's tools, or why it cannot do with nothing of the person's.
    async fn once(&self, trial: &Trial, known: &ToolList) -> Result<Result<Installed, String>, ErrorBody> {
        let is_alone = trial.is_alone();
        match trial.run(self.caller.steps.clone()).await {
            Ok(tried) if is_alone && tried.tools.is_none() => Ok(Err("its tools could not be listed".into())),
            Ok(tried) if is_alone && lists_less(&tried, known) => Ok(Err("it lists no tools".into())),
            Ok(tried) => Ok(Ok(tried)),
            Err(error) => {
                let given = names_given(&self.server.definition(), &[]);
                let error_body = failed(self.id(), &error, AS_BEFORE, &given);
                match is_alone && trial.is_installed(&error) {
                    true => Ok(Err(error_body.message)),
                    false => Err(error_body),
                }
            }
        }
    }

    /// The view of a tried version. It waits for a yes, unless it is the version in use.
    fn tried(&self, trial: Trial, installed: Installed, known: &ToolList) -> UpgradeView {
        let seen = self.installs.host.registry.seen(&*self.server);
        let is_same =
            |before: &Tool, now: &Tool| self.installs.host.registry.is_same(&self.id().into(), before, now);
        let (added, removed, changed) = differences(&installed, known, (&seen, &is_same));
        let view = self.view((trial.package(), &trial.unfit()), Some(&installed.lock), "");
        let view = UpgradeView { added, removed, changed, ..view };
        let tried = TriedUpgrade { installed, view: view.clone(), trial };
        let token =
            self.installs.staged.keep(self.caller.client(), self.id(), InstallStage::Tried(Box::new(tried)));
        UpgradeView { apply: Some(token), ..view }
    }
}

/// True if a trial lists no tools although some are known.
fn lists_less(tried: &Installed, known: &ToolList) -> bool {
    let is_empty = |list: &ToolList| list.iter().next().is_none();
    tried.tools.as_deref().is_none_or(is_empty) && !is_empty(known)
}

/// The version in the form for the person.
fn version_of(lock: Option<&Lock>) -> String {
    lock.map_or_else(|| "unknown".into(), |lock| lock.version.clone())
}
