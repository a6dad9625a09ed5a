//! An MCP server built on rmcp, on stdin and stdout: `rmcp-server older|newer`, the generation that it speaks.
//!
//! What it offers is `harbor_tests::rmcp_server`. Must never write to stdout by itself.

use harbor_tests::rmcp_server::{Generation, serve};

fn main() -> Result<(), String> {
    let word = std::env::args().nth(1).unwrap_or_default();
    let generation = [Generation::Older, Generation::Newer].into_iter().find(|known| known.word() == word);
    let generation = generation.ok_or("usage: rmcp-server older|newer")?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.map_err(|error| error.to_string())?.block_on(serve(generation))
}
