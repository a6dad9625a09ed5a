//! One request of a script, hop by hop, until its answer is whole.
//!
//! Owns which redirects are followed and what a hop takes along, as the Fetch Standard and [`redirect::on`] say. Must never
//! keep more than [`MAX_BODY`] of an answer, nor take longer than the request allows.

use std::time::Duration;

use harbor_ipc_proto::link::fetch::{Answer, Ask, FromFetcher, MAX_BODY, Redirects};
use harbor_policy::remote::place;
use harbor_web::body::{self, NoBody, is_packed};
use harbor_web::redirect::{self, MAX_REDIRECTS, is_private_url};
use harbor_web::trouble::Trouble;
use reqwest::header::{HeaderMap, LOCATION};
use reqwest::{Body, Method, Request, Response, StatusCode};
use tokio::time::timeout;
use url::Url;

use super::egress::Egress;
use super::headers;

/// One hop.
struct Hop {
    method: Method,
    url: Url,
    headers: HeaderMap,
    body: Option<Vec<u8>>,
}

/// The answer to a request.
///
/// # Errors
/// A sentence for the script's author.
pub(super) async fn answered(egress: &Egress, ask: Ask) -> Result<FromFetcher, String> {
    let limit = Duration::from_millis(ask.limit_ms);
    let place = Url::parse(&ask.url).map(|url| place(&url)).unwrap_or_default();
    let answer = timeout(limit, follow(egress, ask)).await.map_err(|_| {
        let seconds = limit.as_secs_f64();
        format!("{place} did not answer whole within {seconds} s; `-- --fetch-time SECONDS` allows more")
    })?;
    answer.map(FromFetcher::Answered)
}

async fn follow(egress: &Egress, ask: Ask) -> Result<Answer, String> {
    let (id, redirects) = (ask.id, ask.redirects);
    let mut hop = Hop::first(ask)?;
    let is_private = is_private_url(&hop.url);
    for followed in 0..=MAX_REDIRECTS {
        let answer = egress.send(hop.request()).await?;
        match location(&answer) {
            Some(_) if redirects == Redirects::Error => {
                return Err("the server redirects, and `redirect` is \"error\"".into());
            }
            Some(to) if redirects == Redirects::Follow => {
                let next = redirect::on(&hop.url, &to, is_private)?;
                hop.go(answer.status(), next);
            }
            _ => return read(answer, id, &hop.url, followed > 0).await,
        }
    }
    Err(format!("the server redirects more than {MAX_REDIRECTS} times"))
}

impl Hop {
    fn first(ask: Ask) -> Result<Self, String> {
        let url = Url::parse(&ask.url).map_err(|_| "the URL is none".to_owned())?;
        if !matches!(url.scheme(), "http" | "https") || !url.has_host() {
            return Err("fetch takes a URL that begins with https:// or http://".into());
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err("the URL has a name or password in it; use the header Authorization".into());
        }
        let method =
            Method::from_bytes(ask.method.as_bytes()).map_err(|_| "the method is none".to_owned())?;
        if matches!(method, Method::CONNECT | Method::TRACE) {
            return Err(format!("the method {method} is not sent"));
        }
        Ok(Self { method, url, headers: headers::of_request(&ask.headers)?, body: ask.body })
    }

    fn request(&self) -> Request {
        let mut request = Request::new(self.method.clone(), self.url.clone());
        *request.headers_mut() = self.headers.clone();
        *request.body_mut() = self.body.clone().map(Body::from);
        request
    }

    /// Becomes the next one.
    fn go(&mut self, status: StatusCode, next: Url) {
        let is_post = self.method == Method::POST;
        let becomes_get = match status {
            StatusCode::SEE_OTHER => !matches!(self.method, Method::GET | Method::HEAD),
            StatusCode::MOVED_PERMANENTLY | StatusCode::FOUND => is_post,
            _ => false,
        };
        if becomes_get {
            self.method = Method::GET;
            self.body = None;
            headers::without_body(&mut self.headers);
        }
        if !redirect::is_same_place(&self.url, &next) {
            headers::at_another_place(&mut self.headers);
        }
        self.url = next;
    }
}

/// Where an answer sends on to.
fn location(answer: &Response) -> Option<String> {
    let sends = matches!(answer.status().as_u16(), 301 | 302 | 303 | 307 | 308);
    let to = answer.headers().get(LOCATION).filter(|_| sends)?;
    to.to_str().ok().map(str::to_owned)
}

async fn read(mut answer: Response, id: u32, url: &Url, redirected: bool) -> Result<Answer, String> {
    if is_packed(&answer) {
        return Err(format!("{} answered packed, though nobody asked for that", place(url)));
    }
    let body = body::read(&mut answer, MAX_BODY).await.map_err(|why| match why {
        NoBody::TooLong => {
            format!(
                "the answer of {} is longer than {} MiB; ask for a part of it",
                place(url),
                MAX_BODY >> 20
            )
        }
        NoBody::Broken(error) => Trouble::from_request(&error, &place(url)).why,
    })?;
    let mut shown = url.clone();
    shown.set_fragment(None);
    Ok(Answer {
        id,
        status: answer.status().as_u16(),
        status_text: answer.status().canonical_reason().unwrap_or_default().into(),
        url: shown.into(),
        redirected,
        headers: headers::of_answer(answer.headers()),
        body,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(method: &str, url: &str) -> Ask {
        Ask {
            id: 1,
            method: method.into(),
            url: url.into(),
            headers: vec![("content-type".into(), "a/b".into()), ("authorization".into(), "x".into())],
            body: Some(b"body".to_vec()),
            redirects: Redirects::Follow,
            limit_ms: 1000,
        }
    }

    #[test]
    fn what_is_no_request_is_told() {
        for (method, url, words) in [
            ("GET", "file:///etc/passwd", "begins with https://"),
            ("GET", "data:text/plain,x", "begins with https://"),
            ("GET", "no", "the URL is none"),
            ("GET", "https://a:b@c.example/", "Authorization"),
            ("CONNECT", "https://c.example/", "is not sent"),
            ("G T", "https://c.example/", "the method is none"),
        ] {
            let Err(why) = Hop::first(ask(method, url)) else { panic!("{url}") };
            assert!(why.contains(words), "{why}");
        }
    }

    #[test]
    fn a_redirect_takes_along_what_the_standard_says() {
        let after = |method: &str, status: u16, to: &str| {
            let mut hop = Hop::first(ask(method, "https://a.example/")).unwrap();
            hop.go(StatusCode::from_u16(status).unwrap(), Url::parse(to).unwrap());
            let has = |name: &str| hop.headers.contains_key(name);
            (hop.method.to_string(), hop.body.is_some(), has("content-type"), has("authorization"))
        };
        let (get, post, put) = ("GET".to_owned(), "POST".to_owned(), "PUT".to_owned());
        let same = "https://a.example/next";
        assert_eq!(after("POST", 302, same), (get.clone(), false, false, true));
        assert_eq!(after("POST", 307, same), (post, true, true, true));
        assert_eq!(after("PUT", 301, same), (put, true, true, true));
        assert_eq!(after("PUT", 303, "https://b.example/"), (get, false, false, false));
    }
}
