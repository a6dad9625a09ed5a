//! A page that a person adds to a message: its address, and the command that fetches it.
//!
//! ```text
//!  URL ─► PageFetch ─► harbor-runner-http fetch-page … ─► DIR/page: a text, or a picture
//! ```
//!
//! Owns the limits. Must never let an address through that has no TLS, unless the person allows that.

use std::time::Duration;

use url::Url;

use crate::model_download::{NO_TLS, WrongDownload, fetcher};
use crate::remote::parse;

/// The file that the fetcher writes.
pub const PAGE: &str = "page";

/// The most bytes of a text.
pub const MAX_TEXT: usize = 1_000_000;

/// The time from the lookup to the last word.
pub const LIMIT: Duration = Duration::from_secs(30);

/// Longer titles are cut, in bytes.
const MAX_TITLE: usize = 1000;

/// A page to be fetched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageFetch {
    /// Where it is.
    pub url: Url,
    /// True if it may come without TLS.
    pub allow_http: bool,
    /// True if it may come from a private address.
    pub allow_private: bool,
}

impl PageFetch {
    /// Reads what a person says.
    ///
    /// # Errors
    /// Which field is wrong.
    pub fn read(url: &str, (allow_http, allow_private): (bool, bool)) -> Result<Self, WrongDownload> {
        let mut url = parse(url.trim()).map_err(|expected| ("url", format!("expected {expected}")))?;
        if url.scheme() == "http" && !allow_http {
            return Err(("allow_http", NO_TLS.into()));
        }
        // It says where to look in a page, and servers are not told.
        url.set_fragment(None);
        Ok(Self { url, allow_http, allow_private })
    }

    /// The program that fetches it into a directory, and its arguments.
    #[must_use]
    pub fn command(&self, directory: &str) -> Vec<String> {
        fetcher("fetch-page", directory, &self.url, (self.allow_http, self.allow_private))
    }

    /// The address as the title of a text.
    #[must_use]
    pub fn title(&self) -> String {
        // A URL is ASCII.
        self.url.as_str().chars().take(MAX_TITLE).collect()
    }

    /// The address without what may be a secret, for the audit log.
    #[must_use]
    pub fn shown(&self) -> String {
        let mut url = self.url.clone();
        url.set_query(None);
        url.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_comes_with_tls_unless_the_person_says_otherwise() {
        let read = |url: &str, allowed| PageFetch::read(url, allowed);
        assert_eq!(read("http://a.com/", (false, true)).unwrap_err(), ("allow_http", NO_TLS.to_owned()));
        assert_eq!(read("file:///etc/passwd", (true, true)).unwrap_err().0, "url");
        assert_eq!(read("https://u:p@a.com/", (true, true)).unwrap_err().0, "url");
        let page = read(" https://a.com/b?key=1#part ", (false, false)).unwrap();
        assert_eq!(
            (page.title().as_str(), page.shown().as_str()),
            ("https://a.com/b?key=1", "https://a.com/b")
        );
        let line = page.command("/d").join(" ");
        assert!(
            line.contains(" fetch-page --build ") && line.ends_with(" --dir /d --url https://a.com/b?key=1")
        );
        let line = read("http://a.com/", (true, true)).unwrap().command("/d").join(" ");
        assert!(line.ends_with(" --url http://a.com/ --allow-http --allow-private"), "{line}");
        let long = format!("https://a.com/{}", "x".repeat(1500));
        assert_eq!(read(&long, (false, false)).unwrap().title().len(), MAX_TITLE);
    }
}
