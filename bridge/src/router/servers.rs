//! Messages about definitions and the servers' lives.

use std::collections::BTreeMap;
use std::path::Path;
use std::rc::Rc;

use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_ipc_proto::client::{
    AddServer, AddServerResult, ConnectServerResult, ConnectionInfo, DisconnectServerResult,
    ListServersResult, LogLine, McpGetLogs, McpGetLogsResult, RemoveServer, RemoveServerResult, ServerView,
};
use harbor_ipc_proto::codes::Code;
use harbor_ipc_proto::json::Json;
use harbor_ipc_proto::link::runner::LogSource;
use harbor_ipc_proto::server_id::ServerId;
use harbor_policy::lifecycle::State;
use harbor_policy::{environment, limits};

use super::{Handled, Router, invalid, reply};
use crate::host::start_failed;
use crate::store::StoreError;
use crate::store::definitions::{Definition, Stored};
use crate::supervisor::{ListKind, Server, Status};

/// Log lines that are given when a request does not say how many.
const LOG_LINES: u64 = 200;

/// A change that is stored is also made, even when its client leaves in the middle of it.
async fn to_the_end(change: impl Future<Output = Handled> + 'static) -> Handled {
    let done = tokio::task::spawn_local(change).await;
    done.unwrap_or_else(|_| Err(ErrorBody::new(Code::ShuttingDown, "the bridge is shutting down")))
}

pub(super) async fn add(router: &Rc<Router>, message: AddServer) -> Handled {
    let server_id = message.server_id.clone();
    let definition = definition(message)?;
    let router = router.clone();
    to_the_end(async move {
        router.definitions.put(&server_id, &definition).await.map_err(|error| stored(&error))?;
        let (server, before) = router.supervisor.put(Stored { server_id, definition, era: None });
        if let Some(before) = &before {
            before.down().await;
        }
        reply(AddServerResult { server: view(&server), replaced: before.is_some() })
    })
    .await
}

/// Checks what its types do not: lengths, absolute paths, names of variables.
fn definition(message: AddServer) -> Result<Definition, ErrorBody> {
    let env: BTreeMap<_, _> = message.env.unwrap_or_default();
    let args = message.args.unwrap_or_default();
    let no_nul = |text: &String| !text.contains('\0');
    if message.command.is_empty() || !no_nul(&message.command) {
        return Err(invalid("command", "a program: an absolute path, or a name to look up in PATH"));
    }
    if message.command.contains('/') && !Path::new(&message.command).is_absolute() {
        return Err(invalid("command", "an absolute path, or a name without '/'"));
    }
    if !args.iter().all(no_nul) {
        return Err(invalid("args", "texts without NUL characters"));
    }
    if let Some(why) = env.iter().find_map(|(name, value)| environment::wrong_variable(name, value)) {
        return Err(invalid("env", why));
    }
    if message.cwd.as_ref().is_some_and(|cwd| !Path::new(cwd).is_absolute() || !no_nul(cwd)) {
        return Err(invalid("cwd", "an absolute path"));
    }
    let roots = message.roots.unwrap_or_default();
    if !roots.iter().all(|uri| uri.starts_with("file://")) {
        return Err(invalid("roots", "file:// URIs"));
    }
    if limits::start_timeout(message.start_timeout_ms).is_none() {
        return Err(invalid("start_timeout_ms", "milliseconds from 1000 to 600000"));
    }
    Ok(Definition {
        command: message.command,
        args,
        env,
        cwd: message.cwd,
        label: message.label,
        roots,
        start_timeout_ms: message.start_timeout_ms,
    })
}

pub(super) async fn remove(router: &Rc<Router>, message: RemoveServer) -> Handled {
    let router = router.clone();
    to_the_end(async move {
        router.definitions.remove(&message.server_id).await.map_err(|error| stored(&error))?;
        let server = router.supervisor.remove(&message.server_id);
        if let Some(server) = &server {
            server.down().await;
        }
        reply(RemoveServerResult { removed: server.is_some() })
    })
    .await
}

pub(super) fn list(router: &Router) -> Handled {
    reply(ListServersResult { servers: router.supervisor.all().iter().map(view).collect() })
}

pub(super) async fn connect(router: &Router, id: &ServerId) -> Handled {
    let (server, info) = start(router, id).await?;
    reply(ConnectServerResult { server: view(&server), connection_info: info })
}

/// Starts a server; gives what it said about itself.
pub(super) async fn start(router: &Router, id: &ServerId) -> Result<(Rc<Server>, ConnectionInfo), ErrorBody> {
    let server = router.host.server(id)?;
    server.start().await.map_err(|error| start_failed(id, &error))?;
    let info = connection_info(&server.status());
    Ok((server, info))
}

pub(super) async fn disconnect(router: &Router, id: &ServerId) -> Handled {
    let server = router.host.server(id)?;
    server.stop();
    server.down().await;
    reply(DisconnectServerResult { server: view(&server) })
}

pub(super) fn logs(router: &Router, message: &McpGetLogs) -> Handled {
    let server = router.host.server(&message.server_id)?;
    let limit = usize::try_from(message.limit.unwrap_or(LOG_LINES)).unwrap_or(usize::MAX);
    let logs = server.logs(limit).into_iter().map(|line| LogLine {
        timestamp: line.timestamp,
        source: match line.source {
            LogSource::Stderr => "stderr",
            LogSource::Stdout => "stdout",
            LogSource::Mcp => "mcp",
        },
        level: line.level,
        text: line.text,
    });
    reply(McpGetLogsResult { logs: logs.collect(), pid: server.status().pid })
}

fn view(server: &Rc<Server>) -> ServerView {
    let (definition, status) = (server.definition(), server.status());
    let running = status.state == State::Running;
    ServerView {
        server_id: server.id().to_string(),
        label: definition.label.clone().unwrap_or_else(|| server.id().to_string()),
        command: definition.command.clone(),
        args: definition.args.clone(),
        env_names: definition.env.keys().cloned().collect(),
        cwd: definition.cwd.clone(),
        state: status.state.as_str(),
        pid: status.pid,
        runner_pid: status.runner_pid,
        tool_count: running.then(|| server.list(ListKind::Tools).count),
        last_error: status
            .last_end
            .filter(|_| status.state == State::Failed)
            .map(|report| report.message.clone()),
        protocol_version: status.info.map(|info| info.protocol_version),
    }
}

/// What a server said about itself; empty where it has ended meanwhile.
pub(super) fn connection_info(status: &Status) -> ConnectionInfo {
    let info = status.info.as_ref();
    let text = |get: fn(&crate::link::Info) -> &String| info.map(get).cloned().unwrap_or_default();
    ConnectionInfo {
        server_name: text(|info| &info.name),
        server_version: text(|info| &info.version),
        protocol_version: text(|info| &info.protocol_version),
        capabilities: info.map_or_else(|| Json::from_valid("{}".into()), |info| info.capabilities.clone()),
        instructions: info.and_then(|info| info.instructions.clone()),
    }
}

fn stored(error: &StoreError) -> ErrorBody {
    tracing::error!(%error, "a definition could not be stored");
    ErrorBody::new(Code::Internal, format!("{error}; nothing was changed"))
}
