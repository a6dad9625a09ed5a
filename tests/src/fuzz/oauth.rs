//! What servers and authorization servers write about letting people in, and what browsers bring back.
//!
//! Whatever comes: what is taken is bounded, leads nowhere that it may not, and is the one answer that was waited for.

use harbor_bridge::oauth_callback::{PATH, RedirectHead, head};
use harbor_ipc_proto::secret::Secret;
use harbor_policy::oauth::challenge::parse;
use harbor_policy::oauth::documents::{Issuer, Resource};
use harbor_policy::oauth::redirect::{RedirectAnswer, read};
use harbor_policy::oauth::{MAX_CHALLENGE, is_scope};
use harbor_policy::remote::AllowedAddresses;

use super::Target;

pub(super) const CHALLENGE: Target = Target {
    name: "challenge",
    run: challenge,
    corpus: &[
        b"Bearer resource_metadata=\"https://a.example/x\", scope=\"a b\", error=\"insufficient_scope\"",
        b"Basic realm=\"a, Bearer scope=b\", bearer scope=a\\",
        b"Negotiate abc==, Bearer =, , Bearer \"",
    ],
};

fn challenge(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let said = parse(&text);
    assert!(said.scopes.iter().all(|scope| is_scope(scope)));
    assert!(text.len() <= MAX_CHALLENGE || !said.is_bearer);
    assert!(said.is_bearer || said.scopes.is_empty() && said.resource_metadata.is_none() && !said.wants_more);
}

pub(super) const DOCUMENTS: Target = Target {
    name: "oauth_documents",
    run: documents,
    corpus: &[
        br#"{"issuer":"https://b.example","authorization_endpoint":"https://b.example/a","token_endpoint":"https://b.example/t","code_challenge_methods_supported":["S256"]}"#,
        br#"{"issuer":"https://b.example","authorization_endpoint":"javascript:x","token_endpoint":"http://10.0.0.1","code_challenge_methods_supported":["S256"]}"#,
        br#"{"resource":"https://a.example/mcp","authorization_servers":["https://b.example"],"scopes_supported":["a","b c"]}"#,
    ],
};

fn documents(bytes: &[u8]) {
    if let Some(said) = Resource::read(bytes) {
        assert!(
            said.authorization_servers.len() <= 16
                && said.scopes_supported.iter().all(|scope| is_scope(scope))
        );
    }
    if let Ok(about) = Issuer::read(bytes, "https://b.example", AllowedAddresses::Public) {
        assert_eq!(about.issuer, "https://b.example");
        let optional = [about.registration_endpoint, about.revocation_endpoint].into_iter().flatten();
        for url in [about.authorization_endpoint, about.token_endpoint].into_iter().chain(optional) {
            assert!(url.scheme() == "https" && url.username().is_empty(), "{url}");
        }
    }
}

pub(super) const REDIRECT: Target = Target {
    name: "redirect",
    run: redirect,
    corpus: &[
        b"GET /callback?code=c&state=st4te&iss=https%3A%2F%2Fb.example HTTP/1.1\r\nHost: 127.0.0.1:80\r\n\r\n",
        b"GET /callback?error=access_denied&state=st4te HTTP/1.1\r\nhost:127.0.0.1:80\r\n\r\n",
        b"GET /callback?state=st4te&state=st4te HTTP/1.1\r\nHost: evil\r\nHost: 127.0.0.1:80\r\n\r\n",
        b"POST /callback HTTP/1.1\r\n",
    ],
};

fn redirect(bytes: &[u8]) {
    let RedirectHead::Query(query) = head(bytes, "127.0.0.1:80") else { return };
    let text = String::from_utf8_lossy(bytes).into_owned();
    assert!(text.starts_with(&format!("GET {PATH}?")) && text.contains("127.0.0.1:80"));
    let state = Secret::new("st4te".into());
    match read(query.expose(), &state, "https://b.example", true) {
        Ok(RedirectAnswer::Code(code)) => assert!(!code.is_empty() && query.expose().contains("iss=")),
        Ok(RedirectAnswer::Error(word)) => assert!(word.is_ascii() && !word.contains('<')),
        Err(_) => {}
    }
}
