//! Answers over HTTP.
//!
//! Owns the shapes of answers and refusals. A refusal tells nothing of what is here: no names, no sessions.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use hyper::body::{Body, Bytes, Frame, SizeHint};
use hyper::header::{ALLOW, CACHE_CONTROL, CONTENT_TYPE, HeaderName, HeaderValue, WWW_AUTHENTICATE};
use hyper::{Response, StatusCode};
use tokio::sync::mpsc::Receiver;

use crate::line::{INVALID_REQUEST, REFUSED};
use crate::write;

/// An answer.
pub type Reply = Response<Outgoing>;

/// The header with a session's id.
pub const SESSION_ID: HeaderName = HeaderName::from_static("mcp-session-id");

/// Asks proxies to pass events on at once.
const UNBUFFERED: HeaderName = HeaderName::from_static("x-accel-buffering");

/// The body of an answer.
#[derive(Debug)]
pub enum Outgoing {
    Whole(Option<Bytes>),
    /// Events, each as it comes.
    Events(Receiver<Bytes>),
}

impl Body for Outgoing {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        match self.get_mut() {
            Self::Whole(bytes) => Poll::Ready(bytes.take().map(|bytes| Ok(Frame::data(bytes)))),
            Self::Events(events) => events.poll_recv(context).map(|event| Some(Ok(Frame::data(event?)))),
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(self, Self::Whole(None))
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Whole(bytes) => SizeHint::with_exact(bytes.as_ref().map_or(0, |bytes| bytes.len() as u64)),
            Self::Events(_) => SizeHint::default(),
        }
    }
}

/// The reason why a request is not served.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    status: StatusCode,
    /// JSON-RPC's error.
    line: Vec<u8>,
}

impl Refusal {
    pub fn new(status: StatusCode, text: &str) -> Self {
        let code = if status == StatusCode::BAD_REQUEST { INVALID_REQUEST } else { REFUSED };
        Self { status, line: write::error(None, code, text, None) }
    }

    /// The request with this id is wrong.
    pub fn of_request(id: Option<&str>, code: i64, text: &str, data: Option<&str>) -> Self {
        Self { status: StatusCode::BAD_REQUEST, line: write::error(id, code, text, data) }
    }
}

impl From<Refusal> for Reply {
    fn from(refusal: Refusal) -> Self {
        let mut reply = json(refusal.status, refusal.line);
        let headers = reply.headers_mut();
        match refusal.status {
            StatusCode::UNAUTHORIZED => {
                headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
            }
            StatusCode::METHOD_NOT_ALLOWED => {
                headers.insert(ALLOW, HeaderValue::from_static("GET, POST, DELETE"));
            }
            _ => {}
        }
        reply
    }
}

/// A JSON-RPC message.
pub fn json(status: StatusCode, line: Vec<u8>) -> Reply {
    let mut reply = Response::new(Outgoing::Whole(Some(line.into())));
    *reply.status_mut() = status;
    reply.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    reply.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    reply
}

/// No body.
pub fn empty(status: StatusCode) -> Reply {
    let mut reply = Response::new(Outgoing::Whole(None));
    *reply.status_mut() = status;
    reply
}

/// A stream of events.
pub fn events(events: Receiver<Bytes>) -> Reply {
    let mut reply = Response::new(Outgoing::Events(events));
    let headers = reply.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(UNBUFFERED, HeaderValue::from_static("no"));
    reply
}

/// A message as an event. A line of JSON has no line ends but its last one.
pub fn event(line: &[u8]) -> Bytes {
    [b"event: message\ndata: ", line.trim_ascii_end(), b"\n\n"].concat().into()
}

/// Says nothing, so that whoever is in between keeps the connection.
pub fn silence() -> Bytes {
    Bytes::from_static(b":\n\n")
}
