//! The head of a request for metrics: its end, and the decision whether it gets them.
//!
//! ```text
//!  method, path, Host, Origin, Accept ─► Page: the metrics in one of two grammars, or a line about them
//!                                   └──► Refusal: a status and a sentence
//! ```
//!
//! Owns the decision. Must never do I/O. A web page can have a browser send requests here under a name of its own (DNS
//! rebinding). That name is then in `Host`, so only this machine's own names are accepted.

use std::net::{Ipv4Addr, Ipv6Addr};

use httparse::{EMPTY_HEADER, Error, Header, Request, Status};

use crate::host::Dialect;

/// The longest head, in bytes.
pub const MAX_HEAD: usize = 8 * 1024;

/// The most headers of a request.
const MAX_HEADERS: usize = 64;

/// The media type of OpenMetrics.
const OPENMETRICS: &str = "application/openmetrics-text";

/// The page for a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MetricsPage {
    /// The metrics.
    Metrics(Dialect),
    /// A line that says where the metrics are.
    Index,
}

/// A refusal in place of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Refusal {
    /// The status: number and words.
    pub status: &'static str,
    /// A sentence.
    pub why: &'static str,
}

/// A head that is too long, or has too many lines.
pub const TOO_LARGE: Refusal =
    Refusal { status: "431 Request Header Fields Too Large", why: "the head of this request is too large" };

/// A head that does not come in time.
pub const TOO_SLOW: Refusal =
    Refusal { status: "408 Request Timeout", why: "the request did not arrive in time" };

const MALFORMED: Refusal = refusal("400 Bad Request", "this is not an HTTP/1.1 request with one Host header");
const WRONG_HOST: Refusal =
    refusal("403 Forbidden", "metrics are served to this machine only: use localhost, 127.0.0.1 or [::1]");
const OF_A_PAGE: Refusal = refusal("403 Forbidden", "metrics are not for web pages");
const WRONG_METHOD: Refusal = refusal("405 Method Not Allowed", "use GET");
const NOT_FOUND: Refusal = refusal("404 Not Found", "use the path /metrics");

const fn refusal(status: &'static str, why: &'static str) -> Refusal {
    Refusal { status, why }
}

/// The end of the head with which these bytes begin.
#[must_use]
pub fn end(bytes: &[u8]) -> Option<usize> {
    const END: &[u8] = b"\r\n\r\n";
    bytes.windows(END.len()).position(|window| window == END).map(|at| at + END.len())
}

/// Judges a head, from its first byte to its [`end`], that came to this port.
///
/// # Errors
/// The refusal for the client.
pub fn judge(head: &[u8], port: u16) -> Result<MetricsPage, Refusal> {
    let mut headers = [EMPTY_HEADER; MAX_HEADERS];
    let mut request = Request::new(&mut headers);
    match request.parse(head) {
        // Another program might find the ends of its lines elsewhere.
        Ok(Status::Complete(length)) if length == head.len() => {}
        Err(Error::TooManyHeaders) => return Err(TOO_LARGE),
        Ok(_) | Err(_) => return Err(MALFORMED),
    }
    let (Some(method), Some(path)) = (request.method, request.path) else { return Err(MALFORMED) };
    let headers = &*request.headers;
    let mut hosts = values(headers, "host");
    match (hosts.next(), hosts.next()) {
        (Some(host), None) if is_here(host, port) => {}
        (Some(_), None) => return Err(WRONG_HOST),
        _ => return Err(MALFORMED),
    }
    if is_of_a_page(headers) {
        return Err(OF_A_PAGE);
    }
    match (method, path.split_once('?').map_or(path, |(path, _)| path)) {
        ("GET", "/metrics") => Ok(MetricsPage::Metrics(wanted(headers))),
        ("GET", "/") => Ok(MetricsPage::Index),
        ("GET", _) => Err(NOT_FOUND),
        _ => Err(WRONG_METHOD),
    }
}

fn values<'h>(headers: &'h [Header<'_>], name: &'static str) -> impl Iterator<Item = &'h str> {
    let named = headers.iter().filter(move |header| header.name.eq_ignore_ascii_case(name));
    // A value that is no text matches nothing.
    named.map(|header| std::str::from_utf8(header.value).map_or("\u{fffd}", str::trim))
}

/// True if `Host` names this machine by its own names, and this port.
fn is_here(host: &str, port: u16) -> bool {
    let (name, said) = match host.rsplit_once(':') {
        Some((name, said)) if !said.ends_with(']') => (name, said),
        _ => (host, "80"),
    };
    let is_loopback = name.eq_ignore_ascii_case("localhost")
        || name.parse::<Ipv4Addr>().is_ok_and(|address| address.is_loopback())
        || name.strip_prefix('[').and_then(|name| name.strip_suffix(']')?.parse::<Ipv6Addr>().ok())
            == Some(Ipv6Addr::LOCALHOST);
    is_loopback && said == port.to_string()
}

/// True if a page sent the request. Browsers say so: by `Origin` for scripts, by `Sec-Fetch-Site` for everything else
/// that a page fetches.
fn is_of_a_page(headers: &[Header<'_>]) -> bool {
    values(headers, "origin").next().is_some()
        || values(headers, "sec-fetch-site").any(|site| !["none", "same-origin"].contains(&site))
}

/// The dialect of the answer: OpenMetrics, if the client takes it.
fn wanted(headers: &[Header<'_>]) -> Dialect {
    let takes = |range: &str| {
        let mut parts = range.split(';').map(str::trim);
        let is_it = parts.next().is_some_and(|kind| kind.eq_ignore_ascii_case(OPENMETRICS));
        is_it
            && parts.filter_map(|part| part.split_once('=')).all(|(name, value)| match name.trim() {
                "version" => value.trim().trim_matches('"') == "1.0.0",
                "q" => value.trim().parse::<f32>().is_ok_and(|q| q > 0.0),
                _ => true,
            })
    };
    let is_taken = values(headers, "accept").flat_map(|accept| accept.split(',')).any(takes);
    if is_taken { Dialect::OpenMetrics } else { Dialect::Prometheus }
}

/// The media type of the answer's body.
#[must_use]
pub fn content_type(page: MetricsPage) -> &'static str {
    match page {
        MetricsPage::Metrics(Dialect::OpenMetrics) => {
            "application/openmetrics-text; version=1.0.0; charset=utf-8"
        }
        MetricsPage::Metrics(Dialect::Prometheus) => "text/plain; version=0.0.4; charset=utf-8",
        MetricsPage::Index => "text/plain; charset=utf-8",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PORT: u16 = 9464;

    fn judged(start: &str, headers: &[&str]) -> Result<MetricsPage, Refusal> {
        let head = format!("{start} HTTP/1.1\r\n{}\r\n\r\n", headers.join("\r\n"));
        assert_eq!(end(head.as_bytes()), Some(head.len()));
        judge(head.as_bytes(), PORT)
    }

    const HERE: &str = "Host: 127.0.0.1:9464";
    const PLAIN: MetricsPage = MetricsPage::Metrics(Dialect::Prometheus);

    #[test]
    fn only_this_machines_own_names_with_the_port_are_taken() {
        for host in ["127.0.0.1:9464", "localhost:9464", "LOCALHOST:9464", "[::1]:9464", "127.9.9.9:9464"] {
            assert_eq!(judged("GET /metrics", &[&format!("hOST:  {host} ")]), Ok(PLAIN), "{host}");
        }
        for host in [
            "evil.example:9464",
            "127.0.0.1.evil.example:9464",
            "localhost.evil.example:9464",
            "127.0.0.1",
            "localhost:80",
            "localhost:09464",
            "localhost:+9464",
            "localhost:",
            "[::1]",
            "[::1",
            "::1:9464",
            "[::2]:9464",
            "0.0.0.0:9464",
            "127.1:9464",
            "user@localhost:9464",
            "localhost:9464:9464",
            "",
        ] {
            assert_eq!(judged("GET /metrics", &[&format!("Host: {host}")]), Err(WRONG_HOST), "{host}");
        }
        assert_eq!(judged("GET /metrics", &["A: b"]), Err(MALFORMED), "none");
        assert_eq!(judged("GET /metrics", &[HERE, HERE]), Err(MALFORMED), "two");
        assert_eq!(
            judge(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n", 80),
            Ok(PLAIN),
            "a URL's own port"
        );
    }

    #[test]
    fn pages_are_refused() {
        for header in ["Origin: http://127.0.0.1:9464", "origin: null", "Sec-Fetch-Site: cross-site"] {
            assert_eq!(judged("GET /metrics", &[HERE, header]), Err(OF_A_PAGE), "{header}");
        }
        assert_eq!(judged("GET /metrics", &[HERE, "Sec-Fetch-Site: none"]), Ok(PLAIN), "typed by a person");
    }

    #[test]
    fn there_is_one_thing_to_get() {
        for (start, wanted) in [
            ("GET /metrics?x=/y", Ok(PLAIN)),
            ("GET /", Ok(MetricsPage::Index)),
            ("GET /metrics/", Err(NOT_FOUND)),
            ("GET http://127.0.0.1:9464/metrics", Err(NOT_FOUND)),
            ("POST /metrics", Err(WRONG_METHOD)),
            ("HEAD /metrics", Err(WRONG_METHOD)),
            ("OPTIONS *", Err(WRONG_METHOD)),
            ("GET", Err(MALFORMED)),
        ] {
            assert_eq!(judged(start, &[HERE]), wanted, "{start}");
        }
        let many = vec!["A: b"; MAX_HEADERS + 1];
        assert_eq!(judged("GET /metrics", &many), Err(TOO_LARGE));
    }

    #[test]
    fn who_takes_openmetrics_gets_it() {
        let of_prometheus = "Accept: application/openmetrics-text;version=1.0.0,application/openmetrics-text;\
                             version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1";
        for (accept, wanted) in [
            (of_prometheus, Dialect::OpenMetrics),
            ("Accept: text/plain, application/OpenMetrics-text; q=0.3", Dialect::OpenMetrics),
            ("Accept: application/openmetrics-text; version=\"1.0.0\"; escaping=x", Dialect::OpenMetrics),
            ("Accept: application/openmetrics-text;version=0.0.1", Dialect::Prometheus),
            ("Accept: application/openmetrics-text;q=0", Dialect::Prometheus),
            ("Accept: application/openmetrics-text;q=x", Dialect::Prometheus),
            ("Accept: */*", Dialect::Prometheus),
            ("Accept: \u{e9},;=", Dialect::Prometheus),
        ] {
            assert_eq!(judged("GET /metrics", &[HERE, accept]), Ok(MetricsPage::Metrics(wanted)), "{accept}");
        }
    }
}
