//! AI clients' configurations, as they are spoken of on the command line.

use std::path::PathBuf;

use clap::builder::{NonEmptyStringValueParser, PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueHint};
use harbor_client_configs::{AiClient, CLIENTS, client};
use harbor_policy::suggest::hint;

use super::values::{client_name, tool_pattern};

/// Put Harbor into a client's configuration
///
/// All that stands there stays as it is, byte for byte; `uninstall` takes out just that again.
///
/// Example: `harbor mcp install claude-code --only 'time/*'`
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub struct Install {
    /// The AI client
    #[arg(value_parser = ai_client())]
    pub client: &'static AiClient,
    /// The name that its grants are under: client://NAME; that of the client if absent
    #[arg(long = "client", id = "name", value_name = "NAME", value_parser = client_name)]
    pub name: Option<String>,
    /// Only this tool, SERVER/TOOL or SERVER/*; repeat for more; all if absent
    #[arg(long, value_name = "PATTERN", value_parser = tool_pattern)]
    pub only: Vec<String>,
    /// Three tools, to search for, describe and call tools, instead of all of them
    #[arg(long)]
    pub lazy: bool,
    /// This configuration, instead of the client's usual one
    #[arg(long, value_name = "PATH", value_parser = path(), value_hint = ValueHint::FilePath)]
    pub file: Option<PathBuf>,
    /// Replace another program's entry of Harbor's name
    #[arg(long)]
    pub replace: bool,
    /// Say what would change, and change nothing
    #[arg(long)]
    pub dry_run: bool,
}

/// Take Harbor out of a client's configuration
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub struct Uninstall {
    /// The AI client
    #[arg(value_parser = ai_client())]
    pub client: &'static AiClient,
    /// This configuration, instead of the client's usual one
    #[arg(long, value_name = "PATH", value_parser = path(), value_hint = ValueHint::FilePath)]
    pub file: Option<PathBuf>,
    /// Say what would change, and change nothing
    #[arg(long)]
    pub dry_run: bool,
}

/// Take over servers from AI clients
///
/// Without CLIENT or FILE: from all clients that `harbor mcp status` shows. A FILE may be any of theirs, such as a project's .mcp.json
/// or .vscode/mcp.json; what is relative there is relative to the project. At a terminal all is shown and asked for first: commands,
/// hosts, and which of your variables go where; without one, --yes is needed. What is secret by its name is kept as `harbor secrets`
/// does. What cannot be taken over is told with the reason. No file is changed, and no server that is here already.
///
/// Example: `harbor import cursor --only time`
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
pub struct Import {
    /// The client, or a file of one; all clients if absent
    #[arg(value_name = "CLIENT|FILE", value_parser = source)]
    pub from: Option<Source>,
    /// Only this server, as the client calls it; repeat for more
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    pub only: Vec<String>,
    /// Also those that are switched off there
    #[arg(long)]
    pub disabled: bool,
    /// Start them, too
    #[arg(long)]
    pub start: bool,
    /// Start them only when you say so, not when they are used
    #[arg(long)]
    pub manual: bool,
    /// Put in your variables where the file names them; without it such a server is left out
    #[arg(long)]
    pub expand: bool,
    /// Also servers elsewhere at a private address, or at this machine's
    #[arg(long)]
    pub allow_private: bool,
    /// Also servers elsewhere without TLS
    #[arg(long)]
    pub allow_http: bool,
    /// Do not ask
    #[arg(long)]
    pub yes: bool,
    /// Say what would be taken over, and take over nothing
    #[arg(long)]
    pub dry_run: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    Client(&'static AiClient),
    File(PathBuf),
}

impl Install {
    /// It is `client://NAME`.
    pub fn name(&self) -> &str {
        self.name.as_deref().unwrap_or(self.client.id)
    }
}

fn path() -> impl TypedValueParser<Value = PathBuf> {
    NonEmptyStringValueParser::new().map(PathBuf::from)
}

fn ai_client() -> impl TypedValueParser<Value = &'static AiClient> {
    PossibleValuesParser::new(CLIENTS.iter().map(|client| client.id))
        .try_map(|id| client(&id).ok_or("this client is not known"))
}

fn source(text: &str) -> Result<Source, String> {
    match client(text) {
        Some(client) => Ok(Source::Client(client)),
        None if text.contains(['/', '.']) => Ok(Source::File(text.into())),
        None => {
            let names: Vec<_> = CLIENTS.iter().map(|client| client.id).collect();
            let meant = hint(text, names.iter().copied());
            Err(format!("there is no such client{meant}; Harbor knows {}", names.join(", ")))
        }
    }
}
