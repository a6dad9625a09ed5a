//! Messages about upgrades of packages, and about going back.
//!
//! ```text
//!  upgrade_server ─► planned ─► the same? ─► installed beside the old one ─► started with nothing of the person's ─► Tried
//!                       └─ staged, if only that was wanted                       └─ not up: staged, or with all ─────►─┘
//!  apply ─► lock ─► the same definition, started anew
//! ```
//!
//! Owns the order in which a new version gets the things that its server may use: nothing before somebody says so.

use std::rc::Rc;

use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_ipc_proto::client::{
    ToolDifference, UndoUpgrade, UndoUpgradeResult, UpgradeServer, UpgradeServerResult, UpgradeView,
};
use harbor_ipc_proto::codes::Code;
use harbor_ipc_proto::field::Message as _;
use harbor_ipc_proto::server_id::ServerId;
use harbor_policy::credentials::Credentials;
use harbor_policy::package::older::{UnfitVersion, goes_back, is_older};
use harbor_policy::package::{Ecosystem, Package};

use super::client::Client;
use super::installs::{
    AS_BEFORE, claim, failed, file, installed, lacking, locked, names_given, needs_build, python, settled,
};
use super::servers::{about, note, replace, stored};
use super::staged::{InstallStage, PlannedVersions, TriedUpgrade, gone};
use super::{Handled, Router, invalid, reply, to_the_end};
use crate::link::{Tool, ToolList};
use crate::store::definitions::Definition;
use crate::store::locks::{Lock, Locked};
use crate::supervisor::{Installed, Server, StartListener, Trial, TrialOf};

/// An upgrade on its way.
struct Attempt<'a> {
    router: &'a Rc<Router>,
    client: &'a Rc<Client>,
    server: Rc<Server>,
    kind: &'static str,
    /// The lock file in use; `None` if it was lost.
    before: Option<Rc<Lock>>,
    note: Option<StartListener>,
    may_build: bool,
    with_all: bool,
}

pub(super) async fn upgrade(
    router: &Rc<Router>,
    client: &Rc<Client>,
    request_id: &str,
    message: UpgradeServer,
) -> Handled {
    let id = &message.server_id;
    let server = router.host.server(id)?;
    let (package, locked) = locked(router, &server)?;
    if let Some(token) = &message.apply {
        return match router.staged.take(client, id, token) {
            Some(InstallStage::Tried(tried)) => apply(router, client, id.clone(), *tried).await,
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
        router,
        client,
        server,
        kind: package.ecosystem.as_str(),
        before: locked.map(|locked| locked.current),
        note: note(client, request_id, message.progress),
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
        Some(token) => match router.staged.take(client, id, token) {
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
            "the SHA-256 of what is at the same address, or another address: https://…#sha256=…"
        }
        Ecosystem::Npm | Ecosystem::Pypi | Ecosystem::Git => "a version",
    }
}

impl Attempt<'_> {
    fn id(&self) -> &ServerId {
        self.server.id()
    }

    async fn begin(&self, planned: &PlannedVersions, plan_only: bool) -> Result<Trial, ErrorBody> {
        self.router.staged.drop_of(self.id());
        let claim = claim(self.router, self.id()).await?;
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
        Ok(self.router.supervisor.try_out(claim, definition, of))
    }

    /// Plans a version, unless that is done already. Tries it out if that is wanted and it is another
    /// version.
    async fn go(self, mut planned: PlannedVersions, plan_only: bool) -> Handled {
        if planned.lock.is_none() {
            let trial = self.begin(&planned, true).await?;
            let plan = trial.plan(self.note.clone()).await;
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
            (true, _) => reply(UpgradeServerResult { upgrade: UpgradeView { needs_build: None, ..view } }),
            (false, _) if plan_only => {
                let token =
                    self.router.staged.keep(self.client, self.id(), InstallStage::Planned(Box::new(planned)));
                reply(UpgradeServerResult { upgrade: UpgradeView { planned: Some(token), ..view } })
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

    /// Installs and starts the version: first with nothing of the person's. If that fails and it was allowed,
    /// with all.
    async fn run(self, trial: Trial) -> Handled {
        let known = self.router.host.registry.known(&*self.server).unwrap_or_default();
        let mut ran = self.once(&trial, &known).await?;
        if ran.is_err() && self.with_all {
            trial.trust();
            ran = self.once(&trial, &known).await?;
        }
        let upgrade = match ran {
            Ok(installed) => self.tried(trial, installed, &known),
            Err(why) => {
                let view = self.view((trial.package(), &trial.unfit()), trial.lock().as_deref(), "");
                let token = self.router.staged.keep(self.client, self.id(), InstallStage::Alone(trial));
                UpgradeView { failed: Some(why), planned: Some(token), ..view }
            }
        };
        reply(UpgradeServerResult { upgrade })
    }

    /// The trial's tools, or why it cannot do with nothing of the person's.
    async fn once(&self, trial: &Trial, known: &ToolList) -> Result<Result<Installed, String>, ErrorBody> {
        let is_alone = trial.is_alone();
        match trial.run(self.note.clone()).await {
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
        let seen = self.router.host.registry.seen(&*self.server);
        let is_same =
            |before: &Tool, now: &Tool| self.router.host.registry.is_same(&self.id().into(), before, now);
        let (added, removed, changed) = differences(&installed, known, (&seen, &is_same));
        let view = self.view((trial.package(), &trial.unfit()), Some(&installed.lock), "");
        let view = UpgradeView { added, removed, changed, ..view };
        let tried = TriedUpgrade { installed, view: view.clone(), trial };
        let token = self.router.staged.keep(self.client, self.id(), InstallStage::Tried(Box::new(tried)));
        UpgradeView { apply: Some(token), ..view }
    }
}

/// True if a trial lists no tools although some are known.
fn lists_less(tried: &Installed, known: &ToolList) -> bool {
    let is_empty = |list: &ToolList| list.iter().next().is_none();
    tried.tools.as_deref().is_none_or(is_empty) && !is_empty(known)
}

/// The version as it is shown.
fn version_of(lock: Option<&Lock>) -> String {
    lock.map_or_else(|| "unknown".into(), |lock| lock.version.clone())
}

/// The tools as the person saw them, and a function that tells if a tool still says the same.
type SeenTools<'a> = (&'a ToolList, &'a dyn Fn(&Tool, &Tool) -> bool);

/// Tools that are new, tools that are gone, and tools that have changed.
type Differences = (Vec<String>, Vec<String>, Vec<ToolDifference>);

/// New and missing tools are found by comparison with the last list; changed tools by comparison with those that the
/// person saw.
fn differences(tried: &Installed, known: &ToolList, (seen, is_same): SeenTools<'_>) -> Differences {
    let nothing = ToolList::default();
    let tools = tried.tools.as_deref().unwrap_or(&nothing);
    let absent_in = |list: &ToolList, of: &ToolList| {
        let absent = of.iter().filter(|tool| list.get(&tool.name).is_none());
        absent.map(|tool| tool.name.to_string()).collect::<Vec<_>>()
    };
    let changed = tools.iter().filter_map(|now| {
        let before = seen.get(&now.name).filter(|before| !is_same(before, now))?;
        let tool_name = now.name.to_string();
        Some(ToolDifference { tool_name, before: before.shown(), after: now.shown() })
    });
    let changed: Vec<_> = changed.collect();
    let mut added = absent_in(known, tools);
    // A tool that comes back as another one is shown as changed.
    added.retain(|name| changed.iter().all(|change| change.tool_name != *name));
    (added, absent_in(tools, known), changed)
}

async fn apply(router: &Rc<Router>, client: &Client, id: ServerId, tried: TriedUpgrade) -> Handled {
    let (router, sender) = (router.clone(), client.sender());
    to_the_end(async move {
        router.host.trail.decided(UpgradeServer::TAG, &sender, about(&id), true).await?;
        let server = router.host.server(&id)?;
        let (_, locked) = locked(&router, &server)?;
        let TriedUpgrade { installed, mut view, trial } = tried;
        // A version that was agreed upon but never installed is nothing to go back to.
        let previous = locked.map(|locked| locked.current).filter(|previous| previous.installed_at.is_some());
        let earlier = previous.as_ref().map(|previous| previous.version.clone());
        let now = Locked { current: installed.lock.clone(), previous };
        use_it(&router, id.clone(), now).await?;
        drop(trial);
        router.supervisor.tell_tools(&id, &installed.tools.unwrap_or_default());
        settled(&router, &id).await;
        (view.apply, view.applied, view.previous) = (None, true, earlier);
        reply(UpgradeServerResult { upgrade: view })
    })
    .await
}

/// Changes the lock file first, in one transaction, and then replaces the server by one that runs it. Gives the server,
/// and true if it starts.
async fn use_it(
    router: &Router,
    server_id: ServerId,
    locked: Locked,
) -> Result<(Rc<Server>, bool), ErrorBody> {
    let turn = router.changing.lock().await;
    // Its definition may have been changed while this waited.
    let server = router.host.server(&server_id)?;
    let definition = Definition::clone(&server.definition());
    router.supervisor.lock(&server_id, locked).await.map_err(|error| stored(&error))?;
    Ok(replace(router, turn, server_id, definition).await)
}

pub(super) async fn undo(router: &Rc<Router>, client: &Client, id: &ServerId) -> Handled {
    router.staged.drop_of(id);
    let claim = claim(router, id).await?;
    let (router, sender, id) = (router.clone(), client.sender(), id.clone());
    to_the_end(async move {
        let server = router.host.server(&id)?;
        let (package, locked) = locked(&router, &server)?;
        let earlier = locked.and_then(|Locked { current, previous }| {
            Some((current, previous.filter(|previous| previous.is_of(&package))?))
        });
        let (current, previous) = earlier.ok_or_else(|| {
            let message = format!("{id} has no earlier version to go back to");
            ErrorBody::new(Code::InvalidParams, message).with("field", "server_id")
        })?;
        router.host.trail.decided(UndoUpgrade::TAG, &sender, about(&id), true).await?;
        let now = Locked { current: previous, previous: Some(current) };
        let (server, starts) = use_it(&router, id.clone(), now).await?;
        router.host.registry.take_back(&(&id).into());
        drop(claim);
        if starts {
            // Only then is it known which of its tools have changed. Its state tells
            // how the start goes.
            let _ = server.start(None).await;
        }
        let installed = installed(&router, &server).ok_or_else(|| invalid("server_id", "a package"))?;
        reply(UndoUpgradeResult { installed })
    })
    .await
}
