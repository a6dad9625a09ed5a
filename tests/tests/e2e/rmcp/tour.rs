//! The tour that every pair of rmcp's ends goes: lists, calls, progress, a cancelled call, questions, changes.
//!
//! Must never depend on the pair, but where MCP itself differs by generation.

use harbor_tests::LIMIT;
use harbor_tests::rmcp_server::Generation;
use harbor_tests::rmcp_server::offers;
use rmcp::ServiceError;
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CallToolResult, ClientRequest, ContentBlock, ErrorCode,
    GetPromptRequestParams, JsonObject, Prompt, ReadResourceRequestParams, Tool,
};
use rmcp::service::PeerRequestOptions;
use serde_json::{Value, json};
use tokio::time::timeout;

use super::client::{AiClient, Heard, elicited, sampled};

/// Goes all of it.
pub async fn go(client: &mut AiClient) {
    greeting(client);
    lists(client).await;
    results(client).await;
    errors(client).await;
    progress(client).await;
    cancelled(client).await;
    prompts_and_resources(client).await;
    questions(client).await;
    changes(client).await;
}

fn params(tool: &str, arguments: Value) -> CallToolRequestParams {
    let arguments: JsonObject = serde_json::from_value(arguments).unwrap();
    CallToolRequestParams::new(format!("s__{tool}")).with_arguments(arguments)
}

/// Calls a tool of the server; its client answers questions meanwhile.
async fn call(client: &AiClient, tool: &str, arguments: Value) -> Result<CallToolResult, ServiceError> {
    let called = client.service.call_tool(params(tool, arguments));
    timeout(LIMIT, called).await.expect("an answer within the limit")
}

/// A server's result as this client gets it. Between ends of the older generation there is no word for its kind.
fn told(client: &AiClient, mut result: CallToolResult) -> CallToolResult {
    if client.generation == Generation::Older && client.server == Generation::Older {
        result.result_type = None;
    }
    result
}

fn text(result: &CallToolResult) -> &str {
    result.content[0].as_text().map(|text| text.text.as_str()).unwrap_or_else(|| panic!("{result:?}"))
}

fn greeting(client: &AiClient) {
    let peer = client.service.peer_info().expect("it has said who it is");
    assert_eq!(peer.protocol_version, client.generation.revision());
    let server = peer.server_info.as_ref().expect("it has a name");
    assert_eq!((server.name.as_str(), server.title.as_deref()), ("harbor", Some("Harbor")));
    let offered = &peer.capabilities;
    let changes = offered.tools.as_ref().and_then(|tools| tools.list_changed);
    assert_eq!(changes, Some(true));
    assert!(offered.prompts.is_some() && offered.resources.is_some() && offered.completions.is_some());
}

async fn lists(client: &AiClient) {
    let tools = timeout(LIMIT, client.service.list_all_tools()).await.expect("in time").unwrap();
    assert_eq!(tools, named(offers::tools(false)));
}

/// Tools as `harbor mcp` names them.
fn named(tools: Vec<Tool>) -> Vec<Tool> {
    let name = |mut tool: Tool| {
        tool.name = format!("s__{}", tool.name).into();
        tool
    };
    tools.into_iter().map(name).collect()
}

async fn results(client: &AiClient) {
    let arguments = json!({"a": 40, "b": 2});
    let sum = offers::sum(arguments.as_object());
    assert_eq!(call(client, "add", arguments).await.unwrap(), told(client, sum));
    assert_eq!(call(client, "refuse", json!({})).await.unwrap(), told(client, offers::refusal()));
}

async fn errors(client: &AiClient) {
    // What kept a call from its result is told where a model reads it.
    let failed = format!("s answered with an error: {}", offers::failure().message);
    let failed = CallToolResult::error(vec![ContentBlock::text(failed)]);
    assert_eq!(call(client, "fail", json!({})).await.unwrap(), failed);
    // Arguments are checked before the server sees them.
    let wrong = call(client, "add", json!({"a": "one"})).await;
    assert!(matches!(&wrong, Ok(result) if result.is_error == Some(true)), "{wrong:?}");
    match client.service.call_tool(CallToolRequestParams::new("nobody__nothing")).await {
        Err(ServiceError::McpError(error)) => assert_eq!(error.code, ErrorCode::INVALID_PARAMS, "{error}"),
        other => panic!("{other:?}"),
    }
}

fn step((progress, total, message): offers::Step) -> Heard {
    Heard::Progress { progress, total: Some(total), message: Some(message.to_owned()) }
}

async fn progress(client: &mut AiClient) {
    assert_eq!(text(&call(client, "count", json!({})).await.unwrap()), "counted");
    for wanted in offers::progress() {
        assert_eq!(client.hear().await, step(wanted));
    }
}

async fn cancelled(client: &mut AiClient) {
    let request = ClientRequest::CallToolRequest(CallToolRequest::new(params("wait", json!({}))));
    let options = PeerRequestOptions::no_options();
    let waiting = client.service.send_cancellable_request(request, options).await.unwrap();
    assert_eq!(client.hear().await, step(offers::begun()));
    waiting.cancel(Some("a test".to_owned())).await.unwrap();
    let waited = CallToolResult::structured(json!({"cancelled": 1}));
    assert_eq!(call(client, "waited", json!({})).await.unwrap(), told(client, waited));
}

async fn prompts_and_resources(client: &AiClient) {
    let service = &client.service;
    let mut prompts = timeout(LIMIT, service.list_all_prompts()).await.expect("in time").unwrap();
    prompts.retain(|prompt| !prompt.name.starts_with("harbor__"));
    let mut wanted: Prompt = offers::prompt();
    wanted.name = format!("s__{}", wanted.name);
    assert_eq!(prompts, [wanted]);
    let asked = GetPromptRequestParams::new("s__welcome");
    let asked = asked.with_arguments(serde_json::from_value(json!({"who": "Ada"})).unwrap());
    let got = timeout(LIMIT, service.get_prompt(asked)).await.expect("in time").unwrap();
    let wanted = offers::prompted("Ada");
    assert_eq!((got.description, got.messages), (wanted.description, wanted.messages));

    let resources = timeout(LIMIT, service.list_all_resources()).await.expect("in time").unwrap();
    assert_eq!(resources, [offers::resource()]);
    let read = service.read_resource(ReadResourceRequestParams::new(offers::NOTE));
    let read = timeout(LIMIT, read).await.expect("in time").unwrap();
    assert_eq!(read.contents, offers::note().contents);
}

/// What a server asks reaches the client as it was asked, and the answer the server as it was given.
async fn questions(client: &mut AiClient) {
    let greeted = call(client, "greet", json!({})).await.unwrap();
    assert_eq!(client.hear().await, Heard::Elicitation(offers::elicitation()));
    assert_eq!(greeted, told(client, CallToolResult::structured(json!({"answer": elicited()}))));

    let thought = call(client, "think", json!({})).await.unwrap();
    assert_eq!(client.hear().await, Heard::Sampling(offers::sampling()));
    assert_eq!(thought, told(client, CallToolResult::structured(json!({"answer": sampled()}))));
}

/// A server's word that its tools have changed reaches the client, which then gets them.
async fn changes(client: &mut AiClient) {
    client.subscribe().await;
    assert_eq!(text(&call(client, "grow", json!({})).await.unwrap()), "grown");
    client.hear_of_change().await;
    let tools = timeout(LIMIT, client.service.list_all_tools()).await.expect("in time").unwrap();
    assert_eq!(tools, named(offers::tools(true)));
}
