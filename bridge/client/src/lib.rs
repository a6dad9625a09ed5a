//! The words in which one of the person's programs tells of the bridge: why something failed, what to do
//! next, how the program ends.
//!
//! Owns the reading of answers and refusals for the command line and for `harbor mcp`. Must never open a
//! connection (`harbor_home::dial` does) or know what a command is.

mod error_hints;
pub mod errors;
pub mod id;
pub mod payload;
pub mod reply;
pub mod settings;
pub mod terminal;
