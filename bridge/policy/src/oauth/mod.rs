//! OAuth 2.1 for remote servers, as decisions. MCP 2026-07-28 says what a client has to do.
//!
//! ```text
//!  HTTP 401 ─► challenge ─► documents: the resource's, its authorization server's ─► flow ─► the person ─► flow ─► Grant
//!  HTTP 401 with a grant ─► token: renewed ─► Grant, or the person has to be asked
//!  HTTP 403 insufficient_scope ─► challenge ─► the person has to be asked for more
//! ```
//!
//! Owns which URLs may be asked, which answers are believed, and who gets which token. Access tokens go to the server; refresh
//! tokens go to the token endpoint. Must never put other people's text into a sentence, except host and port.

pub mod challenge;
pub mod documents;
pub mod flow;
pub mod places;
pub mod proof;
pub mod redirect;
pub mod token;

/// The longest answer that is read, in bytes.
pub const MAX_ANSWER: usize = 1024 * 1024;

/// The longest header that is read, in bytes.
pub const MAX_CHALLENGE: usize = 8 * 1024;

/// The name of the secret that a grant is stored as.
pub const KEY: &str = "OAUTH";

/// The most scopes that are kept, and the most characters of each.
const MAX_SCOPES: usize = 64;
const MAX_SCOPE: usize = 128;

/// The scopes of a text that are any, each once.
#[must_use]
pub fn scopes(text: &str) -> Vec<String> {
    union(text.split(' '))
}

/// Each scope once, in order. Invalid scopes are left out.
pub fn union<'a>(scopes: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for scope in scopes {
        if is_scope(scope) && all.len() < MAX_SCOPES && !all.iter().any(|known| known == scope) {
            all.push(scope.to_owned());
        }
    }
    all
}

/// True if a text is one scope, as RFC 6749 has them.
#[must_use]
pub fn is_scope(text: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_graphic() && byte != b'"' && byte != b'\\';
    !text.is_empty() && text.len() <= MAX_SCOPE && text.bytes().all(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scopes_are_words_and_each_is_there_once() {
        assert_eq!(scopes("a b  a files:read \"c \u{e4}"), ["a", "b", "files:read"]);
        assert_eq!(union(["a", "b c", "d", "a"]), ["a", "d"]);
        let many: Vec<String> = (0..MAX_SCOPES + 9).map(|n| n.to_string()).collect();
        assert_eq!(scopes(&many.join(" ")).len(), MAX_SCOPES);
        assert!(scopes(&"x".repeat(MAX_SCOPE + 1)).is_empty());
    }
}
