//! `harbor mcp`: the MCP server for AI clients, and `harbor mcp token`: which of them may come over HTTP.
//!
//! Owns what is said about tokens. A token is shown when it is made, and never again. Must never decide anything of MCP: that is
//! `harbor_mcp_server`'s.

use std::io::{self, IsTerminal as _};

use harbor_client::errors::Failure;
use harbor_client::terminal::remark;
use harbor_home::Paths;
use harbor_mcp_server::tokens::{Kepts, TokenFile};
use harbor_mcp_server::{Http, Wanted};
use harbor_policy::suggest::hint;
use harbor_policy::tool_name::Allowlist;
use serde_json::json;

use crate::args::{Mcp, TokenWanted};
use crate::screen::{Screen, ask};
use crate::table::Table;
use crate::when::{self, ago};

/// The refusal at a terminal: nobody types MCP. A person would be taken for a client and granted tools for
/// good.
const AT_A_TERMINAL: &str = "an AI client starts this command and speaks MCP on its stdin, which is a terminal here\n\
                             you probably want `harbor mcp install CLIENT`; `harbor mcp status` lists the clients";

/// Serves until the client is done. No other thread is there yet.
pub fn serve(wanted: &Mcp, paths: &Paths) -> Result<(), Failure> {
    if wanted.http.is_none() && io::stdin().is_terminal() {
        return Err(Failure::Usage(AT_A_TERMINAL.into()));
    }
    let only = (!wanted.only.is_empty()).then(|| Allowlist::parse(&wanted.only)).transpose();
    let only = only.map_err(|wrong| Failure::Usage(wrong.to_string()))?;
    let http = wanted.http.as_ref().map(|http| Http { listen: http.listen, origins: &http.origins });
    let browser_session = wanted.browser_session.as_deref();
    let wanted = Wanted { client: &wanted.client, only, offering: wanted.offering, browser_session, http };
    harbor_mcp_server::serve(wanted, paths)
}

/// Makes, deletes or lists.
pub fn token(wanted: &TokenWanted, paths: &Paths, screen: &mut Screen) -> Result<(), Failure> {
    let file = TokenFile::of(paths);
    match wanted {
        TokenWanted::List => list(&file.read()?, screen),
        TokenWanted::Make(name, replace) => {
            if !replace && file.read()?.contains_key(name) {
                may_replace(name, screen)?;
            }
            make(&file, name, screen)
        }
        TokenWanted::Delete(name) => delete(&file, name, screen),
    }
}

/// Asks before a token is replaced: its present user would not be let in any more.
fn may_replace(name: &str, screen: &Screen) -> Result<(), Failure> {
    let what = format!("{name} already has a token, and a new one would lock out the client that uses it");
    let yes = !screen.json && ask(&format!("{what}; replace it? [y/N] "));
    if yes {
        Ok(())
    } else {
        Err(Failure::Usage(format!("{what}\nreplace it: `harbor mcp token {name} --replace`")))
    }
}

fn make(file: &TokenFile, name: &str, screen: &mut Screen) -> Result<(), Failure> {
    let (token, replaced) = file.make(name, when::now())?;
    if screen.json {
        let answer = json!({"client": name, "token": token, "replaced": replaced});
        return Ok(screen.json(&answer.to_string())?);
    }
    screen.text(&token)?;
    let old = if replaced { " in place of the earlier one" } else { "" };
    remark(&format!("it is the token of client://{name}{old}, and is not shown again"));
    Ok(())
}

fn delete(file: &TokenFile, name: &str, screen: &mut Screen) -> Result<(), Failure> {
    if !file.delete(name)? {
        let known = file.read()?;
        let likely = hint(name, known.keys().map(String::as_str));
        let text = format!("{name} has no token{likely}");
        return Err(Failure::Nothing(text, "`harbor mcp token` lists the tokens".into()));
    }
    match screen.json {
        true => screen.json(&json!({"client": name, "deleted": true}).to_string())?,
        false => screen.text(&format!("deleted the token of {name}"))?,
    }
    Ok(())
}

fn list(tokens: &Kepts, screen: &mut Screen) -> Result<(), Failure> {
    if screen.json {
        let clients: Vec<_> = tokens
            .iter()
            .map(|(name, kept)| json!({"client": name, "created_at": kept.created_at}))
            .collect();
        return Ok(screen.json(&json!({"tokens": clients}).to_string())?);
    }
    if tokens.is_empty() {
        return Ok(screen.text("no client has a token; make one: `harbor mcp token NAME`")?);
    }
    let mut table = Table::new(&["CLIENT", "CREATED"]);
    let now = when::now();
    tokens.iter().for_each(|(name, kept)| table.add([name.clone(), ago(kept.created_at, now)]));
    Ok(screen.table(&table)?)
}
