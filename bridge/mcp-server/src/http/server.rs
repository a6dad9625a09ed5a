//! State that all requests share: sessions, tokens, places, and the end of all of it.
//!
//! Owns the state of the HTTP server. Must never answer a request: the checks and answers are in `http` and `post`.

use std::net::SocketAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use harbor_client::terminal::remark;
use hyper::StatusCode;
use hyper::header::HeaderMap;
use tokio::sync::{Semaphore, watch};

use super::body::Room;
use super::gate;
use super::parked::ParkedMachines;
use super::places::Places;
use super::reply::{Refusal, SESSION_ID};
use super::sessions::{Session, Sessions, Works};
use super::tokens::{Client, Tokens};

/// The path of MCP.
pub const PATH: &str = "/mcp";

/// The most requests with a wrong token that may wait for the refusal; more are told at once that they are
/// too many.
pub const WRONG_TOKENS: usize = 4;

/// State that all connections share.
#[derive(Debug)]
pub struct Server {
    pub(super) works: Works,
    pub(super) local: SocketAddr,
    pub(super) origins: Vec<String>,
    pub(super) tokens: Mutex<Tokens>,
    pub(super) sessions: Mutex<Sessions>,
    pub(super) parked: ParkedMachines,
    pub(super) places: Places,
    pub(super) room: Room,
    pub(super) wrong: Semaphore,
    /// The time when a wrong token was last logged.
    pub(super) told_wrong: Mutex<Option<Instant>>,
    pub(super) ending: watch::Sender<bool>,
}

impl Server {
    pub fn sessions(&self) -> MutexGuard<'_, Sessions> {
        lock(&self.sessions)
    }

    /// The tokens as they are now.
    pub fn tokens(&self) -> MutexGuard<'_, Tokens> {
        let mut tokens = lock(&self.tokens);
        if let Err(wrong) = tokens.refresh() {
            remark(&format!("harbor mcp: {}; no client is admitted", wrong.message().unwrap_or_default()));
        }
        tokens
    }

    /// True if this client's token is still there.
    pub fn lets_in(&self, client: &Client) -> bool {
        self.tokens().has(client)
    }

    /// Comes to an end with the server.
    pub async fn ended(&self) {
        // The sender is ours, so it is there.
        let _ = self.ending.subscribe().wait_for(|ending| *ending).await;
    }
}

/// The client's session that a request names.
pub fn find_session<'a>(
    sessions: &'a mut Sessions,
    client: &Client,
    headers: &HeaderMap,
) -> Result<&'a Session, Refusal> {
    let missing = || {
        Refusal::new(StatusCode::BAD_REQUEST, "the header Mcp-Session-Id is missing; begin with `initialize`")
    };
    let id = gate::one(headers, &SESSION_ID).ok_or_else(missing)?;
    let unknown = || Refusal::new(StatusCode::NOT_FOUND, "there is no such session; begin with `initialize`");
    sessions.of(client, id).ok_or_else(unknown)
}

/// Locks a mutex, also after a panic.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
