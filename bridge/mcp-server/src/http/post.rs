//! A POST: one message of the client.
//!
//! ```text
//!  shows a modern revision ─► its headers fit ─► a machine of its own ─► answer
//!  initialize ──────────────► a new session ───► answer, with the session's id
//!  anything else ───────────► the session that it names ─► answer, or 202
//! ```
//!
//! Owns that way. Must never hand a message to a session of another client.

use std::sync::Arc;
use std::time::Duration;

use harbor_ipc_proto::json::Fields;
use hyper::body::Incoming;
use hyper::header::HeaderValue;
use hyper::http::request::Parts;
use hyper::{Request, StatusCode};
use tokio::sync::mpsc::{Sender, channel};
use tokio::time::timeout;

use super::body::Body;
use super::connections::Standing;
use super::exchange::Exchange;
use super::gate;
use super::message::Message;
use super::places::Place;
use super::reply::{self, Refusal, Reply, SESSION_ID};
use super::routes::{Asked, NotAsked, Said};
use super::server::{Server, find_session};
use super::sessions::Session;
use super::single_request::Alone;
use super::tokens::Client;

/// How long a body may take.
const BODY_LIMIT: Duration = Duration::from_secs(60);

/// How long a machine may be too busy to take a message.
const BUSY_LIMIT: Duration = Duration::from_secs(10);

/// How long the answer to `initialize` may take.
const GREETING_LIMIT: Duration = Duration::from_secs(30);

/// How many messages wait in an exchange.
const QUEUE: usize = 256;

/// Answers a POST of this client.
pub async fn post(
    server: &Arc<Server>,
    client: &Client,
    connection: &Arc<Standing>,
    request: Request<Incoming>,
) -> Result<Reply, Refusal> {
    let (head, body) = request.into_parts();
    gate::check_content_type(&head.headers)?;
    gate::check_accept(&head.headers, &["application/json", "text/event-stream"])?;
    let reading = server.places.read(&client.name, connection)?;
    let read = timeout(BODY_LIMIT, server.room.read(&server.places.share(&client.name), body)).await;
    let late = |_| Refusal::new(StatusCode::REQUEST_TIMEOUT, "the body did not arrive in time");
    let body = read.map_err(late)??;
    let message = Message::read(&body.line)?;
    // What is answered at once, such as a cancellation, needs none.
    let place = message.asked.is_some().then(|| server.places.open(&client.name, connection)).transpose()?;
    drop(reading);
    if message.is_modern(&head.headers) {
        return modern(server, client, &head, message, body, place).await;
    }
    message.check_legacy(&head.headers)?;
    match (&message.asked, message.method.as_deref()) {
        (Some(asked), Some("initialize")) => {
            greet(server, client, &head, &message, asked.clone(), body).await
        }
        _ => {
            let asked = message.asked.zip(place);
            in_session(server, client, &head, asked, message.cancelled.as_deref(), body).await
        }
    }
}

async fn modern(
    server: &Arc<Server>,
    client: &Client,
    head: &Parts,
    message: Message,
    body: Body,
    place: Option<Place>,
) -> Result<Reply, Refusal> {
    if message.method.is_none() {
        return Err(Refusal::new(StatusCode::BAD_REQUEST, "clients send no responses in this MCP revision"));
    }
    let (Some(asked), Some(place)) = (&message.asked, place) else {
        // There is nothing that a client could tell here: it cancels by leaving.
        return Ok(reply::empty(StatusCode::ACCEPTED));
    };
    message.check_modern(&head.headers)?;
    message.check_params(&body.line, &head.headers)?;
    let (lines, said) = channel(QUEUE);
    let alone = Alone::new(asked.id.clone(), lines);
    let machine = match &message.state {
        Some(state) => server.parked.resume(client, state, alone).ok_or_else(|| message.no_state())?,
        None => {
            let lines = server.parked.lines(client, alone);
            let machine = server.works.start(client, lines.clone(), false).map_err(|_| busy())?;
            lines.belongs_to(&machine);
            machine
        }
    };
    tell(&machine, body).await?;
    let exchange = Exchange::Alone { said, _machine: machine, _place: place };
    Ok(exchange.answer(server, client).await)
}

/// Begins a session. The session is kept if the client's first request gets a result.
async fn greet(
    server: &Arc<Server>,
    client: &Client,
    head: &Parts,
    message: &Message,
    asked: Asked,
    body: Body,
) -> Result<Reply, Refusal> {
    if head.headers.contains_key(SESSION_ID) {
        return Err(Refusal::new(
            StatusCode::BAD_REQUEST,
            "`initialize` begins a session, but this session has already begun",
        ));
    }
    let many =
        || Refusal::new(StatusCode::SERVICE_UNAVAILABLE, "too many sessions are open; end some of them");
    if !server.sessions().make_room(&client.name) {
        return Err(many());
    }
    let session = Session::begin(&server.works, client).map_err(|_| busy())?;
    let mut stream = session.routes.ask(asked).map_err(|_| busy())?;
    tell(&session.events, body).await?;
    let Ok(Some(Said::Answer(line))) = timeout(GREETING_LIMIT, stream.said.recv()).await else {
        return Err(busy());
    };
    let is_result = Fields::parse(&line).is_ok_and(|fields| fields.get("result").is_some());
    let mut reply = reply::json(StatusCode::OK, line);
    if is_result {
        let mut sessions = server.sessions();
        // Others may have come meanwhile.
        if !sessions.make_room(&client.name) {
            return Err(many());
        }
        let id = sessions.keep(session, message.program.as_deref()).map_err(|_| busy())?;
        reply.headers_mut().insert(SESSION_ID, HeaderValue::try_from(id).map_err(|_| busy())?);
    }
    Ok(reply)
}

async fn in_session(
    server: &Arc<Server>,
    client: &Client,
    head: &Parts,
    asked: Option<(Asked, Place)>,
    cancelled: Option<&str>,
    body: Body,
) -> Result<Reply, Refusal> {
    let (events, routes, exchange) = {
        let mut sessions = server.sessions();
        let session = find_session(&mut sessions, client, &head.headers)?;
        let exchange = asked.map(|(asked, place)| {
            let stream = session.routes.ask(asked).map_err(not_asked)?;
            Ok(Exchange::Session { stream, _place: place })
        });
        (session.events.clone(), session.routes.clone(), exchange.transpose()?)
    };
    tell(&events, body).await?;
    if let Some(id) = cancelled {
        routes.cancel(id);
    }
    // Whoever holds it keeps the session's machine.
    drop(events);
    match exchange {
        Some(exchange) => Ok(exchange.answer(server, client).await),
        None => Ok(reply::empty(StatusCode::ACCEPTED)),
    }
}

async fn tell(machine: &Sender<Body>, body: Body) -> Result<(), Refusal> {
    match timeout(BUSY_LIMIT, machine.send(body)).await {
        Ok(Ok(())) => Ok(()),
        Ok(Err(_)) => Err(Refusal::new(StatusCode::NOT_FOUND, "the session has ended")),
        Err(_) => Err(busy()),
    }
}

fn not_asked(why: NotAsked) -> Refusal {
    match why {
        NotAsked::Taken => Refusal::new(StatusCode::BAD_REQUEST, "a request with this id is still open"),
        NotAsked::TooMany => {
            Refusal::new(StatusCode::TOO_MANY_REQUESTS, "too many requests are open; wait for answers")
        }
    }
}

fn busy() -> Refusal {
    Refusal::new(StatusCode::SERVICE_UNAVAILABLE, "the server is too busy; try again")
}
