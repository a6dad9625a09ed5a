//! A client of the bridge, over whatever carries frames: pipes of `serve --stdio`, the socket, the native host.
//!
//! ```text
//!  request ─► writer ─► bridge ─► reader thread ─► Inbox ─► Pending::wait
//! ```
//!
//! Owns request ids and the sorting of what comes back. Must never hide an answer: one that nobody asked for is
//! found by [`Client::assert_sound`], which every bridge of the harness calls at its end.

mod answer;
pub mod base64;
mod calls_as;
mod events;
mod host;
mod inbox;
mod operations;

use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use harbor_ipc_proto::client::answer::request_frame;
use harbor_ipc_proto::client::{Attach, Request};
use harbor_ipc_proto::field::Ask;
use harbor_ipc_proto::frame::put_frame;
use harbor_ipc_proto::server_id::ServerId;
use serde_json::{Value, json};

pub use self::answer::{Answer, ErrorValue, all_shown, excerpt, shown, typed};
pub use self::calls_as::Asker;
pub use self::host::{CALL, LIST, Speaker, wall_clock};
use self::inbox::Inbox;
pub use self::operations::tool_call;
use crate::{Home, INSTALL, LIMIT};

/// A connection to the bridge. Clones are the same connection.
#[derive(Debug, Clone)]
pub struct Client(Arc<Shared>);

struct Shared {
    writer: Mutex<Option<Box<dyn Write + Send>>>,
    /// Set when the connection is a socket: closing it needs more than dropping one end.
    socket: Option<UnixStream>,
    inbox: Mutex<Inbox>,
    changed: Condvar,
    next_id: AtomicU64,
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shared").field("inbox", &self.inbox).finish_non_exhaustive()
    }
}

/// A request that was sent.
#[derive(Debug)]
#[must_use]
pub struct Pending {
    client: Client,
    /// Its id.
    pub id: String,
    what: String,
}

impl Client {
    /// Over a pair of pipes.
    pub fn over_pipes(reader: impl Read + Send + 'static, writer: impl Write + Send + 'static) -> Self {
        Self::begin(reader, Box::new(writer), None)
    }

    /// Over a socket, saying nothing yet.
    ///
    /// # Panics
    /// When the socket cannot be shared with the reader.
    #[must_use]
    pub fn over_socket(stream: UnixStream) -> Self {
        let clone = || stream.try_clone().expect("a socket can be cloned");
        Self::begin(clone(), Box::new(clone()), Some(stream))
    }

    /// Over the local socket of `home`, attached as the command line would be.
    ///
    /// # Panics
    /// When no bridge listens, or it refuses.
    #[must_use]
    pub fn attach(home: &Home) -> Self {
        let client = Self::over_socket(home.dial());
        client.reply(&attach_request(home)).expect("the bridge accepts its own token");
        client
    }

    fn begin(
        mut reader: impl Read + Send + 'static,
        writer: Box<dyn Write + Send>,
        socket: Option<UnixStream>,
    ) -> Self {
        let shared = Arc::new(Shared {
            writer: Mutex::new(Some(writer)),
            socket,
            inbox: Mutex::default(),
            changed: Condvar::new(),
            next_id: AtomicU64::new(1),
        });
        let theirs = Arc::clone(&shared);
        thread::spawn(move || {
            while let Some(body) = read_frame(&mut reader) {
                theirs.inbox().take(body);
                theirs.changed.notify_all();
            }
            theirs.inbox().closed = true;
            theirs.changed.notify_all();
        });
        Self(shared)
    }

    /// Sends a request with these fields.
    pub fn request(&self, tag: &str, fields: &Value) -> Pending {
        let id = format!("q{}", self.0.next_id.fetch_add(1, Ordering::Relaxed));
        self.request_as(&id, tag, fields)
    }

    /// Sends a request with an id of the caller's choice.
    pub fn request_as(&self, id: &str, tag: &str, fields: &Value) -> Pending {
        let mut frame = json!({"type": tag, "request_id": id});
        for (name, value) in fields.as_object().into_iter().flatten() {
            frame[name] = value.clone();
        }
        let pending = self.expect(id, tag);
        self.send(frame.to_string().as_bytes());
        pending
    }

    /// Sends a request whose further fields are given as text (`"a":1,"b":2`), to be passed on as they are.
    pub fn request_text(&self, tag: &str, members: &str) -> Pending {
        let id = format!("q{}", self.0.next_id.fetch_add(1, Ordering::Relaxed));
        let pending = self.expect(&id, tag);
        self.send(format!("{{\"type\":\"{tag}\",\"request_id\":\"{id}\",{members}}}").as_bytes());
        pending
    }

    /// Sends a request in the `rpc` envelope; `id` is a string or a number.
    pub fn rpc(&self, id: &Value, method: &str, params: &Value) -> Pending {
        let pending = self.expect(&answer::text_of_id(id), method);
        let frame = json!({"type": "rpc", "id": id, "method": method, "params": params});
        self.send(frame.to_string().as_bytes());
        pending
    }

    /// The answer to a request that may download something.
    ///
    /// # Panics
    /// When the bridge refuses it.
    pub fn ask(&self, tag: &str, fields: &Value) -> Value {
        let answer = self.request(tag, fields).wait(INSTALL);
        answer.unwrap_or_else(|error| panic!("{tag}: {error:?}")).into_value()
    }

    /// Sends a request and waits for its answer.
    ///
    /// # Errors
    /// What the bridge answered.
    pub fn call(&self, tag: &str, fields: &Value) -> Result<Answer, ErrorValue> {
        self.request(tag, fields).wait(LIMIT)
    }

    /// Sends a typed request.
    pub fn send_request<A: Ask>(&self, ask: &A) -> Pending {
        let id = format!("q{}", self.0.next_id.fetch_add(1, Ordering::Relaxed));
        let pending = self.expect(&id, A::TAG);
        self.send_bytes(&request_frame(&id, ask));
        pending
    }

    /// Sends a request of any type.
    pub fn send_any(&self, ask: &Request) -> Pending {
        let id = format!("q{}", self.0.next_id.fetch_add(1, Ordering::Relaxed));
        let pending = self.expect(&id, ask.tag());
        self.send_bytes(&ask.to_frame(&id));
        pending
    }

    /// Sends a typed request and waits for its reply.
    ///
    /// # Errors
    /// What the bridge answered.
    pub fn reply<A: Ask>(&self, ask: &A) -> Result<A::Reply, ErrorValue> {
        self.send_request(ask).wait(LIMIT).map(|answer| answer.reads())
    }

    /// The reply to a typed request that may download something.
    ///
    /// # Panics
    /// When the bridge refuses it.
    pub fn demand<A: Ask>(&self, ask: &A) -> A::Reply {
        let answer = self.send_request(ask).wait(INSTALL);
        answer.unwrap_or_else(|error| panic!("{}: {error:?}", A::TAG)).reads()
    }

    /// Says that one answer to `id` is due, for requests that are sent by [`send`](Self::send).
    pub fn expect(&self, id: &str, what: &str) -> Pending {
        self.0.inbox().asked(id);
        Pending { client: self.clone(), id: id.to_owned(), what: what.to_owned() }
    }

    /// Sends one frame with this body, whatever it is.
    pub fn send(&self, body: &[u8]) {
        let mut frame = Vec::with_capacity(body.len() + 4);
        put_frame(&mut frame, |out| out.extend_from_slice(body));
        self.send_bytes(&frame);
    }

    /// Sends requests of types, with ids and fields, in one write: the bridge has read all of them before it answers any.
    pub fn request_together(&self, requests: &[(&str, &str, Value)]) -> Vec<Pending> {
        let (mut frames, mut answers) = (Vec::new(), Vec::new());
        for (id, tag, fields) in requests {
            let mut body = fields.clone();
            (body["type"], body["request_id"]) = (json!(tag), json!(id));
            answers.push(self.expect(id, tag));
            put_frame(&mut frames, |out| out.extend_from_slice(body.to_string().as_bytes()));
        }
        self.send_bytes(&frames);
        answers
    }

    /// Sends these bytes, which need not be a frame. A bridge that is gone is noticed by the reader.
    pub fn send_bytes(&self, bytes: &[u8]) {
        let mut writer = self.0.writer.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(writer) = writer.as_mut() {
            let _ = writer.write_all(bytes).and_then(|()| writer.flush());
        }
    }

    /// The next push of this type.
    ///
    /// # Panics
    /// When none comes within `limit`.
    #[must_use]
    pub fn next_push(&self, tag: &str, limit: Duration) -> Value {
        self.await_some(limit, |inbox| inbox.push(tag))
            .unwrap_or_else(|| panic!("no push `{tag}` within {limit:?}"))
    }

    /// A push of this type that is there already.
    #[must_use]
    pub fn push_now(&self, tag: &str) -> Option<Value> {
        self.0.inbox().push(tag)
    }

    /// The next error with the empty request id.
    ///
    /// # Panics
    /// When none comes within `limit`.
    #[must_use]
    pub fn next_stray(&self, limit: Duration) -> ErrorValue {
        let stray =
            self.await_some(limit, Inbox::stray).unwrap_or_else(|| panic!("no stray error within {limit:?}"));
        stray.judge().expect_err("only errors are stray")
    }

    /// How many answers the request `id` has had.
    #[must_use]
    pub fn answer_count(&self, id: &str) -> usize {
        self.0.inbox().count(id)
    }

    /// The size of the largest frame that came, in bytes, and the number of chunks.
    #[must_use]
    pub fn frames_seen(&self) -> (usize, usize) {
        let inbox = self.0.inbox();
        (inbox.largest, inbox.chunk_count)
    }

    /// Ends the connection from this side.
    pub fn close(&self) {
        *self.0.writer.lock().unwrap_or_else(PoisonError::into_inner) = None;
        if let Some(socket) = &self.0.socket {
            let _ = socket.shutdown(Shutdown::Both);
        }
    }

    /// Waits until the other side has ended the connection; false when it does not.
    #[must_use]
    pub fn wait_closed(&self, limit: Duration) -> bool {
        self.await_some(limit, |inbox| inbox.closed.then_some(())).is_some()
    }

    /// What the bridge did that it must never do on the wire: an answer too many, a broken frame.
    #[must_use]
    pub fn faults(&self) -> Vec<String> {
        self.0.inbox().faults()
    }

    /// An error with the empty request id that is there already.
    #[must_use]
    pub fn stray_now(&self) -> Option<ErrorValue> {
        self.0.inbox().stray()?.judge().err()
    }

    /// Demands that the bridge kept the rules of the wire: no answer too many, no broken frame.
    ///
    /// # Panics
    /// When it did not.
    pub fn assert_sound(&self) {
        let faults = self.faults();
        assert!(faults.is_empty(), "the bridge broke the protocol: {faults:#?}");
    }

    /// Waits until `take` finds something, the connection ends, or the time is up.
    fn await_some<T>(&self, limit: Duration, mut take: impl FnMut(&mut Inbox) -> Option<T>) -> Option<T> {
        let until = Instant::now() + limit;
        let mut inbox = self.0.inbox();
        loop {
            let found = take(&mut inbox);
            let left = until.saturating_duration_since(Instant::now());
            if found.is_some() || inbox.closed || left.is_zero() {
                return found;
            }
            let waited = self.0.changed.wait_timeout(inbox, left);
            inbox = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

impl Shared {
    fn inbox(&self) -> MutexGuard<'_, Inbox> {
        self.inbox.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Pending {
    /// Waits for the answer.
    ///
    /// # Errors
    /// What the bridge answered; the code `closed` when the connection ended first.
    ///
    /// # Panics
    /// When there is no answer within `limit`: every request is answered.
    pub fn wait(&self, limit: Duration) -> Result<Answer, ErrorValue> {
        if let Some(answer) = self.client.await_some(limit, |inbox| inbox.answer(&self.id)) {
            return answer.judge();
        }
        assert!(
            self.client.wait_closed(Duration::ZERO),
            "no answer to {} {} within {limit:?}",
            self.what,
            self.id
        );
        Err(ErrorValue::closed(&self.id))
    }

    /// Whether the answer is still due.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.client.answer_count(&self.id) == 0
    }
}

/// The fields of `attach` for the command line.
///
/// # Panics
/// When there is no token.
#[must_use]
pub fn attach_fields(home: &Home) -> Value {
    answer::shown(&attach_request(home))
}

fn attach_request(home: &Home) -> Attach {
    let token =
        std::fs::read_to_string(home.run_file("token")).expect("a bridge that listens wrote its token");
    Attach {
        token: token.trim_end().to_owned(),
        role: "cli".into(),
        protocol: Some(harbor_ipc_proto::CLIENT_PROTOCOL),
        build: None,
        extension_id: None,
        client: None,
        token_id: None,
    }
}

/// The id of a server, as requests have it.
///
/// # Panics
/// When it can be none.
#[must_use]
pub fn server_id(id: &str) -> ServerId {
    ServerId::parse(id).unwrap_or_else(|| panic!("{id:?} is no server's id"))
}

/// One frame's body; `None` at the end of the stream.
fn read_frame(reader: &mut impl Read) -> Option<Vec<u8>> {
    let mut header = [0; 4];
    reader.read_exact(&mut header).ok()?;
    let mut body = vec![0; usize::try_from(u32::from_le_bytes(header)).ok()?];
    reader.read_exact(&mut body).ok()?;
    Some(body)
}
