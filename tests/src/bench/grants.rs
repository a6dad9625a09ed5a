//! What the host is measured with: origins with their grants, and servers with their tools.
//!
//! ```text
//!  site-0 … site-9             may list and call 1,000 tools, by name
//!  site-10                     may list and call every tool
//!  site-11 … site-99999        may call every tool
//!  the origin that calls       likewise
//! ```
//!
//! Owns who may what, the same on disk as in the driver. Must write to a home only while no bridge uses it.

use crate::Outcome;
use crate::ask::{self, ask, program};
use crate::home::Home;
use crate::options::Options;
use crate::request::ORIGIN;
use crate::wire::Link;
use harbor_bridge::store::grants::StoredGrant;
use harbor_ipc_proto::client::{AddServer, Supervision};
use harbor_ipc_proto::field::JsonObject;
use harbor_policy::grants::{DEFAULT_PROFILE, GrantType};
use harbor_policy::scope::Scope;
use harbor_policy::tool_name::MAX_ENTRIES;
use rusqlite::{Connection, params};
use serde_json::Value;
use std::fs;

/// How many origins have grants.
pub const ORIGINS: usize = 100_000;

/// How many of them, the first ones, may do with some tools what the one behind them may do with all.
pub const WITH_LIST: usize = 10;

/// Servers that have many tools.
pub const SERVERS: usize = 10;

/// How many of them each has.
pub const TOOLS: usize = 1_000;

/// No limit is to be what is measured.
const CONFIG: &str = "[limits]\ncallsPerMinutePerOrigin = 0\nmaxConcurrentPerOrigin = 64\n";

/// When all of the grants were made, in milliseconds since 1970.
const CREATED: u64 = 1_700_000_000_000;

/// The origin with this number.
pub fn site(number: usize) -> String {
    format!("https://site-{number}.example")
}

/// A server with many tools.
pub fn server(number: usize) -> String {
    format!("many-{number}")
}

/// A tool of such a server, as the echo server names it.
pub fn tool(number: usize) -> String {
    format!("tool_{number:04}")
}

/// A tool as it is named among those of all servers; the first [`MAX_ENTRIES`] are those in the lists.
pub fn tool_name(number: usize) -> String {
    format!("{}/{}", server(number % SERVERS), tool(number / SERVERS))
}

/// All grants.
pub fn all() -> impl Iterator<Item = StoredGrant> {
    let some: Vec<_> = (0..MAX_ENTRIES).map(tool_name).collect();
    let of_listers = (0..=WITH_LIST).map({
        let some = some.clone();
        move |number| grant(site(number), Scope::McpToolsList, (number < WITH_LIST).then(|| some.clone()))
    });
    let of_sites = (0..ORIGINS).map(move |number| {
        grant(site(number), Scope::McpToolsCall, (number < WITH_LIST).then(|| some.clone()))
    });
    of_listers.chain(of_sites).chain([grant(ORIGIN.to_owned(), Scope::McpToolsCall, None)])
}

fn grant(origin: String, scope: Scope, allowed_tools: Option<Vec<String>>) -> StoredGrant {
    StoredGrant {
        origin,
        profile: DEFAULT_PROFILE.to_owned(),
        scope: scope.as_str().to_owned(),
        grant_type: GrantType::AllowAlways.as_str().to_owned(),
        allowed_tools,
        created_at: CREATED,
    }
}

/// Lifts the limits of a home.
pub fn configure(home: &Home) -> Outcome<()> {
    Ok(fs::write(home.path.join("config.toml"), CONFIG)?)
}

/// What lets the first origin list and call so many tools, by name.
pub fn few(tools: usize) -> impl Iterator<Item = StoredGrant> {
    let names: Vec<_> = (0..tools).map(tool_name).collect();
    [Scope::McpToolsList, Scope::McpToolsCall]
        .into_iter()
        .map(move |scope| grant(site(0), scope, Some(names.clone())))
}

/// Puts all grants into a home in which a bridge has been.
pub fn fill(home: &Home) -> Outcome<()> {
    put(home, all())
}

/// Puts these grants into a home in which a bridge has been.
pub fn put(home: &Home, grants: impl Iterator<Item = StoredGrant>) -> Outcome<()> {
    let mut database = Connection::open(home.path.join("harbor.db"))?;
    let transaction = database.transaction()?;
    let mut put = transaction.prepare("INSERT INTO grants VALUES (?1, ?2, ?3, ?4, ?5, ?6, NULL)")?;
    for grant in grants {
        let tools = grant.allowed_tools.map(|tools| Value::from(tools).to_string());
        let created_at = i64::try_from(grant.created_at)?;
        put.execute(params![grant.origin, grant.profile, grant.scope, grant.grant_type, tools, created_at])?;
    }
    drop(put);
    Ok(transaction.commit()?)
}

/// Defines the servers, with so many tools each; they start when they are asked for something.
pub fn add_servers(options: &Options, link: &mut Link, tools: usize) -> Outcome<()> {
    let command = options.program("echo-server")?;
    let args = ["--tools".to_owned(), tools.to_string()];
    let supervision = Supervision { lazy: Some(true), ..Supervision::default() };
    for number in 0..SERVERS {
        let definition = program(&server(number), &command, &args)?;
        ask(link, &AddServer { supervision: Some(JsonObject::written(&supervision)), ..definition })?;
    }
    Ok(())
}

/// Starts the servers and sees to it that each has told of its tools.
pub fn connect_servers(link: &mut Link, tools: usize) -> Outcome<()> {
    for number in 0..SERVERS {
        let count = ask::count(&ask::connect(link, &server(number))?.tools)?;
        if count != tools {
            return Err(format!("{} has {count} tools instead of {tools}", server(number)).into());
        }
    }
    Ok(())
}
