//! Objects about authorizations. They never hold a token.

use super::define_sent;

define_sent! {
    /// Objects about authorizations.
    OAUTH_OBJECTS:
    /// An authorization: what the person lets Harbor do at a server, without the tokens.
    "Authorization" AuthorizationView {
        /// The server that it is for.
        server_id: String,
        /// The authorization server.
        issuer: String,
        /// The identifier of the server at the authorization server.
        resource: String,
        /// The client id of Harbor at the authorization server.
        client_id: String,
        /// The scopes that the authorization server granted.
        scopes: Vec<String>,
        /// When the person agreed, in milliseconds since 1970.
        granted_at: u64,
        /// When the present token expires, in milliseconds since 1970; absent when not known.
        expires_at: Option<u64>,
        /// True if Harbor renews the token by itself.
        renews: bool,
        /// True if the authorization has ended, and the person must be asked again.
        is_expired: bool,
    }
}
