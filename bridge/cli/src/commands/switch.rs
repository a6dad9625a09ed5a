//! tools --client --off, --on: which tools an AI client gets.
//!
//! Owns how a list of tools changes. The grants that hold it are the bridge's. Must never allow a tool that was not named.

use std::collections::BTreeSet;

use harbor_client::errors::Failure;
use harbor_client::terminal::remark;
use harbor_home::Paths;
use harbor_ipc_proto::client::ListServers;
use harbor_ipc_proto::server_id::ServerId;
use harbor_ipc_proto::source_id::is_reserved;
use harbor_policy::tool_name::EVERY;
use serde_json::json;

use super::clients::client_access::{self, ClientAccess};
use super::{clients, patterns, tool_list};
use crate::args::Switch;
use crate::client::{Client, QUICK};
use crate::screen::Screen;

pub fn run(client: &mut Client, wanted: &Switch, paths: &Paths, screen: &mut Screen) -> Result<(), Failure> {
    let name = &wanted.client;
    let had = match client_access::held(client, name)? {
        ClientAccess::New => vec![EVERY.to_owned()],
        ClientAccess::Tools(had) => had,
        ClientAccess::ForNow { .. } | ClientAccess::Nothing => {
            return Err(Failure::Nothing(
                format!("{name} has no lasting permission to call tools"),
                format!(
                    "allow some: `harbor grant client://{name} mcp:tools.call --always --tool SERVER/TOOL`"
                ),
            ));
        }
    };
    let ids: Vec<_> = client
        .ask(&ListServers {}, QUICK)?
        .into_value()
        .servers
        .into_iter()
        .map(|one| one.server_id)
        .collect();
    let mut known = BTreeSet::new();
    for id in &ids {
        let listed = tool_list::at_hand(id).and_then(|ask| client.ask(&ask, QUICK));
        let tools = listed.map(|answer| tool_list::read(&answer.tools).0).unwrap_or_default();
        known.extend(tools.iter().map(|tool| format!("{id}/{}", tool.text("name"))));
    }
    let had_all = had.iter().any(|entry| entry == EVERY);
    // All servers stay all of them, also those that come later, unless something of one is to be off.
    let of_servers = had_all && !wanted.off.is_empty();
    let expanded = had.into_iter().filter(|entry| !of_servers || entry != EVERY);
    let servers = ids.iter().filter(|_| of_servers).map(|id| format!("{id}/*"));
    let tools = switched(expanded.chain(servers).collect(), &known, &wanted.off, &wanted.on);
    client_access::set(client, name, &tools)?;
    let typed = [&wanted.off[..], &wanted.on].concat();
    patterns::unknown(client, &typed)?.iter().for_each(|text| remark(text));
    match screen.json {
        true => screen.json(&json!({"client": name, "allowed_tools": tools}).to_string())?,
        false => screen.text(&clients::status::told(client, name, paths)?)?,
    }
    if of_servers {
        remark(
            "servers that you add later are off for this client; switch one on: `harbor tools --client NAME --on 'SERVER/*'`",
        );
    }
    Ok(())
}

/// The list with these tools off and on. A server of which one tool is off is listed tool by tool.
fn switched(had: Vec<String>, known: &BTreeSet<String>, off: &[String], on: &[String]) -> Vec<String> {
    let mut list: BTreeSet<String> = had.into_iter().collect();
    for pattern in off {
        match pattern.strip_suffix("/*") {
            Some(server) => list.retain(|entry| server_of(entry) != server),
            None => {
                let all = format!("{}/*", server_of(pattern));
                if list.remove(&all) {
                    list.extend(known.iter().filter(|tool| server_of(tool) == server_of(pattern)).cloned());
                }
                list.remove(pattern);
            }
        }
    }
    for pattern in on {
        if let Some(server) = pattern.strip_suffix("/*") {
            list.retain(|entry| server_of(entry) != server);
        }
        let is_server = ServerId::parse(server_of(pattern)).is_some_and(|id| !is_reserved(&id));
        let of_all = is_server && list.contains(EVERY);
        if !of_all && !list.contains(&format!("{}/*", server_of(pattern))) {
            list.insert(pattern.clone());
        }
    }
    list.into_iter().collect()
}

fn server_of(tool: &str) -> &str {
    tool.split('/').next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_go_off_and_on_and_nothing_else_changes() {
        let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        let known: BTreeSet<_> = words("time/now time/zone git/log").into_iter().collect();
        for (had, off, on, now) in [
            ("git/* time/*", "time/now", "", "git/* time/zone"),
            ("git/* time/*", "time/*", "", "git/*"),
            ("git/* time/zone", "", "time/now", "git/* time/now time/zone"),
            ("git/* time/zone", "", "time/*", "git/* time/*"),
            ("git/*", "git/log", "git/log", "git/log"),
            ("git/*", "", "git/log", "git/*"),
            ("*", "", "browser/*", "* browser/*"),
            ("*", "", "git/log", "*"),
        ] {
            let list = switched(words(had), &known, &words(off), &words(on));
            assert_eq!(list, words(now), "{had} - {off} + {on}");
        }
    }
}
