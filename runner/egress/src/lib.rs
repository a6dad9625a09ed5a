//! The only way to the network of one MCP server: a proxy that lets through to allowed hosts.
//!
//! ```text
//!  in the server's network namespace          │ in the machine's network
//!  server ── 127.0.0.1:PORT (HTTPS_PROXY) ────┼─► program ─► proxy ─► head ──────────► reach ─► tunnel ──► allowed host
//!            the listening socket crosses     │              403, 502 … as text ◄── refusal ──┘
//! ```
//!
//! Owns the connections of one server to the hosts that it may reach; `harbor_policy::sandbox::hosts` decides which those
//! are. Must never look into what is carried after a request's head, resolve a name that is not allowed, or resolve one
//! twice.

pub mod head;
mod minute;
pub mod program;
mod proxy;
mod reach;
pub mod refusal;
mod tunnel;

use harbor_policy::sandbox::hosts::Allowed;

/// Reads and judges a request's head as the proxy does, without any I/O, for a fuzzer. Returns the bytes that
/// would be sent to the server, or the answer that refuses the request.
///
/// # Errors
/// The answer that the client would get.
pub fn fuzz_head(bytes: &[u8]) -> Result<Vec<u8>, refusal::Refusal> {
    let rules = ["example.com:*", "*.example.com", "127.0.0.1:8080", "[2001:db8::1]"].map(String::from);
    let allowed = Allowed::parse(&rules).unwrap_or_default();
    let end = head::end(bytes, 0).ok_or(refusal::Refusal::TooLarge)?;
    let request = head::parse(&bytes[..end])?;
    let _resolves = reach::judge(&allowed, &request.target)?;
    Ok(request.forward.unwrap_or_default())
}
