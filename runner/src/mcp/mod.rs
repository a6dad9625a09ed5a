//! MCP as spoken over a server's stdin and stdout, both generations.
//!
//! Owns reading and writing its lines, the table of open requests, and the decisions about contact, pages, rounds, tools and
//! their schemas. Must never do I/O or read a clock: `session` does.

mod bounded;
pub mod contact;
pub mod line;
pub mod message;
pub mod pages;
pub mod param_headers;
pub mod requests;
pub mod rounds;
pub mod schema;
pub mod shown;
pub mod tasks;
pub mod tools;
pub mod write;

pub use bounded::Bounded;
