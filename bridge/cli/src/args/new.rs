//! `harbor new`, as it is typed.

use clap::Args;

use super::values::server_id;

/// Write a server of your own, add it and start it
///
/// Writes NAME.js, or NAME.rs and NAME.wasm, into this directory, with one tool, `greet`. A file or a server of this
/// name is never replaced. After a change of the file, add it again: `harbor add NAME --js NAME.js`. More:
/// docs/runtimes.md, docs/wasm.md.
///
/// Example: `harbor new server hello --js && harbor call hello/greet name=World`
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub struct New {
    /// What is written
    #[arg(value_name = "WHAT", value_parser = ["server"])]
    pub what: String,
    /// The server's name
    #[arg(value_name = "NAME", value_parser = server_id)]
    pub server: String,
    /// In JavaScript, as without this option
    #[arg(long, conflicts_with = "rust_wasm")]
    pub js: bool,
    /// In Rust, compiled to WebAssembly; needs rustc and its target wasm32-wasip1
    #[arg(long)]
    pub rust_wasm: bool,
}
