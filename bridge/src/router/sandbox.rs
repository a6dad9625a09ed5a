//! Messages about the sandbox: what a server may do on this machine.

use std::rc::Rc;

use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_ipc_proto::client::{
    DeniedView, GetSandboxResult, SandboxPath, SandboxSettings, SandboxSummary, SandboxView, SetSandbox,
    SetSandboxResult,
};
use harbor_ipc_proto::codes::Code;
use harbor_ipc_proto::field::Message as _;
use harbor_ipc_proto::link::sandbox::PathAccess;
use harbor_ipc_proto::server_id::ServerId;
use harbor_policy::consent::facts::Reach;
use harbor_policy::sandbox::gaps::without_pid_namespace;
use harbor_policy::sandbox::paths::clean;
use harbor_policy::sandbox::{Profile, SandboxFacts, Why, settings};

use super::client::Client;
use super::servers::{about, replace, stored};
use super::{Handled, Router, invalid, reply, to_the_end};
use crate::store::definitions::Definition;
use crate::supervisor::{Denied, Server};

pub(super) async fn get(router: &Router, id: &ServerId) -> Handled {
    let server = router.host.server(id)?;
    reply(GetSandboxResult { sandbox: view(&server).await })
}

pub(super) async fn set(router: &Rc<Router>, client: &Client, message: SetSandbox) -> Handled {
    let before = router.host.server(&message.server_id)?;
    let looked_at = before.definition();
    let definition = changed(&looked_at, &message)?;
    if definition == *looked_at {
        return reply(SetSandboxResult { sandbox: view(&before).await, restarting: false });
    }
    may_be_granted(router, &message.server_id, &definition).await?;
    // Before anything is stored: a server that runs goes on with the sandbox that it has.
    before.would_be_confined_by(definition.sandbox.clone()).await.map_err(refused)?;
    let (router, sender) = (router.clone(), client.sender());
    to_the_end(async move {
        let server_id = message.server_id;
        router.host.trail.decided(SetSandbox::TAG, &sender, about(&server_id), true).await?;
        let turn = router.changing.lock().await;
        // Both looked at the disk, and waited for the audit log. Meanwhile the server may have
        // been changed or removed.
        let is_same = |now: &Server| Rc::ptr_eq(&now.definition(), &looked_at);
        if !router.supervisor.get(&server_id).is_some_and(|now| is_same(&now)) {
            let message = "the server was changed or removed at the same time; try again";
            return Err(ErrorBody::new(Code::InvalidParams, message).with("field", "server_id"));
        }
        router.definitions.put(&server_id, &definition).await.map_err(|error| stored(&error))?;
        let (server, restarting) = replace(&router, turn, server_id, definition).await;
        reply(SetSandboxResult { sandbox: view(&server).await, restarting })
    })
    .await
}

/// Checks that the sandbox's settings can be granted, even those that the levels `off` and `basic` ignore. A later level
/// would use them, and would refuse them.
pub(super) async fn may_be_granted(
    router: &Router,
    id: &ServerId,
    definition: &Definition,
) -> Result<(), ErrorBody> {
    router.supervisor.may_be_granted(id, definition).await.map_err(refused)
}

/// The error for settings that would keep the server from its next start.
fn refused(why: String) -> ErrorBody {
    ErrorBody::new(Code::InvalidParams, why).with("field", "sandbox")
}

fn changed(definition: &Definition, message: &SetSandbox) -> Result<Definition, ErrorBody> {
    let mut sandbox = definition.sandbox.clone();
    for name in message.reset.iter().flatten() {
        if !sandbox.reset(name) {
            return Err(invalid(
                "reset",
                "level, required, read, write, sockets, network, hosts, listen, memory_mb, processes, open_files, file_size_mb, disk_mb or nice",
            ));
        }
    }
    let sandbox = sandbox.with(SandboxSettings::parse(message.sandbox.0.as_str())?);
    Ok(Definition { sandbox: checked(sandbox)?, ..definition.clone() })
}

/// Checks what the message's types do not, and gives the settings in their one form.
pub(super) fn checked(sandbox: SandboxSettings) -> Result<SandboxSettings, ErrorBody> {
    settings::checked(&sandbox).map_err(|wrong| {
        let body = ErrorBody::new(Code::InvalidParams, wrong.to_string());
        body.with("field", wrong.field).with("expected", &wrong.expected)
    })?;
    Ok(in_one_form(sandbox))
}

/// Settings that mean the same must be equal: an empty list becomes none, and each place is named in one way, once.
fn in_one_form(sandbox: SandboxSettings) -> SandboxSettings {
    let each = |list: Option<Vec<String>>, form: fn(&String) -> String| {
        let mut named: Vec<String> = Vec::new();
        for entry in list.iter().flatten().map(form) {
            if !named.contains(&entry) {
                named.push(entry);
            }
        }
        Some(named).filter(|list| !list.is_empty())
    };
    let path = |path: &String| clean(path).unwrap_or_else(|| path.clone());
    SandboxSettings {
        required: sandbox.required.filter(|required| *required),
        read: each(sandbox.read, path),
        write: each(sandbox.write, path),
        sockets: each(sandbox.sockets, path),
        hosts: each(sandbox.hosts, |host| host.to_ascii_lowercase()),
        ..sandbox
    }
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
            summary: with_containment(server, summary(&confined.profile)),
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
            let held_by = "nothing, since it is not started".into();
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

/// A server's sandbox, in short.
pub(super) fn summary(profile: &Profile) -> SandboxSummary {
    SandboxSummary {
        level: profile.level.as_str().into(),
        held_by: profile.held_by.clone(),
        network: profile.network.as_str().into(),
        missing: profile.missing.clone(),
        warnings: profile.warnings.clone(),
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_says_nothing_is_not_there() {
        let parsed = |text: &str| checked(SandboxSettings::parse(text).unwrap()).unwrap();
        let empty = r#"{"required":false,"read":[],"write":[],"sockets":[],"hosts":[]}"#;
        assert_eq!(parsed(empty), SandboxSettings::default());
        let twice = r#"{"read":["/a/","/a","//a/."],"network":"hosts","hosts":["X.org","x.ORG"]}"#;
        let once = r#"{"read":["/a"],"network":"hosts","hosts":["x.org"]}"#;
        assert_eq!(parsed(twice), SandboxSettings::parse(once).unwrap());
        let full = r#"{"level":"strict","required":true,"read":["/a"],"write":["/b"],"sockets":["/c"],"network":"hosts","hosts":["x.org"],"memory_mb":64}"#;
        assert_eq!(parsed(full), SandboxSettings::parse(full).unwrap());
    }
}
