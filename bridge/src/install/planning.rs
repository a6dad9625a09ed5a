//! The versions of a package before anything of it is installed.
//!
//! Owns the promise that exactly the planned versions are installed: a plan waits for its client, and is taken by its token.

use std::rc::Rc;

use harbor_ipc_proto::client::InstalledView;
use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_ipc_proto::server_id::ServerId;
use harbor_policy::package::Ecosystem;

use super::failures::{NOTHING, failed, needs_build};
use super::installations::{InstallCaller, Installations};
use super::installed::{lacking, shown};
use super::package_request::RequestedInstall;
use super::staged::{InstallStage, PlannedVersions, gone};
use super::trial::Trial;
use crate::store::locks::Lock;
use crate::store::packages::lock::OF_COMMIT;
use crate::store::packages::registries;

/// The versions that a plan of this client has found out. Without a plan, none are known yet.
pub(super) fn planned(
    installs: &Installations,
    caller: &InstallCaller,
    wanted: &RequestedInstall,
    token: Option<&str>,
) -> Result<PlannedVersions, ErrorBody> {
    let Some(token) = token else { return Ok(PlannedVersions::of(wanted.package.clone())) };
    if let Some(planned) = installs.staged.planned(caller.client(), &wanted.id, token) {
        return Some(planned)
            .filter(|planned| planned.wanted == wanted.package)
            .ok_or_else(|| gone("planned"));
    }
    let looked = installs.staged.looked(caller.client(), token).ok_or_else(|| gone("planned"))?;
    let package = looked.exactly(&wanted.package);
    Ok(PlannedVersions { package, looked: Some(looked), ..PlannedVersions::of(wanted.package.clone()) })
}

/// Finds out the versions, and keeps them for the client.
pub(super) async fn plan(
    installs: &Installations,
    caller: &InstallCaller,
    id: &ServerId,
    planned: PlannedVersions,
    trial: &Trial,
) -> Result<InstalledView, ErrorBody> {
    let plan = trial.plan(caller.steps.clone()).await.map_err(|error| failed(id, &error, NOTHING, &[]))?;
    let planned = planned.with(plan);
    let view = shown(id, &planned.package, planned.lock.as_deref());
    let needs_build = planned.lock.is_none().then_some(true);
    // For a repository, the commit that would be built is known.
    let commit = planned.package.address().1.filter(|_| needs_build.is_some()).map(str::to_owned);
    let commit = commit.filter(|_| planned.package.ecosystem == Ecosystem::Git);
    let integrity = commit.as_ref().map(|commit| format!("{OF_COMMIT}{commit}"));
    let unfit = trial.unfit();
    let ecosystem = planned.package.ecosystem;
    let token = installs.staged.keep(caller.client(), id, InstallStage::Planned(Box::new(planned)));
    Ok(InstalledView {
        planned: Some(token),
        needs_build,
        registry: registry(installs, ecosystem).await,
        python: view.python.or_else(|| lacking(&unfit)),
        newest: unfit.newest,
        version: view.version.or(commit),
        integrity: view.integrity.or(integrity),
        ..view
    })
}

/// The registry that the person's settings name instead of the public one, in the form for the person.
async fn registry(installs: &Installations, ecosystem: Ecosystem) -> Option<String> {
    let runtimes = installs.supervisor.runtimes();
    let found = move || registries::of(ecosystem, runtimes.look().get("uv").is_some());
    let found = tokio::task::spawn_blocking(found).await.ok().flatten();
    found.map(|found| found.shown)
}

/// The versions that a client was shown, else the newest ones. Nothing of them is installed.
pub(super) async fn agreed(
    caller: &InstallCaller,
    id: &ServerId,
    planned: PlannedVersions,
    trial: &Trial,
) -> Result<Rc<Lock>, ErrorBody> {
    let planned = match planned.lock {
        Some(_) => planned,
        None => planned
            .with(trial.plan(caller.steps.clone()).await.map_err(|error| failed(id, &error, NOTHING, &[]))?),
    };
    let lock = planned.lock.ok_or_else(needs_build)?;
    Ok(Rc::new(Lock { installed_at: None, ..Lock::clone(&lock) }))
}
