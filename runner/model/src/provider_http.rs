//! HTTP to one provider.
//!
//! Owns the clients, which keep connections warm between requests, and where a key goes. Refuses an answer that is a
//! redirect or packed. Must never send a key to another place than its base URL, or follow an answer anywhere.

use std::cell::RefCell;
use std::collections::HashMap;
use std::time::SystemTime;

use harbor_ipc_proto::link::model::{Cause, Failure, Target};
use harbor_ipc_proto::model::Dialect;
use harbor_ipc_proto::secret::Secret;
use harbor_policy::remote::{AllowedAddresses, place};
use harbor_web::address::Rules;
use harbor_web::body::{self, NoBody, is_packed};
use harbor_web::client::direct;
use harbor_web::trouble::Trouble;
use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, Response};
use url::Url;

use crate::errors;
use crate::failure::{failed, unanswered};
use crate::places;

/// Clients that are kept.
const KEPT: usize = 8;

/// Bytes that are read of an answer that is an error.
const MAX_ERROR: usize = 64 * 1024;

/// The version of its API that Anthropic wants named.
const ANTHROPIC_VERSION: (&str, &str) = ("anthropic-version", "2023-06-01");

/// Clients by scheme, host, port and reach. They hold connections, and no key.
#[derive(Debug, Default)]
pub struct Clients {
    kept: RefCell<HashMap<(String, bool), Client>>,
}

/// The way to one provider.
#[derive(Debug)]
pub struct Way {
    client: Client,
    /// Where it is.
    pub base: Url,
    dialect: Dialect,
    /// The headers that each request has; the key is in them.
    own: HeaderMap,
    key: Option<Secret>,
}

/// An error that a provider answered with, and its headers.
#[derive(Debug)]
pub struct Refusal {
    /// The failure that the error means.
    pub failure: Failure,
    /// Which field of the request it is about, in the provider's words.
    pub about: String,
    /// True if the provider says to try again, false if it says not to; none where it does not say.
    pub says_retry: Option<bool>,
}

impl From<Failure> for Refusal {
    fn from(failure: Failure) -> Self {
        Self { failure, about: String::new(), says_retry: None }
    }
}

impl Clients {
    /// The way to a provider.
    ///
    /// # Errors
    /// When its URL is none, or may not be connected to.
    pub fn way(&self, target: &Target) -> Result<Way, Failure> {
        let base = places::base(target)?;
        let client = self.client(&base, target.allow_private)?;
        let own = headers(target.dialect, target.key.as_ref())?;
        Ok(Way { client, base, dialect: target.dialect, own, key: target.key.clone() })
    }

    fn client(&self, base: &Url, allow_private: bool) -> Result<Client, Failure> {
        let known = (base.origin().ascii_serialization(), allow_private);
        let mut kept = self.kept.borrow_mut();
        if let Some(client) = kept.get(&known) {
            return Ok(client.clone());
        }
        let unusable = |trouble: Trouble| unanswered(trouble, &place(base));
        let rules = Rules::within(base, AllowedAddresses::of(base, allow_private), allow_private)
            .map_err(unusable)?;
        let client = direct(rules, base).map_err(unusable)?;
        if kept.len() >= KEPT {
            kept.clear();
        }
        kept.insert(known, client.clone());
        Ok(client)
    }
}

fn headers(dialect: Dialect, key: Option<&Secret>) -> Result<HeaderMap, Failure> {
    let mut headers = HeaderMap::new();
    if dialect == Dialect::Anthropic {
        let (name, value) = ANTHROPIC_VERSION;
        headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
    if let Some(key) = key.filter(|key| !key.is_empty()) {
        let (name, value) = match dialect {
            Dialect::Anthropic => (HeaderName::from_static("x-api-key"), key.clone()),
            // Not in the address, which ends up in logs.
            Dialect::Gemini => (HeaderName::from_static("x-goog-api-key"), key.clone()),
            Dialect::Chat | Dialect::Responses | Dialect::Ollama => {
                (AUTHORIZATION, Secret::new(format!("Bearer {}", key.expose())))
            }
        };
        let mut value = HeaderValue::from_str(value.expose())
            .map_err(|_| failed(Cause::Unauthorized, "the key is not a single line of plain text"))?;
        value.set_sensitive(true);
        headers.insert(name, value);
    }
    Ok(headers)
}

impl Way {
    /// Host and port, for texts.
    pub fn place(&self) -> String {
        place(&self.base)
    }

    /// The URL of what the dialect calls `path`.
    pub fn endpoint(&self, path: &str) -> Url {
        places::endpoint(&self.base, self.dialect, path)
    }

    /// Posts JSON; gives the head of a good answer.
    ///
    /// # Errors
    /// Why there is none.
    pub async fn post(&self, url: Url, body: Vec<u8>, accept: &'static str) -> Result<Response, Refusal> {
        self.post_as(url, "application/json", body, accept).await
    }

    /// Posts a body of this type; gives the head of a good answer.
    ///
    /// # Errors
    /// Why there is none.
    pub async fn post_as(
        &self,
        url: Url,
        kind: &str,
        body: Vec<u8>,
        accept: &'static str,
    ) -> Result<Response, Refusal> {
        let request = self.client.post(url).header(CONTENT_TYPE, kind).body(body);
        self.send(request.header(ACCEPT, accept)).await
    }

    /// Fetches JSON of at most `limit` bytes.
    ///
    /// # Errors
    /// Why there is none.
    pub async fn get(&self, url: Url, limit: usize) -> Result<Vec<u8>, Failure> {
        let request = self.client.get(url).header(ACCEPT, "application/json");
        let mut answer = self.send(request).await.map_err(|refusal| refusal.failure)?;
        self.read(&mut answer, limit).await
    }

    /// The whole body of a good answer.
    ///
    /// # Errors
    /// When it is too long or does not come whole.
    pub async fn read(&self, answer: &mut Response, limit: usize) -> Result<Vec<u8>, Failure> {
        body::read(answer, limit).await.map_err(|no| match no {
            NoBody::TooLong => failed(Cause::Protocol, format!("the answer of {} is too long", self.place())),
            NoBody::Broken(_) => self.cut(),
        })
    }

    /// The failure of an answer that broke off.
    pub fn cut(&self) -> Failure {
        failed(Cause::Cut, format!("the answer of {} broke off", self.place()))
    }

    /// A provider's text as it may be shown.
    pub fn words(&self, text: &str) -> String {
        crate::failure::words(text, self.key.as_ref())
    }

    async fn send(&self, request: reqwest::RequestBuilder) -> Result<Response, Refusal> {
        let place = self.place();
        let sent = request.headers(self.own.clone()).send().await;
        let answer = sent.map_err(|error| unanswered(Trouble::from_request(&error, &place), &place))?;
        let status = answer.status();
        if is_packed(&answer) {
            let why = format!("{place} answers in an encoding that Harbor did not ask for");
            return Err(Failure { status: Some(status.as_u16()), ..failed(Cause::Protocol, why) }.into());
        }
        if status.is_redirection() {
            let why = format!(
                "{place} redirects to another address, and Harbor does not send the key there: is the base URL right?"
            );
            return Err(Failure { status: Some(status.as_u16()), ..failed(Cause::Refused, why) }.into());
        }
        if status.is_success() { Ok(answer) } else { Err(self.refusal(answer).await) }
    }

    async fn refusal(&self, mut answer: Response) -> Refusal {
        let says_retry = crate::retry::says(answer.headers());
        let asked = crate::retry::asked(answer.headers(), SystemTime::now());
        let status = answer.status().as_u16();
        let body = body::read(&mut answer, MAX_ERROR).await.unwrap_or_default();
        let said = errors::read(&body).unwrap_or_default();
        let message = match said.message.is_empty() {
            true => format!("{} answered HTTP {status}", self.place()),
            false => self.words(&said.message),
        };
        let cause = errors::cause(Some(status), &said);
        let retry_after_ms = asked.or(said.retry_after_ms);
        let failure = Failure { cause, status: Some(status), retry_after_ms, message };
        Refusal { failure, about: said.about, says_retry }
    }
}
