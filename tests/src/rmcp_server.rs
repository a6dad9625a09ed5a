//! An MCP server built on rmcp, the Rust SDK: what other people's servers in Rust look like to Harbor.
//!
//! ```text
//!  bin/rmcp-server ─► serve (stdin, stdout) ─┐
//!                                            ├─► RmcpServer ─► offers: what it lists and answers, as values
//!  http::RmcpHttp ─► StreamableHttpService ──┘
//! ```
//!
//! Everything that a test compares stands in [`offers`]; all else here is how rmcp wants to be asked. Must never speak MCP by itself:
//! that rmcp does it is what this is for.

pub mod http;
pub mod offers;

use std::borrow::Cow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ElicitRequest, ElicitResult,
    ErrorData, GetPromptRequestParams, GetPromptResponse, InputRequest, InputRequiredResult,
    ListPromptsResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    ProgressNotificationParam, ProtocolVersion, ReadResourceRequestParams, ReadResourceResponse,
    ServerConfig, SubscriptionFilter,
};
#[allow(deprecated, reason = "sampling is on its way out of MCP; servers still use it")]
use rmcp::model::{CreateMessageRequest, CreateMessageResult};
use rmcp::service::{RequestContext, ServiceError, SubscriptionContext, SubscriptionSink};
use rmcp::{RoleServer, ServerHandler, ServiceExt as _};
use serde_json::json;
use tokio::sync::watch;

/// The name under which a question stands in a result that asks for input.
const QUESTION: &str = "question";

/// The two ways of MCP to make contact.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Generation {
    /// `initialize`, up to 2025-11-25.
    Older,
    /// `server/discover`, 2026-07-28.
    Newer,
}

impl Generation {
    /// Its word, as an argument of the program and as the start of a test's name.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Older => "older",
            Self::Newer => "newer",
        }
    }

    /// The revision that two programs agree on which know no newer one.
    #[must_use]
    pub fn revision(self) -> ProtocolVersion {
        match self {
            Self::Older => ProtocolVersion::V_2025_11_25,
            Self::Newer => ProtocolVersion::V_2026_07_28,
        }
    }
}

/// The server. Clones of it are one server: a service of HTTP takes one for each session or request.
#[derive(Debug, Clone)]
pub struct RmcpServer {
    newest: ProtocolVersion,
    state: Arc<State>,
}

#[derive(Debug)]
struct State {
    has_grown: AtomicBool,
    /// How many calls were cancelled.
    cancelled: watch::Sender<u32>,
    /// Who wants to hear of changes, of the newer generation.
    subscribed: Mutex<Vec<SubscriptionSink>>,
}

/// Serves on stdin and stdout until stdin ends.
///
/// # Errors
/// What rmcp says of a contact that did not come about.
pub async fn serve(generation: Generation) -> Result<(), String> {
    let server = RmcpServer::new(generation).serve(rmcp::transport::stdio_pipes());
    let running = server.await.map_err(|error| error.to_string())?;
    running.waiting().await.map(drop).map_err(|error| error.to_string())
}

impl RmcpServer {
    /// One that knows no revision beyond this generation.
    #[must_use]
    pub fn new(generation: Generation) -> Self {
        let state = State {
            has_grown: AtomicBool::new(false),
            cancelled: watch::Sender::new(0),
            subscribed: Mutex::default(),
        };
        Self { newest: generation.revision(), state: Arc::new(state) }
    }

    async fn count(&self, context: &RequestContext<RoleServer>) -> Result<CallToolResponse, ErrorData> {
        for progress in offers::progress() {
            tell(context, progress).await?;
        }
        Ok(text("counted"))
    }

    /// Says that it has begun, and waits until the call is cancelled.
    async fn wait(&self, context: &RequestContext<RoleServer>) -> Result<CallToolResponse, ErrorData> {
        tell(context, offers::begun()).await?;
        context.ct.cancelled().await;
        self.state.cancelled.send_modify(|count| *count += 1);
        Ok(text("cancelled"))
    }

    /// Answers once a call was cancelled.
    async fn waited(&self) -> Result<CallToolResponse, ErrorData> {
        let mut cancelled = self.state.cancelled.subscribe();
        let count = *cancelled.wait_for(|count| *count > 0).await.map_err(internal)?;
        Ok(CallToolResult::structured(json!({"cancelled": count})).into())
    }

    /// Offers one more tool from now on, and says so.
    async fn grow(&self, context: &RequestContext<RoleServer>) -> Result<CallToolResponse, ErrorData> {
        self.state.has_grown.store(true, Ordering::Relaxed);
        let subscribed = self.state.subscribed.lock().unwrap_or_else(PoisonError::into_inner).clone();
        for sink in subscribed {
            sink.notify_tool_list_changed().await.map_err(internal)?;
        }
        if self.newest == Generation::Older.revision() {
            context.peer.notify_tool_list_changed().await.map_err(internal)?;
        }
        Ok(text("grown"))
    }

    async fn greet(
        &self,
        request: CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let question = offers::elicitation();
        let answer: ElicitResult = if self.newest == Generation::Older.revision() {
            context.peer.create_elicitation(question).await.map_err(asking)?
        } else {
            match answer_in(request)? {
                Some(answer) => answer,
                None => return Ok(ask_first(InputRequest::Elicitation(ElicitRequest::new(question)))),
            }
        };
        Ok(CallToolResult::structured(json!({"answer": answer})).into())
    }

    #[allow(deprecated, reason = "sampling is on its way out of MCP; servers still use it")]
    async fn think(
        &self,
        request: CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let question = offers::sampling();
        let answer: CreateMessageResult = if self.newest == Generation::Older.revision() {
            context.peer.create_message(question).await.map_err(asking)?
        } else {
            match answer_in(request)? {
                Some(answer) => answer,
                None => {
                    return Ok(ask_first(InputRequest::CreateMessage(CreateMessageRequest::new(question))));
                }
            }
        };
        Ok(CallToolResult::structured(json!({"answer": answer})).into())
    }
}

impl ServerHandler for RmcpServer {
    fn get_info(&self) -> ServerConfig {
        offers::config()
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        Cow::Borrowed(ProtocolVersion::known_up_to(&self.newest))
    }

    /// A page for each tool.
    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let at: usize = match request.and_then(|request| request.cursor) {
            Some(cursor) => cursor.parse().map_err(|_| ErrorData::invalid_params("no such page", None))?,
            None => 0,
        };
        let tools = offers::tools(self.state.has_grown.load(Ordering::Relaxed));
        let next = at + 1;
        let mut page = ListToolsResult::with_all_items(tools.get(at).cloned().into_iter().collect());
        page.next_cursor = (next < tools.len()).then(|| next.to_string());
        Ok(page)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        match &*request.name {
            "add" => Ok(offers::sum(request.arguments.as_ref()).into()),
            "refuse" => Ok(offers::refusal().into()),
            "fail" => Err(offers::failure()),
            "count" => self.count(&context).await,
            "wait" => self.wait(&context).await,
            "waited" => self.waited().await,
            "grow" => self.grow(&context).await,
            "greet" => self.greet(request, &context).await,
            "think" => self.think(request, &context).await,
            _ => Err(ErrorData::invalid_params("there is no such tool", None)),
        }
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Ok(ListPromptsResult::with_all_items(vec![offers::prompt()]))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let who = request.arguments.as_ref().and_then(|arguments| arguments.get("who")?.as_str());
        Ok(offers::prompted(who.unwrap_or("nobody")).into())
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        Ok(ListResourcesResult::with_all_items(vec![offers::resource()]))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        if request.uri != offers::NOTE {
            return Err(ErrorData::resource_not_found("there is no such note", None));
        }
        Ok(offers::note().into())
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        Some(requested.clone())
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let id = context.sink().id().clone();
        let subscribed = || self.state.subscribed.lock().unwrap_or_else(PoisonError::into_inner);
        subscribed().push(context.sink().clone());
        context.cancelled().await;
        subscribed().retain(|sink| *sink.id() != id);
        Ok(())
    }
}

fn text(text: &str) -> CallToolResponse {
    CallToolResult::success(vec![ContentBlock::text(text)]).into()
}

/// Tells it to a caller that wants to know.
async fn tell(
    context: &RequestContext<RoleServer>,
    (progress, total, message): (f64, f64, &str),
) -> Result<(), ErrorData> {
    let Some(token) = context.meta.get_progress_token() else { return Ok(()) };
    let params = ProgressNotificationParam::new(token, progress).with_total(total).with_message(message);
    context.peer.notify_progress(params).await.map_err(internal)
}

/// The client's answer, where this is a request that was made again with one.
fn answer_in<T: serde::de::DeserializeOwned>(request: CallToolRequestParams) -> Result<Option<T>, ErrorData> {
    let answer = request.input_responses.and_then(|mut answers| answers.remove(QUESTION));
    answer.map(|answer| serde_json::from_value(answer).map_err(internal)).transpose()
}

fn ask_first(question: InputRequest) -> CallToolResponse {
    let questions = [(QUESTION.to_owned(), question)].into();
    InputRequiredResult::new(Some(questions), Some("asked".to_owned())).into()
}

/// What became of a question, as the error of the call.
fn asking(error: ServiceError) -> ErrorData {
    match error {
        ServiceError::McpError(error) => error,
        other => internal(other),
    }
}

#[allow(clippy::needless_pass_by_value, reason = "for map_err")]
fn internal(error: impl std::fmt::Display) -> ErrorData {
    ErrorData::internal_error(error.to_string(), None)
}
