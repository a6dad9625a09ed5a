//! tools --changed, accept: tools that are not what they were when the person last saw them.
//!
//! Owns how a change is shown. Must never accept what was not shown: what is accepted is named by its hash.

use harbor_policy::suggest::hint;
use serde_json::json;

use super::print;
use crate::args::Accept;
use crate::ask::Ask;
use crate::client::{Client, QUICK};
use crate::diff;
use crate::errors::Failure;
use crate::pretty::pretty;
use crate::reply::Members;
use crate::screen::{Screen, remark, reveal};

/// What a tool says of itself, as far as it is compared.
pub const PARTS: [&str; 5] = ["title", "description", "inputSchema", "outputSchema", "annotations"];

pub fn show(client: &mut Client, server: Option<&str>, screen: &mut Screen) -> Result<(), Failure> {
    let answer = client.request(&ask(server), QUICK)?;
    let changes = answer.objects("changes");
    if !screen.json && changes.is_empty() {
        remark("no tool has changed");
        return Ok(());
    }
    print(screen, &answer, |_| {
        let shown = |change| format!("{}\n{}\n", describe(change), how_to_accept(change));
        changes.iter().map(shown).collect::<Vec<_>>().join("\n")
    })
}

fn ask(server: Option<&str>) -> Ask {
    match server {
        Some(server) => Ask::about("host_list_tool_changes", server),
        None => Ask::new("host_list_tool_changes"),
    }
}

/// The tool, what there is to know of it, and what is different.
fn describe(change: &Members) -> String {
    let mut lines = vec![match change.value("blocked") == true {
        true => format!("{}: has changed; origins cannot use it until you accept it", name(change)),
        false => format!("{}: has changed; origins go on using it", name(change)),
    }];
    if change.value("hidden_characters") == true {
        lines.push("  warning: its texts have hidden or control characters; they are written out here, as in \\u{202e}".into());
    }
    lines.extend(differences(change));
    lines.join("\n")
}

/// What is different, part by part.
pub fn differences(change: &Members) -> Vec<String> {
    let mut lines = Vec::new();
    let (before, after) = (change.object("before"), change.object("after"));
    for part in PARTS {
        let [before, after] = texts([before.raw(part), after.raw(part)]);
        let differs = diff::lines(before.as_deref(), after.as_deref());
        if !differs.is_empty() {
            lines.push(format!("  {part}"));
            lines.extend(differs.iter().map(|line| format!("    {line}")));
        }
    }
    lines
}

/// `server/tool`, harmless to look at.
fn name(change: &Members) -> String {
    reveal(&format!("{}/{}", change.text("server_id"), change.text("tool_name"))).replace(['\n', '\t'], " ")
}

/// Texts as they are. As JSON where one is something else: `"5"` is not 5.
fn texts(raws: [Option<&str>; 2]) -> [Option<String>; 2] {
    let read = |raw: &str| serde_json::from_str(raw).ok();
    let texts: [Option<String>; 2] = raws.map(|raw| raw.and_then(read));
    let all_read = raws.iter().zip(&texts).all(|(raw, text)| raw.is_some() == text.is_some());
    if all_read { texts } else { raws.map(|raw| raw.map(pretty)) }
}

/// The command that accepts what is shown, and nothing that comes later. A name that cannot be typed as it looks is
/// accepted with its server.
fn how_to_accept(change: &Members) -> String {
    let (server, name) = (change.text("server_id"), name(change));
    match name == format!("{server}/{}", change.text("tool_name")) {
        true => format!("accept it: harbor accept {} {}", quoted(&name), change.text("tool_hash")),
        false => format!("accept it, and all that has changed of its server: harbor accept {server}"),
    }
}

/// As a shell takes it for one word.
pub fn quoted(word: &str) -> String {
    let plain = word.chars().all(|c| c.is_ascii_alphanumeric() || "/._-".contains(c));
    if plain { word.to_owned() } else { format!("'{}'", word.replace('\'', r"'\''")) }
}

pub fn accept(client: &mut Client, accept: &Accept, screen: &mut Screen) -> Result<(), Failure> {
    let mut accepted = Vec::new();
    for change in chosen(client, accept)? {
        // Where a hash was typed, the person has looked at it before.
        if !screen.json && accept.hash.is_none() {
            screen.text(&describe(&change))?;
        }
        let (tool, hash) = (change.text("tool_name"), change.text("tool_hash"));
        let ask = Ask::about("host_accept_tool_change", &accept.server);
        client.request(&ask.text("tool_name", &tool).text("tool_hash", &hash), QUICK)?;
        if !screen.json {
            screen.text(&format!("accepted {}", name(&change)))?;
        }
        accepted.push(json!({ "server_id": accept.server, "tool_name": tool, "tool_hash": hash }));
    }
    if screen.json {
        screen.json(&json!({ "accepted": accepted }).to_string())?;
    }
    Ok(())
}

/// The changes that are meant, as they are now.
fn chosen(client: &mut Client, accept: &Accept) -> Result<Vec<Members>, Failure> {
    let server = &accept.server;
    if let (Some(tool), Some(hash)) = (&accept.tool, &accept.hash) {
        let typed = json!({ "server_id": server, "tool_name": tool, "tool_hash": hash });
        return Ok(Members::parse(typed.to_string().as_bytes()).into_iter().collect());
    }
    let changes = client.request(&ask(Some(server)), QUICK)?.objects("changes");
    let names: Vec<_> = changes.iter().map(|change| change.text("tool_name")).collect();
    let meant = |name: &str| accept.tool.as_ref().is_none_or(|tool| tool == name);
    let chosen: Vec<_> =
        changes.into_iter().zip(&names).filter(|(_, name)| meant(name)).map(|(change, _)| change).collect();
    if !chosen.is_empty() {
        return Ok(chosen);
    }
    let what = match &accept.tool {
        None => format!("no tool of {server} has changed"),
        Some(tool) => {
            format!("{server} has no changed tool {tool}{}", hint(tool, names.iter().map(String::as_str)))
        }
    };
    Err(Failure::Nothing(what, "`harbor tools --changed` shows what has changed".into()))
}

#[cfg(test)]
mod tests;
