//! How Harbor is put into an AI client's configuration, as it is typed.

use std::net::SocketAddr;

use harbor_policy::origin::Origin;

use super::host::checked_pattern;
use super::{Command, Words};

/// The name of a client that is given none.
const NAMELESS: &str = "default";

/// An AI client to serve.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mcp {
    /// Its name: it is `client://NAME`.
    pub client: String,
    /// The tools that it gets; all when empty.
    pub only: Vec<String>,
    /// Whether three tools, to find and call others, stand for all.
    pub lazy: bool,
    /// Where clients come from that are not on stdin and stdout.
    pub http: Option<Http>,
}

/// Serving over HTTP, where a client's name is that of its token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Http {
    /// Of this machine only.
    pub listen: SocketAddr,
    /// Web origins whose pages may come.
    pub origins: Vec<String>,
}

/// What is to be done about tokens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TokenWanted {
    List,
    /// Whether it may take the place of one that there is.
    Make(String, bool),
    Delete(String),
}

impl Words {
    pub(super) fn mcp(&self) -> Result<Command, String> {
        match self.plain.first().map(String::as_str) {
            Some("token") => self.token().map(Command::McpToken),
            _ => self.mcp_server().map(Command::Mcp),
        }
    }

    fn token(&self) -> Result<TokenWanted, String> {
        self.at_most(2)?;
        if let Some((option, _)) =
            self.options.iter().find(|(name, _)| !["--delete", "--replace"].contains(name))
        {
            return Err(format!("{option} has no meaning here"));
        }
        let Some(name) = self.plain.get(1) else {
            return if self.has("--delete") { Err("--delete: whose?".into()) } else { Ok(TokenWanted::List) };
        };
        Origin::client(name).ok_or("a client's name has 1 to 128 bytes")?;
        match (self.has("--delete"), self.has("--replace")) {
            (true, true) => Err("--delete and --replace: leave out one of the two".into()),
            (true, false) => Ok(TokenWanted::Delete(name.clone())),
            (false, _) if name.contains(char::is_control) => {
                Err("a client's name has no control characters".into())
            }
            (false, replace) => Ok(TokenWanted::Make(name.clone(), replace)),
        }
    }

    fn http(&self) -> Result<Option<Http>, String> {
        let origins: Vec<_> = self.all("--allow-origin").map(web_origin).collect::<Result<_, _>>()?;
        match self.option("--http") {
            None if origins.is_empty() => Ok(None),
            None => Err("--allow-origin has a meaning with --http only".into()),
            Some(_) if self.has("--client") => {
                Err("--client: over HTTP, a client's name is that of its token".into())
            }
            Some(address) => Ok(Some(Http { listen: loopback(address)?, origins })),
        }
    }

    fn mcp_server(&self) -> Result<Mcp, String> {
        self.at_most(0)?;
        if self.has("--delete") {
            return Err("--delete has a meaning behind `token NAME` only".into());
        }
        if self.json {
            return Err("--json has no meaning here: what is written is the protocol".into());
        }
        let client = self.option("--client").unwrap_or(NAMELESS).to_owned();
        Origin::client(&client).ok_or("--client: use 1 to 128 bytes")?;
        let only: Vec<_> = self.all("--only").map(str::to_owned).collect();
        only.iter().try_for_each(|pattern| checked_pattern("--only", pattern))?;
        Ok(Mcp { client, only, lazy: self.has("--lazy"), http: self.http()? })
    }
}

/// An address that only this machine reaches.
fn loopback(text: &str) -> Result<SocketAddr, String> {
    let numeric = text.strip_prefix("localhost:").map(|port| format!("127.0.0.1:{port}"));
    let address: SocketAddr = numeric.as_deref().unwrap_or(text).parse().map_err(|_| {
        format!(
            "--http {text}: use an address and a port, such as 127.0.0.1:8765; port 0 is any that is free"
        )
    })?;
    match address.ip().is_loopback() {
        true => Ok(address),
        false => Err(format!("--http {text}: only this machine is served, on 127.0.0.1 or [::1]")),
    }
}

/// A web origin as browsers write it.
fn web_origin(text: &str) -> Result<String, String> {
    let wrong = || format!("--allow-origin {text}: use an origin such as https://example.com");
    match Origin::parse(text).map_err(|_| wrong())? {
        origin if origin.as_str().starts_with("http") => Ok(origin.as_str().to_owned()),
        _ => Err(wrong()),
    }
}
