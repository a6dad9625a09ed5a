//! Secrets of servers, as they are typed.
//!
//! Owns that no value is ever a word of the command line: other programs and the shell's history would see
//! it.

use clap::builder::PossibleValue;
use clap::{Args, Subcommand};
use harbor_ipc_proto::client::CredentialType;

use super::times::ahead;
use super::values::{Unrepeated, one_of, server_id};
use crate::when;

/// The message about a secret, or a passphrase, that stands on the command line.
pub(super) const TYPED_VALUE: &str = "a secret does not belong on the command line, where other programs and the shell \
                                      history see it: leave it out, and Harbor asks for it or reads it from stdin";

#[derive(Debug, Clone, PartialEq, Eq, Subcommand)]
pub enum Secrets {
    /// Show the secrets of a server, without their values
    List {
        /// The server's name (default: all servers)
        #[arg(value_parser = server_id)]
        server: Option<String>,
    },
    Set(NewSecret),
    /// Delete a secret
    Remove {
        /// The server's name
        #[arg(value_parser = server_id)]
        server: String,
        /// The secret's name
        key: String,
        /// With `browser`: only the secret of this site (default: all secrets of this name)
        #[arg(long, value_name = "ORIGIN")]
        site: Option<String>,
    },
    /// Show missing and expired secrets; exit code 1 if there are any
    Check {
        /// The server's name
        #[arg(value_parser = server_id)]
        server: String,
    },
    #[command(flatten)]
    Keep(Keeping),
}

/// Commands about the file of all secrets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Subcommand)]
pub enum Keeping {
    /// Encrypt all secrets on disk with a passphrase, or change it
    Encrypt,
    /// Store them unencrypted again
    Decrypt,
    /// Ask for the passphrase and unlock the secrets
    Unlock,
    /// Make the bridge forget the passphrase
    Lock,
    /// Move them to the store that config.toml names: "file" or "keyring"
    Move,
}

/// Set a secret
///
/// Asks for the value without showing it, or reads it from stdin (without one newline at its end). It is
/// never an argument, because other programs can see those. The server gets it as the environment variable
/// KEY from its next start on. Its log shows KEY in place of the value. A secret of `browser` belongs to no
/// server: browser tools type it by its name, into pages of the site that --site names.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub struct NewSecret {
    /// The server's name
    #[arg(value_parser = server_id)]
    pub server: String,
    /// The secret's name, such as API_KEY
    #[arg(value_parser = Unrepeated(key))]
    pub key: String,
    /// Its type; header is for remote servers
    #[arg(long = "type", value_name = "TYPE", default_value = "api_key", value_parser = one_of(types(), type_named))]
    pub kind: CredentialType,
    /// The user name of a password, passed as KEY_USERNAME
    #[arg(long, value_name = "USER")]
    pub username: Option<String>,
    /// When it expires, such as 90d or 2030-11-21 (default: never)
    #[arg(long = "expires", value_name = "WHEN", value_parser = |text: &str| ahead(text, when::now()))]
    pub expires_at: Option<u64>,
    /// With `browser`: the site of the secret, such as https://example.com
    #[arg(long, value_name = "ORIGIN")]
    pub site: Option<String>,
}

fn key(text: &str) -> Result<String, String> {
    if text.contains('=') { Err(TYPED_VALUE.into()) } else { Ok(text.to_owned()) }
}

/// The types of secrets, also with the hyphen that people type.
fn types() -> [PossibleValue; 4] {
    [PossibleValue::new("api_key").alias("api-key"), "password".into(), "oauth".into(), "header".into()]
}

fn type_named(word: &str) -> Option<CredentialType> {
    CredentialType::named(&word.replace('-', "_"))
}
