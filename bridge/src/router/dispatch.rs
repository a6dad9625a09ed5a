//! The handler for each message on which a task works: an exhaustive match over the categories, and one in each.
//!
//! Owns nothing else: no message is looked at here.

use std::rc::Rc;

use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_ipc_proto::client::{
    AgentRequest, ApprovalRequest, BridgeRequest, CatalogRequest, CredentialRequest, EngineRequest,
    HostRequest, InstallRequest, McpRequest, ModelRequest, OauthRequest, ServerRequest, SourceRequest,
    StatusRequest, WorkRequest,
};
use harbor_ipc_proto::source_id::SourceKind;
use harbor_policy::access::Pass;

use super::client::Client;
use super::mcp::McpRequestContext;
use super::pending_reply::PendingReply;
use super::reply::Handled;
use super::state::Router;
use super::{
    agent, agent_runs, approvals, catalog, config, credentials, definitions, engines, grants, install, mcp,
    mcp_client, metrics, model_names, models, oauth, origins, pages, questions, sandbox, secret_store,
    servers, session, status, tool_sources, watching,
};
use crate::host::asker::Caller;

/// A request, with everything that its handler works with.
pub(super) struct RequestContext<'a> {
    pub(super) router: &'a Rc<Router>,
    pub(super) client: &'a Rc<Client>,
    pub(super) pass: Pass,
    /// The request's id.
    pub(super) id: &'a str,
}

/// Has a task answer a request.
pub(super) fn work_on(pending: PendingReply, pass: Pass, request: WorkRequest) {
    let (client, id) = (pending.client.clone(), pending.id.clone());
    let work = {
        let client = client.clone();
        async move {
            let _slot = match long_answer(&request) {
                Some(of_origin) => Some(client.long_answer_slot(of_origin).await),
                None => None,
            };
            let PendingReply { router, client, id, .. } = &pending;
            let result = RequestContext { router, client, pass, id }.handle(request).await;
            pending.give(result);
        }
    };
    client.spawn(&id, work);
}

impl<'a> RequestContext<'a> {
    /// The future of each kind of request is in a box of its own: a request's task is as large as its largest
    /// future, and is moved as a whole when it begins.
    pub(super) async fn handle(self, request: WorkRequest) -> Handled {
        match request {
            WorkRequest::Bridge(request) => self.bridge(&request),
            WorkRequest::Server(request) => Box::pin(self.servers(request)).await,
            WorkRequest::Install(request) => Box::pin(self.installs(request)).await,
            WorkRequest::Credential(request) => Box::pin(self.credentials(request)).await,
            WorkRequest::Oauth(request) => Box::pin(self.oauth(request)).await,
            WorkRequest::Catalog(request) => Box::pin(self.catalog(request)).await,
            WorkRequest::Mcp(request) => Box::pin(self.mcp(request)).await,
            WorkRequest::Status(request) => Box::pin(self.status(request)).await,
            WorkRequest::Host(request) => Box::pin(self.host(request)).await,
            WorkRequest::Model(request) => Box::pin(self.models(request)).await,
            WorkRequest::Engine(request) => Box::pin(self.engines(request)).await,
            WorkRequest::Agent(request) => Box::pin(self.agent(request)).await,
            WorkRequest::Approval(request) => Box::pin(self.approval(request)).await,
            WorkRequest::Source(request) => self.sources(request).await,
        }
    }

    fn bridge(&self, request: &BridgeRequest) -> Handled {
        match request {
            BridgeRequest::Shutdown(_) => session::shut_down(self.router),
        }
    }

    async fn sources(&self, request: SourceRequest) -> Handled {
        let (router, client) = (self.router, self.client);
        match request {
            SourceRequest::SourceRegister(message) => tool_sources::register(router, client, &message),
            SourceRequest::SourceUnregister(message) => tool_sources::unregister(router, client, &message),
            SourceRequest::SourceResult(message) => tool_sources::result(router, client, message),
            SourceRequest::SourceEvent(message) => tool_sources::event(router, client, message),
            SourceRequest::SourceFile(message) => tool_sources::file(router, client, message).await,
            SourceRequest::ListSources(_) => tool_sources::list(router),
        }
    }

    async fn servers(&self, request: ServerRequest) -> Handled {
        let (router, client, id) = (self.router, self.client, self.id);
        match request {
            ServerRequest::AddServer(message) => servers::add(router, client, message).await,
            ServerRequest::AddRemoteServer(message) => servers::add_remote(router, client, message).await,
            ServerRequest::RemoveServer(message) => servers::remove(router, client, message).await,
            ServerRequest::ListServers(_) => servers::list(router),
            ServerRequest::GetServerStatus(message) => servers::status(router, &message.server_id).await,
            ServerRequest::ConnectServer(message) => servers::connect(router, client, id, &message).await,
            ServerRequest::DisconnectServer(message) => servers::disconnect(router, &message.server_id).await,
            ServerRequest::GetDefinition(message) => definitions::get(router, &message.server_id),
            ServerRequest::CompareServer(message) => definitions::compare(router, message).await,
            ServerRequest::GetSandbox(message) => sandbox::get(router, &message.server_id).await,
            ServerRequest::SetSupervision(message) => servers::set_supervision(router, client, message).await,
            ServerRequest::SetSandbox(message) => sandbox::set(router, client, message).await,
        }
    }

    async fn installs(&self, request: InstallRequest) -> Handled {
        let (router, client, id) = (self.router, self.client, self.id);
        match request {
            InstallRequest::InstallServer(message) => install::install(router, client, id, message).await,
            InstallRequest::ResolveServer(message) => install::resolve(router, client, id, message).await,
            InstallRequest::GetCuratedList(_) => install::curated(router),
            InstallRequest::UpgradeServer(message) => install::upgrade(router, client, id, message).await,
            InstallRequest::UndoUpgrade(message) => install::undo(router, client, &message.server_id).await,
            InstallRequest::UninstallServer(message) => install::uninstall(router, client, message).await,
            InstallRequest::UpdateServerArgs(message) => install::set_args(router, client, message).await,
            InstallRequest::ListInstalled(_) => install::list(router),
            InstallRequest::CheckRuntimes(_) => install::runtimes(router).await,
        }
    }

    async fn oauth(&self, request: OauthRequest) -> Handled {
        let (router, client) = (self.router, self.client);
        match request {
            OauthRequest::OauthStart(message) => oauth::start(router, client, message).await,
            OauthRequest::OauthFinish(message) => oauth::finish(router, client, message.server_id).await,
            OauthRequest::OauthCancel(message) => oauth::cancel(router, &message.server_id),
            OauthRequest::OauthStatus(message) => oauth::status(router, &message.server_id).await,
            OauthRequest::OauthRevoke(message) => oauth::revoke(router, client, message.server_id).await,
        }
    }

    async fn credentials(&self, request: CredentialRequest) -> Handled {
        let (router, client) = (self.router, self.client);
        match request {
            CredentialRequest::SetCredential(message) => credentials::set(router, client, message).await,
            CredentialRequest::SetServerSecrets(message) => {
                credentials::set_all(router, client, message).await
            }
            CredentialRequest::GetCredentialStatus(message) => {
                credentials::get_status(router, &message.server_id).await
            }
            CredentialRequest::ValidateCredentials(message) => {
                credentials::validate(router, &message.server_id).await
            }
            CredentialRequest::DeleteCredential(message) => {
                credentials::delete(router, client, message).await
            }
            CredentialRequest::ListCredentials(message) => credentials::list(router, message).await,
            CredentialRequest::GetSecretStore(_) => secret_store::get(router),
            CredentialRequest::UnlockSecrets(message) => secret_store::unlock(router, client, message).await,
            CredentialRequest::LockSecrets(_) => secret_store::lock(router, client).await,
            CredentialRequest::EncryptSecrets(message) => {
                secret_store::encrypt(router, client, message).await
            }
            CredentialRequest::DecryptSecrets(_) => secret_store::decrypt(router, client).await,
            CredentialRequest::MoveSecrets(_) => secret_store::move_over(router, client).await,
        }
    }

    async fn catalog(&self, request: CatalogRequest) -> Handled {
        let (router, client, id) = (self.router, self.client, self.id);
        match request {
            CatalogRequest::CatalogGet(message) => catalog::get(router, message).await,
            CatalogRequest::CatalogSearch(message) => catalog::search(router, message).await,
            CatalogRequest::CatalogEntryGet(message) => catalog::entry(router, message).await,
            CatalogRequest::CatalogRefresh(message) => catalog::refresh(router, client, id, &message).await,
            CatalogRequest::CatalogEnrich(message) => catalog::enrich(router, client, id, &message).await,
            CatalogRequest::CatalogStatusGet(_) => catalog::status(router),
        }
    }

    async fn mcp(self, request: McpRequest) -> Handled {
        let (router, client, id) = (self.router, self.client, self.id);
        match request {
            McpRequest::McpConnect(message) => mcp::connect(router, client, id, &message).await,
            McpRequest::McpDisconnect(message) => mcp::disconnect(router, &message.server_id).await,
            McpRequest::McpListConnections(_) => mcp::connections(router),
            McpRequest::McpListTools(message) => mcp::tools(self.asked()?, &message).await,
            McpRequest::McpListResources(message) => mcp::resources(self.asked()?, &message.server_id).await,
            McpRequest::McpListResourceTemplates(message) => {
                mcp::resource_templates(self.asked()?, &message.server_id).await
            }
            McpRequest::McpListPrompts(message) => mcp::prompts(self.asked()?, &message.server_id).await,
            McpRequest::McpReadResource(message) => mcp::read_resource(self.asked()?, id, message).await,
            McpRequest::McpGetPrompt(message) => mcp::get_prompt(self.asked()?, id, message).await,
            McpRequest::McpAnswer(message) => questions::answer(router, client, message),
            McpRequest::McpComplete(message) => mcp::complete(self.asked()?, message).await,
            McpRequest::McpSubscribeResource(message) => mcp::subscribe(self.asked()?, message).await,
            McpRequest::McpUnsubscribeResource(message) => mcp::unsubscribe(router, client, &message),
            McpRequest::McpSetLogLevel(message) => mcp::set_log_level(self.asked()?, message).await,
            McpRequest::McpPing(message) => mcp::ping(self.asked()?, &message.server_id).await,
            McpRequest::McpTask(message) => mcp::task(self.asked()?, message).await,
            McpRequest::McpBegin(message) => mcp_client::begin(router, client, message).await,
        }
    }

    async fn status(&self, request: StatusRequest) -> Handled {
        let (router, client) = (self.router, self.client);
        match request {
            StatusRequest::McpGetLogs(message) => watching::logs(router, client, &message).await,
            StatusRequest::Status(message) => status::show(router, &message).await,
            StatusRequest::SubscribeStatus(message) => status::subscribe(router, client, &message).await,
            StatusRequest::Health(_) => status::health(router),
            StatusRequest::GetMetrics(_) => metrics::get(router).await,
            StatusRequest::GetConfig(_) => config::get(router),
            StatusRequest::WatchServers(message) => watching::servers(router, client, &message),
            StatusRequest::McpFollowMessages(message) => watching::messages(router, client, message),
        }
    }

    async fn host(&self, request: HostRequest) -> Handled {
        let (router, client) = (self.router, self.client);
        match request {
            HostRequest::HostGrantPermission(message) => grants::grant(router, client, message).await,
            HostRequest::HostRevokePermission(message) => grants::revoke(router, client, message).await,
            HostRequest::HostCheckPermission(message) => grants::check(router, client, &message),
            HostRequest::HostBeginPageAct(message) => grants::begin_act(router, client, &message).await,
            HostRequest::HostGetPermissions(message) => grants::of_origin(router, client, &message).await,
            HostRequest::HostListAllPermissions(message) => grants::all(router, client, &message),
            HostRequest::HostExpireTabGrants(message) => grants::expire_tab(router, client, &message),
            HostRequest::HostListTools(message) => origins::tools(router, client, message).await,
            HostRequest::HostListServers(message) => origins::servers(router, client, message).await,
            HostRequest::HostListOffers(message) => origins::offers(router, client, message).await,
            HostRequest::HostCreateRun(message) => origins::create_run(router, client, &message).await,
            HostRequest::HostEndRun(message) => origins::end_run(router, client, message),
            HostRequest::HostGetRun(message) => origins::get_run(router, client, message),
            HostRequest::HostGetStats(message) => origins::stats(router, client, &message),
            HostRequest::HostWatch(message) => origins::watch(client, &message),
            HostRequest::HostNameProfile(message) => origins::name_profile(router, message).await,
            HostRequest::HostNoteConsent(message) => origins::consent(router, client, message).await,
            HostRequest::HostGetAudit(message) => origins::audit(router, message).await,
            HostRequest::HostListToolChanges(message) => origins::changes(router, &message),
            HostRequest::HostAcceptToolChange(message) => origins::accept(router, client, message).await,
            HostRequest::HostAcceptServerChange(message) => {
                origins::accept_server(router, client, message).await
            }
        }
    }

    async fn models(self, request: ModelRequest) -> Handled {
        let (router, client, id) = (self.router, self.client, self.id);
        match request {
            ModelRequest::LlmDetect(_) => models::detect(router).await,
            ModelRequest::LlmListProviders(_) => models::providers(router),
            ModelRequest::LlmGetSupportedProviders(_) => models::supported(router),
            ModelRequest::LlmAddProvider(message) => models::add(router, client, message).await,
            ModelRequest::LlmConfigureProvider(message) => models::configure(router, client, message).await,
            ModelRequest::LlmRemoveProvider(message) => models::remove(router, client, message).await,
            ModelRequest::LlmSetApiKey(message) => models::set_key(router, client, message).await,
            ModelRequest::LlmRemoveApiKey(message) => models::remove_key(router, client, message).await,
            ModelRequest::LlmCheckProvider(message) => models::check(router, &message.provider_id).await,
            ModelRequest::LlmListModels(_) => models::models(router).await,
            ModelRequest::LlmListModelsFor(message) => models::models_of(router, message.provider_id).await,
            ModelRequest::LlmSetActive(message) => models::set_active(router, message).await,
            ModelRequest::LlmSetModel(message) => models::set_model(router, &message).await,
            ModelRequest::LlmSetModelOptions(message) => models::set_options(router, message).await,
            ModelRequest::LlmListConfiguredModels(_) => model_names::list(router),
            ModelRequest::LlmAddConfiguredModel(message) => model_names::add(router, message).await,
            ModelRequest::LlmRemoveConfiguredModel(message) => {
                model_names::remove(router, message.name).await
            }
            ModelRequest::LlmSetConfiguredModelDefault(message) => {
                model_names::set_default(router, message.name).await
            }
            ModelRequest::LlmSetDefaultFor(message) => model_names::set_for_use(router, message).await,
            ModelRequest::LlmGetActive(_) => models::active(router),
            ModelRequest::LlmGetConfig(_) => models::config(router),
            ModelRequest::LlmChat(message) => models::chat(router, client, self.pass, id, message).await,
            ModelRequest::HostLlmChat(message) => models::host_chat(router, client, id, message).await,
            ModelRequest::LlmMore(message) => models::more(client, &message),
            ModelRequest::HostLlmListModels(message) => models::host_models(router, client, message).await,
            ModelRequest::LlmCountTokens(message) => models::count(router, self.pass, message).await,
            ModelRequest::LlmTranscribe(message) => {
                models::transcribe(router, client, self.pass, message).await
            }
            ModelRequest::LlmUsage(message) => models::usage(router, &message).await,
            ModelRequest::LlmSetBudget(message) => models::set_budget(router, client, message).await,
            ModelRequest::LlmListBudgets(_) => models::budgets(router),
        }
    }

    async fn engines(self, request: EngineRequest) -> Handled {
        let (router, client, id) = (self.router, self.client, self.id);
        match request {
            EngineRequest::LlmSetupStatus(_) => engines::status(router).await,
            EngineRequest::LlmStartLocal(message) => engines::start(router, client, id, message).await,
            EngineRequest::LlmStopLocal(message) => engines::stop(router, client, message).await,
            EngineRequest::LlmDownloadModel(message) => engines::pull(router, client, id, message).await,
            EngineRequest::LlmDeleteModel(message) => engines::delete(router, client, message).await,
        }
    }

    async fn agent(self, request: AgentRequest) -> Handled {
        let (router, client) = (self.router, self.client);
        match request {
            AgentRequest::ChatCreateSession(message) => agent::create(router, client, message).await,
            AgentRequest::ChatSendMessage(message) => {
                agent::send(router, client, (self.pass, self.id), message).await
            }
            AgentRequest::ChatFetchPage(message) => pages::fetch(router, client, message).await,
            AgentRequest::ChatWatch(message) => agent::watch(router, client, message).await,
            AgentRequest::ChatStop(message) => agent::stop(router, &message.session_id).await,
            AgentRequest::ChatBranch(message) => agent::branch(router, client, message).await,
            AgentRequest::ChatImport(message) => agent::import(router, message).await,
            AgentRequest::ChatExport(message) => agent::give(router, message).await,
            AgentRequest::ChatGetSession(message) => agent::get(router, &message.session_id).await,
            AgentRequest::ChatListSessions(message) => agent::list(router, message).await,
            AgentRequest::ChatUpdateSession(message) => agent::update(router, message).await,
            AgentRequest::ChatClearMessages(message) => agent::clear(router, &message.session_id).await,
            AgentRequest::ChatDeleteSession(message) => agent::delete(router, &message.session_id).await,
            AgentRequest::RunStart(message) => agent_runs::start(router, client, self.id, message).await,
            AgentRequest::RunMore(message) => agent_runs::more(client, &message),
            AgentRequest::SessionCreate(message) => agent_runs::create(router, client, message).await,
            AgentRequest::SessionGet(message) => agent_runs::get(router, client, &message),
            AgentRequest::SessionList(message) => agent_runs::list(router, client, &message),
            AgentRequest::SessionEnd(message) => agent_runs::end(router, client, &message),
        }
    }

    async fn approval(self, request: ApprovalRequest) -> Handled {
        let (router, client) = (self.router, self.client);
        match request {
            ApprovalRequest::ApprovalsList(message) => approvals::list(router, &message),
            ApprovalRequest::ApprovalsAnswer(message) => approvals::answer(router, message).await,
            ApprovalRequest::ApprovalsRevoke(message) => approvals::revoke(router, client, message).await,
            ApprovalRequest::ApprovalsGuard(message) => approvals::guard(router, client, message).await,
            ApprovalRequest::ApprovalsWatch(message) => approvals::watch(router, client, &message),
        }
    }

    /// The caller of a message that the owner and AI clients both send.
    fn asked(self) -> Result<McpRequestContext<'a>, ErrorBody> {
        Ok(McpRequestContext {
            router: self.router,
            client: self.client,
            caller: caller(self.client, self.pass, SourceKind::Server)?,
        })
    }
}

/// The caller of a source of this kind, for a message that the owner and AI clients both send.
pub(super) fn caller(client: &Client, pass: Pass, kind: SourceKind) -> Result<Caller, ErrorBody> {
    Ok(match pass.right(kind) {
        Some(right) => Caller::Owner(client.sender(), right),
        None => Caller::Origin(grants::asker(client, &None, &None, None)?),
    })
}

/// Tells if an answer may be long without being a server's own: true for an origin's, false for the owner's,
/// else none. Long answers are made one after the other.
fn long_answer(request: &WorkRequest) -> Option<bool> {
    match request {
        WorkRequest::Host(HostRequest::HostListTools(_))
        | WorkRequest::Host(HostRequest::HostListOffers(_))
        | WorkRequest::Host(HostRequest::HostGetPermissions(_)) => Some(true),
        WorkRequest::Host(HostRequest::HostListAllPermissions(_))
        | WorkRequest::Host(HostRequest::HostListToolChanges(_))
        | WorkRequest::Host(HostRequest::HostGetAudit(_))
        | WorkRequest::Host(HostRequest::HostGetStats(_))
        | WorkRequest::Server(ServerRequest::ListServers(_))
        | WorkRequest::Credential(CredentialRequest::ListCredentials(_))
        | WorkRequest::Status(StatusRequest::Status(_))
        | WorkRequest::Status(StatusRequest::SubscribeStatus(_))
        | WorkRequest::Status(StatusRequest::GetMetrics(_))
        | WorkRequest::Catalog(CatalogRequest::CatalogGet(_))
        | WorkRequest::Catalog(CatalogRequest::CatalogSearch(_))
        | WorkRequest::Status(StatusRequest::McpGetLogs(_)) => Some(false),
        _ => None,
    }
}
