//! `harbor mcp`: an MCP server for AI clients, on stdin and stdout or on HTTP.
//!
//! ```text
//!  stdin, stdout ◄──► stdio ─┐
//!                            ├─► a driver with its machine ◄──► the bridge
//!  HTTP on loopback ◄──► http ┘   (HTTP: one for each session)
//! ```
//!
//! Owns which of them is wanted. Must never write anything to stdout but the protocol, or decide what a
//! message means: the machine does.

mod code;
mod directory;
mod driver;
mod http;
mod lazy;
mod line;
mod machine;
mod names;
mod offering;
mod questions;
mod stdio;
mod target;
mod uris;
mod want;
mod watches;
mod write;

use harbor_child::memory;
use harbor_client::errors::Failure;
use harbor_home::Paths;
use harbor_policy::tool_name::Allowlist;

use self::machine::Machine;

pub use self::http::{Http, tokens};
pub use self::names::called;
pub use self::offering::Offering;

/// The AI client that is served, and how.
#[derive(Debug)]
pub struct Wanted<'a> {
    /// Its name on stdin and stdout, where it is `client://NAME`.
    pub client: &'a str,
    /// The tools that it gets. All of them if absent.
    pub only: Option<Allowlist>,
    /// In which way it gets them.
    pub offering: Offering,
    /// The id of an earlier browser session of this client, to be resumed.
    pub browser_session: Option<&'a str>,
    /// HTTP, for clients that do not come on stdin and stdout.
    pub http: Option<Http<'a>>,
}

/// Serves until stdin ends and what it asked for is answered, or until a signal ends it. No other thread is there yet.
///
/// # Errors
/// When stdout or the address cannot be used.
pub fn serve(wanted: Wanted<'_>, paths: &Paths) -> Result<(), Failure> {
    memory::return_large_blocks();
    let Wanted { client, only, offering, browser_session, http } = wanted;
    match http {
        Some(http) => http::serve(http, only, offering, paths),
        None => {
            let machine = Machine::new(only, offering).going_on_with(browser_session);
            stdio::serve(client, machine, paths)
        }
    }
}

#[cfg(test)]
mod rig;
