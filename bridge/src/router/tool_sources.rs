//! Messages about tool sources that belong to a connection.
//!
//! Owns the way from `browser` back to the connection: pushes. `browser` decides what they mean.

use std::rc::{Rc, Weak};
use std::sync::Arc;

use harbor_ipc_proto::client::{
    ListSourcesResult, SourceCall, SourceCancel, SourceEvent, SourceFile, SourceRegister,
    SourceRegisterResult, SourceResult, SourceResultResult, SourceSessionEnded, SourceUnregister,
    SourceUnregisterResult,
};

use super::client::Client;
use super::reply::{Handled, reply};
use super::state::Router;
use super::watching::sources_changed;
use crate::browser::ExtensionChannel;

/// The way to an extension.
#[derive(Debug)]
struct Pushes {
    client: Weak<Client>,
    connection: u64,
    browser_session: Arc<str>,
}

impl ExtensionChannel for Pushes {
    fn connection(&self) -> u64 {
        self.connection
    }

    fn browser_session(&self) -> Arc<str> {
        self.browser_session.clone()
    }

    fn call(&self, call: &SourceCall) {
        self.client.upgrade().iter().for_each(|client| client.send_push(call));
    }

    fn cancel(&self, cancel: &SourceCancel) {
        self.client.upgrade().iter().for_each(|client| client.send_push(cancel));
    }

    fn ended(&self, ended: &SourceSessionEnded) {
        self.client.upgrade().iter().for_each(|client| client.send_push(ended));
    }
}

pub(super) fn register(router: &Router, client: &Rc<Client>, message: &SourceRegister) -> Handled {
    let sender = client.sender();
    let road = Pushes {
        client: Rc::downgrade(client),
        connection: sender.client,
        browser_session: sender.session.clone(),
    };
    let id = router.browsers.register(Rc::new(road), message)?;
    sources_changed(router);
    reply(SourceRegisterResult { source_id: id.to_string() })
}

pub(super) fn unregister(router: &Router, client: &Client, message: &SourceUnregister) -> Handled {
    let unregistered = router.browsers.unregister(client.sender().client, &message.source_id);
    if unregistered {
        sources_changed(router);
    }
    reply(SourceUnregisterResult { unregistered })
}

pub(super) fn result(router: &Router, client: &Client, message: SourceResult) -> Handled {
    reply(SourceResultResult { accepted: router.browsers.answer(client.sender().client, message)? })
}

pub(super) fn event(router: &Router, client: &Client, message: SourceEvent) -> Handled {
    reply(router.browsers.on_event(client.sender().client, message)?)
}

pub(super) async fn file(router: &Router, client: &Client, message: SourceFile) -> Handled {
    reply(router.browsers.file_piece(client.sender().client, message).await?)
}

pub(super) fn list(router: &Router) -> Handled {
    reply(ListSourcesResult { sources: router.browsers.list() })
}

/// A connection has ended.
pub(super) fn leave(router: &Router, client: &Client) {
    if router.browsers.leave(client.sender().client) {
        sources_changed(router);
    }
}
