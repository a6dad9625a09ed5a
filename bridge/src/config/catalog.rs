//! Where the catalog comes from, and how often.
//!
//! Owns the defaults and the rule for addresses. Must never let anyone on the way choose what a person installs: plain HTTP is
//! for this machine only.

use std::time::Duration;

use url::{Host, Url};

/// The rule for an address, as an error tells it.
pub const URL_RULE: &str = "an https address without a password, such as \"https://registry.example.com\"; http on this \
     machine only; \"\" for none";

/// The rule for the address at which a package's downloads are counted, as an error tells it.
pub const TEMPLATE_RULE: &str = "an https address with {name} where the package's name goes; http on this machine only; \"\" \
     for none";

/// The most bytes of an address.
const MAX_LENGTH: usize = 1000;

/// The place for the package's name in a template. A stand-in replaces it while the rest is checked.
const PLACE: &str = "{name}";

/// The settings in `[catalog]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CatalogConfig {
    /// True if anything is fetched.
    pub enabled: bool,
    /// The time from one refresh to the next.
    pub interval: Duration,
    /// The base of a registry.
    pub registry: Option<String>,
    /// A Markdown list.
    pub awesome: Option<String>,
    /// The base of GitHub's API.
    pub github_api: Option<String>,
    /// The address of a counter of npm downloads.
    pub npm_downloads: Option<String>,
    /// The address of a counter of PyPI downloads.
    pub pypi_downloads: Option<String>,
}

impl Default for CatalogConfig {
    fn default() -> Self {
        Self {
            enabled: true,
            interval: Duration::from_secs(3600),
            registry: Some("https://registry.modelcontextprotocol.io".into()),
            awesome: Some(
                "https://raw.githubusercontent.com/wong2/awesome-mcp-servers/main/README.md".into(),
            ),
            github_api: Some("https://api.github.com".into()),
            npm_downloads: None,
            pypi_downloads: None,
        }
    }
}

/// Sets an address; an empty text sets none. True if the text is allowed.
pub(super) fn set_url(into: &mut Option<String>, text: &str) -> bool {
    let fits = text.is_empty() || is_address(text);
    *into = Some(text.to_owned()).filter(|text| fits && !text.is_empty());
    fits
}

/// Sets a template; an empty text sets none. True if the text is allowed.
pub(super) fn set_template(into: &mut Option<String>, text: &str) -> bool {
    let fits = text.is_empty() || text.matches(PLACE).count() == 1 && is_address(&text.replace(PLACE, "x"));
    *into = Some(text.to_owned()).filter(|text| fits && !text.is_empty());
    fits
}

/// The rule for the address of the document that says who Harbor is, as an error tells it.
pub const DOCUMENT_RULE: &str = "the https address of a client ID metadata document, with a path, such as \
     \"https://example.com/harbor.json\"";

/// True if an address can be the name of a client.
pub(super) fn is_document(text: &str) -> bool {
    let has_path = Url::parse(text).is_ok_and(|url| url.scheme() == "https" && url.path() != "/");
    has_path && is_address(text)
}

fn is_address(text: &str) -> bool {
    let Ok(url) = Url::parse(text) else { return false };
    let is_here = match url.host() {
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        Some(Host::Domain(name)) => name == "localhost",
        None => return false,
    };
    // What is shown is a line of TOML.
    let is_plain = text.chars().all(|c| c.is_ascii_graphic() && c != '"' && c != '\\');
    let has_password = !url.username().is_empty() || url.password().is_some();
    let is_safe = url.scheme() == "https" || url.scheme() == "http" && is_here;
    is_safe && is_plain && !has_password && url.fragment().is_none() && text.len() <= MAX_LENGTH
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_http_is_for_this_machine() {
        for text in [
            "https://a.example",
            "https://a.example/x?y=1",
            "http://127.0.0.1:8080/",
            "http://[::1]",
            "http://localhost:1",
        ] {
            assert!(is_address(text), "{text}");
        }
        let long = format!("https://a.example/{}", "x".repeat(MAX_LENGTH));
        for text in [
            "http://a.example",
            "http://10.0.0.1",
            "http://localhost.example",
            "https://u:p@a.example",
            "https://a.example/#x",
            "ftp://a.example",
            "file:///etc/passwd",
            "a.example",
            "https://a.example/\" x",
            &long,
        ] {
            assert!(!is_address(text), "{text}");
        }
    }

    #[test]
    fn nothing_is_none_and_a_template_has_one_place() {
        let mut url = Some("https://a.example".to_owned());
        assert!(set_url(&mut url, "") && url.is_none());
        assert!(set_template(&mut url, "https://a.example/{name}/week"));
        assert_eq!(url.as_deref(), Some("https://a.example/{name}/week"));
        for text in ["https://a.example/", "https://a.example/{name}/{name}", "http://a.example/{name}"] {
            assert!(!set_template(&mut url, text), "{text}");
        }
    }
}
