//! Messages about packages: install, upgrade, undo, uninstall, and the programs that they need.
//!
//! ```text
//!  install_server ─► claim the name ─► tried out ─► lock, definition, server      dropped before: nothing is left
//!  upgrade_server ─► tried out beside the old one ─► staged ─► apply ─► lock ─► the same definition, started anew
//! ```
//!
//! Owns what waits for a yes. A staged upgrade is its client's: it goes with it.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::{Rc, Weak};
use std::time::Duration;

use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_ipc_proto::client::{
    AddServer, CheckRuntimesResult, InstallServer, InstallServerResult, InstalledView, ListInstalledResult,
    LookedIn, RemoveServer, RuntimeView, RuntimesView, ToolDifference, UndoUpgradeResult, UninstallServer,
    UninstallServerResult, UpdateServerArgs, UpdateServerArgsResult, UpgradeServer, UpgradeServerResult,
    UpgradeView,
};
use harbor_ipc_proto::codes::Code;
use harbor_ipc_proto::server_id::ServerId;
use harbor_policy::credentials::Credentials;
use harbor_policy::package::{Package, source};

use super::client::Client;
use super::servers::{about, definition, note, remove_it, replace, stored};
use super::views::view;
use super::{Handled, Router, credentials, reply, sandbox, to_the_end};
use crate::host::start_failed;
use crate::link::ToolList;
use crate::runtimes::{Looked, version_of};
use crate::store::definitions::{Definition, Stored};
use crate::store::locks::{Lock, Locked};
use crate::supervisor::{Claim, Installed, Server, StartError, Trial};

/// How long a name may still be taken after its upgrade was dropped.
const FREE: Duration = Duration::from_secs(30);

/// Upgrades that were tried out and wait for a yes.
#[derive(Debug, Default)]
pub(super) struct Staged(RefCell<BTreeMap<ServerId, Upgrade>>);

#[derive(Debug)]
struct Upgrade {
    client: Weak<Client>,
    token: String,
    installed: Installed,
    view: UpgradeView,
    trial: Trial,
}

impl Staged {
    /// A client has gone: what it has not said yes to goes, too.
    pub(super) fn forget(&self, client: &Client) {
        self.0.borrow_mut().retain(|_, upgrade| !std::ptr::eq(upgrade.client.as_ptr(), client));
    }

    /// Somebody does something else with this server.
    pub(super) fn drop_of(&self, id: &ServerId) {
        let dropped = self.0.borrow_mut().remove(id);
        drop(dropped);
    }

    fn take(&self, id: &ServerId, token: &str) -> Option<Upgrade> {
        let mut all = self.0.borrow_mut();
        let is_it = all.get(id).is_some_and(|upgrade| upgrade.token == token);
        is_it.then(|| all.remove(id)).flatten()
    }
}

/// A source that is none.
pub(super) fn wrong_source(field: &'static str, why: String) -> ErrorBody {
    ErrorBody::new(Code::InvalidParams, why).with("field", field).with("expected", source::KINDS)
}

/// Nobody installs or upgrades a server of this name.
pub(super) async fn not_claimed(router: &Router, id: &ServerId) -> Result<(), ErrorBody> {
    match router.supervisor.is_unclaimed(id, FREE).await {
        true => Ok(()),
        false => Err(busy(id)),
    }
}

fn busy(id: &ServerId) -> ErrorBody {
    let message = format!("{id} is being installed or upgraded; try again when that is over");
    ErrorBody::new(Code::InvalidParams, message).with("field", "server_id")
}

/// That nobody has a name.
pub(super) fn not_there(router: &Router, id: &ServerId) -> Result<(), ErrorBody> {
    match router.supervisor.get(id) {
        None => Ok(()),
        Some(_) => {
            let message =
                format!("there is a server {id} already; say another name, or `harbor upgrade {id}`");
            Err(ErrorBody::new(Code::InvalidParams, message).with("field", "server_id"))
        }
    }
}

/// Somebody who had the name a moment ago may still be cleaning up.
pub(super) async fn claim(router: &Router, id: &ServerId) -> Result<Claim, ErrorBody> {
    not_claimed(router, id).await?;
    router.supervisor.claim(id).ok_or_else(|| busy(id))
}

pub(super) async fn install(
    router: &Rc<Router>,
    client: &Rc<Client>,
    request_id: &str,
    mut message: InstallServer,
) -> Handled {
    let note = note(client, request_id, message.progress);
    let given = credentials::given(message.secret_values.take())?;
    let plan_only = message.plan == Some(true);
    let (id, package, definition) = wanted(message)?;
    not_there(router, &id)?;
    sandbox::may_be_granted(router, &id, &definition).await?;
    let held = router.supervisor.would_be_confined(&id, &definition).await;
    let held = held.map_err(|why| ErrorBody::new(Code::InvalidParams, why).with("field", "sandbox"))?;
    let claim = claim(router, &id).await?;
    let trial = router.supervisor.try_out(claim, definition.clone(), package.clone(), plan_only);
    if plan_only {
        let lock = trial.plan(note).await.map_err(|error| failed(&id, &error))?;
        let (sandbox, settings) = (Some(sandbox::summary(&held.profile)), Some(definition.sandbox));
        return reply(InstallServerResult {
            installed: InstalledView { sandbox, settings, ..shown(&id, &package, Some(&lock)) },
        });
    }
    if !given.is_empty() {
        trial.lend(Credentials(given.iter().cloned().collect()));
    }
    let installed = trial.run(note).await.map_err(|error| failed(&id, &error))?;
    let (router, sender) = (router.clone(), client.sender());
    to_the_end(async move {
        router.host.trail.decided("install_server", &sender, about(&id), true).await?;
        let locked = Locked { current: installed.lock.clone(), previous: None };
        router.supervisor.lock(&id, locked).await.map_err(|error| stored(&error))?;
        credentials::keep(&router, &sender, &id, given).await?;
        let turn = router.changing.lock().await;
        // Without its definition the lock is nobody's, and goes at the next start.
        router.definitions.put(&id, &definition).await.map_err(|error| stored(&error))?;
        let (server, _) = router.supervisor.put(Stored { server_id: id.clone(), definition, era: None });
        drop(turn);
        drop(trial);
        router.supervisor.tell_tools(&id, &installed.tools);
        if server.settings().auto_start {
            let server = server.clone();
            tokio::task::spawn_local(async move { server.start(None).await });
        }
        let tools = Some(names(&installed.tools));
        let installed = shown(&id, &package, Some(&installed.lock));
        let server = Some(view(&router, &server));
        reply(InstallServerResult { installed: InstalledView { tools, server, ..installed } })
    })
    .await
}

/// What was tried out does not run, and goes.
pub(super) fn failed(id: &ServerId, why: &StartError) -> ErrorBody {
    start_failed(id, why).with("left", "nothing")
}

/// The name, the package in the version that is wanted, and the definition, which admits later ones.
pub(super) fn wanted(message: InstallServer) -> Result<(ServerId, Package, Definition), ErrorBody> {
    let args = message.args.unwrap_or_default();
    let package = source::read(&message.source, &args).map_err(|why| wrong_source("source", why))?;
    let id = message.server_id.or_else(|| source::default_name(&package)).ok_or_else(|| {
        let message = format!("no name can be made of {}; say one with --name", package.name);
        ErrorBody::new(Code::InvalidParams, message).with("field", "server_id")
    })?;
    let wanted = if package.is_exact() { package.newest() } else { package.clone() };
    let definition = definition(AddServer {
        server_id: id.clone(),
        command: Some(wanted.source()),
        image: None,
        engine: None,
        args: Some(args),
        env: message.env,
        cwd: None,
        label: message.label,
        roots: None,
        supervision: message.supervision,
        as_is: None,
        sandbox: message.sandbox,
        secrets: message.secrets,
    })?;
    let exactly = message.version.map(|version| {
        package.exactly(&version).ok_or_else(|| super::invalid("version", "a version of the source"))
    });
    Ok((id, exactly.transpose()?.unwrap_or(package), definition))
}

fn names(tools: &ToolList) -> Vec<String> {
    tools.iter().map(|tool| tool.name.to_string()).collect()
}

pub(super) fn shown(id: &ServerId, package: &Package, lock: Option<&Lock>) -> InstalledView {
    let name = match package.address() {
        (address, _) if package.ecosystem == harbor_policy::package::Ecosystem::Git => address.to_owned(),
        _ => package.name.clone(),
    };
    let spec = lock.map_or(&package.spec, |lock| &lock.spec);
    InstalledView {
        server_id: id.to_string(),
        kind: package.ecosystem.as_str(),
        name,
        source: format!("{}:{spec}", package.ecosystem.as_str()),
        version: lock.map(|lock| lock.version.clone()),
        integrity: lock.map(|lock| lock.integrity.clone()),
        packages: lock.map(|lock| lock.packages),
        installed_at: lock.map(|lock| lock.installed_at),
        previous: None,
        tools: None,
        missing: None,
        sandbox: None,
        settings: None,
        server: None,
    }
}

fn installed(router: &Router, server: &Rc<Server>) -> Option<InstalledView> {
    let package = server.definition().package()?;
    let previous = router.supervisor.locked(server.id()).and_then(|locked| locked.previous);
    let previous = previous.filter(|previous| previous.is_of(&package)).map(|lock| lock.version.clone());
    let seen = shown(server.id(), &package, server.lock().as_deref());
    Some(InstalledView { previous, server: Some(view(router, server)), ..seen })
}

pub(super) fn list(router: &Router) -> Handled {
    let all = router.supervisor.all();
    reply(ListInstalledResult {
        servers: all.iter().filter_map(|server| installed(router, server)).collect(),
    })
}

/// A server's package, and which version of it is used; `None` where that was lost.
fn locked(router: &Router, server: &Server) -> Result<(Package, Option<Locked>), ErrorBody> {
    let id = server.id();
    let wrong = |message: String| ErrorBody::new(Code::InvalidParams, message).with("field", "server_id");
    let package = server.definition().package();
    let package =
        package.ok_or_else(|| wrong(format!("{id} has no package: its command is run as it is")))?;
    let locked = router.supervisor.locked(id).filter(|locked| locked.current.is_of(&package));
    if locked.is_none() && router.supervisor.lost_lock(id).is_none() {
        return Err(wrong(format!("{id} is not installed yet; `harbor start {id}` does that")));
    }
    Ok((package, locked))
}

pub(super) async fn upgrade(
    router: &Rc<Router>,
    client: &Rc<Client>,
    request_id: &str,
    message: UpgradeServer,
) -> Handled {
    let note = note(client, request_id, message.progress);
    let id = message.server_id;
    let server = router.host.server(&id)?;
    let (package, locked) = locked(router, &server)?;
    if let Some(token) = message.apply {
        let staged = router.staged.take(&id, &token).ok_or_else(|| {
            ErrorBody::new(Code::InvalidParams, "there is no such upgrade any more; begin it anew")
                .with("field", "apply")
        })?;
        return apply(router, client, id, staged).await;
    }
    let wanted = match &message.to {
        Some(to) => package.exactly(to).ok_or_else(|| super::invalid("to", "a version"))?,
        None if package.is_exact() => package.newest(),
        None => package,
    };
    router.staged.drop_of(&id);
    let claim = claim(router, &id).await?;
    let trial = router.supervisor.try_out(claim, Definition::clone(&server.definition()), wanted, false);
    let tried = trial.run(note).await.map_err(|error| failed(&id, &error))?;
    let before = locked.as_ref().map(|locked| &*locked.current);
    let mut view = differences(before, &tried, router.host.registry.known(&server).as_deref());
    if before.is_some_and(|before| tried.lock.tree == before.tree && tried.lock.version == before.version) {
        return reply(UpgradeServerResult { upgrade: view });
    }
    let token = format!("{}-{}", tried.lock.place, tried.lock.installed_at);
    view.apply = Some(token.clone());
    let staged =
        Upgrade { client: Rc::downgrade(client), token, installed: tried, view: view.clone(), trial };
    router.staged.0.borrow_mut().insert(id, staged);
    reply(UpgradeServerResult { upgrade: view })
}

fn differences(before: Option<&Lock>, tried: &Installed, known: Option<&ToolList>) -> UpgradeView {
    let nothing = ToolList::default();
    let known = known.unwrap_or(&nothing);
    let absent_in = |list: &ToolList, of: &ToolList| {
        let absent = of.iter().filter(|tool| list.get(&tool.name).is_none());
        absent.map(|tool| tool.name.to_string()).collect::<Vec<_>>()
    };
    let changed = tried.tools.iter().filter_map(|now| {
        let before = known.get(&now.name).filter(|before| before.hash != now.hash)?;
        let tool_name = now.name.to_string();
        Some(ToolDifference { tool_name, before: before.shown(), after: now.shown() })
    });
    UpgradeView {
        before: before.map_or_else(|| "unknown".into(), |before| before.version.clone()),
        after: tried.lock.version.clone(),
        integrity: tried.lock.integrity.clone(),
        added: absent_in(known, &tried.tools),
        removed: absent_in(&tried.tools, known),
        changed: changed.collect(),
        apply: None,
        applied: false,
    }
}

async fn apply(router: &Rc<Router>, client: &Client, id: ServerId, staged: Upgrade) -> Handled {
    let (router, sender) = (router.clone(), client.sender());
    to_the_end(async move {
        router.host.trail.decided("upgrade_server", &sender, about(&id), true).await?;
        let server = router.host.server(&id)?;
        let (_, locked) = locked(&router, &server)?;
        let Upgrade { installed, mut view, trial, .. } = staged;
        let previous = locked.map(|locked| locked.current);
        let now = Locked { current: installed.lock.clone(), previous };
        use_it(&router, id.clone(), now).await?;
        drop(trial);
        router.supervisor.tell_tools(&id, &installed.tools);
        (view.apply, view.applied) = (None, true);
        reply(UpgradeServerResult { upgrade: view })
    })
    .await
}

/// The lock is changed first, by one transaction; the server that is put in its place then runs that.
async fn use_it(router: &Router, server_id: ServerId, locked: Locked) -> Result<Rc<Server>, ErrorBody> {
    let turn = router.changing.lock().await;
    // Its definition may have been changed while this waited.
    let server = router.host.server(&server_id)?;
    let definition = Definition::clone(&server.definition());
    router.supervisor.lock(&server_id, locked).await.map_err(|error| stored(&error))?;
    Ok(replace(router, turn, server_id, definition).await.0)
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
        router.host.trail.decided("undo_upgrade", &sender, about(&id), true).await?;
        let server = use_it(&router, id, Locked { current: previous, previous: Some(current) }).await?;
        let installed =
            installed(&router, &server).ok_or_else(|| super::invalid("server_id", "a package"))?;
        drop(claim);
        reply(UndoUpgradeResult { installed })
    })
    .await
}

pub(super) async fn uninstall(router: &Rc<Router>, client: &Client, message: UninstallServer) -> Handled {
    let UninstallServer { server_id, data } = message;
    locked(router, &*router.host.server(&server_id)?)?;
    let removed = remove_it(router, client, RemoveServer { server_id, data }).await?;
    reply(UninstallServerResult { removed: removed.removed, data: removed.data })
}

pub(super) async fn set_args(router: &Rc<Router>, client: &Client, message: UpdateServerArgs) -> Handled {
    let UpdateServerArgs { server_id, args } = message;
    not_claimed(router, &server_id).await?;
    if args.iter().any(|arg| arg.contains('\0')) {
        return Err(super::invalid("args", "texts without NUL characters"));
    }
    let (router, sender) = (router.clone(), client.sender());
    to_the_end(async move {
        let turn = router.changing.lock().await;
        let server = router.host.server(&server_id)?;
        let before = server.definition();
        let args = match (source::is_source(&before.command), before.package()) {
            // Behind npx and uvx the package's own stand last.
            (false, Some(package)) => {
                let own = before.args.len().saturating_sub(package.args.len());
                [before.args.get(..own).unwrap_or_default(), &args].concat()
            }
            _ => args,
        };
        let definition = Definition { args, ..Definition::clone(&before) };
        router.host.trail.decided("update_server_args", &sender, about(&server_id), true).await?;
        router.definitions.put(&server_id, &definition).await.map_err(|error| stored(&error))?;
        let (server, _) = replace(&router, turn, server_id, definition).await;
        reply(UpdateServerArgsResult { server: view(&router, &server) })
    })
    .await
}

pub(super) async fn runtimes(router: &Router) -> Handled {
    let runtimes = router.supervisor.runtimes();
    let looked = tokio::task::spawn_blocking(move || {
        let looked = runtimes.look();
        let versions = looked.all().map(|(_, found)| version_of(found?.0, &looked.path)).collect::<Vec<_>>();
        (looked, versions)
    });
    let (looked, versions) =
        looked.await.map_err(|error| ErrorBody::new(Code::Internal, error.to_string()))?;
    reply(CheckRuntimesResult { runtimes: shown_runtimes(&looked, versions) })
}

fn shown_runtimes(looked: &Looked, versions: Vec<Option<String>>) -> RuntimesView {
    let programs = looked.all().zip(versions).map(|((runtime, found), version)| RuntimeView {
        name: runtime.name,
        path: found.map(|(path, _)| path.to_owned()),
        found_by: found.map(|(_, how)| how),
        version,
        needed_for: runtime.needed_for,
        install_hint: found.is_none().then_some(runtime.hint),
    });
    let has = |name: &str| looked.get(name).is_some();
    let kinds =
        [("npm", has("node") && has("npm")), ("pypi", has("uv") || has("python")), ("git", has("git"))];
    let can_install = kinds.iter().filter(|(_, can)| *can).map(|(kind, _)| (*kind).to_owned()).collect();
    let place =
        |place: &harbor_policy::runtimes::Place| LookedIn { dir: place.dir.clone(), found_by: place.how };
    RuntimesView {
        programs: programs.collect(),
        can_install,
        looked_in: looked.places.iter().map(place).collect(),
    }
}
