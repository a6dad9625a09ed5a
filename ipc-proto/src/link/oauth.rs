//! What OAuth is about, in the words of the link: what a person has let Harbor do at a server elsewhere.
//!
//! Owns that none of its secrets is a plain string: [`Secret`] shows itself to nobody and is overwritten.

use std::borrow::Cow;

use bincode::{BorrowDecode, Encode};

use crate::secret::Secret;

/// What a person has let Harbor do at a server elsewhere, and how that is renewed.
#[derive(Debug, Clone, PartialEq, Eq, Encode, BorrowDecode)]
pub struct Grant {
    /// Goes with each request to the server, and to nobody else.
    pub access_token: Secret,
    /// Gets another one when it has ended; goes to the token endpoint only.
    pub refresh_token: Option<Secret>,
    /// When the access token ends, in milliseconds since 1970; none where nobody has said.
    pub expires_at: Option<u64>,
    /// What it is for, in the words of the authorization server.
    pub scopes: Vec<String>,
    /// When the person said yes, in milliseconds since 1970. A renewed grant has that of the one before: so it is known.
    pub granted_at: u64,
    /// As whom Harbor is known there.
    pub client: Client,
    /// The authorization server.
    pub issuer: String,
    /// Where tokens are had.
    pub token_endpoint: String,
    /// Where they are given back, if anywhere.
    pub revocation_endpoint: Option<String>,
    /// The server that they are for.
    pub resource: String,
}

/// What came of the renewal of a grant.
#[derive(Debug, Clone, PartialEq, Eq, Encode, BorrowDecode)]
pub enum Renewal<'a> {
    /// This one holds. It is stored.
    Granted(Box<Grant>),
    /// There is none just now; one sentence says why.
    Failed(Cow<'a, str>),
}

/// As whom Harbor is known to an authorization server.
#[derive(Debug, Clone, PartialEq, Eq, Encode, BorrowDecode)]
pub struct Client {
    /// Its name there.
    pub id: String,
    /// What proves it, where it was given any.
    pub secret: Option<Secret>,
    /// How that is shown.
    pub proof: Proof,
    /// Whether a person has said it: then it is used again.
    pub is_given: bool,
}

/// How a client shows who it is at the token endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, BorrowDecode)]
pub enum Proof {
    /// Not at all: by its name only.
    None,
    /// `client_secret_basic`.
    Basic,
    /// `client_secret_post`.
    Post,
}

/// A client that a person has named.
#[derive(Debug, Clone, PartialEq, Eq, Encode, BorrowDecode)]
pub struct Given<'a> {
    /// Its name.
    pub id: Cow<'a, str>,
    /// What proves it.
    pub secret: Option<Secret>,
    /// The authorization server that it is of, where that is known.
    pub issuer: Option<Cow<'a, str>>,
}

/// A person is to be asked.
#[derive(Debug, Clone, PartialEq, Eq, Encode, BorrowDecode)]
pub struct Wish<'a> {
    /// Where the person's browser brings the answer.
    pub redirect_uri: Cow<'a, str>,
    /// The client that the person says Harbor is there.
    pub client: Option<Given<'a>>,
    /// The https URL of a document that says who Harbor is.
    pub client_document: Option<Cow<'a, str>>,
    /// What it needs besides what the server asks for at first: granted before, or found to be missing.
    pub scopes: Vec<Cow<'a, str>>,
    /// What the server said when it refused, where that is known: its header `WWW-Authenticate`.
    pub challenge: Option<Cow<'a, str>>,
}
