//! Requests about secrets of servers.

use super::super::{CredentialType, define_requests};
use crate::secret::{Secret, SecretMap};
use crate::server_id::ServerId;

define_requests! {
    /// Any request about secrets of servers.
    CredentialRequest:
    /// Stores a secret of a server, or replaces it: a key, a password, a token. The server gets it at its next start, as
    /// the environment variable of its name or as a header of requests to a remote server.
    "set_credential" SetCredential -> SetCredentialResult {
        /// The server's id.
        server_id: ServerId,
        /// The secret's name: a letter or `_`, then letters, digits, `_`, `.` and `-`. For a header: the header's name.
        key: String,
        /// The secret, up to 64 KiB. It is never shown again.
        value: Secret,
        /// The type; absent: `api_key`.
        credential_type: Option<CredentialType>,
        /// The user name that belongs to a password.
        username: Option<String>,
        /// When the secret expires, in milliseconds since 1970; absent when not known.
        expires_at: Option<u64>,
        /// For `browser`, which is no server: the site where browser tools may type the secret, such as `https://example.com`.
        site: Option<String>,
    }
    /// Stores several secrets of the type `api_key` at once. The server's other secrets stay.
    "set_server_secrets" SetServerSecrets -> SetServerSecretsResult {
        /// The server's id.
        server_id: ServerId,
        /// The secrets by name.
        secrets: SecretMap,
    }
    /// Lists which secrets of a server are set, missing and expired.
    "get_credential_status" GetCredentialStatus -> GetCredentialStatusResult {
        /// The server's id.
        server_id: ServerId,
    }
    /// Lists the problems with the secrets of a server.
    "validate_credentials" ValidateCredentials -> ValidateCredentialsResult {
        /// The server's id.
        server_id: ServerId,
    }
    /// Deletes a secret. A server that runs keeps it until it is stopped.
    "delete_credential" DeleteCredential -> DeleteCredentialResult {
        /// The server's id.
        server_id: ServerId,
        /// The secret's name.
        key: String,
        /// For `browser`: the site of the secret; absent: all secrets of this name.
        site: Option<String>,
    }
    /// Lists secrets, without their values.
    "list_credentials" ListCredentials -> ListCredentialsResult {
        /// Only secrets of this server; absent: all secrets.
        server_id: Option<ServerId>,
    }
    /// Says where secrets are kept, and whether they can be read.
    "get_secret_store" GetSecretStore -> GetSecretStoreResult {}
    /// Makes encrypted secrets readable until the bridge ends or `lock_secrets` comes. Servers that waited for them start.
    "unlock_secrets" UnlockSecrets -> UnlockSecretsResult {
        /// The passphrase; absent if a file gives it, or the keyring has the key.
        passphrase: Option<Secret>,
    }
    /// Has the bridge forget the key of encrypted secrets. Servers that run are not stopped.
    "lock_secrets" LockSecrets -> LockSecretsResult {}
    /// Encrypts secrets with a passphrase, or changes the passphrase.
    "encrypt_secrets" EncryptSecrets -> EncryptSecretsResult {
        /// The new passphrase: 8 characters or more, one line, up to 1 KiB.
        passphrase: Secret,
    }
    /// Decrypts the secrets on disk: the file is plain from then on.
    "decrypt_secrets" DecryptSecrets -> DecryptSecretsResult {}
    /// Moves the secrets to the place that `secrets.store` in `config.toml` names.
    "move_secrets" MoveSecrets -> MoveSecretsResult {}
}
