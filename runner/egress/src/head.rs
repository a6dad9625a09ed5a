//! The head of a request: where it ends, whom it is for, and what the server behind it gets to see.
//!
//! ```text
//!  CONNECT host:port HTTP/1.1                     ─► a tunnel to host:port
//!  GET http://host/path HTTP/1.1, its headers     ─► GET /path HTTP/1.1, Host: host, the headers, Connection: close
//! ```
//!
//! Owns the reading of heads. Must never do I/O or judge. The server's head is written anew from what was understood here, so
//! both sides understand the same.

use harbor_policy::sandbox::hosts::Target;
use httparse::{EMPTY_HEADER, Error, Header, Request as Parsed, Status};

use crate::refusal::Refusal;

/// The longest head, in bytes.
pub const MAX_HEAD: usize = 16 * 1024;

/// Headers at most.
const MAX_HEADERS: usize = 128;

/// Headers between the client and the proxy, besides those that `Connection` names.
const HOP_BY_HOP: &[&str] = &[
    "connection",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "upgrade",
];

/// Headers that say where the request ends: they stay, even if `Connection` names them.
const FRAMING: &[&str] = &["content-length", "transfer-encoding"];

/// A request that was understood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// Whom it is for.
    pub target: Target,
    /// The head for the server. None for a tunnel.
    pub forward: Option<Vec<u8>>,
}

/// Where the head ends with which these bytes begin. The first `searched` bytes are known to hold no end.
#[must_use]
pub fn end(bytes: &[u8], searched: usize) -> Option<usize> {
    const END: &[u8] = b"\r\n\r\n";
    let from = searched.saturating_sub(END.len() - 1).min(bytes.len());
    bytes[from..].windows(END.len()).position(|window| window == END).map(|at| from + at + END.len())
}

/// Reads a head, from its first byte to its [`end`].
///
/// # Errors
/// When it is no request to a proxy.
pub fn parse(head: &[u8]) -> Result<Request, Refusal> {
    let mut headers = [EMPTY_HEADER; MAX_HEADERS];
    let mut parsed = Parsed::new(&mut headers);
    match parsed.parse(head) {
        Ok(Status::Complete(length)) if length == head.len() => {}
        Ok(_) => return Err(Refusal::Malformed("a line of the head does not end with CR LF")),
        Err(Error::TooManyHeaders) => return Err(Refusal::TooLarge),
        Err(_) => return Err(Refusal::Malformed("this is not an HTTP/1.1 request")),
    }
    let (Some(method), Some(uri), Some(minor)) = (parsed.method, parsed.path, parsed.version) else {
        return Err(Refusal::Malformed("this is not an HTTP/1.1 request"));
    };
    if method == "CONNECT" {
        let target = Target::parse(uri, None).ok_or(Refusal::Malformed("CONNECT takes host:port"))?;
        return Ok(Request { target, forward: None });
    }
    let (target, path) = split_uri(method, uri)?;
    let forward = Some(write_head([method, &path], minor, &target, parsed.headers));
    Ok(Request { target, forward })
}

/// `http://host/path` as host and path.
fn split_uri(method: &str, uri: &str) -> Result<(Target, String), Refusal> {
    const SCHEME: &str = "http://";
    let rest = match uri.split_at_checked(SCHEME.len()) {
        Some((scheme, rest)) if scheme.eq_ignore_ascii_case(SCHEME) => rest,
        _ => {
            return Err(Refusal::Malformed(
                "the target is not an http:// URL; use CONNECT for everything else",
            ));
        }
    };
    let (authority, path) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    let target = Target::parse(authority, Some(80)).ok_or(Refusal::Malformed("the URL has no host"))?;
    let path = match path.as_bytes().first() {
        Some(b'/') => path.into(),
        Some(b'?') => format!("/{path}"),
        Some(_) => return Err(Refusal::Malformed("the URL has a fragment, which clients must not send")),
        None if method == "OPTIONS" => "*".into(),
        None => "/".into(),
    };
    Ok((target, path))
}

fn write_head([method, path]: [&str; 2], minor: u8, target: &Target, headers: &[Header<'_>]) -> Vec<u8> {
    let host = if target.port == 80 { target.host.to_string() } else { target.to_string() };
    let mut head = format!("{method} {path} HTTP/1.{minor}\r\nHost: {host}\r\n").into_bytes();
    for header in headers.iter().filter(|header| is_for_the_server(header.name, headers)) {
        head.extend_from_slice(header.name.as_bytes());
        head.extend_from_slice(b": ");
        head.extend_from_slice(header.value);
        head.extend_from_slice(b"\r\n");
    }
    head.extend_from_slice(b"Connection: close\r\n\r\n");
    head
}

fn is_for_the_server(name: &str, headers: &[Header<'_>]) -> bool {
    let among = |names: &[&str]| names.iter().any(|one| one.eq_ignore_ascii_case(name));
    let named = || {
        headers.iter().filter(|header| header.name.eq_ignore_ascii_case("connection")).any(|header| {
            header
                .value
                .split(|byte| *byte == b',')
                .any(|one| one.trim_ascii().eq_ignore_ascii_case(name.as_bytes()))
        })
    };
    among(FRAMING) || !(name.eq_ignore_ascii_case("host") || among(HOP_BY_HOP) || named())
}

#[cfg(test)]
mod tests;
