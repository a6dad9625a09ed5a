//! Servers as clients see them.
//!
//! Owns which facts about a server are shown, in replies and pushes. Must never show a value of an environment variable
//! or of a header.

use std::rc::Rc;

use harbor_ipc_proto::client::{
    ConnectionInfo, ExitView, ImageView, LogLine, RemoteView, ServerEvent, ServerLog, ServerView,
};
use harbor_ipc_proto::json::Json;
use harbor_policy::lifecycle::State;
use harbor_policy::remote;
use harbor_policy::telltale::without_secrets;

use super::{Router, sandbox};
use crate::link::{EndReport, Info};
use crate::store::definitions::Remote;
use crate::supervisor::{Line, Server, ServerSnapshot, Source, StateChange};

/// The state of a removed server in events.
const REMOVED: &str = "removed";

/// All servers, by id.
pub(super) fn views(router: &Router) -> Vec<ServerView> {
    router.supervisor.all().iter().map(|server| view(router, server)).collect()
}

pub(super) fn view(router: &Router, server: &Rc<Server>) -> ServerView {
    let (definition, status) = (server.definition(), server.status());
    let changed = u32::try_from(router.host.registry.changed(&**server)).unwrap_or(u32::MAX);
    let running = status.state == State::Running;
    let program_change = router.host.server_change(server.id());
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
        shown_state: router.host.shown_state(server).into(),
        since: status.since,
        busy: status.busy,
        pid: status.pid,
        runner_pid: status.runner_pid,
        tool_count: if running { server.tool_count() } else { last_count(router, server) },
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
        sandbox: server.confined().map(|confined| sandbox::summary(&confined.profile)),
    }
}

/// How many tools a server had in its last list.
fn last_count(router: &Router, server: &Server) -> Option<u32> {
    let known = router.host.registry.known(server)?;
    u32::try_from(known.iter().count()).ok().filter(|count| *count > 0)
}

/// The faults of its lists, a sentence each.
pub(super) fn list_problems(server: &Server) -> Vec<String> {
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
pub(super) fn image_view(server: &Server) -> Option<ImageView> {
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
pub(super) fn connection_info(status: &ServerSnapshot) -> ConnectionInfo {
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

pub(super) fn event(change: &StateChange) -> ServerEvent {
    let word = |state: State| state.as_str().into();
    ServerEvent {
        server_id: change.server.to_string(),
        old_state: change.before.map(word),
        new_state: change.now.map_or(REMOVED.into(), word),
        timestamp: change.timestamp,
        busy: change.busy,
        cause: change.report.as_ref().map(|report| report.cause.into()),
        message: change.report.as_ref().map(|report| report.message.clone()),
        attempt: Some(change.attempt).filter(|attempt| *attempt > 0),
        next_retry: change.next_retry,
        pid: change.pid,
    }
}

pub(super) fn log_line(line: Line) -> LogLine {
    LogLine {
        timestamp: line.timestamp,
        source: source(line.source).into(),
        level: line.level,
        text: line.text,
    }
}

pub(super) fn log_push(server_id: &str, line: &Line) -> ServerLog {
    let LogLine { timestamp, source, level, text } = log_line(line.clone());
    ServerLog { server_id: server_id.to_owned(), timestamp, source, level, text }
}

fn source(source: Source) -> &'static str {
    match source {
        Source::Stderr => "stderr",
        Source::Stdout => "stdout",
        Source::Mcp => "mcp",
        Source::Harbor => "harbor",
        Source::Install => "install",
    }
}
