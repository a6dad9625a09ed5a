//! The runner of remote servers: the runner's session, and HTTP under it.
//!
//! ```text
//!   harbor-runner-http BRIDGE_PID isolated|shared MARK    link on stdin; see harbor_runner::program
//!   harbor-runner-http fetch …, fetch-long …, unpack …     a step of an installer; see download
//!   harbor-runner-http requests …                          the fetch process of a script; see requests
//!
//!   Wire ──lines──► lines ──────┬─► exchange: a POST, and the answer to it ─┐
//!                               ├─► standing: the stream of a session      ─┼─► http ─► server
//!                               └─► endpoint: HTTP+SSE, as of 2024-11-05   ─┘
//!   Petition ──► oauth: has the person let Harbor in at a server; renews what they granted; gives it back
//! ```
//!
//! A program of its own, so that the runner of programs is static and has neither DNS nor TLS. Must never start a process,
//! give a header of the person's to another host, or put a payload, a header's value or the query of a URL into a text.

mod carrier;
mod clock;
mod connection;
pub mod download;
mod endpoint;
mod exchange;
mod held;
mod holder;
mod http;
mod kind;
mod lines;
mod oauth;
mod outgoing;
mod pause;
mod refusal;
mod renewing;
pub mod requests;
mod standing;

use std::process::ExitCode;
use std::rc::Rc;

/// Runs the program, and returns its exit code.
#[must_use]
pub fn run() -> ExitCode {
    harbor_web::use_ring();
    let arguments: Vec<_> = std::env::args_os().skip(1).collect();
    if let Some(code) = download::run(&arguments).or_else(|| requests::run(&arguments)) {
        return code;
    }
    harbor_runner::program::run_with(c"harbor-http", Rc::new(carrier::HttpCarrier::default()))
}
