//! The bridge's replies about secrets and authorizations.

use super::super::{AuthorizationView, CredentialStatus, CredentialView, SecretStoreView, define_sent};

define_sent! {
    /// Replies about secrets and authorizations, by the type of their request.
    SECRET_REPLIES:
    /// The secret is on disk.
    "set_credential" SetCredentialResult {
        /// The secret, without its value.
        credential: CredentialView,
        /// True if the server is up. It gets the new secret when it is restarted.
        running: bool,
        /// True if the server had failed because the secret was missing. It starts now.
        starts: bool,
    }
    /// The secrets are on disk.
    "set_server_secrets" SetServerSecretsResult {
        /// The state of the server's secrets now.
        status: CredentialStatus,
        /// As in `set_credential`.
        running: bool,
        /// As in `set_credential`.
        starts: bool,
    }
    /// The state of the server's secrets.
    "get_credential_status" GetCredentialStatusResult {
        /// The names of the secrets that are set, missing and expired.
        status: CredentialStatus,
    }
    /// The problems with the server's secrets.
    "validate_credentials" ValidateCredentialsResult {
        /// True if the server can have all its secrets.
        valid: bool,
        /// The problems that keep it from its secrets, a sentence each.
        errors: Vec<String>,
        /// Other things to know, a sentence each.
        warnings: Vec<String>,
    }
    /// The secret is deleted.
    "delete_credential" DeleteCredentialResult {
        /// False if there was no such secret.
        deleted: bool,
        /// True if the server is up. It keeps the secret until it is stopped.
        running: bool,
    }
    /// The secrets.
    "list_credentials" ListCredentialsResult {
        /// The secrets, sorted by server and name.
        credentials: Vec<CredentialView>,
    }
    /// The authorization has begun: show the person the URL.
    "oauth_start" OauthStartResult {
        /// The URL that the person opens in a browser: `https://…`, or `http://…` on this machine.
        authorization_url: String,
        /// The URL to which the browser comes back.
        redirect_uri: String,
        /// When the authorization ends without an answer, in milliseconds since 1970.
        expires_at: u64,
    }
    /// The person has agreed.
    "oauth_finish" OauthFinishResult {
        /// What the person lets Harbor do.
        authorization: AuthorizationView,
    }
    /// The authorization has ended.
    "oauth_cancel" OauthCancelResult {
        /// False if no authorization was under way.
        cancelled: bool,
    }
    /// The authorization of the server.
    "oauth_status" OauthStatusResult {
        /// The authorization; absent when there is none.
        authorization: Option<AuthorizationView>,
    }
    /// The tokens are deleted.
    "oauth_revoke" OauthRevokeResult {
        /// False if there were no tokens.
        revoked: bool,
        /// True if the authorization server was told.
        told: bool,
        /// Why the authorization server was not told; absent when it was.
        why: Option<String>,
    }
    /// The state of the secret store.
    "get_secret_store" GetSecretStoreResult {
        /// Where and how secrets are kept.
        secret_store: SecretStoreView,
    }
    /// The secrets can be read.
    "unlock_secrets" UnlockSecretsResult {
        /// Where and how secrets are kept now.
        secret_store: SecretStoreView,
    }
    /// The secrets can no longer be read.
    "lock_secrets" LockSecretsResult {
        /// Where and how secrets are kept now.
        secret_store: SecretStoreView,
    }
    /// The secrets are encrypted on disk.
    "encrypt_secrets" EncryptSecretsResult {
        /// Where and how secrets are kept now.
        secret_store: SecretStoreView,
    }
    /// The secrets are no longer encrypted on disk.
    "decrypt_secrets" DecryptSecretsResult {
        /// Where and how secrets are kept now.
        secret_store: SecretStoreView,
    }
    /// The secrets are where `config.toml` says.
    "move_secrets" MoveSecretsResult {
        /// Where and how secrets are kept now.
        secret_store: SecretStoreView,
    }
}
