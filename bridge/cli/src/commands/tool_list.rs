//! The list of a server's tools: the request for it, and which of its items are tools.

use harbor_client::errors::Failure;
use harbor_client::id::source_id;
use harbor_client::payload::{Payload, items};
use harbor_ipc_proto::client::McpListTools;
use harbor_ipc_proto::json::Json;
use harbor_policy::tool_name::wrong_of_server;

/// The request for what a server offers.
pub fn request(server: &str) -> Result<McpListTools, Failure> {
    Ok(McpListTools { server_id: source_id(server)?, wait_ms: None })
}

/// Like [`request`], for tools that are known or at hand: it starts nothing.
pub fn at_hand(server: &str) -> Result<McpListTools, Failure> {
    Ok(McpListTools { wait_ms: Some(0), ..request(server)? })
}

/// The tools of a list, and how many items are none: no object, without a name, or with a name that means something else.
pub fn read(list: &Json) -> (Vec<Payload>, usize) {
    let items = items(list);
    let objects = items.iter().filter_map(|item| Payload::parse(item.get().as_bytes()));
    let is_name = |name: &str| !name.is_empty() && wrong_of_server(name).is_none();
    let tools: Vec<_> = objects.filter(|tool| is_name(&tool.text("name"))).collect();
    let left_out = items.len() - tools.len();
    (tools, left_out)
}

/// The names of its tools.
pub fn names(list: &Json) -> Vec<String> {
    read(list).0.iter().map(|tool| tool.text("name")).collect()
}
