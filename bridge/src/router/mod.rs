//! From a message to what it does: one exhaustive match.
//!
//! ```text
//!  front ─ frame ─► Router::receive ─► table of open requests ─► a task per request ─► handler ─► reply
//! ```
//!
//! Owns who may ask what (by policy's table), and that each request is answered exactly once. Must never parse a
//! payload; handlers stay short and hand down.

pub mod client;
pub mod clients;
mod config;
mod grants;
mod mcp;
mod mcp_client;
mod metrics;
mod origins;
mod questions;
mod sandbox;
mod servers;
mod session;
mod status;
mod views;
pub mod watching;

use std::cell::Cell;
use std::rc::Rc;
use std::time::Instant;

use harbor_ipc_proto::client::Request;
use harbor_ipc_proto::client::envelope::{Envelope, ErrorBody, Incoming};
use harbor_ipc_proto::codes::Code;
use harbor_ipc_proto::field::PutFields;
use harbor_policy::access::{self, Pass};
use tokio::sync::Notify;

use crate::host::asker::Caller;
use crate::host::{Host, invalid};
use crate::store::audit::Record;
use crate::store::definitions::Definitions;
use crate::supervisor::Supervisor;
use client::Client;
use clients::Clients;
use mcp::Asked;
pub(crate) use session::version_mismatch;

/// What handlers work with.
#[derive(Debug)]
pub struct Router {
    supervisor: Rc<Supervisor>,
    host: Rc<Host>,
    definitions: Rc<Definitions>,
    /// Who is connected.
    pub clients: Clients,
    began: Instant,
    /// Set off when a client asks for the bridge's end.
    pub shutdown: Notify,
    draining: Cell<bool>,
}

type Handled = Result<Box<dyn PutFields>, ErrorBody>;

impl Router {
    /// A router to these servers.
    #[must_use]
    pub fn new(supervisor: Rc<Supervisor>, host: Rc<Host>, definitions: Rc<Definitions>) -> Rc<Self> {
        Rc::new(Self {
            supervisor,
            host,
            definitions,
            clients: Clients::default(),
            began: Instant::now(),
            shutdown: Notify::new(),
            draining: Cell::new(false),
        })
    }

    /// Refuses all requests from now on: the bridge is going. So the refusals of origins that were only counted are all
    /// there will be, and are written down.
    pub fn drain(&self) {
        self.draining.set(true);
        self.host.trail.write_counted();
    }

    /// A client has come.
    pub fn join(&self, client: &Rc<Client>) {
        self.clients.add(client);
        self.clients.all().iter().for_each(|client| client.note_bridge());
    }

    /// A client has gone: its open requests end, and so do its subscriptions.
    pub fn leave(&self, client: &Client) {
        client.end();
        watching::forget(self, client);
        self.clients.all().iter().for_each(|client| client.note_bridge());
        self.host.leave(&client.sender(), client.has_named_session());
    }

    /// Takes a frame of a client whose role is known.
    pub fn receive(self: &Rc<Self>, client: &Rc<Client>, frame: &[u8]) {
        match Incoming::parse(frame) {
            Ok(incoming) => self.dispatch(client, incoming),
            Err(refused) => client.send_error(&refused.envelope, &refused.error),
        }
    }

    fn dispatch(self: &Rc<Self>, client: &Rc<Client>, Incoming { envelope, request }: Incoming) {
        if self.draining.get() {
            return client.send_error(&envelope, &shutting_down());
        }
        let id = envelope.id();
        if client.is_open(&id) {
            let message = "a request with this id is still open; use another id";
            let error = ErrorBody::new(Code::DuplicateRequestId, message).with("request_id", &id);
            return client.send_error(&Envelope::nobody(), &error);
        }
        let tag = request.tag();
        let pass = access::check(client.principal(), tag);
        // What needs no waiting is answered in place.
        if pass.is_ok()
            && let Some(reply) = session::at_once(self, client, &request)
        {
            return client.send_result(&envelope, tag, reply);
        }
        let Some(slot) = client.slot() else {
            let message = "too many requests of this client are open; wait for answers before sending more";
            return client.send_error(&envelope, &ErrorBody::new(Code::RateLimited, message));
        };
        let (router, owner) = (self.clone(), client.clone());
        let task = tokio::task::spawn_local({
            let id = id.clone();
            async move {
                let _bulk = match long_answer(&request) {
                    Some(of_origin) => Some(owner.bulk_turn(of_origin).await),
                    None => None,
                };
                let result = match pass {
                    Ok(pass) => router.handle(&owner, pass, &id, request).await,
                    Err(access::Denied) => Err(router.deny(&owner, tag).await),
                };
                owner.finish(&id, tag, result);
                drop(slot);
            }
        });
        client.open(id, envelope, task.abort_handle());
    }

    /// The message is not for this client, which is written down.
    async fn deny(&self, client: &Client, tag: &'static str) -> ErrorBody {
        let error = denied(tag);
        let code = Some(error.code.as_str());
        let record = Record { message: Some(tag), code, ..Record::default() };
        self.host.trail.refused(&client.sender(), None, record).await;
        error
    }

    async fn handle(self: &Rc<Self>, client: &Rc<Client>, pass: Pass, id: &str, request: Request) -> Handled {
        let asked = || {
            let caller = match pass.permit() {
                Some(permit) => Caller::Owner(client.sender(), permit),
                None => Caller::Origin(grants::asker(client, &None, &None, None)?),
            };
            Ok::<_, ErrorBody>(Asked { router: self, client, caller })
        };
        match request {
            Request::Attach(_) | Request::Hello(_) | Request::Ping(_) | Request::Cancel(_) => {
                Err(ErrorBody::new(Code::Internal, "this message is answered elsewhere"))
            }
            Request::Shutdown(_) => session::shut_down(self),
            Request::AddServer(message) => servers::add(self, client, message).await,
            Request::RemoveServer(message) => servers::remove(self, client, message).await,
            Request::ListServers(_) => servers::list(self),
            Request::ConnectServer(message) => {
                let note = servers::note(client, id, message.progress);
                servers::connect(self, &message, note).await
            }
            Request::DisconnectServer(message) => servers::disconnect(self, &message.server_id).await,
            Request::McpConnect(message) => {
                let note = servers::note(client, id, message.progress);
                mcp::connect(self, &message.server_id, note).await
            }
            Request::McpDisconnect(message) => mcp::disconnect(self, &message.server_id).await,
            Request::McpListConnections(_) => mcp::connections(self),
            Request::McpListTools(message) => mcp::tools(asked()?, &message.server_id).await,
            Request::McpListResources(message) => mcp::resources(asked()?, &message.server_id).await,
            Request::McpListResourceTemplates(message) => {
                mcp::resource_templates(asked()?, &message.server_id).await
            }
            Request::McpListPrompts(message) => mcp::prompts(asked()?, &message.server_id).await,
            Request::McpCallTool(message) => mcp::call_tool(asked()?, id, message).await,
            Request::McpReadResource(message) => mcp::read_resource(asked()?, id, message).await,
            Request::McpGetPrompt(message) => mcp::get_prompt(asked()?, id, message).await,
            Request::McpAnswer(message) => questions::answer(client, message),
            Request::McpComplete(message) => mcp::complete(asked()?, message).await,
            Request::McpSubscribeResource(message) => mcp::subscribe(asked()?, message).await,
            Request::McpUnsubscribeResource(message) => mcp::unsubscribe(self, client, &message),
            Request::McpSetLogLevel(message) => mcp::set_log_level(asked()?, message).await,
            Request::McpPing(message) => mcp::ping(asked()?, &message.server_id).await,
            Request::McpTask(message) => mcp::task(asked()?, message).await,
            Request::McpGetLogs(message) => watching::logs(self, client, &message).await,
            Request::GetSandbox(message) => sandbox::get(self, &message.server_id).await,
            Request::SetSandbox(message) => sandbox::set(self, client, message).await,
            Request::Status(message) => status::show(self, &message).await,
            Request::SubscribeStatus(message) => status::subscribe(self, client, &message).await,
            Request::Health(_) => status::health(self),
            Request::GetMetrics(_) => metrics::get(self).await,
            Request::GetConfig(_) => config::get(self),
            Request::WatchServers(message) => watching::servers(self, client, &message),
            Request::HostGrantPermission(message) => grants::grant(self, client, message).await,
            Request::HostRevokePermission(message) => grants::revoke(self, client, message).await,
            Request::HostCheckPermission(message) => grants::check(self, client, &message),
            Request::HostGetPermissions(message) => grants::of_origin(self, client, &message),
            Request::HostListAllPermissions(message) => grants::all(self, client, &message),
            Request::HostExpireTabGrants(message) => grants::expire_tab(self, client, &message),
            Request::HostListTools(message) => origins::tools(self, client, message).await,
            Request::HostListServers(message) => origins::servers(self, client, message).await,
            Request::HostListOffers(message) => origins::offers(self, client, message).await,
            Request::HostCallTool(message) => origins::call(self, client, id, message).await,
            Request::HostCreateRun(message) => origins::create_run(self, client, &message).await,
            Request::HostEndRun(message) => origins::end_run(self, client, message),
            Request::HostGetRun(message) => origins::get_run(self, client, message),
            Request::HostGetStats(message) => origins::stats(self, client, &message),
            Request::HostWatch(message) => origins::watch(client, &message),
            Request::HostGetAudit(message) => origins::audit(self, message).await,
            Request::HostListToolChanges(message) => origins::changes(self, &message),
            Request::HostAcceptToolChange(message) => origins::accept(self, client, message).await,
            Request::McpFollowMessages(message) => watching::messages(self, client, message),
            Request::McpBegin(message) => mcp_client::begin(self, client, message).await,
        }
    }
}

/// Whether an answer may be long without a server's having made it, and if so, whether it is an origin's. Those are made
/// one after the other.
fn long_answer(request: &Request) -> Option<bool> {
    match request {
        Request::HostListTools(_) | Request::HostListOffers(_) | Request::HostGetPermissions(_) => Some(true),
        Request::HostListAllPermissions(_)
        | Request::HostListToolChanges(_)
        | Request::HostGetAudit(_)
        | Request::HostGetStats(_)
        | Request::ListServers(_)
        | Request::Status(_)
        | Request::SubscribeStatus(_)
        | Request::GetMetrics(_)
        | Request::McpGetLogs(_) => Some(false),
        _ => None,
    }
}

/// What a request is told that comes, or is open, while the bridge ends.
#[must_use]
pub fn shutting_down() -> ErrorBody {
    ErrorBody::new(Code::ShuttingDown, "the bridge is shutting down; the next request starts it again")
}

fn denied(tag: &str) -> ErrorBody {
    let message = match tag {
        "attach" => "attach is the first frame of a connection and cannot be repeated".to_owned(),
        "mcp_begin" | "mcp_follow_messages" => format!("only an AI client sends {tag}: `harbor mcp`"),
        _ => format!("this connection may not send {tag}; only the owner may"),
    };
    ErrorBody::new(Code::PermissionDenied, message)
}

/// A change that was begun is also made, even when its client leaves in the middle of it.
async fn to_the_end(change: impl Future<Output = Handled> + 'static) -> Handled {
    let done = tokio::task::spawn_local(change).await;
    done.unwrap_or_else(|_| Err(shutting_down()))
}

fn reply(reply: impl PutFields + 'static) -> Handled {
    Ok(Box::new(reply))
}
