//! AI clients over Streamable HTTP, on this machine only.
//!
//! ```text
//!  connection ─► gate: host, origin ─► path ─► token ─► no runner of ours ─► POST ───► post
//!                                                                            GET ────► the session's stream
//!                                                                            DELETE ─► the session's end
//! ```
//!
//! Owns everything that requests share, and the order of these checks. Must never say on stderr more than
//! what begins and ends.

mod body;
mod connections;
mod exchange;
mod gate;
mod listen;
mod message;
mod parked;
mod places;
mod post;
mod reply;
mod routes;
mod server;
mod sessions;
mod single_request;
pub mod tokens;

use std::sync::Arc;
use std::time::{Duration, Instant};

use harbor_client::terminal::remark;
use harbor_home::instance::identity;
use hyper::body::Incoming;
use hyper::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, HeaderMap, HeaderValue, VARY,
};
use hyper::{Method, Request, StatusCode};

use self::connections::Standing;
use self::exchange::Exchange;
pub use self::listen::{Http, serve};
use self::places::Place;
use self::reply::{Refusal, Reply, SESSION_ID};
use self::server::{PATH, Server, find_session, lock};
use self::tokens::Client;

/// The delay before a wrong token is refused.
const WRONG_TOKEN_DELAY: Duration = Duration::from_millis(500);

/// The pause between two lines about wrong tokens.
const WRONG_TOKEN_LINES: Duration = Duration::from_secs(60);

/// Headers that a page may send.
const SENT_BY_PAGES: &str = "authorization, content-type, accept, last-event-id, mcp-session-id, \
                             mcp-protocol-version, mcp-method, mcp-name";

impl Server {
    /// Answers a request.
    async fn reply(self: Arc<Self>, request: Request<Incoming>, connection: &Arc<Standing>) -> Reply {
        let (head, body) = request.into_parts();
        let origin = gate::check_host(&head, self.local)
            .and_then(|()| gate::check_origin(&head.headers, &self.origins));
        let origin = match origin {
            Ok(origin) => origin,
            Err(refusal) => return refusal.into(),
        };
        let mut reply = match (&origin, &head.method) {
            (Some(_), &Method::OPTIONS) => preflight(),
            _ => {
                let answered = self.serve(Request::from_parts(head, body), connection).await;
                answered.unwrap_or_else(Reply::from)
            }
        };
        if let Some(origin) = origin.and_then(|origin| HeaderValue::try_from(origin).ok()) {
            let headers = reply.headers_mut();
            headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
            headers.insert(
                ACCESS_CONTROL_EXPOSE_HEADERS,
                HeaderValue::from_static("mcp-session-id, www-authenticate"),
            );
            headers.insert(VARY, HeaderValue::from_static("origin"));
        }
        reply
    }

    async fn serve(
        self: &Arc<Self>,
        request: Request<Incoming>,
        connection: &Arc<Standing>,
    ) -> Result<Reply, Refusal> {
        if request.uri().path() != PATH {
            return Err(Refusal::new(StatusCode::NOT_FOUND, "MCP is at /mcp"));
        }
        let client = self.client(request.headers()).await?;
        gate::check_other(request.headers(), || identity(&self.works.paths))?;
        let _served = connection.serve();
        match *request.method() {
            Method::POST => post::post(self, &client, connection, request).await,
            Method::GET => {
                self.listen(&client, request.headers(), self.places.open(&client.name, connection)?)
            }
            Method::DELETE => self.end_session(&client, request.headers()),
            _ => Err(Refusal::new(StatusCode::METHOD_NOT_ALLOWED, "use POST, GET or DELETE")),
        }
    }

    /// The client whose token this is.
    async fn client(&self, headers: &HeaderMap) -> Result<Client, Refusal> {
        let refusal = || Refusal::new(StatusCode::UNAUTHORIZED, "show a token: Authorization: Bearer TOKEN");
        let token = gate::bearer(headers).ok_or_else(refusal)?;
        if let Some(client) = self.tokens().owner(token) {
            return Ok(client);
        }
        self.tell_of_wrong_token();
        let many = |_| Refusal::new(StatusCode::TOO_MANY_REQUESTS, "too many wrong tokens; wait a second");
        let _waiting = self.wrong.try_acquire().map_err(many)?;
        tokio::time::sleep(WRONG_TOKEN_DELAY).await;
        Err(refusal())
    }

    fn tell_of_wrong_token(&self) {
        let (mut told, now) = (lock(&self.told_wrong), Instant::now());
        if told.is_none_or(|told| now.duration_since(told) >= WRONG_TOKEN_LINES) {
            *told = Some(now);
            remark("harbor mcp: refused a client with a wrong token");
        }
    }

    fn listen(
        self: &Arc<Self>,
        client: &Client,
        headers: &HeaderMap,
        place: Place,
    ) -> Result<Reply, Refusal> {
        gate::check_accept(headers, &["text/event-stream"])?;
        let stream = find_session(&mut self.sessions(), client, headers)?.routes.listen();
        Ok(Exchange::Session { stream, _place: place }.stream(self, client, None))
    }

    fn end_session(&self, client: &Client, headers: &HeaderMap) -> Result<Reply, Refusal> {
        let mut sessions = self.sessions();
        find_session(&mut sessions, client, headers)?;
        if let Some(id) = gate::one(headers, &SESSION_ID) {
            sessions.end(id, "its client ended it");
        }
        Ok(reply::empty(StatusCode::NO_CONTENT))
    }
}

/// The answer to a page's preflight request: methods and headers that an allowed page may use.
fn preflight() -> Reply {
    let mut reply = reply::empty(StatusCode::NO_CONTENT);
    let headers = reply.headers_mut();
    headers.insert(ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("GET, POST, DELETE"));
    headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, HeaderValue::from_static(SENT_BY_PAGES));
    reply
}
