//! Servers as clients see them.
//!
//! Owns which facts about a server are shown. Must never show a value of an environment variable or of a header.

use std::rc::Rc;

use harbor_ipc_proto::client::{ConnectionInfo, ExitView, ImageView, RemoteView, SandboxSummary, ServerView};
use harbor_ipc_proto::json::Json;
use harbor_policy::lifecycle::State;
use harbor_policy::remote;
use harbor_policy::sandbox::Profile;
use harbor_policy::telltale::without_secrets;

use super::Host;
use crate::link::{EndReport, Info};
use crate::store::definitions::Remote;
use crate::supervisor::{Server, ServerSnapshot};

/// All servers, by id.
#[must_use]
pub fn all_server_views(host: &Host) -> Vec<ServerView> {
    host.supervisor.all().iter().map(|server| server_view(host, server)).collect()
}

/// A server as clients see it.
#[must_use]
pub fn server_view(host: &Host, server: &Rc<Server>) -> ServerView {
    let (definition, status) = (server.definition(), server.status());
    let changed = u32::try_from(host.registry.changed(&**server)).unwrap_or(u32::MAX);
    let running = status.state == State::Running;
    let program_change = host.server_change(server.id());
    let contained = status.containment.as_deref();
    ServerView {
        server_id: server.id().to_string(),
        label: server.label().to_owned(),
        command: definition.command.clone(),
        image: image_view(server),
        args: without_secrets(&definition.args),
        env_names: definition.env.keys().cloned().collect(),
        cwd: definition.cwd.clone(),
        state: status.state.as_str().into(),
        shown_state: host.shown_state(server).into(),
        since: status.since,
        busy: status.busy,
        pid: status.pid,
        runner_pid: status.runner_pid,
        tool_count: if running { server.tool_count() } else { last_count(host, server) },
        list_problems: Some(list_problems(server)).filter(|problems| running && !problems.is_empty()),
        changed_tools: (changed > 0).then_some(changed),
        program_change,
        restarts: status.restarts,
        attempt: status.attempt,
        next_retry: status.next_retry,
        last_error: status.last_exit.as_ref().map(|report| report.message.clone()),
        last_exit: status.last_exit.as_deref().map(exit),
        queued: status.queued,
        late_answers: status.late_answers,
        containment: contained
            .map(|held| match held.pid_namespace {
                _ if server.has_image() => "container",
                true => "pid_namespace",
                false => "process_group",
            })
            .map(Into::into),
        containment_reason: contained
            .filter(|held| !held.pid_namespace && !server.has_image())
            .map(|held| held.why.clone()),
        protocol_version: status.info.map(|info| info.protocol_version),
        package: server.package(),
        integrity: server.lock().map(|lock| lock.integrity.clone()),
        remote: definition.remote.as_ref().map(remote_view),
        supervision: definition.supervision.clone(),
        sandbox: server.confined().map(|confined| sandbox_summary(&confined.profile)),
    }
}

/// How many tools a server had in its last list.
fn last_count(host: &Host, server: &Server) -> Option<u32> {
    let known = host.registry.known(server)?;
    u32::try_from(known.iter().count()).ok().filter(|count| *count > 0)
}

/// The faults of its lists, a sentence each.
fn list_problems(server: &Server) -> Vec<String> {
    server.list_problems().into_iter().map(|problem| problem.why).collect()
}

fn remote_view(server: &Remote) -> RemoteView {
    RemoteView {
        url: remote::shown(&server.url),
        transport_type: server.transport.as_str().into(),
        header_names: server.headers.keys().cloned().collect(),
    }
}

/// The image of a server, if it runs one.
#[must_use]
pub fn image_view(server: &Server) -> Option<ImageView> {
    let definition = server.definition();
    let image = definition.image.as_ref()?;
    let pinned = server.pinned();
    let engine = pinned.as_ref().map(|pinned| pinned.engine).or(image.engine());
    Some(ImageView {
        reference: image.reference.clone(),
        engine: engine.map(harbor_policy::container::Engine::as_str).map(Into::into),
        id: pinned.as_ref().map(|pinned| pinned.id.clone()),
        digest: pinned.and_then(|pinned| pinned.digest),
    })
}

fn exit(report: &EndReport) -> ExitView {
    ExitView {
        cause: report.cause.into(),
        message: report.message.clone(),
        exit_code: report.exit_code,
        signal: report.signal,
        stderr_tail: Some(report.stderr_tail.clone()).filter(|tail| !tail.is_empty()),
        timestamp: report.timestamp,
    }
}

/// The server's facts about itself; empty if it has ended meanwhile.
#[must_use]
pub fn connection_info(status: &ServerSnapshot) -> ConnectionInfo {
    let info = status.info.as_ref();
    let text = |get: fn(&Info) -> &String| info.map(get).cloned().unwrap_or_default();
    ConnectionInfo {
        server_name: text(|info| &info.name),
        server_version: text(|info| &info.version),
        protocol_version: text(|info| &info.protocol_version),
        capabilities: info.map_or_else(|| Json::from_valid("{}".into()), |info| info.capabilities.clone()),
        instructions: info.and_then(|info| info.instructions.clone()),
    }
}

/// A server's sandbox, in short.
#[must_use]
pub fn sandbox_summary(profile: &Profile) -> SandboxSummary {
    SandboxSummary {
        level: profile.level.as_str().into(),
        held_by: profile.held_by.clone(),
        network: profile.network.as_str().into(),
        missing: profile.missing.clone(),
        warnings: profile.warnings.clone(),
    }
}
