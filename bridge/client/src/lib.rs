//! What a program of the person's that talks to the bridge says to them: why it failed, what to do next, how it ends.
//!
//! Owns the reading of answers and refusals for the command line and for `harbor mcp`. Must never open a connection
//! (`harbor_home::dial` does) or know what a command is.

mod beside;
pub mod errors;
pub mod id;
pub mod payload;
pub mod reply;
pub mod settings;
pub mod terminal;
