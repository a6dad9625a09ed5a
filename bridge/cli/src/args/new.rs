//! `harbor new`, as it is typed.

use clap::{Args, Subcommand};

use super::values::server_id;

/// Something that is written for the person to go on with.
#[derive(Debug, Clone, PartialEq, Eq, Subcommand)]
pub enum New {
    Server(NewServer),
}

/// Write a server of your own, add it and start it
///
/// Writes NAME.js into this directory, with one tool, `greet`. A file or a server of this name is never
/// replaced. After a change of the file: `harbor add NAME --js NAME.js`. More: docs/runtimes.md.
///
/// Example: `harbor new server hello --js && harbor call hello/greet name=World`
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub struct NewServer {
    /// The server's name
    #[arg(value_name = "NAME", value_parser = server_id)]
    pub server: String,
    /// In JavaScript
    #[arg(long, required = true)]
    pub js: bool,
}
