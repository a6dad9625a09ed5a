//! What is told of authorizations: never a token.

use super::define_sent;

define_sent! {
    /// Objects about authorizations.
    OAUTH_OBJECTS:
    /// What a person has let Harbor do at a server, without its tokens.
    "Authorization" AuthorizationView {
        /// The server that it is for.
        server_id: String,
        /// The authorization server.
        issuer: String,
        /// What the server calls itself there.
        resource: String,
        /// As whom Harbor is known there.
        client_id: String,
        /// What it is for.
        scopes: Vec<String>,
        /// When the person said yes, in milliseconds since 1970.
        granted_at: u64,
        /// When the present token ends, likewise; absent where nobody knows.
        expires_at: Option<u64>,
        /// Whether it is renewed automatically.
        renews: bool,
        /// Whether it has ended, and the person has to be asked again.
        is_expired: bool,
    }
}
