//! Packages that servers have: their versions and what is known of them.
//!
//! Owns the views. Must never look for another version.

use std::rc::Rc;

use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_ipc_proto::client::{
    FileView, GetServerStatusResult, InstalledView, ListInstalledResult, PythonView,
};
use harbor_ipc_proto::codes::Code;
use harbor_ipc_proto::download::Unpacked;
use harbor_ipc_proto::server_id::ServerId;
use harbor_policy::package::older::UnfitVersion;
use harbor_policy::package::{Ecosystem, Package};

use super::claims::busy;
use super::installations::Installations;
use crate::host::server_view;
use crate::store::locks::{Lock, Locked, LockedPython};
use crate::supervisor::Server;

/// A package in a version, in the form for the person.
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

/// The package of a server, in the form for the person.
pub(super) fn installed(installs: &Installations, server: &Rc<Server>) -> Option<InstalledView> {
    let package = server.definition().package()?;
    let previous = installs.supervisor.locked(server.id()).and_then(|locked| locked.previous);
    let previous = previous.filter(|previous| previous.is_of(&package)).map(|lock| lock.version.clone());
    let seen = shown(server.id(), &package, server.lock().as_deref());
    let lost = installs.supervisor.lost_lock(server.id());
    Some(InstalledView { previous, lost, server: Some(server_view(&installs.host, server)), ..seen })
}

/// One server's status, and whether its next start could succeed.
pub(super) async fn status(
    installs: &Installations,
    id: &ServerId,
) -> Result<GetServerStatusResult, ErrorBody> {
    let server = installs.host.server(id)?;
    let package = installed(installs, &server).map(|package| InstalledView { server: None, ..package });
    let why_not = match installs.supervisor.is_claimed(id) {
        true => Some((Vec::new(), busy(id).message)),
        false => server.cannot_start().await,
    };
    let (missing_secrets, why_not) =
        why_not.map_or((Vec::new(), None), |(missing, why)| (missing, Some(why)));
    Ok(GetServerStatusResult {
        server: server_view(&installs.host, &server),
        package,
        missing_secrets,
        can_start: why_not.is_none(),
        why_not,
    })
}

pub(super) fn list(installs: &Installations) -> ListInstalledResult {
    let all = installs.supervisor.all();
    ListInstalledResult { servers: all.iter().filter_map(|server| installed(installs, server)).collect() }
}

/// A server's package, and the version of it that is used; `None` if that was lost.
pub(super) fn locked(
    installs: &Installations,
    server: &Server,
) -> Result<(Package, Option<Locked>), ErrorBody> {
    let id = server.id();
    let wrong = |message: String| ErrorBody::new(Code::InvalidParams, message).with("field", "server_id");
    let package = server.definition().package();
    let package =
        package.ok_or_else(|| wrong(format!("{id} has no package: Harbor runs its command unchanged")))?;
    let locked = installs.supervisor.locked(id).filter(|locked| locked.current.is_of(&package));
    if locked.is_none() && installs.supervisor.lost_lock(id).is_none() {
        return Err(wrong(format!("{id} is not installed yet; `harbor start {id}` does that")));
    }
    Ok((package, locked))
}
