//! The questions to one client that have no answer yet.
//!
//! Owns which are open, and of which request. Must never look into them.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;

use harbor_ipc_proto::link::runner::AskAnswer;
use harbor_ipc_proto::source_id::SourceId;
use tokio::sync::oneshot;

use crate::link::Question;

/// More open questions than this are refused.
const MOST: usize = 64;

/// The asker of a question, who waits for the answer.
#[derive(Debug)]
pub(super) enum PendingQuestion {
    ByServer(Question, SourceId),
    ByHarbor(oneshot::Sender<AskAnswer<'static>>),
}

/// The open questions of a client.
#[derive(Debug, Default)]
pub(super) struct ClientQuestions {
    next: Cell<u64>,
    /// The open questions by number, each with the request that it is about.
    open: RefCell<HashMap<u64, (String, PendingQuestion)>>,
}

impl ClientQuestions {
    pub(super) fn have_room(&self) -> bool {
        self.open.borrow().len() < MOST
    }

    pub(super) fn open(&self, request_id: &str, asked: PendingQuestion) -> u64 {
        self.next.set(self.next.get() + 1);
        self.open.borrow_mut().insert(self.next.get(), (request_id.to_owned(), asked));
        self.next.get()
    }

    /// Closes an answered question. Returns the question.
    pub(super) fn take(&self, number: u64) -> Option<PendingQuestion> {
        self.open.borrow_mut().remove(&number).map(|(_, asked)| asked)
    }

    /// Refuses the questions about a request. The server must hear first that the request has ended.
    /// Otherwise it could take the refusal for the person's answer, and go on.
    pub(super) fn end(&self, request_id: &str) {
        self.open.borrow_mut().retain(|_, (about, _)| about != request_id);
    }
}
