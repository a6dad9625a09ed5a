//! An authorization that is under way: the bridge's end of it, for the carrier that performs it.
//!
//! ```text
//!  carrier ──ask──► AskPerson ──► bridge ──► the person's browser
//!  carrier ◄─answer── Redirected ◄── bridge ◄── the browser comes back
//!  carrier ──granted──► Granted ──► bridge
//! ```
//!
//! Owns handing over the one answer, and the tasks. Must never look into the answer.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use harbor_ipc_proto::link::oauth::{Given, Grant, Wish};
use harbor_ipc_proto::link::runner::{EndCause, FromRunner};
use harbor_ipc_proto::secret::Secret;
use tokio::sync::oneshot;
use tokio::task::{AbortHandle, JoinHandle};

use crate::carrying::Carrying;
use crate::to_bridge::Up;

/// The bridge's end of one authorization.
#[derive(Debug)]
pub struct Petition {
    number: u32,
    up: Rc<Up>,
    answer: oneshot::Receiver<Secret>,
}

impl Petition {
    /// Has the person asked: at this URL, whose answer repeats the state.
    pub fn ask(&self, url: &str, state: &Secret) {
        let state = state.clone();
        self.up.send(&FromRunner::AskPerson { server: self.number, url: url.into(), state });
    }

    /// Waits for the query that the person's browser brings back. None when nobody waits for it any more.
    pub async fn answer(&mut self) -> Option<Secret> {
        (&mut self.answer).await.ok()
    }

    /// There is a grant.
    pub fn granted(&self, grant: Grant) {
        self.up.send(&FromRunner::Granted { server: self.number, grant });
    }
}

/// The carrier's work that is under way besides servers, by the bridge's numbers.
#[derive(Debug, Default)]
pub(crate) struct Petitions(RefCell<HashMap<u32, Begun>>);

/// The task, and the sender for the person's answer until it has come.
type Begun = (Option<oneshot::Sender<Secret>>, AbortHandle);

impl Petitions {
    /// Begins an authorization; tells the bridge of its end, which is that of the task.
    pub(crate) fn begin(
        self: &Rc<Self>,
        number: u32,
        up: &Rc<Up>,
        perform: impl FnOnce(Petition) -> Carrying,
    ) -> JoinHandle<()> {
        let (sender, answer) = oneshot::channel();
        let carrying = perform(Petition { number, up: up.clone(), answer });
        let (petitions, up) = (self.clone(), up.clone());
        let task = tokio::task::spawn_local(async move {
            let cause = carrying.await;
            petitions.0.borrow_mut().remove(&number);
            tell_end(&up, number, cause);
        });
        self.0.borrow_mut().insert(number, (Some(sender), task.abort_handle()));
        task
    }

    /// The person's answer has come.
    pub(crate) fn answer(&self, number: u32, query: Secret) {
        let sender = self.0.borrow_mut().get_mut(&number).and_then(|(sender, _)| sender.take());
        if let Some(sender) = sender {
            // It may have come to its end this very moment.
            let _ = sender.send(query);
        }
    }

    /// Ends the authorization with this number, if there is one.
    pub(crate) fn end(&self, number: u32, up: &Up) {
        let ended = self.0.borrow_mut().remove(&number);
        if let Some((_, task)) = ended {
            task.abort();
            tell_end(up, number, EndCause::Stopped);
        }
    }
}

fn tell_end(up: &Up, server: u32, cause: EndCause<'static>) {
    up.send(&FromRunner::Ended { server, cause, stderr_tail: "".into() });
}

/// The bridge's words, kept.
pub(crate) fn owned(wish: Wish<'_>) -> Wish<'static> {
    let own = |text: std::borrow::Cow<'_, str>| text.into_owned().into();
    Wish {
        redirect_uri: own(wish.redirect_uri),
        client: wish.client.map(|Given { id, secret, issuer }| Given {
            id: own(id),
            secret,
            issuer: issuer.map(own),
        }),
        client_document: wish.client_document.map(own),
        scopes: wish.scopes.into_iter().map(own).collect(),
        challenge: wish.challenge.map(own),
    }
}
