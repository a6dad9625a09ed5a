//! One connection to a server: what is done with each line of the session.
//!
//! ```text
//!  request ─► a task of its own: exchange         notifications/cancelled ─► the task's end, which closes the answer;
//!  answer, notification ─► a task: note                                      older servers are told, too
//!  notifications/initialized ─► note, and then the session's own stream
//! ```
//!
//! Owns the session's id and revision, the tasks, and the first cause of the end. Must never wait for one request before the
//! next.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashMap};
use std::pin::Pin;
use std::rc::Rc;
use std::time::Duration;

use harbor_ipc_proto::link::runner::{EndCause, RemoteEnd, Transport};
use harbor_runner::Wire;
use harbor_runner::mcp::Bounded;
use harbor_runner::mcp::contact::{LEGACY, MODERN};
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Method, Response};
use serde::Deserialize;
use tokio::sync::{Mutex, Notify, mpsc, watch};
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::timeout;
use url::Url;

use crate::endpoint;
use crate::exchange::COPIES;
use crate::held::{FULL, Held};
use crate::http::{Ask, Http};
use crate::outgoing::{Outgoing, header_text};
use crate::renewing::Loss;
use harbor_web::trouble::Trouble;

/// So many requests at once; further ones are refused.
const MAX_REQUESTS: usize = 256;

/// Messages of a batch: an answer, and what was said on the way to it.
const MAX_BATCH: usize = 1000;

/// How long a server may take to take a notification, or its leave.
pub const NOTE_LIMIT: Duration = Duration::from_secs(30);
const LEAVE_LIMIT: Duration = Duration::from_secs(1);

/// What a notification or an answer is taken for at least: a server may ask faster than it lets itself be answered.
const MIN_NOTE: usize = 1024 * 1024;

/// Ids of sessions are visible characters, and not longer.
const MAX_SESSION: usize = 1024;

const REVISION: HeaderName = HeaderName::from_static("mcp-protocol-version");
const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
const METHOD: HeaderName = HeaderName::from_static("mcp-method");
const NAME: HeaderName = HeaderName::from_static("mcp-name");

/// A task of the connection.
pub type Job = Pin<Box<dyn Future<Output = ()>>>;

/// A connection.
#[derive(Debug)]
pub struct Connection {
    pub http: Http,
    pub wire: Wire,
    /// What is under way takes of memory.
    pub held: Held,
    /// There was no room for a notification or an answer, and the log says so.
    overwhelmed: Cell<bool>,
    transport: Transport,
    /// Where messages are posted to by HTTP+SSE; none before the server has said so.
    endpoint: watch::Sender<Option<Url>>,
    by_events: Cell<bool>,
    session: RefCell<Option<HeaderValue>>,
    /// How many sessions were begun: a server may give the same id again.
    sessions: Cell<u64>,
    /// The revision of an older server, once it has said it.
    revision: RefCell<Option<HeaderValue>>,
    /// Whether its answer to `initialize` is still to come.
    greets: Cell<bool>,
    requests: RefCell<HashMap<u64, AbortHandle>>,
    /// The last `initialize`, for another session.
    pub greeting: RefCell<Option<(Outgoing, Vec<u8>)>>,
    /// What another session has to be told again: subscriptions, and the level of messages.
    pub kept: RefCell<BTreeMap<String, (Outgoing, Vec<u8>)>>,
    /// Held by whoever begins another session.
    pub turn: Mutex<()>,
    jobs: mpsc::UnboundedSender<Job>,
    waiting: RefCell<Option<mpsc::UnboundedReceiver<Job>>>,
    cause: RefCell<Option<EndCause<'static>>>,
    ended: Notify,
}

impl Connection {
    pub fn new(http: Http, wire: Wire, transport: Transport, held: Held) -> Self {
        let (jobs, waiting) = mpsc::unbounded_channel();
        Self {
            http,
            wire,
            held,
            overwhelmed: Cell::default(),
            transport,
            endpoint: watch::Sender::new(None),
            by_events: Cell::new(false),
            session: RefCell::default(),
            sessions: Cell::default(),
            revision: RefCell::default(),
            greets: Cell::default(),
            requests: RefCell::default(),
            greeting: RefCell::default(),
            kept: RefCell::default(),
            turn: Mutex::default(),
            jobs,
            waiting: RefCell::new(Some(waiting)),
            cause: RefCell::default(),
            ended: Notify::new(),
        }
    }

    /// Carries messages until the session is through, or the connection is lost. Its tasks end with it.
    pub async fn run(self: Rc<Self>) -> EndCause<'static> {
        let Some(mut jobs) = self.waiting.take() else { return EndCause::Stopped };
        let mut tasks = JoinSet::new();
        if self.transport == Transport::Sse {
            self.go_by_events();
        }
        loop {
            tokio::select! {
                biased;
                () = self.ended.notified() => {
                    return self.cause.take().unwrap_or(EndCause::Stopped);
                }
                Some(_) = tasks.join_next(), if !tasks.is_empty() => {}
                Some(job) = jobs.recv() => drop(tasks.spawn_local(job)),
                lines = self.wire.next() => {
                    let Some(lines) = lines else {
                        tasks.abort_all();
                        self.leave().await;
                        return EndCause::Stopped;
                    };
                    for line in lines.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
                        self.send(line, &mut tasks).await;
                    }
                }
            }
        }
    }

    async fn send(self: &Rc<Self>, line: &[u8], tasks: &mut JoinSet<()>) {
        let Some(out) = Outgoing::read(line) else { return };
        let line = line.to_vec();
        if let Some(id) = out.id {
            if self.requests.borrow().len() >= MAX_REQUESTS {
                return self.wire.lost(id, "too many requests are under way");
            }
            self.greets.set(self.greets.get() || out.is("initialize"));
            self.keep(&out, &line);
            let task = tasks.spawn_local(self.clone().exchange(out, id, line));
            self.requests.borrow_mut().insert(id, task);
        } else if let Some(id) = out.cancels {
            let request = self.requests.borrow_mut().remove(&id);
            if let Some(request) = request {
                request.abort();
            }
            if self.revision.borrow().is_some() {
                tasks.spawn_local(self.clone().note(out, line));
            }
        } else if out.is("notifications/initialized") {
            // What follows may depend on it.
            self.clone().note(out, line).await;
            if !self.by_events.get() {
                tasks.spawn_local(self.clone().stand());
            }
        } else {
            tasks.spawn_local(self.clone().note(out, line));
        }
    }

    /// Keeps what another session begins with.
    fn keep(&self, out: &Outgoing, line: &[u8]) {
        let known = || (out.clone(), line.to_vec());
        let subject = out.subject.as_deref().unwrap_or_default();
        match out.method.as_deref() {
            Some("initialize") => *self.greeting.borrow_mut() = Some(known()),
            Some("resources/subscribe") => drop(self.kept.borrow_mut().insert(subject.to_owned(), known())),
            Some("resources/unsubscribe") => drop(self.kept.borrow_mut().remove(subject)),
            Some("logging/setLevel") => drop(self.kept.borrow_mut().insert(String::new(), known())),
            _ => {}
        }
    }

    /// One more task of the connection.
    pub fn add(&self, job: Job) {
        // The receiver lives as long as the connection runs.
        let _ = self.jobs.send(job);
    }

    /// The number of the present session, if there is one.
    pub fn session(&self) -> Option<u64> {
        self.session.borrow().is_some().then(|| self.sessions.get())
    }

    /// The request has come to its end.
    pub fn forget(&self, id: u64) {
        self.requests.borrow_mut().remove(&id);
    }

    /// From now on by HTTP+SSE.
    pub fn go_by_events(self: &Rc<Self>) {
        self.by_events.set(true);
        self.add(Box::pin(endpoint::listen(self.clone())));
    }

    /// Whether messages go by HTTP+SSE.
    pub fn goes_by_events(&self) -> bool {
        self.by_events.get()
    }

    /// Whether a server that does not know Streamable HTTP may be asked by HTTP+SSE.
    pub fn may_go_by_events(&self) -> bool {
        self.transport == Transport::Auto && !self.by_events.get()
    }

    /// The server has said where messages are posted to.
    pub fn set_endpoint(&self, url: Url) {
        self.endpoint.send_replace(Some(url));
    }

    /// Ends the connection; the first cause counts.
    pub fn end(&self, cause: EndCause<'static>) {
        self.cause.borrow_mut().get_or_insert(cause);
        self.ended.notify_one();
    }

    /// Posts a line.
    ///
    /// # Errors
    /// Why there is no answer.
    pub async fn post(&self, out: &Outgoing, line: &[u8]) -> Result<Response, Trouble> {
        let mut headers = self.headers(out, line);
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
        let url = match self.by_events.get() {
            false => self.http.url().clone(),
            true => {
                let mut endpoint = self.endpoint.subscribe();
                let known = endpoint.wait_for(Option::is_some).await.ok();
                known.and_then(|url| url.clone()).unwrap_or_else(|| self.http.url().clone())
            }
        };
        self.http.ask(Ask { method: Method::POST, url, headers, body: Some(line.to_vec()) }).await
    }

    /// Opens a stream of events; `last` is where it goes on.
    ///
    /// # Errors
    /// Why there is no answer.
    pub async fn open_stream(&self, last: Option<&str>) -> Result<Response, Trouble> {
        let mut headers = self.session_headers();
        headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream"));
        if let Some(last) = last.and_then(|last| HeaderValue::from_str(last).ok()) {
            headers.insert(HeaderName::from_static("last-event-id"), last);
        }
        let url = self.http.url().clone();
        self.http.ask(Ask { method: Method::GET, url, headers, body: None }).await
    }

    fn headers(&self, out: &Outgoing, line: &[u8]) -> HeaderMap {
        let Some(revision) = &out.revision else {
            return if out.is("initialize") { HeaderMap::new() } else { self.session_headers() };
        };
        let said = [
            (REVISION, HeaderValue::from_str(revision).ok()),
            (METHOD, out.method.as_deref().and_then(header_text)),
            (NAME, out.subject.as_deref().and_then(header_text)),
        ];
        let mut headers: HeaderMap =
            said.into_iter().filter_map(|(name, value)| Some((name, value?))).collect();
        if let Some(tool) = out.subject.as_deref().filter(|_| out.is("tools/call")) {
            let designated = self.wire.headers_of_call(tool, line).into_iter();
            headers.extend(designated.filter_map(|(name, text)| {
                let name = HeaderName::from_bytes(format!("mcp-param-{name}").as_bytes()).ok()?;
                Some((name, header_text(&text)?))
            }));
        }
        headers
    }

    fn session_headers(&self) -> HeaderMap {
        let known = [(SESSION, self.session.borrow().clone()), (REVISION, self.revision.borrow().clone())];
        known.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
    }

    /// Keeps the session that an answer to `initialize` begins.
    pub fn keep_session(&self, headers: &HeaderMap) {
        let id = headers.get(SESSION).filter(|id| id.len() <= MAX_SESSION && id.to_str().is_ok());
        *self.session.borrow_mut() = id.cloned();
        self.sessions.set(self.sessions.get() + 1);
    }

    /// What it means that a session is over, and no other can be begun in its place.
    pub fn session_lost(&self) -> Trouble {
        let why = format!("{} has forgotten the session; a new one is begun", self.http.place());
        Trouble::of(RemoteEnd::SessionLost, why)
    }

    /// Hands a message to the session, or all of a batch.
    ///
    /// # Errors
    /// What is wrong with the batch; nothing of it was handed on.
    pub fn deliver(&self, message: &[u8]) -> Result<(), &'static str> {
        if message.trim_ascii_start().first() != Some(&b'[') {
            self.deliver_one(message);
            return Ok(());
        }
        let Ok(Bounded(batch)) = serde_json::from_slice::<Bounded<'_, MAX_BATCH>>(message) else {
            return Err("the server's answer is no batch of at most 1000 messages");
        };
        batch.iter().for_each(|message| self.deliver_one(message.get().as_bytes()));
        Ok(())
    }

    /// Hands one message to the session.
    pub fn deliver_one(&self, message: &[u8]) {
        if self.greets.get() {
            self.learn_revision(message);
        }
        if memchr::memchr2(b'\n', b'\r', message).is_none() {
            return self.wire.take(message);
        }
        // Line ends can only stand between tokens; elsewhere a message is a line.
        let plain = |byte: &u8| if matches!(byte, b'\n' | b'\r') { b' ' } else { *byte };
        self.wire.take(&message.iter().map(plain).collect::<Vec<_>>());
    }

    fn learn_revision(&self, message: &[u8]) {
        if let Some(revision) = Self::revision_in(message) {
            self.greets.set(false);
            self.set_revision(revision);
        }
    }

    /// From now on by this revision.
    pub fn set_revision(&self, revision: HeaderValue) {
        *self.revision.borrow_mut() = Some(revision);
    }

    /// The revision that an answer to `initialize` says.
    pub fn revision_in(message: &[u8]) -> Option<HeaderValue> {
        #[derive(Deserialize)]
        struct Greeting {
            result: Revision,
        }
        #[derive(Deserialize)]
        struct Revision {
            #[serde(rename = "protocolVersion")]
            revision: String,
        }
        let said = serde_json::from_slice::<Greeting>(message).ok()?.result.revision;
        // See `mcp::contact`: a server that says this goes by an older one.
        let revision = if said == MODERN { LEGACY[0] } else { &said };
        HeaderValue::from_str(revision).ok()
    }

    /// Posts what has no answer.
    async fn note(self: Rc<Self>, out: Outgoing, line: Vec<u8>) {
        let mut share = self.held.share();
        if share.take(MIN_NOTE + COPIES * line.len()).is_err() {
            if !self.overwhelmed.replace(true) {
                self.wire.remark(FULL);
            }
            return;
        }
        let session = self.session();
        let mut answer = match timeout(NOTE_LIMIT, self.post(&out, &line)).await {
            Ok(Ok(answer)) => answer,
            Ok(Err(trouble)) if !trouble.broken => return self.end(trouble.end()),
            Ok(Err(_)) | Err(_) => {
                return self.wire.remark("a notification or an answer may not have reached the server");
            }
        };
        let status = answer.status();
        if status.is_success() {
            return;
        }
        let body = self.error_body(&mut answer).await;
        if session.is_some() && Loss::of(status, &body, true) == Some(Loss::Said) {
            self.add(Box::pin(self.clone().renew_or_end(session)));
        } else {
            self.wire.remark(&format!(
                "the server did not take a notification or an answer: HTTP {}",
                status.as_u16()
            ));
        }
    }

    /// Tells the server that its session is over.
    async fn leave(&self) {
        if self.session.borrow().is_none() {
            return;
        }
        let (url, headers) = (self.http.url().clone(), self.session_headers());
        // Servers need not offer this.
        let _ = timeout(LEAVE_LIMIT, self.http.ask(Ask { method: Method::DELETE, url, headers, body: None }))
            .await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_is_never_of_the_revision_that_has_none() {
        let of = |revision: &str| {
            let message =
                format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{{\"protocolVersion\":\"{revision}\"}}}}");
            Connection::revision_in(message.as_bytes()).unwrap()
        };
        assert_eq!(
            (of("2025-06-18"), of(MODERN)),
            ("2025-06-18".parse().unwrap(), LEGACY[0].parse().unwrap())
        );
    }
}
