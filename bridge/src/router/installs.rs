//! Messages about packages: install, uninstall, list. `upgrades` has the others.
//!
//! ```text
//!  plan ─► versions, hashes ─► staged ─┐
//!  install_server ─────────────────────┴─► claim the name ─► tried out ─► lock, definition, secrets, server
//!                                                               └─ dropped before: nothing is left
//! ```
//!
//! Owns the promise that exactly the planned versions are installed.

use std::rc::Rc;
use std::time::Duration;

use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_ipc_proto::client::{
    AddServer, FileView, GetServerStatusResult, InstallServer, InstallServerResult, InstalledView,
    ListInstalledResult, NetworkKind, PythonView, RemoveServer, SandboxSettings, UninstallServer,
    UninstallServerResult, UpdateServerArgs, UpdateServerArgsResult,
};
use harbor_ipc_proto::codes::Code;
use harbor_ipc_proto::download::Unpacked;
use harbor_ipc_proto::field::Message as _;
use harbor_ipc_proto::server_id::ServerId;
use harbor_ipc_proto::source_id;
use harbor_policy::consent::facts::says_open;
use harbor_policy::credentials::{Credential, Credentials, named_as_missing};
use harbor_policy::environment;
use harbor_policy::package::failure::{required_python, skipped_by};
use harbor_policy::package::older::UnfitVersion;
use harbor_policy::package::{Ecosystem, Package, source};
use harbor_policy::sandbox::settings::network;

use super::client::Client;
use super::servers::{about, definition, note, remove_it, replace, stored};
use super::staged::{InstallStage, PlannedVersions, gone};
use super::start_preview::RequestNames;
use super::views::view;
use super::{Handled, Router, credentials, reply, sandbox, servers, supervision, to_the_end};
use crate::host::start_failed;
use crate::link::ToolList;
use crate::store::definitions::{Definition, Stored};
use crate::store::locks::{Lock, Locked, LockedPython};
use crate::store::packages::lock::OF_COMMIT;
use crate::store::packages::registries;
use crate::supervisor::{Claim, Installed, NEEDS_BUILD, Server, StartError, StartListener, Trial, TrialOf};

mod next_try;

/// How long a name may still be taken after its upgrade was dropped.
const FREE: Duration = Duration::from_secs(30);

/// How long an answer waits until the trial's files and processes are gone.
const SETTLED: Duration = Duration::from_secs(2);

/// The error for a text that is no source.
pub(super) fn wrong_source(field: &'static str, why: String) -> ErrorBody {
    ErrorBody::new(Code::InvalidParams, why).with("field", field).with("expected", source::KINDS)
}

/// Checks that nobody installs or upgrades a server of this name.
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

/// Waits until a trial is gone, unless that takes long: whoever hears of the end of an installation may go on at once.
pub(super) async fn settled(router: &Router, id: &ServerId) {
    router.supervisor.is_unclaimed(id, SETTLED).await;
}

/// Claims a name. Its last claimant may still be cleaning up.
pub(super) async fn claim(router: &Router, id: &ServerId) -> Result<Claim, ErrorBody> {
    not_claimed(router, id).await?;
    router.supervisor.claim(id).ok_or_else(|| busy(id))
}

/// Claims a name that no server has. Its last claimant may have installed a server meanwhile.
pub(super) async fn claim_new(router: &Router, id: &ServerId) -> Result<Claim, ErrorBody> {
    let claim = claim(router, id).await?;
    not_there(router, id).map(|()| claim)
}

/// Checks that the name may be a server's: no other kind of source has it.
pub(super) fn may_be_named(id: &ServerId) -> Result<(), ErrorBody> {
    match source_id::is_reserved(id) {
        false => Ok(()),
        true => {
            let message =
                format!("{id} is the name of the browser's own tools; give the server another name");
            Err(ErrorBody::new(Code::InvalidParams, message).with("field", "server_id"))
        }
    }
}

/// Checks that no server has the name, and that a server may have it.
pub(super) fn not_there(router: &Router, id: &ServerId) -> Result<(), ErrorBody> {
    may_be_named(id)?;
    match router.supervisor.get(id) {
        None => Ok(()),
        Some(_) => {
            let message = format!(
                "a server {id} exists already; choose another name with --name, or upgrade it: `harbor upgrade {id}`"
            );
            Err(ErrorBody::new(Code::InvalidParams, message).with("field", "server_id"))
        }
    }
}

/// A wanted installation.
pub(super) struct RequestedInstall {
    pub id: ServerId,
    /// The package, in the wanted version.
    pub package: Package,
    /// The definition, which admits later versions.
    pub definition: Definition,
    /// Secrets that are not stored yet.
    pub given: Vec<(String, Credential)>,
    /// True if it gets the files that an earlier server of this name has left.
    pub keep_data: bool,
}

impl RequestedInstall {
    fn names(&self) -> Vec<String> {
        names_given(&self.definition, &self.given)
    }
}

pub(super) async fn install(
    router: &Rc<Router>,
    client: &Rc<Client>,
    request_id: &str,
    mut message: InstallServer,
    said: &RequestNames,
    missing: Vec<String>,
) -> Handled {
    let note = note(client, request_id, message.progress);
    let (plan_only, may_build) = (message.plan == Some(true), message.build == Some(true));
    let without_network = message.without_network == Some(true);
    let token = message.planned.take();
    let wanted = wanted(message)?;
    let (id, definition) = (&wanted.id, &wanted.definition);
    not_there(router, id)?;
    let planned = planned(router, client, &wanted, token.as_deref())?;
    sandbox::may_be_granted(router, id, definition).await?;
    let held = router.supervisor.would_be_confined(id, definition).await;
    let held = held.map_err(|why| ErrorBody::new(Code::InvalidParams, why).with("field", "sandbox"))?;
    let claim = claim_new(router, id).await?;
    let of = TrialOf {
        package: Some(planned.package.clone()),
        planned: planned.lock.clone(),
        unfit: UnfitVersion::default(),
        kept: None,
        plan_only: plan_only || !missing.is_empty(),
        look_only: false,
        may_build,
        alone: false,
        secrets: Credentials(wanted.given.iter().cloned().collect()),
        with_data: wanted.keep_data,
        in_its_place: false,
    };
    let trial = router.supervisor.try_out(claim, definition.clone(), of);
    if plan_only {
        let view = plan(router, client, id, planned, &trial, note).await?;
        let runs = Some(said.runs(definition, trial.lock().and_then(|lock| lock.program.clone())));
        let (sandbox, settings) = (Some(sandbox::summary(&held.profile)), Some(definition.sandbox.clone()));
        let old_data = old_data(router, id).await;
        let installed = InstalledView { sandbox, settings, runs, old_data, ..view };
        return reply(InstallServerResult { installed });
    }
    let kept = match missing.is_empty() {
        true => match trial.run(note).await {
            Ok(installed) => {
                let has_network = network(&definition.sandbox) == NetworkKind::All;
                let is_open = installed
                    .tools
                    .iter()
                    .any(|tools| tools.iter().any(|tool| says_open(tool.annotations())));
                let is_tried = without_network && has_network && !is_open;
                let runs_without = is_tried && trial.runs_without_network(None).await;
                InstallOutcome::Installed(installed, is_tried.then_some(runs_without))
            }
            Err(error) => {
                let failed = failed(id, &error, NOTHING, &wanted.names());
                return Err(next_try::told(&trial, &wanted, &error, failed).await);
            }
        },
        false => InstallOutcome::Agreed(agreed(id, planned, &trial, note).await?, missing),
    };
    keep(router, client, wanted, kept, trial).await
}

/// The files that an earlier server of this name has left. They would become the home of this one.
pub(super) async fn old_data(router: &Router, id: &ServerId) -> Option<String> {
    router.supervisor.data_left(id).await.map(|left| left.to_string_lossy().into_owned())
}

/// An installation that becomes a server.
enum InstallOutcome {
    /// It was tried out; the flag tells whether it runs without the network, where that was tried.
    Installed(Installed, Option<bool>),
    /// It lacks secrets: its first start installs exactly this.
    Agreed(Rc<Lock>, Vec<String>),
}

/// The versions that somebody was shown, else the newest ones. Nothing of them is installed.
async fn agreed(
    id: &ServerId,
    planned: PlannedVersions,
    trial: &Trial,
    note: Option<StartListener>,
) -> Result<Rc<Lock>, ErrorBody> {
    let planned = match planned.lock {
        Some(_) => planned,
        None => planned.with(trial.plan(note).await.map_err(|error| failed(id, &error, NOTHING, &[]))?),
    };
    let lock = planned.lock.ok_or_else(needs_build)?;
    Ok(Rc::new(Lock { installed_at: None, ..Lock::clone(&lock) }))
}

/// The versions that a plan of this client has found out. Without a plan, none are known yet.
pub(super) fn planned(
    router: &Router,
    client: &Client,
    wanted: &RequestedInstall,
    token: Option<&str>,
) -> Result<PlannedVersions, ErrorBody> {
    let Some(token) = token else { return Ok(PlannedVersions::of(wanted.package.clone())) };
    if let Some(planned) = router.staged.planned(client, &wanted.id, token) {
        return Some(planned)
            .filter(|planned| planned.wanted == wanted.package)
            .ok_or_else(|| gone("planned"));
    }
    let looked = router.staged.looked(client, token).ok_or_else(|| gone("planned"))?;
    let package = looked.exactly(&wanted.package);
    Ok(PlannedVersions { package, looked: Some(looked), ..PlannedVersions::of(wanted.package.clone()) })
}

/// Finds out the versions, and keeps them for the client.
async fn plan(
    router: &Router,
    client: &Rc<Client>,
    id: &ServerId,
    planned: PlannedVersions,
    trial: &Trial,
    note: Option<StartListener>,
) -> Result<InstalledView, ErrorBody> {
    let plan = trial.plan(note).await.map_err(|error| failed(id, &error, NOTHING, &[]))?;
    let planned = planned.with(plan);
    let view = shown(id, &planned.package, planned.lock.as_deref());
    let needs_build = planned.lock.is_none().then_some(true);
    // For a repository, the commit that would be built is known.
    let commit = planned.package.address().1.filter(|_| needs_build.is_some()).map(str::to_owned);
    let commit = commit.filter(|_| planned.package.ecosystem == Ecosystem::Git);
    let integrity = commit.as_ref().map(|commit| format!("{OF_COMMIT}{commit}"));
    let unfit = trial.unfit();
    let ecosystem = planned.package.ecosystem;
    let token = router.staged.keep(client, id, InstallStage::Planned(Box::new(planned)));
    Ok(InstalledView {
        planned: Some(token),
        needs_build,
        registry: registry(router, ecosystem).await,
        python: view.python.or_else(|| lacking(&unfit)),
        newest: unfit.newest,
        version: view.version.or(commit),
        integrity: view.integrity.or(integrity),
        ..view
    })
}

/// The registry that the person's settings name instead of the public one, as it is shown.
async fn registry(router: &Router, ecosystem: Ecosystem) -> Option<String> {
    let runtimes = router.supervisor.runtimes();
    let found = move || registries::of(ecosystem, runtimes.look().get("uv").is_some());
    let found = tokio::task::spawn_blocking(found).await.ok().flatten();
    found.map(|found| found.shown)
}

async fn keep(
    router: &Rc<Router>,
    client: &Client,
    wanted: RequestedInstall,
    kept: InstallOutcome,
    trial: Trial,
) -> Handled {
    let (router, sender) = (router.clone(), client.sender());
    to_the_end(async move {
        let RequestedInstall { id, package, definition, given, keep_data } = wanted;
        router.host.trail.decided(InstallServer::TAG, &sender, about(&id), true).await?;
        let (lock, tools, missing, runs_without_network) = match kept {
            InstallOutcome::Installed(Installed { lock, tools }, runs) => {
                (lock, Some(tools.unwrap_or_default()), None, runs)
            }
            InstallOutcome::Agreed(lock, missing) => (lock, None, Some(missing), None),
        };
        let locked = Locked { current: lock.clone(), previous: None };
        router.supervisor.lock(&id, locked).await.map_err(|error| stored(&error))?;
        let turn = router.changing.lock().await;
        // Without its definition the lock file is nobody's, and goes at the next start.
        router.definitions.put(&id, &definition).await.map_err(|error| stored(&error))?;
        if let Err(error) = credentials::keep(&router, &sender, &id, given).await {
            // A server that cannot start does not count as installed.
            router.definitions.take_back(&id).await.map_err(|error| stored(&error))?;
            return Err(error);
        }
        let old_data = servers::old_data(&router, &id, &definition, keep_data).await?;
        let looked = router.supervisor.look(Stored { server_id: id.clone(), definition, era: None }).await;
        let (server, _) = router.supervisor.put(looked);
        // Its secrets came with it.
        router.host.settle_if_nothing_was_given(&id, false).await?;
        drop(turn);
        drop(trial);
        router.staged.drop_of(&id);
        tools.iter().for_each(|tools| router.supervisor.tell_tools(&id, tools));
        if missing.is_none() && server.settings().auto_start {
            let server = server.clone();
            tokio::task::spawn_local(async move { server.start(None).await });
        }
        settled(&router, &id).await;
        let tools = tools.map(|tools| names(&tools));
        let installed = shown(&id, &package, Some(&lock));
        let server = Some(view(&router, &server));
        reply(InstallServerResult {
            installed: InstalledView { tools, missing, runs_without_network, server, old_data, ..installed },
        })
    })
    .await
}

/// What is left after a failed installation, and after a failed upgrade.
pub(super) const NOTHING: &str = "nothing";
pub(super) const AS_BEFORE: &str = "as_before";

/// The error for a trial that does not run, and goes. `left`: what is there afterwards. `given`: names of its variables
/// and secrets.
pub(super) fn failed(id: &ServerId, why: &StartError, left: &str, given: &[String]) -> ErrorBody {
    let error = start_failed(id, why);
    let StartError::Failed(report) = why else { return error.with("left", left) };
    match report.cause {
        NEEDS_BUILD => needs_build(),
        // The package failed, not a server.
        "install_failed" => {
            let error = ErrorBody { message: report.message.clone(), ..error }.with("left", left);
            let python = required_python(&report.message).and_then(|requires| requires.step());
            if let Some(step) = python {
                return error.with("python", &step);
            }
            match skipped_by(&report.stderr_tail) {
                Some(variable) => error.with("skipped_by", variable),
                None => error,
            }
        }
        _ => match missing_variable(&report.stderr_tail, given) {
            Some(variable) => error.with("variable", variable).with("left", left),
            None => error.with("left", left),
        },
    }
}

/// The variable that a server reports as missing, unless it was given: then the fault is in its value.
fn missing_variable<'a>(said: &'a str, given: &[String]) -> Option<&'a str> {
    named_as_missing(said).filter(|name| !given.iter().any(|given| given == name))
}

/// Names of the variables and secrets of a definition, and of secrets that are not stored yet.
pub(super) fn names_given(definition: &Definition, given: &[(String, Credential)]) -> Vec<String> {
    let Definition { env, secrets, .. } = definition;
    env.keys().chain(secrets).chain(given.iter().map(|(name, _)| name)).cloned().collect()
}

/// The package's code would have to run, and nobody has allowed that.
pub(super) fn needs_build() -> ErrorBody {
    let message = "code of the package must run to find out what it needs; `build` allows it, in a sandbox with nothing of \
                   yours";
    ErrorBody::new(Code::InvalidParams, message).with("field", "build").with("cause", NEEDS_BUILD)
}

/// Reads the name, the package in the wanted version, and the definition, which admits later versions.
pub(super) fn wanted(message: InstallServer) -> Result<RequestedInstall, ErrorBody> {
    let args = message.args.unwrap_or_default();
    let package = source::read(&message.source, &args).map_err(|why| wrong_source("source", why))?;
    let with = beside(&package, message.with)?;
    let package = Package { with: with.clone(), ..package };
    let install_env = message.install_env.unwrap_or_default();
    if let Some(why) = install_env.iter().find_map(|(name, value)| environment::wrong_variable(name, value)) {
        return Err(super::invalid("install_env", why));
    }
    let id = message.server_id.or_else(|| source::default_name(&package)).ok_or_else(|| {
        let message = format!("no name can be made from {}; pass --name", package.name);
        ErrorBody::new(Code::InvalidParams, message).with("field", "server_id")
    })?;
    let admitted = if package.is_exact() { package.newest() } else { package.clone() };
    let (given, keep_data) = (credentials::given(message.secret_values)?, message.keep_data == Some(true));
    let definition = definition(AddServer {
        server_id: id.clone(),
        command: Some(admitted.source()),
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
        keep_data: None,
        keep_env: None,
    })?;
    let definition = Definition { install_env, with, ..definition };
    Ok(RequestedInstall { id, package, definition, given, keep_data })
}

/// The packages to install beside a package, each in the form that an installer takes.
fn beside(package: &Package, with: Option<Vec<String>>) -> Result<Vec<String>, ErrorBody> {
    let with = with.unwrap_or_default();
    if !with.is_empty() && !matches!(package.ecosystem, Ecosystem::Pypi | Ecosystem::Git) {
        return Err(super::invalid("with", "said of a package of Python only (pypi:…, git:…)"));
    }
    let read = |text: &String| {
        source::beside(text).map_err(|why| ErrorBody::new(Code::InvalidParams, why).with("field", "with"))
    };
    with.iter().map(read).collect()
}

fn names(tools: &ToolList) -> Vec<String> {
    tools.iter().map(|tool| tool.name.to_string()).collect()
}

pub(super) fn shown(id: &ServerId, package: &Package, lock: Option<&Lock>) -> InstalledView {
    let spec = lock.map_or(&package.spec, |lock| &lock.spec);
    let name = match package.ecosystem {
        Ecosystem::Git | Ecosystem::Binary => spec.split('#').next().unwrap_or(spec),
        Ecosystem::Npm | Ecosystem::Pypi => &package.name,
    };
    InstalledView {
        server_id: id.to_string(),
        kind: package.ecosystem.as_str().into(),
        name: name.to_owned(),
        source: format!("{}:{spec}", package.ecosystem.as_str()),
        version: lock.map(|lock| lock.version.clone()),
        lost: None,
        integrity: lock.map(|lock| lock.integrity.clone()),
        packages: lock.map(|lock| lock.packages),
        installed_at: lock.and_then(|lock| lock.installed_at),
        previous: None,
        tools: None,
        missing: None,
        runs_without_network: None,
        needs_authorization: None,
        old_data: None,
        sandbox: None,
        settings: None,
        runs: None,
        planned: None,
        needs_build: None,
        newest: None,
        python: lock.and_then(python),
        registry: None,
        file: file(package, lock),
        server: None,
    }
}

/// The Python with which the lock file was made.
pub(super) fn python(lock: &Lock) -> Option<PythonView> {
    let LockedPython { path, version, requires } = lock.python.clone()?;
    Some(PythonView { requires, version: Some(version), path: Some(path) })
}

/// The Python that the newest version requires and that is not installed here.
pub(super) fn lacking(unfit: &UnfitVersion) -> Option<PythonView> {
    let requires = unfit.requires.clone()?;
    Some(PythonView { requires, version: None, path: None })
}

/// The facts about a file that was downloaded.
pub(super) fn file(package: &Package, lock: Option<&Lock>) -> Option<FileView> {
    let (binary, unpacked) = (package.binary()?, Unpacked::of_tree(&lock?.tree)?);
    let vouched_by = binary.vouched_by().into_iter().map(str::to_owned).collect();
    let Unpacked { size, program, unread_signature, .. } = unpacked;
    let unread_signature = unread_signature.then_some(true);
    Some(FileView { size, program, vouched_by, key: binary.key, unread_signature })
}

pub(super) fn installed(router: &Router, server: &Rc<Server>) -> Option<InstalledView> {
    let package = server.definition().package()?;
    let previous = router.supervisor.locked(server.id()).and_then(|locked| locked.previous);
    let previous = previous.filter(|previous| previous.is_of(&package)).map(|lock| lock.version.clone());
    let seen = shown(server.id(), &package, server.lock().as_deref());
    let lost = router.supervisor.lost_lock(server.id());
    Some(InstalledView { previous, lost, server: Some(view(router, server)), ..seen })
}

/// One server's status, and whether its next start could succeed.
pub(super) async fn status(router: &Router, id: &ServerId) -> Handled {
    let server = router.host.server(id)?;
    let package = installed(router, &server).map(|package| InstalledView { server: None, ..package });
    let why_not = match router.supervisor.is_claimed(id) {
        true => Some((Vec::new(), busy(id).message)),
        false => server.cannot_start().await,
    };
    let (missing_secrets, why_not) =
        why_not.map_or((Vec::new(), None), |(missing, why)| (missing, Some(why)));
    reply(GetServerStatusResult {
        server: view(router, &server),
        package,
        missing_secrets,
        can_start: why_not.is_none(),
        why_not,
    })
}

pub(super) fn list(router: &Router) -> Handled {
    let all = router.supervisor.all();
    reply(ListInstalledResult {
        servers: all.iter().filter_map(|server| installed(router, server)).collect(),
    })
}

/// A server's package, and the version of it that is used; `None` if that was lost.
pub(super) fn locked(router: &Router, server: &Server) -> Result<(Package, Option<Locked>), ErrorBody> {
    let id = server.id();
    let wrong = |message: String| ErrorBody::new(Code::InvalidParams, message).with("field", "server_id");
    let package = server.definition().package();
    let package =
        package.ok_or_else(|| wrong(format!("{id} has no package: Harbor runs its command unchanged")))?;
    let locked = router.supervisor.locked(id).filter(|locked| locked.current.is_of(&package));
    if locked.is_none() && router.supervisor.lost_lock(id).is_none() {
        return Err(wrong(format!("{id} is not installed yet; `harbor start {id}` does that")));
    }
    Ok((package, locked))
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
        let args = supervision::with_own(&before, &args);
        let mut definition = Definition { args, ..Definition::clone(&before) };
        if definition.program() != before.program() {
            definition.sandbox = SandboxSettings::default();
        }
        router.host.trail.decided(UpdateServerArgs::TAG, &sender, about(&server_id), true).await?;
        router.definitions.put(&server_id, &definition).await.map_err(|error| stored(&error))?;
        // An argument may name another program, to which nothing passes on.
        servers::old_data(&router, &server_id, &definition, false).await?;
        let (server, _) = replace(&router, turn, server_id, definition).await;
        servers::settled(&router, &server).await?;
        reply(UpdateServerArgsResult { server: view(&router, &server) })
    })
    .await
}
