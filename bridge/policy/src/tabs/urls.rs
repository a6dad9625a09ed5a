//! Decides which addresses a session's tab may show.
//!
//! ```text
//!  text ─► the form that browsers make of it ─► scheme, host, no credentials ─► not blocked ─► the address to open
//! ```
//!
//! Owns the rule, which holds for navigation, redirects, popups and frames alike. It judges the canonical form: an octal address,
//! a full-width letter or `%61` counts as the host that a browser would go to. Must never repeat an address in a reason.

use std::fmt;

use url::{Host, Url};

use super::uploads::UploadDirectories;

/// The page that every tab begins with.
pub const BLANK: &str = "about:blank";

/// No longer address is opened, in bytes.
const MAX_URL: usize = 32 * 1024;

/// The form of an entry in a list of hosts, for error messages.
pub const ENTRY_RULE: &str =
    "host names, each alone or behind `*.` for all below it too: \"bank.example\", \"*.bank.example\"";

/// The reason why an address is not opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UrlDenialReason {
    /// It is no address.
    NoUrl,
    /// Its scheme is not http, https or about:blank.
    Scheme,
    /// It has a name or a password in it.
    Credentials,
    /// The person has blocked its host.
    Blocked,
    /// The person wants to be asked first.
    AskFirst,
    /// The person was asked, and said no.
    Refused,
}

impl UrlDenialReason {
    /// One word for programs.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NoUrl => "no_url",
            Self::Scheme => "scheme",
            Self::Credentials => "credentials",
            Self::Blocked => "blocked",
            Self::AskFirst => "ask_first",
            Self::Refused => "refused",
        }
    }
}

impl fmt::Display for UrlDenialReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoUrl => "this is not an address that a browser can open",
            Self::Scheme => {
                "the browser tools open only http and https pages: no pages of the browser or its extensions, no \
                 files, no data: or javascript: addresses"
            }
            Self::Credentials => "an address with a user name or password in it is not opened",
            Self::Blocked => "the person has blocked this site for tools (`blocked` in [browser] of config.toml)",
            Self::AskFirst => {
                "the person wants to be asked about this site first (`askFirst` in [browser] of config.toml) and has \
                 not approved it; browser_navigate asks them"
            }
            Self::Refused => "the person was asked about this site and refused",
        })
    }
}

impl std::error::Error for UrlDenialReason {}

/// A list of hosts, in canonical form.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Hosts(Vec<HostEntry>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct HostEntry {
    host: String,
    /// True if the hosts below it count, too.
    below: bool,
}

impl Hosts {
    /// The list with these entries. None if one of them names no host.
    #[must_use]
    pub fn parse<'a>(entries: impl IntoIterator<Item = &'a str>) -> Option<Self> {
        entries.into_iter().map(entry).collect::<Option<_>>().map(Self)
    }

    /// Its entries, as they are written.
    pub fn entries(&self) -> impl Iterator<Item = String> {
        self.0.iter().map(|HostEntry { host, below }| if *below { format!("*.{host}") } else { host.clone() })
    }

    fn has(&self, host: &str) -> bool {
        self.0.iter().any(|entry| {
            let above = host.strip_suffix(entry.host.as_str());
            above.is_some_and(|above| above.is_empty() || entry.below && above.ends_with('.'))
        })
    }
}

fn entry(text: &str) -> Option<HostEntry> {
    let (rest, below) = text.strip_prefix("*.").map_or((text, false), |rest| (rest, true));
    let is_plain = !rest.is_empty() && !rest.contains(['/', '\\', '@', '?', '#', '*']);
    // A colon stands in an address in brackets, or before a port.
    let has_port = rest.contains(':') && !(rest.starts_with('[') && rest.ends_with(']'));
    let url = Url::parse(&format!("http://{rest}")).ok().filter(|_| is_plain && !has_port)?;
    Some(HostEntry { host: host_of(&url)?, below })
}

/// The person's rules about sites.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sites {
    /// Never opened.
    pub blocked: Hosts,
    /// Not opened before the person has decided.
    pub ask_first: Hosts,
    /// The directories from which files may be uploaded.
    pub uploads: UploadDirectories,
}

impl Sites {
    /// The canonical form of an address that may be opened. `said`: what the person has answered about a host.
    ///
    /// # Errors
    /// Why it may not.
    pub fn judge(&self, text: &str, said: impl Fn(&str) -> Option<bool>) -> Result<String, UrlDenialReason> {
        let url = parse(text)?;
        if url.as_str() == BLANK {
            return Ok(BLANK.to_owned());
        }
        if !matches!(url.scheme(), "http" | "https") {
            return Err(UrlDenialReason::Scheme);
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(UrlDenialReason::Credentials);
        }
        let host = host_of(&url).ok_or(UrlDenialReason::NoUrl)?;
        if self.blocked.has(&host) {
            return Err(UrlDenialReason::Blocked);
        }
        match self.ask_first.has(&host).then(|| said(&host)) {
            None | Some(Some(true)) => Ok(url.into()),
            Some(Some(false)) => Err(UrlDenialReason::Refused),
            Some(None) => Err(UrlDenialReason::AskFirst),
        }
    }
}

/// The host of an address in the form in which the person is asked about it.
#[must_use]
pub fn host_in(text: &str) -> Option<String> {
    host_of(&parse(text).ok()?)
}

/// Reads a URL. A host without a scheme counts as one of the web.
fn parse(text: &str) -> Result<Url, UrlDenialReason> {
    if text.len() > MAX_URL {
        return Err(UrlDenialReason::NoUrl);
    }
    let is_local = |text: &str| {
        let rest = text.strip_prefix("localhost");
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with([':', '/']))
    };
    let trimmed = text.trim_matches(|c: char| c <= ' ');
    if is_local(trimmed) {
        return Url::parse(&format!("http://{trimmed}")).map_err(|_| UrlDenialReason::NoUrl);
    }
    match Url::parse(trimmed) {
        Err(url::ParseError::RelativeUrlWithoutBase) => {
            let is_host = trimmed.starts_with(|c: char| c.is_alphanumeric() || c == '[');
            let url = is_host.then(|| Url::parse(&format!("https://{trimmed}")).ok()).flatten();
            url.ok_or(UrlDenialReason::NoUrl)
        }
        parsed => parsed.map_err(|_| UrlDenialReason::NoUrl),
    }
}

/// The host in the form for comparison, without a dot at its end, and with IPv4 instead of IPv4 written as IPv6.
fn host_of(url: &Url) -> Option<String> {
    match url.host()? {
        Host::Domain(name) => Some(name.trim_end_matches('.').to_owned()).filter(|name| !name.is_empty()),
        Host::Ipv4(address) => Some(address.to_string()),
        Host::Ipv6(address) => Some(
            address.to_ipv4_mapped().map_or_else(|| format!("[{address}]"), |address| address.to_string()),
        ),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn unasked(_: &str) -> Option<bool> {
        None
    }

    fn sites(blocked: &[&str]) -> Sites {
        Sites { blocked: Hosts::parse(blocked.iter().copied()).unwrap(), ..Sites::default() }
    }

    #[test]
    fn only_pages_of_the_web_are_opened() {
        let sites = Sites::default();
        for (text, opened) in [
            ("https://example.com", "https://example.com/"),
            (" HTTP://Example.COM:80/a b ", "http://example.com/a%20b"),
            ("example.com/x", "https://example.com/x"),
            ("localhost:3000/x", "http://localhost:3000/x"),
            ("about:blank", BLANK),
            ("http:example.com", "http://example.com/"),
            ("https:\\\\example.com\\x", "https://example.com/x"),
        ] {
            assert_eq!(sites.judge(text, unasked).as_deref(), Ok(opened), "{text}");
        }
        for text in [
            "file:///etc/passwd",
            "FILE:/etc/passwd",
            "fi\nle:///etc/passwd",
            "chrome://settings",
            "edge://x",
            "about:config",
            "about:srcdoc",
            "about:blank#x",
            "chrome-extension://abcdefghijklmnopabcdefghijklmnop/x.html",
            "moz-extension://x/y",
            "resource://x",
            "view-source:https://example.com",
            "data:text/html,x",
            "blob:https://example.com/x",
            "javascript:alert(1)",
            " java\tscript:alert(1)",
            "filesystem:https://example.com/x",
            "ftp://example.com",
            "ws://example.com",
            "devtools://x",
            "intent://x",
            "mailto:a@example.com",
        ] {
            assert_eq!(sites.judge(text, unasked), Err(UrlDenialReason::Scheme), "{text}");
        }
        for text in
            ["https://a@example.com", "http://a:b@example.com", "http://:b@example.com", "a:b@x.example"]
        {
            let judged = sites.judge(text, unasked);
            assert!(
                matches!(judged, Err(UrlDenialReason::Credentials | UrlDenialReason::Scheme)),
                "{text} {judged:?}"
            );
        }
        for text in ["", " ", "/etc/passwd", "//example.com", "https://", "http://[::1", "http://a b", "?x"] {
            assert_eq!(sites.judge(text, unasked), Err(UrlDenialReason::NoUrl), "{text}");
        }
        assert_eq!(
            sites.judge(&format!("https://a.example/{}", "x".repeat(MAX_URL)), unasked),
            Err(UrlDenialReason::NoUrl)
        );
    }

    /// However a blocked host is written, it is the host that a browser would go to.
    #[test]
    fn a_blocked_host_is_blocked_in_every_form() {
        let here = sites(&["127.0.0.1", "bank.example", "*.shop.example", "bücher.example", "[::1]"]);
        for text in [
            "http://127.0.0.1",
            "http://127.1",
            "http://127.0.1",
            "http://2130706433",
            "http://0x7f000001",
            "http://0x7f.1",
            "http://0177.0.0.1",
            "http://0177.0x0.0.1",
            "http://127.0.0.1.",
            "http://[::ffff:127.0.0.1]",
            "http://[::ffff:7f00:1]",
            "http://１２７.０.０.１",
            "http://127。0。0。1",
            "http://%31%32%37.0.0.1",
            "https://bank.example",
            "https://BANK.example:8443/x",
            "https://bank.example.",
            "https://b%61nk.example",
            "https://ｂａｎｋ.example",
            "https://bank。example",
            "https://ba\tnk.example",
            "bank.example",
            "https://shop.example",
            "https://a.b.shop.example.",
            "https://BÜCHER.example",
            "https://xn--bcher-kva.example",
            "http://[0:0:0:0:0:0:0:1]",
        ] {
            assert_eq!(here.judge(text, unasked), Err(UrlDenialReason::Blocked), "{text}");
        }
        for text in [
            "https://notbank.example",
            "https://a.bank.example",
            "https://myshop.example",
            "http://127.0.0.2",
        ] {
            assert!(here.judge(text, unasked).is_ok(), "{text}");
        }
        let asking = Sites { ask_first: Hosts::parse(["*.x.example"]).unwrap(), ..Sites::default() };
        for (said, judged) in [
            (None, Err(UrlDenialReason::AskFirst)),
            (Some(false), Err(UrlDenialReason::Refused)),
            (Some(true), Ok(())),
        ] {
            let about = |host: &str| said.filter(|_| host == "a.x.example");
            assert_eq!(asking.judge("https://a.x.example", about).map(drop), judged);
        }
    }

    #[test]
    fn a_list_is_of_hosts() {
        let list = Hosts::parse(["0x7f.1", "*.Shop.example", "a.example."]).unwrap();
        assert_eq!(list.entries().collect::<Vec<_>>(), ["127.0.0.1", "*.shop.example", "a.example"]);
        for wrong in ["", "*", "*.", "a/b", "https://a.example", "a.example:80", "a@b", "a.*.example"] {
            assert_eq!(Hosts::parse([wrong]), None, "{wrong}");
        }
    }

    proptest! {
        /// The opened address is the judged one: judged again it is the same, and it is of the web.
        #[test]
        fn what_may_be_opened_is_canonical(text in "(https?|file|HTTP|data)?:?/{0,2}[a-z0-9.%@:\\[\\]x１\\\\]{0,20}/?[ -~]{0,10}") {
            let sites = sites(&["*.a"]);
            if let Ok(opened) = sites.judge(&text, unasked) {
                prop_assert!(opened == BLANK || opened.starts_with("http://") || opened.starts_with("https://"));
                prop_assert_eq!(sites.judge(&opened, unasked), Ok(opened.clone()));
                let url = Url::parse(&opened).unwrap();
                prop_assert!(url.username().is_empty() && url.password().is_none());
            }
        }
    }
}
