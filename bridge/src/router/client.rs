//! One client: its principal, its limits, and its open requests.
//!
//! Owns the answers on their way out (in chunks where they must be), and the promise of exactly one answer per request.
//! When a client goes, dropping this ends its open requests, and their servers are told.

mod account;
mod chunks;
mod requests;
mod sending;
pub mod stream;
mod subscriptions;

use std::cell::{Cell, RefCell};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};

use harbor_child::outbox::Outbox;
use harbor_ipc_proto::client::envelope::{Envelope, ErrorBody};
use harbor_ipc_proto::codes::Code;
use harbor_ipc_proto::frame::NATIVE_MESSAGING_LIMIT;
use harbor_ipc_proto::server_id::ServerId;
use harbor_policy::access::Principal;
use harbor_policy::limits;
use harbor_policy::slots::{Slot, Slots};
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::task::AbortHandle;

use self::requests::Requests;
use super::feed::Feed;
use super::open_questions::ClientQuestions;
use super::reply::Handled;
use crate::host::asker::Sender;
use crate::host::consent::asking::QuestionDisplayGuard;

/// Bytes that may wait for a client that does not read. Beyond that it is cut off.
const LIMIT: usize = 128 * 1024 * 1024;

/// The bounds of `max_frame`.
pub(super) const MAX_FRAME_RANGE: (usize, usize) = (4096, 128 * 1024 * 1024);

/// The right to make one long answer; kept until the answer is on its way.
#[derive(Debug)]
pub(super) struct LongAnswerGuard<'a>(
    #[allow(dead_code, reason = "held, never looked at")] Option<SemaphorePermit<'a>>,
);

/// A client of the bridge.
#[derive(Debug)]
pub struct Client {
    principal: Principal,
    in_passing: bool,
    sender: RefCell<Rc<Sender>>,
    /// True if it has named its browser session.
    named_session: Cell<bool>,
    outbox: Outbox,
    max_frame: Cell<usize>,
    chunks: Cell<bool>,
    open: Requests,
    slots: Slots,
    /// Slots of long answers: to the owner, and to origins.
    bulk: [Semaphore; 2],
    /// Bytes of pushes that may still wait to be written.
    news: Cell<usize>,
    /// True if its connection has ended.
    left: Cell<bool>,
    resources: RefCell<HashSet<(String, String)>>,
    /// Resources that changed while it was too slow to be told.
    updates: RefCell<BTreeSet<(String, String)>>,
    /// True if it wants to hear of changes of servers.
    watches: Cell<bool>,
    /// True if it wants to hear of changes of grants and tools.
    watches_host: Cell<bool>,
    /// True if it was allowed a list of tools.
    has_listed: Cell<bool>,
    /// Servers whose log lines it wants, each with the number of lines that it missed.
    followed: RefCell<HashMap<String, u64>>,
    /// The news of the status for it.
    feed: RefCell<Option<Feed>>,
    questions: ClientQuestions,
    /// While this is there, the client shows questions about calls.
    face: RefCell<Option<QuestionDisplayGuard>>,
    /// Sessions that it watches, each with the task that tells it.
    sessions: RefCell<HashMap<String, AbortHandle>>,
    /// The lowest level of servers' messages that the client wants, as an index into [`limits::LEVELS`].
    messages: Cell<Option<usize>>,
}

impl Client {
    /// A client that has proved who it is.
    #[must_use]
    pub fn new(principal: Principal) -> Rc<Self> {
        Self::make(principal, false)
    }

    /// A client for which there is hardly room: it may ask how the bridge is, and end it.
    #[must_use]
    pub fn in_passing(principal: Principal) -> Rc<Self> {
        Self::make(principal, true)
    }

    fn make(principal: Principal, in_passing: bool) -> Rc<Self> {
        static NUMBER: AtomicU64 = AtomicU64::new(1);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        Rc::new(Self {
            sender: RefCell::new(Rc::new(Sender::new(&principal, number))),
            named_session: Cell::default(),
            in_passing,
            principal,
            outbox: Outbox::new(LIMIT),
            max_frame: Cell::new(NATIVE_MESSAGING_LIMIT),
            chunks: Cell::new(false),
            open: Requests::default(),
            slots: Slots::new(limits::OPEN_PER_CLIENT),
            bulk: [Semaphore::new(1), Semaphore::new(1)],
            news: Cell::default(),
            left: Cell::default(),
            resources: RefCell::default(),
            updates: RefCell::default(),
            watches: Cell::default(),
            watches_host: Cell::default(),
            has_listed: Cell::default(),
            followed: RefCell::default(),
            feed: RefCell::default(),
            questions: ClientQuestions::default(),
            face: RefCell::default(),
            sessions: RefCell::default(),
            messages: Cell::default(),
        })
    }

    /// True if there is hardly room for it.
    #[must_use]
    pub fn is_in_passing(&self) -> bool {
        self.in_passing
    }

    /// The principal that it has proved to be.
    #[must_use]
    pub fn principal(&self) -> &Principal {
        &self.principal
    }

    /// The client as the host knows it.
    #[must_use]
    pub fn sender(&self) -> Rc<Sender> {
        self.sender.borrow().clone()
    }

    /// True if it has named its browser session.
    pub(super) fn has_named_session(&self) -> bool {
        self.named_session.get()
    }

    /// Notes the browser session that it belongs to, once. True if it had this one before, or none.
    pub(super) fn name_session(&self, name: &str) -> bool {
        let session = format!("browser {name}");
        let mut sender = self.sender.borrow_mut();
        if self.named_session.replace(true) {
            return *sender.session == *session;
        }
        *sender = Rc::new(Sender { session: session.into(), ..Sender::clone(&sender) });
        true
    }

    /// Sets whether it shows questions about calls from now on.
    pub(super) fn shows_questions(&self, face: Option<QuestionDisplayGuard>) {
        *self.face.borrow_mut() = face;
    }

    /// True if it shows questions about calls.
    pub(super) fn has_questions_shown(&self) -> bool {
        self.face.borrow().is_some()
    }

    /// The queue of frames for the client.
    #[must_use]
    pub fn outbox(&self) -> &Outbox {
        &self.outbox
    }

    /// The largest frame that it takes, in bytes; and true if it takes longer answers in chunks.
    pub(super) fn takes(&self) -> (usize, bool) {
        (self.max_frame.get(), self.chunks.get())
    }

    pub(super) fn set_takes(&self, max_frame: usize, chunks: bool) {
        self.max_frame.set(max_frame);
        self.chunks.set(chunks);
    }

    pub(super) fn is_open(&self, id: &str) -> bool {
        self.open.has(id)
    }

    pub(super) fn slot(&self) -> Option<Slot> {
        self.slots.take()
    }

    /// Waits for the turn to make a possibly long answer, and until the client reads. So a flood of such
    /// requests does not cut the client off, and those of pages do not delay the owner's.
    pub(super) async fn long_answer_slot(&self, of_origin: bool) -> LongAnswerGuard<'_> {
        let slot = self.bulk[usize::from(of_origin)].acquire().await;
        self.outbox.room().await;
        LongAnswerGuard(slot.ok())
    }

    /// Opens a request until its answer. False if a request with this id is already open.
    pub(super) fn open(&self, id: &Rc<str>, envelope: Envelope) -> bool {
        self.open.add(id, envelope)
    }

    /// Has a task work on an open request. Tasks begin in the order in which they were spawned.
    pub(super) fn spawn(&self, id: &str, work: impl Future<Output = ()> + 'static) {
        // Boxed: it is kilobytes long, and would be moved several times before it is in the list
        // of tasks.
        let task = tokio::task::spawn_local(Box::pin(work));
        self.open.set_task(id, task.abort_handle());
    }

    /// Ends an open request with the code `cancelled`; true if there was one.
    pub(super) fn cancel(&self, id: &str) -> bool {
        let Some(open) = self.open.take(id) else { return false };
        let envelope = open.give_up();
        let error = ErrorBody::new(Code::Cancelled, "the request was cancelled by its client");
        self.send_error(&envelope, &error);
        true
    }

    /// Answers a request, unless it was cancelled meanwhile.
    pub(super) fn finish(&self, id: &str, tag: &str, result: Handled) {
        if let Some(open) = self.open.take(id) {
            self.send_result(&open.envelope, tag, result);
        }
    }

    /// Follows the status from now on, or not any more.
    pub(super) fn follow_status(&self, feed: Option<Feed>) {
        *self.feed.borrow_mut() = feed;
    }

    /// A server has changed.
    pub(super) fn note_change(&self, server: &ServerId) {
        if let Some(feed) = &*self.feed.borrow() {
            feed.note_change(server);
        }
    }

    /// Something about the bridge has changed: its clients, its configuration.
    pub fn note_bridge(&self) {
        if let Some(feed) = &*self.feed.borrow() {
            feed.note_bridge();
        }
    }

    /// Something about the catalog has changed.
    pub fn note_catalog(&self) {
        if let Some(feed) = &*self.feed.borrow() {
            feed.note_catalog();
        }
    }

    /// The servers' questions to it.
    pub(super) fn questions(&self) -> &ClientQuestions {
        &self.questions
    }

    /// How many requests are open.
    pub(super) fn open_requests(&self) -> usize {
        self.open.len()
    }

    /// Notes the `task` that reports a session from now on. None if the session is no longer watched.
    pub(super) fn watch_session(&self, id: &str, task: Option<AbortHandle>) {
        let mut sessions = self.sessions.borrow_mut();
        let before = match task {
            Some(task) => sessions.insert(id.to_owned(), task),
            None => sessions.remove(id),
        };
        before.iter().for_each(AbortHandle::abort);
    }

    pub(super) fn watch_servers(&self, watch: bool) {
        self.watches.set(watch);
    }

    pub(super) fn watches_servers(&self) -> bool {
        self.watches.get()
    }

    pub(super) fn note_list(&self) {
        self.has_listed.set(true);
    }

    pub(super) fn has_listed(&self) -> bool {
        self.has_listed.get()
    }

    pub(super) fn watch_host(&self, watch: bool) {
        self.watches_host.set(watch);
    }

    pub(super) fn watches_host(&self) -> bool {
        self.watches_host.get()
    }

    /// True if its connection has ended.
    pub(super) fn has_left(&self) -> bool {
        self.left.get()
    }

    /// Ends all open requests without answers, since the client is gone.
    pub fn end(&self) {
        self.left.set(true);
        self.sessions.borrow_mut().drain().for_each(|(_, task)| task.abort());
        self.open.take_all().for_each(|open| drop(open.give_up()));
    }

    /// Ends all open requests with an error, since the bridge is going.
    pub fn end_with(&self, error: &ErrorBody) {
        self.open.take_all().for_each(|open| self.send_error(&open.give_up(), error));
    }
}

#[cfg(test)]
mod tests;
