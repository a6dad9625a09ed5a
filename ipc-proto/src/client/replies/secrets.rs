//! What the bridge answers about secrets and authorizations.

use super::super::{AuthorizationView, CredentialStatus, CredentialView, SecretStoreView, define_sent};

define_sent! {
    /// Replies about secrets and authorizations, by the type of their request.
    SECRET_REPLIES:
    /// The secret is on disk.
    "set_credential" SetCredentialResult {
        /// What is told of it.
        credential: CredentialView,
        /// Whether the server is up: a restart gives it the new one.
        running: bool,
        /// Whether the server had failed for the lack of it, and is started now.
        starts: bool,
    }
    /// The secrets are on disk.
    "set_server_secrets" SetServerSecretsResult {
        /// What the server has now.
        status: CredentialStatus,
        /// As in `set_credential`.
        running: bool,
        /// As in `set_credential`.
        starts: bool,
    }
    /// What the server has.
    "get_credential_status" GetCredentialStatusResult {
        /// By name.
        status: CredentialStatus,
    }
    /// What is wrong.
    "validate_credentials" ValidateCredentialsResult {
        /// Whether nothing keeps the server from its secrets.
        valid: bool,
        /// What does, a sentence each.
        errors: Vec<String>,
        /// What is to be minded, a sentence each.
        warnings: Vec<String>,
    }
    /// The secret is gone.
    "delete_credential" DeleteCredentialResult {
        /// False when there was none.
        deleted: bool,
        /// Whether the server is up: it has the secret until it is stopped.
        running: bool,
    }
    /// The secrets.
    "list_credentials" ListCredentialsResult {
        /// By server and name.
        credentials: Vec<CredentialView>,
    }
    /// The person is to be asked.
    "oauth_start" OauthStartResult {
        /// What they are to open in a browser: `https://…`, or `http://…` on this machine.
        authorization_url: String,
        /// Where their browser comes back to.
        redirect_uri: String,
        /// Until when, in milliseconds since 1970.
        expires_at: u64,
    }
    /// The person has let Harbor in.
    "oauth_finish" OauthFinishResult {
        /// As far as they have.
        authorization: AuthorizationView,
    }
    /// No authorization is under way any more.
    "oauth_cancel" OauthCancelResult {
        /// False when none was.
        cancelled: bool,
    }
    /// What the person has let Harbor do.
    "oauth_status" OauthStatusResult {
        /// Absent where that is nothing.
        authorization: Option<AuthorizationView>,
    }
    /// The tokens are deleted.
    "oauth_revoke" OauthRevokeResult {
        /// False when there were none.
        revoked: bool,
        /// Whether the authorization server knows.
        told: bool,
        /// Why not, when not.
        why: Option<String>,
    }
    /// Where they are kept.
    "get_secret_store" GetSecretStoreResult {
        /// How.
        secret_store: SecretStoreView,
    }
    /// They can be read.
    "unlock_secrets" UnlockSecretsResult {
        /// How they are kept.
        secret_store: SecretStoreView,
    }
    /// They cannot be read any more.
    "lock_secrets" LockSecretsResult {
        /// How they are kept.
        secret_store: SecretStoreView,
    }
    /// They are encrypted on disk.
    "encrypt_secrets" EncryptSecretsResult {
        /// How they are kept now.
        secret_store: SecretStoreView,
    }
    /// They are plain on disk.
    "decrypt_secrets" DecryptSecretsResult {
        /// How they are kept now.
        secret_store: SecretStoreView,
    }
    /// They are where `config.toml` says.
    "move_secrets" MoveSecretsResult {
        /// How they are kept now.
        secret_store: SecretStoreView,
    }
}
