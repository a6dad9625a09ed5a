//! Checks who may come in: a request's head says where the request comes from.
//!
//! ```text
//!  Host: this machine, our port? ─► Origin: none, or allowed? ─► a token? ─► not this Harbor itself? ─► the client's name
//!        no: 403                          no: 403                no: 401          it is: 508
//! ```
//!
//! Owns these checks; pure. The first two stand against web pages: one that has its name resolve to this machine still
//! shows its own name as host and origin.

use std::net::SocketAddr;

use harbor_ipc_proto::via;
use hyper::StatusCode;
use hyper::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HOST, HeaderMap, HeaderName, ORIGIN};
use hyper::http::request::Parts;

use super::reply::Refusal;

/// The port of `http` where none is said.
const HTTP_PORT: u16 = 80;

/// Refuses a request that was made for another host.
pub fn check_host(head: &Parts, local: SocketAddr) -> Result<(), Refusal> {
    let host = one(&head.headers, &HOST).filter(|host| is_ours(host, local));
    let target = head.uri.authority().is_none_or(|target| is_ours(target.as_str(), local));
    match host {
        Some(_) if target => Ok(()),
        _ => Err(Refusal::new(StatusCode::FORBIDDEN, "the Host header must name this machine and this port")),
    }
}

fn is_ours(host: &str, local: SocketAddr) -> bool {
    // An IPv6 address has colons of its own, and brackets around them.
    let (name, port) = match host.rsplit_once(':') {
        Some((name, port)) if !port.ends_with(']') => (name, port.parse().ok()),
        _ => (host, Some(HTTP_PORT)),
    };
    let known = ["localhost", "127.0.0.1", "[::1]"].iter().any(|known| name.eq_ignore_ascii_case(known));
    port == Some(local.port()) && (known || name == local.ip().to_string())
}

/// The web page that a request comes from, if any; refuses all that are not allowed.
pub fn check_origin(headers: &HeaderMap, allowed: &[String]) -> Result<Option<String>, Refusal> {
    if !headers.contains_key(ORIGIN) {
        return Ok(None);
    }
    let origin = one(headers, &ORIGIN).filter(|origin| allowed.iter().any(|allowed| allowed == origin));
    let refuse =
        || Refusal::new(StatusCode::FORBIDDEN, "this origin is not allowed; --allow-origin allows one");
    origin.map(|origin| Some(origin.to_owned())).ok_or_else(refuse)
}

/// The token behind `Authorization: Bearer`.
pub fn bearer(headers: &HeaderMap) -> Option<&str> {
    let (scheme, token) = one(headers, &AUTHORIZATION)?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

/// Refuses a runner of the Harbor that is served here. `own` returns that Harbor's identity.
pub fn check_other(headers: &HeaderMap, own: impl FnOnce() -> String) -> Result<(), Refusal> {
    match one(headers, &HeaderName::from_static(via::HEADER)) {
        Some(said) if said == own() => Err(Refusal::new(
            StatusCode::LOOP_DETECTED,
            "Harbor cannot be its own server: each of its lists would contain its tools once more",
        )),
        _ => Ok(()),
    }
}

/// Refuses a body that is not said to be JSON.
pub fn check_content_type(headers: &HeaderMap) -> Result<(), Refusal> {
    let said = one(headers, &CONTENT_TYPE).map(media_type);
    match said.is_some_and(|said| said.eq_ignore_ascii_case("application/json")) {
        true => Ok(()),
        false => {
            Err(Refusal::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "Content-Type must be application/json"))
        }
    }
}

/// Refuses a client that does not take all of these.
pub fn check_accept(headers: &HeaderMap, wanted: &[&str]) -> Result<(), Refusal> {
    let said: Vec<_> = headers.get_all(ACCEPT).iter().filter_map(|said| said.to_str().ok()).collect();
    let takes = |wanted: &&str| {
        let range = wanted.split_once('/').map_or("*/*".into(), |(kind, _)| format!("{kind}/*"));
        let mut ranges = said.iter().flat_map(|said| said.split(',')).map(media_type);
        ranges.any(|said| said == "*/*" || said == range || said.eq_ignore_ascii_case(wanted))
    };
    match wanted.iter().all(takes) {
        true => Ok(()),
        false => {
            let text = format!("Accept must list {}", wanted.join(" and "));
            Err(Refusal::new(StatusCode::NOT_ACCEPTABLE, &text))
        }
    }
}

fn media_type(text: &str) -> &str {
    text.split(';').next().unwrap_or_default().trim()
}

/// A header's text, if the header occurs exactly once.
pub fn one<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?.to_str().ok()?;
    values.next().is_none().then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyper::Request;

    fn head(headers: &[(&str, &str)]) -> Parts {
        let request =
            headers.iter().fold(Request::builder(), |request, (name, value)| request.header(*name, *value));
        request.body(()).unwrap().into_parts().0
    }

    #[test]
    fn only_this_machines_own_names_with_our_port_are_hosts() {
        let local: SocketAddr = "127.0.0.1:8765".parse().unwrap();
        for host in ["localhost:8765", "LocalHost:8765", "127.0.0.1:8765", "[::1]:8765"] {
            assert!(check_host(&head(&[("host", host)]), local).is_ok(), "{host}");
        }
        for host in [
            "",
            ":8765",
            "localhost",
            "localhost:80",
            "localhost:",
            "evil.example:8765",
            "localhost.evil.example:8765",
            "127.0.0.1.evil.example:8765",
            "127.0.0.1:8765.evil",
            "[::1]",
            "::1:8765",
            "localhost:8765:8765",
            "user@localhost:8765",
        ] {
            assert!(check_host(&head(&[("host", host)]), local).is_err(), "{host}");
        }
        assert!(check_host(&head(&[]), local).is_err());
        let twice = [("host", "localhost:8765"), ("host", "localhost:8765")];
        assert!(check_host(&head(&twice), local).is_err());
        let absolute =
            Request::builder().uri("http://evil.example:8765/mcp").header("host", "localhost:8765");
        assert!(check_host(&absolute.body(()).unwrap().into_parts().0, local).is_err());
        assert!(check_host(&head(&[("host", "localhost")]), "127.0.0.1:80".parse().unwrap()).is_ok());
    }

    #[test]
    fn an_origin_has_to_be_one_of_those_that_are_allowed() {
        let allowed = ["https://a.example".to_owned()];
        let checked = |origin| check_origin(&head(&[("origin", origin)]).headers, &allowed);
        assert_eq!(check_origin(&head(&[]).headers, &[]), Ok(None));
        assert_eq!(checked("https://a.example"), Ok(Some(allowed[0].clone())));
        for origin in ["null", "", "http://a.example", "https://a.example.evil", "http://localhost:8765"] {
            assert!(checked(origin).is_err(), "{origin}");
        }
    }

    #[test]
    fn what_a_client_takes_and_sends_is_read_from_its_headers() {
        let both = ["application/json", "text/event-stream"];
        for (accept, fits) in [
            ("application/json, text/event-stream", true),
            ("text/event-stream;q=0.5,application/json; charset=utf-8", true),
            ("*/*", true),
            ("application/*, text/*", true),
            ("application/json", false),
            ("text/event-stream", false),
            ("", false),
        ] {
            assert_eq!(check_accept(&head(&[("accept", accept)]).headers, &both).is_ok(), fits, "{accept}");
        }
        for (kind, fits) in
            [("application/json", true), ("Application/JSON; charset=utf-8", true), ("text/plain", false)]
        {
            assert_eq!(check_content_type(&head(&[("content-type", kind)]).headers).is_ok(), fits, "{kind}");
        }
        for (said, token) in
            [("Bearer x", Some("x")), ("bearer  x", Some("x")), ("Basic x", None), ("Bearer", None)]
        {
            assert_eq!(bearer(&head(&[("authorization", said)]).headers), token, "{said}");
        }
    }
}
