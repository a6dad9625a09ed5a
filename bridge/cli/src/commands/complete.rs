//! complete: names for the completion of a shell, one per line.
//!
//! Owns which names are given. Must never start a bridge, take long, or complain: somebody has only pressed a
//! key. A name with characters other than letters, digits and `._-/:` is left out, for a shell might act on
//! it.

use std::time::Duration;

use harbor_client::errors::Failure;
use harbor_client::id::server_id;
use harbor_client_configs::CLIENTS;
use harbor_home::Paths;
use harbor_ipc_proto::client::{GetCredentialStatus, HostListAllPermissions, ListServers};
use harbor_policy::scope::Scope;

use super::tool_list;
use crate::args::{self, NameKind, Names};
use crate::client::Client;
use crate::screen::Screen;

/// The longest time that a person waits for the completion of a word.
const PATIENCE: Duration = Duration::from_secs(2);

pub fn show(paths: &Paths, wanted: &Names, screen: &mut Screen) -> Result<(), Failure> {
    let names = names(paths, wanted);
    match names.is_empty() {
        true => Ok(()),
        false => Ok(screen.text(&names.join("\n"))?),
    }
}

pub fn names(paths: &Paths, wanted: &Names) -> Vec<String> {
    match wanted.kind {
        NameKind::Clients => CLIENTS.iter().map(|client| client.id.to_owned()).collect(),
        NameKind::Scopes => Scope::with_effect().map(|scope| scope.as_str().to_owned()).collect(),
        NameKind::Commands => {
            let command = args::command();
            let shown = command.get_subcommands().filter(|command| !command.is_hide_set());
            shown.map(|command| command.get_name().to_owned()).collect()
        }
        _ => match Client::connect_running(paths) {
            Ok(Some(mut client)) => asked(&mut client, wanted).unwrap_or_default(),
            _ => Vec::new(),
        },
    }
}

/// Names that only a bridge knows.
fn asked(client: &mut Client, Names { kind, word, behind }: &Names) -> Result<Vec<String>, Failure> {
    match kind {
        NameKind::Listed if word.contains('/') => tools(client, word),
        NameKind::Servers | NameKind::Listed => servers(client),
        NameKind::Tools => tools(client, word),
        NameKind::Keys => keys(client, behind),
        NameKind::Arguments => arguments(client, behind),
        NameKind::Origins => origins(client),
        NameKind::Clients | NameKind::Scopes | NameKind::Commands => Ok(Vec::new()),
    }
}

fn origins(client: &mut Client) -> Result<Vec<String>, Failure> {
    let ask = HostListAllPermissions { profile: None, tab_id: None };
    let grants = client.ask(&ask, PATIENCE)?.into_value().grants;
    let mut origins: Vec<_> = grants.into_iter().map(|grant| grant.origin).collect();
    origins.retain(|origin| is_harmless(origin));
    origins.sort_unstable();
    origins.dedup();
    Ok(origins)
}

/// Servers, or the tools of the named server.
fn tools(client: &mut Client, begun: &str) -> Result<Vec<String>, Failure> {
    let Some((server, _)) = begun.split_once('/') else {
        return Ok(servers(client)?.into_iter().map(|server| format!("{server}/")).collect());
    };
    let (tools, _) = tool_list::read(&client.ask(&tool_list::at_hand(server)?, PATIENCE)?.tools);
    let names = tools.iter().map(|tool| tool.text("name")).filter(|name| is_harmless(name));
    Ok(names.map(|name| format!("{server}/{name}")).collect())
}

/// `name=` of each argument that the tool's schema names.
fn arguments(client: &mut Client, target: &str) -> Result<Vec<String>, Failure> {
    let Some((server, name)) = target.split_once('/') else { return Ok(Vec::new()) };
    let (tools, _) = tool_list::read(&client.ask(&tool_list::at_hand(server)?, PATIENCE)?.tools);
    let tool = tools.iter().find(|tool| tool.text("name") == name);
    let properties = tool.map(|tool| tool.object("inputSchema").object("properties")).unwrap_or_default();
    Ok(properties.names().filter(|name| is_harmless(name)).map(|name| format!("{name}=")).collect())
}

fn servers(client: &mut Client) -> Result<Vec<String>, Failure> {
    let servers = client.ask(&ListServers {}, PATIENCE)?.into_value().servers;
    Ok(servers.into_iter().map(|server| server.server_id).filter(|name| is_harmless(name)).collect())
}

/// The secrets that are set, and those that are missing.
fn keys(client: &mut Client, server: &str) -> Result<Vec<String>, Failure> {
    let ask = GetCredentialStatus { server_id: server_id(server)? };
    let status = client.ask(&ask, PATIENCE)?.into_value().status;
    let names = status.missing.into_iter().chain(status.configured);
    Ok(names.filter(|name| is_harmless(name)).collect())
}

fn is_harmless(name: &str) -> bool {
    name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-/:".contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::super::rig::{command, error};
    use super::*;

    fn named(kind: NameKind, word: &str, answer: &str) -> (Vec<String>, Vec<String>) {
        let wanted = Names { kind, word: word.into(), behind: word.into() };
        let mut given = Vec::new();
        let ran = command(false, &[answer], |client, _| {
            given = asked(client, &wanted)?;
            Ok(())
        });
        (given, ran.asked)
    }

    #[test]
    fn servers_and_then_their_tools() {
        let servers = r#"{"type":"list_servers_result","request_id":"1","servers":[{"server_id":"a"},{"server_id":"b"}]}"#;
        assert_eq!(named(NameKind::Servers, "", servers).0, ["a", "b"]);
        assert_eq!(named(NameKind::Tools, "x", servers).0, ["a/", "b/"]);
        let tools = r#"{"type":"mcp_list_tools_result","request_id":"1","tools":[{"name":"now"},{"name":"a/b"},{"name":"$(reboot)"},{"name":"x y"},{"name":"`w`\n"}]}"#;
        let (given, requests) = named(NameKind::Tools, "a/n", tools);
        assert_eq!(given, ["a/now", "a/a/b"]);
        assert_eq!(requests, [r#"{"type":"mcp_list_tools","request_id":"1","server_id":"a","wait_ms":0}"#]);
        let schema = r#"{"type":"mcp_list_tools_result","request_id":"1","tools":[{"name":"now","inputSchema":{"properties":{"zone":{},"$(x)":{}}}}]}"#;
        assert_eq!(named(NameKind::Arguments, "a/now", schema).0, ["zone="]);
        let grants = r#"{"type":"host_list_all_permissions_result","request_id":"1","grants":[{"origin":"https://b.example"},{"origin":"client://a"},{"origin":"client://a"},{"origin":"client://a b"}]}"#;
        assert_eq!(named(NameKind::Origins, "", grants).0, ["client://a", "https://b.example"]);
        assert_eq!(named(NameKind::Tools, "a/", &error("not_connected")).0, [""; 0]);
    }
}
