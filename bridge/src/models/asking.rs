//! The requests to the model worker, and those who wait for them.
//!
//! ```text
//!  ask ─► a number ─► sent, once there is a worker ─► events … ─► the last one
//!            │                                        └─ the worker is lost: every open request fails, nothing is sent again
//!            └─ dropped before: the worker is told that nobody waits
//! ```
//!
//! Owns the numbers, and the rule that each request ends once. A request is never sent twice: an answer that a model has
//! begun may have cost something.

use std::rc::Rc;

use harbor_ipc_proto::link::model::{Cause, Event, Failure, FromModel, ToModel};
use harbor_policy::lifecycle::State;
use tokio::sync::mpsc;

use super::Models;
use super::open_request::OpenModelRequest;
use crate::keeper::WorkerOwner;
use crate::link::worker::model::ModelLink;

/// The waiting side of a request. When this is dropped, the worker is told.
#[derive(Debug)]
pub(super) struct ModelRequestGuard {
    models: Rc<Models>,
    id: u32,
    heard: mpsc::UnboundedReceiver<FromModel>,
}

impl Models {
    /// Sends the worker the message that `make` makes of a new number.
    pub(super) fn ask(self: &Rc<Self>, make: impl FnOnce(u32) -> ToModel) -> ModelRequestGuard {
        let id = self.last.get().wrapping_add(1);
        self.last.set(id);
        let (sender, heard) = mpsc::unbounded_channel();
        let message = make(id);
        let asked = ModelRequestGuard { models: self.clone(), id, heard };
        let is_running = self.worker.state() == State::Running;
        let has_room = !is_running || self.worker.send(&message);
        let unsent = (!is_running).then_some(message);
        self.open.borrow_mut().insert(id, OpenModelRequest { unsent, heard: sender });
        if !has_room {
            self.give(id, overloaded(id));
        }
        if self.may_start.get() {
            self.worker.start();
        }
        self.worker.look();
        asked
    }

    /// Passes a message on to the one who waits for it. The last message ends the request.
    fn give(&self, id: u32, message: FromModel) {
        let is_last = !matches!(&message, FromModel::Event { event, .. } if !is_end(event));
        let mut open = self.open.borrow_mut();
        let sender = match is_last {
            true => open.remove(&id).map(|open| open.heard),
            false => open.get(&id).map(|open| open.heard.clone()),
        };
        let is_idle = open.is_empty();
        drop(open);
        if let Some(sender) = sender {
            // The one who asked may have left.
            let _ = sender.send(message);
        }
        if is_last && is_idle {
            self.worker.look();
        }
    }

    fn fail_all(&self) {
        let why = self.worker.last_error().unwrap_or_else(|| "it has ended".into());
        let failure = Failure {
            cause: Cause::WorkerLost,
            status: None,
            retry_after_ms: None,
            message: format!("the model worker has ended: {why}; ask again"),
        };
        let open: Vec<_> = self.open.borrow_mut().drain().collect();
        for (id, open) in open {
            // The one who asked may have left.
            let _ = open.heard.send(FromModel::Failed { id, failure: failure.clone() });
        }
    }
}

/// The error when the worker does not read: more waits for it than may.
fn overloaded(id: u32) -> FromModel {
    let message = "the model worker is too busy; ask again later".into();
    FromModel::Failed {
        id,
        failure: Failure { cause: Cause::Overloaded, status: None, retry_after_ms: None, message },
    }
}

fn is_end(event: &Event) -> bool {
    matches!(event, Event::End { .. } | Event::Error(_))
}

impl ModelRequestGuard {
    /// The next message. After the last one, each further one is a failure.
    pub(super) async fn next(&mut self) -> FromModel {
        let heard = self.heard.recv().await;
        heard.unwrap_or_else(|| FromModel::Failed {
            id: self.id,
            failure: Failure {
                cause: Cause::WorkerLost,
                status: None,
                retry_after_ms: None,
                message: "the model worker stopped answering".into(),
            },
        })
    }

    /// Lets the worker send this many more deltas of a chat.
    pub(super) fn more(&self, deltas: u32) {
        if !self.models.worker.send(&ToModel::More { id: self.id, deltas }) {
            self.models.give(self.id, overloaded(self.id));
        }
    }
}

impl Drop for ModelRequestGuard {
    fn drop(&mut self) {
        let left = self.models.open.borrow_mut().remove(&self.id);
        if left.is_some_and(|open| open.unsent.is_none()) {
            self.models.worker.send(&ToModel::Cancel { id: self.id });
        }
        if self.models.open.borrow().is_empty() {
            self.models.worker.look();
        }
    }
}

impl WorkerOwner<ModelLink> for Models {
    fn is_busy(&self) -> bool {
        !self.open.borrow().is_empty()
    }

    fn ready(self: Rc<Self>) {
        let mut unsent: Vec<_> = self
            .open
            .borrow_mut()
            .iter_mut()
            .filter_map(|(id, open)| Some((*id, open.unsent.take()?)))
            .collect();
        // In their order.
        unsent.sort_by_key(|(id, _)| *id);
        for (id, message) in unsent {
            if !self.worker.send(&message) {
                self.give(id, overloaded(id));
            }
        }
    }

    fn heard(self: Rc<Self>, said: FromModel) {
        let id = match &said {
            FromModel::Hello { .. } => return,
            FromModel::Event { id, .. }
            | FromModel::Models { id, .. }
            | FromModel::Checked { id, .. }
            | FromModel::Detected { id, .. }
            | FromModel::Counted { id, .. }
            | FromModel::Scaled { id, .. }
            | FromModel::Transcribed { id, .. }
            | FromModel::Failed { id, .. } => *id,
        };
        self.give(id, said);
    }

    fn lost(self: Rc<Self>) {
        self.fail_all();
    }

    fn given_up(self: Rc<Self>) {
        self.fail_all();
    }

    fn changed(self: Rc<Self>, _state: State) {
        self.tell();
    }
}
