//! `harbor mcp`: an MCP server for AI clients, on stdin and stdout or on HTTP.
//!
//! ```text
//!  stdin, stdout ◄──► stdio ─┐
//!                            ├─► a driver with its machine ◄──► the bridge
//!  HTTP on loopback ◄──► http ┘   (HTTP: one for each session)
//! ```
//!
//! Owns which of them is wanted. Must never write anything to stdout but the protocol, or decide what a message means:
//! that is the machine's.

mod directory;
mod driver;
mod http;
mod lazy;
mod line;
mod machine;
mod names;
mod questions;
mod stdio;
mod token;
mod uris;
mod want;
mod watches;
mod write;

use harbor_child::memory;
use harbor_home::Paths;
use harbor_policy::tool_name::Allowlist;

pub use self::token::run as token;
use crate::args::Mcp;
use crate::errors::Failure;

/// Serves until stdin ends and what it asked for is answered, or until a signal ends it. No other thread is there yet.
pub fn serve(wanted: &Mcp, paths: &Paths) -> Result<(), Failure> {
    memory::return_large_blocks();
    let only = (!wanted.only.is_empty()).then(|| Allowlist::parse(&wanted.only)).transpose();
    let only = only.map_err(|wrong| Failure::Usage(wrong.to_string()))?;
    match &wanted.http {
        Some(http) => http::serve(http, only, wanted.lazy, paths),
        None => stdio::serve(&wanted.client, only, wanted.lazy, paths),
    }
}
