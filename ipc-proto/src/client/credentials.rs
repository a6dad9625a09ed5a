//! The form of secrets in messages: names, types and times, never a value.

use super::define_sent;
use crate::field::{FromField, PutField, Word, room_of};
use crate::strings::put_str;

/// How a server is given a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum CredentialType {
    /// A key, in the environment variable of its name.
    #[default]
    ApiKey,
    /// A password, in the environment variable of its name. Its user name is in the variable with `_USERNAME` added.
    Password,
    /// A token that OAuth gave, in the environment variable of its name.
    Oauth,
    /// A header of requests to a remote server.
    Header,
}

impl CredentialType {
    /// Every type.
    pub const ALL: [Self; 4] = [Self::ApiKey, Self::Password, Self::Oauth, Self::Header];

    /// The word on the wire, on disk and on the command line.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ApiKey => "api_key",
            Self::Password => "password",
            Self::Oauth => "oauth",
            Self::Header => "header",
        }
    }

    /// The type of this name.
    #[must_use]
    pub fn named(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == word)
    }
}

impl FromField for CredentialType {
    const EXPECTED: &'static str = "api_key, password, oauth or header";
    fn from_text(text: &str) -> Option<Self> {
        Self::named(&String::from_text(text)?)
    }
}

impl PutField for CredentialType {
    const TYPE: &'static str = "string";
    fn put(&self, out: &mut Vec<u8>) {
        put_str(out, self.as_str());
    }
    fn room(&self) -> usize {
        room_of(self.as_str())
    }
}

define_sent! {
    /// Objects about secrets.
    CREDENTIAL_OBJECTS:
    /// A secret, without its value.
    "Credential" CredentialView {
        /// The server that the secret is for, or `browser`.
        server_id: String,
        /// Its name.
        key: String,
        /// `api_key`, `password`, `oauth` or `header`.
        credential_type: CredentialType,
        /// True if the secret has a user name, as a password may.
        has_username: bool,
        /// When the secret was set, in milliseconds since 1970.
        set_at: u64,
        /// When the secret expires, in milliseconds since 1970; absent when not known.
        expires_at: Option<u64>,
        /// True if the secret has expired.
        is_expired: bool,
        /// For `browser`: the site that the secret is for.
        site: Option<String>,
    }
    /// Where secrets are kept, and whether they can be read. It names none of them.
    "SecretStore" SecretStoreView {
        /// The place that `config.toml` names: `file` or `keyring`.
        store: Word,
        /// What holds the key of the secrets: `none` (the file is not encrypted), `passphrase` or `keyring`.
        encryption: Word,
        /// True if the secrets cannot be read now.
        locked: bool,
        /// True if `unlock_secrets` needs a passphrase.
        asks: bool,
        /// Why the secrets are not where `config.toml` says, and what to do; absent when they are there.
        misplaced: Option<String>,
    }
    /// The state of the secrets that a server needs.
    "CredentialStatus" CredentialStatus {
        /// The server.
        server_id: String,
        /// True if no secret is missing or expired.
        is_complete: bool,
        /// Names of the secrets that are set.
        configured: Vec<String>,
        /// Names of the secrets that the definition asks for and that are not set.
        missing: Vec<String>,
        /// Names of the secrets that have expired.
        expired: Vec<String>,
    }
}
