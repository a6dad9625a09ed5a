//! The way that each source goes.
//!
//! ```text
//!  source ─► sorted ─┬─ an entry, a repository, a manifest ─► its recipe, filled in ─► one of the others
//!                    ├─ a package ─► packages
//!                    └─ an image, a remote server ─► direct
//! ```
//!
//! Owns which way a source goes. Must never take an entry's word for the person's.

use std::rc::Rc;

use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_ipc_proto::client::{
    GetCuratedListResult, InstallServer, InstallServerResult, ResolveServer, ResolveServerResult,
};
use harbor_policy::curated::CURATED;
use harbor_policy::recipe::source::InstallSource;

use super::direct_request::{DirectInstall, of_image, of_remote};
use super::entries::{FoundEntry, NamedSource};
use super::filling::expanded;
use super::installations::{InstallCaller, Installations};
use super::sandbox_settings::may_be_granted;
use super::source_kinds::{is_of_packages, lacking, nothing_of_remotes, sample, sorted, wrong};
use super::start_preview::RequestNames;
use super::{direct, packages};
use crate::host::invalid;

pub(super) async fn install(
    installs: &Rc<Installations>,
    caller: &InstallCaller,
    message: InstallServer,
) -> Result<InstallServerResult, ErrorBody> {
    let said = RequestNames::of(&message);
    let incomplete = message.incomplete == Some(true);
    if incomplete && message.plan != Some(true) {
        return Err(invalid("incomplete", "only with `plan`"));
    }
    let message = expanded(installs, caller, message).await?;
    if let Some(sample) = sample(&message.source).filter(|_| incomplete) {
        let source = message.source.clone();
        let whole = DirectInstall { name: source.clone(), source, ..of_remote(sample, message)? };
        return direct::install(installs, caller, whole, &said).await;
    }
    match sorted(&message.source)? {
        InstallSource::Package(source) => {
            let message = InstallServer { source, ..message };
            nothing_of_remotes(&message)?;
            let missing = lacking(&message);
            packages::install(installs, caller, message, &said, missing).await
        }
        InstallSource::Image(_) | InstallSource::Remote(_) if is_of_packages(&message) => {
            Err(invalid("install_env", "only for a package, as `with`"))
        }
        InstallSource::Image(image) => {
            let whole = of_image(image, message)?;
            may_be_granted(&installs.supervisor, &whole.id, &whole.definition).await?;
            direct::install(installs, caller, whole, &said).await
        }
        InstallSource::Remote(url) => {
            direct::install(installs, caller, of_remote(url, message)?, &said).await
        }
        InstallSource::Entry(_) => Err(wrong("the entry has no source")),
    }
}

pub(super) async fn resolve(
    installs: &Rc<Installations>,
    caller: &InstallCaller,
    message: ResolveServer,
) -> Result<ResolveServerResult, ErrorBody> {
    let ResolveServer { source, manifest, package, progress: _ } = message;
    let wanted = NamedSource { source: &source, manifest: manifest.as_ref(), planned: None };
    let found = wanted.find(installs, caller).await?;
    let found = match found {
        Some(found) => found,
        None => FoundEntry::of_person(&source, &sorted(&source)?),
    };
    Ok(ResolveServerResult { server: found.view(installs, package)? })
}

pub(super) fn curated(installs: &Installations) -> Result<GetCuratedListResult, ErrorBody> {
    let servers = CURATED.iter().map(|curated| FoundEntry::of_harbor(curated).view(installs, None));
    Ok(GetCuratedListResult { servers: servers.collect::<Result<_, _>>()? })
}
