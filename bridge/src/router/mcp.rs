//! Messages that ask a server something. Arguments and results pass unread.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::{Duration, Instant};

use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_ipc_proto::client::{
    ConnectionView, McpComplete, McpCompleteResult, McpConnect, McpConnectResult, McpDisconnectResult,
    McpGetPrompt, McpGetPromptResult, McpListConnectionsResult, McpListPromptsResult,
    McpListResourceTemplatesResult, McpListResourcesResult, McpListTools, McpListToolsResult, McpPingResult,
    McpReadResource, McpReadResourceResult, McpSetLogLevel, McpSetLogLevelResult, McpSubscribeResource,
    McpSubscribeResourceResult, McpTask, McpTaskResult, McpUnsubscribeResource, McpUnsubscribeResourceResult,
};
use harbor_ipc_proto::codes::Code;
use harbor_ipc_proto::field::JsonObject;
use harbor_ipc_proto::json::Json;
use harbor_ipc_proto::link::runner::Operation;
use harbor_ipc_proto::server_id::ServerId;
use harbor_ipc_proto::source_id::SourceId;
use harbor_policy::lifecycle::State;

use super::client::Client;
use super::own_prompts;
use super::questions::answerer_of;
use super::reply::{Handled, reply};
use super::servers::start;
use super::state::Router;
use super::steps::steps_to;
use super::watching::{LEVELS_EXPECTED, level_of};
use crate::host::asker::Caller;
use crate::host::{AskedTime, connection_info, invalid};
use crate::link::{Audience, Tool, ToolList};
use crate::supervisor::ListKind;

/// The requests of the tasks extension.
const TASK_METHODS: &[&str] = &["tasks/get", "tasks/update", "tasks/cancel", "tasks/result", "tasks/list"];

pub(super) async fn connect(
    router: &Router,
    client: &Rc<Client>,
    request_id: &str,
    message: &McpConnect,
) -> Handled {
    let note = steps_to(client, request_id, message.progress);
    let (server, connection_info) = start(router, &message.server_id, note).await?;
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

pub(super) async fn tools(request: McpRequestContext<'_>, message: &McpListTools) -> Handled {
    let Some(id) = message.server_id.as_server() else {
        let source = request.router.host.source(&message.server_id)?;
        let list = source.tools().unwrap_or_default();
        let effects = effects(request.router, &message.server_id, &list);
        return reply(McpListToolsResult {
            tools: written(&list),
            last_listed: None,
            no_answer: None,
            effects,
        });
    };
    let id = &id;
    let router = request.router;
    let server = router.host.server(id)?;
    let known = router.host.registry.known(&*server).filter(|list| list.iter().next().is_some());
    let last = |list: &ToolList, no_answer| {
        let effects = effects(router, &message.server_id, list);
        reply(McpListToolsResult { tools: written(list), last_listed: Some(true), no_answer, effects })
    };
    if let Some(list) = known.as_ref().filter(|_| server.state() == State::Stopped) {
        return last(list, None);
    }
    if message.wait_ms == Some(0) && server.state() == State::Stopped {
        return last(&ToolList::default(), None);
    }
    let asked = items(request, id, ListKind::Tools);
    let tools = match known.zip(message.wait_ms.map(Duration::from_millis)) {
        None => asked.await?,
        Some((list, limit)) => match tokio::time::timeout(limit, asked).await {
            Ok(answered) => answered?,
            Err(_) => return last(&list, Some(true)),
        },
    };
    let list = router.host.registry.known(&*server).unwrap_or_default();
    let effects = effects(router, &message.server_id, &list);
    reply(McpListToolsResult { tools, last_listed: None, no_answer: None, effects })
}

/// The effect of each tool of a source, by the tool's name.
fn effects(router: &Router, id: &SourceId, list: &ToolList) -> Option<Json> {
    let effect = |tool: &Tool| (tool.name.to_string(), router.host.effect(id, tool).word());
    let effects: BTreeMap<_, _> = list.iter().map(effect).collect();
    serde_json::to_string(&effects).ok().map(Json::from_valid)
}

/// A list of tools, as their server has written them.
fn written(list: &ToolList) -> Json {
    let tools: Vec<_> = list.iter().map(|tool| tool.whole().into_string()).collect();
    Json::from_valid(format!("[{}]", tools.join(",")))
}

pub(super) async fn resources(request: McpRequestContext<'_>, id: &ServerId) -> Handled {
    reply(McpListResourcesResult { resources: items(request, id, ListKind::Resources).await? })
}

pub(super) async fn resource_templates(request: McpRequestContext<'_>, id: &ServerId) -> Handled {
    let resource_templates = items(request, id, ListKind::ResourceTemplates).await?;
    reply(McpListResourceTemplatesResult { resource_templates })
}

pub(super) async fn prompts(request: McpRequestContext<'_>, id: &ServerId) -> Handled {
    if own_prompts::are_of(request.router, id) {
        return reply(McpListPromptsResult { prompts: own_prompts::all() });
    }
    reply(McpListPromptsResult { prompts: items(request, id, ListKind::Prompts).await? })
}

async fn items(request: McpRequestContext<'_>, id: &ServerId, kind: ListKind) -> Result<Json, ErrorBody> {
    ask(request, id, kind.operation(), AskedTime::default()).await
}

/// The inputs of a handler that asks a server.
pub(super) struct McpRequestContext<'a> {
    pub router: &'a Router,
    pub client: &'a Rc<Client>,
    pub caller: Caller,
}

async fn ask(
    McpRequestContext { router, caller, .. }: McpRequestContext<'_>,
    id: &ServerId,
    operation: Operation<'_>,
    time: AskedTime,
) -> Result<Json, ErrorBody> {
    let audience = Audience { party: Some(caller.party()), ..Audience::default() };
    router.host.ask(caller, id, operation, time, audience).await
}

/// The time of a request that knows no progress.
fn within(timeout: Option<u64>) -> AskedTime {
    AskedTime { timeout, whole: None }
}

/// Sends a request during which its server may ask questions.
async fn converse(
    McpRequestContext { router, client, caller }: McpRequestContext<'_>,
    request_id: &str,
    id: &ServerId,
    operation: Operation<'_>,
    time: AskedTime,
    answers: Option<JsonObject>,
) -> Result<Json, ErrorBody> {
    let answerer = answerer_of(router, client, request_id, id, answers);
    let audience = Audience { party: Some(caller.party()), answerer, ..Audience::default() };
    router.host.ask(caller, id, operation, time, audience).await
}

pub(super) async fn read_resource(
    request: McpRequestContext<'_>,
    request_id: &str,
    message: McpReadResource,
) -> Handled {
    let McpReadResource { server_id, uri, timeout_ms, answers } = message;
    let operation = Operation::ReadResource { uri: uri.into() };
    let resource = converse(request, request_id, &server_id, operation, within(timeout_ms), answers).await?;
    reply(McpReadResourceResult { resource })
}

pub(super) async fn get_prompt(
    request: McpRequestContext<'_>,
    request_id: &str,
    message: McpGetPrompt,
) -> Handled {
    let McpGetPrompt { server_id, prompt_name, arguments, timeout_ms, answers } = message;
    if own_prompts::are_of(request.router, &server_id) {
        let arguments = arguments.as_ref().map(|arguments| arguments.0.as_str());
        return reply(McpGetPromptResult { prompt: own_prompts::one(&prompt_name, arguments)? });
    }
    let operation = Operation::GetPrompt { name: prompt_name.into(), arguments: object(arguments).into() };
    let prompt = converse(request, request_id, &server_id, operation, within(timeout_ms), answers).await?;
    reply(McpGetPromptResult { prompt })
}

pub(super) async fn complete(request: McpRequestContext<'_>, message: McpComplete) -> Handled {
    if own_prompts::are_of(request.router, &message.server_id) {
        return reply(McpCompleteResult { result: own_prompts::no_completion() });
    }
    let operation = Operation::Complete {
        reference: message.reference.0.into_string().into(),
        argument: message.argument.0.into_string().into(),
        context: message.context.map(|context| context.0.into_string().into()),
    };
    let result = ask(request, &message.server_id, operation, AskedTime::default()).await?;
    reply(McpCompleteResult { result })
}

/// The longest URI of a resource. Changes are told of no longer one.
const MAX_URI: usize = 8 * 1024;

pub(super) async fn subscribe(request: McpRequestContext<'_>, message: McpSubscribeResource) -> Handled {
    if message.uri.len() > MAX_URI {
        return Err(invalid("uri", "at most 8 KiB"));
    }
    if request.client.has_many_subscriptions() {
        let why = "this client has too many subscriptions; end some";
        return Err(ErrorBody::new(Code::RateLimited, why));
    }
    let operation = Operation::Subscribe { uri: message.uri.clone().into() };
    let (router, client) = (request.router, request.client);
    ask(request, &message.server_id, operation, AskedTime::default()).await?;
    if client.subscribe(message.server_id.as_str(), &message.uri) {
        router.host.server(&message.server_id)?.subscribed(&message.uri);
    }
    reply(McpSubscribeResourceResult { subscribed: true })
}

pub(super) fn unsubscribe(router: &Router, client: &Client, message: &McpUnsubscribeResource) -> Handled {
    let server = router.supervisor.get(&message.server_id);
    if server.is_none() && client.sender().own.is_none() {
        router.host.server(&message.server_id)?;
    }
    let had = client.unsubscribe(message.server_id.as_str(), &message.uri);
    // The server is told when nobody is interested any more.
    if let Some(server) = server.filter(|_| had) {
        server.subscriber_left(&message.uri);
    }
    reply(McpUnsubscribeResourceResult { unsubscribed: true })
}

pub(super) async fn set_log_level(request: McpRequestContext<'_>, message: McpSetLogLevel) -> Handled {
    level_of(&message.level).ok_or_else(|| invalid("level", LEVELS_EXPECTED))?;
    let operation = Operation::SetLogLevel { level: message.level.clone().into() };
    ask(request, &message.server_id, operation, AskedTime::default()).await?;
    reply(McpSetLogLevelResult { level: message.level })
}

pub(super) async fn ping(request: McpRequestContext<'_>, id: &ServerId) -> Handled {
    let sent = Instant::now();
    ask(request, id, Operation::Ping, AskedTime::default()).await?;
    reply(McpPingResult { elapsed_us: u64::try_from(sent.elapsed().as_micros()).unwrap_or(u64::MAX) })
}

pub(super) async fn task(request: McpRequestContext<'_>, message: McpTask) -> Handled {
    if !TASK_METHODS.contains(&message.method.as_str()) {
        return Err(invalid("method", "tasks/get, tasks/update, tasks/cancel, tasks/result or tasks/list"));
    }
    let operation =
        Operation::Task { method: message.method.into(), params: object(message.arguments).into() };
    let result = ask(request, &message.server_id, operation, AskedTime::default()).await?;
    reply(McpTaskResult { result })
}

/// The text of an object that may be absent.
pub(super) fn object(given: Option<JsonObject>) -> String {
    given.map_or_else(|| "{}".to_owned(), |object| object.0.into_string())
}
