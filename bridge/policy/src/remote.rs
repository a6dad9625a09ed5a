//! The rules for the definition of a remote server.
//!
//! ```text
//!  URL ─► http or https, a host, no user information, not too long
//!  headers ─► names that are free to use, values of one line ─► `${KEY}` in them: filled at each start
//! ```
//!
//! Owns these rules, for the code that defines servers and the code that connects to them. Must never look a name up, or put a
//! header's value into an error.

use core::net::IpAddr;
use std::collections::BTreeMap;

use url::{Host, Url};

use crate::sandbox::hosts::is_private;

/// The most bytes of a URL.
const MAX_URL: usize = 2048;

/// The most headers, and the most bytes of each.
const MAX_HEADERS: usize = 32;
const MAX_HEADER: usize = 16 * 1024;

/// Headers that Harbor sets itself, or that belong to the connection.
const RESERVED: [&str; 17] = [
    "accept",
    "accept-encoding",
    "connection",
    "content-encoding",
    "content-length",
    "content-type",
    "expect",
    "host",
    "keep-alive",
    "last-event-id",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "via",
];

/// Reads the URL of a server.
///
/// # Errors
/// The form that it has to have instead.
pub fn parse(text: &str) -> Result<Url, &'static str> {
    if text.len() > MAX_URL {
        return Err("a URL of at most 2048 bytes");
    }
    let url = Url::parse(text).map_err(|_| "a URL like https://example.com/mcp")?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err("a URL that begins with https:// or http://");
    }
    if url.host_str().is_none_or(str::is_empty) {
        return Err("a URL with a host");
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err("a URL without a name or password; put these in a header");
    }
    Ok(url)
}

/// Host and port, as texts about a URL name them.
#[must_use]
pub fn place(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
}

/// A URL in the form for people, without the text behind `?` and `#`, which may be a secret.
#[must_use]
pub fn shown(text: &str) -> String {
    let Ok(mut url) = parse(text) else { return String::new() };
    let had_query = url.query().is_some();
    url.set_query(None);
    url.set_fragment(None);
    if had_query { format!("{url}?…") } else { url.to_string() }
}

/// True if a name always means this machine.
#[must_use]
pub fn is_local_name(name: &str) -> bool {
    let name = name.strip_suffix('.').unwrap_or(name);
    name.eq_ignore_ascii_case("localhost") || name.to_ascii_lowercase().ends_with(".localhost")
}

/// True if the URL itself names a private place: a private address, or this machine's name. A person who types that means it.
#[must_use]
pub fn says_private(url: &Url) -> bool {
    match url.host() {
        Some(Host::Ipv4(address)) => is_private(address.into()),
        Some(Host::Ipv6(address)) => is_private(address.into()),
        Some(Host::Domain(name)) => is_local_name(name),
        None => false,
    }
}

/// True if the URL itself names this machine.
#[must_use]
pub fn says_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        Some(Host::Domain(name)) => is_local_name(name),
        None => false,
    }
}

/// True if the connection has no TLS although the server is on another machine.
#[must_use]
pub fn is_exposed(url: &Url) -> bool {
    url.scheme() == "http" && !says_loopback(url)
}

/// The addresses that a server, and the URLs that it names, may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AllowedAddresses {
    /// Addresses of the public network.
    Public,
    /// Public addresses, and this machine's own: the server itself is here.
    Loopback,
    /// All: the person has allowed it.
    Private,
}

impl AllowedAddresses {
    /// The addresses that a server at this URL may have.
    #[must_use]
    pub fn of(url: &Url, allow_private: bool) -> Self {
        match allow_private {
            true => Self::Private,
            false if says_loopback(url) => Self::Loopback,
            false => Self::Public,
        }
    }

    /// True if an address is within the reach.
    #[must_use]
    pub fn permits(self, address: IpAddr) -> bool {
        match self {
            Self::Public => !is_private(address),
            Self::Loopback => !is_private(address) || address.is_loopback(),
            Self::Private => true,
        }
    }

    /// True if the host in the URL is within the reach. A name may mean any address: the code that looks it up has to check that.
    #[must_use]
    pub fn permits_host(self, url: &Url) -> bool {
        match self {
            Self::Public => !says_private(url),
            Self::Loopback => !says_private(url) || says_loopback(url),
            Self::Private => true,
        }
    }
}

/// The fault in headers, without a value.
#[must_use]
pub fn wrong_headers(headers: &BTreeMap<String, String>) -> Option<String> {
    if headers.len() > MAX_HEADERS {
        return Some(format!("at most {MAX_HEADERS} headers"));
    }
    headers.iter().find_map(|(name, value)| {
        let lower = name.to_ascii_lowercase();
        if name.is_empty() || name.len() > 128 || !name.bytes().all(is_token) {
            Some(format!("names of headers; {:?} is not one", name.chars().take(80).collect::<String>()))
        } else if RESERVED.contains(&lower.as_str()) || lower.starts_with("mcp-") {
            Some(format!("headers of your own; Harbor itself sets {name}"))
        } else if value.len() > MAX_HEADER || !value.bytes().all(|b| b == b'\t' || (b >= 0x20 && b != 0x7f)) {
            Some(format!("values of one line and at most 16 KiB; the value of {name} is not"))
        } else {
            None
        }
    })
}

fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

/// Fills each `${KEY}` of a template by what `lookup` knows. A `$` before anything else stands for itself.
///
/// # Errors
/// The first key that is not known.
pub fn fill(template: &str, mut lookup: impl FnMut(&str) -> Option<String>) -> Result<String, String> {
    let mut filled = String::with_capacity(template.len());
    let mut rest = template;
    while let Some(at) = rest.find("${") {
        let behind = &rest[at + 2..];
        let key = behind.split_once('}').map(|(key, _)| key).filter(|key| is_key(key));
        let Some(key) = key else {
            filled.push_str(&rest[..at + 2]);
            rest = behind;
            continue;
        };
        filled.push_str(&rest[..at]);
        filled.push_str(&lookup(key).ok_or_else(|| key.to_owned())?);
        rest = &behind[key.len() + 1..];
    }
    filled.push_str(rest);
    Ok(filled)
}

/// The keys that templates name, each once.
pub fn keys<'t>(templates: impl IntoIterator<Item = &'t String>) -> Vec<String> {
    let mut named = Vec::new();
    for template in templates {
        let _ = fill(template, |key| {
            if !named.iter().any(|known| known == key) {
                named.push(key.to_owned());
            }
            Some(String::new())
        });
    }
    named
}

fn is_key(key: &str) -> bool {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b == b'_';
    !key.is_empty() && key.len() <= 128 && key.bytes().all(plain) && !key.as_bytes()[0].is_ascii_digit()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_shown_without_what_may_be_secret() {
        assert_eq!(shown("https://example.com:8443/mcp?key=s3cr3t#x"), "https://example.com:8443/mcp?…");
        assert_eq!(shown("http://localhost:3000/mcp"), "http://localhost:3000/mcp");
        assert_eq!(shown("https://u:p@example.com/"), "");
        assert!(parse(&format!("https://example.com/{}", "x".repeat(MAX_URL))).is_err());
        assert_eq!(place(&parse("https://example.com/mcp?x").unwrap()), "example.com");
    }

    #[test]
    fn a_private_place_is_known_by_its_url() {
        let of = |text: &str| parse(text).map(|url| (says_private(&url), is_exposed(&url))).unwrap();
        assert_eq!(of("http://localhost:3000/"), (true, false));
        assert_eq!(of("http://api.localhost/"), (true, false));
        assert_eq!(of("http://127.0.0.1/"), (true, false));
        assert_eq!(of("http://[::1]/"), (true, false));
        assert_eq!(of("http://192.168.1.2/"), (true, true));
        assert_eq!(of("https://192.168.1.2/"), (true, false));
        assert_eq!(of("https://example.com/"), (false, false));
        assert_eq!(of("http://example.com/"), (false, true));
    }

    #[test]
    fn headers_are_the_persons_own() {
        let wrong = |name: &str, value: &str| {
            wrong_headers(&BTreeMap::from([(name.to_owned(), value.to_owned())])).is_some()
        };
        assert!(!wrong("Authorization", "Bearer ${TOKEN}") && !wrong("X-Key", "ä b\tc"));
        assert!(wrong("Host", "x") && wrong("Mcp-Session-Id", "x") && wrong("ACCEPT", "x"));
        assert!(wrong("", "x") && wrong("a b", "x") && wrong("X", "a\nb") && wrong("X", "a\0"));
        assert!(wrong("X", &"x".repeat(MAX_HEADER + 1)));
    }

    #[test]
    fn templates_are_filled_whole_or_not_at_all() {
        let lookup = |key: &str| (key == "TOKEN").then(|| "t${X}".to_owned());
        assert_eq!(fill("Bearer ${TOKEN}!", lookup), Ok("Bearer t${X}!".into()));
        assert_eq!(fill("${TOKEN}${TOKEN}", lookup), Ok("t${X}t${X}".into()));
        assert_eq!(fill("$5 ${ ${} ${9} $", lookup), Ok("$5 ${ ${} ${9} $".into()));
        assert_eq!(fill("${TOKEN} ${OTHER}", lookup), Err("OTHER".into()));
        let templates = ["Bearer ${TOKEN}", "${OTHER}:${TOKEN}", "${9}"].map(str::to_owned);
        assert_eq!(keys(&templates), ["TOKEN", "OTHER"]);
    }
}
