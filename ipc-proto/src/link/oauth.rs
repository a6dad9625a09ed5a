//! OAuth in the words of the link: the login of a remote server.
//!
//! Owns that none of its secrets is a plain string: a [`Secret`] is never shown, and its memory is overwritten.

use std::borrow::Cow;

use bincode::{BorrowDecode, Encode};

use crate::secret::Secret;

/// A login: the tokens that let Harbor in at a remote server, and how they are renewed.
#[derive(Debug, Clone, PartialEq, Eq, Encode, BorrowDecode)]
pub struct Grant {
    /// The token that goes with each request to the server, and to nobody else.
    pub access_token: Secret,
    /// The token that gets a new access token. It goes to the token endpoint only.
    pub refresh_token: Option<Secret>,
    /// When the access token expires, in milliseconds since 1970; `None` if not known.
    pub expires_at: Option<u64>,
    /// The scopes, in the words of the authorization server.
    pub scopes: Vec<String>,
    /// When the person agreed, in milliseconds since 1970. A renewed login keeps the time of the one before, which
    /// identifies it.
    pub granted_at: u64,
    /// Harbor's client at the authorization server.
    pub client: Client,
    /// The authorization server.
    pub issuer: String,
    /// The endpoint that issues tokens.
    pub token_endpoint: String,
    /// The endpoint that revokes tokens, if there is one.
    pub revocation_endpoint: Option<String>,
    /// The server that the tokens are for.
    pub resource: String,
}

/// The result of a renewal.
#[derive(Debug, Clone, PartialEq, Eq, Encode, BorrowDecode)]
pub enum Renewal<'a> {
    /// The login holds. It is stored.
    Granted(Box<Grant>),
    /// No login can be had just now; the sentence says why.
    Failed(Cow<'a, str>),
}

/// Harbor's client at an authorization server.
#[derive(Debug, Clone, PartialEq, Eq, Encode, BorrowDecode)]
pub struct Client {
    /// The client id.
    pub id: String,
    /// The client's secret, if it has one.
    pub secret: Option<Secret>,
    /// How the client proves who it is.
    pub proof: Proof,
    /// True if the person named this client. It is then used again.
    pub is_given: bool,
}

/// How a client proves who it is at the token endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, BorrowDecode)]
pub enum Proof {
    /// It does not: it gives only its id.
    None,
    /// `client_secret_basic`.
    Basic,
    /// `client_secret_post`.
    Post,
}

/// A client that the person has named.
#[derive(Debug, Clone, PartialEq, Eq, Encode, BorrowDecode)]
pub struct Given<'a> {
    /// The client id.
    pub id: Cow<'a, str>,
    /// The client's secret, if it has one.
    pub secret: Option<Secret>,
    /// The authorization server that knows the client, if that is known.
    pub issuer: Option<Cow<'a, str>>,
}

/// A wish for a login, for which the person must be asked.
#[derive(Debug, Clone, PartialEq, Eq, Encode, BorrowDecode)]
pub struct Wish<'a> {
    /// The URL to which the person's browser brings the answer.
    pub redirect_uri: Cow<'a, str>,
    /// The client that the person named for Harbor.
    pub client: Option<Given<'a>>,
    /// The https URL of a document that describes Harbor.
    pub client_document: Option<Cow<'a, str>>,
    /// Scopes beyond those that the server asks for at first: granted before, or found to be missing.
    pub scopes: Vec<Cow<'a, str>>,
    /// The header `WWW-Authenticate` of the server's refusal, if it is known.
    pub challenge: Option<Cow<'a, str>>,
}
