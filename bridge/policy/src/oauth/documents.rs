//! The two documents that say how a person lets somebody in: the server's, and its authorization server's.
//!
//! Owns reading them (RFC 9728, RFC 8414, OpenID Connect Discovery), and the reasons to refuse one. Must never take from a
//! document a URL that may not be asked.

use serde::Deserialize;
use url::Url;

use super::places::named;
use super::union;
use crate::remote::AllowedAddresses;

/// The most authorization servers that are looked at.
const MAX_SERVERS: usize = 16;

/// A server's document about itself.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Resource {
    /// The server's own name for itself.
    pub resource: Option<String>,
    /// Its authorization servers.
    pub authorization_servers: Vec<String>,
    /// The scopes that may be asked for, or those that suffice for most.
    pub scopes_supported: Vec<String>,
}

impl Resource {
    /// Reads the document. None if the text is no such document.
    #[must_use]
    pub fn read(text: &[u8]) -> Option<Self> {
        let mut read: Self = serde_json::from_slice(text).ok()?;
        read.authorization_servers.truncate(MAX_SERVERS);
        read.scopes_supported = union(read.scopes_supported.iter().map(String::as_str));
        Some(read)
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Written {
    issuer: String,
    authorization_endpoint: String,
    token_endpoint: String,
    registration_endpoint: Option<String>,
    revocation_endpoint: Option<String>,
    scopes_supported: Vec<String>,
    token_endpoint_auth_methods_supported: Option<Vec<String>>,
    code_challenge_methods_supported: Vec<String>,
    authorization_response_iss_parameter_supported: bool,
    client_id_metadata_document_supported: bool,
}

/// An authorization server's document about itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Issuer {
    /// The server's name, as it was asked for.
    pub issuer: String,
    /// The address to which the person's browser is sent.
    pub authorization_endpoint: Url,
    /// The address that gives tokens.
    pub token_endpoint: Url,
    /// The address at which clients register.
    pub registration_endpoint: Option<Url>,
    /// The address that takes tokens back.
    pub revocation_endpoint: Option<Url>,
    /// True if it gives tokens that renew others, when they are requested.
    pub offers_offline: bool,
    /// The ways in which clients can prove who they are; none if the document does not say.
    pub proofs: Option<Vec<String>>,
    /// True if each answer names its issuer.
    pub says_issuer: bool,
    /// True if a client may be the URL of a document about it.
    pub takes_documents: bool,
}

/// The reason why a document is not used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unusable {
    /// It is no such document.
    Garbled,
    /// It is about another authorization server.
    Another,
    /// It does not offer PKCE with S256, and codes could be stolen.
    NoPkce,
    /// It names a URL that may not be asked, for this reason.
    Place(&'static str),
}

impl Issuer {
    /// Reads the document of the authorization server `issuer`.
    ///
    /// # Errors
    /// Why it is not used.
    pub fn read(text: &[u8], issuer: &str, reach: AllowedAddresses) -> Result<Self, Unusable> {
        let said: Written = serde_json::from_slice(text).map_err(|_| Unusable::Garbled)?;
        if said.issuer != issuer {
            return Err(if said.issuer.is_empty() { Unusable::Garbled } else { Unusable::Another });
        }
        if !said.code_challenge_methods_supported.iter().any(|method| method == "S256") {
            return Err(Unusable::NoPkce);
        }
        let place = |text: &str| named(text, reach).map_err(Unusable::Place);
        let some = |text: Option<String>| text.map(|text| place(&text)).transpose();
        Ok(Self {
            authorization_endpoint: place(&said.authorization_endpoint)?,
            token_endpoint: place(&said.token_endpoint)?,
            registration_endpoint: some(said.registration_endpoint)?,
            revocation_endpoint: some(said.revocation_endpoint)?,
            offers_offline: said.scopes_supported.iter().any(|scope| scope == "offline_access"),
            proofs: said.token_endpoint_auth_methods_supported,
            says_issuer: said.authorization_response_iss_parameter_supported,
            takes_documents: said.client_id_metadata_document_supported,
            issuer: said.issuer,
        })
    }

    /// Reads the document at a server's own host, which no other document has named. It gives its own name, which must be at the
    /// same host.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub fn read_at_home(text: &[u8], base: &Url, reach: AllowedAddresses) -> Result<Self, Unusable> {
        let said: Written = serde_json::from_slice(text).map_err(|_| Unusable::Garbled)?;
        let is_here = Url::parse(&said.issuer).is_ok_and(|issuer| issuer.origin() == base.origin());
        match is_here {
            true => Self::read(text, &said.issuer, reach),
            false if said.issuer.is_empty() => Err(Unusable::Garbled),
            false => Err(Unusable::Another),
        }
    }

    /// The endpoints of a server of 2025-03-26 without any document, at the places that MCP then prescribed.
    #[must_use]
    pub fn by_default(base: &Url) -> Self {
        let at = |path| super::places::at(base, path);
        Self {
            issuer: super::places::canonical(base),
            authorization_endpoint: at("/authorize"),
            token_endpoint: at("/token"),
            registration_endpoint: Some(at("/register")),
            revocation_endpoint: None,
            offers_offline: false,
            proofs: None,
            says_issuer: false,
            takes_documents: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::{Value, json};

    const REACH: AllowedAddresses = AllowedAddresses::Public;

    fn whole() -> Value {
        json!({
            "issuer": "https://b.example/t",
            "authorization_endpoint": "https://b.example/t/authorize",
            "token_endpoint": "https://b.example/t/token",
            "registration_endpoint": "https://b.example/t/register",
            "scopes_supported": ["a", "offline_access"],
            "code_challenge_methods_supported": ["plain", "S256"],
            "token_endpoint_auth_methods_supported": ["none"],
            "more": {"x": 1},
        })
    }

    fn with(name: &str, value: Value) -> Result<Issuer, Unusable> {
        let mut document = whole();
        document[name] = value;
        Issuer::read(document.to_string().as_bytes(), "https://b.example/t", REACH)
    }

    #[test]
    fn a_document_is_used_whole_or_not_at_all() {
        let read = with("more", json!(2)).unwrap();
        assert!(read.offers_offline && !read.says_issuer && !read.takes_documents);
        assert_eq!(read.token_endpoint.as_str(), "https://b.example/t/token");
        assert_eq!(with("issuer", json!("https://b.example/t/")), Err(Unusable::Another));
        assert_eq!(with("issuer", json!("https://evil.example")), Err(Unusable::Another));
        assert_eq!(with("issuer", json!(5)), Err(Unusable::Garbled));
        assert_eq!(with("code_challenge_methods_supported", json!(["plain"])), Err(Unusable::NoPkce));
        assert_eq!(with("code_challenge_methods_supported", json!([])), Err(Unusable::NoPkce));
        for endpoint in
            ["authorization_endpoint", "token_endpoint", "registration_endpoint", "revocation_endpoint"]
        {
            for place in
                ["javascript:alert(1)", "http://b.example/", "https://10.0.0.1/", "https://127.0.0.1/", ""]
            {
                assert!(
                    matches!(with(endpoint, json!(place)), Err(Unusable::Place(_))),
                    "{endpoint} {place}"
                );
            }
        }
    }

    #[test]
    fn a_server_names_its_authorization_servers() {
        let read = |text: &str| Resource::read(text.as_bytes());
        let said = read(
            r#"{"resource":"https://a.example","authorization_servers":["x"],"scopes_supported":["a","b c"]}"#,
        );
        assert_eq!(said.unwrap().scopes_supported, ["a"]);
        assert_eq!(read("{}"), Some(Resource::default()));
        for text in ["", "<html>", r#"{"authorization_servers":"x"}"#] {
            assert!(read(text).is_none(), "{text}");
        }
        let many = json!({"authorization_servers": vec!["x"; 99]}).to_string();
        assert_eq!(read(&many).unwrap().authorization_servers.len(), MAX_SERVERS);
    }

    proptest! {
        #[test]
        fn nothing_breaks_it(text in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = Resource::read(&text);
            prop_assert!(Issuer::read(&text, "https://b.example", REACH).is_err());
        }
    }
}
