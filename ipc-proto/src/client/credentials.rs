//! What is told of a server's secrets: names, types and times, never a value.

use super::define_sent;
use crate::field::{FromField, PutField, Word, room_of};
use crate::strings::put_str;

/// How a server is given a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum CredentialType {
    /// A key, in the environment variable of its name.
    #[default]
    ApiKey,
    /// A password, likewise; the name that belongs to it in the variable with `_USERNAME` behind it.
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
        /// The server that it is for, or `browser`.
        server_id: String,
        /// Its name.
        key: String,
        /// `api_key`, `password`, `oauth` or `header`.
        credential_type: CredentialType,
        /// Whether a name belongs to it, as to a password.
        has_username: bool,
        /// When it was set, in milliseconds since 1970.
        set_at: u64,
        /// When it ends, likewise; absent where nobody knows.
        expires_at: Option<u64>,
        /// Whether it has ended.
        is_expired: bool,
        /// Of `browser`: the site that it is kept for.
        site: Option<String>,
    }
    /// Where secrets are kept. Says nothing of what there is.
    "SecretStore" SecretStoreView {
        /// What `config.toml` says: `file` or `keyring`.
        store: Word,
        /// What has their key: `none` (the file is plain), `passphrase` or `keyring`.
        encryption: Word,
        /// Whether they cannot be read at present.
        locked: bool,
        /// Whether `unlock_secrets` needs a passphrase.
        asks: bool,
        /// Why they are not as `config.toml` says, and what to do; absent where they are.
        misplaced: Option<String>,
    }
    /// Whether a server has the secrets that it needs.
    "CredentialStatus" CredentialStatus {
        /// The server.
        server_id: String,
        /// Whether none is missing and none has ended.
        is_complete: bool,
        /// Names of those that are set.
        configured: Vec<String>,
        /// Names of those that its definition asks for and that are not set.
        missing: Vec<String>,
        /// Names of those that have ended.
        expired: Vec<String>,
    }
}
