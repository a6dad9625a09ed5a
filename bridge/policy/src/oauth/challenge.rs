//! The header `WWW-Authenticate`, which a server sends when it refuses a request.
//!
//! ```text
//!  Bearer error="insufficient_scope", scope="a b", resource_metadata="https://…"
//! ```
//!
//! Owns reading it, as RFC 9110 and RFC 6750 write it. Must never fail: text that makes no sense counts as no challenge.

use super::{MAX_CHALLENGE, scopes};

/// The challenge of the scheme Bearer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Challenge {
    /// True if there is one.
    pub is_bearer: bool,
    /// The address of the resource's document.
    pub resource_metadata: Option<String>,
    /// The scopes that the request needs.
    pub scopes: Vec<String>,
    /// True if the token is good, and not enough.
    pub wants_more: bool,
}

/// Reads the header; of several their values with a comma between them.
#[must_use]
pub fn parse(text: &str) -> Challenge {
    let mut said = Challenge::default();
    if text.len() > MAX_CHALLENGE {
        return said;
    }
    let mut rest = text;
    let mut of_bearer = false;
    while let Some(word) = take_word(&mut rest) {
        let Some(value) = take_value(&mut rest) else {
            // A word without a value is the next scheme; of several of the same name the first counts.
            of_bearer = word.eq_ignore_ascii_case("bearer") && !said.is_bearer;
            said.is_bearer |= of_bearer;
            continue;
        };
        if !of_bearer {
            continue;
        }
        match word.to_ascii_lowercase().as_str() {
            "resource_metadata" => said.resource_metadata = Some(value),
            "scope" => said.scopes = scopes(&value),
            "error" => said.wants_more = value == "insufficient_scope",
            _ => {}
        }
    }
    said
}

/// The next word of a header, behind blanks, commas and what else has no meaning here.
fn take_word<'t>(rest: &mut &'t str) -> Option<&'t str> {
    let start = rest.find(is_token)?;
    let behind = &rest[start..];
    let end = behind.find(|c| !is_token(c)).unwrap_or(behind.len());
    *rest = &behind[end..];
    Some(&behind[..end])
}

/// Reads the value behind `=`, if `=` comes next.
fn take_value(rest: &mut &str) -> Option<String> {
    let behind = rest.trim_start_matches([' ', '\t']).strip_prefix('=')?.trim_start_matches([' ', '\t']);
    let Some(quoted) = behind.strip_prefix('"') else {
        let end = behind.find(|c: char| c == ',' || c.is_ascii_whitespace()).unwrap_or(behind.len());
        *rest = &behind[end..];
        return Some(behind[..end].to_owned());
    };
    let mut value = String::new();
    let mut letters = quoted.char_indices();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '"' => {
                *rest = &quoted[at + 1..];
                return Some(value);
            }
            '\\' => value.extend(letters.next().map(|(_, letter)| letter)),
            _ => value.push(letter),
        }
    }
    *rest = "";
    Some(value)
}

fn is_token(c: char) -> bool {
    c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_servers_write_is_read() {
        let said = parse(
            "Bearer error=\"insufficient_scope\", scope=\"files:write  x\",\n  resource_metadata = \"https://a.example/x\\\"y\"",
        );
        assert!(said.is_bearer && said.wants_more);
        assert_eq!(said.scopes, ["files:write", "x"]);
        assert_eq!(said.resource_metadata.as_deref(), Some("https://a.example/x\"y"));
        let said = parse("Basic realm=\"scope=a, Bearer\", DPoP algs=\"ES256\", bearer scope=a");
        assert_eq!((said.is_bearer, said.scopes), (true, vec!["a".to_owned()]));
        let said = parse("Negotiate abc==, Bearer realm=\"x\", Basic scope=\"b\", Bearer scope=\"c\"");
        assert_eq!((said.is_bearer, said.scopes), (true, vec![]));
        assert_eq!(parse("Basic realm=\"x\", scope=\"a\""), Challenge::default());
        assert_eq!(parse(&format!("Bearer {}", "x".repeat(MAX_CHALLENGE))), Challenge::default());
        assert!(parse("Bearer scope=\"a").scopes == ["a"] && parse("Bearer").is_bearer);
    }

    proptest! {
        #[test]
        fn nothing_breaks_it(text in ".{0,200}") {
            let _ = parse(&text);
        }

        #[test]
        fn what_is_quoted_comes_back(value in "[ -~]{0,40}") {
            let quoted = value.replace('\\', "\\\\").replace('"', "\\\"");
            let said = parse(&format!("Bearer a=b, resource_metadata=\"{quoted}\""));
            prop_assert_eq!(said.resource_metadata, Some(value));
        }
    }
}
