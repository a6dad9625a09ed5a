//! Requests about secrets of servers.

use super::super::{CredentialType, define_requests};
use crate::secret::{Secret, SecretMap};
use crate::server_id::ServerId;

define_requests! {
    /// Any request about secrets of servers.
    CredentialRequest:
    /// Stores a secret of a server, or replaces it: a key, a password, a token. Its next start has it, as the environment
    /// variable of its name, or as a header of requests to a remote server.
    "set_credential" SetCredential {
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
    }
    /// Stores several secrets of the type `api_key` at once; the others of the server stay.
    "set_server_secrets" SetServerSecrets {
        /// The server's id.
        server_id: ServerId,
        /// The secrets by name.
        secrets: SecretMap,
    }
    /// Says which secrets of a server are set, missing and expired.
    "get_credential_status" GetCredentialStatus {
        /// The server's id.
        server_id: ServerId,
    }
    /// Says what is wrong with the secrets of a server.
    "validate_credentials" ValidateCredentials {
        /// The server's id.
        server_id: ServerId,
    }
    /// Deletes a secret. A server that runs has it until it is stopped.
    "delete_credential" DeleteCredential {
        /// The server's id.
        server_id: ServerId,
        /// Its name.
        key: String,
    }
    /// Lists secrets, without their values.
    "list_credentials" ListCredentials {
        /// Only those of this server.
        server_id: Option<ServerId>,
    }
}
