//! Requests about secrets of servers.

use super::super::{CredentialType, define_requests};
use crate::secret::{Secret, SecretMap};
use crate::server_id::ServerId;

define_requests! {
    /// Any request about secrets of servers.
    CredentialRequest:
    /// Stores a secret of a server, or replaces it: a key, a password, a token. Its next start has it, as the environment
    /// variable of its name, or as a header of requests to a remote server.
    "set_credential" SetCredential -> SetCredentialResult {
        /// The server's id.
        server_id: ServerId,
        /// Its name: a letter or `_`, then letters, digits, `_`, `.` and `-`; of a header its name.
        key: String,
        /// The secret, up to 64 KiB. It is never shown again.
        value: Secret,
        /// `api_key` when absent.
        credential_type: Option<CredentialType>,
        /// The name that belongs to a password.
        username: Option<String>,
        /// When it ends, in milliseconds since 1970.
        expires_at: Option<u64>,
        /// Of `browser`, which is no server: the site at which browser tools may type it, such as `https://example.com`.
        site: Option<String>,
    }
    /// Stores several secrets of the type `api_key` at once; the others of the server stay.
    "set_server_secrets" SetServerSecrets -> SetServerSecretsResult {
        /// The server's id.
        server_id: ServerId,
        /// The secrets by name.
        secrets: SecretMap,
    }
    /// Says which secrets of a server are set, missing and expired.
    "get_credential_status" GetCredentialStatus -> GetCredentialStatusResult {
        /// The server's id.
        server_id: ServerId,
    }
    /// Says what is wrong with the secrets of a server.
    "validate_credentials" ValidateCredentials -> ValidateCredentialsResult {
        /// The server's id.
        server_id: ServerId,
    }
    /// Deletes a secret. A server that runs has it until it is stopped.
    "delete_credential" DeleteCredential -> DeleteCredentialResult {
        /// The server's id.
        server_id: ServerId,
        /// Its name.
        key: String,
        /// Of `browser`: the site that it is kept for; all of this name when absent.
        site: Option<String>,
    }
    /// Lists secrets, without their values.
    "list_credentials" ListCredentials -> ListCredentialsResult {
        /// Only those of this server.
        server_id: Option<ServerId>,
    }
    /// Says where secrets are kept, and whether they can be read.
    "get_secret_store" GetSecretStore -> GetSecretStoreResult {}
    /// Has encrypted secrets readable until the bridge ends or `lock_secrets`; servers that waited for it start.
    "unlock_secrets" UnlockSecrets -> UnlockSecretsResult {
        /// Their passphrase; absent where a file gives it, or the keyring has the key.
        passphrase: Option<Secret>,
    }
    /// Has the bridge forget the key of encrypted secrets. Servers that run go on.
    "lock_secrets" LockSecrets -> LockSecretsResult {}
    /// Encrypts secrets with a passphrase, or takes another one.
    "encrypt_secrets" EncryptSecrets -> EncryptSecretsResult {
        /// The new passphrase: 8 characters or more, one line, up to 1 KiB.
        passphrase: Secret,
    }
    /// Makes a plain file of encrypted secrets.
    "decrypt_secrets" DecryptSecrets -> DecryptSecretsResult {}
    /// Puts secrets where `secrets.store` in `config.toml` says.
    "move_secrets" MoveSecrets -> MoveSecretsResult {}
}
