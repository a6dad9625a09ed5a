//! AI clients' configurations, as they are spoken of on the command line.

use std::path::PathBuf;

use clap::builder::{NonEmptyStringValueParser, TypedValueParser};
use clap::{Args, ValueHint};
use harbor_client_configs::{AiClient, CLIENTS, client};
use harbor_policy::suggest::hint;

use super::values::{client_name, tool_pattern};

/// Put Harbor into the configuration of AI clients
///
/// Nothing else in the file changes; `harbor mcp uninstall` removes exactly this entry.
///
/// Example: `harbor mcp install claude-code cursor`
///
/// Example: `harbor mcp install claude-code --only 'time/*'`
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
pub struct Install {
    /// The AI clients
    #[arg(value_name = "CLIENT", value_parser = ai_client, required_unless_present = "all")]
    pub clients: Vec<&'static AiClient>,
    /// All clients that have a configuration here
    #[arg(long, conflicts_with_all = ["clients", "name", "file"])]
    pub all: bool,
    /// The name for its grants, client://NAME (default: that of the client)
    #[arg(long = "client", id = "name", value_name = "NAME", value_parser = client_name)]
    pub name: Option<String>,
    /// Only this tool, SERVER/TOOL or SERVER/*; repeatable (default: all)
    #[arg(long, value_name = "PATTERN", value_parser = tool_pattern)]
    pub only: Vec<String>,
    /// Offer three tools (search, describe, call) instead of all tools
    #[arg(long)]
    pub lazy: bool,
    /// Offer three tools (search, describe, run_script) instead of all tools: a script calls many tools at once
    #[arg(long, conflicts_with = "lazy")]
    pub code: bool,
    /// This configuration file instead of the client's usual one
    #[arg(long, value_name = "PATH", value_parser = path(), value_hint = ValueHint::FilePath)]
    pub file: Option<PathBuf>,
    /// Replace another program's entry of Harbor's name
    #[arg(long)]
    pub replace: bool,
    /// Show what would change, and change nothing
    #[arg(long)]
    pub dry_run: bool,
}

/// Remove Harbor from the configuration of AI clients
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
pub struct Uninstall {
    /// The AI clients
    #[arg(value_name = "CLIENT", value_parser = ai_client, required_unless_present = "all")]
    pub clients: Vec<&'static AiClient>,
    /// All clients that have Harbor
    #[arg(long, conflicts_with_all = ["clients", "file"])]
    pub all: bool,
    /// This configuration file instead of the client's usual one
    #[arg(long, value_name = "PATH", value_parser = path(), value_hint = ValueHint::FilePath)]
    pub file: Option<PathBuf>,
    /// Show what would change, and change nothing
    #[arg(long)]
    pub dry_run: bool,
}

/// Import servers from AI clients
///
/// Without CLIENT or FILE: from all clients that `harbor mcp status` shows. FILE can be a project's .mcp.json
/// or .vscode/mcp.json; relative paths in it are relative to the project. Harbor shows the commands, the
/// hosts, and which of your variables go where, and asks; in scripts pass --yes. What was imported is started
/// once, so that clients see its tools. Variables whose names look like secrets are stored as secrets.
/// Servers that cannot be imported are listed with the reason. Existing servers are not changed, and neither
/// is the client's file, unless you pass --replace.
///
/// Example: `harbor import cursor --only time`
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
pub struct Import {
    /// The client, or a file of one (default: all clients)
    #[arg(value_name = "CLIENT|FILE", value_parser = source)]
    pub from: Option<Source>,
    /// Only this server, by its name in the client; repeatable
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    pub only: Vec<String>,
    /// Also servers that are disabled in the file
    #[arg(long)]
    pub disabled: bool,
    /// Do not start them once to see which tools they have
    #[arg(long)]
    pub no_start: bool,
    /// Start them only when you say so, not when they are used
    #[arg(long)]
    pub manual: bool,
    /// Fill in your environment variables where the file names them (default: skip such servers)
    #[arg(long)]
    pub expand: bool,
    /// Also remote servers at a private or local address
    #[arg(long)]
    pub allow_private: bool,
    /// Also remote servers without TLS
    #[arg(long)]
    pub allow_http: bool,
    /// Replace the servers that start by Harbor in the client's file; a copy of the file is kept
    #[arg(long)]
    pub replace: bool,
    /// Do not ask
    #[arg(long)]
    pub yes: bool,
    /// Show what would be imported, and change nothing
    #[arg(long)]
    pub dry_run: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    Client(&'static AiClient),
    File(PathBuf),
}

fn path() -> impl TypedValueParser<Value = PathBuf> {
    NonEmptyStringValueParser::new().map(PathBuf::from)
}

fn ai_client(text: &str) -> Result<&'static AiClient, String> {
    client(text).ok_or_else(|| no_client(text))
}

/// The message about an unknown client: it suggests names with that beginning, else one with a similar
/// spelling.
fn no_client(text: &str) -> String {
    let names: Vec<_> = CLIENTS.iter().map(|client| client.id).collect();
    let begun: Vec<_> = names.iter().filter(|name| name.starts_with(text)).copied().collect();
    let meant = match begun.as_slice() {
        [] => hint(text, names.iter().copied()),
        some if text.len() > 1 => format!("; did you mean {}?", some.join(" or ")),
        _ => String::new(),
    };
    format!("there is no such client{meant}; Harbor knows {}", names.join(", "))
}

fn source(text: &str) -> Result<Source, String> {
    match client(text) {
        Some(client) => Ok(Source::Client(client)),
        None if text.contains(['/', '.']) => Ok(Source::File(text.into())),
        None => Err(no_client(text)),
    }
}
