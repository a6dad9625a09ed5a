//! The news for one client: the resources, logs and messages that it wants, and the rules for a slow client.
//!
//! Owns what is left out for a client that does not read, and when it is cut off. Never waits for it.

use std::collections::HashSet;
use std::rc::Rc;

use harbor_ipc_proto::client::ResourceUpdated;
use harbor_policy::limits;

use super::Client;

/// The most resources that a client may be told of.
const MOST_SUBSCRIPTIONS: usize = 1024;

impl Client {
    /// Sends a push that others get too, written once for all. A client that does not read its news is cut
    /// off: it could not know what it missed.
    pub(in crate::router) fn send_news(&self, body: &[u8]) {
        // Answers wait in the same queue, and their length is no fault of the client's.
        let news = self.news.get().min(self.outbox.pending());
        if news > limits::PUSHES_MOST {
            return self.outbox.cut();
        }
        self.news.set(news + body.len());
        self.send(None, |out| out.extend_from_slice(body));
    }

    /// Sends a log line in the same way, unless the client does not read fast enough. Then the line is
    /// counted. Once there is room again, `left_out` makes a push of the count, in the lines' place.
    pub(in crate::router) fn send_log(
        self: &Rc<Self>,
        server: &str,
        body: &[u8],
        left_out: fn(&str, u64) -> Vec<u8>,
    ) {
        let mut followed = self.followed.borrow_mut();
        let Some(missed) = followed.get_mut(server) else { return };
        // While lines are missing, later ones are left out too, to keep their order.
        if *missed == 0 && self.outbox.pending() <= limits::PUSHES_WAIT {
            drop(followed);
            return self.send(None, |out| out.extend_from_slice(body));
        }
        *missed += 1;
        if *missed > 1 {
            return;
        }
        let (client, server) = (Rc::downgrade(self), server.to_owned());
        tokio::task::spawn_local(async move {
            let Some(client) = client.upgrade() else { return };
            client.outbox.room().await;
            let missed = client.followed.borrow_mut().get_mut(&server).map(std::mem::take);
            if let Some(missed) = missed {
                client.send(None, |out| out.extend_from_slice(&left_out(&server, missed)));
            }
        });
    }

    /// Returns whether the subscription is new.
    pub(in crate::router) fn subscribe(&self, server: &str, uri: &str) -> bool {
        self.resources.borrow_mut().insert((server.to_owned(), uri.to_owned()))
    }

    /// Returns whether there was a subscription.
    pub(in crate::router) fn unsubscribe(&self, server: &str, uri: &str) -> bool {
        self.resources.borrow_mut().remove(&(server.to_owned(), uri.to_owned()))
    }

    /// True if it has as many subscriptions as a client may have.
    pub(in crate::router) fn has_many_subscriptions(&self) -> bool {
        self.resources.borrow().len() >= MOST_SUBSCRIPTIONS
    }

    /// The resources of a server that it subscribed to.
    pub(in crate::router) fn subscriptions_to(&self, server: &str) -> Vec<String> {
        let resources = self.resources.borrow();
        resources.iter().filter(|(of, _)| of == server).map(|(_, uri)| uri.clone()).collect()
    }

    /// Ends all subscriptions, and returns them.
    pub(in crate::router) fn take_subscriptions(&self) -> HashSet<(String, String)> {
        self.resources.take()
    }

    pub(in crate::router) fn is_subscribed(&self, server: &str, uri: &str) -> bool {
        self.resources.borrow().contains(&(server.to_owned(), uri.to_owned()))
    }

    pub(in crate::router) fn follow_messages(&self, level: usize) {
        self.messages.set(Some(level));
    }

    /// The lowest level of servers' messages that it wants.
    pub(in crate::router) fn level(&self) -> Option<usize> {
        self.messages.get()
    }

    /// Reports a changed resource. For a slow client, several changes become one push.
    pub(in crate::router) fn send_update(self: &Rc<Self>, server: &str, uri: &str) {
        if self.updates.borrow().is_empty() && self.outbox.pending() <= limits::PUSHES_WAIT {
            return self.push_update(server, uri);
        }
        let is_first = self.updates.borrow().is_empty();
        self.updates.borrow_mut().insert((server.to_owned(), uri.to_owned()));
        if !is_first {
            return;
        }
        let client = Rc::downgrade(self);
        tokio::task::spawn_local(async move {
            let Some(client) = client.upgrade() else { return };
            client.outbox.room().await;
            for (server, uri) in client.updates.take() {
                client.push_update(&server, &uri);
            }
        });
    }

    fn push_update(&self, server: &str, uri: &str) {
        // The subscription may have ended meanwhile.
        if self.is_subscribed(server, uri) {
            let (server_id, uri) = (server.to_owned(), uri.to_owned());
            self.send_push(&ResourceUpdated { server_id, uri });
        }
    }

    /// Passes on a message of a server. A slow client does not get it.
    pub(in crate::router) fn send_message(&self, body: &[u8]) {
        if self.outbox.pending() <= limits::PUSHES_WAIT {
            self.send(None, |out| out.extend_from_slice(body));
        }
    }

    pub(in crate::router) fn follow_logs(&self, server: &str, follow: bool) {
        let mut followed = self.followed.borrow_mut();
        match follow {
            true => drop(followed.entry(server.to_owned()).or_default()),
            false => drop(followed.remove(server)),
        }
    }

    pub(in crate::router) fn follows_logs(&self, server: &str) -> bool {
        self.followed.borrow().contains_key(server)
    }
}
