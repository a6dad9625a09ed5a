//! One request over HTTP, with an end: its answer, or why there is none.
//!
//! Owns the clients and every limit: time to connect, time in all; bytes; redirects (`harbor_web::redirect`). Must never
//! keep a cookie, or send anything but what the caller names. `harbor_web::public` resolves the names of redirect targets
//! and keeps private addresses out.

use std::io;
use std::time::Duration;

use harbor_web::body::{self, NoBody};
use harbor_web::client::{CONNECT_LIMIT, USER_AGENT};
use harbor_web::public::Public;
use harbor_web::{redirect as way, use_ring};
use reqwest::header::{ETAG, IF_NONE_MATCH, LOCATION, RETRY_AFTER};
use reqwest::redirect::Policy;
use reqwest::{Client, Response, StatusCode, Url};

use crate::time;

/// The most bytes of a body.
pub const MAX_BODY: usize = 16 * 1024 * 1024;

/// A failed request: the reason in a sentence, and true if another try may help.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoAnswer {
    /// The sentence; it names no URL.
    pub why: String,
    /// True if trying again may help.
    pub passing: bool,
    /// The server wants no request for this many milliseconds.
    pub retry_after: Option<u64>,
}

impl NoAnswer {
    /// A failure that would repeat itself.
    #[must_use]
    pub fn lasting(why: impl Into<String>) -> Self {
        Self { why: why.into(), passing: false, retry_after: None }
    }

    fn passing(why: impl Into<String>) -> Self {
        Self { passing: true, ..Self::lasting(why) }
    }
}

/// The caller's part of a request.
#[derive(Debug, Clone, Copy, Default)]
pub struct Ask<'a> {
    /// The answer that is known already.
    pub etag: Option<&'a str>,
    /// The kind of answer that is wanted.
    pub accept: &'a str,
}

/// An answer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Answer {
    /// None if the answer is unchanged (304).
    pub body: Option<Vec<u8>>,
    /// Its mark.
    pub etag: Option<String>,
    /// The server's clock.
    pub date: Option<u64>,
    /// `x-ratelimit-remaining`.
    pub remaining: Option<u64>,
    /// `x-ratelimit-reset`, as milliseconds from now.
    pub reset: Option<u64>,
}

/// The clients. Made for a job and dropped with it, since connections and certificates take memory.
#[derive(Debug)]
pub struct Net {
    /// The client for configured addresses.
    open: Client,
    /// The client for addresses that answers redirect to.
    public: Client,
    /// The names of those places.
    names: Public,
    limit: Duration,
}

impl Net {
    /// The clients, with this limit for a whole request.
    ///
    /// # Errors
    /// When TLS cannot be set up: the system has no certificates.
    pub fn new(limit: Duration) -> Result<Self, NoAnswer> {
        use_ring();
        let builder = || {
            Client::builder()
                .user_agent(USER_AGENT)
                .redirect(Policy::none())
                .connect_timeout(CONNECT_LIMIT)
                .pool_max_idle_per_host(2)
                .referer(false)
        };
        let failed =
            |error: reqwest::Error| NoAnswer::lasting(format!("TLS could not be set up: {}", cause(&error)));
        let open = builder().build().map_err(failed)?;
        let names = Public::from_env();
        let public = builder().dns_resolver(names.clone()).build().map_err(failed)?;
        Ok(Self { open, public, names, limit })
    }

    /// Asks for a URL.
    ///
    /// # Errors
    /// When there is no answer that can be used.
    pub async fn get(&self, url: &Url, ask: Ask<'_>, now: u64) -> Result<Answer, NoAnswer> {
        let late = || {
            NoAnswer::passing(format!("the answer was not complete within {} s", self.limit.as_secs_f32()))
        };
        tokio::time::timeout(self.limit, self.follow(url, ask, now)).await.unwrap_or_else(|_| Err(late()))
    }

    async fn follow(&self, configured: &Url, ask: Ask<'_>, now: u64) -> Result<Answer, NoAnswer> {
        let private = way::is_private_url(configured);
        let mut url = configured.clone();
        for redirects in 0..=way::MAX_REDIRECTS {
            let client = if redirects == 0 || private { &self.open } else { &self.public };
            let response = send(client, &url, ask).await?;
            if !is_redirect(response.status()) {
                return answer(response, now).await;
            }
            let location = header(&response, LOCATION.as_str()).unwrap_or_default();
            url = way::on(&url, location, private).map_err(NoAnswer::lasting)?;
            if !private && url.host() != configured.host() {
                self.names.judge(&url).await.map_err(NoAnswer::lasting)?;
            }
        }
        Err(NoAnswer::lasting(format!("the server redirects more than {} times", way::MAX_REDIRECTS)))
    }
}

fn is_redirect(status: StatusCode) -> bool {
    matches!(status.as_u16(), 301 | 302 | 303 | 307 | 308)
}

async fn send(client: &Client, url: &Url, ask: Ask<'_>) -> Result<Response, NoAnswer> {
    let mut request = client.get(url.clone()).header("accept", ask.accept);
    if let Some(etag) = ask.etag {
        request = request.header(IF_NONE_MATCH, etag);
    }
    request.send().await.map_err(|error| no_answer(&error))
}

async fn answer(mut response: Response, now: u64) -> Result<Answer, NoAnswer> {
    let number = |name| header(&response, name).and_then(|text| text.parse::<u64>().ok());
    let mut answer = Answer {
        body: None,
        etag: header(&response, ETAG.as_str()).filter(|etag| etag.len() <= 256).map(str::to_owned),
        date: header(&response, "date").and_then(time::from_http),
        remaining: number("x-ratelimit-remaining"),
        reset: number("x-ratelimit-reset").map(|at| at.saturating_mul(1000).saturating_sub(now)),
    };
    match response.status() {
        StatusCode::NOT_MODIFIED => return Ok(answer),
        status if status.is_success() => {}
        status => return Err(refused(status, &response, now)),
    }
    let body = body::read(&mut response, MAX_BODY).await.map_err(|no| match no {
        NoBody::TooLong => NoAnswer::lasting(format!("the answer is longer than {} MiB", MAX_BODY >> 20)),
        NoBody::Broken(error) => no_answer(&error),
    })?;
    answer.body = Some(body);
    Ok(answer)
}

fn refused(status: StatusCode, response: &Response, now: u64) -> NoAnswer {
    let asked = header(response, RETRY_AFTER.as_str()).and_then(|text| time::retry_after(text, now));
    // GitHub says so by the time at which it counts anew.
    let reset = || {
        let none_left = header(response, "x-ratelimit-remaining") == Some("0");
        let at = header(response, "x-ratelimit-reset").filter(|_| none_left)?.parse::<u64>().ok()?;
        Some(at.saturating_mul(1000).saturating_sub(now))
    };
    let limited = status == StatusCode::TOO_MANY_REQUESTS || status == StatusCode::FORBIDDEN;
    NoAnswer {
        why: format!("the server answered {}", status.as_u16()),
        passing: status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS,
        retry_after: asked.or_else(|| if limited { reset() } else { None }),
    }
}

fn header<'a>(response: &'a Response, name: &str) -> Option<&'a str> {
    response.headers().get(name)?.to_str().ok()
}

/// The advice about a certificate that no trusted authority has signed.
const NOT_TRUSTED: &str = "this system does not trust who signed its certificate; add that authority to the system's \
                           certificates, or set SSL_CERT_FILE and run `harbor shutdown`, so that the next bridge uses it";

/// The error in words, without the URL.
fn no_answer(error: &reqwest::Error) -> NoAnswer {
    let why = cause(error);
    let why = if ["UnknownIssuer", "BadSignature"].iter().any(|name| why.contains(name)) {
        format!("{why} ({NOT_TRUSTED})")
    } else {
        why
    };
    if error.is_timeout() {
        // Of connecting only: `get` holds the time in all.
        NoAnswer::passing("the server cannot be reached: it did not accept the connection in time")
    } else if error.is_connect() {
        NoAnswer::passing(format!("the server cannot be reached: {why}"))
    } else {
        NoAnswer::passing(format!("the answer broke off: {why}"))
    }
}

/// The innermost reason.
fn cause(error: &(dyn std::error::Error + 'static)) -> String {
    let mut inner = error;
    while let Some(source) = inner.source() {
        inner = source;
    }
    let text = match inner.downcast_ref::<io::Error>() {
        Some(error) => error.to_string(),
        None => inner.to_string(),
    };
    crate::text::clean(&text, 200)
}
