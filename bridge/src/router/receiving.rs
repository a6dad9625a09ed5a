//! A request on its way from a connection to its handler.
//!
//! Owns who may send what (by policy's table), and that no request is answered twice. Must never look into a request.

use std::rc::Rc;

use harbor_ipc_proto::client::envelope::{Envelope, ErrorBody, Incoming, Refused};
use harbor_ipc_proto::client::{Cancel, Health, Hello, Ping, Request, Shutdown};
use harbor_ipc_proto::codes::Code;
use harbor_ipc_proto::field::Message as _;
use harbor_ipc_proto::json::Json;
use harbor_policy::access;

use super::client::Client;
use super::pending_reply::PendingReply;
use super::refusals::{crowded, shutting_down};
use super::state::Router;
use super::{calling, dispatch, read_only, session, tool_sources, watching};

/// The owner's messages that are answered even though there is hardly room for a client.
const IN_PASSING: [&str; 5] = [Hello::TAG, Ping::TAG, Health::TAG, Shutdown::TAG, Cancel::TAG];

impl Router {
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

    /// Handles a frame from a client whose role is known: a request, or the error for an invalid frame.
    pub fn receive(self: &Rc<Self>, client: &Rc<Client>, parsed: Result<Incoming, Refused>) {
        match parsed {
            Ok(incoming) => self.dispatch(client, incoming),
            Err(refused) => client.send_error(&refused.envelope, &refused.error),
        }
        self.clients.relieve(client);
    }

    fn dispatch(self: &Rc<Self>, client: &Rc<Client>, Incoming { envelope, request }: Incoming) {
        let tag = request.tag();
        if let Some(refusal) = self.refusal(client, tag) {
            return client.send_error(&envelope, &refusal);
        }
        let Ok(pass) = access::check(client.principal(), tag) else {
            return self.open(client, envelope, tag).into_iter().for_each(PendingReply::deny);
        };
        match request {
            Request::Connection(_) if client.is_open(&envelope.id()) => is_twice(client, &envelope.id()),
            Request::Connection(request) => {
                client.send_result(&envelope, tag, session::at_once(self, client, &request));
            }
            Request::Call(request) => {
                if let Some(pending) = self.open(client, envelope, tag) {
                    calling::begin(pending, pass, request);
                }
            }
            Request::Work(request) => {
                if let Some(pending) = self.open(client, envelope, tag) {
                    dispatch::work_on(pending, pass, request);
                }
            }
        }
    }

    /// The reason why this message gets no answer now.
    fn refusal(&self, client: &Client, tag: &str) -> Option<ErrorBody> {
        if self.draining.get() {
            return Some(shutting_down().with_json("sent", Json::from_valid("false".into())));
        }
        if client.is_in_passing() && !IN_PASSING.contains(&tag) {
            return Some(crowded());
        }
        read_only::refused(self.supervisor.read_only_home(), tag)
    }

    /// Opens a request: it is answered from now on. None if it was refused.
    fn open(
        self: &Rc<Self>,
        client: &Rc<Client>,
        envelope: Envelope,
        tag: &'static str,
    ) -> Option<PendingReply> {
        let id: Rc<str> = envelope.id().into();
        if !client.open(&id, envelope) {
            is_twice(client, &id);
            return None;
        }
        let Some(slot) = client.slot() else {
            let message = "too many requests of this client are open; wait for answers before sending more";
            client.finish(&id, tag, Err(ErrorBody::new(Code::RateLimited, message)));
            return None;
        };
        Some(PendingReply { router: self.clone(), client: client.clone(), id, tag, _slot: slot })
    }
}

/// Refuses a request whose id is that of an open one.
fn is_twice(client: &Client, id: &str) {
    let message = "a request with this id is still open; use another id";
    let error = ErrorBody::new(Code::DuplicateRequestId, message).with("request_id", id);
    client.send_error(&Envelope::nobody(), &error);
}
