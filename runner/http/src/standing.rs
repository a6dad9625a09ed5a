//! The stream of a session: what an older server says unasked.
//!
//! ```text
//!  GET ─► 405, 404, a redirect, no stream: it has none
//!     └─► events ─► over ─► pause ─► GET with the last id ─► …
//!                              └► too often in vain ─► the server is lost
//! ```
//!
//! Owns the pauses between tries. A server need not offer the stream: that there is none, or none any more, is no reason to
//! end the connection; whether the session is still known is found out by initialising anew.

use std::rc::Rc;
use std::time::Duration;

use harbor_ipc_proto::link::runner::RemoteEnd;
use reqwest::header::CONTENT_TYPE;
use tokio::time::sleep;

use crate::connection::Connection;
use crate::exchange::Stream;
use harbor_web::sse::Parser;
use harbor_web::trouble::Trouble;

/// So often a stream is opened in vain, one after the other.
const TRIES: u32 = 4;

const FIRST: Duration = Duration::from_millis(500);

/// The pauses between tries: each twice the one before.
#[derive(Debug, Default)]
pub struct Pause {
    tries: u32,
}

impl Pause {
    /// The next one, at least as long as the server wishes; none when there were enough.
    pub fn next(&mut self, wished: Option<Duration>) -> Option<Duration> {
        self.tries += 1;
        (self.tries < TRIES).then(|| (FIRST * 2u32.pow(self.tries - 1)).max(wished.unwrap_or_default()))
    }
}

impl Connection {
    /// Keeps the session's stream open, where the server has one.
    pub async fn stand(self: Rc<Self>) {
        let mut parser = Parser::new(self.wire.max_message());
        let (mut pause, mut stood) = (Pause::default(), false);
        let session = self.session();
        // Another session has a stream of its own.
        while self.session() == session {
            let last = parser.last_id().map(str::to_owned);
            parser.begin_again();
            let trouble = match self.open_stream(last.as_deref()).await {
                Ok(answer) if answer.status().is_success() && is_stream(&answer) => {
                    stood = true;
                    if self.events(answer, &mut parser, None).await == (Stream::Over { heard: true }) {
                        pause = Pause::default();
                    }
                    Trouble::of(
                        RemoteEnd::Unreachable,
                        format!("{} ends its streams at once", self.http.place()),
                    )
                }
                // It had one: it may not know the session any more.
                Ok(answer)
                    if stood && session.is_some() && matches!(answer.status().as_u16(), 400 | 401 | 404) =>
                {
                    return self.renew_or_end(session).await;
                }
                Ok(answer) if !answer.status().is_server_error() || !stood => return,
                Ok(answer) => Trouble::of(
                    RemoteEnd::Unreachable,
                    format!("{} answered HTTP {}", self.http.place(), answer.status().as_u16()),
                ),
                // A redirect, as pages do.
                Err(trouble) if trouble.kind == RemoteEnd::Forbidden => return,
                Err(trouble) => trouble,
            };
            match pause.next(parser.retry()) {
                Some(pause) => sleep(pause).await,
                None if trouble.why.ends_with("at once") => return,
                None => return self.end(trouble.end()),
            }
        }
    }
}

/// Whether an answer is a stream of events.
pub fn is_stream(answer: &reqwest::Response) -> bool {
    let kind = answer.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    kind.split(';').next().unwrap_or_default().trim().eq_ignore_ascii_case("text/event-stream")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_and_come_to_an_end() {
        let mut pause = Pause::default();
        let wished = Some(Duration::from_millis(700));
        let pauses: Vec<_> = (0..4).map(|_| pause.next(wished).map(|pause| pause.as_millis())).collect();
        assert_eq!(pauses, [Some(700), Some(1000), Some(2000), None]);
    }
}
