//! A session that its server has forgotten, as after a restart.
//!
//! ```text
//!  404, or 400, 401, 503 in the words of MCP ─► initialised anew, by one request while the others wait ─► sent once more
//!  401 in other words ───────────────────────► the same ─► this request is lost: it may have been something else
//!                                                └► refused as well: the end
//! ```
//!
//! Owns when a request is sent a second time: only where the first answer says that nobody looked at it.

use std::rc::Rc;

use reqwest::{Response, StatusCode};
use serde::Deserialize;
use tokio::sync::oneshot;
use tokio::time::timeout;

use crate::connection::{Connection, NOTE_LIMIT};
use crate::kind::{Body, body_of};
use crate::outgoing::Outgoing;
use harbor_web::sse::Parser;
use harbor_web::trouble::Trouble;

/// The bytes that are read of an error, or of an answer that begins a session anew.
pub const MAX_ERROR: usize = 64 * 1024;

/// How surely an answer says that the session is lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Loss {
    /// The session is unknown, so the server has not looked at the request.
    Said,
    /// The session may be unknown.
    Possible,
}

impl Loss {
    /// The loss of a session that an answer shows, if any. `asks_for_token` is true if the answer asks for a token.
    pub fn of(status: StatusCode, body: &[u8], asks_for_token: bool) -> Option<Self> {
        match status.as_u16() {
            404 => Some(Self::Said),
            400 | 401 | 503 if says_unknown(body) => Some(Self::Said),
            401 if !asks_for_token => Some(Self::Possible),
            _ => None,
        }
    }
}

/// True if a body says that there is no such session, by MCP's number or in the server's words.
fn says_unknown(body: &[u8]) -> bool {
    #[derive(Deserialize)]
    struct ErrorCodeMessage {
        error: Error,
    }
    #[derive(Deserialize)]
    struct Error {
        code: i64,
    }
    let said = serde_json::from_slice::<ErrorCodeMessage>(body);
    let text = String::from_utf8_lossy(body).to_ascii_lowercase();
    said.is_ok_and(|message| message.error.code == -32001) || text.contains("session not found")
}

impl Connection {
    /// Begins another session in the place of `lost`, unless that was done already.
    ///
    /// # Errors
    /// Why there is no other session.
    pub async fn renew(self: &Rc<Self>, lost: Option<u64>) -> Result<(), Trouble> {
        let (done, begun) = oneshot::channel();
        let this = self.clone();
        // A task of its own: whoever asked for it may leave, and others wait for it, too.
        self.add(Box::pin(async move {
            let begun = this.begin_anew(lost).await;
            // Nobody may wait any more.
            let _ = done.send(begun);
        }));
        begun.await.unwrap_or_else(|_| Err(self.session_lost()))
    }

    /// Works as [`Self::renew`] does, for callers that do not need the outcome. Ends the connection if there
    /// is no other session.
    pub async fn renew_or_end(self: Rc<Self>, lost: Option<u64>) {
        if let Err(trouble) = self.begin_anew(lost).await {
            self.end(trouble.end());
        }
    }

    async fn begin_anew(self: &Rc<Self>, lost: Option<u64>) -> Result<(), Trouble> {
        let _turn = self.turn.lock().await;
        if self.session() != lost {
            return Ok(());
        }
        let greeting = self.greeting.borrow().clone();
        let Some((out, line)) = greeting else { return Err(self.session_lost()) };
        let greeted = timeout(NOTE_LIMIT, self.greet(&out, &line)).await;
        greeted.unwrap_or_else(|_| Err(self.session_lost()))?;
        self.wire.remark("the server had forgotten the session; Harbor began a new one");
        self.missed();
        self.add(Box::pin(self.clone().stand()));
        Ok(())
    }

    async fn greet(self: &Rc<Self>, out: &Outgoing, line: &[u8]) -> Result<(), Trouble> {
        let mut answer = self.post(out, line).await?;
        if let Some(refusal) = self.refusal(&answer) {
            return Err(refusal);
        }
        if !answer.status().is_success() {
            return Err(self.session_lost());
        }
        let session = answer.headers().clone();
        let said = match body_of(&answer) {
            Body::Json => self.read(&mut answer, MAX_ERROR).await?.map(|(body, _)| body),
            Body::Events => first_event(&mut answer).await,
            Body::Nothing | Body::Other(_) => None,
        };
        let revision = said.as_deref().and_then(Self::revision_in).ok_or_else(|| self.session_lost())?;
        self.keep_session(&session);
        self.set_revision(revision);
        let kept: Vec<_> = self.kept.borrow().values().cloned().collect();
        let initialized = br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
        let initialized = Outgoing::read(initialized).map(|out| (out, initialized.to_vec()));
        for (out, line) in initialized.into_iter().chain(kept) {
            let _ = self.post(&out, &line).await?;
        }
        Ok(())
    }
}

/// The data of the first event that has any.
async fn first_event(answer: &mut Response) -> Option<Vec<u8>> {
    let (mut parser, mut data) = (Parser::new(MAX_ERROR), None);
    while data.is_none() {
        let bytes = answer.chunk().await.ok()??;
        let fed = parser.feed(&bytes, |event| {
            if data.is_none() && !event.data.is_empty() {
                data = Some(event.data.to_vec());
            }
        });
        fed.ok()?;
    }
    data
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_answer_that_says_so_has_a_request_sent_again() {
        let of =
            |status: u16, body: &str| Loss::of(StatusCode::from_u16(status).unwrap(), body.as_bytes(), false);
        let said = r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"x"}}"#;
        for status in [400, 401, 503] {
            assert_eq!(of(status, said), Some(Loss::Said));
            assert_eq!(of(status, "Bad Request: Session Not Found"), Some(Loss::Said));
        }
        let other = said.replace("-32001", "-32000");
        assert_eq!((of(404, ""), of(401, &other)), (Some(Loss::Said), Some(Loss::Possible)));
        assert_eq!(Loss::of(StatusCode::UNAUTHORIZED, b"", true), None, "it is about the token");
        assert_eq!([of(400, &other), of(503, "busy"), of(500, said), of(403, said)], [None; 4]);
    }
}
