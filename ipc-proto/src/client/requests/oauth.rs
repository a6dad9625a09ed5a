//! Requests about what a person lets Harbor do at servers that run elsewhere, by OAuth.

use super::super::define_requests;
use crate::secret::Secret;
use crate::server_id::ServerId;

define_requests! {
    /// Any request about authorizations.
    OauthRequest:
    /// Begins an authorization: finds out whom the person has to be asked by. The one before, if it is still under way, is
    /// over. It ends with the connection that it came by, or after five minutes.
    "oauth_start" OauthStart -> OauthStartResult {
        /// The server's id; it runs elsewhere.
        server_id: ServerId,
        /// As whom Harbor is known to the authorization server, where it cannot make itself known: a client id.
        client_id: Option<String>,
        /// What proves that, where it was given any.
        client_secret: Option<Secret>,
        /// Scopes to ask for besides those that the server asks for and those that were granted before.
        scopes: Option<Vec<String>>,
        /// The port of this machine that the browser comes back to, where the client is known with one; any when absent.
        redirect_port: Option<u32>,
        /// How this machine is called in the redirect URI: `127.0.0.1`, also when absent, or `localhost`.
        redirect_host: Option<String>,
    }
    /// Waits until the person has answered, and stores what they granted; the server is started with it. A `cancel` of this
    /// request ends the authorization.
    "oauth_finish" OauthFinish -> OauthFinishResult {
        /// The server's id.
        server_id: ServerId,
    }
    /// Ends an authorization that is under way.
    "oauth_cancel" OauthCancel -> OauthCancelResult {
        /// The server's id.
        server_id: ServerId,
    }
    /// Says what the person has let Harbor do at a server.
    "oauth_status" OauthStatus -> OauthStatusResult {
        /// The server's id.
        server_id: ServerId,
    }
    /// Gives a grant back: the authorization server is told, where it can be, the tokens are deleted, and the server is
    /// stopped.
    "oauth_revoke" OauthRevoke -> OauthRevokeResult {
        /// The server's id.
        server_id: ServerId,
    }
}
