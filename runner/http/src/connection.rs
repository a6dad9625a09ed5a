//! One connection to a server: what is known of it, and what is asked by it.
//!
//! Owns the session's id and revision, the headers of each request, and the first cause of the end. Must never decide when
//! something is asked: that is `lines`'s, `exchange`'s and `standing`'s.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashMap};
use std::pin::Pin;
use std::time::Duration;

use harbor_ipc_proto::link::runner::{EndCause, RemoteEnd, Transport};
use harbor_runner::Wire;
use harbor_runner::mcp::Bounded;
use harbor_runner::mcp::contact::{LEGACY, MODERN};
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Method, Response};
use serde::Deserialize;
use tokio::sync::{Mutex, Notify, mpsc, watch};
use tokio::task::AbortHandle;
use url::Url;

use crate::held::Held;
use crate::http::{Ask, Http};
use crate::outgoing::{Outgoing, header_text};
use harbor_web::trouble::Trouble;

/// Messages of a batch: an answer, and what was said on the way to it.
const MAX_BATCH: usize = 1000;

/// How long a server may take for a notification, or for the goodbye.
pub const NOTE_LIMIT: Duration = Duration::from_secs(30);

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
    /// The memory that messages under way take.
    pub held: Held,
    /// There was no room for a notification or an answer, and the log says so.
    pub overwhelmed: Cell<bool>,
    pub transport: Transport,
    /// The URL to which HTTP+SSE messages are posted; none before the server has named it.
    endpoint: watch::Sender<Option<Url>>,
    /// Whether messages go by HTTP+SSE.
    pub by_events: Cell<bool>,
    session: RefCell<Option<HeaderValue>>,
    /// How many sessions were begun: a server may give the same id again.
    sessions: Cell<u64>,
    /// The revision of an older server, once it has said it.
    pub revision: RefCell<Option<HeaderValue>>,
    /// True if the answer to `initialize` is still to come.
    pub greets: Cell<bool>,
    /// The tasks of requests that have no answer yet.
    pub requests: RefCell<HashMap<u64, AbortHandle>>,
    /// The last `initialize`, for another session.
    pub greeting: RefCell<Option<(Outgoing, Vec<u8>)>>,
    /// The messages that another session has to be told again: subscriptions, and the level of messages.
    pub kept: RefCell<BTreeMap<String, (Outgoing, Vec<u8>)>>,
    /// Held by whoever begins another session.
    pub turn: Mutex<()>,
    jobs: mpsc::UnboundedSender<Job>,
    /// The receiver of new jobs, until the connection runs.
    pub waiting: RefCell<Option<mpsc::UnboundedReceiver<Job>>>,
    pub cause: RefCell<Option<EndCause<'static>>>,
    pub ended: Notify,
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

    /// Adds a task to the connection.
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

    /// True if messages go by HTTP+SSE.
    pub fn goes_by_events(&self) -> bool {
        self.by_events.get()
    }

    /// True if a server that does not know Streamable HTTP may be asked by HTTP+SSE.
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

    /// Opens a stream of events, which continues after the event `last`.
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

    /// The headers of each request of the session.
    pub fn session_headers(&self) -> HeaderMap {
        let known = [(SESSION, self.session.borrow().clone()), (REVISION, self.revision.borrow().clone())];
        known.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
    }

    /// Keeps the session that an answer to `initialize` begins.
    pub fn keep_session(&self, headers: &HeaderMap) {
        let id = headers.get(SESSION).filter(|id| id.len() <= MAX_SESSION && id.to_str().is_ok());
        *self.session.borrow_mut() = id.cloned();
        self.sessions.set(self.sessions.get() + 1);
    }

    /// The error when a session is over, and no other can be begun in its place.
    pub fn session_lost(&self) -> Trouble {
        let why = format!("{} has forgotten the session; Harbor begins a new one", self.http.place());
        Trouble::of(RemoteEnd::SessionLost, why)
    }

    /// Hands a message to the session, or all of a batch.
    ///
    /// # Errors
    /// A sentence on what is wrong with the batch; nothing of it was handed on.
    pub fn deliver(&self, message: &[u8]) -> Result<(), &'static str> {
        if message.trim_ascii_start().first() != Some(&b'[') {
            self.deliver_one(message);
            return Ok(());
        }
        let Ok(Bounded(batch)) = serde_json::from_slice::<Bounded<'_, MAX_BATCH>>(message) else {
            return Err("the server's answer is not a batch of at most 1000 messages");
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

    /// Uses this revision from now on.
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
