//! Messages that ask a server something. Arguments and results pass through unread.

use std::rc::Rc;
use std::time::Instant;

use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_ipc_proto::client::{
    ConnectionView, McpCallTool, McpCallToolResult, McpComplete, McpCompleteResult, McpConnectResult,
    McpDisconnectResult, McpGetPrompt, McpGetPromptResult, McpListConnectionsResult, McpListPromptsResult,
    McpListResourceTemplatesResult, McpListResourcesResult, McpListToolsResult, McpPingResult,
    McpReadResource, McpReadResourceResult, McpSetLogLevel, McpSetLogLevelResult, McpSubscribeResource,
    McpSubscribeResourceResult, McpTask, McpTaskResult, McpUnsubscribeResource, McpUnsubscribeResourceResult,
    Progress as ProgressPush,
};
use harbor_ipc_proto::field::JsonObject;
use harbor_ipc_proto::json::Json;
use harbor_ipc_proto::link::runner::Operation;
use harbor_ipc_proto::server_id::ServerId;
use harbor_policy::access::Permit;
use harbor_policy::lifecycle::State;
use harbor_policy::limits::LEVELS;

use super::client::Client;
use super::servers::start;
use super::views::connection_info;
use super::{Handled, Router, invalid, reply};
use crate::host::AskedTime;
use crate::link::OnProgress;
use crate::supervisor::{ListKind, Note};

/// The requests of the tasks extension.
const TASK_METHODS: &[&str] = &["tasks/get", "tasks/update", "tasks/cancel", "tasks/result", "tasks/list"];

pub(super) async fn connect(router: &Router, id: &ServerId, note: Option<Note>) -> Handled {
    let (server, connection_info) = start(router, id, note).await?;
    let items = |kind| server.list(kind).items;
    reply(McpConnectResult {
        connected: true,
        connection_info,
        tools: items(ListKind::Tools),
        resources: items(ListKind::Resources),
        resource_templates: items(ListKind::ResourceTemplates),
        prompts: items(ListKind::Prompts),
        pid: server.status().pid.unwrap_or_default(),
    })
}

pub(super) async fn disconnect(router: &Router, id: &ServerId) -> Handled {
    let server = router.host.server(id)?;
    let disconnected = server.stop();
    server.down().await;
    reply(McpDisconnectResult { disconnected })
}

pub(super) fn connections(router: &Router) -> Handled {
    let running =
        router.supervisor.all().into_iter().filter(|server| server.status().state == State::Running);
    let connections = running.map(|server| {
        let status = server.status();
        let count = |kind| server.list(kind).count;
        ConnectionView {
            server_id: server.id().to_string(),
            connection_info: connection_info(&status),
            tool_count: count(ListKind::Tools),
            resource_count: count(ListKind::Resources),
            prompt_count: count(ListKind::Prompts),
            pid: status.pid.unwrap_or_default(),
            runner_pid: status.runner_pid.unwrap_or_default(),
        }
    });
    reply(McpListConnectionsResult { connections: connections.collect() })
}

pub(super) async fn tools(router: &Router, permit: Permit, id: &ServerId) -> Handled {
    reply(McpListToolsResult { tools: items(router, permit, id, ListKind::Tools).await? })
}

pub(super) async fn resources(router: &Router, permit: Permit, id: &ServerId) -> Handled {
    reply(McpListResourcesResult { resources: items(router, permit, id, ListKind::Resources).await? })
}

pub(super) async fn resource_templates(router: &Router, permit: Permit, id: &ServerId) -> Handled {
    let resource_templates = items(router, permit, id, ListKind::ResourceTemplates).await?;
    reply(McpListResourceTemplatesResult { resource_templates })
}

pub(super) async fn prompts(router: &Router, permit: Permit, id: &ServerId) -> Handled {
    reply(McpListPromptsResult { prompts: items(router, permit, id, ListKind::Prompts).await? })
}

async fn items(router: &Router, permit: Permit, id: &ServerId, kind: ListKind) -> Result<Json, ErrorBody> {
    ask(router, permit, id, kind.operation(), AskedTime::default(), None).await
}

async fn ask(
    router: &Router,
    permit: Permit,
    id: &ServerId,
    operation: Operation<'_>,
    time: AskedTime,
    progress: Option<OnProgress>,
) -> Result<Json, ErrorBody> {
    router.host.ask(permit, id, operation, time, progress).await
}

pub(super) async fn call_tool(
    router: &Router,
    client: &Rc<Client>,
    permit: Permit,
    request_id: &str,
    message: McpCallTool,
) -> Handled {
    let operation = Operation::CallTool {
        name: message.tool_name.into(),
        arguments: object(message.arguments).into(),
        task: message.task.map(|task| task.0.into_string().into()),
    };
    let progress = (message.progress == Some(true)).then(|| push_progress(client, request_id));
    let time = AskedTime { timeout: message.timeout_ms, whole: message.max_timeout_ms };
    let result = ask(router, permit, &message.server_id, operation, time, progress).await?;
    reply(McpCallToolResult { result })
}

/// For requests that know no progress.
fn within(timeout: Option<u64>) -> AskedTime {
    AskedTime { timeout, whole: None }
}

fn push_progress(client: &Rc<Client>, request_id: &str) -> OnProgress {
    let (client, request_id) = (Rc::downgrade(client), request_id.to_owned());
    Rc::new(move |progress| {
        let Some(client) = client.upgrade() else { return };
        client.send_push(
            "progress",
            &ProgressPush {
                request_id: request_id.clone(),
                progress: progress.progress.clone(),
                total: progress.total.clone(),
                message: progress.message.clone(),
            },
        );
    })
}

pub(super) async fn read_resource(router: &Router, permit: Permit, message: McpReadResource) -> Handled {
    let operation = Operation::ReadResource { uri: message.uri.into() };
    let resource =
        ask(router, permit, &message.server_id, operation, within(message.timeout_ms), None).await?;
    reply(McpReadResourceResult { resource })
}

pub(super) async fn get_prompt(router: &Router, permit: Permit, message: McpGetPrompt) -> Handled {
    let operation = Operation::GetPrompt {
        name: message.prompt_name.into(),
        arguments: object(message.arguments).into(),
    };
    let prompt = ask(router, permit, &message.server_id, operation, within(message.timeout_ms), None).await?;
    reply(McpGetPromptResult { prompt })
}

pub(super) async fn complete(router: &Router, permit: Permit, message: McpComplete) -> Handled {
    let operation = Operation::Complete {
        reference: message.reference.0.into_string().into(),
        argument: message.argument.0.into_string().into(),
        context: message.context.map(|context| context.0.into_string().into()),
    };
    let result = ask(router, permit, &message.server_id, operation, AskedTime::default(), None).await?;
    reply(McpCompleteResult { result })
}

pub(super) async fn subscribe(
    router: &Router,
    client: &Client,
    permit: Permit,
    message: McpSubscribeResource,
) -> Handled {
    let operation = Operation::Subscribe { uri: message.uri.clone().into() };
    ask(router, permit, &message.server_id, operation, AskedTime::default(), None).await?;
    if client.subscribe(message.server_id.as_str(), &message.uri) {
        router.host.server(&message.server_id)?.subscribed(&message.uri);
    }
    reply(McpSubscribeResourceResult { subscribed: true })
}

pub(super) async fn unsubscribe(
    router: &Router,
    client: &Client,
    permit: Permit,
    message: McpUnsubscribeResource,
) -> Handled {
    let server = router.host.server(&message.server_id)?;
    let had = client.unsubscribe(message.server_id.as_str(), &message.uri);
    // The server is told when nobody is interested any more.
    if had && server.unsubscribed(&message.uri) {
        let operation = Operation::Unsubscribe { uri: message.uri.into() };
        ask(router, permit, &message.server_id, operation, AskedTime::default(), None).await?;
    }
    reply(McpUnsubscribeResourceResult { unsubscribed: true })
}

pub(super) async fn set_log_level(router: &Router, permit: Permit, message: McpSetLogLevel) -> Handled {
    if !LEVELS.contains(&message.level.as_str()) {
        return Err(invalid("level", "debug, info, notice, warning, error, critical, alert or emergency"));
    }
    let operation = Operation::SetLogLevel { level: message.level.clone().into() };
    ask(router, permit, &message.server_id, operation, AskedTime::default(), None).await?;
    reply(McpSetLogLevelResult { level: message.level })
}

pub(super) async fn ping(router: &Router, permit: Permit, id: &ServerId) -> Handled {
    let sent = Instant::now();
    ask(router, permit, id, Operation::Ping, AskedTime::default(), None).await?;
    reply(McpPingResult { elapsed_us: u64::try_from(sent.elapsed().as_micros()).unwrap_or(u64::MAX) })
}

pub(super) async fn task(router: &Router, permit: Permit, message: McpTask) -> Handled {
    if !TASK_METHODS.contains(&message.method.as_str()) {
        return Err(invalid("method", "tasks/get, tasks/update, tasks/cancel, tasks/result or tasks/list"));
    }
    let operation =
        Operation::Task { method: message.method.into(), params: object(message.arguments).into() };
    let result = ask(router, permit, &message.server_id, operation, AskedTime::default(), None).await?;
    reply(McpTaskResult { result })
}

/// The text of an object that may be absent.
fn object(given: Option<JsonObject>) -> String {
    given.map_or_else(|| "{}".to_owned(), |object| object.0.into_string())
}
