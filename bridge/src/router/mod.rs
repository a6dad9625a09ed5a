//! The way from a message to its handler.
//!
//! ```text
//!  front ─ frame ─► Router::receive ─► table of open requests ─┬─► a task per request ─► handler ─┬─► reply
//!                                                              └─► a tool call ─► its server ─────┘
//! ```
//!
//! Owns who may ask what (by policy's table), and that each request is answered exactly once. Must never parse a payload;
//! handlers stay short and pass the work down.

mod agent;
mod agent_runs;
mod approvals;
mod calling;
mod catalog;
pub mod client;
pub mod clients;
mod config;
mod confirming;
mod credential_view;
mod credentials;
mod definitions;
mod dispatch;
mod feed;
mod grants;
mod install;
mod mcp;
mod mcp_client;
mod metrics;
mod models;
mod oauth;
mod open_questions;
mod origins;
mod progress_reporter;
mod questions;
mod read_only;
mod sandbox;
mod secret_store;
mod servers;
mod session;
mod site_secrets;
mod status;
mod steps;
mod tool_sources;
mod views;
pub mod watching;

use std::cell::Cell;
use std::rc::Rc;
use std::time::Instant;

use harbor_ipc_proto::client::envelope::{Envelope, ErrorBody, Incoming, Refused};
use harbor_ipc_proto::client::{
    Attach, Cancel, Health, Hello, HostRequest, McpBegin, McpFollowMessages, McpRequest, Ping, Request,
    Shutdown,
};
use harbor_ipc_proto::codes::Code;
use harbor_ipc_proto::field::{Message as _, PutFields};
use harbor_ipc_proto::json::Json;
use harbor_policy::access::{self, Pass};
use harbor_policy::slots::Slot;
use tokio::sync::Notify;

use crate::agent::Agent;
use crate::browser::Browsers;
use crate::catalog::Catalog;
use crate::host::{Host, invalid, to_the_end};
use crate::install::Installations;
use crate::models::Models;
use crate::store::audit::AuditRecord;
use crate::supervisor::Supervisor;
use client::Client;
use clients::Clients;
use dispatch::{RequestContext, long_answer};
use mcp::McpRequestContext;
pub(crate) use session::version_mismatch;

/// The router, with everything that handlers work with.
#[derive(Debug)]
pub struct Router {
    supervisor: Rc<Supervisor>,
    host: Rc<Host>,
    /// The servers that can be installed.
    pub catalog: Rc<Catalog>,
    /// The person's language models.
    pub models: Rc<Models>,
    /// The sessions in which models use tools.
    pub agent: Rc<Agent>,
    browsers: Rc<Browsers>,
    installs: Rc<Installations>,
    /// Authorizations that wait for the person.
    flows: oauth::Flows,
    /// The connected clients.
    pub clients: Clients,
    began: Instant,
    /// Set off when a client asks for the bridge's end.
    pub shutdown: Notify,
    draining: Cell<bool>,
}

type Handled = Result<Box<dyn PutFields>, ErrorBody>;

/// The owner's messages that are answered even though there is hardly room for a client.
const IN_PASSING: [&str; 5] = [Hello::TAG, Ping::TAG, Health::TAG, Shutdown::TAG, Cancel::TAG];

impl Router {
    /// A router to these servers.
    #[must_use]
    pub fn new(
        supervisor: Rc<Supervisor>,
        host: Rc<Host>,
        catalog: Rc<Catalog>,
        models: Rc<Models>,
        agent: Rc<Agent>,
        installs: Rc<Installations>,
    ) -> Rc<Self> {
        Rc::new(Self {
            browsers: Browsers::new(host.clone(), supervisor.secrets().clone()),
            supervisor,
            host,
            catalog,
            models,
            agent,
            installs,
            flows: oauth::Flows::default(),
            clients: Clients::default(),
            began: Instant::now(),
            shutdown: Notify::new(),
            draining: Cell::new(false),
        })
    }

    /// True if records of the audit log are only in this process, since the disk refuses them.
    #[must_use]
    pub fn has_unwritten(&self) -> bool {
        self.host.trail.health().0
    }

    /// Refuses all requests from now on, since the bridge is going. No more refusals of origins will be
    /// counted, so the counts are written down.
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
        self.installs.leave(client.sender().client);
        self.flows.forget(client);
        tool_sources::leave(self, client);
        self.clients.all().iter().for_each(|client| client.note_bridge());
        let sender = client.sender();
        if !client.has_named_session() {
            self.agent.end_connection(&sender.session);
        }
        self.host.leave(&sender, client.has_named_session());
    }

    /// Takes a frame from a client whose role is known: a request, or the error for a frame that is none.
    pub fn receive(self: &Rc<Self>, client: &Rc<Client>, parsed: Result<Incoming, Refused>) {
        match parsed {
            Ok(incoming) => self.dispatch(client, incoming),
            Err(refused) => client.send_error(&refused.envelope, &refused.error),
        }
        self.clients.relieve(client);
    }

    fn dispatch(self: &Rc<Self>, client: &Rc<Client>, Incoming { envelope, request }: Incoming) {
        if self.draining.get() {
            let unsent = shutting_down().with_json("sent", Json::from_valid("false".into()));
            return client.send_error(&envelope, &unsent);
        }
        if client.is_in_passing() && !IN_PASSING.contains(&request.tag()) {
            return client.send_error(&envelope, &crowded());
        }
        let id: Rc<str> = envelope.id().into();
        let is_twice = || {
            let message = "a request with this id is still open; use another id";
            let error = ErrorBody::new(Code::DuplicateRequestId, message).with("request_id", &id);
            client.send_error(&Envelope::nobody(), &error);
        };
        let tag = request.tag();
        if let Some(refusal) = read_only::refused(self.supervisor.read_only_home(), tag) {
            return client.send_error(&envelope, &refusal);
        }
        let pass = access::check(client.principal(), tag);
        if let (Ok(_), Request::Session(request)) = (&pass, &request) {
            if client.is_open(&id) {
                return is_twice();
            }
            // A request that needs no waiting is answered in place.
            if let Some(reply) = session::at_once(self, client, request) {
                return client.send_result(&envelope, tag, reply);
            }
        }
        if !client.open(&id, envelope) {
            return is_twice();
        }
        let Some(slot) = client.slot() else {
            let message = "too many requests of this client are open; wait for answers before sending more";
            return client.finish(&id, tag, Err(ErrorBody::new(Code::RateLimited, message)));
        };
        let due = PendingReply { router: self.clone(), client: client.clone(), id, tag, _slot: slot };
        match (pass, request) {
            (Ok(pass), Request::Mcp(McpRequest::McpCallTool(message))) => calling::mcp(due, pass, message),
            (Ok(_), Request::Host(HostRequest::HostCallTool(message))) => calling::host(due, message),
            (pass, request) => due.work_on(pass, request),
        }
    }

    /// Refuses a message that is not for this client, and writes that down.
    async fn deny(&self, client: &Client, tag: &'static str) -> ErrorBody {
        let error = denied(tag);
        let code = Some(error.code.as_str());
        let record = AuditRecord { message: Some(tag), code, ..AuditRecord::default() };
        self.host.trail.refused(&client.sender(), None, record).await;
        error
    }
}

/// An answer that is due. Its request is open until the answer is given, or until this is dropped by a cancellation.
struct PendingReply {
    router: Rc<Router>,
    client: Rc<Client>,
    id: Rc<str>,
    tag: &'static str,
    _slot: Slot,
}

impl PendingReply {
    /// Has a task answer the request.
    fn work_on(self, pass: Result<Pass, access::AccessDenied>, request: Request) {
        let (client, id) = (self.client.clone(), self.id.clone());
        let work = {
            let client = client.clone();
            async move {
                let _bulk = match long_answer(&request) {
                    Some(of_origin) => Some(client.bulk_turn(of_origin).await),
                    None => None,
                };
                let result = self.result(pass, request).await;
                self.give(result);
            }
        };
        client.spawn(&id, work);
    }

    async fn result(&self, pass: Result<Pass, access::AccessDenied>, request: Request) -> Handled {
        let Self { router, client, id, tag, .. } = self;
        match pass {
            Ok(pass) => RequestContext { router, client, pass, id }.handle(request).await,
            Err(access::AccessDenied) => Err(Box::pin(router.deny(client, tag)).await),
        }
    }

    /// Gives the answer.
    fn give(self, result: Handled) {
        self.client.finish(&self.id, self.tag, result);
        self.router.clients.relieve(&self.client);
    }
}

impl Drop for PendingReply {
    /// By now its server has heard that the request has ended.
    fn drop(&mut self) {
        self.client.questions().end(&self.id);
    }
}

/// The error for a request that comes, or waits, while the bridge ends.
#[must_use]
pub fn shutting_down() -> ErrorBody {
    ErrorBody::new(Code::ShuttingDown, "the bridge is shutting down; the next request starts it again")
}

/// The error for a client for which no descriptor is left.
#[must_use]
pub fn crowded() -> ErrorBody {
    let message = "too many clients: all files that the bridge may have open are in use. End some clients or servers, or give it \
                   more (`ulimit -n`, LimitNOFILE=) before its next start";
    ErrorBody::new(Code::RateLimited, message)
}

fn denied(tag: &str) -> ErrorBody {
    let message = match tag {
        Attach::TAG => "attach is the first frame of a connection and cannot be repeated".to_owned(),
        McpBegin::TAG | McpFollowMessages::TAG => format!("only an AI client sends {tag}: `harbor mcp`"),
        _ => format!("this connection may not send {tag}; only the owner may"),
    };
    ErrorBody::new(Code::PermissionDenied, message)
}

fn reply(reply: impl PutFields + 'static) -> Handled {
    Ok(Box::new(reply))
}
