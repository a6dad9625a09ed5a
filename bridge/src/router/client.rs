//! One client: its principal, its limits, and its open requests.
//!
//! Owns the answers on their way out (in chunks where they must be), and the promise of exactly one answer per request.
//! When a client goes, dropping this ends its open requests, and their servers are told.

mod chunks;
mod requests;
pub mod stream;
mod subscriptions;

use std::cell::{Cell, RefCell};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};

use harbor_child::outbox::Outbox;
use harbor_child::turn::LARGE;
use harbor_ipc_proto::client::envelope::{Envelope, ErrorBody, put_push};
use harbor_ipc_proto::codes::Code;
use harbor_ipc_proto::field::Message;
use harbor_ipc_proto::frame::{NATIVE_MESSAGING_LIMIT, put_frame};
use harbor_ipc_proto::server_id::ServerId;
use harbor_policy::access::Principal;
use harbor_policy::limits;
use harbor_policy::slots::{Slot, Slots};
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::task::AbortHandle;

use self::chunks::Chunks;
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
    /// The lowest level of servers' messages that it wants, as a place among [`limits::LEVELS`].
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

    /// The queue of frames that are to be written to it.
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

    /// Waits until an answer that may be long can be made: one after the other, and only while the client
    /// reads. So a flood of such requests does not get the client cut off, and those of pages do not hold up
    /// the owner's.
    pub(super) async fn long_answer_slot(&self, of_origin: bool) -> LongAnswerGuard<'_> {
        let slot = self.bulk[usize::from(of_origin)].acquire().await;
        self.outbox.room().await;
        LongAnswerGuard(slot.ok())
    }

    /// Opens a request until its answer; false if one with this id is open already.
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

    pub(super) fn send_result(&self, envelope: &Envelope, tag: &str, result: Handled) {
        match result {
            Ok(reply) => self.send(Some(envelope), |out| envelope.put_reply(out, tag, &*reply)),
            Err(error) => self.send_error(envelope, &error),
        }
    }

    /// Sends an error.
    pub fn send_error(&self, envelope: &Envelope, error: &ErrorBody) {
        self.send(Some(envelope), |out| envelope.put_error(out, error));
    }

    /// Sends a push. A push that is larger than the client's frames is left out.
    pub(super) fn send_push<P: Message>(&self, push: &P) {
        self.send(None, |out| put_push(out, push));
    }

    /// Sends a push; false where it was left out.
    fn send_if_it_fits<P: Message>(&self, push: &P) -> bool {
        self.queue(None, |out| put_push(out, push))
    }

    fn send(&self, envelope: Option<&Envelope>, body: impl FnOnce(&mut Vec<u8>)) {
        self.queue(envelope, body);
    }

    /// Queues one frame, or the answer's chunks; false if it is a push that is too large. A client that does
    /// not read is cut off: `front` sees its outbox closed.
    fn queue(&self, envelope: Option<&Envelope>, body: impl FnOnce(&mut Vec<u8>)) -> bool {
        let mut is_left_out = false;
        let pushed = self.outbox.push(|out| {
            let start = out.len();
            let length = put_frame(out, body);
            if length <= self.max_frame.get() {
                return None;
            }
            match envelope {
                Some(envelope) if self.chunks.get() => {
                    return Some(Chunks::cut_off(
                        out,
                        start,
                        envelope.id().into_owned(),
                        self.max_frame.get(),
                    ));
                }
                Some(envelope) => {
                    take_back(out, start);
                    self.put_too_large(out, envelope, length);
                }
                // Part of a push would be of no use.
                None => {
                    take_back(out, start);
                    is_left_out = true;
                }
            }
            None
        });
        let queued = pushed.and_then(|chunks| match chunks {
            Some(chunks) => {
                let bytes = chunks.bytes();
                self.outbox.push_long(Box::new(chunks), bytes)
            }
            None => Ok(()),
        });
        if queued.is_err() {
            self.cut_off();
        }
        !is_left_out
    }

    /// Ends its connection, since too much waits for it.
    fn cut_off(&self) {
        if !self.outbox.is_closed() {
            tracing::warn!(client = ?self.principal(), "cut off: it does not read what it has asked for");
            self.outbox.cut();
        }
    }

    fn put_too_large(&self, out: &mut Vec<u8>, envelope: &Envelope, bytes: usize) {
        let limit = self.max_frame.get();
        let message = format!(
            "the answer is {bytes} bytes long and this client takes {limit}; announce chunks or a larger \
             max_frame in hello"
        );
        put_frame(out, |out| envelope.put_error(out, &ErrorBody::new(Code::MessageTooLarge, message)));
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

    /// Notes that `task` tells of a session from now on, or that the session is no longer watched.
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

/// Drops the bytes from `start` on, and the memory that they took.
fn take_back(out: &mut Vec<u8>, start: usize) {
    out.truncate(start);
    out.shrink_to(LARGE);
}

#[cfg(test)]
mod tests {
    use super::*;
    use harbor_ipc_proto::client::PingResult;
    use harbor_ipc_proto::frame::{FrameDecoder, Popped};

    fn frames(bytes: &[u8]) -> Vec<serde_json::Value> {
        let mut decoder = FrameDecoder::new(1 << 30);
        decoder.push(bytes);
        let mut frames = Vec::new();
        while let Some(Popped::Frame(frame)) = decoder.pop() {
            frames.push(serde_json::from_slice(frame).unwrap());
        }
        frames
    }

    async fn written(client: &Client) -> Vec<serde_json::Value> {
        let (mut peer, mine) = std::os::unix::net::UnixStream::pair().unwrap();
        let (_, writer) = harbor_child::socket::split(mine).unwrap();
        client.outbox.close();
        client.outbox.drive(&writer).await.unwrap();
        drop(writer);
        let mut bytes = Vec::new();
        std::io::Read::read_to_end(&mut peer, &mut bytes).unwrap();
        frames(&bytes)
    }

    #[tokio::test(flavor = "local")]
    async fn a_large_answer_comes_in_chunks_and_keeps_its_place() {
        let client = Client::new(Principal::Owner);
        client.set_takes(4096, true);
        let lengths = [10, 20_000, 10, 40_000, 10];
        for (id, length) in lengths.into_iter().enumerate() {
            let reply = PingResult { echo: Some("x".repeat(length)), timestamp: 1 };
            client.send_result(&Envelope::Typed(id.to_string()), "ping", Ok(Box::new(reply)));
        }
        assert!((60_000..62_000).contains(&client.outbox.held()), "{}", client.outbox.held());
        let frames = written(&client).await;
        let mut ids: Vec<_> = frames.iter().map(|frame| frame["request_id"].as_str().unwrap()).collect();
        assert!(ids.is_sorted() && ids.len() > 15, "{ids:?}");
        ids.dedup();
        assert_eq!(ids, ["0", "1", "2", "3", "4"]);
        assert_eq!((client.outbox.pending(), client.outbox.held()), (0, 0));
    }

    #[tokio::test(flavor = "local")]
    async fn a_long_answer_costs_its_own_bytes_however_much_waits_before_it() {
        let client = Client::new(Principal::Owner);
        client.set_takes(4096, true);
        let answer = |length| {
            let reply = PingResult { echo: Some("x".repeat(length)), timestamp: 1 };
            client.send_result(&Envelope::Typed("1".into()), "ping", Ok(Box::new(reply)));
        };
        (0..1000).for_each(|_| answer(4000));
        let before = client.outbox.held();
        (0..100).for_each(|_| answer(5000));
        assert!((before + 500_000..before + 520_000).contains(&client.outbox.held()));
        client.set_takes(4096, false);
        (0..100).for_each(|_| answer(1_000_000));
        assert!(client.outbox.held() < before + 560_000, "what is too large is not kept");
        client.outbox.push(|out| assert!(out.capacity() <= LARGE)).unwrap();
    }

    #[tokio::test(flavor = "local")]
    async fn a_follower_that_does_not_read_misses_lines_and_is_told_how_many() {
        let client = Client::new(Principal::Owner);
        client.follow_logs("s", true);
        let line = format!(r#"{{"x":"{}"}}"#, "x".repeat(10_000));
        let left_out =
            |server: &str, missed: u64| format!(r#"{{"server":"{server}","missed":{missed}}}"#).into_bytes();
        (0..1000).for_each(|_| client.send_log("s", line.as_bytes(), left_out));
        client.send_log("other", line.as_bytes(), |_, _| panic!("it is not followed"));
        assert!(client.outbox.pending() < limits::PUSHES_WAIT + 20_000);
        let (mut peer, mine) = std::os::unix::net::UnixStream::pair().unwrap();
        let reader = std::thread::spawn(move || {
            let mut bytes = Vec::new();
            std::io::Read::read_to_end(&mut peer, &mut bytes).map(|_| bytes)
        });
        let (_, writer) = harbor_child::socket::split(mine).unwrap();
        let driver = tokio::task::spawn_local({
            let client = client.clone();
            async move { client.outbox.drive(&writer).await }
        });
        while client.followed.borrow()["s"] > 0 || client.outbox.pending() > 0 {
            tokio::task::yield_now().await;
        }
        client.outbox.close();
        driver.await.unwrap().unwrap();
        let frames = frames(&reader.join().unwrap().unwrap());
        let missed = frames.last().unwrap()["missed"].as_u64().unwrap();
        assert_eq!(frames.len() as u64 - 1 + missed, 1000, "told without a further line, and exact");
    }

    #[tokio::test(flavor = "local")]
    async fn who_does_not_read_news_is_cut_off() {
        let client = Client::new(Principal::Owner);
        let news = vec![b' '; 1 << 20];
        (0..8).for_each(|_| client.send_news(&news[..1000]));
        assert!(!client.outbox.is_closed());
        client.set_takes(2 << 20, false);
        (0..10).for_each(|_| client.send_news(&news));
        assert!(client.outbox.is_closed());
    }

    #[tokio::test(flavor = "local")]
    async fn without_chunks_it_is_an_error_with_the_id() {
        let client = Client::new(Principal::Owner);
        client.set_takes(4096, false);
        let reply = PingResult { echo: Some("x".repeat(5000)), timestamp: 1 };
        client.send_result(&Envelope::Rpc("7".into()), "ping", Ok(Box::new(reply)));
        let sent = written(&client).await;
        assert_eq!(sent[0]["id"], 7);
        assert_eq!(sent[0]["error"]["data"]["code"], "message_too_large");
    }
}
