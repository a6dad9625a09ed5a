//! The declarations of a repository, or a manifest, about the installation of its server.
//!
//! ```text
//!  git:… ─► a trial that only fetches ─► commit, files ─► policy::recipe::repository ─► Looked ─► staged for its client
//!  manifest ───────────────────────────────────────────►              (what this machine lacks: barred)
//! ```
//!
//! Owns the promise that what was read is what is installed: the commit goes with it. Must never run anything of a
//! repository, nor leave anything of it on the disk.

use std::rc::Rc;

use harbor_ipc_proto::client::AddServer;
use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_ipc_proto::codes::Code;
use harbor_ipc_proto::field::JsonObject;
use harbor_ipc_proto::server_id::ServerId;
use harbor_policy::package::{Content, Ecosystem, Package, source};
use harbor_policy::recipe::repository::{FoundManifest, Programs, find, of_document};

use super::definition::definition;
use super::failures::{NOTHING, failed};
use super::installations::{InstallCaller, Installations};
use super::read_source::ReadSource;
use super::trial::Trial;
use crate::host::invalid;
use crate::runtimes::version_of;
use crate::supervisor::{StartError, TrialOf};

/// The longest name of a manifest.
const MAX_NAME: usize = 4096;

/// The package of a repository; `None` for any other source.
pub(super) fn repository(text: &str) -> Option<Package> {
    source::read(text, &[]).ok().filter(|package| package.ecosystem == Ecosystem::Git)
}

/// Reads a repository.
pub(super) async fn look(
    installs: &Rc<Installations>,
    caller: &InstallCaller,
    package: Package,
) -> Result<ReadSource, ErrorBody> {
    let here = package.source();
    let claim = installs.supervisor.claim_any().await.ok_or_else(|| {
        let message = "too many repositories are being read; try again later";
        ErrorBody::new(Code::InvalidParams, message).with("field", "source")
    })?;
    let id = claim.id().clone();
    let of = TrialOf { package: Some(package.clone()), look_only: true, ..TrialOf::default() };
    let trial = Trial::begin(&installs.supervisor, claim, definition(plain(&id, &here))?, of);
    let (commit, files) = trial.look(caller.steps.clone()).await.map_err(|why| unread(&id, &here, &why))?;
    let own = files.own.as_ref().ok().copied();
    let found = find(&files, &here).map_err(|why| refused(&here, &why))?;
    let found = fitting(installs, found, own, &here).await?;
    let at = package.exactly(&commit).unwrap_or(package);
    Ok(ReadSource { source: here, package: Some(at), found })
}

/// Reads a manifest that the client sends.
pub(super) async fn read(
    installs: &Installations,
    name: &str,
    manifest: &JsonObject,
) -> Result<ReadSource, ErrorBody> {
    if name.len() > MAX_NAME || name.chars().any(char::is_control) {
        return Err(invalid("source", "the manifest's name: a file"));
    }
    let found = of_document(manifest.0.as_str().as_bytes());
    let found = found.map_err(|why| refused(name, &why))?;
    Ok(ReadSource {
        source: name.to_owned(),
        package: None,
        found: fitting(installs, found, None, "").await?,
    })
}

fn plain(id: &ServerId, command: &str) -> AddServer {
    AddServer {
        keep_data: None,
        script: None,
        module: None,
        keep_env: None,
        server_id: id.clone(),
        command: Some(command.to_owned()),
        image: None,
        engine: None,
        args: None,
        env: None,
        cwd: None,
        label: None,
        roots: None,
        supervision: None,
        as_is: None,
        sandbox: None,
        secrets: None,
    }
}

/// The error for an unreadable repository, without the name under which it was fetched: the person does not know that name.
fn unread(id: &ServerId, here: &str, why: &StartError) -> ErrorBody {
    let error = failed(id, why, NOTHING, &[]);
    let said = error.message.replace("the package could not be installed: ", "");
    ErrorBody { message: format!("{here} could not be read: {said}"), ..error }
}

fn refused(source: &str, why: &str) -> ErrorBody {
    ErrorBody::new(Code::InvalidParams, format!("{source}: {why}")).with("field", "source")
}

/// Bars the ways that this machine cannot go.
async fn fitting(
    installs: &Installations,
    mut found: FoundManifest,
    own: Option<Content>,
    here: &str,
) -> Result<FoundManifest, ErrorBody> {
    let (runtimes, here) = (installs.supervisor.runtimes(), here.to_owned());
    let looked = tokio::task::spawn_blocking(move || {
        let looked = runtimes.look();
        // Only programs with a minimum version are asked for theirs.
        let version = |name: &str, path: &str| {
            (["node", "python"].contains(&name) && found.says.minimum.is_some())
                .then(|| version_of(path, &looked.path))
                .flatten()
        };
        let programs: Programs<'_> = looked
            .all()
            .filter_map(|(runtime, found)| Some((runtime.name, version(runtime.name, found?.0))))
            .collect();
        found.fits(own, &here, &programs);
        found
    });
    looked.await.map_err(|error| ErrorBody::new(Code::Internal, error.to_string()))
}
