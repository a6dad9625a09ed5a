//! The origin of a request, as one canonical text: the key of all grants.
//!
//! ```text
//!  https://Bücher.example:443/     ─►  https://xn--bcher-kva.example
//!  http://0x7f.1:8080              ─►  http://127.0.0.1:8080
//!  chrome-extension://ID, moz-extension://UUID     an extension
//!  client://NAME                                   an AI client behind `harbor mcp`
//! ```
//!
//! Two texts that a browser takes for one origin are equal here, and two that it keeps apart are not (so a dot at the end of a
//! host stays). Must never repair a text. A text that is an address only after leniency is refused before the crate `url` sees
//! it: somebody else may repair it into another origin. No error text repeats what was sent.

use std::borrow::Borrow;
use std::fmt;
use std::sync::Arc;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use url::Url;

/// The longest origin, in bytes.
pub const MAX_ORIGIN: usize = 1024;

/// The longest name of a client, in bytes.
pub const MAX_CLIENT: usize = 128;

/// The characters that become `%XX` in the name of a client.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

const CLIENT: &str = "client://";

/// Schemes of pages that have no origin, or share one with unrelated pages.
const OPAQUE: &[&str] = &["about", "blob", "data", "file", "filesystem", "javascript"];

/// A canonical origin. Clones share its text.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Origin(Arc<str>);

/// The reason why a text is no origin that can have grants, with advice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WrongOrigin {
    /// Over [`MAX_ORIGIN`].
    TooLong,
    /// White space, a control character or a backslash.
    Character,
    /// An asterisk.
    Wildcard,
    /// A page without an origin of its own.
    Opaque,
    /// No `://`.
    NoScheme,
    /// A scheme that is not known.
    Scheme,
    /// Something behind host and port.
    Path,
    /// A name or password before the host.
    UserInfo,
    /// Nothing where the host should be.
    NoHost,
    /// A host that can be none.
    Host,
    /// A port that can be none.
    Port,
    /// Not the id of an extension.
    Extension,
    /// Not a client's name in its one encoding.
    Client,
}

impl fmt::Display for WrongOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::TooLong => "an origin can have at most 1024 bytes",
            Self::Character => "an origin cannot contain white space, control characters or backslashes: leave them out",
            Self::Wildcard => "a grant is for one origin, without '*': make one for each origin",
            Self::Opaque => {
                "a page without an origin of its own (null, about:, blob:, data:, file:) can have no grants: \
                 serve it over http or https"
            }
            Self::NoScheme => "an origin begins with its scheme and '://', as in https://example.org",
            Self::Scheme => {
                "the scheme of an origin is http, https, chrome-extension, moz-extension or client"
            }
            Self::Path => "an origin ends after the host and the port: leave out path, query and fragment",
            Self::UserInfo => "an origin has no user name and no password: leave out everything up to the '@'",
            Self::NoHost => "the host is missing: an origin is written as in https://example.org",
            Self::Host => "the host is neither a domain name nor an IPv4 address nor an IPv6 address in brackets",
            Self::Port => "a port is a number from 1 to 65535, without leading zeros",
            Self::Extension => {
                "an extension is named by chrome-extension:// and its 32 letters from a to p, or by \
                 moz-extension:// and its UUID, without a port"
            }
            Self::Client => {
                "a client is named by client:// and its name of 1 to 128 bytes, where all but letters, digits, \
                 '-', '.', '_' and '~' is written as %XX with upper-case digits"
            }
        })
    }
}

impl std::error::Error for WrongOrigin {}

impl Origin {
    /// The origin that `text` means, whether or not it is written canonically. One `/` at the end is no path.
    ///
    /// # Errors
    /// Why it means none.
    pub fn parse(text: &str) -> Result<Self, WrongOrigin> {
        check_characters(text)?;
        let (scheme, rest) = text.split_once("://").ok_or_else(|| without_scheme(text))?;
        match scheme.to_ascii_lowercase().as_str() {
            scheme if is_opaque(scheme) => Err(WrongOrigin::Opaque),
            scheme @ ("http" | "https") => web(scheme, authority(rest)?),
            scheme @ "chrome-extension" => extension(scheme, authority(rest)?, is_chrome_id),
            scheme @ "moz-extension" => extension(scheme, authority(rest)?, is_uuid),
            "client" => client(scheme, authority(rest)?),
            _ => Err(WrongOrigin::Scheme),
        }
    }

    /// The origin of the AI client with this name. None if the name is empty or over [`MAX_CLIENT`].
    #[must_use]
    pub fn client(name: &str) -> Option<Self> {
        let fits = (1..=MAX_CLIENT).contains(&name.len());
        fits.then(|| Self(format!("{CLIENT}{}", utf8_percent_encode(name, ENCODED)).into()))
    }

    /// True if it is an AI client.
    #[must_use]
    pub fn is_client(&self) -> bool {
        self.0.starts_with(CLIENT)
    }

    /// The canonical text, which costs nothing to keep.
    #[must_use]
    pub fn shared(&self) -> Arc<str> {
        self.0.clone()
    }

    /// Its text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Borrow<str> for Origin {
    fn borrow(&self) -> &str {
        &self.0
    }
}

fn check_characters(text: &str) -> Result<(), WrongOrigin> {
    if text.len() > MAX_ORIGIN {
        Err(WrongOrigin::TooLong)
    } else if text.contains(|c: char| c.is_whitespace() || c.is_control() || c == '\\') {
        Err(WrongOrigin::Character)
    } else if text.contains('*') {
        Err(WrongOrigin::Wildcard)
    } else {
        Ok(())
    }
}

fn without_scheme(text: &str) -> WrongOrigin {
    if text == "null" || (text.contains(':') && is_opaque(&text.to_ascii_lowercase())) {
        WrongOrigin::Opaque
    } else {
        WrongOrigin::NoScheme
    }
}

/// True if the scheme has no origin. In `blob:https://…` the first scheme counts.
fn is_opaque(scheme: &str) -> bool {
    OPAQUE.contains(&scheme.split(':').next().unwrap_or_default())
}

/// The text behind `://`, if it is host and port only.
fn authority(rest: &str) -> Result<&str, WrongOrigin> {
    let rest = rest.strip_suffix('/').unwrap_or(rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    if authority.contains('@') {
        Err(WrongOrigin::UserInfo)
    } else if authority.is_empty() || authority.starts_with(':') {
        Err(WrongOrigin::NoHost)
    } else if authority != rest {
        Err(WrongOrigin::Path)
    } else {
        Ok(authority)
    }
}

fn web(scheme: &str, authority: &str) -> Result<Origin, WrongOrigin> {
    // What stands in brackets may have colons too.
    let port = authority.rsplit_once(':').map(|(_, port)| port).filter(|port| !port.ends_with(']'));
    if port.is_some_and(|port| !is_port(port)) {
        return Err(WrongOrigin::Port);
    }
    if authority.contains('%') {
        return Err(WrongOrigin::Host);
    }
    let url = Url::parse(&format!("{scheme}://{authority}")).map_err(|_| WrongOrigin::Host)?;
    let is_name = |host| is_domain(host) || authority.starts_with('[');
    if !url.host_str().is_some_and(is_name) {
        return Err(WrongOrigin::Host);
    }
    let canonical = url.origin().ascii_serialization();
    // Punycode may be longer than what it stands for.
    if canonical.len() > MAX_ORIGIN { Err(WrongOrigin::TooLong) } else { Ok(Origin(canonical.into())) }
}

fn is_port(port: &str) -> bool {
    port.bytes().all(|byte| byte.is_ascii_digit()) && !port.starts_with('0') && port.parse::<u16>().is_ok()
}

/// A host may have commas and quotes for a browser, but no name in the DNS does.
fn is_domain(host: &str) -> bool {
    let is_label = |label: &str| {
        !label.is_empty() && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
    };
    host.strip_suffix('.').unwrap_or(host).split('.').all(is_label)
}

fn extension(scheme: &str, id: &str, fits: fn(&str) -> bool) -> Result<Origin, WrongOrigin> {
    let id = id.to_ascii_lowercase();
    if fits(&id) { Ok(Origin(format!("{scheme}://{id}").into())) } else { Err(WrongOrigin::Extension) }
}

fn is_chrome_id(id: &str) -> bool {
    id.len() == 32 && id.bytes().all(|byte| (b'a'..=b'p').contains(&byte))
}

fn is_uuid(id: &str) -> bool {
    id.split('-').map(str::len).eq([8, 4, 4, 4, 12])
        && id.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-')
}

/// A client writes its origin itself, so there is no second form to be lenient about.
fn client(scheme: &str, name: &str) -> Result<Origin, WrongOrigin> {
    let decoded = percent_decode_str(name).decode_utf8().map_err(|_| WrongOrigin::Client)?;
    let origin = Origin::client(&decoded).ok_or(WrongOrigin::Client)?;
    let is_canonical = origin.as_str().split_once("://") == Some((scheme, name));
    if is_canonical { Ok(origin) } else { Err(WrongOrigin::Client) }
}

#[cfg(test)]
mod tests;
