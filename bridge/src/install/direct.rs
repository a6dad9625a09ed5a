//! Installations in one step: an image, a remote server. There is no version to find out.
//!
//! ```text
//!  it lacks a secret ───────────────► only the definition: it is started once that is set
//!  else ─► tried out ─┬─ it runs ────► definition, server
//!                     ├─ a sign-in ──► definition, server, whose state says so
//!                     └─ it does not ► nothing is left
//! ```
//!
//! Owns the three ways. Must never store a secret of a server that is not kept.

use std::rc::Rc;

use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_ipc_proto::client::{InstallServer, InstallServerResult, InstalledView};
use harbor_ipc_proto::codes::Code;
use harbor_ipc_proto::field::Message as _;
use harbor_policy::credentials::Credentials;

use super::audit_record::about;
use super::claims::{claim_new, not_claimed, not_there, until_free};
use super::direct_request::DirectInstall;
use super::failures::{NOTHING, failed, names_given};
use super::installations::{InstallCaller, Installations};
use super::replacing::{data_left, old_data, stored};
use super::secrets;
use super::start_preview::RequestNames;
use super::trial::Trial;
use crate::host::asker::Sender;
use crate::host::{sandbox_summary, server_view, to_the_end};
use crate::link::NEEDS_AUTHORIZATION;
use crate::store::definitions::Stored;
use crate::supervisor::{Server, StartError, TrialOf};

/// Installs it, or only shows what would be installed.
pub(super) async fn install(
    installs: &Rc<Installations>,
    caller: &InstallCaller,
    mut whole: DirectInstall,
    said: &RequestNames,
) -> Result<InstallServerResult, ErrorBody> {
    not_there(installs, &whole.id)?;
    if whole.plan {
        return preview(installs, &whole, said).await;
    }
    if !whole.missing.is_empty() {
        let missing = std::mem::take(&mut whole.missing);
        return put_off(installs, caller, whole, missing).await;
    }
    let claim = claim_new(installs, &whole.id).await?;
    let of = TrialOf { secrets: Credentials(whole.given.iter().cloned().collect()), ..TrialOf::default() };
    let trial = Trial::begin(&installs.supervisor, claim, whole.definition.clone(), of);
    let tools = match trial.run_once(caller.steps.clone()).await {
        Ok(tools) => tools.unwrap_or_default(),
        Err(error) if wants_person(&error) => {
            drop(trial);
            return keep_unauthorized(installs, caller, whole).await;
        }
        Err(error) => {
            let given = names_given(&whole.definition, &whole.given);
            return Err(failed(&whole.id, &error, NOTHING, &given));
        }
    };
    let (installs, sender, shown) = (installs.clone(), caller.sender.clone(), whole.shown());
    to_the_end(async move {
        let id = whole.id.clone();
        let (server, old_data) = keep(&installs, &sender, whole).await?;
        drop(trial);
        installs.supervisor.tell_tools(&id, &tools);
        if server.settings().auto_start {
            let server = server.clone();
            tokio::task::spawn_local(async move { server.start(None).await });
        }
        until_free(&installs, &id).await;
        let tools = Some(tools.iter().map(|tool| tool.name.to_string()).collect());
        let server = Some(server_view(&installs.host, &server));
        Ok(InstallServerResult { installed: InstalledView { tools, server, old_data, ..shown } })
    })
    .await
}

/// The server as it would be: nothing of it is started.
async fn preview(
    installs: &Installations,
    whole: &DirectInstall,
    said: &RequestNames,
) -> Result<InstallServerResult, ErrorBody> {
    let held = match whole.definition.remote {
        Some(_) => None,
        None => {
            let held = installs.supervisor.would_be_confined(&whole.id, &whole.definition).await;
            Some(held.map_err(|why| ErrorBody::new(Code::InvalidParams, why).with("field", "sandbox"))?)
        }
    };
    let old_data = data_left(installs, &whole.id).await;
    let settings = held.is_some().then(|| whole.definition.sandbox.clone());
    let sandbox = held.map(|held| sandbox_summary(&held.profile));
    let runs = Some(said.runs(&whole.definition, None));
    Ok(InstallServerResult {
        installed: InstalledView { sandbox, settings, runs, old_data, ..whole.shown() },
    })
}

/// True if the server answers, but wants a sign-in first: nothing is wrong with it.
fn wants_person(error: &StartError) -> bool {
    matches!(error, StartError::Failed(report) if report.cause == NEEDS_AUTHORIZATION)
}

/// Defines a server that wants a sign-in first, and has its state say so.
async fn keep_unauthorized(
    installs: &Rc<Installations>,
    caller: &InstallCaller,
    whole: DirectInstall,
) -> Result<InstallServerResult, ErrorBody> {
    not_claimed(installs, &whole.id).await?;
    not_there(installs, &whole.id)?;
    let (installs, sender, shown) = (installs.clone(), caller.sender.clone(), whole.shown());
    to_the_end(async move {
        let (server, old_data) = keep(&installs, &sender, whole).await?;
        let started = server.start(None).await;
        let needs_authorization = started.is_err_and(|error| wants_person(&error)).then_some(true);
        let server = Some(server_view(&installs.host, &server));
        Ok(InstallServerResult {
            installed: InstalledView { needs_authorization, server, old_data, ..shown },
        })
    })
    .await
}

/// Defines a server that lacks a secret, and does not start it: it would fail, and look as if something were wrong with
/// it. An image is pinned all the same: its name may mean another one later.
async fn put_off(
    installs: &Rc<Installations>,
    caller: &InstallCaller,
    whole: DirectInstall,
    missing: Vec<String>,
) -> Result<InstallServerResult, ErrorBody> {
    let claim = claim_new(installs, &whole.id).await?;
    let of = TrialOf { plan_only: true, ..TrialOf::default() };
    let trial = Trial::begin(&installs.supervisor, claim, whole.definition.clone(), of);
    if whole.definition.image.is_some() {
        trial.pin(caller.steps.clone()).await.map_err(|error| failed(&whole.id, &error, NOTHING, &[]))?;
    }
    let (installs, sender, shown) = (installs.clone(), caller.sender.clone(), whole.shown());
    to_the_end(async move {
        let (server, old_data) = keep(&installs, &sender, whole).await?;
        drop(trial);
        until_free(&installs, server.id()).await;
        let server = Some(server_view(&installs.host, &server));
        Ok(InstallServerResult {
            installed: InstalledView { missing: Some(missing), server, old_data, ..shown },
        })
    })
    .await
}

/// Stores a server whose name is free. Returns the server, and the place of an earlier server's files.
async fn keep(
    installs: &Rc<Installations>,
    sender: &Sender,
    whole: DirectInstall,
) -> Result<(Rc<Server>, Option<String>), ErrorBody> {
    let DirectInstall { id, definition, given, keep_data, .. } = whole;
    let changing = installs.changing.lock().await;
    not_there(installs, &id)?;
    installs.host.trail.decided(InstallServer::TAG, sender, about(&id), true).await?;
    secrets::keep(&installs.host, installs.supervisor.secrets(), sender, &id, given).await?;
    installs.definitions.put(&id, &definition).await.map_err(|error| stored(&error))?;
    let old_data = old_data(installs, &id, &definition, keep_data).await?;
    let looked = installs.supervisor.look(Stored { server_id: id, definition, era: None }).await;
    let (server, _) = installs.supervisor.put(looked);
    // Its secrets came with it.
    installs.host.settle_if_nothing_was_given(server.id(), false).await?;
    drop(changing);
    Ok((server, old_data))
}
