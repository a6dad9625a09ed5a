//! Whom a person lets in where, as it is typed.
//!
//! Owns that no secret is ever a word of the command line.

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, value_parser};
use harbor_policy::oauth::is_scope;

use super::values::server_id;

/// Let Harbor in at a server that runs elsewhere
///
/// For servers that have people let programs in (OAuth). It opens a page of whoever decides there, waits five minutes for your answer,
/// and starts the server with it. What expires is renewed by itself. docs/remote.md says more.
///
/// Example: `harbor add tracker --url https://tracker.example/mcp`, then `harbor auth tracker`
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
pub struct Auth {
    /// The server's name
    #[arg(value_parser = server_id)]
    pub server: String,
    /// Only show the page that is to be opened
    #[arg(long)]
    pub no_browser: bool,
    /// A right besides those that the server asks for; repeat for more
    #[arg(long = "scope", value_name = "SCOPE", value_parser = scope)]
    pub scopes: Vec<String>,
    /// As whom Harbor is known there, where it cannot make itself known
    #[arg(long, value_name = "ID", value_parser = NonEmptyStringValueParser::new())]
    pub client_id: Option<String>,
    /// Ask for what proves that, or read it from stdin
    #[arg(long, requires = "client_id")]
    pub client_secret: bool,
    /// The port that the browser comes back to, where it must be a certain one
    #[arg(long, value_parser = value_parser!(u16).range(1..))]
    pub port: Option<u16>,
    /// Show what Harbor may do there
    #[arg(long, conflicts_with_all = ["no_browser", "scopes", "client_id", "client_secret", "port", "revoke"])]
    pub status: bool,
    /// Give it back: tokens are deleted, and the server is stopped
    #[arg(long, conflicts_with_all = ["no_browser", "scopes", "client_id", "client_secret", "port"])]
    pub revoke: bool,
}

fn scope(text: &str) -> Result<String, String> {
    is_scope(text)
        .then(|| text.to_owned())
        .ok_or_else(|| "a scope is one word; repeat --scope for more".into())
}
