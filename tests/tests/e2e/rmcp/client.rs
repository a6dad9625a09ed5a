//! rmcp's client, connected to `harbor mcp`: what it hears, how it answers, and its end.
//!
//! Must never know what is asked of it, but for the two answers that it has.

use harbor_tests::rmcp_server::Generation;
use harbor_tests::{DOWN_LIMIT, Home, HttpServer, LIMIT, Program, token};
use rmcp::model::{
    ClientCapabilities, ClientConfig, ElicitRequestParams, ElicitResult, ElicitationAction, ErrorData,
    Implementation, ProgressNotificationParam, ServerNotification, SubscriptionFilter,
};
#[allow(deprecated, reason = "sampling is on its way out of MCP; servers still use it")]
use rmcp::model::{CreateMessageRequestParams, CreateMessageResult, SamplingMessage};
use rmcp::service::{
    ClientInitializeError, ClientLifecycleMode, ClientServiceExt as _, NotificationContext, RequestContext,
    RunningService, Subscription,
};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::{ClientHandler, RoleClient};
use serde_json::json;
use tokio::net::unix::pipe;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::timeout;

/// How `harbor mcp` is reached.
#[derive(Debug, Clone, Copy)]
pub enum Way {
    Stdio,
    Http,
}

/// What the client hears besides answers.
#[derive(Debug, PartialEq)]
pub enum Heard {
    Progress {
        progress: f64,
        total: Option<f64>,
        message: Option<String>,
    },
    ToolsChanged,
    Elicitation(ElicitRequestParams),
    #[allow(deprecated, reason = "sampling is on its way out of MCP; servers still use it")]
    Sampling(CreateMessageRequestParams),
}

/// It answers what it is asked, and writes down what it hears.
pub struct Ear {
    heard: UnboundedSender<Heard>,
    /// What it answers to every form; nothing where it shows none.
    answer: Option<ElicitResult>,
}

impl Ear {
    fn hear(&self, heard: Heard) {
        // A test that has ended hears nothing any more.
        let _ = self.heard.send(heard);
    }
}

/// What it answers to every form.
pub fn elicited() -> ElicitResult {
    ElicitResult::new(ElicitationAction::Accept).with_content(json!({"name": "Ada"}))
}

/// What it answers to everything that a model is asked.
#[allow(deprecated, reason = "sampling is on its way out of MCP; servers still use it")]
pub fn sampled() -> CreateMessageResult {
    CreateMessageResult::new(SamplingMessage::assistant_text("Two."), "a model".to_owned())
        .with_stop_reason(CreateMessageResult::STOP_REASON_END_TURN)
}

impl ClientHandler for Ear {
    #[allow(deprecated, reason = "sampling is on its way out of MCP; servers still use it")]
    fn get_info(&self) -> ClientConfig {
        let mut capabilities = ClientCapabilities::builder().enable_elicitation().enable_sampling().build();
        capabilities.elicitation = capabilities.elicitation.filter(|_| self.answer.is_some());
        ClientConfig::new(capabilities, Implementation::new("t", "1"))
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        self.hear(Heard::Elicitation(request));
        Ok(self.answer.clone().expect("it is asked for nothing that it cannot do"))
    }

    #[allow(deprecated, reason = "sampling is on its way out of MCP; servers still use it")]
    async fn create_message(
        &self,
        params: CreateMessageRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<CreateMessageResult, ErrorData> {
        self.hear(Heard::Sampling(params));
        Ok(sampled())
    }

    async fn on_progress(&self, params: ProgressNotificationParam, _: NotificationContext<RoleClient>) {
        let ProgressNotificationParam { progress, total, message, .. } = params;
        self.hear(Heard::Progress { progress, total, message });
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.hear(Heard::ToolsChanged);
    }
}

/// `harbor mcp`, as the client has it.
enum Harbor {
    /// It ends with its stdin.
    Stdio(Program),
    /// It ends with the test.
    Http(HttpServer),
}

/// The client and what it has heard.
pub struct AiClient {
    pub service: RunningService<RoleClient, Ear>,
    pub generation: Generation,
    /// Of the server behind Harbor.
    pub server: Generation,
    heard: UnboundedReceiver<Heard>,
    subscription: Option<Subscription>,
    harbor: Harbor,
}

impl AiClient {
    /// Connects as `client://ai`.
    pub async fn connect(home: &Home, way: Way, generation: Generation, server: Generation) -> Self {
        Self::answering(home, way, (generation, server), Some(elicited())).await
    }

    /// The same with this answer to every form; without one it shows none.
    pub async fn answering(
        home: &Home,
        way: Way,
        (generation, server): (Generation, Generation),
        answer: Option<ElicitResult>,
    ) -> Self {
        let (sender, heard) = unbounded_channel();
        let ear = Ear { heard: sender, answer };
        let (served, harbor) = match way {
            Way::Stdio => {
                let mut program = Program::start(home.command("harbor").args(["mcp", "--client", "ai"]));
                let (stdin, stdout) = program.pipes();
                let reader = pipe::Receiver::from_owned_fd(stdout.into()).unwrap();
                let writer = pipe::Sender::from_owned_fd(stdin.into()).unwrap();
                let served = ear.serve_with_lifecycle((reader, writer), lifecycle(generation));
                (timeout(LIMIT, served).await, Harbor::Stdio(program))
            }
            Way::Http => {
                let token = token(home, "ai");
                let http = HttpServer::start(home, &[]);
                let config = StreamableHttpClientTransportConfig::with_uri(http.url()).auth_header(token);
                let transport = StreamableHttpClientTransport::with_client(http_client(), config);
                let served = ear.serve_with_lifecycle(transport, lifecycle(generation));
                (timeout(LIMIT, served).await, Harbor::Http(http))
            }
        };
        let service: Result<_, ClientInitializeError> = served.expect("contact within the limit");
        let service = service.unwrap_or_else(|error| panic!("{error}"));
        Self { service, generation, server, heard, subscription: None, harbor }
    }

    /// What it hears next.
    pub async fn hear(&mut self) -> Heard {
        let next = timeout(LIMIT, self.heard.recv()).await.expect("something is heard within the limit");
        next.expect("it has not ended")
    }

    /// Asks to hear of changes of tools, where that has to be asked.
    pub async fn subscribe(&mut self) {
        if self.generation == Generation::Newer {
            let filter = SubscriptionFilter::builder().tools_list_changed().build();
            let listening = timeout(LIMIT, self.service.listen(filter.clone())).await;
            let subscription = listening.expect("an answer within the limit").unwrap();
            assert_eq!(*subscription.acknowledged(), filter);
            self.subscription = Some(subscription);
        }
    }

    /// Waits until it is told that tools have changed.
    pub async fn hear_of_change(&mut self) {
        let Some(subscription) = self.subscription.as_mut() else {
            return assert_eq!(self.hear().await, Heard::ToolsChanged);
        };
        let told = timeout(LIMIT, subscription.next()).await.expect("a change within the limit").unwrap();
        assert!(matches!(told, Some(ServerNotification::ToolListChangedNotification(_))), "{told:?}");
    }

    /// Ends it as clients do; nothing was heard that was not listened to, and nothing was complained of.
    pub async fn end(mut self) {
        if let Some(mut subscription) = self.subscription.take() {
            subscription.cancel().await.unwrap();
        }
        assert_eq!(self.heard.try_recv().ok(), None);
        timeout(LIMIT, self.service.cancel()).await.expect("its end within the limit").unwrap();
        match self.harbor {
            Harbor::Stdio(mut program) => {
                let status = program.wait(DOWN_LIMIT).expect("it ends with its stdin");
                assert!(status.success(), "{status}");
                assert_eq!(program.stderr(), "");
            }
            Harbor::Http(server) => {
                let said = server.program.stderr();
                assert!(!said.contains("panicked"), "{said}");
            }
        }
    }
}

fn lifecycle(generation: Generation) -> ClientLifecycleMode {
    match generation {
        Generation::Older => ClientLifecycleMode::Initialize,
        Generation::Newer => {
            ClientLifecycleMode::Discover { preferred_versions: vec![Generation::Newer.revision()] }
        }
    }
}

/// One that asks no proxy, as what is meant is on this machine.
fn http_client() -> reqwest::Client {
    // A second test in this process has it already.
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder().no_proxy().build().unwrap()
}
