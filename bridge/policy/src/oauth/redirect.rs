//! The query that the person's browser brings back.
//!
//! Owns when it is believed: the state is ours, it is there once, and the query names the authorization server that was asked, as
//! RFC 9207 wants it. Must never look at the rest before that.

use harbor_ipc_proto::secret::Secret;
use url::form_urlencoded::parse;

/// The longest query that is read, in bytes.
pub const MAX_QUERY: usize = 16 * 1024;

/// The answer of the authorization server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RedirectAnswer {
    /// The person said yes: what tokens are had for.
    Code(Secret),
    /// The person did not say yes, or it was impossible: RFC 6749's code, if it is a known one.
    Error(&'static str),
}

/// The reason why an answer is invalid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InvalidRedirectReason {
    /// It repeats another state, or none: somebody else's.
    State,
    /// It is of another authorization server, or does not say of which although this one always does.
    Issuer,
    /// It has neither a code nor an error, or has a member twice.
    Garbled,
}

/// The words of RFC 6749, section 4.1.2.1, and of OpenID Connect.
const ERRORS: [&str; 11] = [
    "access_denied",
    "invalid_request",
    "unauthorized_client",
    "unsupported_response_type",
    "invalid_scope",
    "server_error",
    "temporarily_unavailable",
    "invalid_target",
    "interaction_required",
    "login_required",
    "consent_required",
];

/// True if a query repeats this state.
#[must_use]
pub fn has_state(query: &str, state: &Secret) -> bool {
    query.len() <= MAX_QUERY && one(query, "state").is_ok_and(|said| said.as_ref() == Some(state))
}

/// Reads a query; `issuer` was asked, and `always_says` whether it puts its name into each answer.
///
/// # Errors
/// Why it is not to be believed.
pub fn read(
    query: &str,
    state: &Secret,
    issuer: &str,
    always_says: bool,
) -> Result<RedirectAnswer, InvalidRedirectReason> {
    if !has_state(query, state) {
        return Err(InvalidRedirectReason::State);
    }
    match one(query, "iss")? {
        Some(said) if said.expose() != issuer => return Err(InvalidRedirectReason::Issuer),
        None if always_says => return Err(InvalidRedirectReason::Issuer),
        _ => {}
    }
    match (one(query, "code")?, one(query, "error")?) {
        (Some(code), None) if !code.is_empty() => Ok(RedirectAnswer::Code(code)),
        (None, Some(error)) => {
            let known = ERRORS.iter().find(|known| **known == error.expose());
            Ok(RedirectAnswer::Error(known.copied().unwrap_or("an error that it does not name")))
        }
        _ => Err(InvalidRedirectReason::Garbled),
    }
}

/// The value of this name, if there is one; twice is wrong.
fn one(query: &str, name: &str) -> Result<Option<Secret>, InvalidRedirectReason> {
    let mut found = parse(query.as_bytes()).filter(|(known, _)| known == name);
    let first = found.next().map(|(_, value)| Secret::new(value.into_owned()));
    if found.next().is_some() { Err(InvalidRedirectReason::Garbled) } else { Ok(first) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ISSUER: &str = "https://b.example/t";

    fn state() -> Secret {
        Secret::new("st4te".into())
    }

    fn of(query: &str, always_says: bool) -> Result<RedirectAnswer, InvalidRedirectReason> {
        read(query, &state(), ISSUER, always_says)
    }

    #[test]
    fn only_the_answer_of_who_was_asked_is_taken() {
        let code = Ok(RedirectAnswer::Code(Secret::new("c d".into())));
        assert_eq!(of("code=c+d&state=st4te", false), code);
        assert_eq!(of("state=st4te&code=c%20d&iss=https%3A%2F%2Fb.example%2Ft", true), code);
        assert_eq!(of("code=c&state=st4te", true), Err(InvalidRedirectReason::Issuer));
        assert_eq!(
            of("code=c&state=st4te&iss=https%3A%2F%2Fb.example%2Ft%2F", false),
            Err(InvalidRedirectReason::Issuer)
        );
        for query in ["code=c", "code=c&state=St4te", "code=c&state=", "code=c&state=st4te&state=st4te", ""] {
            assert_eq!(of(query, false), Err(InvalidRedirectReason::State), "{query}");
        }
        for query in
            ["state=st4te", "state=st4te&code=", "state=st4te&code=a&code=b", "state=st4te&code=a&error=b"]
        {
            assert_eq!(of(query, false), Err(InvalidRedirectReason::Garbled), "{query}");
        }
    }

    #[test]
    fn errors_are_words_that_are_known() {
        assert_eq!(of("state=st4te&error=access_denied", false), Ok(RedirectAnswer::Error("access_denied")));
        let Ok(RedirectAnswer::Error(word)) = of("state=st4te&error=%3Cscript%3E", false) else {
            panic!("no error")
        };
        assert!(!word.contains('<'));
        // Of somebody else, not even that.
        assert_eq!(
            of("state=st4te&error=access_denied&iss=https%3A%2F%2Fevil", false),
            Err(InvalidRedirectReason::Issuer)
        );
    }

    proptest! {
        #[test]
        fn nothing_breaks_it(query in ".{0,200}", always in any::<bool>()) {
            prop_assert!(of(&query, always).is_err());
        }
    }
}
