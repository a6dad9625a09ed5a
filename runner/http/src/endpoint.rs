//! HTTP+SSE, as of 2024-11-05: one stream of events for all messages from the server, and another URL for messages to it.
//!
//! ```text
//!  GET ─► event `endpoint`: the URL to post to, at the same place ─► events `message` … ─► its end is the session's
//! ```
//!
//! Owns that stream. Must never post to another place: the server could send the person's headers there.

use std::rc::Rc;

use harbor_ipc_proto::link::runner::{EndCause, RemoteEnd};
use harbor_policy::remote::place;
use reqwest::StatusCode;

use crate::connection::Connection;
use crate::kind::is_stream;
use harbor_web::sse::Parser;
use harbor_web::trouble::{Trouble, of_status, wait_of};

impl Connection {
    /// Uses HTTP+SSE from now on.
    pub fn go_by_events(self: &Rc<Self>) {
        self.by_events.set(true);
        self.add(Box::pin(listen(self.clone())));
    }
}

/// Listens until the stream ends, which is the end of the connection.
async fn listen(connection: Rc<Connection>) {
    let cause = match follow(&connection).await {
        Ok(()) => stream_ended(&connection.http.place()),
        Err(trouble) => trouble.end(),
    };
    connection.end(cause);
}

async fn follow(connection: &Connection) -> Result<(), Trouble> {
    let http = &connection.http;
    let mut answer = connection.open_stream(None).await?;
    let code = answer.status().as_u16();
    if let Some(trouble) = connection.refusal(&answer) {
        return Err(trouble);
    }
    if answer.status().is_server_error() || answer.status() == StatusCode::TOO_MANY_REQUESTS {
        let why = of_status(answer.status(), wait_of(answer.headers()), &http.place());
        return Err(Trouble::of(RemoteEnd::Unreachable, why));
    }
    if !answer.status().is_success() || !is_stream(&answer) {
        let why = format!(
            "{} speaks neither Streamable HTTP nor SSE (HTTP {code}); is it the URL of an MCP server?",
            http.place()
        );
        return Err(Trouble::of(RemoteEnd::NoMcp, why));
    }
    let mut parser = Parser::new(connection.wire.max_message());
    loop {
        connection.wire.room().await;
        let Ok(Some(bytes)) = answer.chunk().await else { return Ok(()) };
        connection.wire.heard();
        let mut wrong = None;
        let fed = parser.feed(&bytes, |event| match event.name {
            "endpoint" => wrong = set(connection, event.data).err().or(wrong.take()),
            "" | "message" => {
                let broken = |why| Trouble::of(RemoteEnd::Unreachable, format!("{}: {why}", http.place()));
                wrong = wrong.take().or(connection.deliver(event.data).err().map(broken));
            }
            _ => {}
        });
        if let Some(trouble) = wrong {
            return Err(trouble);
        }
        if fed.is_err() {
            return Err(Trouble::of(
                RemoteEnd::Unreachable,
                format!("{} sent a message that is too long", http.place()),
            ));
        }
    }
}

fn set(connection: &Connection, said: &[u8]) -> Result<(), Trouble> {
    let base = connection.http.url();
    let url = std::str::from_utf8(said).ok().and_then(|text| base.join(text.trim()).ok());
    let Some(url) = url.filter(|url| url.username().is_empty() && url.password().is_none()) else {
        return Err(Trouble::of(
            RemoteEnd::NoMcp,
            format!("{} did not name a URL to post to", connection.http.place()),
        ));
    };
    if url.origin() != base.origin() {
        let why = format!("{} wants messages posted to {}", connection.http.place(), place(&url));
        return Err(Trouble::of(RemoteEnd::Forbidden, why));
    }
    connection.set_endpoint(url);
    Ok(())
}

/// The cause of the session's end when a stream ends that the session needs.
fn stream_ended(place: &str) -> EndCause<'static> {
    EndCause::Remote { kind: RemoteEnd::Unreachable, why: format!("{place} ended its event stream").into() }
}
