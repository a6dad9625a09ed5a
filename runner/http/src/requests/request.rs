//! One request of a script, hop by hop, until its answer is whole.
//!
//! Owns which redirects are followed and what a hop takes along, as the Fetch Standard and [`redirect::on`] say. Must never
//! keep more than [`MAX_BODY`] of an answer, nor take longer than the request allows.

use std::time::Duration;

use harbor_ipc_proto::link::fetch::{Answer, FromFetcher, MAX_BODY, Redirects, WebRequest};
use harbor_policy::remote::place;
use harbor_web::body::{self, NoBody, is_packed};
use harbor_web::redirect::{self, MAX_REDIRECTS, is_private_url};
use harbor_web::trouble::Trouble;
use reqwest::header::{HeaderMap, LOCATION};
use reqwest::{Body, Method, Request, Response, StatusCode};
use tokio::time::timeout;
use url::Url;

use super::egress::Egress;
use super::failure::FetchFailure;
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
pub(super) async fn answered(egress: &Egress, ask: WebRequest) -> Result<FromFetcher, FetchFailure> {
    let limit = Duration::from_millis(ask.limit_ms);
    let place = Url::parse(&ask.url).map(|url| place(&url)).unwrap_or_default();
    let answer = timeout(limit, follow(egress, ask)).await;
    answer.map_err(|_| FetchFailure::Slow(place, limit))?.map(FromFetcher::Answered)
}

async fn follow(egress: &Egress, ask: WebRequest) -> Result<Answer, FetchFailure> {
    let (id, redirects) = (ask.id, ask.redirects);
    let mut hop = Hop::first(ask)?;
    let is_private = is_private_url(&hop.url);
    for followed in 0..=MAX_REDIRECTS {
        let answer = egress.send(hop.request()).await?;
        match location(&answer) {
            Some(_) if redirects == Redirects::Error => {
                return Err(FetchFailure::Redirect("the server redirects, and `redirect` is \"error\""));
            }
            Some(to) if redirects == Redirects::Follow => {
                let next = redirect::on(&hop.url, &to, is_private).map_err(FetchFailure::Redirect)?;
                hop.go(answer.status(), next);
            }
            _ => return read(answer, id, &hop.url, followed > 0).await,
        }
    }
    Err(FetchFailure::Redirects)
}

impl Hop {
    fn first(ask: WebRequest) -> Result<Self, FetchFailure> {
        let wrong = |why| Err(FetchFailure::Request(why));
        let Ok(url) = Url::parse(&ask.url) else { return wrong("the URL is none") };
        if !matches!(url.scheme(), "http" | "https") || !url.has_host() {
            return wrong("fetch takes a URL that begins with https:// or http://");
        }
        if !url.username().is_empty() || url.password().is_some() {
            return wrong("the URL has a name or password in it; use the header Authorization");
        }
        let Ok(method) = Method::from_bytes(ask.method.as_bytes()) else {
            return wrong("the method is none");
        };
        if matches!(method, Method::CONNECT | Method::TRACE) {
            return wrong("the methods CONNECT and TRACE are not sent");
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

async fn read(mut answer: Response, id: u32, url: &Url, redirected: bool) -> Result<Answer, FetchFailure> {
    if is_packed(&answer) {
        return Err(FetchFailure::Packed(place(url)));
    }
    let body = body::read(&mut answer, MAX_BODY).await.map_err(|why| match why {
        NoBody::TooLong => FetchFailure::TooLong(place(url)),
        NoBody::Broken(error) => FetchFailure::Trouble(Trouble::from_request(&error, &place(url))),
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

    fn ask(method: &str, url: &str) -> WebRequest {
        WebRequest {
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
            ("CONNECT", "https://c.example/", "are not sent"),
            ("G T", "https://c.example/", "the method is none"),
        ] {
            let Err(why) = Hop::first(ask(method, url)) else { panic!("{url}") };
            assert!(why.to_string().contains(words), "{why}");
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
