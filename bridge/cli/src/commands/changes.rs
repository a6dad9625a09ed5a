//! tools --changed, accept: tools that have changed since the person last saw them.
//!
//! Owns how a change is shown. Must never accept a change that was not shown: it is named by its hash.

use std::collections::BTreeSet;

use harbor_client::errors::{Exit, Failure};
use harbor_client::id::{server_id, source_id};
use harbor_client::payload::Payload;
use harbor_client::reply::Answer;
use harbor_client::terminal::{remark, reveal};
use harbor_ipc_proto::client::{
    HostAcceptServerChange, HostAcceptToolChange, HostListToolChanges, HostListToolChangesResult,
    ServerChange, ToolChange,
};
use harbor_ipc_proto::json::Json;
use harbor_policy::suggest::hint;
use harbor_policy::telltale::without_secrets;
use serde_json::{Value, json};

use crate::args::Accept;
use crate::client::{Client, QUICK};
use crate::consent;
use crate::diff;
use crate::pretty::pretty;
use crate::screen::Screen;
use crate::table::flatten;

/// The parts of a tool that are compared.
pub const PARTS: [&str; 5] = ["title", "description", "inputSchema", "outputSchema", "annotations"];

pub fn show(client: &mut Client, server: Option<&str>, screen: &mut Screen) -> Result<(), Failure> {
    let answer = client.ask(&ask(server)?, QUICK)?;
    if screen.json {
        return Ok(screen.json(&as_json(&answer))?);
    }
    if answer.changes.is_empty() && answer.servers.is_empty() {
        remark("no tool has changed");
        return Ok(());
    }
    let of_server = |change: &ServerChange| {
        format!("{}\naccept it: harbor accept {}\n", describe_server(change), change.server_id)
    };
    let shown = |change| format!("{}\n{}\n", describe(change), how_to_accept(change));
    let servers = answer.servers.iter().map(of_server);
    let all: Vec<_> = servers.chain(answer.changes.iter().map(shown)).collect();
    Ok(screen.text(&all.join("\n"))?)
}

/// The answer as `--json` prints it, with the lines of programs as people are shown them.
fn as_json(answer: &Answer<HostListToolChangesResult>) -> String {
    let mut members = answer.members();
    let masked = members.objects("servers").into_iter().map(|mut change| {
        for name in ["before", "after"] {
            change.insert(name, json!(shown(&change.text(name))).to_string());
        }
        change.to_json()
    });
    let servers: Vec<_> = masked.collect();
    if !servers.is_empty() {
        members.insert("servers", format!("[{}]", servers.join(",")));
    }
    members.to_json()
}

fn ask(server: Option<&str>) -> Result<HostListToolChanges, Failure> {
    Ok(HostListToolChanges { server_id: server.map(source_id).transpose()? })
}

/// The former program of a server, and its present one.
fn describe_server(change: &ServerChange) -> String {
    let ServerChange { server_id, before, after, .. } = change;
    let program = |sign: char, program: &str| {
        format!("  {sign} {}", reveal(&shown(program)).replace(['\n', '\t'], " "))
    };
    format!(
        "{server_id}: is a different program; origins cannot use it until you accept it\n{}\n{}",
        program('-', before),
        program('+', after)
    )
}

/// A program's line without what looks like a secret in it.
pub fn shown(program: &str) -> String {
    let words: Vec<_> = program.split(' ').map(str::to_owned).collect();
    without_secrets(&words).join(" ")
}

/// The tool, its notes, and its differences.
fn describe(change: &ToolChange) -> String {
    let name = name(&change.server_id, &change.tool_name);
    let mut lines = vec![match change.blocked {
        true => format!("{name}: has changed; origins cannot use it until you accept it"),
        false => format!("{name}: has changed; origins can still use it"),
    }];
    if change.hidden_characters {
        lines.push(
            "  warning: its texts contain hidden or control characters; here they are written as \\u{202e}"
                .into(),
        );
    }
    lines.extend(differences(&change.before, &change.after));
    lines.join("\n")
}

/// The differences, part by part.
pub fn differences(before: &Json, after: &Json) -> Vec<String> {
    let mut lines = Vec::new();
    let (before, after) = (Payload::of(before), Payload::of(after));
    let others = [&before, &after].into_iter().flat_map(Payload::names);
    let others: BTreeSet<_> = others.filter(|name| !PARTS.contains(name)).map(str::to_owned).collect();
    for part in PARTS.into_iter().chain(others.iter().map(String::as_str)) {
        let [before, after] = texts([before.raw(part), after.raw(part)]);
        let differs = diff::lines(before.as_deref(), after.as_deref());
        if !differs.is_empty() {
            lines.push(format!("  {}", flatten(part)));
            lines.extend(differs.iter().map(|line| format!("    {line}")));
        }
    }
    lines
}

/// `server/tool`, harmless to look at.
fn name(server: &str, tool: &str) -> String {
    reveal(&format!("{server}/{tool}")).replace(['\n', '\t'], " ")
}

/// Both values as plain texts, or both as JSON if one is no text: `"5"` is not 5.
fn texts(raws: [Option<&str>; 2]) -> [Option<String>; 2] {
    let read = |raw: &str| serde_json::from_str(raw).ok();
    let texts: [Option<String>; 2] = raws.map(|raw| raw.and_then(read));
    let all_read = raws.iter().zip(&texts).all(|(raw, text)| raw.is_some() == text.is_some());
    if all_read { texts } else { raws.map(|raw| raw.map(pretty)) }
}

/// The command that accepts what is shown, and nothing that comes later. A name that cannot be typed as it looks is
/// accepted with its server.
fn how_to_accept(change: &ToolChange) -> String {
    let ToolChange { server_id: server, tool_name, tool_hash, .. } = change;
    let name = name(server, tool_name);
    match name == format!("{server}/{tool_name}") {
        true => format!("accept it: harbor accept {} {tool_hash}", quoted(&name)),
        false => format!("accept it and all changes of its server: harbor accept {server}"),
    }
}

/// The word in quotes, if a shell needs them to take it for one word.
pub fn quoted(word: &str) -> String {
    let plain = word.chars().all(|c| c.is_ascii_alphanumeric() || "/._-".contains(c));
    if plain { word.to_owned() } else { format!("'{}'", word.replace('\'', r"'\''")) }
}

pub fn accept(client: &mut Client, accept: &Accept, screen: &mut Screen) -> Result<(), Failure> {
    let (mut accepted, mut servers) = (Vec::new(), Vec::new());
    let known = match (&accept.tool, &accept.hash) {
        // Where a hash was typed, the person has looked at it before.
        (Some(_), Some(_)) => HostListToolChangesResult { changes: Vec::new(), servers: Vec::new() },
        _ => client.ask(&ask(Some(&accept.server))?, QUICK)?.into_value(),
    };
    match known.servers.first().filter(|_| accept.tool.is_none()) {
        Some(change) => servers.push(accept_server(client, change, &known.changes, screen)?),
        None => accept_tools(client, accept, &known.changes, &mut accepted, screen)?,
    }
    if screen.json {
        screen.json(&json!({ "accepted": accepted, "servers": servers }).to_string())?;
    }
    Ok(())
}

/// Accepts the other program of a server, and pins its present tools.
fn accept_server(
    client: &mut Client,
    change: &ServerChange,
    changes: &[ToolChange],
    screen: &mut Screen,
) -> Result<Value, Failure> {
    if !screen.json {
        let shown: Vec<_> =
            std::iter::once(describe_server(change)).chain(changes.iter().map(describe)).collect();
        screen.text(&shown.join("\n"))?;
        agreed()?;
    }
    let program = change.after.clone();
    client.ask(&HostAcceptServerChange { server_id: server_id(&change.server_id)?, program }, QUICK)?;
    if !screen.json {
        screen.text(&format!("accepted {}", change.server_id))?;
    }
    Ok(json!({ "server_id": change.server_id, "program": shown(&change.after) }))
}

/// Asks for a yes to what was just shown, where somebody can be asked.
fn agreed() -> Result<(), Failure> {
    if consent::is_possible("").is_err() || consent::ask("Accept it?")? {
        return Ok(());
    }
    remark("it stays blocked");
    Err(Failure::Said(Exit::Failed))
}

fn accept_tools(
    client: &mut Client,
    accept: &Accept,
    changes: &[ToolChange],
    accepted: &mut Vec<Value>,
    screen: &mut Screen,
) -> Result<(), Failure> {
    for Chosen { tool, hash, shown } in chosen(accept, changes)? {
        if let Some(shown) = shown.filter(|_| !screen.json) {
            screen.text(&shown)?;
            agreed()?;
        }
        let ask = HostAcceptToolChange {
            server_id: source_id(&accept.server)?,
            tool_name: tool.clone(),
            tool_hash: hash.clone(),
        };
        client.ask(&ask, QUICK)?;
        if !screen.json {
            screen.text(&format!("accepted {}", name(&accept.server, &tool)))?;
        }
        accepted.push(json!({ "server_id": accept.server, "tool_name": tool, "tool_hash": hash }));
    }
    Ok(())
}

/// A change to accept.
struct Chosen {
    tool: String,
    hash: String,
    /// The text that the person has to see first.
    shown: Option<String>,
}

/// The chosen changes, in their present form.
fn chosen(accept: &Accept, changes: &[ToolChange]) -> Result<Vec<Chosen>, Failure> {
    let server = &accept.server;
    if let (Some(tool), Some(hash)) = (&accept.tool, &accept.hash) {
        return Ok(vec![Chosen { tool: tool.clone(), hash: hash.clone(), shown: None }]);
    }
    let meant = |change: &&ToolChange| accept.tool.as_ref().is_none_or(|tool| *tool == change.tool_name);
    let chosen = changes.iter().filter(meant).map(|change| Chosen {
        tool: change.tool_name.clone(),
        hash: change.tool_hash.clone(),
        shown: accept.hash.is_none().then(|| describe(change)),
    });
    let chosen: Vec<_> = chosen.collect();
    if !chosen.is_empty() {
        return Ok(chosen);
    }
    let names = changes.iter().map(|change| change.tool_name.as_str());
    let what = match &accept.tool {
        None => format!("no tool of {server} has changed"),
        Some(tool) => format!("{server} has no changed tool {tool}{}", hint(tool, names)),
    };
    Err(Failure::Nothing(what, "`harbor tools --changed` shows what has changed".into()))
}

#[cfg(test)]
mod tests;
