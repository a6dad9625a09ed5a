//! Requests about authorizations: what the person lets Harbor do at remote servers, by OAuth.

use super::super::define_requests;
use crate::secret::Secret;
use crate::server_id::ServerId;

define_requests! {
    /// Any request about authorizations.
    OauthRequest:
    /// Begins an authorization: finds the authorization server that must ask the person. An earlier one that is still under
    /// way ends. It ends with its connection, or after five minutes.
    "oauth_start" OauthStart -> OauthStartResult {
        /// The server's id. It is a remote server.
        server_id: ServerId,
        /// The client id of Harbor at the authorization server; needed only if Harbor cannot register there itself.
        client_id: Option<String>,
        /// The secret of that client id, if it has one.
        client_secret: Option<Secret>,
        /// Scopes to ask for, besides those that the server asks for and those granted before.
        scopes: Option<Vec<String>>,
        /// The port of this machine for the redirect URI, if the client id is registered with one; absent: any port.
        redirect_port: Option<u32>,
        /// The host in the redirect URI: `127.0.0.1` (default) or `localhost`.
        redirect_host: Option<String>,
    }
    /// Waits for the person's answer, stores the tokens, and starts the server with them. A `cancel` of this request ends
    /// the authorization.
    "oauth_finish" OauthFinish -> OauthFinishResult {
        /// The server's id.
        server_id: ServerId,
    }
    /// Ends an authorization that is under way.
    "oauth_cancel" OauthCancel -> OauthCancelResult {
        /// The server's id.
        server_id: ServerId,
    }
    /// Gives the authorization of a server.
    "oauth_status" OauthStatus -> OauthStatusResult {
        /// The server's id.
        server_id: ServerId,
    }
    /// Revokes an authorization: tells the authorization server if possible, deletes the tokens, and stops the server.
    "oauth_revoke" OauthRevoke -> OauthRevokeResult {
        /// The server's id.
        server_id: ServerId,
    }
}
