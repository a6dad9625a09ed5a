//! Whom a person lets in where, as it is typed.
//!
//! Owns that no secret is ever a word of the command line.

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, value_parser};
use harbor_policy::oauth::is_scope;

use super::values::server_id;

/// Sign in to a remote server
///
/// For servers that use OAuth. Opens the sign-in page in your browser, waits five minutes for your answer,
/// and starts the server. Tokens are renewed automatically. More: docs/remote.md.
///
/// Example: `harbor add tracker --url https://tracker.example/mcp`, then `harbor auth tracker`
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
pub struct Auth {
    /// The server's name
    #[arg(value_parser = server_id)]
    pub server: String,
    /// Print the address of the page instead of opening it
    #[arg(long)]
    pub no_browser: bool,
    /// An additional OAuth scope; repeatable
    #[arg(long = "scope", value_name = "SCOPE", value_parser = scope)]
    pub scopes: Vec<String>,
    /// The OAuth client id, if Harbor cannot register itself with the server
    #[arg(long, value_name = "ID", value_parser = NonEmptyStringValueParser::new())]
    pub client_id: Option<String>,
    /// Ask for the OAuth client secret, or read it from stdin
    #[arg(long, requires = "client_id")]
    pub client_secret: bool,
    /// The local port that the browser returns to, if it must be a fixed one
    #[arg(long, value_parser = value_parser!(u16).range(1..))]
    pub port: Option<u16>,
    /// Return to http://localhost instead of http://127.0.0.1, if the server knows only that
    #[arg(long)]
    pub localhost: bool,
    /// Show whether Harbor is signed in, and with which scopes
    #[arg(long, conflicts_with_all = ["no_browser", "scopes", "client_id", "client_secret", "port", "localhost", "revoke"])]
    pub status: bool,
    /// Sign out: delete the tokens and stop the server
    #[arg(long, conflicts_with_all = ["no_browser", "scopes", "client_id", "client_secret", "port", "localhost"])]
    pub revoke: bool,
}

fn scope(text: &str) -> Result<String, String> {
    is_scope(text)
        .then(|| text.to_owned())
        .ok_or_else(|| "a scope is one word; repeat --scope for several".into())
}
