//! One request and what answers it.
//!
//! ```text
//!  POST ─► JSON ───────────────────────────────► answered
//!      ├─► events ─► … ─► the answer among them ─► answered
//!      │      └► broken off ─► an id is known: GET with it, a while ─► events
//!      │                    └► none: this request is lost; subscriptions/listen is posted again
//!      └─► an error of HTTP ─► the session is lost: `renewing`; JSON-RPC's in it, or one in words; during contact it may be the end
//! ```
//!
//! Owns how long one request is tried. Whether a request is answered is the session's to say.

use std::rc::Rc;
use std::time::Duration;

use harbor_ipc_proto::json::Json;
use harbor_ipc_proto::link::runner::RemoteEnd;
use harbor_runner::mcp::contact::LEGACY;
use reqwest::Response;
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::time::{sleep, timeout};

use crate::connection::Connection;
use crate::held::{FULL, Share};
use crate::kind::{Body, body_of};
use crate::outgoing::Outgoing;
use crate::pause::Pause;
use crate::refusal::asks_for_token;
use crate::renewing::{Loss, MAX_ERROR};
use harbor_web::sse::Parser;
use harbor_web::trouble::{Trouble, of_status, wait_of};

/// How long an error's body is read.
const ERROR_LIMIT: Duration = Duration::from_secs(10);

/// Copies of a request while it is sent: the request itself, the copy for redirects, and the library's.
pub const COPIES: usize = 3;

/// The end of a stream of events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stream {
    /// The request was answered, or will not be.
    Answered,
    /// The server ended it, or the connection broke; whether anything had come.
    Over { heard: bool },
    /// A message is too long.
    TooLong,
}

impl Connection {
    /// Asks the server, until the request is answered or lost.
    pub async fn exchange(self: Rc<Self>, out: Outgoing, id: u64, line: Vec<u8>) {
        let listens = out.is("subscriptions/listen");
        let mut pause = Pause::default();
        let mut share = self.held.share();
        if share.take(COPIES * line.len()).is_err() {
            self.wire.lost(id, FULL);
            return self.forget(id);
        }
        loop {
            let asked = self.ask_once(&out, id, &line, false).await;
            // Answered, or nobody waits any more.
            if !self.wire.is_open(id) || self.goes_by_events() && asked.is_ok() {
                break;
            }
            let trouble = match asked {
                Ok(heard) => {
                    if heard {
                        pause = Pause::default();
                    }
                    Trouble::broken(
                        "the connection broke before the answer came; the server may have done it",
                    )
                }
                Err(trouble) => trouble,
            };
            match pause.next(None).filter(|_| listens && trouble.kind == RemoteEnd::Unreachable) {
                Some(pause) => sleep(pause).await,
                None => {
                    self.fail(id, trouble);
                    break;
                }
            }
            self.missed();
        }
        self.forget(id);
    }

    fn fail(&self, id: u64, trouble: Trouble) {
        match (trouble.broken, trouble.kind) {
            (true, RemoteEnd::NeedsAuthorization) => self.wire.forbidden(id, &trouble.why),
            (true, _) => self.wire.lost(id, &trouble.why),
            (false, _) => self.end(trouble.end()),
        }
    }

    /// Nobody told what changed while no stream stood.
    pub fn missed(&self) {
        for list in ["tools", "resources", "prompts"] {
            let changed = format!("{{\"jsonrpc\":\"2.0\",\"method\":\"notifications/{list}/list_changed\"}}");
            self.deliver_one(changed.as_bytes());
        }
    }

    /// Tries once. True if anything was heard before the answer ended.
    async fn ask_once(
        self: &Rc<Self>,
        out: &Outgoing,
        id: u64,
        line: &[u8],
        again: bool,
    ) -> Result<bool, Trouble> {
        let session = self.session().filter(|_| !out.is("initialize"));
        let answer = self.post(out, line).await?;
        self.wire.heard();
        let status = answer.status();
        if !status.is_success() {
            return self.refused((out, id, line), answer, (session, again)).await;
        }
        if self.goes_by_events() {
            // The answer comes among the events.
            return Ok(true);
        }
        if out.is("initialize") {
            self.keep_session(answer.headers());
        }
        match body_of(&answer) {
            Body::Json => self.take_json(id, answer).await,
            Body::Events => self.take_events(id, answer, out.revision.is_none()).await,
            Body::Nothing => Err(self.no_mcp(&format!(
                "its answer is empty (HTTP {}); is it the URL of an MCP server?",
                status.as_u16()
            ))),
            Body::Other(kind) => Err(self.no_mcp(&format!(
                "it answers with {kind}, as a web page does; is it the URL of an MCP server?"
            ))),
        }
    }

    /// The trouble with an answer that is no MCP. During contact the URL is wrong; later only this request is lost.
    fn no_mcp(&self, why: &str) -> Trouble {
        match self.wire.is_contacting() {
            true => Trouble::of(RemoteEnd::NoMcp, format!("{}: {why}", self.http.place())),
            false => Trouble::broken(why),
        }
    }

    async fn take_json(&self, id: u64, mut answer: Response) -> Result<bool, Trouble> {
        let Some((body, _share)) = self.read(&mut answer, self.wire.max_message()).await? else {
            self.wire.overlong(id);
            return Ok(true);
        };
        self.wire.room().await;
        self.deliver(&body).map_err(Trouble::broken)?;
        match self.wire.is_open(id) {
            true => Err(Trouble::broken("the server answered a different request")),
            false => Ok(true),
        }
    }

    /// The body, and its share of the memory. None if the body is too long.
    pub async fn read(
        &self,
        answer: &mut Response,
        limit: usize,
    ) -> Result<Option<(Vec<u8>, Share)>, Trouble> {
        let place = self.http.place();
        if answer.content_length().is_some_and(|length| length > limit as u64) {
            return Ok(None);
        }
        let (mut body, mut share) = (Vec::new(), self.held.share());
        while let Some(piece) = answer.chunk().await.map_err(|error| Trouble::from_request(&error, &place))? {
            if body.len() + piece.len() > limit {
                return Ok(None);
            }
            self.wire.heard();
            share.take(body.len() + piece.len()).map_err(|_| Trouble::broken(FULL))?;
            body.extend_from_slice(&piece);
        }
        Ok(Some((body, share)))
    }

    async fn take_events(&self, id: u64, answer: Response, resumes: bool) -> Result<bool, Trouble> {
        let mut parser = Parser::new(self.wire.max_message());
        let mut stream = self.events(answer, &mut parser, Some(id)).await;
        let mut heard_ever = false;
        let mut pause = Pause::default();
        loop {
            match stream {
                Stream::Answered => return Ok(true),
                Stream::TooLong => {
                    self.wire.overlong(id);
                    return Ok(true);
                }
                Stream::Over { heard } => {
                    heard_ever |= heard;
                    if heard {
                        pause = Pause::default();
                    }
                }
            }
            let last = parser.last_id().map(str::to_owned).filter(|_| resumes);
            let (Some(last), Some(wait)) = (last, pause.next(parser.retry())) else { return Ok(heard_ever) };
            sleep(wait).await;
            parser.begin_again();
            stream = match self.open_stream(Some(&last)).await {
                Ok(answer) if answer.status().is_success() && matches!(body_of(&answer), Body::Events) => {
                    self.events(answer, &mut parser, Some(id)).await
                }
                // It does not take streams up again.
                Ok(_) => return Ok(heard_ever),
                Err(_) => Stream::Over { heard: false },
            };
        }
    }

    /// Hands on the events of a stream, to its end or to the answer of `id`.
    pub async fn events(&self, mut answer: Response, parser: &mut Parser, id: Option<u64>) -> Stream {
        let (mut heard, mut wrong, mut share) = (false, None, self.held.share());
        loop {
            // Not faster than the bridge takes it.
            self.wire.room().await;
            let Ok(Some(bytes)) = answer.chunk().await else { return Stream::Over { heard } };
            self.wire.heard();
            let fed = parser.feed(&bytes, |event| {
                heard = true;
                if matches!(event.name, "" | "message") {
                    wrong = wrong.or(self.deliver(event.data).err());
                }
            });
            wrong = wrong.or(share.take(parser.held()).err().map(|_| FULL));
            if let Some(wrong) = wrong {
                match id {
                    Some(id) => self.wire.lost(id, wrong),
                    None => self.wire.remark(wrong),
                }
                return Stream::Answered;
            }
            if id.is_some_and(|id| !self.wire.is_open(id)) {
                return Stream::Answered;
            }
            if fed.is_err() {
                return Stream::TooLong;
            }
        }
    }

    /// The body of an error answer, as far as it comes.
    pub async fn error_body(&self, answer: &mut Response) -> Vec<u8> {
        let body = timeout(ERROR_LIMIT, self.read(answer, MAX_ERROR)).await;
        body.ok().and_then(Result::ok).flatten().map(|(body, _)| body).unwrap_or_default()
    }

    /// Deals with an error of HTTP.
    async fn refused(
        self: &Rc<Self>,
        (out, id, line): (&Outgoing, u64, &[u8]),
        mut answer: Response,
        (session, again): (Option<u64>, bool),
    ) -> Result<bool, Trouble> {
        let status = answer.status();
        let (code, place) = (status.as_u16(), self.http.place());
        let contacting = self.wire.is_contacting();
        let body = self.error_body(&mut answer).await;
        let loss = Loss::of(status, &body, asks_for_token(&answer)).filter(|_| session.is_some() && !again);
        if let Some(loss) = loss {
            self.renew(session).await?;
            return match loss {
                Loss::Said => Box::pin(self.ask_once(out, id, line, true)).await,
                Loss::Possible => Err(Trouble::broken(of_status(status, None, &place))),
            };
        }
        if let Some(trouble) = self.refusal(&answer) {
            return Err(trouble);
        }
        let knows_no_post = matches!(code, 400 | 404 | 405) && out.is("initialize");
        let error = error_in(&body, id).or_else(|| named_revisions(&body, id).filter(|_| knows_no_post));
        if knows_no_post && error.is_none() && self.may_go_by_events() {
            self.go_by_events();
            return Box::pin(self.ask_once(out, id, line, again)).await;
        }
        if let Some(error) = error {
            self.deliver_one(error.as_bytes());
            return Ok(true);
        }
        let why = of_status(status, wait_of(answer.headers()), &place);
        if contacting && matches!(code, 429 | 502..=504) || out.is("initialize") && status.is_server_error() {
            return Err(Trouble::of(RemoteEnd::Unreachable, why));
        }
        if contacting && out.is("initialize") {
            return Err(self.no_mcp(&format!("it answers HTTP {code}; is it the URL of an MCP server?")));
        }
        Err(Trouble::broken(why))
    }
}

/// The JSON-RPC error in a body, as the answer to `id`. An error about an unread request carries no id.
fn error_in(body: &[u8], id: u64) -> Option<String> {
    #[derive(Deserialize)]
    struct RawErrorMessage<'a> {
        #[serde(borrow)]
        error: &'a RawValue,
    }
    #[derive(Deserialize)]
    struct Number {
        #[serde(rename = "code")]
        _code: i64,
    }
    let message: RawErrorMessage<'_> = serde_json::from_slice(body).ok()?;
    let error = message.error.get();
    serde_json::from_str::<Number>(error).ok()?;
    Some(format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"error\":{error}}}"))
}

/// A refusal of a revision in words that name others, as the answer to `id`.
fn named_revisions(body: &[u8], id: u64) -> Option<String> {
    let text: String = str::from_utf8(body).ok()?.chars().take(500).collect();
    let names_one = LEGACY.iter().any(|revision| text.contains(revision));
    let said = Json::string(&text);
    names_one.then(|| {
        format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"error\":{{\"code\":-32000,\"message\":{}}}}}",
            said.as_str()
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_the_answer_to_what_was_asked() {
        let of = |body: &str| error_in(body.as_bytes(), 7);
        let wanted = r#"{"jsonrpc":"2.0","id":7,"error":{"code":-32000,"message":"m"}}"#;
        assert_eq!(
            of(r#"{"jsonrpc":"2.0","error":{"code":-32000,"message":"m"},"id":null}"#),
            Some(wanted.into())
        );
        for body in ["", "<html>", r#"{"error":"invalid_token"}"#, r#"{"error":{}}"#, r#"{"result":{}}"#] {
            assert_eq!(of(body), None, "{body}");
        }
    }
}
