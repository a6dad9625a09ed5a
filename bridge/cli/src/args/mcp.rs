//! `harbor mcp`: an AI client served, put into its configuration, or given a token.

use std::net::SocketAddr;

use clap::{Args, Subcommand};
use harbor_mcp_server::Offering;
use harbor_policy::origin::Origin;

use super::clients::{Install, Uninstall};
use super::values::{client_name, read_by, tool_pattern};

/// The name of a client that gives none.
const NAMELESS: &str = "default";

#[derive(Debug, Clone, PartialEq, Eq, Subcommand)]
pub enum McpWanted {
    Install(Install),
    Uninstall(Uninstall),
    /// Show which AI clients have Harbor, and whether the entry is up to date
    Status,
    Token(TokenWanted),
}

/// An AI client to serve.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mcp {
    /// Its name: it is `client://NAME`.
    pub client: String,
    /// The tools that it gets; all when empty.
    pub only: Vec<String>,
    /// In which way it gets them.
    pub offering: Offering,
    /// The session in a browser that it goes on with.
    pub browser_session: Option<String>,
    /// HTTP, for clients that do not come on stdin and stdout.
    pub http: Option<Http>,
}

/// Serving over HTTP, where a client's name is that of its token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Http {
    /// An address of this machine only.
    pub listen: SocketAddr,
    /// Web origins whose pages may connect.
    pub origins: Vec<String>,
}

/// Commands about tokens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TokenWanted {
    List,
    /// The client's name; true if the token may replace an earlier one.
    Make(String, bool),
    Delete(String),
}

read_by! {
    Mcp: ServeOptions;
    TokenWanted: TokenOptions;
}

#[derive(Debug, Args)]
struct ServeOptions {
    /// The client's name; its grants are those of client://NAME (default `default`)
    #[arg(long, value_name = "NAME", value_parser = client_name, conflicts_with = "http")]
    client: Option<String>,
    /// Only this tool, SERVER/TOOL or SERVER/*; repeatable (default: all)
    #[arg(long, value_name = "PATTERN", value_parser = tool_pattern)]
    only: Vec<String>,
    /// Offer three tools (search, describe, call) instead of all tools
    #[arg(long)]
    lazy: bool,
    /// Offer three tools (search, describe, run_script) instead of all tools: a script calls many tools at once
    #[arg(long, conflicts_with = "lazy")]
    code: bool,
    /// Go on with this earlier browser session of the client, within 5 minutes of its end (the tool browser_session tells the id)
    #[arg(long, value_name = "ID", conflicts_with = "http")]
    browser_session: Option<String>,
    /// Serve over HTTP on this local address, such as 127.0.0.1:8765
    #[arg(long, value_name = "ADDRESS", value_parser = loopback)]
    http: Option<SocketAddr>,
    /// With --http: also admit pages of this web origin; repeatable
    #[arg(long, value_name = "ORIGIN", value_parser = web_origin, requires = "http")]
    allow_origin: Vec<String>,
}

/// List the tokens for HTTP, or make one
///
/// A token is shown once.
#[derive(Debug, Args)]
struct TokenOptions {
    /// The client's name (default: list all tokens)
    #[arg(value_parser = client_name)]
    client: Option<String>,
    /// Delete the token of this client
    #[arg(long, requires = "client", conflicts_with = "replace")]
    delete: bool,
    /// Replace the client's earlier token
    #[arg(long)]
    replace: bool,
}

impl Mcp {
    fn read(options: ServeOptions) -> Result<Self, String> {
        let http = options.http.map(|listen| Http { listen, origins: options.allow_origin });
        let client = options.client.unwrap_or_else(|| NAMELESS.to_owned());
        let ServeOptions { only, lazy, code, browser_session, .. } = options;
        let offering = match (lazy, code) {
            (true, _) => Offering::Lazy,
            (_, true) => Offering::Code,
            _ => Offering::All,
        };
        Ok(Self { client, only, offering, browser_session, http })
    }
}

impl TokenWanted {
    fn read(options: TokenOptions) -> Result<Self, String> {
        match options.client {
            None => Ok(Self::List),
            Some(name) if options.delete => Ok(Self::Delete(name)),
            Some(name) if name.contains(char::is_control) => {
                Err("a client's name must not contain control characters".into())
            }
            Some(name) => Ok(Self::Make(name, options.replace)),
        }
    }
}

/// An address that only this machine reaches.
fn loopback(text: &str) -> Result<SocketAddr, String> {
    let numeric = text.strip_prefix("localhost:").map(|port| format!("127.0.0.1:{port}"));
    let address: SocketAddr = numeric.as_deref().unwrap_or(text).parse().map_err(|_| {
        "use an address and a port, such as 127.0.0.1:8765; port 0 picks a free one".to_owned()
    })?;
    match address.ip().is_loopback() {
        true => Ok(address),
        false => Err("use 127.0.0.1 or [::1]: only this machine is served".into()),
    }
}

/// A web origin as browsers write it.
fn web_origin(text: &str) -> Result<String, String> {
    let wrong = || "use an origin such as https://example.com".to_owned();
    match Origin::parse(text).map_err(|_| wrong())? {
        origin if origin.as_str().starts_with("http") => Ok(origin.as_str().to_owned()),
        _ => Err(wrong()),
    }
}
