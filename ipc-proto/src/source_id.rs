//! The id of a tool source: of anything that has tools.
//!
//! ```text
//!  time                  a server                      browser, browser:work    a browser that the extension is in
//!  js:notes, wasm:notes  a runtime in the browser      page:example.com:8080~2  a page, here the second tab of it
//! ```
//!
//! Owns the grammar, and the kind that an id has. A server's name has no colon, so ids of two kinds are never equal. Only
//! the word `browser` is reserved ([`is_reserved`]).

use std::fmt;
use std::sync::Arc;

use crate::server_id::ServerId;

/// The longest id in bytes: a host name and the text around it.
const MAX: usize = 300;

/// The id of the browser without a name of its own.
const BROWSER: &str = "browser";

/// The kind of a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SourceKind {
    /// An MCP server below a runner.
    Server,
    /// A browser in which Harbor's extension runs.
    Browser,
    /// A page that offers tools.
    Page,
    /// A JavaScript or WASM runtime in the browser.
    Runtime,
}

impl SourceKind {
    /// The word on the wire.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Server => "server",
            Self::Browser => "browser",
            Self::Page => "page",
            Self::Runtime => "runtime",
        }
    }
}

/// A checked id; costs nothing to clone.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SourceId {
    kind: SourceKind,
    text: Arc<str>,
}

/// The rule for ids, for error messages.
pub const RULE: &str = "the name of a server, browser, browser:NAME, page:HOST, js:NAME or wasm:NAME";

impl SourceId {
    /// Checks `text`; `None` when it breaks [`RULE`].
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let is_name = |name: &str| ServerId::parse(name).is_some();
        let kind = match text.split_once(':') {
            None if text == BROWSER => SourceKind::Browser,
            None => return ServerId::parse(text).map(|id| Self::from(&id)),
            Some((BROWSER, name)) if is_name(name) => SourceKind::Browser,
            Some(("page", place)) if text.len() <= MAX && is_page(place) => SourceKind::Page,
            Some(("js" | "wasm", name)) if is_name(name) => SourceKind::Runtime,
            Some(_) => return None,
        };
        Some(Self { kind, text: text.into() })
    }

    /// The kind of source that the id names.
    #[must_use]
    pub fn kind(&self) -> SourceKind {
        self.kind
    }

    /// The server that the id names, if it names one.
    #[must_use]
    pub fn as_server(&self) -> Option<ServerId> {
        (self.kind == SourceKind::Server).then(|| ServerId(self.text.clone()))
    }

    /// The id as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The id as text that costs nothing to keep.
    #[must_use]
    pub fn shared(&self) -> Arc<str> {
        self.text.clone()
    }
}

impl From<&ServerId> for SourceId {
    fn from(id: &ServerId) -> Self {
        Self { kind: SourceKind::Server, text: id.shared() }
    }
}

impl fmt::Display for SourceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// True if no server may have this name, since it belongs to a source of another kind.
#[must_use]
pub fn is_reserved(id: &ServerId) -> bool {
    id.as_str() == BROWSER
}

/// `HOST[:PORT][~N]`: a host as URLs write it, and the number of a further tab, from 2 on.
fn is_page(place: &str) -> bool {
    let (place, is_tab) = match place.split_once('~') {
        None => (place, true),
        Some((place, tab)) => (place, is_number(tab, 2..=u32::MAX)),
    };
    let (host, is_port) = match place.rsplit_once(':') {
        // The colons of an address stand in brackets.
        Some((host, port)) if !place.ends_with(']') => (host, is_number(port, 1..=u32::from(u16::MAX))),
        _ => (place, true),
    };
    let plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b".-_".contains(&b);
    let is_host = match host.strip_prefix('[') {
        Some(address) => address
            .strip_suffix(']')
            .is_some_and(|inside| inside.bytes().all(|b| b.is_ascii_hexdigit() || b".:".contains(&b))),
        None => !host.is_empty() && host.bytes().all(plain),
    };
    is_host && is_port && is_tab
}

fn is_number(text: &str, range: std::ops::RangeInclusive<u32>) -> bool {
    !text.starts_with(['0', '+']) && text.parse().is_ok_and(|number| range.contains(&number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_has_its_ids() {
        for (text, kind) in [
            ("time", SourceKind::Server),
            ("browser", SourceKind::Browser),
            ("browser:work", SourceKind::Browser),
            ("page:example.com", SourceKind::Page),
            ("page:localhost:8080", SourceKind::Page),
            ("page:example.com:8080~2", SourceKind::Page),
            ("page:[::1]:3000", SourceKind::Page),
            ("js:notes", SourceKind::Runtime),
            ("wasm:notes", SourceKind::Runtime),
        ] {
            let id = SourceId::parse(text).unwrap();
            assert_eq!((id.kind(), id.as_str()), (kind, text));
            assert_eq!(id.as_server().is_some(), kind == SourceKind::Server);
        }
    }

    #[test]
    fn what_is_no_id() {
        for text in [
            "",
            ":",
            "browser:",
            "browser:a/b",
            "page:",
            "page::80",
            "page:Example.com",
            "page:a~1",
            "page:a~02",
            "page:a:0",
            "page:a:65536",
            "page:a/b",
            "page:[::1",
            "js:",
            "js:a__b",
            "wasm:../a",
            "server:time",
            "page:a\n",
        ] {
            assert_eq!(SourceId::parse(text), None, "{text:?}");
        }
        assert_eq!(SourceId::parse(&format!("page:{}", "a".repeat(MAX))), None);
    }

    #[test]
    fn the_reserved_name_is_no_servers_and_a_server_of_that_name_is_still_a_server() {
        let id = ServerId::parse("browser").unwrap();
        assert!(is_reserved(&id) && !is_reserved(&ServerId::parse("time").unwrap()));
        assert_ne!(SourceId::parse("browser").unwrap(), SourceId::from(&id));
    }
}
