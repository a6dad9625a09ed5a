//! Patterns of a person that mean nothing here: a server that is not there, a tool that its server does not
//! list.
//!
//! Owns the messages about them. Must never refuse one: the server may come later, and a tool may be listed
//! then.

use std::collections::{BTreeMap, BTreeSet};

use harbor_client::errors::Failure;
use harbor_ipc_proto::client::ListServers;
use harbor_ipc_proto::source_id::{SourceId, SourceKind};
use harbor_policy::suggest::hint;
use harbor_policy::tool_name::{EVERY, split};

use super::tool_list;
use crate::client::{Client, QUICK};

/// Messages about the patterns that mean nothing.
pub fn unknown(client: &mut Client, patterns: &[String]) -> Result<Vec<String>, Failure> {
    let named: BTreeSet<_> = patterns.iter().filter_map(|pattern| of_server(pattern)).collect();
    if named.is_empty() {
        return Ok(Vec::new());
    }
    let servers = client.ask(&ListServers {}, QUICK)?.into_value().servers;
    let servers: Vec<_> = servers.into_iter().map(|server| server.server_id).collect();
    let mut tools = BTreeMap::new();
    for (server, _) in named.iter().filter(|(server, tool)| tool != EVERY && servers.contains(server)) {
        let listed = tool_list::at_hand(server).and_then(|ask| client.ask(&ask, QUICK));
        // One that never listed may have any.
        if let Ok(answer) = listed {
            tools.insert(server.clone(), tool_list::names(&answer.tools));
        }
    }
    Ok(named.iter().filter_map(|named| told(named, &servers, &tools)).collect())
}

/// The pattern's server and tool; none for other sources, which come and go.
fn of_server(pattern: &str) -> Option<(String, String)> {
    let (source, tool) = split(pattern).ok()?;
    let is_server = SourceId::kind(&source) == SourceKind::Server;
    is_server.then(|| (source.to_string(), tool.to_owned()))
}

fn told(
    (server, tool): &(String, String),
    servers: &[String],
    tools: &BTreeMap<String, Vec<String>>,
) -> Option<String> {
    let near = |name: &str, all: &[String]| {
        let lower = name.to_lowercase();
        let same = all.iter().find(|known| known.to_lowercase() == lower);
        same.map_or_else(
            || hint(name, all.iter().map(String::as_str)),
            |same| format!("; did you mean {same}?"),
        )
    };
    if !servers.contains(server) {
        return Some(format!("warning: there is no server {server} now{}", near(server, servers)));
    }
    let listed = tools.get(server).filter(|listed| tool != EVERY && !listed.contains(tool))?;
    Some(format!("warning: {server} has no tool {tool} now{}", near(tool, listed)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_there_is_named_with_what_was_meant() {
        let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        let (servers, tools) = (words("srv other"), BTreeMap::from([("srv".to_owned(), words("echo add"))]));
        let said = |pattern: &str| told(&of_server(pattern)?, &servers, &tools);
        assert_eq!(
            (said("srv/*"), said("srv/echo"), said("other/any"), said("browser/tabs")),
            (None, None, None, None)
        );
        assert_eq!(said("SRV/*").unwrap(), "warning: there is no server SRV now; did you mean srv?");
        assert_eq!(said("srv/ecko").unwrap(), "warning: srv has no tool ecko now; did you mean echo?");
    }
}
