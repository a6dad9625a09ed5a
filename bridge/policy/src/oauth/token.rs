//! Tokens: the requests for them, and the checks of the answers.
//!
//! ```text
//!  code + verifier ─► POST token_endpoint ─► Grant ─► ended ─► POST with the refresh token ─► Grant, or the person is asked
//!                                              └► given back ─► POST revocation_endpoint
//! ```
//!
//! Owns these requests. The client's proof goes to these two places only, and so does a refresh token.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use harbor_ipc_proto::link::oauth::{Client, Grant, Proof};
use harbor_ipc_proto::secret::Secret;
use serde::Deserialize;
use url::form_urlencoded::{Serializer, byte_serialize};

use super::scopes;

/// The longest token, in bytes: it has to fit into a header.
const MAX_TOKEN: usize = 16 * 1024;

/// A token that ends within this is renewed before it is used, in milliseconds: it may be on its way for a while.
const LEEWAY: u64 = 5_000;

/// A form to be posted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenForm {
    /// The address to send the form to.
    pub url: String,
    /// The value of the header `Authorization`, where there is one.
    pub basic: Option<Secret>,
    /// The form, encoded.
    pub body: Secret,
}

impl TokenForm {
    /// A form with these fields, and with the client's proof of identity.
    pub(super) fn of(url: &str, client: &Client, fields: &[(&str, &str)]) -> Self {
        let secret = client.secret.as_ref().map_or("", Secret::expose);
        // What grows leaves copies behind.
        let length = |text: &str| 3 * text.len() + 2;
        let room = fields.iter().map(|(name, value)| length(name) + length(value)).sum::<usize>();
        let text = String::with_capacity(room + length(&client.id) + length(secret) + 64);
        let mut form = Serializer::new(text);
        for (name, value) in fields {
            form.append_pair(name, value);
        }
        if client.proof != Proof::Basic {
            form.append_pair("client_id", &client.id);
        }
        if client.proof == Proof::Post {
            form.append_pair("client_secret", secret);
        }
        let basic = (client.proof == Proof::Basic).then(|| {
            let encoded = |text: &str| byte_serialize(text.as_bytes()).collect::<String>();
            let both = Secret::new(format!("{}:{}", encoded(&client.id), encoded(secret)));
            Secret::new(format!("Basic {}", STANDARD.encode(both.expose())))
        });
        Self { url: url.to_owned(), basic, body: Secret::new(form.finish()) }
    }
}

/// True if the access token has ended, or is about to.
#[must_use]
pub fn has_ended(grant: &Grant, now: u64) -> bool {
    grant.expires_at.is_some_and(|at| at <= now.saturating_add(LEEWAY))
}

/// The request that renews a grant, where that is possible.
#[must_use]
pub fn renewal(grant: &Grant) -> Option<TokenForm> {
    let token = grant.refresh_token.as_ref()?;
    let fields = [
        ("grant_type", "refresh_token"),
        ("refresh_token", token.expose()),
        ("resource", grant.resource.as_str()),
    ];
    Some(TokenForm::of(&grant.token_endpoint, &grant.client, &fields))
}

/// The request that gives a grant back, where that is possible. It names the refresh token, if there is one,
/// since the access tokens end with that token.
#[must_use]
pub fn revocation(grant: &Grant) -> Option<TokenForm> {
    let url = grant.revocation_endpoint.as_ref()?;
    let (token, kind) = match &grant.refresh_token {
        Some(token) => (token, "refresh_token"),
        None => (&grant.access_token, "access_token"),
    };
    Some(TokenForm::of(url, &grant.client, &[("token", token.expose()), ("token_type_hint", kind)]))
}

/// The reason why there is no token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refused {
    /// Another try would fail, too: the code of RFC 6749, if it is a known one.
    ForGood(&'static str),
    /// Another try may succeed.
    ForNow,
    /// The answer is unreadable.
    Garbled,
}

/// The words of RFC 6749, section 5.2, and of RFC 8707.
const ERRORS: [&str; 7] = [
    "invalid_grant",
    "invalid_request",
    "invalid_client",
    "unauthorized_client",
    "unsupported_grant_type",
    "invalid_scope",
    "invalid_target",
];

#[derive(Deserialize)]
struct Tokens {
    access_token: Secret,
    token_type: String,
    expires_in: Option<f64>,
    refresh_token: Option<Secret>,
    scope: Option<String>,
}

#[derive(Deserialize)]
struct Failed {
    error: String,
}

/// The grant with what an answer of the token endpoint has; it is `now`, in milliseconds since 1970.
///
/// # Errors
/// Why there is none.
pub fn renewed(grant: &Grant, status: u16, body: &[u8], now: u64) -> Result<Grant, Refused> {
    if status != 200 {
        return Err(refusal(status, body));
    }
    let said: Tokens = serde_json::from_slice(body).map_err(|_| Refused::Garbled)?;
    let all = [Some(&said.access_token), said.refresh_token.as_ref()];
    let fits = |token: &&Secret| is_token(token.expose());
    if !said.token_type.eq_ignore_ascii_case("bearer") || !all.iter().flatten().all(fits) {
        return Err(Refused::Garbled);
    }
    // A year is as good as for ever, and what is no number of seconds says nothing.
    let lasts = said.expires_in.filter(|seconds| (0.0..=3.2e7).contains(seconds));
    Ok(Grant {
        access_token: said.access_token,
        refresh_token: said.refresh_token.or_else(|| grant.refresh_token.clone()),
        expires_at: lasts.map(|seconds| now.saturating_add((seconds * 1000.0) as u64)),
        scopes: said.scope.map_or_else(|| grant.scopes.clone(), |text| scopes(&text)),
        ..grant.clone()
    })
}

/// True if the text fits into a header unquoted.
fn is_token(text: &str) -> bool {
    !text.is_empty() && text.len() <= MAX_TOKEN && text.bytes().all(|byte| byte.is_ascii_graphic())
}

fn refusal(status: u16, body: &[u8]) -> Refused {
    if status >= 500 || matches!(status, 408 | 425 | 429) {
        return Refused::ForNow;
    }
    let said = serde_json::from_slice::<Failed>(body).ok();
    let known = said.and_then(|said| ERRORS.iter().find(|known| **known == said.error).copied());
    match (known, status) {
        (Some(word), _) => Refused::ForGood(word),
        // Somebody on the way to it may have said that: a login ends by its own words only.
        (None, 400 | 401) => Refused::ForNow,
        (None, _) => Refused::Garbled,
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use proptest::prelude::*;

    pub fn grant() -> Grant {
        let secret = |text: &str| Secret::new(text.into());
        Grant {
            access_token: secret("access-1"),
            refresh_token: Some(secret("refresh-1")),
            expires_at: Some(20_000),
            scopes: vec!["a".into()],
            granted_at: 7,
            client: Client {
                id: "me: ä".into(),
                secret: Some(secret("s&x")),
                proof: Proof::Basic,
                is_given: false,
            },
            issuer: "https://b.example".into(),
            token_endpoint: "https://b.example/token".into(),
            revocation_endpoint: Some("https://b.example/revoke".into()),
            resource: "https://a.example/mcp".into(),
        }
    }

    #[test]
    fn a_client_shows_who_it_is_in_its_own_way() {
        let of = |proof| TokenForm::of("u", &Client { proof, ..grant().client }, &[("a", "b c")]);
        let basic = of(Proof::Basic);
        assert_eq!(basic.body.expose(), "a=b+c");
        // RFC 6749, section 2.3.1: encoded as in a form, and then in base64.
        assert_eq!(basic.basic.unwrap().expose(), "Basic bWUlM0ErJUMzJUE0OnMlMjZ4");
        let post = of(Proof::Post);
        assert_eq!(post.body.expose(), "a=b+c&client_id=me%3A+%C3%A4&client_secret=s%26x");
        assert!(post.basic.is_none());
        assert_eq!(of(Proof::None).body.expose(), "a=b+c&client_id=me%3A+%C3%A4");
        let renewal = renewal(&grant()).unwrap();
        assert_eq!(
            renewal.body.expose(),
            "grant_type=refresh_token&refresh_token=refresh-1&resource=https%3A%2F%2Fa.example%2Fmcp"
        );
        assert!(!format!("{renewal:?}").contains("refresh-1"));
        let back = revocation(&grant()).unwrap();
        assert_eq!(
            (back.url.as_str(), back.body.expose()),
            ("https://b.example/revoke", "token=refresh-1&token_type_hint=refresh_token")
        );
    }

    #[test]
    fn what_is_not_said_stays() {
        let of = |body: &str| renewed(&grant(), 200, body.as_bytes(), 1_000);
        let plain = of(r#"{"access_token":"n","token_type":"bearer"}"#).unwrap();
        assert_eq!((plain.access_token.expose(), plain.expires_at), ("n", None));
        assert_eq!(
            (plain.refresh_token, plain.scopes, plain.granted_at),
            (grant().refresh_token, vec!["a".to_owned()], 7)
        );
        let rotated = of(
            r#"{"access_token":"n","token_type":"Bearer","expires_in":60,"refresh_token":"r","scope":"b c"}"#,
        )
        .unwrap();
        assert_eq!((rotated.expires_at, rotated.scopes.len()), (Some(61_000), 2));
        assert_eq!(rotated.refresh_token.unwrap().expose(), "r");
        assert!(has_ended(&grant(), 15_000) && !has_ended(&grant(), 14_999));
        for body in [
            "",
            r#"{"access_token":"n"}"#,
            r#"{"access_token":"n","token_type":"mac"}"#,
            r#"{"access_token":"","token_type":"bearer"}"#,
            r#"{"access_token":"a\nb","token_type":"bearer"}"#,
            r#"{"access_token":"n","token_type":"bearer","refresh_token":""}"#,
        ] {
            assert_eq!(of(body), Err(Refused::Garbled), "{body}");
        }
    }

    #[test]
    fn a_refusal_is_for_good_or_for_now() {
        let of = |status, body: &str| renewed(&grant(), status, body.as_bytes(), 0).unwrap_err();
        assert_eq!(of(400, r#"{"error":"invalid_grant"}"#), Refused::ForGood("invalid_grant"));
        assert_eq!(of(401, "<html>"), Refused::ForNow, "it is not the login that this speaks of");
        assert_eq!(of(503, r#"{"error":"invalid_grant"}"#), Refused::ForNow);
        assert_eq!(of(429, ""), Refused::ForNow);
        assert_eq!(of(302, ""), Refused::Garbled);
    }

    proptest! {
        #[test]
        fn nothing_breaks_it(status in 100u16..600, body in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = renewed(&grant(), status, &body, u64::MAX);
        }
    }
}
