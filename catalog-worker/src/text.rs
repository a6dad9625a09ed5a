//! Other people's words, before they are kept: bounded, on one line, without characters that a person does not see.
//!
//! Owns the limits. Must never read markup: `<b>` is three characters.

use harbor_ipc_proto::hidden::{is_hidden, turns_text};
use harbor_policy::sandbox::hosts::Host;
use reqwest::Url;

/// The longest name, in bytes, as the registry has them.
pub const MAX_NAME: usize = 200;
/// The longest title.
pub const MAX_TITLE: usize = 200;
/// The longest description. The registry has 100; lists have more.
pub const MAX_DESCRIPTION: usize = 1000;
/// The longest version.
pub const MAX_VERSION: usize = 255;
/// The longest URL.
pub const MAX_URL: usize = 1000;

/// The text in its kept form: runs of white space are one space, hidden characters are left out, and text
/// beyond `limit` bytes is cut off between two characters.
#[must_use]
pub fn clean(text: &str, limit: usize) -> String {
    let mut out = String::with_capacity(text.len().min(limit));
    let mut before = ' ';
    for character in text.chars() {
        let character = if character.is_whitespace() { ' ' } else { character };
        let doubled = character == ' ' && before == ' ';
        if doubled || is_hidden(before, character) || turns_text(character) {
            continue;
        }
        if out.len() + character.len_utf8() > limit {
            break;
        }
        out.push(character);
        before = character;
    }
    out.truncate(out.trim_end().len());
    out
}

/// The text after [`clean`], if anything is left.
#[must_use]
pub fn some(text: Option<&str>, limit: usize) -> Option<String> {
    text.map(|text| clean(text, limit)).filter(|text| !text.is_empty())
}

/// A web address that can be shown: http or https, a host, no password.
#[must_use]
pub fn web(text: &str) -> Option<Url> {
    if text.len() > MAX_URL {
        return None;
    }
    let url = Url::parse(text.trim()).ok()?;
    let plain =
        matches!(url.scheme(), "http" | "https") && url.username().is_empty() && url.password().is_none();
    (plain && url.has_host() && url.as_str().len() <= MAX_URL).then_some(url)
}

/// A repository's address as all its spellings have it: https, no `.git`, nothing behind it; lower case where it is GitHub's.
#[must_use]
pub fn repository(text: &str) -> Option<String> {
    let text = text.trim().strip_prefix("git+").unwrap_or(text.trim());
    let url = web(text)?;
    let host = match url.host()? {
        Host::Domain(name) => name.strip_prefix("www.").unwrap_or(name).to_owned(),
        address => address.to_string(),
    };
    let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
    let path = url.path().trim_matches('/');
    if host == "github.com" {
        let path = path.to_lowercase();
        let mut parts = path.split('/');
        let (owner, name) = (parts.next()?, parts.next()?.trim_end_matches(".git"));
        let are_names = is_name(owner) && is_name(name) && [owner, name].concat().bytes().all(is_of_name);
        return are_names.then(|| format!("https://{host}/{owner}/{name}"));
    }
    let path = path.trim_end_matches(".git");
    path.split('/').all(is_name).then(|| format!("https://{host}{port}/{path}"))
}

/// True if this is a name in a path: a point at either end would read as something else the next time.
fn is_name(part: &str) -> bool {
    !part.is_empty() && !part.starts_with('.') && !part.ends_with('.')
}

/// Owner and name, where the repository is GitHub's. Takes what [`repository`] made.
#[must_use]
pub fn github(repository: &str) -> Option<(&str, &str)> {
    repository.strip_prefix("https://github.com/")?.split_once('/')
}

fn is_of_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_kept_and_tricks_are_not() {
        assert_eq!(clean("  a\n\tb\u{7}c\u{202e}d <b>e</b>  ", 100), "a bcd <b>e</b>");
        assert_eq!(clean("äöü", 5), "äö");
        assert_eq!(clean("a b", 2), "a");
        assert_eq!(some(Some("\u{200b}\u{0}"), 9), None);
        assert_eq!(some(Some("x"), 9), Some("x".into()));
    }

    #[test]
    fn addresses_are_those_of_the_web() {
        assert_eq!(web("https://a.example/x").map(String::from).as_deref(), Some("https://a.example/x"));
        for none in
            ["javascript:alert(1)", "file:///etc/passwd", "https://u:p@a.example/", "https://", "x", ""]
        {
            assert_eq!(web(none), None, "{none}");
        }
        assert_eq!(web(&format!("https://a.example/{}", "x".repeat(MAX_URL))), None);
    }

    #[test]
    fn a_repository_has_one_spelling() {
        for text in [
            "https://github.com/Ann/Files",
            "git+https://github.com/ann/files.git",
            "http://www.github.com/ann/files/tree/main/src",
            "https://github.com/ann/files/?tab=readme#x",
        ] {
            assert_eq!(repository(text).as_deref(), Some("https://github.com/ann/files"), "{text}");
        }
        assert_eq!(repository("https://gitlab.com/A/b/c.git").as_deref(), Some("https://gitlab.com/A/b/c"));
        for none in [
            "https://github.com/ann",
            "https://github.com/",
            "https://github.com/a/%2e",
            "https://x.example/",
            "https://x.example/a/.git.git",
            "",
        ] {
            assert_eq!(repository(none), None, "{none}");
        }
        assert_eq!(github("https://github.com/ann/files"), Some(("ann", "files")));
        assert_eq!(github("https://gitlab.com/ann/files"), None);
    }
}
