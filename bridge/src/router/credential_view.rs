//! A secret as clients see it.
//!
//! Must never show its value.

use harbor_home::clock::wall_clock;
use harbor_ipc_proto::client::CredentialView;
use harbor_policy::credentials::Credential;

pub(super) fn view(server: &str, key: &str, credential: &Credential) -> CredentialView {
    CredentialView {
        server_id: server.to_string(),
        key: key.to_owned(),
        credential_type: credential.kind,
        has_username: credential.username.is_some(),
        set_at: credential.set_at,
        expires_at: credential.expires_at,
        is_expired: credential.is_expired(wall_clock()),
        site: None,
    }
}
