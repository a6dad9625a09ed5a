//! The clients' interest in a server's resources, and in its messages.
//!
//! Owns the count of clients per resource. A subscription belongs to the clients, not to a start: each start of the
//! server is asked for those that there are, and the server hears when the last client has left.

use std::rc::Rc;

use harbor_ipc_proto::link::runner::Operation;
use harbor_policy::lifecycle::State;
use harbor_policy::limits::LEVELS;

use super::Server;
use crate::link::{Audience, ServerAnswer, TimeLimit};

impl Server {
    /// Notes one more client that subscribed to `uri`.
    pub fn subscribed(&self, uri: &str) {
        self.lists.subscribe(uri);
    }

    /// Notes that a client gave up its subscription; returns whether it was the last one.
    pub fn unsubscribed(&self, uri: &str) -> bool {
        self.lists.unsubscribe(uri)
    }

    /// A client with a subscription has left without giving it up.
    pub fn subscriber_left(self: &Rc<Self>, uri: &str) {
        if self.unsubscribed(uri) {
            self.tell_server(Operation::Unsubscribe { uri: uri.to_owned().into() });
        }
    }

    /// The server has just started: what clients are interested in is asked for again.
    pub(super) fn subscribe_again(self: &Rc<Self>) {
        for uri in self.lists.subscriptions() {
            self.tell_server(Operation::Subscribe { uri: uri.into() });
        }
    }

    /// Notes that somebody wants MCP's log messages from a level on, a place among [`LEVELS`]. All share the server and its
    /// level: it is asked for more, and never for less.
    pub fn want_messages(self: &Rc<Self>, level: usize) {
        if self.lists.want_messages(level) {
            self.ask_for_messages();
        }
    }

    /// Asks for log messages. If a server does not offer logging, it says so, and nothing is lost.
    pub(super) fn ask_for_messages(self: &Rc<Self>) {
        if let Some(level) = self.lists.wanted_messages().and_then(|level| LEVELS.get(level)) {
            self.tell_server(Operation::SetLogLevel { level: (*level).into() });
        }
    }

    /// Asks for something without waiting for the answer. A failure is logged.
    fn tell_server(self: &Rc<Self>, operation: Operation<'static>) {
        let place = self.place.present().filter(|_| self.state() == State::Running);
        let Some(place) = place else { return };
        let limit = TimeLimit::fixed(self.settings().call_timeout);
        let Ok(call) = place.runner.link.call(place.number, operation, limit, Audience::default()) else {
            return;
        };
        let server = self.clone();
        tokio::task::spawn_local(async move {
            if let Ok(ServerAnswer::ServerError { message, .. }) = call.await {
                server.remark(format!("what clients wish to be told of was refused: {message}"));
            }
        });
    }
}
