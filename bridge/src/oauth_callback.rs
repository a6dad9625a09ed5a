//! The place to which a browser brings an authorization server's answer: a listener on loopback, for one answer.
//!
//! ```text
//!  browser ─► GET /callback?state=…&code=… ─► head ─► the right state? ─► the query, and a page that says so
//!                                               └► anything else: an error, and it goes on waiting
//! ```
//!
//! Owns the port and the page. Must never show a word of the request, or take an answer for another host than loopback.
//! Must never end for a request that does not know the state: every page in the browser can send one.

use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::rc::Rc;
use std::time::Duration;

use harbor_ipc_proto::secret::Secret;
use harbor_policy::oauth::redirect::{MAX_QUERY, has_state};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio::time::timeout;
use zeroize::Zeroizing;

use crate::closing::read_rest;

/// The path of the redirect URI. Documents and registrations name it, so it is always the same.
pub const PATH: &str = "/callback";

/// Most connections at once; further ones wait.
const MAX_CONNECTIONS: usize = 16;

/// How long one connection may take, and how many bytes may come.
const LIMIT: Duration = Duration::from_secs(5);
const MAX_HEAD: usize = MAX_QUERY + 32 * 1024;
const MAX_REST: usize = 64 * 1024;

/// The pause after a failure of the listener, for example without descriptors.
const PAUSE: Duration = Duration::from_millis(100);

const PAGE: &str = "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Harbor</title>\
    <p>Harbor has the answer. You can close this page; you see the result where you began.</p></html>\n";

/// The name of this machine in the redirect URI.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Name {
    /// `127.0.0.1`, as RFC 8252 wants it.
    #[default]
    Address,
    /// `localhost`, for authorization servers that know nothing else.
    Localhost,
}

impl Name {
    fn text(self) -> &'static str {
        match self {
            Self::Address => "127.0.0.1",
            Self::Localhost => "localhost",
        }
    }
}

/// A listener for one answer.
#[derive(Debug)]
pub struct RedirectListener {
    listener: TcpListener,
    /// The listener for browsers that look for `localhost` at the IPv6 address. None if this machine has no such address.
    other: Option<TcpListener>,
    /// Host and port.
    place: Rc<str>,
}

impl RedirectListener {
    /// Listens at this port, or at any that is free for 0.
    ///
    /// # Errors
    /// When the port is taken.
    pub async fn open(name: Name, port: u16) -> io::Result<Self> {
        let listener = TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, port))).await?;
        let port = listener.local_addr()?.port();
        let other = match name {
            Name::Address => None,
            Name::Localhost => match TcpListener::bind(SocketAddr::from((Ipv6Addr::LOCALHOST, port))).await {
                // Whoever has the port would get the answer.
                Err(error) if error.kind() == io::ErrorKind::AddrInUse => return Err(error),
                bound => bound.ok(),
            },
        };
        Ok(Self { listener, other, place: format!("{}:{port}", name.text()).into() })
    }

    /// The address for the person's browser.
    #[must_use]
    pub fn uri(&self) -> String {
        format!("http://{}{PATH}", self.place)
    }

    async fn accept(&self) -> io::Result<TcpStream> {
        let accepted = match &self.other {
            None => self.listener.accept().await,
            Some(other) => tokio::select! {
                accepted = self.listener.accept() => accepted,
                accepted = other.accept() => accepted,
            },
        };
        accepted.map(|(stream, _)| stream)
    }

    /// Waits for the query that repeats this state, as long as it takes.
    pub async fn query(&self, state: &Secret) -> Secret {
        let mut connections: JoinSet<Option<Secret>> = JoinSet::new();
        loop {
            tokio::select! {
                accepted = self.accept(), if connections.len() < MAX_CONNECTIONS => match accepted {
                    Ok(stream) => {
                        let (state, place) = (state.clone(), self.place.clone());
                        connections.spawn_local(async move {
                            timeout(LIMIT, attend(stream, &state, &place)).await.ok().flatten()
                        });
                    }
                    Err(error) => {
                        tracing::debug!(%error, "a connection could not be taken");
                        tokio::time::sleep(PAUSE).await;
                    }
                },
                Some(done) = connections.join_next() => {
                    if let Ok(Some(query)) = done {
                        return query;
                    }
                }
            }
        }
    }
}

/// The meaning of a head.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RedirectHead {
    /// The head is not complete.
    Partial,
    /// The query of the redirect.
    Query(Secret),
    /// A refusal: the status.
    Refused(&'static str),
}

/// Reads the part of a request's head that has come to this host and port.
#[must_use]
pub fn head(bytes: &[u8], place: &str) -> RedirectHead {
    let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") else {
        return if bytes.len() >= MAX_HEAD {
            RedirectHead::Refused("431 Request Header Fields Too Large")
        } else {
            RedirectHead::Partial
        };
    };
    let Ok(text) = std::str::from_utf8(&bytes[..end]) else {
        return RedirectHead::Refused("400 Bad Request");
    };
    let mut lines = text.split("\r\n");
    let mut words = lines.next().unwrap_or_default().split(' ');
    let (Some(verb), Some(target), Some(version), None) =
        (words.next(), words.next(), words.next(), words.next())
    else {
        return RedirectHead::Refused("400 Bad Request");
    };
    let mut hosts = lines.filter_map(|line| line.split_once(':'));
    let hosts = hosts.by_ref().filter(|(name, _)| name.eq_ignore_ascii_case("host"));
    let hosts: Vec<&str> = hosts.map(|(_, host)| host.trim()).collect();
    // Another name that leads here belongs to a page that would like to know the answer.
    let is_here = matches!(hosts.as_slice(), [host] if host.eq_ignore_ascii_case(place));
    match target.split_once('?') {
        _ if !version.starts_with("HTTP/1.") || !is_here => RedirectHead::Refused("400 Bad Request"),
        _ if verb != "GET" => RedirectHead::Refused("405 Method Not Allowed"),
        Some((PATH, query)) => RedirectHead::Query(Secret::new(query.to_owned())),
        _ => RedirectHead::Refused("404 Not Found"),
    }
}

/// Answers one connection. Returns its query, if it is the expected one.
async fn attend(mut stream: TcpStream, state: &Secret, place: &str) -> Option<Secret> {
    let mut bytes = Zeroizing::new(Vec::with_capacity(MAX_HEAD + 1));
    let asked = loop {
        match head(&bytes, place) {
            RedirectHead::Partial if stream.read_buf(&mut *bytes).await.ok()? == 0 => return None,
            RedirectHead::Partial => {}
            asked => break asked,
        }
    };
    let found = match asked {
        RedirectHead::Query(query) if has_state(query.expose(), state) => Ok(query),
        RedirectHead::Refused(status) => Err(status),
        RedirectHead::Query(_) | RedirectHead::Partial => Err("400 Bad Request"),
    };
    let (status, page) = found.as_ref().map_or_else(|status| (*status, ""), |_| ("200 OK", PAGE));
    let answer = format!(
        "HTTP/1.1 {status}\r\ncontent-type: text/html; charset=utf-8\r\ncontent-length: {}\r\ncache-control: no-store\r\n\
         content-security-policy: default-src 'none'; frame-ancestors 'none'\r\nreferrer-policy: no-referrer\r\n\
         x-content-type-options: nosniff\r\nconnection: close\r\n\r\n{page}",
        page.len()
    );
    // Even if the browser does not listen any more, the answer is here.
    if stream.write_all(answer.as_bytes()).await.is_ok() && stream.shutdown().await.is_ok() {
        let _ = timeout(PAUSE, read_rest(&mut stream, MAX_REST)).await;
    }
    found.ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_redirect_itself_is_taken() {
        let of = |text: &str| head(text.as_bytes(), "127.0.0.1:80");
        let query = |text: &str| RedirectHead::Query(Secret::new(text.into()));
        assert_eq!(of("GET /callback?a=b HTTP/1.1\r\nHost: 127.0.0.1:80\r\n\r\n"), query("a=b"));
        assert_eq!(of("GET /callback?a=b HTTP/1.1\r\nhost:127.0.0.1:80\r\nx: y\r\n\r\nmore"), query("a=b"));
        assert_eq!(of("GET /callback?a=b HTTP/1.1\r\nHost: 127.0.0.1:80\r\n"), RedirectHead::Partial);
        for text in [
            "GET /callback?a=b HTTP/1.1\r\nHost: evil.example\r\n\r\n",
            "GET /callback?a=b HTTP/1.1\r\nHost: 127.0.0.1:81\r\n\r\n",
            "GET /callback?a=b HTTP/1.1\r\nHost: localhost:80\r\n\r\n",
            "GET /callback?a=b HTTP/1.1\r\n\r\n",
            "GET /callback?a=b HTTP/1.1\r\nHost: 127.0.0.1:80\r\nHost: evil.example\r\n\r\n",
            "POST /callback?a=b HTTP/1.1\r\nHost: 127.0.0.1:80\r\n\r\n",
            "GET /favicon.ico HTTP/1.1\r\nHost: 127.0.0.1:80\r\n\r\n",
            "GET /callback HTTP/1.1\r\nHost: 127.0.0.1:80\r\n\r\n",
            "GET /callback?a=b x HTTP/1.1\r\nHost: 127.0.0.1:80\r\n\r\n",
            "GET /callback?a=b HTTP/2\r\nHost: 127.0.0.1:80\r\n\r\n",
            "\r\n\r\n",
        ] {
            assert!(matches!(of(text), RedirectHead::Refused(_)), "{text}");
        }
        assert!(matches!(head(&vec![b'x'; MAX_HEAD], "127.0.0.1:80"), RedirectHead::Refused(_)));
    }
}
