//! The installation of a package.
//!
//! ```text
//!  plan ─► versions, hashes ─► staged ─┐
//!  install_server ─────────────────────┴─► claim the name ─► tried out ─► lock, definition, secrets, server
//!                                                               └─ dropped before: nothing is left
//! ```
//!
//! Owns that a server is there only once all of it is. Must never start what was not tried out, unless it lacks a secret.

use std::rc::Rc;

use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_ipc_proto::client::{InstallServer, InstallServerResult, InstalledView, NetworkKind};
use harbor_ipc_proto::codes::Code;
use harbor_ipc_proto::field::Message as _;
use harbor_policy::consent::facts::says_open;
use harbor_policy::credentials::Credentials;
use harbor_policy::package::older::UnfitVersion;
use harbor_policy::sandbox::settings::network;

use super::audit_record::about;
use super::claims::{claim_new, not_there, until_free};
use super::failures::{NOTHING, failed};
use super::installations::{InstallCaller, Installations};
use super::installed::shown;
use super::package_request::{RequestedInstall, wanted};
use super::planning::{agreed, plan, planned};
use super::replacing::{data_left, old_data, stored};
use super::sandbox_settings::may_be_granted;
use super::start_preview::RequestNames;
use super::trial::{Installed, Trial};
use super::{next_try, secrets};
use crate::host::asker::Sender;
use crate::host::{sandbox_summary, server_view, to_the_end};
use crate::link::ToolList;
use crate::store::definitions::{Definition, Stored};
use crate::store::locks::{Lock, Locked};
use crate::supervisor::{Server, TrialOf};

/// Installs a package, or only plans that.
pub(super) async fn install(
    installs: &Rc<Installations>,
    caller: &InstallCaller,
    mut message: InstallServer,
    said: &RequestNames,
    missing: Vec<String>,
) -> Result<InstallServerResult, ErrorBody> {
    let (plan_only, may_build) = (message.plan == Some(true), message.build == Some(true));
    let without_network = message.without_network == Some(true);
    let token = message.planned.take();
    let wanted = wanted(message)?;
    let (id, definition) = (&wanted.id, &wanted.definition);
    not_there(installs, id)?;
    let planned = planned(installs, caller, &wanted, token.as_deref())?;
    may_be_granted(&installs.supervisor, id, definition).await?;
    let held = installs.supervisor.would_be_confined(id, definition).await;
    let held = held.map_err(|why| ErrorBody::new(Code::InvalidParams, why).with("field", "sandbox"))?;
    let claim = claim_new(installs, id).await?;
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
    let trial = Trial::begin(&installs.supervisor, claim, definition.clone(), of);
    if plan_only {
        let view = plan(installs, caller, id, planned, &trial).await?;
        let runs = Some(said.runs(definition, trial.lock().and_then(|lock| lock.program.clone())));
        let (sandbox, settings) = (Some(sandbox_summary(&held.profile)), Some(definition.sandbox.clone()));
        let old_data = data_left(installs, id).await;
        let installed = InstalledView { sandbox, settings, runs, old_data, ..view };
        return Ok(InstallServerResult { installed });
    }
    let outcome = match missing.is_empty() {
        true => try_out(caller, &wanted, &trial, without_network).await?,
        false => InstallOutcome::Agreed(agreed(caller, id, planned, &trial).await?, missing),
    };
    keep(installs, caller, wanted, outcome, trial).await
}

/// Starts it, if wanted also without the network.
async fn try_out(
    caller: &InstallCaller,
    wanted: &RequestedInstall,
    trial: &Trial,
    without_network: bool,
) -> Result<InstallOutcome, ErrorBody> {
    match trial.run(caller.steps.clone()).await {
        Ok(installed) => {
            let is_tried = without_network && may_do_without_network(&wanted.definition, &installed);
            let runs_without = is_tried && trial.runs_without_network(None).await;
            Ok(InstallOutcome::Installed(installed, is_tried.then_some(runs_without)))
        }
        Err(error) => {
            let failed = failed(&wanted.id, &error, NOTHING, &wanted.names());
            Err(next_try::told(trial, wanted, &error, failed).await)
        }
    }
}

/// True if a server that has the network may do without: none of its tools says that it reaches out.
fn may_do_without_network(definition: &Definition, installed: &Installed) -> bool {
    let mut tools = installed.tools.iter().flat_map(|tools| tools.iter());
    network(&definition.sandbox) == NetworkKind::All && !tools.any(|tool| says_open(tool.annotations()))
}

/// An installation that becomes a server.
enum InstallOutcome {
    /// It was tried out; the flag tells whether it runs without the network, where that was tried.
    Installed(Installed, Option<bool>),
    /// It lacks secrets: its first start installs exactly this.
    Agreed(Rc<Lock>, Vec<String>),
}

/// Makes a server of an installation.
async fn keep(
    installs: &Rc<Installations>,
    caller: &InstallCaller,
    wanted: RequestedInstall,
    outcome: InstallOutcome,
    trial: Trial,
) -> Result<InstallServerResult, ErrorBody> {
    let (installs, sender) = (installs.clone(), caller.sender.clone());
    to_the_end(async move {
        let (id, package) = (wanted.id.clone(), wanted.package.clone());
        installs.host.trail.decided(InstallServer::TAG, &sender, about(&id), true).await?;
        let (lock, tools, missing, runs_without_network) = match outcome {
            InstallOutcome::Installed(Installed { lock, tools }, runs) => {
                (lock, Some(tools.unwrap_or_default()), None, runs)
            }
            InstallOutcome::Agreed(lock, missing) => (lock, None, Some(missing), None),
        };
        let locked = Locked { current: lock.clone(), previous: None };
        installs.supervisor.lock(&id, locked).await.map_err(|error| stored(&error))?;
        let (server, old_data) = define(&installs, &sender, wanted).await?;
        drop(trial);
        installs.staged.drop_of(&id);
        tools.iter().for_each(|tools| installs.supervisor.tell_tools(&id, tools));
        if missing.is_none() && server.settings().auto_start {
            let server = server.clone();
            tokio::task::spawn_local(async move { server.start(None).await });
        }
        until_free(&installs, &id).await;
        let tools = tools.map(|tools| names(&tools));
        let installed = shown(&id, &package, Some(&lock));
        let server = Some(server_view(&installs.host, &server));
        Ok(InstallServerResult {
            installed: InstalledView { tools, missing, runs_without_network, server, old_data, ..installed },
        })
    })
    .await
}

/// Stores its definition and secrets, and puts the server in its place. Gives it, and the place of an earlier server's files.
async fn define(
    installs: &Installations,
    sender: &Sender,
    wanted: RequestedInstall,
) -> Result<(Rc<Server>, Option<String>), ErrorBody> {
    let RequestedInstall { id, package: _, definition, given, keep_data } = wanted;
    let _changing = installs.changing.lock().await;
    // Without its definition the lock file is nobody's, and goes at the next start.
    installs.definitions.put(&id, &definition).await.map_err(|error| stored(&error))?;
    let kept = secrets::keep(&installs.host, installs.supervisor.secrets(), sender, &id, given).await;
    if let Err(error) = kept {
        // A server that cannot start does not count as installed.
        installs.definitions.take_back(&id).await.map_err(|error| stored(&error))?;
        return Err(error);
    }
    let old_data = old_data(installs, &id, &definition, keep_data).await?;
    let looked = installs.supervisor.look(Stored { server_id: id.clone(), definition, era: None }).await;
    let (server, _) = installs.supervisor.put(looked);
    // Its secrets came with it.
    installs.host.settle_if_nothing_was_given(&id, false).await?;
    Ok((server, old_data))
}

fn names(tools: &ToolList) -> Vec<String> {
    tools.iter().map(|tool| tool.name.to_string()).collect()
}
