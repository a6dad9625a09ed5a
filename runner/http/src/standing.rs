//! The stream of a session: what an older server says unasked.
//!
//! ```text
//!  GET ─► 405, 404, a redirect, no stream: it has none
//!     └─► events ─► over ─► pause ─► GET with the last id ─► …
//!                              └► too often in vain ─► the server is lost
//! ```
//!
//! Owns the tries. A server need not offer the stream: that there is none, or none any more, is no reason to
//! end the connection; whether the session is still known is found out by initialising anew.

use std::rc::Rc;

use harbor_ipc_proto::link::runner::RemoteEnd;
use tokio::time::sleep;

use crate::connection::Connection;
use crate::exchange::Stream;
use crate::kind::is_stream;
use crate::pause::Pause;
use harbor_web::sse::Parser;
use harbor_web::trouble::Trouble;

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
                        format!("{} ends its event streams immediately", self.http.place()),
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
