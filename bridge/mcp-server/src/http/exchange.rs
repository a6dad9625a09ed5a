//! One request's way back: an answer as JSON, or a stream of events.
//!
//! ```text
//!  first thing said: the answer ──────────────► application/json
//!  something else, or nothing for a while ────► text/event-stream ─► … ─► the answer, and its end
//! ```
//!
//! Owns that choice and the pace of streams. When the client leaves, the exchange gives up its place in a
//! session, whose work goes on as the older generation wants it. An exchange with its own machine gives up
//! that machine, and the work ends.

use std::sync::Arc;
use std::time::Duration;

use hyper::StatusCode;
use hyper::body::Bytes;
use serde_json::Value;
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::time::{interval_at, timeout};

use super::body::Body;
use super::places::Place;
use super::reply::{self, Refusal, Reply};
use super::routes::{Said, Stream};
use super::server::Server;
use super::tokens::Client;
use crate::line::{INVALID_REQUEST, NO_METHOD, PARSE_ERROR, UNSUPPORTED_VERSION};

/// A client that gets no line for this long is at least told that its request was heard.
const SILENCE: Duration = Duration::from_secs(5);

/// The pause after which a silent stream shows that it is alive.
const BEAT: Duration = Duration::from_secs(15);

/// The number of events that may wait for a connection that is slower.
const EVENTS: usize = 4;

/// The client has left out a capability that a request needs.
const NO_CAPABILITY: i64 = -32021;

/// The source of an exchange's messages.
#[derive(Debug)]
pub enum Exchange {
    /// A stream of a session, and its place among what the client has open.
    Session { stream: Stream, _place: Place },
    /// A machine that serves this request only, and the same place.
    Alone { said: Receiver<Said>, _machine: Sender<Body>, _place: Place },
}

impl Exchange {
    fn said(&mut self) -> &mut Receiver<Said> {
        match self {
            Self::Session { stream, .. } => &mut stream.said,
            Self::Alone { said, .. } => said,
        }
    }

    /// Answers the request that it is for.
    pub async fn answer(mut self, server: &Arc<Server>, client: &Client) -> Reply {
        let first = tokio::select! {
            first = timeout(SILENCE, self.said().recv()) => first,
            () = server.ended() => Ok(None),
        };
        match first {
            Ok(Some(Said::Answer(line))) => {
                let status =
                    if matches!(self, Self::Session { .. }) { StatusCode::OK } else { status_of(&line) };
                reply::json(status, line)
            }
            Ok(Some(Said::Cancelled)) => reply::empty(StatusCode::ACCEPTED),
            Ok(Some(Said::Line(line))) => self.stream(server, client, Some(line)),
            Ok(None) => Refusal::new(StatusCode::NOT_FOUND, "the session has ended").into(),
            Err(_) => self.stream(server, client, None),
        }
    }

    /// Answers with a stream.
    pub fn stream(self, server: &Arc<Server>, client: &Client, first: Option<Vec<u8>>) -> Reply {
        let (events, body) = channel(EVENTS);
        let pump = Pump { exchange: self, server: Arc::clone(server), client: client.clone(), events };
        tokio::spawn(pump.run(first));
        reply::events(body)
    }
}

/// Brings what is said to a connection.
struct Pump {
    exchange: Exchange,
    server: Arc<Server>,
    client: Client,
    events: Sender<Bytes>,
}

impl Pump {
    async fn run(mut self, first: Option<Vec<u8>>) {
        let mut beat = interval_at(tokio::time::Instant::now() + BEAT, BEAT);
        // The head of the answer leaves with its first bytes.
        let first = first.map_or_else(reply::silence, |line| reply::event(&line));
        let mut is_on = self.send(first).await;
        while is_on {
            is_on = tokio::select! {
                said = self.exchange.said().recv() => match said {
                    Some(Said::Line(line)) => self.send(reply::event(&line)).await,
                    Some(Said::Answer(line)) => {
                        self.send(reply::event(&line)).await;
                        false
                    }
                    Some(Said::Cancelled) | None => false,
                },
                _ = beat.tick() => self.server.lets_in(&self.client) && self.send(reply::silence()).await,
                () = self.events.closed() => false,
                () = self.server.ended() => false,
            };
        }
    }

    /// True if the client is still there.
    async fn send(&self, event: Bytes) -> bool {
        tokio::select! {
            sent = self.events.send(event) => sent.is_ok(),
            () = self.server.ended() => false,
        }
    }
}

/// The HTTP status of an answer of the generation without sessions.
fn status_of(line: &[u8]) -> StatusCode {
    let answer = harbor_ipc_proto::json::Fields::parse(line).unwrap_or_default();
    let error: Value =
        answer.get("error").and_then(|error| serde_json::from_str(error).ok()).unwrap_or_default();
    match error["code"].as_i64() {
        Some(NO_METHOD) => StatusCode::NOT_FOUND,
        Some(PARSE_ERROR | INVALID_REQUEST | UNSUPPORTED_VERSION | NO_CAPABILITY) => StatusCode::BAD_REQUEST,
        _ => StatusCode::OK,
    }
}
