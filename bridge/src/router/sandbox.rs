//! Messages about the sandbox: what a server may do on this machine.

use harbor_ipc_proto::client::{
    DeniedView, GetSandboxResult, SandboxPath, SandboxSettings, SandboxSummary, SandboxView, SetSandbox,
    SetSandboxResult,
};
use harbor_ipc_proto::link::sandbox::PathAccess;
use harbor_ipc_proto::server_id::ServerId;
use harbor_policy::consent::facts::Reach;
use harbor_policy::sandbox::gaps::without_pid_namespace;
use harbor_policy::sandbox::{Profile, SandboxFacts, Why, settings};

use super::client::Client;
use super::reply::{Handled, reply};
use super::state::Router;
use crate::host::sandbox_summary;
use crate::supervisor::{Denied, Server};

pub(super) async fn set(router: &Router, client: &Client, message: SetSandbox) -> Handled {
    let (server, restarting) = router.installs.set_sandbox(&client.sender(), message).await?;
    reply(SetSandboxResult { sandbox: view(&server).await, restarting })
}

pub(super) async fn get(router: &Router, id: &ServerId) -> Handled {
    let server = router.host.server(id)?;
    reply(GetSandboxResult { sandbox: view(&server).await })
}

async fn view(server: &Server) -> SandboxView {
    let reach = server.holding().await.reach.word().into();
    SandboxView { reach, ..held(server).await }
}

async fn held(server: &Server) -> SandboxView {
    let settings = server.definition().sandbox.clone();
    let denied = server.denied().iter().map(denied).collect();
    match server.would_be_confined().await {
        Err(held_by) if server.definition().remote.is_some() => unheld(settings, "remote", held_by, None),
        Ok(confined) => SandboxView {
            settings,
            summary: with_containment(server, sandbox_summary(&confined.profile)),
            refused: None,
            paths: confined.profile.places.iter().map(|found| place(found, &confined.facts)).collect(),
            hidden: hidden(&confined.profile),
            limits: limits(&confined.profile),
            env_names: server.env_names(&confined),
            denied,
            reach: Reach::Open.word().into(),
        },
        Err(why) => {
            let level = settings.level.unwrap_or_default().as_str();
            let held_by = "no value, since Harbor does not start it".into();
            SandboxView { denied, ..unheld(settings, level, held_by, Some(why)) }
        }
    }
}

/// The view of a server that no start puts in a sandbox.
fn unheld(
    settings: SandboxSettings,
    level: &'static str,
    held_by: String,
    refused: Option<String>,
) -> SandboxView {
    SandboxView {
        summary: SandboxSummary {
            level: level.into(),
            held_by,
            network: settings::network(&settings).as_str().into(),
            missing: Vec::new(),
            warnings: Vec::new(),
        },
        settings,
        refused,
        paths: Vec::new(),
        hidden: Vec::new(),
        limits: Vec::new(),
        env_names: Vec::new(),
        denied: Vec::new(),
        reach: Reach::Open.word().into(),
    }
}

/// Adds a missing PID namespace: that is only known after a start.
fn with_containment(server: &Server, mut summary: SandboxSummary) -> SandboxSummary {
    let held = server.status().containment.filter(|held| !held.pid_namespace && !server.shares_its_runner());
    summary.missing.extend(held.map(|held| without_pid_namespace(&held.why)));
    summary
}

fn hidden(profile: &Profile) -> Vec<String> {
    let mounts = profile.launch.mounts.iter();
    mounts.flat_map(|mounts| mounts.hidden.iter().map(ToString::to_string)).collect()
}

fn limits(profile: &Profile) -> Vec<String> {
    let of = &profile.launch.limits;
    let mib = |bytes: Option<u64>, what: &str| bytes.map(|bytes| format!("{} MiB {what}", bytes >> 20));
    let number = |number: Option<u64>, what: &str| number.map(|number| format!("{number} {what}"));
    let all = [
        mib(of.memory, "of memory"),
        number(of.processes, "processes and threads"),
        number(of.open_files, "open files of each process"),
        mib(of.file_size, "for each file"),
        mib(of.disk, "of disk"),
    ];
    all.into_iter().flatten().collect()
}

fn place(place: &harbor_policy::sandbox::SandboxPlace, facts: &SandboxFacts) -> SandboxPath {
    let access = match place.access {
        PathAccess::Read => "read",
        PathAccess::Write => "write",
        PathAccess::Device => "device",
    };
    let mut granted = facts.granted.iter().filter(|(given, real)| *real == place.path && given != real);
    let granted_as = granted.next().filter(|_| place.why == Why::Granted).map(|(given, _)| given.clone());
    SandboxPath { path: place.path.clone(), access: access.into(), why: why(place.why).into(), granted_as }
}

fn why(why: Why) -> &'static str {
    match why {
        Why::System => "system",
        Why::Program => "program",
        Why::Package => "package",
        Why::Data => "data",
        Why::Temporary => "temporary",
        Why::Argument => "argument",
        Why::Cwd => "cwd",
        Why::Granted => "granted",
    }
}

fn denied(denied: &Denied) -> DeniedView {
    DeniedView {
        path: denied.path.clone(),
        write: denied.write,
        allow: denied.advice.as_ref().ok().map(|advice| advice.option.clone()),
        mind: denied.advice.as_ref().ok().and_then(|advice| advice.mind).map(Into::into),
        never: denied.advice.as_ref().err().cloned(),
    }
}
